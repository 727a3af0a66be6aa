"""Aggregates of one grouping set, with measures that the engine computes as the specification says."""

from __future__ import annotations

import decimal
from collections.abc import Callable

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, FieldReference, Literal, Measure
from substrait_dsl.algebra.node import Rel
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.dependent import rebuild_measure
from substrait_dsl.engines.lowering.divisions import exact_quotient, integer_average
from substrait_dsl.engines.lowering.equivalents import extreme_of_class, without_extremes
from substrait_dsl.engines.lowering.fitted import as_integer, fitted_quotient
from substrait_dsl.engines.lowering.subqueries import attach, has_subquery
from substrait_dsl.engines.lowering.terms import (
    as_type,
    call,
    case_when,
    cast,
    column,
    columns,
    number,
    one_zero,
    project_only,
)
from substrait_dsl.engines.lowering.terms import measure as make_measure
from substrait_dsl.engines.lowering.window_functions import WITHOUT_ORDER

WIDE = t.Decimal(38, 0)


def lower_aggregate(rel: rl.Aggregate, lowering: Lowering) -> Rel:
    """Lower an aggregate; several grouping sets become a union of one aggregate for each."""
    source, keys, measures = _without_subqueries(rel, lowering)
    if len(rel.grouping_sets) <= 1:
        order = rel.grouping_sets[0] if rel.grouping_sets else ()
        groups = _group(source, keys, order, measures, lowering)
        return (
            rl.emit(groups, range(len(rel.schema)), rel.schema.names)
            if groups.schema.names != rel.schema.names
            else groups
        )
    parts = [
        _grouping_set(rel, number_of, source, keys, measures, lowering) for number_of in range(len(rel.grouping_sets))
    ]
    return rl.Set(tuple(parts), "union_all")


def _without_subqueries(
    rel: rl.Aggregate, lowering: Lowering
) -> tuple[Rel, tuple[Expression, ...], tuple[Measure, ...]]:
    """Return the input, keys and measures of an aggregate; subqueries become columns of the input."""
    nodes = (*rel.keys, *rel.measures)
    if not any(map(has_subquery, nodes)):
        return rel.input, tuple(map(one_zero, rel.keys)), rel.measures
    expressions: list[Expression] = list(rel.keys)
    for each in rel.measures:
        expressions += [argument for argument in each.function.arguments if isinstance(argument, Expression)]
        expressions += [key.expression for key in each.function.sorts]
        expressions += [] if each.filter is None else [each.filter]
    source, changed = attach(lowering, rel.input, expressions, rel.anchor)
    remaining = iter(changed)
    keys = tuple(one_zero(next(remaining)) for _ in rel.keys)
    return source, keys, tuple(rebuild_measure(each, lambda _: next(remaining)) for each in rel.measures)


def _grouping_set(
    rel: rl.Aggregate,
    index: int,
    source: Rel,
    keys: tuple[Expression, ...],
    measures: tuple[Measure, ...],
    lowering: Lowering,
) -> Rel:
    """Return the groups of one of several grouping sets, with NULL for the other keys, and its index."""
    order = rel.grouping_sets[index]
    groups = _group(source, keys, order, measures, lowering)
    used = sorted(set(order))
    key_positions = {position: n for n, position in enumerate(used)}
    types = rel.schema.types
    key_values = [
        as_type(column(groups, key_positions[n]), types[n]) if n in key_positions else Literal(None, types[n])
        for n in range(len(keys))
    ]
    values = columns(groups, range(len(used), len(used) + len(measures)))
    return project_only(groups, (*key_values, *values, number(index, t.I32())), rel.schema.names)


def _group(
    source: Rel, keys: tuple[Expression, ...], order: tuple[int, ...], measures: tuple[Measure, ...], lowering: Lowering
) -> Rel:
    """Return the groups by some of the keys: the keys in their order, then the measures."""
    used = [keys[position] for position in sorted(set(order))]
    parts: list[Measure] = []
    finals: list[Callable[[Rel], Expression]] = []
    for each in measures:
        some, final = _split_measure(each, len(used) + len(parts), lowering)
        parts += some
        finals.append(final)
    names = tuple(f"c{n}" for n in range(len(used) + len(parts)))
    sets = (tuple(range(len(used))),) if used else (((),) if order == () and not used and not parts else ())
    if not used and not parts:
        one, final = _split_measure(_row_count(), 0, lowering)
        parts = one
        names = ("c0",)
        sets = ()
    groups = rl.Aggregate(source, tuple(used), sets, tuple(parts), names)
    values = [final(groups) for final in finals]
    positions = [value.position for value in values if isinstance(value, FieldReference)]
    if positions == list(range(len(used), len(used) + len(parts))) and len(parts) == len(values):
        return groups
    if not used and not values:
        return groups
    names = tuple(f"c{n}" for n in range(len(used) + len(values)))
    return project_only(groups, (*columns(groups, range(len(used))), *values), names)


def _row_count() -> Measure:
    return make_measure("aggregate_generic", "count")


def _split_measure(measure: Measure, at: int, lowering: Lowering) -> tuple[list[Measure], Callable[[Rel], Expression]]:
    """Return the measures that the engine computes, and a function that computes the result from their columns.

    The columns begin at position `at`.
    """
    function = measure.function
    if function.phase != "initial_to_result":
        raise lowering.refusal("an aggregate of intermediate values")
    lowering.require_meaning("aggregate function", function.function)
    name, type_ = function.function.name, function.output_type
    lowering.require_options(function.function, function.options)
    if function.invocation == "distinct":
        function = attrs.evolve(
            function,
            arguments=tuple(one_zero(each) if isinstance(each, Expression) else each for each in function.arguments),
        )
    if function.sorts and (name not in WITHOUT_ORDER or isinstance(type_, t.FP32 | t.FP64)):
        raise lowering.refusal(f"{name} of {type_} over rows in an order")
    if function.options or function.sorts:
        function = attrs.evolve(function, options=(), sorts=())
    bare = measure if function is measure.function else Measure(function, measure.filter)
    match name, function.arguments:
        case "avg", (Expression(type=argument),) if isinstance(argument, t.INTEGER_TYPES):
            return _integer_average(bare, at, lowering)
        case "avg", (Expression(type=t.Decimal()),) if lowering.profile.function_rules.get("avg") == "sum_and_count":
            return _decimal_average(bare, at, lowering)
        case "bool_and" | "bool_or", (Expression() as argument,) if (
            lowering.profile.function_rules.get(name) == "extreme"
        ):
            extreme = "min" if name == "bool_and" else "max"
            part = make_measure("arithmetic", extreme, cast(argument, t.I32()), filter=measure.filter)
            one = number(1, t.I32())
            return [part], lambda groups: as_type(call("comparison", "equal", column(groups, at), one), type_)
        case "min" | "max", (Expression(type=t.FP32() | t.FP64()),) if (
            lowering.profile.function_rules.get(name) == "real_extreme"
        ):  # of different values they are the same
            return _real_extreme(Measure(attrs.evolve(bare.function, invocation="all"), bare.filter), at)
        case "sum0", (Expression(),):
            extension = function.function.urn.rpartition("functions_")[2]
            plain = make_measure(extension, "sum", *function.arguments, filter=measure.filter)
            plain = Measure(attrs.evolve(plain.function, invocation=function.invocation), measure.filter)
            zero = as_type(number(0, plain.function.output_type.as_required()), plain.function.output_type)
            return [plain], lambda groups: as_type(call("comparison", "coalesce", column(groups, at), zero), type_)
        case _:
            lowering.require_function("aggregate function", function.function)
            if isinstance(type_, t.Decimal) and name in ("avg", "sum"):
                return [bare], lambda groups: Cast(column(groups, at), type_)
            return [bare], lambda groups: column(groups, at)


def _real_extreme(measure: Measure, at: int) -> tuple[list[Measure], Callable[[Rel], Expression]]:
    """Compute the least or the largest of floating-point numbers, of which NaN is the largest.

    The engine computes it of the finite ones; a second measure computes the class of all.
    """
    function = measure.function
    (value,) = function.arguments
    assert isinstance(value, Expression)
    finite, class_of = without_extremes(value)
    extreme = Measure(attrs.evolve(function, arguments=(finite,)), measure.filter)
    class_measure = make_measure("arithmetic", function.function.name, class_of, filter=measure.filter)

    def final(groups: Rel) -> Expression:
        return extreme_of_class(column(groups, at), column(groups, at + 1), function.output_type)

    return [extreme, class_measure], final


def _sum_and_count(measure: Measure, extension: str) -> list[Measure]:
    """Return the sum and the count of the averaged values."""
    function = measure.function
    (argument,) = function.arguments
    total = make_measure(extension, "sum", argument, filter=measure.filter)
    many = make_measure("aggregate_generic", "count", argument, filter=measure.filter)
    return [Measure(attrs.evolve(each.function, invocation=function.invocation), each.filter) for each in (total, many)]


def _decimal_average(
    measure: Measure, at: int, lowering: Lowering
) -> tuple[list[Measure], Callable[[Rel], Expression]]:
    """Compute the average of decimals, rounded to its scale."""
    type_ = measure.function.output_type
    assert isinstance(type_, t.Decimal)

    def final(groups: Rel) -> Expression:
        many = column(groups, at + 1)
        divisor = case_when([(call("comparison", "gt", many, number(0)), cast(many, t.Decimal(19, 0)))], NO_NUMBER)
        is_fitted = lowering.profile.function_rules.get("divide") == "fitted_division"
        return (fitted_quotient if is_fitted else exact_quotient)(column(groups, at), divisor, type_)

    return _sum_and_count(measure, "arithmetic_decimal"), final


NO_NUMBER = Literal(None, t.Decimal(19, 0, nullable=True))


def _integer_average(
    measure: Measure, at: int, lowering: Lowering
) -> tuple[list[Measure], Callable[[Rel], Expression]]:
    """Compute the average of integers, without its fraction: sum and count are decimals, which do not overflow."""
    function = measure.function
    if lowering.profile.function_rules.get("divide") == "fitted_division":
        (argument,) = function.arguments
        assert isinstance(argument, Expression)
        wide = attrs.evolve(function, arguments=(cast(argument, t.Decimal(19, 0)),))
        return _sum_and_count(Measure(wide, measure.filter), "arithmetic_decimal"), lambda groups: integer_average(
            as_integer(column(groups, at)), column(groups, at + 1), function.output_type
        )
    if lowering.profile.function_rules.get("avg") == "sum_and_count":
        return _sum_and_count(measure, "arithmetic"), lambda groups: integer_average(
            column(groups, at), column(groups, at + 1), function.output_type
        )
    (argument,) = function.arguments
    assert isinstance(argument, Expression)
    total = make_measure("arithmetic_decimal", "sum", cast(argument, WIDE), filter=measure.filter)
    many = make_measure("aggregate_generic", "count", argument, filter=measure.filter)
    parts = [
        Measure(attrs.evolve(each.function, invocation=function.invocation), each.filter) for each in (total, many)
    ]

    def final(groups: Rel) -> Expression:
        divisor_or_zero = cast(column(groups, at + 1), WIDE)
        divisor = call(
            "comparison",
            "nullif",
            divisor_or_zero,
            as_type(Literal(decimal.Decimal(0), t.Decimal(38, 0)), divisor_or_zero.type),
        )
        multiple = call(
            "arithmetic_decimal",
            "subtract",
            column(groups, at),
            cast(call("arithmetic_decimal", "modulus", column(groups, at), divisor), WIDE),
        )
        return as_type(call("arithmetic_decimal", "divide", cast(multiple, WIDE), divisor), function.output_type)

    return parts, final
