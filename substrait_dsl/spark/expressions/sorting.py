"""Sort keys, as SQL text and as columns of a DataFrame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import FunctionId, SortKey
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import record_to_sql
from substrait_dsl.spark.session.connect import functions_of
from substrait_dsl.spark.session.engines import ENGINE

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

SortKeys = Sequence[tuple[str, SortDirection]]
"""The SQL text of each key, and its direction."""

ORDERINGS: Mapping[SortDirection, str] = {
    "asc_nulls_first": "ASC NULLS FIRST",
    "asc_nulls_last": "ASC NULLS LAST",
    "desc_nulls_first": "DESC NULLS FIRST",
    "desc_nulls_last": "DESC NULLS LAST",
    "clustered": "ASC NULLS FIRST",  # sorting puts equal values next to each other
}
"""The directions of a sort in SQL."""


def direction_of(key: SortKey) -> SortDirection:
    """The direction of a sort key. Raises `UnsupportedError` for one that compares by a function (spec decision 52)."""
    if isinstance(key.direction, FunctionId):
        raise UnsupportedError(f"{ENGINE} cannot sort by a comparison function ({key.direction.key})")
    return key.direction


def ordering(keys: SortKeys) -> str:
    """Write the sort keys of an ORDER BY."""
    return ", ".join(f"{text} {ORDERINGS[direction]}" for text, direction in keys)


def list_in_order(value: str, sorts: SortKeys, extra: Mapping[str, str]) -> str:
    """Collect the values that are not NULL into a list, sorted by their keys."""
    fields = {"v": value, **{f"k{number}": key for number, (key, _) in enumerate(sorts)}}
    record = f"if({value} IS NULL, NULL, {record_to_sql(fields)})"
    records = f"collect_list({extra['distinct']}{record}){extra['filter']}"
    cases = " ".join(
        f"WHEN NOT (l.k{number} <=> r.k{number}) THEN {_comes_first(f'l.k{number}', f'r.k{number}', way)}"
        for number, (_, way) in enumerate(sorts)
    )
    in_order = f"array_sort({records}, (l, r) -> CASE {cases} ELSE 0 END)"
    return f"transform({in_order}, e -> e.v)"


def _comes_first(left: str, right: str, way: SortDirection) -> str:
    """Which of two different keys comes first: -1 for the left one, 1 for the right one."""
    null, other = ("1", "-1") if way.endswith("nulls_last") else ("-1", "1")
    less, more = ("1", "-1") if way.startswith("desc") else ("-1", "1")
    nulls = f"WHEN {left} IS NULL THEN {null} WHEN {right} IS NULL THEN {other}"
    return f"(CASE {nulls} WHEN {left} < {right} THEN {less} ELSE {more} END)"


def order_column(text: str, direction: SortDirection, spark: SparkSession) -> Column:
    """Return a sort key as a column of a DataFrame."""
    column: Column = functions_of(spark).expr(text)
    match direction:
        case "asc_nulls_last":
            return column.asc_nulls_last()
        case "desc_nulls_first":
            return column.desc_nulls_first()
        case "desc_nulls_last":
            return column.desc_nulls_last()
        case "asc_nulls_first" | "clustered":
            return column.asc_nulls_first()
