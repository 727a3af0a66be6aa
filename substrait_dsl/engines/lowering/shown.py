"""Projections that put out nothing but their expressions, each in one with those below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.expressions import ROOT, Expression, FieldReference, Literal
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk
from substrait_dsl.engines.lowering.terms import columns, only


def shown(child: Rel, expressions: Sequence[Expression], names: Sequence[str]) -> Rel:
    """The rows of a relation with these columns only.

    A projection of a projection is one, unless it would compute an expression several times.
    """
    if list(expressions) == list(columns(child)):
        return child
    below = projected(child)
    if below is None or not _can_be_one(expressions, below[1]):
        return only(child, expressions, names)
    source, values = below

    def change(node: Node) -> Node:
        return values[node.position] if isinstance(node, FieldReference) and node.root == ROOT else node

    fused = [rebuild(each, change, into_relations=False) for each in expressions]
    return source if fused == list(columns(source)) else only(source, fused, names)


def projected(rel: Rel) -> tuple[Rel, tuple[Expression, ...]] | None:
    """The input and the expressions of a relation that puts out these and nothing else; None of another one."""
    match rel:
        case r.Emit(input=r.Project(input=source, expressions=expressions), mapping=mapping):
            width = len(source.schema)
            return (source, expressions) if list(mapping) == list(range(width, width + len(expressions))) else None
        case _:
            return None


def _can_be_one(expressions: Sequence[Expression], values: Sequence[Expression]) -> bool:
    used = Counter(
        node.position
        for each in expressions
        for node in walk(each, into_relations=False)
        if isinstance(node, FieldReference) and node.root == ROOT
    )
    return all(number < 2 or isinstance(values[at], FieldReference | Literal) for at, number in used.items())
