"""The verbs that select rows and give tables another shape, with the rows of DuckDB for the same in SQL."""

from __future__ import annotations

from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import (
    FunctionNotFoundError,
    InvalidArgumentError,
    InvalidChoiceError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import f, refused, table

ROWS = [
    (1, "a", 2.0, 10),
    (1, "b", None, 20),
    (2, "b", 4.5, 30),
    (2, None, 1.5, None),
    (None, "a", 2.0, 40),
    (None, "a", 3.0, 50),
]
COLUMNS = "k: i64?, s: string?, x: fp64?, n: i64?"
T: Any = sd.read_virtual(ROWS, {"k": "i64?", "s": "string?", "x": "fp64?", "n": "i64?"})
V = table(COLUMNS)


def in_duckdb(query: str) -> list[tuple[Any, ...]]:
    """The rows of a query over the table, in DuckDB."""
    from duckdb import connect

    with connect() as connection:
        connection.execute("create table t (k bigint, s varchar, x double, n bigint)")
        connection.executemany("insert into t values (?, ?, ?, ?)", ROWS)
        return connection.execute(query).fetchall()


QUERIES: dict[str, tuple[Any, str, str]] = {
    "distinct": (T.select("k", "s").distinct(), "k: i64?, s: string?", "select distinct k, s from t"),
    "distinct, the first": (
        T.distinct(on="k", order_by="n"),
        COLUMNS,
        "select distinct on (k) * from t order by k, n nulls first",
    ),
    "distinct, the last": (
        T.distinct(on="k", keep="last", order_by=["s", sd.asc("n", nulls="last")]),
        COLUMNS,
        "select distinct on (k) * from t order by k, s desc nulls last, n desc nulls first",
    ),
    "distinct, none": (
        T.distinct(on=["k", "s"], keep="none"),
        COLUMNS,
        "select * from t qualify count(*) over (partition by k, s) = 1",
    ),
    "distinct, any of equals": (
        T.select("s", "k").distinct(on=["s", lambda r: r.k]),
        "s: string?, k: i64?",
        "select distinct s, k from t",
    ),
    "first_of": (
        T.first_of(2, partition_by="s", order_by=sd.desc("n")),
        COLUMNS,
        "select * from t qualify row_number() over (partition by s order by n desc nulls last) <= 2",
    ),
    "first_of all": (
        T.first_of(order_by=[sd.asc("x", nulls="last"), "k"]),
        COLUMNS,
        "select * from t order by x nulls last, k nulls first limit 1",
    ),
    "drop_nulls": (
        T.drop_nulls(),
        "k: i64, s: string, x: fp64, n: i64",
        "select * from t where k is not null and s is not null and x is not null and n is not null",
    ),
    "drop_nulls of some": (
        T.drop_nulls("s", 2),
        "k: i64?, s: string, x: fp64, n: i64?",
        "select * from t where s is not null and x is not null",
    ),
    "drop_nulls, then a condition": (
        T.select("k", "n").drop_nulls("n").filter(lambda r: (r.n > 15) | (r.k == 1)),
        "k: i64?, n: i64",
        "select k, n from t where n > 15 or (n is not null and k = 1)",
    ),
    "a filter, then a condition": (
        T.filter(lambda r: r.n.is_not_null() & (r.n < 45))
        .sort("k")
        .select("k", n=lambda r: r.n.assert_not_null())
        .filter(lambda r: r.n != 20),
        "k: i64?, n: i64",
        "select k, n from t where n < 45 and n <> 20",
    ),
    "other filters, then a condition": (
        T.select("k", "n")
        .filter(lambda r: r.n > 5)
        .filter(lambda r: r.n < 45)
        .with_columns(n=lambda r: r.n.assert_not_null())
        .filter(lambda r: (r.n != 20) | (r.k == 1)),
        "k: i64?, n: i64",
        "select k, n from t where n > 5 and n < 45 and (n <> 20 or k = 1)",
    ),
    "fill_null": (
        T.fill_null({"x": 0.0}, s="k", n=lambda r: f.coalesce(r.k, -1).assert_not_null(), k=sd.null("i64")),
        "k: i64?, s: string, x: fp64, n: i64",
        "select k, coalesce(s, 'k'), coalesce(x, 0), coalesce(n, k, -1) from t",
    ),
    "value_counts": (
        T.value_counts("k", lambda r: r.s, name="n"),
        "k: i64?, s: string?, n: i64",
        "select k, s, count(*) from t group by k, s order by 3 desc, 1 nulls first, 2 nulls first",
    ),
    "unpivot": (
        T.unpivot("n", "k", name="what", value="v"),
        "s: string?, x: fp64?, what: string, v: i64?",
        "select s, x, 'n', n from t union all select s, x, 'k', k from t",
    ),
    "pivot": (
        T.group_by("k").pivot("s", ["a", "b", None], lambda r: f.sum(r.n)),
        "k: i64?, a: i64?, b: i64?, null: i64?",
        """select k, (sum(n) filter (where s = 'a'))::bigint, (sum(n) filter (where s = 'b'))::bigint,
            (sum(n) filter (where s is null))::bigint from t group by k""",
    ),
    "pivot of an expression": (
        T.group_by("s").pivot(lambda r: r.k + 1, {"two": 2, "three": 3}, lambda r: f.count().filter(r.n.is_not_null())),
        "s: string?, two: i64, three: i64",
        """select s, count(*) filter (where k + 1 = 2 and n is not null),
            count(*) filter (where k + 1 = 3 and n is not null) from t group by s""",
    ),
}
IN_ORDER = ("value_counts",)


@pytest.mark.usefixtures("duckdb", "datafusion")
@pytest.mark.parametrize("engine", ["sail", "datafusion"])
@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_are_those_of_sql(name: str, engine: str) -> None:
    from datafusion import SessionContext

    relation, columns, query = QUERIES[name]
    assert str(relation.schema.struct) == columns
    session: Any = SessionContext() if engine == "datafusion" else None
    rows, expected = [tuple(row) for row in relation.collect(session)], in_duckdb(query)
    if name not in IN_ORDER:
        rows, expected = sorted(rows, key=repr), sorted(expected, key=repr)
    assert rows == expected


STANDARD = (rl.Aggregate, rl.Emit, rl.Expand, rl.Filter, rl.Project, rl.Sort, rl.Read)


@pytest.mark.parametrize("name", QUERIES)
def test_they_expand_to_relations_that_plans_have(name: str) -> None:
    waiting = [QUERIES[name][0]._rel]
    while waiting:
        rel = waiting.pop()
        assert isinstance(rel, STANDARD), rel
        waiting += rel.inputs
    plan = QUERIES[name][0].to_plan()
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan


def test_a_check_fails_for_rows_that_filters_leave() -> None:
    checked = T.filter(lambda r: r.x < 4.0).with_columns(n=lambda r: r.n.assert_not_null())
    with refused(sd.errors.ExecutionError, "required"):
        checked.filter(lambda r: r.n > 15).collect()  # the fourth row has a small x and no n


C = sd.read_virtual(
    [(1, 10, 1.0), (2, None, 5.0), (3, 30, 2.0), (1, None, 9.0)], {"k": "i64", "n": "i64?", "x": "fp64"}
)
SMALL = C.filter(lambda r: r.x * 2.0 < 8.0)  # those with an n
BETWEEN: dict[str, sd.Relation[Any]] = {
    "columns left out": SMALL.select("k", "n"),
    "columns left out, and a sort": SMALL.select("n", "k").sort("k"),
    "a column more": SMALL.with_columns(more=lambda r: r.k + 1).drop("x"),
    "another filter": SMALL.select("k", "n").filter(lambda r: r.k != 2),
}
"""What stands between a filter and a check: the column that the filter needs is gone."""


@pytest.mark.parametrize("between", BETWEEN)
def test_a_check_sees_the_rows_that_filters_leave(between: str) -> None:
    """The engine moves the last condition to the first filter, and would make the check for rows that it leaves out."""
    checked = BETWEEN[between].select("k", n=lambda r: r.n.assert_not_null())
    assert [tuple(row) for row in checked.filter(lambda r: (r.n > 15) | (r.k == 1)).sort("k").collect()] == [
        (1, 10),
        (3, 30),
    ]
    unchecked = C.select("k", n=lambda r: r.n.assert_not_null()).filter(lambda r: (r.n > 15) | (r.k == 1))
    with refused(sd.errors.ExecutionError, "required"):
        unchecked.collect()


def test_any_row_of_each_value_is_one_of_them() -> None:
    rows = [tuple(row) for row in T.distinct(on="k").collect()]
    assert len(rows) == 3  # 1, 2 and NULL
    assert set(rows) <= set(ROWS)


def test_hidden_columns_do_not_meet_those_of_the_input() -> None:
    numbered = T.select("k", row_number=sd.lit(7)).first_of(partition_by="k", order_by="k")
    assert [tuple(row)[1] for row in numbered.collect()] == [7, 7, 7]
    assert T.select(index="n", k="k").unpivot("k").columns == ("index", "name", "value")


def test_required_columns_have_no_nulls_to_drop_or_fill() -> None:
    required = table("a: i64, b: string")
    assert required.drop_nulls().to_plan() == required.to_plan()
    assert required.fill_null(a=1).to_plan() == required.to_plan()


def test_a_nullable_value_leaves_a_column_nullable() -> None:
    assert str(V.fill_null(n=lambda r: r.k).schema.struct) == COLUMNS


WRONG: dict[str, tuple[Any, type[sd.SubstraitDslError], tuple[str, ...]]] = {
    "keep of whole rows": (lambda: V.distinct(keep="first"), InvalidArgumentError, ('distinct(on="x", ...)',)),
    "an order of whole rows": (lambda: V.distinct(order_by="k"), InvalidArgumentError, ('distinct(on="x", ...)',)),
    "the first of no order": (
        lambda: V.distinct(on="k", keep="first"),
        InvalidArgumentError,
        ('keep="first" needs an order', 'keep="any"'),
    ),
    "any by an order": (
        lambda: V.distinct(on="k", keep="any", order_by="n"),
        InvalidArgumentError,
        ('keep="any" has no order',),
    ),
    "another word": (lambda: V.distinct(on="k", keep=False), InvalidChoiceError, ("keep", "first")),
    "the last of what has no order": (
        lambda: V.distinct(on="k", keep="last", order_by=sd.clustered("n")),
        InvalidArgumentError,
        ("asc or desc",),
    ),
    "an unknown key": (lambda: V.distinct(on="kk"), UnknownFieldError, ('"kk"',)),
    "no rows": (lambda: V.first_of(0, order_by="k"), InvalidArgumentError, ("at least 1", "0")),
    "no order": (lambda: V.first_of(order_by=[]), InvalidArgumentError, ("order_by",)),
    "no such column": (lambda: V.drop_nulls("xx"), UnknownFieldError, ('"xx"', 'did you mean "x"')),
    "another type for a required column": (
        lambda: table("a: i64").fill_null(a="x"),
        FunctionNotFoundError,
        ('fill_null, column "a"', "'x' does not fit i64"),
    ),
    "a value for all": (lambda: V.fill_null(0), InvalidArgumentError, ("fill_null(x=0)",)),
    "no value": (lambda: V.fill_null(), InvalidArgumentError, ("at least one column",)),
    "NULL for NULL": (lambda: V.fill_null(x=None), InvalidArgumentError, ("got None",)),
    "a value of another type": (lambda: V.fill_null(x="a"), FunctionNotFoundError, ('column "x"', "coalesce")),
    "a value for no column": (lambda: V.fill_null(y=1), UnknownFieldError, ('"y"',)),
    "a list of columns": (lambda: V.unpivot(["k", "n"]), InvalidArgumentError, ("*[...]",)),
    "columns of two types": (lambda: V.unpivot("k", "s"), TypeMismatchError, ("i64", "string")),
    "no columns": (lambda: V.unpivot(), InvalidArgumentError, ("at least one column",)),
    "a taken name": (lambda: V.unpivot("k", "n", value="s"), SchemaError, ('"s"', 'value="..."')),
    "one name for both": (lambda: V.unpivot("k", name="v", value="v"), SchemaError, ('"v"',)),
    "counts of nothing": (lambda: V.value_counts(), InvalidArgumentError, ("at least one column",)),
    "counts called as their column": (lambda: V.value_counts("k", name="k"), SchemaError, ('"k"', 'name="..."')),
    "no values": (lambda: V.group_by("k").pivot("s", [], f.count()), InvalidArgumentError, ("at least one value",)),
    "values of another type": (
        lambda: V.group_by("k").pivot("s", [1], f.count()),
        FunctionNotFoundError,
        ("equal(string?, 1)",),
    ),
    "a value twice": (lambda: V.group_by("k").pivot("s", ["a", "a"], f.count()), SchemaError, ('"a"',)),
    "no measure": (lambda: V.group_by("k").pivot("s", ["a"], lambda r: r.n), InvalidArgumentError, ("functions.sum",)),
    "a measure that computes": (
        lambda: V.group_by("k").pivot("s", ["a"], f.count() + 1),
        TypeMismatchError,
        ("computes with", "write agg(...), with a column for each value", ".filter(col("),
    ),
}


@pytest.mark.parametrize(("mistake", "error", "said"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_refused(mistake: Any, error: type[sd.SubstraitDslError], said: tuple[str, ...]) -> None:
    with refused(error, *said):
        mistake()
