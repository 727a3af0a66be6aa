"""Measures that are computed of others: an aggregate of the functions, and a project of what is computed."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import SchemaError, TypeMismatchError, UnknownFieldError
from tests.support import f, refused, table

ROWS = [(1, "a", Decimal("2.00"), 10), (1, "b", None, 20), (2, "b", Decimal("4.50"), 30), (3, "c", None, None)]
T: Any = sd.read_virtual(ROWS, {"k": "i64", "s": "string", "x": "decimal<10,2>?", "n": "i64?"})
V = table("k: i64, s: string, x: decimal<10,2>?, n: i64?")


def in_duckdb(query: str) -> list[tuple[Any, ...]]:
    """The rows of a query over the table, in DuckDB."""
    from duckdb import connect

    with connect() as connection:
        connection.execute("create table t (k bigint, s varchar, x decimal(10, 2), n bigint)")
        connection.executemany("insert into t values (?, ?, ?, ?)", ROWS)
        return connection.execute(query).fetchall()


def in_order(rows: list[Any]) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, rows), key=repr)


@pytest.mark.usefixtures("duckdb")
def test_measures_that_compute_have_the_values_of_sql() -> None:
    result = T.group_by("k").agg(
        rate=lambda r: f.sum(r.n).cast("fp64") / f.count().cast("fp64"),
        n=lambda r: f.coalesce(f.sum(r.n), 0),
        other=lambda r: f.coalesce(sd.null("i64"), f.sum(r.n), -1),
        raised=lambda r: f.sum(r.x) * Decimal("1.2"),
        rounded=lambda r: f.round(f.sum(r.x), 1).cast("decimal<20,1>?"),
        short=lambda r: f.sum(r.n).cast("i32"),
        is_many=f.count() > 1,
        is_priced=lambda r: ~f.max(r.x).is_null() & f.count().between(1, 1),
        word=lambda r: sd.when(f.count() > 1).then("many").when(f.sum(r.n).is_null()).then("none").otherwise("one"),
        case=sd.switch(f.count(), {1: "one"}, "more"),
        key=lambda r: r.k * 100 + f.count(),
        yek=f.count() - sd.col("k"),
        total=lambda r: f.sum(r.n),
    )
    assert in_order(result.collect()) == in_order(
        in_duckdb("""
            select k, sum(n) / count(*), coalesce(sum(n), 0)::bigint, coalesce(sum(n), -1)::bigint,
                (sum(x) * 1.2)::decimal(20, 3), round(sum(x), 1)::decimal(20, 1), sum(n)::int, count(*) > 1,
                max(x) is not null and count(*) = 1,
                case when count(*) > 1 then 'many' when sum(n) is null then 'none' else 'one' end,
                case count(*) when 1 then 'one' else 'more' end, k * 100 + count(*), count(*) - k, sum(n)::bigint
            from t group by k
        """)
    )


def test_the_columns_are_those_named_in_their_order() -> None:
    result = V.group_by("s", key="k").agg(b=f.count() + 1, a=f.count(), c=lambda r: f.sum(r.n) + f.count())
    assert str(result.schema.struct) == "s: string, key: i64, b: i64, a: i64, c: i64?"


@pytest.mark.usefixtures("duckdb")
@pytest.mark.parametrize("verb", ["rollup", "cube"])
def test_the_number_of_the_grouping_set_stays_last(verb: str) -> None:
    def measures(r: Any) -> Any:
        return f.coalesce(f.sum(r.n), 0)

    result = getattr(T.group_by("k", "s"), verb)(total=measures, k2=lambda r: r.k + f.count(), n=f.count())
    assert str(result.schema.struct) == "k: i64?, s: string?, total: i64?, k2: i64?, n: i64, grouping_set: i32"
    sets = "((k, s), (k), ())" if verb == "rollup" else "((k, s), (k), (s), ())"
    number = "grouping(k, s)" if verb == "cube" else "case grouping(k, s) when 3 then 2 else grouping(k, s) end"
    expected = in_duckdb(f"""
        select k, s, coalesce(sum(n), 0)::bigint, k + count(*), count(*), ({number})::int
        from t group by grouping sets {sets}
    """)
    assert in_order(result.collect()) == in_order(expected)


def test_grouping_sets_that_repeat_keep_their_numbers() -> None:
    result = T.aggregate("k", grouping_sets=[("k",), (), ()], double=f.count() * 2)
    # four rows: two of k = 1, one each of 2 and 3; the empty set twice, as sets 1 and 2
    assert in_order(result.collect()) == in_order([(1, 4, 0), (2, 2, 0), (3, 2, 0), (None, 8, 1), (None, 8, 2)])


def test_equal_measures_are_computed_once() -> None:
    result = V.group_by("k").agg(
        total=lambda r: f.sum(r.n),
        mean=lambda r: f.divide(f.sum(r.n), f.count()),
        more=lambda r: f.count() + f.sum(r.n),
    )
    (folded,) = {node for node in _relations(result._rel) if isinstance(node, rl.Aggregate)}
    assert [measure.function.function.name for measure in folded.measures] == ["sum", "count"]
    assert folded.names == ("k", "total", "count")


def test_names_of_measures_inside_do_not_meet_those_of_columns() -> None:
    result = V.group_by(sum="k").agg(sum_2=f.count(), x=lambda r: f.sum(r.n) + 1)
    (folded,) = {node for node in _relations(result._rel) if isinstance(node, rl.Aggregate)}
    assert folded.names == ("sum", "sum_2", "sum_3")


def _relations(rel: rl.Rel) -> list[rl.Rel]:
    return [rel, *(each for below in rel.inputs for each in _relations(below))]


def test_an_aggregate_without_computed_measures_stays_one() -> None:
    assert isinstance(V.group_by("k").agg(a=f.count(), b=f.count())._rel, rl.Aggregate)


def test_keys_that_are_expressions() -> None:
    result = T.group_by(k2=lambda r: r.k + 1).agg(
        whole=lambda r: f.count() + (r.k + 1) * 10, named=f.count() + sd.col("k2"), inside=lambda r: f.sum(r.k)
    )
    # k + 1 is 2 (two rows of k = 1), 3 and 4
    assert in_order(result.collect()) == [(2, 22, 4, 2), (3, 31, 4, 2), (4, 41, 5, 3)]


def test_what_filters_and_orders_measures_stands_at_each() -> None:
    result = T.aggregate(
        share=lambda r: f.count().filter(r.x.is_not_null()).cast("fp64") / f.count().cast("fp64"),
        kinds=lambda r: f.count(r.s).distinct() * 10,
    )
    assert [tuple(row) for row in result.collect()] == [(2 / 4, 30)]


def test_a_subquery_that_does_not_see_the_rows_may_stand_beside_a_measure() -> None:
    all_rows = sd.scalar_subquery(T.aggregate(n=f.count()))
    result = T.group_by("k").agg(others=lambda r: all_rows - f.count())
    assert in_order(result.collect()) == [(1, 2), (2, 3), (3, 3)]


def test_computed_measures_pickle_and_copy() -> None:
    measure = (f.sum(sd.col("n")) + f.count()).alias("m")
    assert copy.copy(measure) is measure
    again = pickle.loads(pickle.dumps(measure))
    assert V.aggregate(m=again).to_plan() == V.aggregate(m=measure).to_plan()
    assert repr(again) == "Measure(sum() + count())"


def test_plans_of_them_come_back() -> None:
    plan = V.group_by("k").rollup(x=lambda r: f.sum(r.n) + r.k).to_plan()
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan


WRONG: dict[str, tuple[Any, type[sd.SubstraitDslError], tuple[str, ...]]] = {
    "a column that is no key": (lambda r: f.sum(r.x) + r.x, SchemaError, ('column "x" is no key', "any_value")),
    "one by name": (f.count() + sd.col("n"), SchemaError, ('column "n" is no key', "make it a key")),
    "one of the relation": (f.count() + V.c.n, SchemaError, ('column "n" is no key',)),
    "one inside": (lambda r: f.count() + (r.k + r.n), SchemaError, ('column "n" is no key',)),
    "an unknown column": (f.count() + sd.col("m"), UnknownFieldError, ('"m"', "there are")),
    "a window": (lambda r: f.count() + f.rank().over(order_by=r.k), TypeMismatchError, ("a window", "with_columns")),
    "a window that waits": (f.count() + f.rank().over(order_by="k"), TypeMismatchError, ("a window",)),
    "a window over a measure": (
        lambda r: f.rank().over(order_by=f.count()),
        sd.errors.InvalidArgumentError,
        ("Measure(count)", "name the measure in aggregate(...)"),
    ),
    "a measure of a measure": (lambda r: f.sum(f.sum(r.n) + 1), TypeMismatchError, ("sum takes values",)),
    "a measure in a filter": (
        lambda r: f.sum(r.n).filter(f.count() > 1),
        sd.errors.InvalidArgumentError,
        ("the filter of a measure is an expression",),
    ),
    "a filter of what is computed": (lambda r: (f.count() + 1).filter(r.k > 1), TypeMismatchError, ("one aggregate",)),
    "a subquery of the rows": (
        lambda r: f.count() + sd.scalar_subquery(T.filter(lambda t: t.k == r.k).aggregate(n=f.count())),
        SchemaError,
        ("a subquery beside a measure",),
    ),
    "a text": (f.count() + "a", sd.errors.FunctionNotFoundError, ("add(i64, 'a')",)),
}


@pytest.mark.parametrize(("measure", "error", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_meant_is_refused(
    measure: Any, error: type[sd.SubstraitDslError], said: tuple[str, ...]
) -> None:
    with refused(error, *said):
        V.group_by("k").agg(x=measure)


@pytest.mark.parametrize("method", ["distinct", "over", "windowed", "frame", "order_by"])
def test_methods_of_one_function_are_refused(method: str) -> None:
    measure = f.sum(sd.col("n")) + f.count()
    arguments: dict[str, Any] = {"frame": {"rows": (-1, 0)}}
    with refused(TypeMismatchError, "one aggregate function", "sum, count", "sum(...).filter(...)"):
        getattr(measure, method)(**arguments.get(method, {}))


def test_the_key_of_an_expression_is_not_in_the_row() -> None:
    with refused(UnknownFieldError, '"day"', 'the key is col("day")'):
        V.group_by(day=lambda r: r.k + 1).agg(x=lambda r: f.count() + r.day)


def test_a_key_that_a_set_leaves_out_is_not_required() -> None:
    with refused(SchemaError, 'the key "k" is NULL', 'write col("k")'):
        V.group_by("k").rollup(x=lambda r: f.count() + (r.k + 1))
    result = T.group_by("k").rollup(x=f.count() + (sd.col("k") + 1))  # as the hint says
    assert in_order(result.collect()) == in_order([(1, 4, 0), (2, 4, 0), (3, 5, 0), (None, None, 1)])


def test_a_measure_has_no_truth_value() -> None:
    with refused(TypeMismatchError, "no truth value", "agg(...).filter(...)"):
        bool(f.count() > 1)


def test_a_measure_is_compared_with_all_rows_of_a_relation() -> None:
    numbers = sd.read_virtual([(1,), (2,)], {"number": "i64"})
    result = T.group_by("k").agg(most=f.count() >= sd.all_of(numbers), less=f.count() < sd.any_of(numbers))
    assert in_order(result.collect()) == [(1, True, False), (2, False, True), (3, False, True)]  # 2, 1 and 1 rows
