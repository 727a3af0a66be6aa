"""Long and deep plans: what is written stays within the limit of every parser, and is read as what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, reduce
from typing import Any

import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.proto.plan import encode_plan, from_bytes, to_bytes
from substrait_dsl.proto.shallow_plans import MAX_NESTING
from tests.proto.plans import BOOLEAN, T, add, call, col, encoded, equal, gt, i64, nesting, plan_of, table


def folded(step: Callable[[Any, Any], Any], items: Iterable[Any], *start: Any) -> Any:
    """As `functools.reduce`, for steps whose result is wider than what they start with."""
    return reduce(step, items, *start)


@cache
def tables() -> list[r.Rel]:
    return [table(f"t{number}", k=t.I64()) for number in range(1000)]


def matching(left: r.Rel, right: r.Rel) -> ex.Expression:
    """Whether the first columns of both sides are equal."""
    return equal(col(left, 0), ex.FieldReference(len(left.schema), right.schema.types[0]))


def joined(left: r.Rel, right: r.Rel) -> r.Rel:
    return r.Join(left, right, "inner", matching(left, right))


def semi_joined(left: r.Rel, right: r.Rel) -> r.Rel:
    return r.Join(left, right, "left_semi", matching(left, right))


def in_pairs(rels: list[r.Rel]) -> r.Rel:
    """The relations joined in pairs, the pairs in pairs, and so on."""
    while len(rels) > 1:
        rels = [folded(joined, rels[start : start + 2]) for start in range(0, len(rels), 2)]
    return rels[0]


def computed(expression: ex.Expression) -> r.Rel:
    return r.Project(T, (expression,), ("x",))


def both(left: ex.Expression, right: ex.Expression) -> ex.Expression:
    return call("and:bool", left, right, urn=BOOLEAN)


def conditional(inner: ex.Expression, number: int) -> ex.Expression:
    return ex.IfThen((ex.IfClause(equal(col(T, 0), i64(number)), i64(number)),), inner)


def conditional_clause(inner: ex.Expression, number: int) -> ex.Expression:
    return ex.IfThen((ex.IfClause(gt(inner, i64(number)), inner if number == 0 else i64(number)),), i64(0))


def subquery(inner: r.Rel, number: int) -> r.Rel:
    return r.Filter(tables()[number], ex.SetPredicate("exists", inner))


def conditions() -> list[ex.Expression]:
    return [gt(col(T, 0), i64(number)) for number in range(5000)]


PLANS: dict[str, Callable[[], r.Rel]] = {
    "1000 tables joined to the left": lambda: folded(joined, tables()),
    "1000 tables joined to the right": lambda: folded(lambda right, left: joined(left, right), tables()),
    "1000 tables joined in pairs": lambda: in_pairs(list(tables())),
    "1000 tables semi-joined to the left": lambda: folded(semi_joined, tables()),
    "1000 inputs of a set": lambda: r.Set(tuple(tables()), "union_all"),
    "1000 sets in each other": lambda: folded(lambda left, right: r.Set((left, right), "minus_primary"), tables()),
    "5000 terms": lambda: computed(folded(add, map(i64, range(5000)), col(T, 0))),
    "5000 terms to the right": lambda: computed(folded(lambda sum_, n: add(i64(n), sum_), range(5000), i64(0))),
    "5000 conditions": lambda: r.Filter(T, call("and:bool", *conditions(), urn=BOOLEAN)),
    "5000 conditions in each other": lambda: r.Filter(T, folded(both, conditions())),
    "1000 ifs in each other's else": lambda: computed(folded(conditional, range(1000), i64(0))),
    "1000 ifs in each other's condition": lambda: computed(folded(conditional_clause, range(1000), col(T, 0))),
    "1000 casts": lambda: computed(folded(lambda inner, _: ex.Cast(inner, t.I64()), range(1000), col(T, 0))),
    "30 subqueries in each other": lambda: folded(subquery, range(30), T),
}


@pytest.mark.parametrize("make", PLANS.values(), ids=PLANS)
def test_it_is_readable_and_comes_back(make: Callable[[], r.Rel]) -> None:
    rel = make()
    sent = encoded(rel)
    assert nesting(sent) <= MAX_NESTING
    data = to_bytes(sent)
    got, findings = from_bytes(data)
    assert findings == ()
    assert got == plan_of(rel)
    assert got.roots[0].input.schema.types == rel.schema.types
    assert to_bytes(encode_plan(got)) == data
