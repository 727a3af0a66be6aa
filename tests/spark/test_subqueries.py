"""Subqueries on Spark, as conditions and as values, against DuckDB's answers to the SQL that says the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark import lowering
from substrait_dsl.spark.session.execution_context import ExecutionContext
from tests.spark.rows import DuckdbRows, Tables, by_tag, collected, counted, register, tagged, values
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES: Tables = {
    "t": ({"a": "i32?", "b": "i32?"}, [(1, 10), (2, 20), (2, None), (None, 30), (4, 40), (None, None)]),
    "u": ({"c": "i32?", "d": "i32?"}, [(1, 10), (2, 2), (2, 5), (None, 30), (7, None)]),
    "clean": ({"c": "i32?", "d": "i32?"}, [(1, 10), (2, 2), (2, 5)]),
    "none": ({"c": "i32?", "d": "i32?"}, []),
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> dict[str, Any]:
    return register(TABLES, spark)


def virtual(name: str) -> Any:
    columns, rows = TABLES[name]
    return values(columns, *rows)


INSIDE = ("u", "clean", "none")

CONDITIONS: dict[str, tuple[str, Any]] = {
    "in": ("a IN (SELECT c FROM {u})", lambda r, u: r.a.is_in(u.select("c"))),
    "not in": ("a NOT IN (SELECT c FROM {u})", lambda r, u: ~r.a.is_in(u.select("c"))),
    "in record": ("(a, b) IN (SELECT c, d FROM {u})", lambda r, u: sd.record(r.a, r.b).is_in(u)),
    "exists": ("EXISTS (SELECT 1 FROM {u} WHERE c = a)", lambda r, u: sd.exists(u.filter(lambda s: s.c == r.a))),
    "not exists": (
        "NOT EXISTS (SELECT 1 FROM {u} WHERE c = a AND d < b)",
        lambda r, u: ~sd.exists(u.filter(lambda s: (s.c == r.a) & (s.d < r.b))),
    ),
    "exists, with a constant that decides it": (
        "EXISTS (SELECT 1 FROM {u} WHERE c = a AND FALSE) OR EXISTS (SELECT 1 FROM {u} WHERE c = a OR TRUE)",
        lambda r, u: (
            sd.exists(u.filter(lambda s: (s.c == r.a) & sd.lit(False)))
            | sd.exists(u.filter(lambda s: (s.c == r.a) | sd.lit(True)))
        ),
    ),
    "exists, with a test that is part of another": (
        "EXISTS (SELECT 1 FROM {u} WHERE (c = a OR d > 4) AND d > 4)",
        lambda r, u: sd.exists(u.filter(lambda s: ((s.c == r.a) | (s.d > 4)) & (s.d > 4))),
    ),
    "not exists, with a test that is part of another": (
        "NOT EXISTS (SELECT 1 FROM {u} WHERE d > 20 OR d > 20 AND c = a)",
        lambda r, u: ~sd.exists(u.filter(lambda s: (s.d > 20) | ((s.d > 20) & (s.c == r.a)))),
    ),
    "exists, with a test and its opposite": (
        "EXISTS (SELECT 1 FROM {u} WHERE (c = a OR d > 4) AND (NOT (c = a) OR d > 4))",
        lambda r, u: sd.exists(u.filter(lambda s: ((s.c == r.a) | (s.d > 4)) & (~(s.c == r.a) | (s.d > 4)))),
    ),
    "unique, with a test that is part of another": (
        "NOT EXISTS (SELECT 1 FROM {u} WHERE (c = a OR c = 2) AND c = 2 GROUP BY c HAVING count(*) > 1)",
        lambda r, u: sd.unique(u.filter(lambda s: ((s.c == r.a) | (s.c == 2)) & (s.c == 2)).select("c")),
    ),
    "uncorrelated": ("EXISTS (SELECT 1 FROM {u})", lambda r, u: sd.exists(u)),
    "correlated in": (
        "a IN (SELECT c FROM {u} WHERE d <= b)",
        lambda r, u: r.a.is_in(u.filter(lambda s: s.d <= r.b).select("c")),
    ),
    "correlated not in": (
        "a NOT IN (SELECT c FROM {u} WHERE d = b)",
        lambda r, u: ~r.a.is_in(u.filter(lambda s: s.d == r.b).select("c")),
    ),
    "any": ("b < ANY (SELECT d FROM {u})", lambda r, u: r.b < sd.any_of(u.select("d"))),
    "all": ("b > ALL (SELECT d FROM {u})", lambda r, u: r.b > sd.all_of(u.select("d"))),
    "not any": ("NOT (b < ANY (SELECT d FROM {u}))", lambda r, u: ~(r.b < sd.any_of(u.select("d")))),
    "not all": ("NOT (b > ALL (SELECT d FROM {u}))", lambda r, u: ~(r.b > sd.all_of(u.select("d")))),
    "any equal": ("a = ANY (SELECT c FROM {u})", lambda r, u: r.a == sd.any_of(u.select("c"))),
    "all different": ("a <> ALL (SELECT c FROM {u})", lambda r, u: r.a != sd.all_of(u.select("c"))),
    "scalar": (
        "b >= (SELECT max(d) FROM {u} WHERE c = a)",
        lambda r, u: r.b >= sd.scalar_subquery(u.filter(lambda s: s.c == r.a).aggregate(m=lambda s: f.max(s.d))),
    ),
    "count": (
        "(SELECT count(*) FROM {u} WHERE c = a) = 0",
        lambda r, u: sd.scalar_subquery(u.filter(lambda s: s.c == r.a).aggregate(n=f.count())) == 0,
    ),
    "in a disjunction": (
        "a IN (SELECT c FROM {u}) OR b = 40",
        lambda r, u: r.a.is_in(u.select("c")) | (r.b == 40),
    ),
    "unknown is null": ("(a IN (SELECT c FROM {u})) IS NULL", lambda r, u: r.a.is_in(u.select("c")).is_null()),
}


@pytest.mark.parametrize(
    ("inside", "most_text"), [*((name, lowering.MAX_RELATIONS_PER_STATEMENT) for name in INSIDE), ("u", 0)]
)
def test_as_conditions_and_as_values(
    inside: str,
    most_text: int,
    tables: dict[str, Any],
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    duckdb_rows: DuckdbRows,
) -> None:
    # 0: step by step, and DataFrames in subqueries
    monkeypatch.setattr(lowering, "MAX_RELATIONS_PER_STATEMENT", most_text)
    t, u = tables["t"], tables[inside]
    conditions = {name: t.filter(lambda r, make=make: make(r, u)) for name, (_, make) in CONDITIONS.items()}
    found = by_tag(tagged(conditions), spark)
    for name, (sql, _) in CONDITIONS.items():
        wanted = duckdb_rows(f"SELECT * FROM t WHERE {sql.format(u=inside)}", TABLES)
        assert found.get(name, Counter()) == wanted, name
    valued = {name: t.project(v=lambda r, make=make: make(r, u)) for name, (_, make) in CONDITIONS.items()}
    # to be tagged, all must be nullable alike
    nullable = {
        name: relation.select("a", "b", v=lambda r: r.v.cast(sd.Nullable[sd.Boolean]))
        for name, relation in valued.items()
    }
    found = by_tag(tagged(nullable), spark)
    for name, (sql, _) in CONDITIONS.items():
        assert found[name] == duckdb_rows(f"SELECT *, {sql.format(u=inside)} FROM t", TABLES), name


def test_unique(spark: SparkSession) -> None:
    rows: dict[str, list[tuple[Any, ...]]] = {
        "different": [(1,), (2,)],
        "repeated": [(1,), (1,)],
        "unknown": [(None,), (None,), (1,)],
        "none": [],
    }
    one = values({"x": "i64"}, (0,))
    cases = {name: one.project(u=sd.unique(values({"y": "i64?"}, *ys))) for name, ys in rows.items()}
    found = by_tag(tagged(cases), spark)
    assert {name: next(iter(counts)) for name, counts in found.items()} == {
        "different": (0, True),
        "repeated": (0, False),
        "unknown": (0, True),  # rows with a NULL equal none
        "none": (0, True),
    }


def test_a_scalar_subquery_has_one_row_or_none(tables: dict[str, Any], spark: SparkSession) -> None:
    t, u = tables["t"], tables["u"]
    some = t.select(v=lambda r: sd.scalar_subquery(u.filter(lambda s: (s.c == r.a) & (s.d < 5)).select("d")))
    assert counted(some, spark) == Counter({(2,): 2, (None,): 4})
    many = t.select(v=lambda r: sd.scalar_subquery(u.filter(lambda s: s.c == r.a).select("d")))
    with pytest.raises(Exception, match="SCALAR_SUBQUERY_TOO_MANY_ROWS"):
        collected(many, spark)


def test_over_a_union(tables: dict[str, Any], spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    t, u = tables["t"], tables["u"]
    both = t.union_all(t).project(m=lambda r: sd.exists(u.filter(lambda s: s.c == r.a)))
    query = "SELECT *, EXISTS (SELECT 1 FROM u WHERE c = a) FROM (FROM t UNION ALL FROM t)"
    assert counted(both, spark) == duckdb_rows(query, TABLES)
    spark.sql("SELECT * FROM t UNION ALL SELECT * FROM t").createOrReplaceTempView("t_twice")
    viewed = sd.read_named("t_twice", TABLES["t"][0]).filter(lambda r: r.a > 0)
    marked = viewed.project(m=lambda r: sd.exists(u.filter(lambda s: s.c == r.a)))
    assert counted(marked, spark) == duckdb_rows(f"{query} WHERE a > 0", TABLES)


def test_nested_and_two_rows_out(tables: dict[str, Any], spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    t, u = tables["t"], tables["u"]
    nested = t.filter(lambda r: sd.exists(u.filter(lambda s: (s.c == r.a) & s.d.is_in(u.select("c")))))
    query = "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE c = a AND d IN (SELECT c FROM u))"
    assert counted(nested, spark) == duckdb_rows(query, TABLES)

    def same(r: Any, s: Any) -> Any:
        return sd.exists(t.filter(lambda w: (w.a == s.c) & (w.b == r.b)))

    two_out = t.filter(lambda r: sd.exists(u.filter(lambda s: same(r, s))))
    inner = "SELECT 1 FROM t w WHERE w.a = c AND w.b = t.b"
    query = f"SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE EXISTS ({inner}))"
    assert counted(two_out, spark) == duckdb_rows(query, TABLES)
    valued = t.select(
        "b",
        m=lambda r: sd.scalar_subquery(
            u.filter(lambda s: s.c.is_in(t.filter(lambda w: w.b == r.b).select("a"))).aggregate(m=lambda s: f.max(s.d))
        ),
    )
    query = "SELECT b, (SELECT max(d) FROM u WHERE c IN (SELECT a FROM t w WHERE w.b = t.b)) FROM t"
    assert counted(valued, spark) == duckdb_rows(query, TABLES)


def test_a_needle_that_is_a_subquery(tables: dict[str, Any], spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    t, u = tables["t"], tables["u"]

    def least(row: Any) -> Any:
        return sd.scalar_subquery(u.filter(lambda s: s.c == row.a).aggregate(m=lambda s: f.min(s.d)))

    found = t.filter(lambda r: least(r).is_in(u.select("d")))
    query = "SELECT * FROM t WHERE (SELECT min(d) FROM u WHERE c = a) IN (SELECT d FROM u)"
    assert counted(found, spark) == duckdb_rows(query, TABLES)


OF_VALUES: dict[str, tuple[Any, str]] = {
    "coalesce": (lambda r, x: f.coalesce(x, 0).cast(sd.I64(nullable=True)), "coalesce({x}, 0)"),
    "abs": (lambda r, x: f.abs(x, overflow="SATURATE").cast(sd.I64(nullable=True)), "abs({x})"),
    "is_in": (lambda r, x: sd.when(x.is_in([r.a, 10])).then(sd.lit(1, sd.I64)).otherwise(None),
              "CASE WHEN {x} IN (a, 10) THEN 1 END"),
    "switch": (lambda r, x: sd.switch(x, {10: sd.lit(1, sd.I64)}, r.a.cast(sd.I64(nullable=True))),
               "CASE {x} WHEN 10 THEN 1 ELSE a END"),
    "cast": (lambda r, x: x.cast(sd.I8(nullable=True), on_failure="return_null").cast(sd.I64(nullable=True)),
             "TRY_CAST({x} AS TINYINT)"),
}  # fmt: skip
"""What is made of a value that Spark computes more than once, or by way of a lambda, where no subquery may stand."""


@pytest.mark.parametrize("on", [None, "a"])
def test_a_subquery_beside_a_lambda(
    on: str | None, tables: dict[str, Any], spark: SparkSession, duckdb_rows: DuckdbRows
) -> None:
    t, u = tables["t"], tables["u"]

    def value(r: Any) -> Any:
        rows = u if on is None else u.filter(lambda s: s.c == r.a)
        return sd.scalar_subquery(rows.aggregate(m=lambda s: f.max(s.d)))

    made: dict[str, Any] = {}
    for name, (make, _) in OF_VALUES.items():
        z: Any = lambda r, make=make: make(r, value(r))  # noqa: E731
        inside: Any = lambda o, z=z: sd.exists(  # noqa: E731
            t.filter(lambda r: f.is_not_distinct_from(r.b, o.b)).select(z=z).filter(lambda r: r.z == 10)
        )
        made |= {
            f"{name} as a value": t.select("b", z=z),
            f"{name} in a condition": t.filter(lambda r, z=z: z(r) == 10).select(
                "b", z=lambda r: r.a.cast(sd.I64(nullable=True))
            ),
            f"{name} inside": t.filter(inside).select("b", z=lambda r: r.a.cast(sd.I64(nullable=True))),
        }
    found = by_tag(tagged(made), spark)
    x = "(SELECT max(d) FROM u)" if on is None else "(SELECT max(d) FROM u WHERE c = a)"
    for name, (_, template) in OF_VALUES.items():
        text = template.format(x=x)
        assert found[f"{name} as a value"] == duckdb_rows(f"SELECT b, {text} FROM t", TABLES), name
        for way in ("in a condition", "inside"):
            wanted = duckdb_rows(f"SELECT b, a FROM t WHERE {text} = 10", TABLES)
            assert found.get(f"{name} {way}", Counter()) == wanted, name


def test_relations_inside(tables: dict[str, Any], spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    """Every relation inside a correlated subquery, where it becomes text."""
    t, u, clean = tables["t"], tables["u"], tables["clean"]
    keys = clean.select(k=lambda s: s.c)

    def of(make: Any) -> Any:
        return t.select("a", "b", v=lambda r: sd.scalar_subquery(make(r)))

    def largest(relation: Any) -> Any:
        return relation.aggregate(m=lambda s: f.max(s.d))

    def deep(row: Any) -> Any:
        return clean.filter(lambda s: s.c == row.a)

    def found(row: Any) -> Any:
        return u.filter(lambda s: s.c == row.a).aggregate(d=lambda s: f.max(s.d))

    cases = {
        "project": (
            of(lambda r: largest(u.with_columns(d=lambda s: s.d + r.b))),
            "SELECT max(d + b) FROM u",
        ),
        "join": (
            of(lambda r: largest(u.join(keys, on=lambda s, k: s.c == k.k).filter(lambda s: s.c == r.a))),
            "SELECT max(u.d) FROM u JOIN clean k ON u.c = k.c WHERE u.c = a",
        ),
        "join on the row outside": (
            of(lambda r: largest(u.join(keys, on=lambda s, k: (r.b > 10) & (s.c == k.k)))),
            "SELECT max(u.d) FROM u JOIN clean k ON b > 10 AND u.c = k.c",
        ),
        "join on the row outside alone": (
            of(lambda r: largest(u.join(keys, on=lambda s, k: r.b > 10))),
            "SELECT max(u.d) FROM u, clean k WHERE b > 10",
        ),
        "right join on a subquery of the row outside": (
            of(lambda r: keys.join(u, lambda k, s: sd.exists(deep(r)), how="right").aggregate(n=f.count(sd.col("k")))),
            "SELECT CASE WHEN a IN (SELECT c FROM clean) THEN 15 ELSE 0 END",  # 3 rows of clean for each of 5
        ),
        "union": (
            of(lambda r: largest(u.union_all(clean).filter(lambda s: s.c == r.a))),
            "SELECT max(d) FROM (FROM u UNION ALL FROM clean) WHERE c = a",
        ),
        "groups": (
            of(lambda r: largest(u.filter(lambda s: s.c == r.a).aggregate("c", d=lambda s: f.sum(s.d)))),
            "SELECT max(x) FROM (SELECT sum(d) AS x FROM u WHERE c = a GROUP BY c)",
        ),
        "aggregate of an aggregate": (
            of(lambda r: found(r).filter(lambda s: s.d.is_null()).aggregate(n=f.count())),
            "SELECT count(*) FROM (SELECT max(d) AS d FROM u WHERE c = a) WHERE d IS NULL",
        ),
        "groups of an aggregate": (
            of(lambda r: found(r).aggregate("d", n=f.count()).select("n")),
            "SELECT count(*) FROM (SELECT max(d) AS d FROM u WHERE c = a) GROUP BY d",
        ),
        "aggregate of a join with an aggregate": (
            of(lambda r: keys.cross(found(r)).aggregate(n=f.count())),
            "SELECT count(*) FROM clean, (SELECT max(d) FROM u WHERE c = a)",
        ),
        "aggregate of a union with an aggregate": (
            of(lambda r: u.select("d").union_all(found(r)).aggregate(n=f.count())),
            "SELECT 6",  # the rows of u, and one; DuckDB loses this one
        ),
        "single join with an aggregate": (
            of(lambda r: keys.join(found(r), lambda k, s: k.k >= s.d, how="left_single").aggregate(n=f.count())),
            "SELECT count(*) FROM clean LEFT JOIN (SELECT max(d) AS m FROM u WHERE c = a) ON clean.c >= m",
        ),
        "first": (
            of(lambda r: u.filter(lambda s: s.c == r.a).sort(sd.desc("d")).limit(1).select("d")),
            "SELECT d FROM u WHERE c = a ORDER BY d DESC NULLS LAST LIMIT 1",
        ),
        "set": (
            of(lambda r: largest(u.subtract(clean).filter(lambda s: s.d > r.b))),
            "SELECT max(d) FROM (FROM u EXCEPT FROM clean) WHERE d > b",
        ),
        "cross": (
            of(lambda r: u.cross(clean.rename(c="e", d="g")).filter(lambda s: s.e == r.a).aggregate(n=f.count())),
            "SELECT count(*) FROM u, clean e WHERE e.c = a",
        ),
        "virtual": (
            of(lambda r: largest(virtual("u").filter(lambda s: s.c == r.a))),
            "SELECT max(d) FROM u WHERE c = a",
        ),
    }
    for name, (relation, inner) in cases.items():
        assert counted(relation, spark) == duckdb_rows(f"SELECT a, b, ({inner}) FROM t", TABLES), name


def test_what_is_not_text_becomes_a_dataframe(spark: SparkSession) -> None:
    many = values({"x": "i64"}, *((x,) for x in range(500)))  # too many to write into a query
    t = values({"a": "i64"}, (3,), (1000,))
    assert counted(t.filter(lambda r: sd.exists(many.filter(lambda m: m.x == r.a))), spark) == Counter([(3,)])
    assert counted(t.project(v=lambda r: r.a.is_in(many)), spark) == Counter([(3, True), (1000, False)])
    long = many
    for _ in range(100):
        long = long.filter(lambda r: r.x >= 0).project(**{f"y{_}": lambda r: r.x})
    assert counted(t.filter(lambda r: r.a.is_in(long.select("x"))), spark) == Counter([(3,)])


def test_one_relation_outside_and_inside(tables: dict[str, Any], spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    u = tables["u"].filter(lambda s: s.d > 1)
    found = u.filter(lambda r: sd.exists(u.filter(lambda s: (s.c == r.c) & (s.d > r.d))))
    query = "SELECT * FROM u WHERE d > 1 AND EXISTS (SELECT 1 FROM u v WHERE v.d > 1 AND v.c = u.c AND v.d > u.d)"
    assert counted(found, spark) == duckdb_rows(query, TABLES)
    many = values({"x": "i64", "y": "i64"}, *((x, x // 2) for x in range(200)))
    same = many.filter(lambda r: sd.exists(many.filter(lambda s: (s.y == r.x) & (s.x == 199))))
    assert counted(same, spark) == Counter([(99, 49)])


@pytest.mark.parametrize("is_newer", [True, False])  # than those that fail where no outer row is left in an EXISTS
@pytest.mark.parametrize(
    ("make", "operator"),
    [
        (lambda r, u: sd.exists(u.filter(lambda s: s.c == r.a)), "LeftSemi"),
        (lambda r, u: ~sd.exists(u.filter(lambda s: s.c == r.a)), "LeftAnti"),
        (lambda r, u: r.a.is_in(u.select("c")), "LeftSemi"),
        (lambda r, u: ~r.a.is_in(u.select("c")), "LeftAnti"),
    ],
)
def test_conditions_become_hash_joins(
    make: Any,
    operator: str,
    is_newer: bool,
    tables: dict[str, Any],
    spark: SparkSession,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ExecutionContext, "has", lambda *_: is_newer)
    tables["t"].filter(lambda r: make(r, tables["u"])).execute(spark).explain()
    plan = capsys.readouterr().out
    assert "BroadcastHashJoin" in plan
    assert operator in plan
    assert "NestedLoop" not in plan


def test_an_aggregate_over_a_correlated_filter_is_one_join(
    tables: dict[str, Any], spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    t, u = tables["t"], tables["u"]

    def half_of_largest(row: Any) -> Any:
        largest = u.filter(lambda s: s.c == row.a).aggregate(m=lambda s: f.max(s.d))
        return sd.scalar_subquery(largest.select(h=lambda s: s.m * 2))

    t.filter(lambda r: r.b < half_of_largest(r)).execute(spark).explain()
    plan = capsys.readouterr().out
    assert plan.count("BroadcastHashJoin ") == 1


def test_what_the_optimizer_gives_up_is_refused(spark: SparkSession) -> None:
    """It folds a condition that is always false into a relation without rows, and then misses the row outside."""
    t, u = virtual("t"), virtual("u")

    def unequal_to_themselves(r: Any) -> Any:
        first = u.filter(lambda s: f.is_distinct_from(s.c, s.c)).filter(lambda s: r.a < s.d).sort("c").fetch(9)
        return sd.exists(first.union_all(u.select(c=lambda s: s.d, d=lambda s: s.c)).subtract(u))

    found = t.filter(unequal_to_themselves)
    for run in (found.collect, found.show, found.explain):
        with refused(UnsupportedError, "Spark's optimizer cannot decorrelate a subquery", "always false"):
            run(spark)
    with (
        refused(UnsupportedError, "running: Spark's optimizer cannot decorrelate a subquery"),
        found.running(spark) as frame,
    ):
        frame.count()


def test_a_value_for_all_rows_beside_the_row_outside(spark: SparkSession) -> None:
    """Of such an equality Spark makes keys of a join, and may want them before it has the value."""
    left = values({"a": "i32?"}, (1,), (2,), (None,))
    right = values({"k": "i32", "n": "i32"}, (1, 2), (3, 2), (4, 5))
    two = sd.scalar_subquery(values({"c": "i32"}, (1,), (2,)).aggregate(n=f.count())).cast(sd.I32)

    def of(r: Any) -> Any:
        """Where n is a."""
        return right.filter(lambda q: sd.when(two > 1).then(q.n).otherwise(q.k) == r.a)

    def shifted(r: Any) -> Any:
        """Where k is a."""
        return right.filter(lambda q: q.k + two == r.a + 2)

    assert collected(left.filter(lambda r: sd.exists(of(r))), spark) == [(2,)]
    counts = left.select("a", n=lambda r: sd.scalar_subquery(of(r).aggregate(n=f.count())))
    assert counted(counts, spark) == Counter([(1, 0), (2, 2), (None, 0)])
    assert counted(left.lateral_join(shifted, how="left"), spark) == Counter(
        [(1, 1, 2), (2, None, None), (None, None, None)]
    )
    nested = left.filter(lambda r: sd.exists(right.filter(lambda q: sd.exists(of(r).filter(lambda p: p.k > q.k)))))
    assert collected(nested, spark) == [(2,)]


def test_a_column_that_the_optimizer_loses(spark: SparkSession, tmp_path: Path) -> None:
    """Above a union, as a mark join on nullable keys is one, Spark looks for columns inside it; of files only."""
    values({"w": "i64?"}, (1,)).execute(spark).write.parquet(str(tmp_path / "w"))
    stored = sd.read_files(tmp_path / "w", {"w": "i64?"})
    empty, one = values({"a": "i64?", "b": "i64?"}), values({"z": "i64?"}, (1,))
    right = empty.join(stored, lambda l, r: l.a == r.w, "right")
    other = right.rename(a="c", b="d", w="v")
    marked = right.join(other, lambda l, r: l.a == r.c, "left_mark")
    sets = marked.aggregate("b", grouping_sets=[[], ["b"]], n=lambda r: f.count().filter(r.mark))
    found = sets.filter(lambda r: ~sd.exists(one.filter(lambda z: z.z == r.n)))
    with refused(UnsupportedError, "collect: Spark's optimizer loses a column", "execute a part of it first"):
        found.collect(spark)
