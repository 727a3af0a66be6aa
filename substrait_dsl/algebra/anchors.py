"""Canonical anchors of outer references, so that plans compare equal whatever their anchors are.

An anchor is like the name of a variable: only which references belong to which relation matters. Canonical anchors
depend on nothing else, not even on the relations above, so that a subtree keeps them wherever it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from substrait_dsl.algebra.expressions import FieldReference, MaskedReference, OuterReference, Row
from substrait_dsl.algebra.extended import ExtendedExpression
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk, with_children
from substrait_dsl.algebra.plan import AlgebraPlan


def canonical_plan(plan: AlgebraPlan) -> AlgebraPlan:
    """Return the plan with canonical anchors: two plans that differ only in theirs become equal."""
    return plan.rebuilt(_renumber) if any(map(_has_anchors, plan.relations)) else plan


def canonical_extended(extended: ExtendedExpression) -> ExtendedExpression:
    """Return the extended expression with canonical anchors, as `canonical_plan`."""
    anchor = extended.anchor
    referred = [attrs.evolve(each, expression=rebuild(each.expression, _renumber)) for each in extended.referred]
    referring = [each.expression for each in referred if anchor in each.expression.free_anchors]
    if anchor is None or not referring:
        return attrs.evolve(extended, referred=tuple(referred), anchor=None)
    number = _next_number(referring)
    rename = _renaming(anchor, number)
    renamed = [attrs.evolve(each, expression=rebuild(each.expression, rename)) for each in referred]
    return attrs.evolve(extended, referred=tuple(renamed), anchor=number)


def canonical(rel: Rel) -> Rel:
    """Return the relation with canonical anchors, and none where nothing refers to the row.

    A row is called by one more than the largest number below, inside what refers to it: as 1, mostly, and as 2 if
    another correlated relation is inside. The numbers are made negative, so that they never meet one that is still to
    be replaced.
    """
    return rebuild(rel, _renumber) if _has_anchors(rel) else rel


def _has_anchors(rel: Rel) -> bool:
    return any(isinstance(node, Rel) and node.anchor is not None for node in walk(rel))


def _renumber(node: Node) -> Node:
    """Return a node whose children are canonical, made canonical."""
    if not isinstance(node, Rel) or node.anchor is None:
        return node
    anchor = node.anchor
    referring = [child for child in node.children() if anchor in child.free_anchors]
    if not referring:
        return attrs.evolve(node, anchor=None)
    number = _next_number(referring)
    renamed = _renaming(anchor, number)
    changed = with_children(node, {id(child): rebuild(child, renamed) for child in referring})
    return attrs.evolve(changed, anchor=number)


def _next_number(nodes: Iterable[Node]) -> int:
    """Return the canonical number of a row that these canonical nodes refer to."""
    below = (inner.anchor for node in nodes for inner in walk(node) if isinstance(inner, Rel))
    return min((other for other in below if other is not None and other < 0), default=0) - 1


def _renaming(anchor: int, number: int) -> Callable[[Node], Node]:
    """Return a function that renames references to an anchor."""

    def change(inner: Node) -> Node:
        match inner:
            case FieldReference(root=OuterReference(named)) if named == anchor:
                return attrs.evolve(inner, root=OuterReference(number))
            case MaskedReference(input=Row(root=OuterReference(named)) as row) if named == anchor:
                return attrs.evolve(inner, input=attrs.evolve(row, root=OuterReference(number)))
            case _:
                return inner

    return change
