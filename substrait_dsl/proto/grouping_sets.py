"""The column with the grouping set index, through the relations above the aggregate."""

from __future__ import annotations

from substrait_dsl.algebra.expressions import ROOT, FieldReference
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import Aggregate, Emit, Exchange, Fetch, Filter, Project, Set, Sort, TopN


def is_grouping_set_index(rel: Rel, position: int) -> bool:
    """Whether a column of a relation is the grouping set index of an aggregate below it.

    Args:
        rel: the relation.
        position: the position of the column.
    """
    while True:
        match rel:
            case Aggregate():
                return len(rel.grouping_sets) > 1 and position == len(rel.schema) - 1
            case Emit():
                position, rel = rel.mapping[position], rel.input
            case Filter() | Sort() | Fetch() | TopN() | Exchange():
                rel = rel.input
            case Project():
                width = len(rel.input.schema)
                if position >= width:
                    expression = rel.expressions[position - width]
                    if not isinstance(expression, FieldReference) or expression.root != ROOT:
                        return False
                    position = expression.position
                rel = rel.input
            case Set():
                return all(is_grouping_set_index(each, position) for each in rel.relations)
            case _:
                return False
