"""Aggregates on Spark: groups, and grouping sets with their index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.spark.rows import DuckdbRows, Tables, collected, counted, register, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"a": "i64?", "b": "string?", "n": "i64?"}
ROWS: list[tuple[Any, ...]] = [
    (1, "x", 10),
    (1, "x", 20),
    (1, None, 5),
    (None, "x", 7),
    (None, None, None),
    (2, "y", None),
]
TABLES: Tables = {"t": (COLUMNS, ROWS), "empty": (COLUMNS, [])}


def test_groups_against_duckdb(spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    t = values(COLUMNS, *ROWS)
    grouped = t.aggregate("a", "b", n=f.count(), total=lambda r: f.sum(r.n), least=lambda r: f.min(r.n))
    query = "SELECT a, b, count(*), sum(n), min(n) FROM t GROUP BY a, b"
    assert counted(grouped, spark) == duckdb_rows(query, TABLES)


def test_computed_and_repeated_keys(spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    t = values(COLUMNS, *ROWS)
    grouped = t.aggregate(lambda r: (r.a + 1).alias("k"), lambda r: r.b, lambda r: r.b.alias("again"), n=f.count())
    query = "SELECT a + 1, b, b, count(*) FROM t GROUP BY ALL"
    assert counted(grouped, spark) == duckdb_rows(query, TABLES)


def test_filtered_and_distinct_measures(spark: SparkSession) -> None:
    t = values(COLUMNS, (1, "x", 10), (1, "x", 10), (1, "y", 20), (2, None, 30))
    grouped = t.aggregate(
        "a",
        different=lambda r: f.count(r.b).distinct(),
        large=lambda r: f.sum(r.n).filter(r.n > 10),
    )
    # 1 has the texts x and y, and one number above 10; 2 has no text, and 30
    assert counted(grouped, spark) == Counter([(1, 2, 20), (2, 0, 30)])


def test_no_keys_is_one_row_even_without_input(spark: SparkSession) -> None:
    empty = values(COLUMNS)
    assert collected(empty.aggregate(n=f.count(), total=lambda r: f.sum(r.n)), spark) == [(0, None)]
    assert collected(empty.aggregate("a", n=f.count()), spark) == []


def test_distinct(spark: SparkSession) -> None:
    assert counted(values({"a": "i64?"}, (1,), (None,), (1,), (None,)).distinct(), spark) == Counter([(1,), (None,)])


SETS: list[tuple[str, ...]] = [("a",), ("a", "b"), (), ("a",), ("b",)]
QUERY = """
    SELECT a, NULL AS b, count(*), sum(n), 0 FROM {t} GROUP BY a
    UNION ALL SELECT a, b, count(*), sum(n), 1 FROM {t} GROUP BY a, b
    UNION ALL SELECT NULL, NULL, count(*), sum(n), 2 FROM {t}
    UNION ALL SELECT a, NULL, count(*), sum(n), 3 FROM {t} GROUP BY a
    UNION ALL SELECT NULL, b, count(*), sum(n), 4 FROM {t} GROUP BY b
"""
"""What `SETS` mean: each set is a GROUP BY of its own, and its number is the index."""


def test_grouping_sets_repeated_and_empty(spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    measures: Any = {"n": f.count(), "total": lambda r: f.sum(r.n)}
    grouped = values(COLUMNS, *ROWS).aggregate("a", "b", grouping_sets=SETS, **measures)
    assert counted(grouped, spark) == duckdb_rows(QUERY.format(t="t"), TABLES)
    nothing = values(COLUMNS).aggregate("a", "b", grouping_sets=SETS, **measures)
    assert (
        counted(nothing, spark) == duckdb_rows(QUERY.format(t="empty"), TABLES) == Counter([(None, None, 0, None, 2)])
    )


def test_the_set_index_is_a_required_i32(spark: SparkSession) -> None:
    grouped = values(COLUMNS, *ROWS).aggregate("a", grouping_sets=[("a",), ()], n=f.count())
    field = grouped.execute(spark).schema.fields[-1]
    assert (field.name, field.dataType.simpleString(), field.nullable) == ("grouping_set", "int", False)


def test_grouping_sets_without_measures(spark: SparkSession) -> None:
    two = values({"a": "i64"}, (1,), (1,), (2,)).aggregate("a", grouping_sets=[("a",), ()])
    assert counted(two, spark) == Counter([(1, 0), (2, 0), (None, 1)])
    only_empty = values({"a": "i64"}).filter(lambda r: r.a > 5).aggregate(grouping_sets=[(), ()])
    assert counted(only_empty, spark) == Counter([(0,), (1,)])


def test_measures_that_are_filtered_in_an_empty_set(spark: SparkSession) -> None:
    grouped = values(COLUMNS).aggregate(
        "a", grouping_sets=[("a",), ()], n=lambda r: f.count().filter(r.n > 1), total=lambda r: f.sum0(r.n)
    )
    assert collected(grouped, spark) == [(None, 0, 0, 1)]


def test_subqueries_in_keys_and_measures(spark: SparkSession) -> None:
    u = register({"u": ({"k": "i64", "w": "i64"}, [(1, 100), (2, 200)])}, spark)["u"]

    def weight(row: Any) -> Any:
        return sd.scalar_subquery(u.filter(lambda r: r.k == row.a).select("w"))

    t = values({"a": "i64", "n": "i64"}, (1, 1), (1, 2), (2, 3), (3, 4))
    by_weight = t.aggregate(lambda r: weight(r).alias("w"), n=lambda r: f.sum(r.n))
    assert counted(by_weight, spark) == Counter([(100, 3), (200, 3), (None, 4)])
    summed = t.aggregate("a", total=lambda r: f.sum(weight(r)))
    assert counted(summed, spark) == Counter([(1, 200), (2, 200), (3, None)])


DIVIDED: dict[str, tuple[Callable[[Any], Any], object]] = {
    "avg": (lambda r: f.avg((f.divide(10, r.x)).cast(sd.FP64)), 2.0),
    "sum": (lambda r: f.sum(f.divide(10, r.x)), 4),
    "max": (lambda r: f.max(f.divide(10, r.x) + 1), 3),
    "std_dev": (lambda r: f.std_dev((f.divide(10, r.x)).cast(sd.FP64), distribution="POPULATION"), 0.0),
    "decimals": (lambda r: f.sum((f.divide(10, r.x)).cast("decimal<9,2>")), Decimal("4.00")),
    "distinct": (lambda r: f.count(f.divide(10, r.x)).distinct(), 1),
    "in order": (lambda r: f.string_agg(r.s, ",").order_by(f.divide(10, r.x)), "b,c"),
    "required": (lambda r: f.avg(r.x.assert_not_null()), 5.0),
    "texts": (lambda r: f.avg(r.s.cast(sd.I64, on_failure="throw")), None),
}
"""Measures of what fails for rows that their filter leaves out, and their values of the others."""


@pytest.mark.parametrize("keys", [(), ("k",)])
@pytest.mark.parametrize("case", [*DIVIDED, "all"])
def test_what_a_filter_leaves_out_is_not_computed(case: str, keys: tuple[str, ...], spark: SparkSession) -> None:
    rows = sd.read_virtual(
        [(1, 0, "a"), (1, 5, "b"), (1, 5, "c"), (1, None, "d")], {"k": "i64", "x": "i64?", "s": "string?"}
    )
    taken = {name: made for name, made in DIVIDED.items() if case in (name, "all")}
    measures: dict[str, Any] = {name: partial(_kept, make, name) for name, (make, _) in taken.items()}
    wanted = tuple(value for _, value in taken.values())
    assert rows.aggregate(*keys, **measures).collect(spark) == [(1,) * len(keys) + wanted]


def _kept(make: Callable[[Any], Any], name: str, row: Any) -> Any:
    return make(row).filter(row.s == "nothing" if name == "texts" else row.x != 0)
