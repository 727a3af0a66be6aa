"""Functions of a user's own extension that have the names of the specification's: nothing takes one for the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow.compute as pc
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.function_ids import STANDARD
from substrait_dsl.algebra.node import Node, rebuild
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.engines.check import check_plan
from substrait_dsl.engines.profile import load_profile, shipped_profiles
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError
from substrait_dsl.spark.preflight import preflight
from substrait_dsl.spark.sail.engine import SAIL
from substrait_dsl.spark.session.engines import SPARK
from tests.engines import corpus, corpus_forms
from tests.engines.test_function_cases import plan_of
from tests.spark.test_functions import runnable
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# --- what is not bound


def with_extension(urn: str, node: Node) -> Node:
    """Return the call of the same name in another extension; ``*`` stands for the name of the specification's."""
    if not isinstance(node, ex.ScalarFunction | ex.AggregateFunction | ex.WindowCall):
        return node
    if not node.function.urn.startswith(STANDARD):
        return node
    other = urn.replace("*", node.function.urn.removeprefix(STANDARD))
    return attrs.evolve(node, function=ex.FunctionId(other, node.function.key))


@cache
def plans() -> dict[str, AlgebraPlan]:
    """Plans that call functions: one of each overload that the specification has cases of, and those of the corpora."""
    cases = {each.call.function: each for each in runnable()[0] if each.case.kind == "scalar"}
    found = {f"case {each.case}": plan_of(each) for each in cases.values()}
    for plans in (corpus.PLANS, corpus_forms.SCALARS, corpus_forms.RELATIONS, corpus_forms.WINDOWS):
        for name, make in plans.items():
            made = make()
            found[name] = (made if isinstance(made, sd.Plan) else made.to_plan())._algebra
    return found


def renamed(urn: str) -> Iterator[tuple[str, AlgebraPlan]]:
    """Yield those plans with functions of another extension."""
    for name, plan in plans().items():
        trees = tuple(
            attrs.evolve(tree, input=rebuild(tree.input, lambda node: with_extension(urn, node))) for tree in plan.trees
        )
        if any(changed.input is not tree.input for changed, tree in zip(trees, plan.trees, strict=True)):
            yield name, attrs.evolve(plan, trees=trees)


URNS = ("extension:com.acme:own", "extension:com.acme:*", "*")


@pytest.mark.parametrize("urn", URNS)
@pytest.mark.parametrize("engine", sorted({each.engine for each in shipped_profiles().values()}))
def test_no_engine_runs_a_function_for_its_name(engine: str, urn: str) -> None:
    profile = load_profile(engine)
    changed = dict(renamed(urn))
    assert len(changed) > 350
    assert [name for name, plan in changed.items() if check_plan(plan, profile).lowered is not None] == []


@pytest.mark.parametrize("urn", URNS)
@pytest.mark.parametrize("engine", [SPARK, SAIL], ids=["spark", "sail"])
def test_no_engine_that_takes_sql_runs_a_function_for_its_name(engine: Any, urn: str) -> None:
    assert [name for name, plan in renamed(urn) if not preflight(plan, engine).refused] == []


@pytest.mark.parametrize("urn", URNS)
@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
def test_no_sql_is_written_of_a_function_for_its_name(dialect: Any, urn: str) -> None:
    written = []
    for name, plan in renamed(urn):
        try:
            sd.Relation(plan.trees[0].input).to_sql(dialect)
        except UnsupportedError:
            continue
        written.append(name)
    assert written == []


def test_the_names_are_there_again_with_the_urn_of_the_specification() -> None:
    """Else the tests above would hold of plans that nothing runs."""
    profile = load_profile("datafusion")
    runs = [name for name, plan in plans().items() if check_plan(plan, profile).lowered is not None]
    assert len(set(runs) & dict(renamed("extension:com.acme:own")).keys()) > 150


# --- what is bound

EXTENSION = """
urn: extension:com.acme:functions_comparison
scalar_functions:
  - name: equal
    description: Whether two values differ.
    impls: [{args: [{name: x, value: any1}, {name: y, value: any1}], return: boolean}]
  - name: not
    description: The value itself.
    impls: [{args: [{name: x, value: boolean}], return: boolean}]
  - name: between
    description: Whether a number is out of an interval.
    impls: [{args: [{name: x, value: i64}, {name: low, value: i64}, {name: high, value: i64}], return: boolean}]
  - name: is_not_distinct_from
    description: Whether a number is less than another one.
    impls: [{args: [{name: x, value: i64}, {name: y, value: i64}], return: boolean}]
  - name: add
    description: The difference.
    impls: [{args: [{name: x, value: any1}, {name: y, value: any1}], return: any1}]
  - name: lower
    description: The text in capital letters.
    impls: [{args: [{name: x, value: string}], return: string}]
aggregate_functions:
  - name: sum
    description: The largest value.
    impls: [{args: [{name: x, value: any1}], nullability: DECLARED_OUTPUT, return: any1?}]
  - name: count
    description: Twice the number of values.
    impls: [{args: [{name: x, value: any1}], nullability: DECLARED_OUTPUT, return: i64}]
"""
URN = "extension:com.acme:functions_comparison"
CATALOG = sd.standard_catalog().with_extension(EXTENSION)
both, own = sd.Functions(CATALOG), sd.Functions(CATALOG, URN)
SQL = {
    "equal": "{x} <> {y}",
    "not": "{x}",
    "between": "{x} < {low} or {x} > {high}",
    "is_not_distinct_from": "{x} < {y}",
    "add": "{x} - {y}",
    "lower": "upper({x})",
    "sum": "max({distinct}{x}){filter}",
    "count": "2 * count({distinct}{x}){filter}",
}
ARROW: dict[str, Callable[..., Any]] = {
    "equal": pc.not_equal,
    "not": lambda x: x,
    "between": lambda x, low, high: pc.or_(pc.less(x, low), pc.greater(x, high)),
    "is_not_distinct_from": pc.less,
    "add": pc.subtract,
    "lower": pc.utf8_upper,
}
ROWS = sd.read_virtual([(1, "a"), (2, "b"), (3, "Ab")], {"n": "i64", "s": "string"})
FEW = sd.read_virtual([(2,), (3,)], {"m": "i64"})


@pytest.fixture(params=["sail", "datafusion"])
def session(request: pytest.FixtureRequest, sail: SparkSession, datafusion: None) -> Iterator[Any]:
    """A session with the functions bound."""
    found: Any = sail
    with ExitStack() as stack:
        if request.param == "sail":
            for name, text in SQL.items():
                stack.enter_context(sd.implement(getattr(own, name), "spark", text))
        else:
            from datafusion import SessionContext

            found = SessionContext()
            for name, body in ARROW.items():
                stack.enter_context(sd.implement(getattr(own, name), "datafusion", body))
        yield found


def test_scalar_functions(session: Any) -> None:
    both_ways = ROWS.select(
        a=lambda r: own.add(r.n, 10), b=lambda r: f.add(r.n, 10), c=lambda r: own.lower(r.s), d=lambda r: f.lower(r.s)
    )
    assert both_ways.collect(session) == [(-9, 11, "A", "a"), (-8, 12, "B", "b"), (-7, 13, "AB", "ab")]
    nested = ROWS.select(x=lambda r: own.add(f.add(r.n, own.add(r.n, 1)), 1))
    assert nested.collect(session) == [(0,), (2,), (4,)]  # n + (n - 1) - 1


def test_conditions(session: Any) -> None:
    def numbers(condition: Callable[[Any], Any]) -> list[int]:
        return [row.n for row in ROWS.filter(condition).sort("n").collect(session)]

    assert numbers(lambda r: own.equal(r.n, 2)) == [1, 3]
    assert numbers(lambda r: f.equal(r.n, 2)) == [2]
    assert numbers(lambda r: own.between(r.n, 2, 3)) == [1]
    assert numbers(lambda r: f.between(r.n, 2, 3)) == [2, 3]
    assert numbers(lambda r: getattr(own, "not")(f.equal(r.n, 2))) == [2]
    assert numbers(lambda r: ~own.equal(r.n, 2)) == [2]
    assert numbers(lambda r: own.equal(r.n, r.n)) == []
    assert numbers(lambda r: own.is_not_distinct_from(r.n, r.n)) == []
    assert numbers(lambda r: own.is_not_distinct_from(r.n, 2)) == [1]


def test_joins(session: Any) -> None:
    def pairs(condition: Callable[[Any, Any], Any], how: Any = "inner") -> list[tuple[Any, ...]]:
        return sorted(map(tuple, ROWS.select("n").join(FEW, condition, how=how).collect(session)))

    assert pairs(lambda r, x: own.equal(r.n, x.m)) == [(1, 2), (1, 3), (2, 3), (3, 2)]
    assert pairs(lambda r, x: own.is_not_distinct_from(r.n, x.m)) == [(1, 2), (1, 3), (2, 3)]
    assert pairs(lambda r, x: own.is_not_distinct_from(r.n, x.m), "left_anti") == [(3,)]
    assert pairs(lambda r, x: own.equal(r.n, x.m), "left_semi") == [(1,), (2,), (3,)]


def test_subqueries(session: Any) -> None:
    def numbers(condition: Callable[[Any], Any]) -> list[int]:
        return [row.n for row in ROWS.filter(condition).sort("n").collect(session)]

    def same(r: Any) -> Any:
        return FEW.filter(lambda x: f.equal(x.m, r.n))

    assert numbers(lambda r: getattr(own, "not")(sd.exists(same(r)))) == [2, 3]
    assert numbers(lambda r: ~sd.exists(same(r))) == [1]
    assert numbers(lambda r: getattr(own, "not")(r.n.is_in(FEW.select("m")))) == [2, 3]
    assert numbers(lambda r: sd.exists(FEW.filter(lambda x: own.is_not_distinct_from(x.m, r.n)))) == [3]


def test_aggregate_functions_beside_those_of_the_specification(sail: SparkSession) -> None:
    measures: Any = {
        "mine": lambda r: own.sum(r.n),
        "theirs": lambda r: f.sum(r.n),
        "of_text": lambda r: own.sum(r.s),
        "few": lambda r: own.sum(r.n).filter(r.n < 3),
        "twice": lambda r: own.count(r.n),
        "once": lambda r: f.count(r.n),
    }
    with sd.implement(own.sum, "spark", SQL["sum"]), sd.implement(own.count, "spark", SQL["count"]):
        assert ROWS.aggregate(**measures).collect() == [(3, 6, "b", 2, 6, 3)]
        over = ROWS.select("n", a=lambda r: own.sum(r.n).over(order_by="n"), b=lambda r: f.sum(r.n).over(order_by="n"))
        assert over.sort("n").collect() == [(1, 1, 1), (2, 2, 3), (3, 3, 6)]
        none = ROWS.filter(lambda r: r.n > 5).aggregate(**measures)
        assert none.collect() == [(None, None, None, None, 0, 0)]
        read = sd.Plan.from_bytes(ROWS.aggregate(**measures).to_plan().to_bytes(), catalog=CATALOG)
        assert read.roots[0].collect() == [(3, 6, "b", 2, 6, 3)]
    with refused(UnsupportedError, 'hint: implement(my.sum, "spark", ...)'):
        ROWS.aggregate(mine=lambda r: own.sum(r.n)).collect()
    assert ROWS.aggregate(theirs=lambda r: f.sum(r.n)).collect() == [(6,)]


def test_a_name_of_both_is_that_of_the_specification_where_it_takes_the_arguments(sail: SparkSession) -> None:
    """Bound is what the other calls are: own.sum of a text, for which the specification has no sum."""
    with sd.implement(both.sum, "spark", SQL["sum"]):
        assert ROWS.aggregate(a=lambda r: both.sum(r.n), b=lambda r: both.sum(r.s)).collect() == [(6, "b")]
    with refused(InvalidArgumentError, "is one of lower:str of extension:io.substrait:functions_string"):
        sd.implement(both.lower, "spark", SQL["lower"])


@pytest.mark.parametrize("engine", ["datafusion", "duckdb", "acero"])
def test_engines_without_aggregates_of_ones_own_refuse_them_by_the_extension(engine: Any) -> None:
    for relation in (ROWS.aggregate(a=lambda r: own.sum(r.n)), ROWS.aggregate(a=lambda r: own.count(r.n))):
        report = relation.check(engine)
        assert report.verdict == "refused"
        assert URN in str(report)


JOINED = """
urn: extension:com.acme:joined
aggregate_functions:
  - name: string_agg
    impls: [{args: [{name: x, value: string}, {name: by, value: string, constant: true}], return: string}]
"""


@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
def test_no_sql_joins_texts_for_the_name(dialect: Any) -> None:
    joined = sd.Functions(sd.standard_catalog().with_extension(JOINED), "extension:com.acme:joined")
    with refused(UnsupportedError, "string_agg"):
        ROWS.aggregate(t=lambda r: joined.string_agg(r.s, ",")).to_sql(dialect)
    assert "','" in ROWS.aggregate(t=lambda r: f.string_agg(r.s, ",")).to_sql(dialect)
