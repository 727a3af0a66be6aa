"""Orders from CSV files: cleaned, merged into an Iceberg table by their number, updated, and read as they were.

The session needs Iceberg and a catalog for it, as `docs/writes.md` says.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Literal as L

import substrait_dsl as sd
from substrait_dsl import functions as f

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

Amount = sd.Decimal[L[10], L[2]]


class Line(sd.Schema):
    """An order as the files have it: all text, some of it wrong, some twice."""

    number: sd.Nullable[sd.String]
    customer: sd.Nullable[sd.String]
    due: sd.Nullable[sd.String]
    amount: sd.Nullable[sd.String]


class Order(sd.Schema):
    """An order as the table has it."""

    number: sd.I64
    customer: sd.String
    due: sd.Nullable[sd.Date]
    amount: Amount
    status: sd.String


Name = tuple[str, str, str]
"""A table: catalog, namespace and name."""

TEXT = sd.DelimitedText(null_value="", header_lines_to_skip=1)


def cleaned(folder: Path) -> sd.Relation[Any]:
    """The orders in a folder of CSV files: those with a number and an amount, each once, the dearest of several."""
    lines = sd.read_files(folder, Line, format=TEXT)
    return (
        lines.select(
            number=lambda line: line.number.cast(sd.I64, on_failure="return_null"),
            customer=lambda line: f.coalesce(f.trim(line.customer, " "), "unknown"),
            due=lambda line: line.due.cast(sd.Date, on_failure="return_null"),
            amount=lambda line: line.amount.cast(Amount, on_failure="return_null"),
        )
        .filter(lambda line: line.number.is_not_null() & line.amount.is_not_null())
        .with_columns(place=lambda line: f.row_number().over(partition_by=line.number, order_by=sd.desc(line.amount)))
        .filter(lambda line: line.place == 1)
        .select(
            "due",
            number=lambda line: line.number.assert_not_null(),
            customer=lambda line: line.customer.assert_not_null(),
            amount=lambda line: line.amount.assert_not_null(),
            status=sd.lit("open"),
        )
        .select("number", "customer", "due", "amount", "status")
    )


def create(table: Name, spark: SparkSession) -> None:
    """Make the table, empty, and say what tells its rows apart."""
    sd.create_table(table, Order).execute(spark)
    spark.sql(f"ALTER TABLE {'.'.join(table)} SET IDENTIFIER FIELDS number")


def merge(orders: sd.Relation[Any], table: Name, spark: SparkSession) -> None:
    """Put orders in the place of those with the same number, and add the others."""
    known = sd.read_named(table, Order)
    orders.write(table, "update").execute(spark)
    orders.join(known, on="number", how="left_anti").write(table).execute(spark)


def mark_late(table: Name, today: dt.date, spark: SparkSession) -> int:
    """Mark the open orders that were due before a day; gives how many there are."""
    update = sd.update(
        table, Order, {"status": "late"}, where=lambda order: (order.status == "open") & (order.due < today)
    )
    return int(update.collect(spark)[0][0])


def history(table: Name, spark: SparkSession) -> list[tuple[str, list[Row]]]:
    """What each change did to the table, oldest first: its kind, and the orders after it."""
    files = spark.sql(
        f"SELECT file FROM {'.'.join(table)}.metadata_log_entries ORDER BY timestamp DESC LIMIT 1"
    ).collect()
    snapshots = spark.sql(
        f"SELECT operation, snapshot_id FROM {'.'.join(table)}.snapshots ORDER BY committed_at"
    ).collect()
    return [
        (kind, sd.read_iceberg(files[0][0], Order, snapshot_id=number).sort("number").collect(spark))
        for kind, number in snapshots
    ]
