"""Aggregates of columns: keys, arguments and filters of measures are computed below."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, Literal, Measure, ScalarFunction
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.engines.lowering.calls import to_form
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.dependent import rebuild_measure
from substrait_dsl.engines.lowering.known_types import with_known_types
from substrait_dsl.engines.lowering.pairs import form_join
from substrait_dsl.engines.lowering.shown import merge_projection
from substrait_dsl.engines.lowering.terms import (
    call,
    case_when,
    column,
    columns,
    conjunction,
    measure,
    number,
    one_zero,
    same,
    shift_fields,
)

SUMS = ("sum", "avg", "count")
"""Aggregate functions whose results have other types on some engines."""


@attrs.define
class _Columns:
    """The columns below an aggregate."""

    expressions: list[Expression] = attrs.field(factory=list)

    def position_of(self, expression: Expression) -> int:
        """Return the position of an expression; equal expressions share one."""
        for position, each in enumerate(self.expressions):
            if each == expression:
                return position
        self.expressions.append(expression)
        return len(self.expressions) - 1


def form_aggregate(rel: rl.Aggregate, child: Rel, lowering: Lowering) -> Rel:
    """Return an aggregate by all keys, of columns, whose measures have no filters.

    Args:
        rel: the aggregate: of one grouping set at most, which has all keys in their order.
        child: its input in the forms of the engine.
        lowering: the state of lowering the plan.
    """
    below = child
    while isinstance(below, rl.Project | rl.Emit | rl.Filter):
        below = below.input
    if isinstance(below, rl.Aggregate) and lowering.profile.has_form("separate_aggregates"):
        child = _join_one_row(child, lowering)
    separates_zeros = lowering.profile.has_form("signed_zeros")
    keys = [to_form(one_zero(each) if separates_zeros else each, lowering) for each in rel.keys]
    measures = [
        _without_filter(rebuild_measure(each, lambda part: to_form(part, lowering)), lowering) for each in rel.measures
    ]
    if lowering.profile.has_form("measures_of_all_rows") and any(map(_is_distinct, measures)):
        return _split(child, keys, measures, rel.schema.names, lowering)
    return _aggregate(child, keys, measures, rel.schema.names, lowering)


def _join_one_row(child: Rel, lowering: Lowering) -> Rel:
    """Join rows to a table of one row, so that they are a query of their own."""
    one = rl.Read(NamedStruct((Field("one", t.I32()),)), rl.VirtualTable((rl.Record((Literal(1, t.I32()),)),)))
    return merge_projection(rl.Cross(child, one), columns(child), child.schema.names, lowering)


def _is_distinct(one: Measure) -> bool:
    return one.function.invocation == "distinct"


def _split(
    child: Rel, keys: Sequence[Expression], measures: Sequence[Measure], names: Sequence[str], lowering: Lowering
) -> Rel:
    """Return an aggregate of the plain measures, joined by the keys to one for each measure of distinct values."""
    width = len(keys)
    groups: list[tuple[Rel, list[int]]] = []
    plain = [n for n, each in enumerate(measures) if not _is_distinct(each)]
    if plain:
        aggregate = _aggregate(
            child, keys, [measures[n] for n in plain], [f"c{n}" for n in range(width + len(plain))], lowering
        )
        groups.append((aggregate, plain))
    for n in (n for n, each in enumerate(measures) if _is_distinct(each)):
        function = measures[n].function
        arguments = [each for each in function.arguments if isinstance(each, Expression)]
        different = _aggregate(
            child, [*keys, *arguments], (), [f"c{i}" for i in range(width + len(arguments))], lowering
        )
        values = tuple(columns(different, range(width, width + len(arguments))))
        of_all = Measure(attrs.evolve(function, arguments=values, invocation="all"))
        names_below = [f"c{i}" for i in range(width + 1)]
        groups.append((_aggregate(different, columns(different, range(width)), [of_all], names_below, lowering), [n]))
    (joined, order), *others = groups
    for other, more in others:
        at = len(joined.schema)
        tests = [same(column(joined, n), shift_fields(column(other, n), at)) for n in range(width)]
        beside = form_join(rl.Join(joined, other, "inner", conjunction(tests)), lowering)
        positions = [*range(at), *range(at + width, len(beside.schema))]
        joined, order = (
            merge_projection(beside, columns(beside, positions), [f"c{i}" for i in range(len(positions))], lowering),
            [*order, *more],
        )
    places = [*range(width), *(width + order.index(n) for n in range(len(measures)))]
    return merge_projection(joined, columns(joined, places), names, lowering)


def _aggregate(
    child: Rel, keys: Sequence[Expression], measures: Sequence[Measure], names: Sequence[str], lowering: Lowering
) -> Rel:
    below = _Columns()
    places = [below.position_of(key) for key in keys]
    different = sorted(set(places))
    arguments = [
        [below.position_of(each) for each in one.function.arguments if isinstance(each, Expression)] for one in measures
    ]
    if not below.expressions:
        below.position_of(number(0, t.I32()))
    base = with_known_types(
        merge_projection(child, below.expressions, [f"c{n}" for n in range(len(below.expressions))], lowering), lowering
    )
    moved = [
        Measure(attrs.evolve(one.function, arguments=columns(base, places)))
        for one, places in zip(measures, arguments, strict=True)
    ]
    aggregate = rl.Aggregate(
        base,
        columns(base, different),
        (tuple(range(len(different))),) if different or lowering.profile.has_form("grouping_of_no_keys") else (),
        tuple(moved),
        tuple(f"c{n}" for n in range(len(different) + len(moved))),
    )
    key_columns = [column(aggregate, different.index(place)) for place in places]
    values = [_cast_sum(column(aggregate, len(different) + n), each, lowering) for n, each in enumerate(moved)]
    return merge_projection(aggregate, [*key_columns, *values], names, lowering)


def _cast_sum(value: Expression, measure: Measure, lowering: Lowering) -> Expression:
    if not lowering.profile.has_form("sums_by_cast") or measure.function.function.name not in SUMS:
        return value
    type_ = value.type
    if measure.function.function.name == "sum" and isinstance(type_, t.Decimal):
        # A sum of more digits than there are is seen when something is added.
        zero = Literal(Decimal(0).scaleb(-int(type_.scale)), type_.as_required())
        value = ScalarFunction(call("arithmetic_decimal", "add", value, zero).function, (value, zero), type_)
    return Cast(value, type_)


def _without_filter(one: Measure, lowering: Lowering) -> Measure:
    """Return a measure of values that are NULL where its filter is not true."""
    if one.filter is None:
        return one
    function = one.function
    if not function.arguments:
        return measure("aggregate_generic", "count", _null_unless(one.filter, number(1, t.I32()), lowering))
    if function.function.name not in NULLS_LEFT_OUT:
        raise lowering.refusal(f"a measure {function.function.name} with a filter")
    (value,) = function.arguments
    assert isinstance(value, Expression)
    return Measure(attrs.evolve(function, arguments=(_null_unless(one.filter, value, lowering),)))


NULLS_LEFT_OUT = ("count", "sum", "min", "max", "avg", "bool_and", "bool_or")
"""Aggregate functions that ignore NULL."""


def _null_unless(condition: Expression, value: Expression, lowering: Lowering) -> Expression:
    return to_form(case_when([(condition, value)], Literal(None, value.type.as_nullable())), lowering)
