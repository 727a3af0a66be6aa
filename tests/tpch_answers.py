"""What DuckDB answers to the SQL text of the 22 queries of TPC-H, and what rows of an engine are held to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from examples.tpch import data
from examples.tpch.queries import QUERIES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

SQL = Path(data.__file__).parent / "sql"

FRACTIONS = {
    "q01": ("avg_qty", "avg_price", "avg_disc"),  # avg(decimal<P,S>) is decimal<38,S>
    "q08": ("mkt_share",),  # decimal<38,4> / decimal<38,4> is decimal<38,6>
    "q14": ("promo_revenue",),  # decimal<38,6> / decimal<38,4> is decimal<38,6>
    "q17": ("avg_yearly",),  # decimal<38,2> / decimal<2,1> is decimal<38,6>
}
"""The columns that are averages or quotients of decimals: DOUBLE in DuckDB, in Substrait decimals of a fixed scale.

DuckDB's value, rounded half up to that scale, must be ours. Every other column must be equal as it is.
"""

each_query = pytest.mark.parametrize("name", sorted(QUERIES))


def answer(duck: DuckDBPyConnection, name: str) -> DuckDBPyRelation:
    return duck.sql(sql_text(name))


def sql_text(name: str) -> str:
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


def rounded(value: float | None, column: sd.Type) -> Decimal | None:
    """A double as a decimal of the column's scale; `repr` gives the shortest decimal, so that a tie stays one."""
    assert isinstance(column, sd.Decimal)
    if value is None:
        return None
    return Decimal(repr(value)).quantize(Decimal(1).scaleb(-column.scale), ROUND_HALF_UP)


def require_rows_of_query(name: str, rows: Iterable[Sequence[Any]], duck: DuckDBPyConnection) -> None:
    """Raise `AssertionError` unless rows are those of a query, in value and in order.

    The same rows, counted, and the columns that the SQL text orders by in the same sequence, which together fix the
    order of all rows that the text does not leave open.
    """
    schema, found = QUERIES[name]().schema, [tuple(row) for row in rows]
    expected = _expected_rows(name, schema, answer(duck, name).fetchall())
    assert Counter(found) == Counter(expected), name
    keys = [schema.names.index(column) for column in ordered_by(name)]
    assert [[row[key] for key in keys] for row in found] == [[row[key] for key in keys] for row in expected], name


def _expected_rows(name: str, schema: sd.RelationSchema, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    fractions = FRACTIONS.get(name, ())
    return [
        tuple(
            rounded(value, field.type) if field.name in fractions else value
            for field, value in zip(schema, row, strict=True)
        )
        for row in rows
    ]


def ordered_by(name: str) -> list[str]:
    """The columns in the last ORDER BY of the SQL text."""
    clause = re.search(r"order by([^()]*?)(?:limit \d+)?\s*$", sql_text(name))
    return [column.split()[0] for column in clause[1].split(",")] if clause else []
