"""Whether columns of a relation are unique by construction, so that no row has a second match.

Uniqueness of the data is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import ROOT, Expression, FieldReference
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.rules import JoinType

_KEEPING_LEFT: tuple[JoinType, ...] = ("left_semi", "left_anti", "left_mark", "left_single")
"""The joins that emit each row of their left input at most once, its columns first."""


def is_unique(rel: Rel, positions: Iterable[int]) -> bool:
    """Whether no two rows of a relation have the same values at these positions; NULL equals NULL."""
    columns = set(positions)
    while True:
        match rel:
            case rl.Aggregate(keys=keys, grouping_sets=sets):
                keyed = set(range(len(keys)))
                return columns >= (keyed if len(sets) < 2 else {*keyed, len(rel.schema) - 1})
            case rl.Set(op=op):
                return not op.endswith("_all") and op != "minus_multiset" and columns >= set(range(len(rel.schema)))
            case rl.Project():
                width = len(rel.input.schema)
                columns = _sources(columns, [*range(width), *map(_position, rel.expressions)])
                rel = rel.input
            case rl.Emit():
                columns = _sources(columns, rel.mapping)
                rel = rel.input
            case rl.Join() | rl.HashJoin() | rl.MergeJoin() | rl.NestedLoopJoin() if rel.how in _KEEPING_LEFT:
                columns = {position for position in columns if position < len(rel.left.schema)}
                rel = rel.left
            case (
                rl.Filter()
                | rl.Sort()
                | rl.Fetch()
                | rl.TopN()
                | rl.Exchange()
                | rl.MergingCapture()
                | rl.SimpleCapture()
            ):
                rel = rel.input
            case _:
                return False


def _sources(columns: Iterable[int], sources: Sequence[int | None]) -> set[int]:
    """Return the columns of the input to which some columns are mere references."""
    found = (sources[position] for position in columns)
    return {position for position in found if position is not None}


def _position(expression: Expression) -> int | None:
    """Return the column that an expression merely refers to."""
    match expression:
        case FieldReference(root=root, position=position) if root == ROOT:
            return position
        case _:
            return None
