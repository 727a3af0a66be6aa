"""Scalar functions: calls of the engine's functions, by the rules of its profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FunctionId, Literal, ScalarFunction
from substrait_dsl.catalog.implementations import (
    Implementation,
    bound_function,
    implementation_of,
    require_types,
)
from substrait_dsl.engines.lowering.calls import FORM_RULES
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.divisions import exact_quotient, guarded_division, wide_decimal
from substrait_dsl.engines.lowering.equivalents import EQUIVALENTS, floored_modulus, overflowing, wrap_around
from substrait_dsl.engines.lowering.fitted import fitted_decimal, fitted_quotient
from substrait_dsl.engines.lowering.terms import (
    FALSE,
    TRUE,
    as_type,
    call,
    case_when,
    compare,
    conjunction,
    connect,
    equal,
    fail_where,
    is_null,
    negate,
)
from substrait_dsl.errors import UnsupportedError

MAX_PRECISION = 38
"""The maximal precision of decimals; with it, the engine would keep more scale than the specification."""

DATE_PARTS = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "DAY": "day", "DAY_OF_YEAR": "doy",
}  # fmt: skip
"""The parts of a date that count from one in both, by the words of ``extract``."""

FROM_ONE: tuple[list[ex.Argument], ...] = ([], [ex.EnumArgument("ONE")])
"""The arguments of ``extract`` between its part and its value, for parts that count from one."""


def lower_scalar_function(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression:
    """Lower a call of a scalar function."""
    bound = implementation_of(lowering.profile.engine, node.function)
    if bound is not None:
        return _call_bound(node, bound)
    lowering.require_meaning("scalar function", node.function)
    written = _replace_option(node, lowering)
    if written is not None:
        return written
    lowering.require_options(node.function, node.options)
    bare = attrs.evolve(node, options=()) if node.options else node
    written = _connective_of_few(bare)
    if written is not None:
        return written
    rule = lowering.profile.function_rules.get(node.function.name, "")
    if rule in EQUIVALENTS:
        return EQUIVALENTS[rule](bare, [each for each in node.arguments if isinstance(each, ex.Expression)])
    if rule in RULES:
        written = RULES[rule](bare, lowering)
    if written is not None:
        return written
    if rule in FORM_RULES:
        return bare
    if not rule or rule in RULES_OF_SOME_TYPES:
        lowering.require_function("scalar function", node.function)
        return bare
    raise lowering.refusal(f"a call of {node.function.name} with these arguments")


def _call_bound(node: ex.ScalarFunction, bound: Implementation) -> ex.Expression:
    """Call what a user has bound to a function, under a name that only an execution gives it."""
    values = [argument for argument in node.arguments if isinstance(argument, ex.Expression)]
    if node.options or len(values) < len(node.arguments):
        raise UnsupportedError(f"{bound.title} takes values, and knows nothing of options and words")
    require_types(bound, [node.type, *(value.type for value in values)])
    types = ", ".join(str(each) for each in (node.type, *(value.type for value in values)))
    return attrs.evolve(node, function=bound_function(bound, node.function, types))


def _connective_of_few(node: ex.ScalarFunction) -> ex.Expression | None:
    """Write AND or OR of fewer than two conditions, which some engines lack; None for other calls."""
    match node.function.name, node.arguments:
        case "and" | "or" as name, ():
            return TRUE if name == "and" else FALSE
        case "and" | "or", (ex.Expression() as value,):
            return value
        case _:
            return None


def _replace_option(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    """Write a call with an option that the engine lacks by other calls; None for other calls."""
    if len(node.options) != 1:
        return None
    (option,) = node.options
    name, wanted = option.name.lower(), [each.upper() for each in option.preferences]
    rule = lowering.profile.function_rules.get(node.function.name)
    if set(wanted) & set(lowering.profile.values_of(name, node.function)) or not isinstance(node.type, t.INTEGER_TYPES):
        return None
    if name == "division_type" and wanted[0] == "FLOOR" and lowering.has_function("scalar function", node.function):
        return floored_modulus(node) if rule is None else None
    if name != "overflow" or rule == "guarded_division":
        return None
    if lowering.profile.has_form("unchecked_casts"):  # which fail for no value
        wanted = [each for each in wanted if each != "ERROR"]
    if rule == "fitted_decimal" and node.function.name == "multiply" and isinstance(node.type, t.I64):
        return None  # a product of integers of 64 bits has more digits than the engine has
    return overflowing(node, wanted)


# --- rules: each writes a call over lowered arguments, or returns None for arguments that it is not for


def _date_part(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    """Write ``extract`` as the engine's ``date_part``."""
    match node.arguments:
        case (ex.EnumArgument(word), *between, ex.Expression(type=t.Date() | t.PrecisionTimestamp()) as value) if (
            word in DATE_PARTS and between in FROM_ONE
        ):
            part = ex.Literal(DATE_PARTS[word], t.String())
            function = ex.FunctionId(lowering.profile.urn_of("date_part:str_any"), "date_part:str_any")
            return ex.ScalarFunction(function, (part, value), t.I32(nullable=value.type.nullable))
        case _:
            return None


def _extract_date(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    """Write ``extract`` of a date without the argument for the first number."""
    match node.arguments:
        case (ex.EnumArgument("YEAR" | "MONTH" | "DAY") as part, *between, ex.Expression(type=t.Date()) as value) if (
            between in FROM_ONE
        ):
            function = ex.FunctionId(node.function.urn, "extract:req_date")
            lowering.require_function("scalar function", function)
            return ex.ScalarFunction(function, (part, value), node.type)
        case _:
            return None


def _comparisons(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    """Write BETWEEN as two comparisons."""
    match node.function.name, node.arguments:
        case "between", (ex.Expression() as value, ex.Expression() as low, ex.Expression() as high):
            test = conjunction([compare("gte", value, low), compare("lte", value, high)])
            return _null_if_any(node.arguments, test)
        case _:
            return None


def _nullif(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    """Write NULLIF as a conditional."""
    match node.arguments:
        case (ex.Expression() as left, ex.Expression() as right):
            return case_when([(equal(left, right), ex.Literal(None, node.type))], left)
        case _:
            return None


def _like_pattern(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    """Escape the backslashes in the pattern of a LIKE."""
    match node.arguments:
        case (ex.Expression() as value, ex.Expression() as pattern):
            lowering.require_function("scalar function", node.function)
            return attrs.evolve(node, arguments=(value, _without_escapes(pattern)))
        case _:
            return None


def _null_of_null(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression:
    """Make a call NULL where an argument is."""
    lowering.require_function("scalar function", node.function)
    return _null_if_any(node.arguments, node)


def _with_one_zero(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    """Compare with one zero; IS DISTINCT FROM is negated where the engine lacks it."""
    match node.function.name, node.arguments:
        case name, (ex.Expression() as left, ex.Expression() as right):
            is_negated = name == "is_distinct_from" and not lowering.has_function("scalar function", node.function)
            if is_negated:
                return negate(compare("is_not_distinct_from", left, right))
            lowering.require_function("scalar function", node.function)
            return compare(name, left, right)
        case _:
            return None


def _derived_decimal(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    """Cast decimals to the derived type, where the engine has another one."""
    if not isinstance(node.type, t.Decimal):
        return None
    match node.function.name, node.arguments:
        case "divide", (ex.Expression() as value, _):
            return _quotient(node, value)
        case _:
            return ex.Cast(node, node.type) if node.type.precision == MAX_PRECISION else node


def _wide_decimal(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    match node.type, node.arguments:
        case t.Decimal(), (ex.Expression() as left, ex.Expression() as right):
            return wide_decimal(node, left, right)
        case _:
            return None


def _fitted_decimal(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    match node.type, node.arguments:
        case t.Decimal(), (ex.Expression() as left, ex.Expression() as right):
            return fitted_decimal(node, left, right)
        case _:
            return None


def _fitted_division(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    match node.type, node.arguments:
        case t.Decimal() as type_, (ex.Expression() as left, ex.Expression() as right):
            return fitted_quotient(left, right, type_)
        case type_, (_, divisor) if isinstance(type_, t.INTEGER_TYPES):
            lowering.require_function("scalar function", node.function)
            # Of the least integer by -1 the engine makes 0.
            return node if isinstance(divisor, ex.Literal) and divisor.value != -1 else wrap_around(node)
        case _:
            return None


def _guarded_division(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    """Write a quotient or modulus that fails for a divisor of zero."""
    match node.type, node.arguments:
        case type_, (ex.Expression() as left, ex.Expression() as right) if isinstance(type_, t.INTEGER_TYPES):
            lowering.require_function("scalar function", node.function)
            return guarded_division(node, left, right)
        case t.Decimal() as type_, (ex.Expression() as left, ex.Expression() as right) if (
            node.function.name == "divide"
        ):
            return exact_quotient(left, right, type_)
        case _, (_, ex.Literal(value=divisor)) if divisor:
            lowering.require_function("scalar function", node.function)
            return node
        case _:
            return None


def _reverse(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    match node.arguments:
        case (ex.Expression() as value,):
            lowering.require_function("scalar function", node.function)
            return reverse_text(node, value, lowering.profile.urn_of("length_grapheme:str"))
        case _:
            return None


def _lower_case(node: ex.ScalarFunction, lowering: Lowering) -> ex.Expression | None:
    match node.arguments:
        case (ex.Expression() as value,):
            lowering.require_function("scalar function", node.function)
            return lower_text(node, value)
        case _:
            return None


RULES: Mapping[str, Callable[[ex.ScalarFunction, Lowering], ex.Expression | None]] = {
    "comparisons": _comparisons,
    "date_part": _date_part,
    "derived_decimal": _derived_decimal,
    "extract_date": _extract_date,
    "fitted_decimal": _fitted_decimal,
    "fitted_division": _fitted_division,
    "guarded_division": _guarded_division,
    "like_pattern": _like_pattern,
    "null_if_any": _null_of_null,
    "nullif": _nullif,
    "one_character_each": _reverse,
    "one_zero": _with_one_zero,
    "other_sigma": _lower_case,
    "wide_decimal": _wide_decimal,
}
"""The implementation of each rule, by its name in profiles."""

RULES_OF_SOME_TYPES = ("derived_decimal", "wide_decimal", "fitted_decimal", "fitted_division")
"""The rules for calls of some types; other calls of the same functions are the engine's own."""


def _without_escapes(pattern: ex.Expression) -> ex.Expression:
    """Escape the backslashes of a pattern: the specification has no escape character, the engine has one."""
    if not isinstance(pattern, ex.Literal):
        one, two = (ex.Literal(text, pattern.type.as_required()) for text in ("\\", "\\\\"))
        return as_type(call("string", "replace", pattern, one, two), pattern.type)
    return pattern if pattern.value is None else attrs.evolve(pattern, value=pattern.value.replace("\\", "\\\\"))


def _null_if_any(arguments: Sequence[ex.Argument], value: ex.Expression) -> ex.Expression:
    """Return a value, or NULL where an argument is NULL."""
    tests = [is_null(each) for each in arguments if isinstance(each, ex.Expression) and each.type.nullable]
    if not tests:
        return value
    return case_when([(connect("or", tests), ex.Literal(None, value.type.as_nullable()))], value)


def _quotient(node: ex.ScalarFunction, value: ex.Expression) -> ex.Expression:
    """Compute a rounded quotient of decimals: the engine truncates it four digits after the dividend's."""
    type_, dividend = node.type, value.type
    assert isinstance(type_, t.Decimal)
    assert isinstance(dividend, t.Decimal)
    scale = max(dividend.scale, type_.scale - 3)
    precision = min(MAX_PRECISION, dividend.precision + scale - dividend.scale)
    wider = t.Decimal(precision, scale, nullable=dividend.nullable)
    return ex.Cast(attrs.evolve(node, arguments=(as_type(value, wider), *node.arguments[1:])), type_)


# --- functions of strings: the engine is right for most strings; for others the call fails


def reverse_text(node: ScalarFunction, value: Expression, urn: str) -> Expression:
    """Return the characters of a string in reverse order; the engine reverses graphemes.

    Args:
        node: the call of ``reverse``.
        value: the text.
        urn: of the extension with ``length_grapheme``, which counts what is seen as one character.
    """
    type_ = t.I64(nullable=value.type.nullable)
    seen = ScalarFunction(FunctionId(urn, "length_grapheme:str"), (value,), type_)
    is_one_each = equal(as_type(call("string", "char_length", value), type_), seen)
    return _where(fail_where(negate(is_one_each), "reverse of a text of characters of several code points"), node)


def lower_text(node: ScalarFunction, value: Expression) -> Expression:
    """Return a string in lower case.

    The engine knows neither the sigma at the end of words nor the letter for a dotted I.
    """
    dotted, two = (Literal(text, t.String()) for text in ("\u0130", "i\u0307"))
    plain = as_type(call("string", "replace", value, dotted, two), value.type)
    has_sigma = call("string", "contains", value, Literal("\u03a3", t.String()))
    return _where(fail_where(has_sigma, "lower of a text with a capital sigma"), attrs.evolve(node, arguments=(plain,)))


def _where(condition: Expression, value: Expression) -> Expression:
    return case_when([(condition, value)], Literal(None, value.type.as_nullable()))
