"""The order that sort keys establish, and whether the rows of a relation may be sorted as an operator requires.

Only a known ordering that contradicts the required one is refused. Fields that are known to be equal count as one, and
a second key on the same field has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.expressions.references import ROOT, FieldAccess, FieldReference, StructField
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.properties import FieldPath, OrderKey, SortDirection, representative


def sort_ordering(keys: tuple[ex.SortKey, ...]) -> tuple[OrderKey, ...]:
    """Return the ordering that sort keys establish: up to the first that is no direct reference (spec decision 51)."""
    ordering: list[OrderKey] = []
    for key in keys:
        path = direct_path(key.expression)
        if path is None:
            break
        ordering.append(OrderKey(path, key.direction))
    return tuple(ordering)


def direct_path(expression: Expression) -> FieldPath | None:
    """Return the path of a reference to a column, or to a field of a struct in one; None for any other expression."""
    match expression:
        case FieldReference(position=position, root=root) if root is ROOT or root == ROOT:
            return (position,)
        case FieldAccess(input=inner, segment=StructField(position)):
            path = direct_path(inner)
            return None if path is None else (*path, position)
        case _:
            return None


def field_of(rel: Rel, expression: Expression) -> FieldPath | None:
    """Return the representative field of an expression over a relation's rows and all that is equal to it, if any."""
    path = direct_path(expression)
    return None if path is None else representative(path, rel.properties.equal)


def known_keys(rel: Rel) -> list[OrderKey]:
    """Return the known sort keys, each once and by its representative field."""
    found: dict[FieldPath, OrderKey] = {}
    for key in rel.properties.ordering:
        field = representative(key.field, rel.properties.equal)
        found.setdefault(field, OrderKey(field, key.direction))
    return list(found.values())


def may_be_sorted_by(rel: Rel, expressions: Sequence[Expression]) -> bool:
    """Return whether the rows may come sorted by these expressions, in whatever sequence of them.

    An expression that is no field may be what any known key says, or what follows where the known order ends.
    """
    fields = [field_of(rel, expression) for expression in expressions]
    wanted = {field for field in fields if field is not None}
    computed = fields.count(None)
    known = {key.field for key in known_keys(rel)[: len(wanted) + computed]}
    others = len(known - wanted)
    complete = wanted <= known or rel.properties.ordered_further or others < computed
    return not known or (others <= computed and complete)


def may_be_sorted_within(rel: Rel, groups: Sequence[Expression], sorts: Sequence[ex.SortKey]) -> bool:
    """Return whether the rows may be sorted by the partition expressions, and in each partition by these keys."""
    if not may_be_sorted_by(rel, groups):
        return False
    grouped = {field_of(rel, expression) for expression in groups}
    known = known_keys(rel)
    if not known or None in grouped:
        return True
    wanted: dict[FieldPath, ex.SortKey] = {}
    for key in sorts:
        field = field_of(rel, key.expression)
        if field is None:  # what follows is not known (spec decision 51)
            break
        if field not in grouped:  # in a group these are all equal
            wanted.setdefault(field, key)
    rest = known[len(grouped) :]
    return (len(rest) >= len(wanted) or rel.properties.ordered_further) and all(
        have.field == field and orders_as(have.direction, key.direction, nullable=key.expression.type.nullable)
        for have, (field, key) in zip(rest, wanted.items(), strict=False)
    )


def orders_as(have: SortDirection | FunctionId, wanted: SortDirection | FunctionId, *, nullable: bool) -> bool:
    """Return whether values in one direction are in the other one, too.

    Where NULLs would stand, too, if there may be any.
    """
    if wanted in (have, "clustered"):
        return True
    return not nullable and _without_nulls(have) == _without_nulls(wanted)


def _without_nulls(direction: SortDirection | FunctionId) -> str | FunctionId:
    return direction if isinstance(direction, FunctionId) else direction.split("_nulls_")[0]
