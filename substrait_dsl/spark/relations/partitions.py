"""Relations that move rows between partitions, and change no rows.

A DataFrame shows its partitions to what runs on each of them, such as a write. A subquery shows none, so an exchange
does nothing there.

Specification: https://substrait.io/relations/physical_relations/#exchange-operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.properties import SINGLETON
from substrait_dsl.algebra.types import Struct
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.grouping_keys import as_key
from substrait_dsl.spark.expressions.signed_zeros import sort_key
from substrait_dsl.spark.expressions.sorting import SortKeys, order_column
from substrait_dsl.spark.relations.expression_context import prepare_context
from substrait_dsl.spark.relations.frames import FrameTable
from substrait_dsl.spark.relations.tables import Rows
from substrait_dsl.spark.session.connect import functions_of
from substrait_dsl.spark.session.engines import ENGINE, current_engine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from substrait_dsl.algebra.node import Rel
    from substrait_dsl.algebra.properties import OrderKey
    from substrait_dsl.algebra.types import Type
    from substrait_dsl.spark.relations.expression_context import ExpressionContext
    from substrait_dsl.spark.relations.input_lowering import InputLowering

MAX_PARTITIONS = 100_000
"""The most partitions of an exchange: a plan can ask for two thousand million, for which Java has no lists."""


def lower_exchange(rel: rl.Exchange, lowering: InputLowering) -> Rows:
    """Repartition the rows; each partition is sorted by the known ordering of the input (spec decision 8)."""
    if rel.targets:
        raise UnsupportedError(f"{ENGINE} cannot send the partitions of an exchange to targets")
    kind = rel.kind
    if isinstance(kind, rl.MultiBucket):
        raise UnsupportedError(
            f"{ENGINE} cannot run an exchange by several buckets: a DataFrame would have the rows more than once"
        )
    rows, here = prepare_context(lowering, lowering[rel.input], rel.anchor, [kind], hoist=True)
    if not isinstance(rows.table, FrameTable):
        return rows
    frame = _move_rows(rows.table.filtered, kind, rel.partition_count, here, lowering)
    keys = () if isinstance(kind, rl.Broadcast) else known_order(rel.input, rows)
    if keys:
        frame = frame.sortWithinPartitions(*(order_column(*key, lowering.execution.spark) for key in keys))
    is_one = rel.properties.distribution == SINGLETON
    return Rows(FrameTable(rows.table.names, frame, lowering.execution, keys=keys if is_one else ()), rows.columns)


def require_partitions(rel: rl.Exchange, lowering: InputLowering) -> None:
    """Raise `UnsupportedError` for an exchange that no DataFrame can make, whatever the number of its rows."""
    _require_number(rel.partition_count or 1)
    _require_moves(rel.kind)
    if not rel.targets and not isinstance(rel.kind, rl.MultiBucket):
        _, here = prepare_context(lowering, lowering[rel.input], rel.anchor, [rel.kind], hoist=True)
        match rel.kind:
            case rl.Scatter(fields=fields):
                for field in fields:
                    as_key(here.sql(field), field.type)
            case rl.SingleBucket(expression=bucket):
                here.sql(bucket)


def _require_number(count: int) -> None:
    if count > MAX_PARTITIONS:
        raise UnsupportedError(
            f"an exchange into {count:,} partitions: {ENGINE} makes a task of each, and {MAX_PARTITIONS:,} are "
            "the most",
            hint="take fewer partitions",
        )


def _require_moves(kind: object) -> None:
    if not current_engine().moves_by_number and isinstance(kind, rl.SingleBucket | rl.RoundRobin):
        if isinstance(kind, rl.RoundRobin) and not kind.exact:
            return
        raise UnsupportedError(
            f"{current_engine().name} cannot move rows to partitions by a number that is computed of each",
            hint="an exchange changes no rows: leave it out, or scatter the rows by the values of columns",
        )


def _move_rows(
    frame: DataFrame,
    kind: rl.Scatter | rl.SingleBucket | rl.RoundRobin | rl.Broadcast,
    partition_count: int | None,
    here: ExpressionContext,
    lowering: InputLowering,
) -> DataFrame:
    functions = functions_of(lowering.execution.spark)
    # Where the plan leaves the number of partitions to the system, it is the session's.
    count = partition_count or int(lowering.execution.spark.conf.get("spark.sql.shuffle.partitions") or 200)
    _require_number(count)
    _require_moves(kind)
    match kind:
        case rl.Scatter(fields=fields):
            return frame.repartition(count, *(functions.expr(as_key(here.sql(field), field.type)) for field in fields))
        case rl.SingleBucket(expression=bucket):
            return frame.repartitionById(count, functions.expr(here.sql(bucket)))
        case rl.RoundRobin(exact=False):
            return frame.repartition(count)
        case rl.RoundRobin():
            number = lowering.execution.name()
            bucket_number = functions.expr(f"CAST({number} % {count} AS INT)")
            return _number_rows(frame, number, lowering).repartitionById(count, bucket_number).drop(number)
        case rl.Broadcast():
            return frame.hint("broadcast")
        case never:
            assert_never(never)


def _number_rows(frame: DataFrame, number: str, lowering: InputLowering) -> DataFrame:
    """Add a column of row numbers, from 0, in the present order."""
    if lowering.execution.has("zipWithIndex"):
        return frame.zipWithIndex(number)
    place = lowering.execution.name()
    placed = frame.selectExpr("*", f"monotonically_increasing_id() AS {place}")
    return placed.selectExpr("*", f"row_number() OVER (ORDER BY {place}) - 1 AS {number}").drop(place)


def lower_merging_capture(rel: rl.MergingCapture, lowering: InputLowering) -> Rows:
    """Sort the rows: the ordering of each stream becomes the ordering of all rows."""
    return sort_as_known(rel.input, lowering[rel.input])


def sort_as_known(rel: Rel, rows: Rows) -> Rows:
    """Sort rows by the ordering that their relation is known to have."""
    keys = known_order(rel, rows)
    return Rows(rows.table.sort(keys), rows.columns) if keys else rows


def sort_again(rel: Rel, rows: Rows) -> Rows:
    """Sort the rows of an order-preserving relation after a step in which Spark may lose the order.

    Such steps are a window, which sorts, and a correlated subquery: it becomes a join, and a join of large tables
    sorts. Where Spark sees that the rows are still sorted, it does not sort them again.
    """
    keys = rows.table.keys
    return Rows(rows.table.sort(keys), rows.columns) if keys else sort_as_known(rel, rows)


def sort_as_declared(rel: Rel, rows: Rows) -> Rows:
    """Sort rows if a read has declared an ordering of all of them: Spark reads files in any order."""
    is_one = rel.properties.distribution == SINGLETON
    return sort_as_known(rel, rows) if is_one and not rows.table.keys else rows


def _type(rel: Rel, key: OrderKey) -> Type:
    """Return the type of an ordering's key: a column, or a field of structs in it."""
    position, *inside = key.field
    type_ = rel.schema.types[position]
    for field in inside:
        assert isinstance(type_, Struct)
        type_ = type_.types[field]
    return type_


def known_order(rel: Rel, rows: Rows) -> SortKeys:
    """Return the known ordering of a relation as sort keys over these rows, whose first columns are its own."""
    return [
        (sort_key(".f".join([rows.columns[key.field[0]], *map(str, key.field[1:])]), _type(rel, key)), key.direction)
        for key in rel.properties.ordering
        if not isinstance(key.direction, FunctionId)  # Spark has refused to sort by one
    ]
