"""Long chains and shared subtrees: nothing recurses, nothing grows faster than what was written.

No clocks here: what would be exponential does not end, and what would recurse fails at 1000 steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import FieldReference, Literal, OuterReference, ScalarFunction
from substrait_dsl.algebra.node import Node, rebuild, walk
from substrait_dsl.algebra.relations import Filter, Join, NamedTable, Read
from substrait_dsl.algebra.types import I64, MAX_LEVELS
from substrait_dsl.errors import SchemaError, UnknownFieldError
from tests.support import columns, f, table

STEPS = 1000

CHAINS: dict[str, Callable[[Any, int], Any]] = {
    "filter": lambda rel, step: rel.filter(lambda r: r.a > step),
    "project": lambda rel, step: rel.with_columns(a=lambda r: r.a + step),
    "sort and fetch": lambda rel, step: rel.sort("a").fetch(STEPS - step),
    "rename": lambda rel, step: rel.rename({0: "a" if step % 2 else "b"}).filter(lambda r: r[0] > 1),
    "join": lambda rel, step: rel.join(table("a: i64"), "a", "left_semi"),
    "set": lambda rel, step: rel.union_all(table("a: i64")),
    "aggregate": lambda rel, step: rel.aggregate("a"),
}


def chain(step: Callable[[Any, int], Any]) -> Any:
    rel = table("a: i64")
    for number in range(STEPS):
        rel = step(rel, number)
    return rel


@pytest.mark.parametrize("step", CHAINS.values(), ids=CHAINS)
def test_a_thousand_steps_build_compare_hash_and_walk(step: Callable[[Any, int], Any]) -> None:
    one, other = chain(step)._rel, chain(step)._rel
    assert one is not other
    assert one == other
    assert hash(one) == hash(other)
    assert sum(1 for _ in walk(one)) >= STEPS


def test_chains_that_differ_at_the_bottom_differ() -> None:
    def with_first(first: int) -> Any:
        return chain(lambda rel, step: rel.filter(lambda r: r.a > (step or first)))._rel

    assert with_first(0) == with_first(0)
    assert with_first(0) != with_first(1)


def test_a_deep_tree_is_rebuilt_without_recursion() -> None:
    deep = chain(CHAINS["filter"])._rel

    def add_one(node: Node) -> Node:
        return attrs.evolve(node, value=node.value + 1) if isinstance(node, Literal) else node

    changed = rebuild(deep, add_one)
    assert {node.value for node in walk(changed) if isinstance(node, Literal)} == set(range(1, STEPS + 1))
    assert {node.value for node in walk(deep) if isinstance(node, Literal)} == set(range(STEPS))


@pytest.mark.parametrize("start", [lambda r: r.a, lambda r: sd.col("a")], ids=["bound", "deferred"])
def test_a_deep_expression(start: Callable[[Any], Any]) -> None:
    def deep(row: Any) -> Any:
        value = start(row)
        for step in range(STEPS):
            value = value + step
        return value

    assert columns(table("a: i64").select(x=deep)) == "x: i64"
    assert table("a: i64").select(x=deep)._rel == table("a: i64").select(x=deep)._rel


def test_a_thousand_conditions_are_one_call() -> None:
    def condition(row: Any) -> Any:
        test = row.a != 0
        for step in range(1, STEPS):
            test = test & (row.a != step)
        return test

    (call,) = [
        node
        for node in walk(table("a: i64").filter(condition)._rel)
        if isinstance(node, ScalarFunction) and node.function.name == "and"
    ]
    assert len(call.arguments) == STEPS


DOUBLINGS = 30


@pytest.mark.parametrize("start", [lambda r: r.a, lambda r: sd.col("a")], ids=["bound", "deferred"])
def test_an_expression_added_to_itself_stays_small(start: Callable[[Any], Any]) -> None:
    def doubled(row: Any) -> Any:
        value = start(row)
        for _ in range(DOUBLINGS):
            value = value + value
        return value

    rels = [table("a: i64").project(x=doubled)._rel for _ in range(2)]
    # the read and the project, one reference, one node for each addition
    assert [sum(1 for _ in walk(rel)) for rel in rels] == [DOUBLINGS + 3] * 2
    assert rels[0] == rels[1]
    assert hash(rels[0]) == hash(rels[1])


JOINS = 15


def test_a_relation_joined_to_itself_stays_small() -> None:
    rel = table("k: i64")
    for _ in range(JOINS):
        rel = rel.join(rel, lambda mine, theirs: mine[0] == theirs[0], "left_semi")
    kinds = [type(node) for node in walk(rel._rel)]
    assert (kinds.count(Join), kinds.count(Read)) == (JOINS, 1)


def test_the_columns_of_a_self_join_are_all_there() -> None:
    rel = table("k: i64")
    for _ in range(10):
        rel = rel.join(rel, lambda mine, theirs: mine[0] == theirs[0])
    assert len(rel.schema) == 2**10


def test_correlation_in_a_deep_subquery_is_found_without_recursion() -> None:
    inner = table("b: i64", "u")

    def condition(row: Any) -> Any:
        rel = inner.filter(lambda r: r.b == row.a)
        for step in range(STEPS):
            rel = rel.filter(lambda r, step=step: r.b != step)
        return sd.exists(rel)

    host = table("a: i64").filter(condition)._rel
    assert host.free_anchors == frozenset()
    (outer,) = [n for n in walk(host) if isinstance(n, FieldReference) and isinstance(n.root, OuterReference)]
    assert outer.root == OuterReference(host.anchor)


# --- width ---

WIDTH = 1000
WIDE = ", ".join(f"c{number}: i64" for number in range(WIDTH))


@pytest.mark.parametrize(
    ("verb", "width"),
    [
        (lambda rel: rel.filter(lambda r: r.c999 > 1), WIDTH),
        (lambda rel: rel.select(*rel.columns), WIDTH),
        (lambda rel: rel.select(lambda r: r.c7, "c8"), 2),
        (lambda rel: rel.drop("c500"), WIDTH - 1),
        (lambda rel: rel.rename(c500="x"), WIDTH),
        (lambda rel: rel.with_columns(**{name: sd.col(name) + 1 for name in rel.columns}), WIDTH),
        (lambda rel: rel.sort(*rel.columns), WIDTH),
        (lambda rel: rel.aggregate("c0", **{f"s{n}": f.sum(sd.col(n)) for n in range(WIDTH)}), WIDTH + 1),
        (lambda rel: rel.join(rel.rename({n: f"d{n}" for n in range(WIDTH)}), True), 2 * WIDTH),
        (lambda rel: rel.union_all(rel), WIDTH),
        (lambda rel: rel.distinct(), WIDTH),
    ],
)
def test_a_thousand_columns(verb: Callable[[Any], Any], width: int) -> None:
    assert len(verb(table(WIDE)).schema) == width


def test_nodes_that_differ_only_in_names_are_equal() -> None:
    """Names are a convenience: the algebra goes by positions."""
    one = table("a: i64").project(x=lambda r: r.a + 1)._rel
    other = table("a: i64").project(y=lambda r: r.a + 1)._rel
    assert one == other
    assert Filter(one, Literal(True, sd.Boolean())) == Filter(other, Literal(True, sd.Boolean()))


def test_minus_zero_and_nan_are_constants_of_their_own() -> None:
    type_ = sd.FP64()
    assert Literal(float("nan"), type_) == Literal(float("nan"), type_)
    assert Literal(0.0, type_) != Literal(-0.0, type_)
    assert Literal(1, I64()) != Literal(1, sd.I32())
    assert Read(table("a: i64")._rel.schema, NamedTable(("t",))) != table("a: i64", "u")._rel


TABLE: Any = table("a: i64")
DOUBLED: dict[str, Callable[[Any], Any]] = {
    "structs": lambda e: sd.struct_of(x=e, y=e),
    "maps": lambda e: sd.map_of({"a": e, "b": e}),
    "maps of maps": lambda e: sd.map_of([(e, e)]),
    "a list and a struct": lambda e: sd.struct_of(x=sd.list_of(e, e), y=sd.struct_of(z=e)),
    "lists": lambda e: sd.list_of(e, e),
    "lambdas": lambda e: f.transform(sd.list_of(e), lambda x: e)[0],
    "lambdas and their parameters": lambda e: f.transform(
        sd.list_of(e), lambda x: sd.when(x == e).then(e).otherwise(x)
    )[0],
}
GROWS = ("structs", "maps of maps", "a list and a struct")
"""Those whose types double, too."""


@pytest.mark.parametrize("is_bound", [True, False])
@pytest.mark.parametrize("name", DOUBLED)
def test_what_has_an_expression_twice_at_each_step(name: str, is_bound: bool) -> None:
    """It takes a time that grows with its steps, or is refused by name."""

    def doubled(e: Any) -> Any:
        for _ in range(44):
            e = DOUBLED[name](e)
        return e

    made: Any = (lambda r: doubled(r.a)) if is_bound else doubled(sd.col("a"))
    if name in GROWS:
        with pytest.raises(SchemaError, match="types inside each other, and a plan writes down all of them"):
            TABLE.select(s=made)
    else:
        assert TABLE.select(s=made).schema.names == ("s",)


def test_types_that_double_by_columns_are_refused() -> None:
    def doubled(rel: Any) -> Any:
        for _ in range(44):
            rel = rel.select(a=lambda r: sd.struct_of(x=r.a, y=r.a))
        return rel

    with pytest.raises(SchemaError, match="1000000 is the most"):
        doubled(TABLE)


@pytest.mark.parametrize("is_bound", [True, False])
def test_what_waits_for_its_row_may_be_deep(is_bound: bool) -> None:
    def deep(e: Any) -> Any:
        for _ in range(3):
            for _ in range(MAX_LEVELS - 1):
                e = sd.struct_of(x=e)
            for _ in range(MAX_LEVELS - 1):
                e = e["x"]
        return sd.struct_of(x=e)

    kind: Any = TABLE.select(s=(lambda r: deep(r.a)) if is_bound else deep(sd.col("a"))).schema.fields[0].type
    assert str(kind) == "struct<i64>"


def test_an_expression_in_several_lambdas_is_the_one_that_each_sees() -> None:
    """One with a parameter is another in each lambda; one without is the same."""

    def made(column: Any) -> Any:
        plus = f.add(column, 1)
        return f.transform(sd.list_of(plus), lambda x: outer(x, plus))

    def outer(x: Any, plus: Any) -> Any:
        sum_ = f.add(x, plus)
        return f.transform(sd.list_of(sum_, x), lambda y: f.add(f.add(y, sum_), f.add(sum_, plus)))

    assert TABLE.select(s=lambda r: made(r.a))._rel == TABLE.select(s=made(sd.col("a")))._rel


def test_the_error_of_an_operand_names_what_it_is_an_operand_of() -> None:
    with pytest.raises(UnknownFieldError, match='struct_of, field "y": ') as raised:
        TABLE.select(s=sd.struct_of(x=sd.struct_of(y=sd.col("no")), z=sd.struct_of(y=sd.col("nor"))))
    assert '"no"' in str(raised.value)
