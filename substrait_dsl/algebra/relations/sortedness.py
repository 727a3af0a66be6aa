"""Whether the rows of a relation may come sorted as an operator needs them.

Only what is known to be otherwise is refused: nothing known contradicts nothing. Fields that are known to be equal
count as one, and a field that rows are ordered by already orders them no further.
"""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra.expressions.calls import SortKey
from substrait_dsl.algebra.functions import FunctionId
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.properties import FieldPath, OrderKey, SortDirection, representative
from substrait_dsl.algebra.relations.filtering import direct_path


def field_of(rel: Rel, expression: Expression) -> FieldPath | None:
    """The field of a relation's rows that stands for an expression over them and all that is equal to it, if any."""
    path = direct_path(expression)
    return None if path is None else representative(path, rel.properties.equal)


def known_keys(rel: Rel) -> list[OrderKey]:
    """What the rows are known to be ordered by: each key by the field that stands for it, and only once."""
    found: dict[FieldPath, OrderKey] = {}
    for key in rel.properties.ordering:
        field = representative(key.field, rel.properties.equal)
        found.setdefault(field, OrderKey(field, key.direction))
    return list(found.values())


def may_be_sorted_by(rel: Rel, expressions: Sequence[Expression]) -> bool:
    """Whether the rows may come sorted by these expressions, in whatever sequence of them.

    An expression that is no field may be what any known key says, or what follows where the known order ends.
    """
    fields = [field_of(rel, expression) for expression in expressions]
    wanted = {field for field in fields if field is not None}
    computed = fields.count(None)
    known = {key.field for key in known_keys(rel)[: len(wanted) + computed]}
    others = len(known - wanted)
    complete = wanted <= known or rel.properties.ordered_further or others < computed
    return not known or (others <= computed and complete)


def may_be_sorted_within(rel: Rel, groups: Sequence[Expression], sorts: Sequence[SortKey]) -> bool:
    """Whether the rows may come sorted by the expressions that make groups of them, and in each group by these keys."""
    if not may_be_sorted_by(rel, groups):
        return False
    grouped = {field_of(rel, expression) for expression in groups}
    known = known_keys(rel)
    if not known or None in grouped:
        return True
    wanted: dict[FieldPath, SortKey] = {}
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
    """Whether values in one direction are in the other one, too: where NULLs would stand, too, if there may be any."""
    if wanted in (have, "clustered"):
        return True
    return not nullable and _without_nulls(have) == _without_nulls(wanted)


def _without_nulls(direction: SortDirection | FunctionId) -> str | FunctionId:
    return direction if isinstance(direction, FunctionId) else direction.split("_nulls_")[0]
