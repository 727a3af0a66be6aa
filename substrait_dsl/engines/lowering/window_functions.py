"""Window functions of the engine: calls, and frames over rows or over a range."""

from __future__ import annotations

import decimal

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.equivalents import extreme_of_class, without_extremes
from substrait_dsl.engines.lowering.terms import (
    TRUE,
    as_type,
    call,
    case_when,
    cast,
    is_not_null,
    measure,
    normalize_sort_key,
    number,
    one_zero,
)

FLOATS = (t.FP32, t.FP64)
WITHOUT_ORDER = ("count", "sum", "sum0", "min", "max", "avg", "bool_and", "bool_or")
"""Functions whose value does not depend on the order of the rows, but for floating-point digits."""

ADDED = ("sum", "sum0", "avg")
"""Functions that engines compute over a moving frame by subtracting the rows that leave it."""

EXACT_KEY_DIGITS = 18
"""The number of digits that an integer of 64 bits always has; scaled decimals are cast to it."""

MIN_UNITS = 2**61
"""An offset that makes range keys positive, also less a distance."""

UNSIGNED = "arrow_cast:any_str"
"""The function of an engine that casts integers to unsigned ones."""


def lower_window_function(node: ex.WindowFunction, lowering: Lowering) -> ex.Expression:
    """Lower a window function over rows, or over a range of one numeric key."""
    lowering.require_meaning("window function", node.call.function)
    framed = _with_frame(node, lowering)
    argument = next((each for each in node.call.arguments if isinstance(each, ex.Expression)), None)
    match node.call.function.name, argument:
        case "avg", ex.Expression(type=t.I8() | t.I16() | t.I32() | t.I64()):
            return _integer_average(framed, argument, lowering)
        case "bool_and" | "bool_or" as name, ex.Expression():
            return _extreme_truth(framed, argument, "min" if name == "bool_and" else "max", lowering)
        case "min" | "max", ex.Expression(type=t.FP32() | t.FP64()):
            return _real_extreme(framed, argument, lowering)
        case "lag" | "lead", ex.Expression() if len(node.call.arguments) == 3:
            return _neighbour(framed, lowering)
        case _:
            return _require(framed, lowering)


def is_of_partition(node: ex.WindowFunction) -> bool:
    """Whether a window function is an aggregate of all rows of the partition, whatever their order."""
    call = node.call
    covers_partition = (call.lower, call.upper) == (ex.UNBOUNDED, ex.UNBOUNDED) or (
        call.bounds_type == "range" and not node.sorts
    )
    is_plain = call.invocation == "all" and call.phase == "initial_to_result"
    return covers_partition and is_plain and call.function.name in WITHOUT_ORDER


def _require(node: ex.WindowFunction, lowering: Lowering) -> ex.WindowFunction:
    """Return a window function that the engine must have."""
    lowering.require_function("window function", node.call.function)
    return node


def _with_frame(node: ex.WindowFunction, lowering: Lowering) -> ex.WindowFunction:
    """Return the call with partitions, an order and a frame that the engine takes."""
    lowering.require_options(node.call.function, node.call.options)
    if node.call.invocation != "all" or node.call.phase != "initial_to_result":
        raise lowering.refusal("a window function over distinct or intermediate values")
    if any(key.direction == "clustered" or isinstance(key.direction, ex.FunctionId) for key in node.sorts):
        raise lowering.refusal("a window whose order has no direction")
    if node.call.bounds_type == "range" and not node.sorts:  # all rows are peers
        node = attrs.evolve(node, call=attrs.evolve(node.call, lower=ex.UNBOUNDED, upper=ex.UNBOUNDED))
    name, type_ = node.call.function.name, node.call.output_type
    if isinstance(type_, FLOATS) and name in ADDED and node.call.lower != ex.UNBOUNDED:
        # Engines take what a frame leaves behind off the sum: 1e20 + 1 - 1e20 is 0, and an infinity makes it NaN.
        raise lowering.refusal(f"{name} of {type_} over a frame that leaves rows behind")
    partitions = tuple(map(one_zero, node.partitions))
    sorts = tuple(ex.SortKey(normalize_sort_key(key.expression), key.direction) for key in node.sorts)
    function = attrs.evolve(node.call, options=())
    offsets = [bound.offset for bound in (function.lower, function.upper) if bound.offset is not None]
    if function.bounds_type == "range" and offsets:
        (key,) = sorts
        distances = [_distance(each, key.expression, lowering) for each in offsets]
        lower, upper = (_replace_offset(bound, distances) for bound in (function.lower, function.upper))
        function = attrs.evolve(function, lower=lower, upper=upper)
        sorts = (ex.SortKey(_count_units(key.expression, lowering), key.direction),)
    return ex.WindowFunction(function, partitions, sorts)


def _replace_offset(bound: ex.Bound, distances: list[ex.Literal]) -> ex.Bound:
    """Return a bound with the next of the offsets, if it has one."""
    return bound if bound.offset is None else ex.Bound(bound.kind, distances.pop(0))


def _count_units(key: ex.Expression, lowering: Lowering) -> ex.Expression:
    """Return a range key as an unsigned count of its units: engines add offsets to unsigned integers alone."""
    if not any(name == UNSIGNED for _, _, name in lowering.profile.functions):
        raise lowering.refusal("a frame that is a range with an offset")
    match key.type:
        case t.I8() | t.I16() | t.I32():
            units = cast(key, t.I64())
        case t.Decimal(precision=precision, scale=scale) if precision <= EXACT_KEY_DIGITS:
            unit = ex.Literal(decimal.Decimal(10**scale), t.Decimal(scale + 1, 0))
            units = cast(call("arithmetic_decimal", "multiply", key, unit) if scale else key, t.I64())
        case _:
            raise lowering.refusal(f"a frame that is a range over {key.type} with an offset")
    counted = call("arithmetic", "add", units, number(MIN_UNITS))
    function = ex.FunctionId(lowering.profile.urn_of(UNSIGNED), UNSIGNED)
    return ex.ScalarFunction(function, (counted, ex.Literal("UInt64", t.String())), counted.type)


def _distance(offset: ex.Expression, key: ex.Expression, lowering: Lowering) -> ex.Literal:
    """Return an offset in the units of a counted key."""
    type_ = key.type
    if not isinstance(offset, ex.Literal) or not isinstance(type_, t.Decimal | t.I8 | t.I16 | t.I32):
        raise lowering.refusal(f"a frame that is a range over {type_} with an offset")
    scaled = decimal.Decimal(offset.value).scaleb(type_.scale if isinstance(type_, t.Decimal) else 0)
    if scaled != int(scaled) or int(scaled) >= MIN_UNITS:
        raise lowering.refusal(f"a frame that is a range over {type_} with an offset of {offset.value}")
    return number(int(scaled))


def _like(node: ex.WindowFunction, name: str, extension: str, *arguments: ex.Argument) -> ex.WindowFunction:
    """Return an aggregate function of the specification over the same window."""
    found = measure(extension, name, *arguments).function
    function = ex.WindowCall(
        found.function,
        arguments,
        found.output_type,
        lower=node.call.lower,
        upper=node.call.upper,
        bounds_type=node.call.bounds_type,
    )
    return ex.WindowFunction(function, node.partitions, node.sorts)


def _integer_average(node: ex.WindowFunction, value: ex.Expression, lowering: Lowering) -> ex.Expression:
    """Compute the average of integers without its fraction: sum and count are decimals, which do not overflow."""
    wide = t.Decimal(38, 0)
    total = _require(_like(node, "sum", "arithmetic_decimal", cast(value, wide)), lowering)
    many = _require(_like(node, "count", "aggregate_generic", value), lowering)
    divisor = case_when(
        [(call("comparison", "gt", many, number(0)), cast(many, wide))], ex.Literal(None, wide.as_nullable())
    )
    rest = cast(call("arithmetic_decimal", "modulus", total, divisor), wide)
    multiple = cast(call("arithmetic_decimal", "subtract", total, rest), wide)
    return as_type(call("arithmetic_decimal", "divide", multiple, divisor), node.call.output_type)


def _extreme_truth(node: ex.WindowFunction, value: ex.Expression, name: str, lowering: Lowering) -> ex.Expression:
    """Compute whether all, or some, of the values are true: the least, or the largest, of 0 and 1."""
    found = _require(_like(node, name, "arithmetic", cast(value, t.I32())), lowering)
    return as_type(call("comparison", "equal", found, number(1, t.I32())), node.call.output_type)


def _real_extreme(node: ex.WindowFunction, value: ex.Expression, lowering: Lowering) -> ex.Expression:
    """Compute the least or the largest of floating-point numbers, of which NaN is the largest."""
    finite, class_of = without_extremes(value)
    extreme = _like(node, node.call.function.name, "arithmetic", finite)
    found = _require(_like(node, node.call.function.name, "arithmetic", class_of), lowering)
    return extreme_of_class(extreme, found, node.call.output_type)


def _neighbour(node: ex.WindowFunction, lowering: Lowering) -> ex.Expression:
    """Return LAG or LEAD with a default for rows without a neighbour; engines take a constant default alone."""
    value, distance, default = (each for each in node.call.arguments if isinstance(each, ex.Expression))
    if isinstance(default, ex.Literal):
        return _require(node, lowering)
    function = attrs.evolve(node.call.function, key=f"{node.call.function.name}:any_i32")

    def call_at_distance(each: ex.Expression) -> ex.WindowFunction:
        neighbour = attrs.evolve(
            node.call, function=function, arguments=(each, distance), output_type=each.type.as_nullable()
        )
        return _require(attrs.evolve(node, call=neighbour), lowering)

    exists = is_not_null(call_at_distance(TRUE))
    return as_type(case_when([(exists, call_at_distance(value))], default), node.call.output_type)
