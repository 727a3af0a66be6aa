"""Subqueries of the four kinds: their types; and correlation: rows of outer relations inside them."""

from __future__ import annotations

from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import FieldReference, OuterReference, SetComparison
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
)
from tests.support import columns, computed, f, refused, table, type_of

I = table("i: i64", "u")  # a relation of one column i
N = table("n: i64?", "u")
TWO = table("i: i64, s: string", "u")

# --- types ---

KINDS: list[tuple[Any, str]] = [
    # spec decision 19: nullable, unless there is surely a row
    (lambda r: sd.scalar_subquery(I), "i64?"),
    (lambda r: sd.scalar_subquery(I.fetch(1)), "i64?"),
    (lambda r: sd.scalar_subquery(I.aggregate(n=f.count())), "i64"),
    (lambda r: sd.scalar_subquery(I.aggregate(n=f.count()).select(n=lambda c: c.n + 1)), "i64"),
    (lambda r: sd.scalar_subquery(I.aggregate(n=f.count()).filter(lambda c: c.n > 1)), "i64?"),
    (lambda r: sd.scalar_subquery(I.aggregate(n=f.count()).fetch(0)), "i64?"),
    (lambda r: sd.scalar_subquery(I.aggregate("i")), "i64?"),
    (lambda r: sd.scalar_subquery(sd.read_virtual([(1,)], {"x": "i8"})), "i8"),
    # spec decision 20: three-valued
    (lambda r: r.a.is_in(I), "boolean"),
    (lambda r: r.b.is_in(I), "boolean?"),
    (lambda r: r.a.is_in(N), "boolean?"),
    (lambda r: sd.record(r.a, r.s).is_in(TWO), "boolean"),
    (lambda r: sd.record(r.a, r.t).is_in(TWO), "boolean?"),
    (lambda r: r.a > sd.any_of(I), "boolean"),
    (lambda r: r.a > sd.all_of(N), "boolean?"),
    (lambda r: r.b == sd.any_of(I), "boolean?"),
    (lambda r: sd.exists(N), "boolean"),
    (lambda r: sd.unique(N), "boolean"),
]


@pytest.mark.parametrize(("make", "kind"), KINDS)
def test_types(make: Any, kind: str) -> None:
    assert type_of(make) == kind


@pytest.mark.parametrize(
    ("make", "comparison"),
    [
        (lambda r: r.a == sd.any_of(I), "eq"),
        (lambda r: r.a != sd.any_of(I), "ne"),
        (lambda r: r.a < sd.all_of(I), "lt"),
        (lambda r: r.a <= sd.all_of(I), "le"),
        (lambda r: r.a > sd.all_of(I), "gt"),
        (lambda r: r.a >= sd.all_of(I), "ge"),
    ],
)
def test_comparisons_with_a_set(make: Any, comparison: str) -> None:
    node = computed(make)
    assert isinstance(node, SetComparison)
    assert node.comparison == comparison


def test_subqueries_that_do_not_fit() -> None:
    with refused(SchemaError, "scalar subquery", "one column", "2", "i: i64, s: string"):
        computed(lambda r: sd.scalar_subquery(TWO))
    with refused(SchemaError, "IN subquery", "1 values", "2 columns"):
        computed(lambda r: r.a.is_in(TWO))
    with refused(SchemaError, "IN subquery", "1 values", "0 columns"):
        computed(lambda r: r.a.is_in(I.emit([])))
    with refused(SchemaError, "IN subquery", "2 values", "1 columns"):
        computed(lambda r: sd.record(r.a, r.s).is_in(I))
    with refused(TypeMismatchError, "IN subquery", '"i"', "string", "i64"):
        computed(lambda r: r.s.is_in(I))
    with refused(SchemaError, '"any" of a subquery', "one column"):
        computed(lambda r: r.a > sd.any_of(TWO))
    with refused(TypeMismatchError, '"all" of a subquery', "string", "i64"):
        computed(lambda r: r.s > sd.all_of(I))
    with refused(TypeMismatchError, "relation has no truth value", "exists"):
        bool(I)


# --- correlation ---


def outer_references(node: Node) -> list[Any]:
    return [n for n in walk(node) if isinstance(n, FieldReference) and isinstance(n.root, OuterReference)]


def test_a_row_of_the_host_in_a_subquery_is_an_outer_reference() -> None:
    host = table("a: i64, b: string").filter(lambda r: sd.exists(I.filter(lambda s: s.i == r.a)))._rel
    (reference,) = outer_references(host)
    assert reference.root == OuterReference(host.anchor)
    assert (reference.position, str(reference.type)) == (0, "i64")


def test_the_host_closes_what_its_subquery_leaves_open() -> None:
    inside: list[Any] = []

    def condition(row: Any) -> Any:
        inside.append(I.filter(lambda s: s.i == row.a))
        return sd.exists(inside[0])

    host = table("a: i64").filter(condition)._rel
    assert inside[0]._rel.free_anchors == {host.anchor}
    assert host.condition.free_anchors == {host.anchor}
    assert host.free_anchors == frozenset()


def test_a_relation_without_correlation_has_no_anchor() -> None:
    assert table("a: i64").filter(lambda r: sd.exists(I.filter(lambda s: s.i == 1)))._rel.anchor is None


HOSTS: dict[str, Any] = {
    "filter": lambda rel, make: rel.filter(lambda r: sd.exists(make(r))),
    "project": lambda rel, make: rel.project(x=lambda r: sd.exists(make(r))),
    "with_columns": lambda rel, make: rel.with_columns(x=lambda r: sd.exists(make(r))),
    "select": lambda rel, make: rel.select(x=lambda r: sd.exists(make(r))),
    "sort": lambda rel, make: rel.sort(lambda r: sd.exists(make(r))),
    "join": lambda rel, make: rel.join(table("c: i64"), lambda r, other: sd.exists(make(r))),
    "key": lambda rel, make: rel.aggregate(lambda r: sd.exists(make(r)).alias("x")),
    "measure": lambda rel, make: rel.aggregate(x=lambda r: f.count().filter(sd.exists(make(r)))),
    "read": lambda rel, make: sd.read_named("t", rel.schema, filter=lambda r: sd.exists(make(r))),
}


@pytest.mark.parametrize("verb", HOSTS.values(), ids=HOSTS)
def test_every_verb_can_be_the_host(verb: Any) -> None:
    rel = verb(table("a: i64"), lambda row: I.filter(lambda s: s.i == row.a))._rel
    (reference,) = outer_references(rel)
    anchors = [node.anchor for node in walk(rel) if isinstance(node, Rel) and node.anchor is not None]
    assert anchors == [reference.root.anchor]
    assert rel.free_anchors == frozenset()


def test_the_right_side_of_a_join_is_counted_after_the_left() -> None:
    rel = table("a: i64, b: i64").join(
        table("c: i64, d: i64"), lambda mine, theirs: sd.exists(I.filter(lambda s: s.i == theirs.d))
    )
    assert [reference.position for reference in outer_references(rel._rel)] == [3]


def test_two_levels() -> None:
    """The innermost relation sees the rows of both relations around it."""
    host = table("a: i64").filter(
        lambda r: sd.exists(
            table("b: i64", "u").filter(
                lambda s: sd.exists(table("c: i64", "v").filter(lambda v: (v.c == s.b) & (v.c != r.a)))
            )
        )
    )._rel  # fmt: skip
    middle = host.condition.tuples
    inner = middle.condition.tuples
    assert {reference.root.anchor for reference in outer_references(inner)} == {host.anchor, middle.anchor}
    assert host.anchor != middle.anchor
    assert inner.free_anchors == {host.anchor, middle.anchor}
    assert middle.free_anchors == {host.anchor}
    assert host.free_anchors == frozenset()


def test_an_expression_over_the_outer_row_moves_as_a_whole() -> None:
    host = table("a: i64, b: i64").filter(lambda r: sd.exists(I.filter(lambda s: s.i == r.a + r.b * 2)))._rel
    assert sorted(reference.position for reference in outer_references(host)) == [0, 1]


def test_a_subquery_in_an_expression_over_the_outer_row_keeps_its_own_columns() -> None:
    positive = N.filter(lambda n: n.n > 0)
    host = table("a: i64").filter(lambda r: sd.exists(I.filter(lambda s: r.a.is_in(positive))))._rel
    (reference,) = outer_references(host)
    assert str(reference.type) == "i64"  # the needle; n.n stays a column of its own relation
    assert positive._rel in list(walk(host))


def test_names_in_a_subquery_are_those_of_the_subquery() -> None:
    host = table("a: i64").filter(lambda r: sd.exists(I.filter(sd.col("i") == r.a)))._rel
    (inner,) = [n for n in walk(host) if isinstance(n, FieldReference) and not isinstance(n.root, OuterReference)]
    assert str(inner.type) == "i64"
    assert len(outer_references(host)) == 1


def test_an_outer_column_may_be_a_column_of_the_subquery() -> None:
    host = table("a: i32").select(x=lambda r: sd.scalar_subquery(I.fetch(1).select(y=r.a)))
    assert columns(host) == "x: i32?"
    assert len(outer_references(host._rel)) == 1


def test_a_row_is_of_no_use_after_its_lambda() -> None:
    kept: list[Any] = []

    def condition(row: Any) -> Any:
        kept.append(row)
        return row.a > 1

    rel = table("a: i64").filter(condition)
    row = kept[0]
    with refused(SchemaError, "filter", "row that filter passed to its lambda is used after that call", "col("):
        rel.filter(row.a > 2)
    with refused(SchemaError, "select", "is used after that call"):
        rel.select(x=lambda r: r.a + row.a)


def test_a_correlated_relation_makes_no_plan_of_its_own() -> None:
    kept: list[Any] = []

    def condition(row: Any) -> Any:
        kept.append(I.filter(lambda s: s.i == row.a))
        return sd.exists(kept[0])

    table("a: i64").filter(condition)
    with refused(SchemaError, "Plan", "outer relation", "exists(...)"):
        kept[0].to_plan()
    with refused(SchemaError, "outer relation"):
        table("b: i64").filter(lambda r: sd.exists(kept[0])).to_plan()


def test_a_post_join_filter_takes_no_correlated_subquery() -> None:
    with refused(InvalidArgumentError, "join", "correlated subquery", "use filter"):
        table("a: i64").join(table("b: i64"), True, post_filter=lambda o: sd.exists(I.filter(lambda s: s.i == o.a)))
