"""Expressions in the forms that an engine takes, where it takes few; also the calls that lowering itself makes."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable, Mapping

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Node, rebuild
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.fitted import decimal_type
from substrait_dsl.engines.lowering.terms import (
    FALSE,
    TRUE,
    UNKNOWN,
    as_type,
    call,
    case_when,
    cast,
    connect,
    is_not_null,
    is_null,
    negate,
)
from substrait_dsl.engines.lowering.values_by_functions import carrier_of, computed_constant, timestamp_of_date
from substrait_dsl.engines.registered import ARROW, registered_function
from substrait_dsl.errors import UnsupportedError


def to_form(expression: ex.Expression, lowering: Lowering) -> ex.Expression:
    """Rewrite an expression to the forms that the engine takes; type and value stay the same."""

    def change(node: Node) -> Node:
        match node:
            case ex.Literal():
                return _literal(node, lowering)
            case ex.ScalarFunction():
                return as_type(_call(node, lowering), node.type)
            case ex.SingularOrList(value=value, options=options) if isinstance(
                value.type, t.FP32 | t.FP64
            ) and lowering.profile.has_form("nans_beside_nulls"):
                pairs = ([value, each] for each in options)
                tests = [_nans_compared(call("comparison", "equal", *pair), pair) for pair in pairs]
                return as_type(connect("or", tests), node.type)
            case ex.WindowFunction():
                raise UnsupportedError(f"{lowering.profile} has no window functions")
            case ex.Cast():
                return _cast(node, lowering)
            case _:
                return node

    changed = rebuild(expression, change, into_relations=False)
    if lowering.profile.cast_types is not None:
        changed = rebuild(changed, lambda node: _without_idle_cast(node, lowering), into_relations=False)
    return (
        rebuild(changed, _with_known_conditions, into_relations=False)
        if lowering.profile.has_form("known_conditions")
        else changed
    )


def _with_known_conditions(node: Node) -> Node:
    """Make the conditions of a conditional never NULL: the engine gives NULL where the only one is NULL."""
    if not isinstance(node, ex.IfThen):
        return node
    clauses = [ex.IfClause(_known(each.condition), each.then) for each in node.clauses]
    return ex.IfThen(tuple(clauses), node.otherwise)


def _known(condition: ex.Expression) -> ex.Expression:
    if not condition.type.nullable or _is_known(condition):
        return condition
    return call("boolean", "and", is_not_null(condition), condition)


def _is_known(condition: ex.Expression) -> bool:
    match condition:
        case ex.ScalarFunction(arguments=(ex.ScalarFunction(arguments=(tested,)) as test, value)):
            names = condition.function.standard_name, test.function.standard_name
            return names == ("and", "is_not_null") and tested == value
        case _:
            return False


def _literal(node: ex.Literal, lowering: Lowering) -> ex.Expression:
    """Return a literal that the engine reads, cast to its type where the engine reads only another type."""
    type_ = node.type
    carrier = carrier_of(type_, lowering)
    if carrier is not None:
        return computed_constant(node, carrier)
    if node.value is None and lowering.profile.has_form("nulls_by_cast"):
        return _null(type_, lowering)
    match type_:
        case t.String() if lowering.profile.has_form("texts_of_latin_1") and not is_latin(node.value):
            raise lowering.refusal("a text of characters that ISO 8859-1 does not have, or NULL,")
        case t.FP32() | t.FP64() if lowering.profile.has_form("floats_of_digits") and not has_digits(node.value):
            raise lowering.refusal("a floating-point constant that is NaN, infinite or -0.0")
        case t.I16() if lowering.profile.has_form("small_integers_by_cast"):
            return ex.Cast(ex.Literal(node.value, t.I32(nullable=type_.nullable)), type_)
        case t.PrecisionTimestamp() | t.PrecisionTimestampTZ() if lowering.profile.has_form("timestamps_by_cast"):
            return _timestamp(node, type_, lowering)
        case t.PrecisionTimestamp() | t.Binary() if not lowering.profile.casts_to(type_):
            raise lowering.refusal(f"a literal of {type_}")
        case _:
            return node


def is_latin(value: object) -> bool:
    """Whether a value is a string of ISO 8859-1."""
    return isinstance(value, str) and all(ord(character) < 256 for character in value)


def has_digits(value: float | None) -> bool:
    """Whether a floating-point value can be written in digits alone."""
    return value is None or (math.isfinite(value) and (value != 0 or math.copysign(1, value) > 0))


def _timestamp(
    node: ex.Literal, type_: t.PrecisionTimestamp | t.PrecisionTimestampTZ, lowering: Lowering
) -> ex.Expression:
    """Return a timestamp as a string that is cast to it; a timestamp with time zone is in UTC."""
    if node.value is None:
        return node
    per_second = 10 ** int(type_.precision)
    seconds, rest = divmod(int(node.value), per_second)
    try:
        timestamp = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    except OverflowError:
        raise lowering.refusal(f"a literal of {type_} out of the years 1 to 9999") from None
    digits = f".{rest:0{int(type_.precision)}d}" if int(type_.precision) else ""
    zone = "Z" if isinstance(type_, t.PrecisionTimestampTZ) else ""
    text = f"{timestamp.isoformat(' ', 'seconds')}{digits}{zone}"
    return ex.Cast(ex.Literal(text, t.String(nullable=type_.nullable)), type_)


def _null(type_: t.Type, lowering: Lowering) -> ex.Expression:
    """Return a NULL of a type: a cast, or a quotient by zero where the engine has no cast to the type."""
    if lowering.profile.casts_to(type_):
        return ex.Cast(ex.Literal(None, t.I32(nullable=True)), type_)
    match type_:
        case t.I8() | t.FP32():
            one, zero = (ex.literal(1, type_.as_required()), ex.literal(0, type_.as_required()))
            return ex.ScalarFunction(call("arithmetic", "divide", one, zero).function, (one, zero), type_)
        case _:
            raise lowering.refusal(f"a NULL of {type_}")


def _cast(node: ex.Cast, lowering: Lowering) -> ex.Expression:
    """Rewrite a cast; one that changes only nullability stays."""
    if lowering.profile.has_form("casts_by_wider_decimals"):
        node = _widen_decimal_cast(node, lowering)
    if lowering.profile.casts_to(node.target):
        return node
    if (
        isinstance(node.input.type, t.Date)
        and isinstance(node.target, t.PrecisionTimestamp)
        and (carrier_of(node.target, lowering) is not None)
    ):
        return timestamp_of_date(node.input, node.target, lowering)
    if node.input.type.as_required() == node.target.as_required():
        return node.input  # whether a value may be NULL is nothing to the engine
    raise lowering.refusal(f"a cast to {node.target}")


def _without_idle_cast(node: Node, lowering: Lowering) -> Node:
    """Drop a cast that changes only nullability, where the engine has no cast to the type."""
    if not isinstance(node, ex.Cast) or lowering.profile.casts_to(node.target):
        return node
    return node.input if node.input.type.as_required() == node.target.as_required() else node


def _widen_decimal_cast(cast: ex.Cast, lowering: Lowering) -> ex.Cast:
    """Write a cast as a cast to a wider decimal and one from it, where only that gives the right value.

    DuckDB truncates digits instead of rounding where the value may not fit, and its strings of decimals without an
    integer digit begin with the point.
    """
    source, target = cast.input.type, cast.target
    if not isinstance(source, t.Decimal):
        return cast
    before, behind = int(source.precision) - int(source.scale), int(source.scale)
    match target:
        case t.Decimal(precision=precision, scale=scale) if scale < behind and before >= precision - scale:
            before, behind = before + 1, int(scale)
        case t.String() if before == 0 and behind == MAX_DIGITS:
            raise lowering.refusal(f"a cast of {source} to {target}", rule="cast")
        case t.String() if before == 0:
            before = 1
        case _:
            return cast
    wider = decimal_type(before + behind, behind, nullable=source.nullable)
    return attrs.evolve(cast, input=ex.Cast(cast.input, wider))


MAX_DIGITS = 38
"""The maximal precision of decimals."""


def _call(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression:
    rule = lowering.profile.function_rules.get(node.function.standard_name, "")
    arguments = [each for each in node.arguments if isinstance(each, ex.Expression)]
    if rule in FORM_RULES:
        return FORM_RULES[rule](node, arguments)
    return node


def _if_null(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    """Write COALESCE as a conditional with a clause for each nullable value."""
    *others, last = arguments
    return case_when([(is_not_null(each), as_type(each, node.type)) for each in others], as_type(last, node.type))


def _from_zero(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    (value,) = arguments
    if isinstance(value.type, t.Decimal):
        nothing = ex.Literal(decimal.Decimal(0), value.type.as_required())
        return cast(call("arithmetic_decimal", "subtract", nothing, value), value.type)
    zero = 0.0 if isinstance(value.type, t.FP32 | t.FP64) else 0
    if isinstance(value.type, t.I16):
        return call("arithmetic", "subtract", ex.Cast(ex.literal(zero, t.I32()), t.I16()), value)
    return call("arithmetic", "subtract", ex.literal(zero, value.type.as_required()), value)


def _pairs(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    if len(arguments) == 2:
        return node
    if node.function.name != "concat":
        return connect(node.function.name, arguments)
    text = arguments[0]
    for each in arguments[1:]:
        text = call("string", "concat", text, each)
    return text


def _difference(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    """Write XOR as an inequality of two booleans."""
    return call("comparison", "not_equal", *arguments)


def _and_not(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    left, right = arguments
    return call("boolean", "and", left, negate(right))


def _truth(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    """Write IS TRUE and the like as a conditional: a condition that is NULL counts as not met."""
    (value,) = arguments
    name = node.function.name
    condition = value if name.endswith("true") else negate(value)
    met, unmet = (FALSE, TRUE) if "_not_" in name else (TRUE, FALSE)
    return case_when([(condition, met)], unmet)


def _distinct_by_nulls(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    """Write IS NOT DISTINCT FROM with a comparison of values that are not NULL."""
    left, right = arguments
    equal = _nans_compared(call("comparison", "equal", left, right), arguments)
    clauses: list[tuple[ex.Expression, ex.Expression]] = []
    if left.type.nullable:
        clauses.append((is_null(left), is_null(right)))
    if right.type.nullable:
        clauses.append((is_null(right), FALSE))
    test = case_when(clauses, equal) if clauses else equal
    return as_type(test, t.Boolean()) if node.function.name == "is_not_distinct_from" else negate(test)


def _nans_compared(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    """Write a comparison in which NaN equals itself and is larger than any number."""
    if not isinstance(arguments[0].type, t.FP32 | t.FP64):
        return node
    one, other = (call("comparison", "is_nan", each) for each in arguments)
    match node.function.name:
        case "equal":
            test: ex.Expression = connect("or", [node, connect("and", [one, other])])
        case "not_equal":
            test = connect("and", [node, negate(connect("and", [one, other]))])
        case "gt":
            test = connect("or", [node, connect("and", [one, negate(other)])])
        case "lt":
            test = connect("or", [node, connect("and", [other, negate(one)])])
        case "gte":
            test = connect("or", [node, one])
        case _:
            test = connect("or", [node, other])
    nulls = [is_null(each) for each in arguments if each.type.nullable]
    return case_when([(connect("or", nulls), UNKNOWN)], test) if nulls else test


def _lower_modulus(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    """Write a modulus by a constant as a quotient and a product: the engine has no modulus.

    The quotient of the least number by -1 would be wrong.
    """
    value, divisor = arguments
    if (
        not isinstance(node.type, t.INTEGER_TYPES)
        or not isinstance(divisor, ex.Literal)
        or divisor.value in (None, 0, -1)
    ):
        raise UnsupportedError("the engine has no modulus but of an integer by a constant, neither 0 nor -1")
    multiple = call("arithmetic", "multiply", call("arithmetic", "divide", value, divisor), divisor)
    return call("arithmetic", "subtract", value, multiple)


def _arrow_function(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    """Call a function by its name in Arrow; lengths of strings are integers of 32 bits there."""
    (value,) = arguments
    match node.function.name, value.type:
        case "abs", t.Decimal():
            return attrs.evolve(node, function=ex.FunctionId(ARROW, "abs:dec"))
        case "reverse", t.String():
            return attrs.evolve(node, function=ex.FunctionId(ARROW, "utf8_reverse:str"))
        case "char_length", t.String():
            return cast(_length(LENGTH, value), t.I64())
        case "octet_length", t.String():
            return cast(_length(BYTES, value), t.I64())
        case "bit_length", t.String():
            return call("arithmetic", "multiply", cast(_length(BYTES, value), t.I64()), ex.literal(8, t.I64()))
        case _:
            return node


def _length(function: ex.FunctionId, text: ex.Expression) -> ex.Expression:
    return ex.ScalarFunction(function, (text,), t.I32(nullable=text.type.nullable))


def _call_registered(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    """Call the registered function that implements one of the specification."""
    return attrs.evolve(node, function=registered_function(node.function))


def _like_by_parts(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    """Write LIKE as a prefix, suffix or substring test, if a constant pattern is one."""
    value, pattern = arguments
    if not isinstance(pattern, ex.Literal) or pattern.value is None or "_" in pattern.value:
        return _call_registered(node, arguments)
    first, *middle = pattern.value.split("%")
    if not middle:
        return call("comparison", "equal", value, pattern)
    *middle, last = middle
    inner = [part for part in middle if part]
    if len(inner) > 1 or (inner and (first or last)):
        return _call_registered(node, arguments)
    tests: list[ex.Expression] = [
        call("string", name, value, ex.literal(part, t.String()))
        for name, part in (("starts_with", first), ("ends_with", last), *(("contains", part) for part in inner))
        if part
    ]
    if first and last:
        tests.append(call("comparison", "gte", _length(LENGTH, value), ex.literal(len(first) + len(last), t.I32())))
    return connect("and", tests) if tests else call("comparison", "equal", value, value)


def _lower_string_search(node: ex.ScalarFunction, arguments: list[ex.Expression]) -> ex.Expression:
    """Keep a string search for a constant; the engine has no other."""
    if not isinstance(arguments[1], ex.Literal) or arguments[1].value is None:
        return _call_registered(node, arguments)
    return node


LENGTH = ex.FunctionId(ARROW, "utf8_length:str")
"""Arrow's function for the number of characters of a string."""

BYTES = ex.FunctionId(ARROW, "binary_length:str")
"""Arrow's function for the number of bytes of a string in UTF-8."""


FORM_RULES: Mapping[str, Callable[[ex.ScalarFunction, list[ex.Expression]], ex.Expression]] = {
    "if_null": _if_null,
    "from_zero": _from_zero,
    "pairs": _pairs,
    "difference": _difference,
    "and_not": _and_not,
    "truth": _truth,
    "distinct_by_nulls": _distinct_by_nulls,
    "nans_compared": _nans_compared,
    "like_by_parts": _like_by_parts,
    "by_constant": _lower_string_search,
    "registered": _call_registered,
    "by_quotient": _lower_modulus,
    "arrow_function": _arrow_function,
}
"""The implementation of each rule for the forms of calls, by its name in profiles."""
