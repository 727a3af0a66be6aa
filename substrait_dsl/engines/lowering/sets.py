"""Set operations of two inputs, in the forms of engines.

The n-th of equal rows is numbered n, so that multiset operations become set operations.
"""

from __future__ import annotations

from functools import reduce
from operator import is_
from typing import assert_never

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.rules import SetOp
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.terms import (
    columns,
    conjunction,
    first_columns,
    is_bare,
    one_zero,
    project_only,
    row_number,
    same,
    shift_fields,
    with_columns,
)


def lower_set(rel: rl.Set, lowering: Lowering) -> Rel:
    """Lower a set operation to set operations of two inputs, and unions of all rows."""
    inputs = rel.relations if rel.op == "union_all" else tuple(map(_with_one_zero, rel.relations))
    if not all(map(is_, inputs, rel.relations)):
        rel = rl.Set(inputs, rel.op)
    first, *others = rel.relations
    width = len(rel.schema)
    match rel.op:
        case "union_all" | "union_distinct":
            return rel if is_bare(rel) else rl.Set(rel.relations, rel.op)
        case "minus_primary" | "intersection_primary":
            return rl.Set((first, _union(others)), rel.op)
        case "intersection_multiset":
            return _intersection(rel.relations)
        case "minus_primary_all":
            return first_columns(rl.Set((_number_rows(first), _number_rows(_union(others))), "minus_primary"), width)
        case "intersection_multiset_all":
            return first_columns(_intersection(tuple(map(_number_rows, rel.relations))), width)
        case "minus_multiset":
            removed = _intersection(tuple(others)) if len(others) > 1 else others[0]
            tests = [same(a, shift_fields(b, width)) for a, b in zip(columns(first), columns(removed), strict=True)]
            return rl.Join(first, removed, "left_anti", conjunction(tests))
        case never:
            assert_never(never)


def _with_one_zero(rel: Rel) -> Rel:
    """Return the rows with one zero for floating-point numbers."""
    own = columns(rel)
    values = list(map(one_zero, own))
    return rel if all(map(is_, values, own)) else project_only(rel, values, rel.schema.names)


def _union(rels: list[Rel]) -> Rel:
    return rl.Set(tuple(rels), "union_all") if len(rels) > 1 else rels[0]


def _intersection(rels: tuple[Rel, ...]) -> Rel:
    op: SetOp = "intersection_multiset"
    return reduce(lambda one, other: rl.Set((one, other), op), rels)


def _number_rows(rel: Rel) -> Rel:
    """Return the rows with a number, from 1, among equal rows."""
    return with_columns(rel, row_number(columns(rel)), name="repetition")
