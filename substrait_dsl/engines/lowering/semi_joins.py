"""Semi joins on an engine that is right for equalities alone.

The distinct left values in the condition are joined to the right rows first. Those with a match are then the keys of an
equality.
"""

from __future__ import annotations

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import ROOT, Expression, FieldReference, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.engines.lowering.calls import to_form
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.groups import form_aggregate
from substrait_dsl.engines.lowering.pairs import form_join
from substrait_dsl.engines.lowering.subqueries import distinct
from substrait_dsl.engines.lowering.terms import column, conjunction, map_fields, same, shift_fields

EQUALITIES = ("equal", "is_not_distinct_from")


def is_wrong_semi_join(rel: Rel, lowering: Lowering) -> bool:
    """Whether a relation is a semi join with more than equalities, for an engine that errs at these.

    A condition on one side alone is a filter of that side to any engine.
    """
    if (
        not isinstance(rel, rl.Join)
        or rel.how != "left_semi"
        or not lowering.profile.has_form("semi_joins_by_equality")
    ):
        return False
    width = len(rel.left.schema)
    return any(_is_of_both_sides(part, width) and not _is_equality(part) for part in conjuncts(rel.condition))


def form_semi_join(rel: rl.Join, lowering: Lowering) -> Rel:
    """Return the left rows whose values are among the distinct ones with a match; inputs have the engine's forms."""
    width = len(rel.left.schema)
    used = [position for position in _positions(rel.condition) if position < width]
    place = {position: n for n, position in enumerate(used)}
    count = len(used)
    domain = _distinct(rel.left, used, lowering)
    condition = map_fields(rel.condition, lambda at: place[at] if at < width else at - width + count)
    matches = form_join(rl.Join(domain, rel.right, "inner", condition), lowering)
    found = _distinct(matches, list(range(count)), lowering)
    tests = [same(column(rel.left, at), shift_fields(column(found, n), width)) for n, at in enumerate(used)]
    return rl.Join(rel.left, found, "left_semi", to_form(conjunction(tests), lowering))


def _distinct(rel: Rel, positions: list[int], lowering: Lowering) -> Rel:
    aggregate = distinct(rel, positions)
    assert isinstance(aggregate, rl.Aggregate)
    return form_aggregate(aggregate, rel, lowering)


def _positions(expression: Expression) -> list[int]:
    return sorted(
        {
            node.position
            for node in walk(expression, into_relations=False)
            if isinstance(node, FieldReference) and node.root == ROOT
        }
    )


def _is_of_both_sides(part: Expression, width: int) -> bool:
    return len({position < width for position in _positions(part)}) > 1


def _is_equality(part: Expression) -> bool:
    return isinstance(part, ScalarFunction) and part.function.standard_name in EQUALITIES
