"""Projections that put out only their expressions, each merged with those below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import ROOT, Expression, FieldReference, Literal
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.known_types import projection_parts, with_known_types_for
from substrait_dsl.engines.lowering.terms import columns, conjunction, project_only


def merge_projection(child: Rel, expressions: Sequence[Expression], names: Sequence[str], lowering: Lowering) -> Rel:
    """Return the rows of a relation with only these columns.

    Projections on each other become one, unless an expression would be computed several times. Computed columns are of
    columns whose types the engine knows.
    """
    if list(expressions) == list(columns(child)):
        return child
    below = projection_parts(child)
    if below is None or not _can_be_one(expressions, below[1]):
        return project_only(with_known_types_for(child, expressions, lowering), expressions, names)
    source, values = below

    def change(node: Node) -> Node:
        return values[node.position] if isinstance(node, FieldReference) and node.root == ROOT else node

    fused = [rebuild(each, change, into_relations=False) for each in expressions]
    return source if fused == list(columns(source)) else project_only(source, fused, names)


def _can_be_one(expressions: Sequence[Expression], values: Sequence[Expression]) -> bool:
    used = Counter(
        node.position
        for each in expressions
        for node in walk(each, into_relations=False)
        if isinstance(node, FieldReference) and node.root == ROOT
    )
    return all(number < 2 or isinstance(values[at], FieldReference | Literal) for at, number in used.items())


MAX_FUSED = 32
"""The maximal number of conjuncts of filters that are merged."""


def merge_filter(child: Rel, condition: Expression, lowering: Lowering) -> Rel:
    """Return a filter, merged with those below it."""
    child = with_known_types_for(child, [condition], lowering)
    if isinstance(child, rl.Filter):
        parts = [*conjuncts(child.condition), *conjuncts(condition)]
        if len(parts) <= MAX_FUSED:
            return rl.Filter(child.input, conjunction(parts))
    return rl.Filter(child, condition)
