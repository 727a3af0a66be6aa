"""First rows for each row outside: limits in correlated subqueries, under whatever refers to the row outside again.

Spark numbers the rows of a correlated LIMIT by too few of the columns outside, if something around the LIMIT refers to
more of them; every answer here is DuckDB's to the same query in SQL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.spark.rows import SECOND_MATCH, DuckdbRows, Tables, by_tag, counted, register, tagged

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES: Tables = {
    "lefts": ({"a": "i64?", "b": "i64?"}, [(1, 10), (1, 15), (1, 25), (2, None), (3, 6), (None, 5)]),
    "rights": (
        {"c": "i64?", "d": "i64?"},
        [(1, 5), (1, 20), (1, 30), (1, 12), (2, 40), (3, 7), (3, 8), (3, 1), (None, 9)],
    ),
}
"""Several left rows share a key and differ in `b`: they must not share the numbers of their first rows."""

Made = tuple[Callable[[Any], Any], str]

SAME = "SELECT c, d FROM rights WHERE c = a"
LIMITS: dict[str, Made] = {
    "top": (lambda rows: rows.top_n(2, sd.desc("d")), f"{SAME} ORDER BY d DESC NULLS LAST LIMIT 2"),
    "sort and limit": (lambda rows: rows.sort("d").limit(3), f"{SAME} ORDER BY d NULLS FIRST LIMIT 3"),
    "offset": (lambda rows: rows.sort(sd.desc("d")).fetch(offset=1), f"{SAME} ORDER BY d DESC NULLS LAST OFFSET 1"),
    "offset and limit": (
        lambda rows: rows.sort(lambda r: -r.d).fetch(2, offset=1),
        f"{SAME} ORDER BY -d NULLS FIRST LIMIT 2 OFFSET 1",
    ),
    "limit twice": (
        lambda rows: rows.sort("d").limit(3).with_columns(d=lambda r: 0 - r.d).limit(2),
        f"SELECT c, 0 - d AS d FROM ({SAME} ORDER BY d NULLS FIRST LIMIT 2)",
    ),
    "order not kept": (
        lambda rows: rows.sort("d").select("c", d=lambda r: 100 - r.d).filter(lambda r: r.d < 95).limit(2),
        f"SELECT c, 100 - d AS d FROM ({SAME} AND 100 - d < 95 ORDER BY d NULLS FIRST LIMIT 2)",
    ),
}
"""First rows of those with the key of the row outside, `a`."""

AROUND: dict[str, Made] = {
    "count": (lambda rows: rows.aggregate(n=f.count()), "SELECT count(*) FROM ({})"),
    "groups": (lambda rows: rows.aggregate("c", n=lambda r: f.max(r.d)), "SELECT c, max(d) FROM ({}) GROUP BY c"),
    "distinct": (lambda rows: rows.select("d").distinct(), "SELECT DISTINCT d FROM ({})"),
    "first": (lambda rows: rows.sort("d").limit(1), "SELECT c, d FROM ({}) ORDER BY d NULLS FIRST LIMIT 1"),
    "window": (
        lambda rows: rows.window(n=lambda r: f.sum(r.d)).select("d", "n"),
        "SELECT d, sum(d) OVER () FROM ({})",
    ),
    "twice": (lambda rows: rows.union_all(rows), "WITH x AS ({}) SELECT * FROM x UNION ALL SELECT * FROM x"),
}
"""What is made of the rows among these whose `d` is larger than `b` of the row outside."""


def test_what_is_made_of_some_of_the_first_rows(spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    reads = register(TABLES, spark)
    joins, queries = {}, {}
    cases = [(limit, "count") for limit in LIMITS] + [("top", around) for around in AROUND if around != "count"]
    for limit, around in cases:
        name = f"{around} over {limit}"
        (first, limited), (make, made) = LIMITS[limit], AROUND[around]

        def right(x: Any, first: Any = first, make: Any = make) -> Any:
            return make(first(reads["rights"].filter(lambda r: r.c == x.a)).filter(lambda r: r.d > x.b))

        joins[name] = reads["lefts"].lateral_join(right, how="left").with_columns(name=sd.lit(name))
        inner = made.format(f"SELECT * FROM ({limited}) WHERE d > b")
        queries[name] = f"SELECT * FROM lefts LEFT JOIN LATERAL ({inner}) ON true"
    for width in (4, 5):
        fit = {name: join.emit(range(width - 1)) for name, join in joins.items() if len(join.schema) == width}
        found = by_tag(tagged(fit), spark)
        for name in fit:
            assert found[name] == duckdb_rows(queries[name], TABLES), name


SUBQUERIES: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "the first": (
        lambda x, first: sd.scalar_subquery(first.limit(1).select("d")),
        "(SELECT d FROM ({}) ORDER BY d DESC LIMIT 1)",
    ),
    "the first, if it is larger": (
        lambda x, first: sd.scalar_subquery(first.limit(1).filter(lambda r: r.d > x.b).select("d")),
        "(SELECT d FROM (SELECT * FROM ({}) ORDER BY d DESC LIMIT 1) WHERE d > b)",
    ),
    "how many are larger": (
        lambda x, first: sd.scalar_subquery(first.filter(lambda r: r.d > x.b).aggregate(n=f.count())),
        "(SELECT count(*) FROM ({}) WHERE d > b)",
    ),
    "is there one": (
        lambda x, first: sd.exists(first.filter(lambda r: r.d > x.b)),
        "EXISTS (SELECT * FROM ({}) WHERE d > b)",
    ),
    "is one twice as large": (
        lambda x, first: (x.b * 2).is_in(first.select("d")),
        "(b * 2) IN (SELECT d FROM ({}))",
    ),
    "are all larger": (
        lambda x, first: x.b < sd.all_of(first.select("d")),
        "b < ALL (SELECT d FROM ({}))",
    ),
}


def test_subqueries_that_look_among_the_first_rows(spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    reads = register(TABLES, spark)
    for name, (make, query) in SUBQUERIES.items():

        def value(x: Any, make: Any = make) -> Any:
            return make(x, reads["rights"].filter(lambda r: r.c == x.a).top_n(2, sd.desc("d")))

        wanted = duckdb_rows(f"SELECT a, b, {query.format(LIMITS['top'][1])} FROM lefts", TABLES)
        assert counted(reads["lefts"].with_columns(v=value), spark) == wanted, name


def test_one_limit_in_two_subqueries(spark: SparkSession) -> None:
    reads = register(TABLES, spark)

    def is_larger(x: Any) -> Any:
        first = reads["rights"].filter(lambda r: r.c == x.a).top_n(1, sd.desc("d"))
        many = sd.scalar_subquery(first.filter(lambda r: r.d > x.b).aggregate(n=f.count()))
        return (sd.scalar_subquery(first.select("d")) == 30) & (many == 1)

    assert counted(reads["lefts"].filter(is_larger), spark) == Counter([(1, 10), (1, 15), (1, 25)])


@pytest.mark.parametrize("how", ["left_single", "left_mark", "left_semi", "left_anti"])
def test_one_row_of_a_lateral_join_matches_among_the_first(how: Any, spark: SparkSession) -> None:
    reads = register(TABLES, spark)

    def joined(on: Any) -> Any:
        return reads["lefts"].lateral_join(
            lambda x: reads["rights"].filter(lambda y: y.c == x.a).top_n(2, sd.desc("d")), on, how
        )

    # the first two are 30 and 20 of key 1, 40 of key 2, 8 and 7 of key 3
    larger = {(1, 10): [30, 20], (1, 15): [30, 20], (1, 25): [30], (2, None): [], (3, 6): [8, 7], (None, 5): []}
    if how == "left_single":
        with pytest.raises(Exception, match=SECOND_MATCH):
            joined(lambda x, y: y.d > x.b).execute(spark).collect()
        smaller = {(1, 25): 20}  # and those of 10, 15 and 6 are larger; there is one row at most
        wanted = Counter((*x, *((x[0], smaller[x]) if x in smaller else (None, None))) for x in larger)
        assert counted(joined(lambda x, y: y.d < x.b), spark) == wanted
        return
    found = counted(joined(lambda x, y: y.d > x.b), spark)
    if how == "left_mark":
        assert found == Counter((*x, None if x == (2, None) else bool(y)) for x, y in larger.items())
    else:
        assert found == Counter(x for x, y in larger.items() if bool(y) == (how == "left_semi"))


def test_the_first_row_of_each_is_found_by_hashing(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    reads = register(TABLES, spark)

    def latest(x: Any) -> Any:
        return sd.scalar_subquery(reads["rights"].filter(lambda r: r.c == x.a).top_n(1, sd.desc("d")).select("d"))

    reads["lefts"].with_columns(v=latest).execute(spark).explain()
    plan = capsys.readouterr().out
    assert "BroadcastHashJoin" in plan
    assert "LeftOuter" in plan  # a LeftSingle join has no form for two large inputs
    assert "WindowGroupLimit" in plan
