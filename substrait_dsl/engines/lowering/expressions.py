"""Expressions: calls in the words of the engine, and those kinds of expressions that it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    AnyExpression,
    Argument,
    Cast,
    DynamicParameter,
    EnumArgument,
    ExecutionContextVariable,
    Expression,
    FieldAccess,
    FieldReference,
    FunctionId,
    IfThen,
    InPredicate,
    Lambda,
    LambdaInvocation,
    Literal,
    MaskedReference,
    MultiOrList,
    NestedList,
    NestedMap,
    NestedStruct,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    SortKey,
    StructField,
    Switch,
    WindowFunction,
)
from substrait_dsl.engines.lowering.calls import FORM_RULES
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.divisions import exact_quotient, guarded_division, wide_decimal
from substrait_dsl.engines.lowering.equivalents import EQUIVALENTS, floored_modulus, overflowing, wrapped
from substrait_dsl.engines.lowering.fitted import counted_decimal, fitted_decimal, fitted_quotient, is_counted
from substrait_dsl.engines.lowering.safe_casts import null_where_it_fails
from substrait_dsl.engines.lowering.structs import field_of, has_structs, literal_struct, made_struct
from substrait_dsl.engines.lowering.terms import (
    FALSE,
    TRUE,
    UNKNOWN,
    balanced,
    call,
    chosen,
    compared,
    conjunction,
    equal,
    in_order,
    is_null,
    negated,
    of_type,
    one_zero,
)
from substrait_dsl.engines.lowering.texts import lowered_text, reversed_text
from substrait_dsl.engines.lowering.window_functions import is_of_partition, lower_window_function
from substrait_dsl.errors import kind_words

MAX_PRECISION = 38
"""How many digits decimals have at most: the engine would keep more of a scale than the specification where they do."""

INTEGERS = (t.I8, t.I16, t.I32, t.I64)

DATE_PARTS = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "DAY": "day", "DAY_OF_YEAR": "doy",
}  # fmt: skip
"""The parts of a date that count from one in both, by the words of ``extract``."""


def lower_expression(node: AnyExpression, to: Lowering) -> Expression:
    """An expression, whose parts are lowered, as one of the same type."""
    match node:
        case FieldReference():
            return node
        case Literal(literal_type=t.Struct()) if has_structs(to):
            return literal_struct(node, to, lambda each: lower_expression(each, to))
        case Literal():
            if node.literal_type.keyword not in to.profile.literals:
                raise to.refusal(f"a literal of {node.literal_type}", rule="literal")
            require_precision(node.literal_type, to)
            return node
        case SingularOrList(value=value, options=options) if value in options:
            one_zero(value)  # which refuses what is not compared
            return of_type(chosen([(is_null(value), UNKNOWN)], TRUE), node.type)
        case SingularOrList(value=value, options=options) if isinstance(value.type, t.FP32 | t.FP64):
            return of_type(balanced("or", [equal(value, each) for each in options]), node.type)
        case SingularOrList(value=value, options=options):
            return _in_list(one_zero(value), options)
        case ScalarFunction():
            return of_type(lower_call(node, to), node.type)
        case Cast(on_failure="return_null") if not to.profile.takes("expressions", "CAST", "RETURN_NULL"):
            throwing = lower_expression(attrs.evolve(node, on_failure="throw"), to)
            return null_where_it_fails(node, throwing, to)
        case Cast(input=value, target=t.Decimal() as target, on_failure="throw") if is_counted(
            value.type
        ) and to.profile.has_form("unchecked_casts"):
            return of_type(counted_decimal(value, target), target)
        case Cast(input=value):
            require_cast(value.type, node.type, to)
            require_precision(node.type, to)
            return node
        case IfThen():
            return node
        case Switch(match=value, cases=cases, otherwise=otherwise):
            return of_type(chosen([(equal(value, each.value), each.then) for each in cases], otherwise), node.type)
        case MultiOrList(values=values, records=records):
            tests = [
                conjunction([equal(value, field) for value, field in zip(values, each.fields, strict=True)])
                for each in records
            ]
            return of_type(balanced("or", tests), node.type)
        case NestedStruct(fields=fields) if has_structs(to):
            type_ = node.type
            assert isinstance(type_, t.Struct)
            return of_type(made_struct(fields, type_, to), type_)
        case FieldAccess(input=value, segment=StructField(position=position)) if has_structs(to):
            return of_type(field_of(value, position, to), node.type)
        case ScalarSubquery() | InPredicate() | SetPredicate() | SetComparison():
            return node  # of its relation
        case WindowFunction() if not to.has_window_functions() and is_of_partition(node):
            return node  # of its relation
        case WindowFunction():
            return lower_window_function(node, to)
        case DynamicParameter(reference=reference):
            error = to.refusal(f"parameter {reference}, which has no value,")
            error.remedy, error.details = "parameter-without-value", {"reference": reference}
            raise error
        case (
            FieldAccess()
            | MaskedReference()
            | NestedStruct()
            | NestedList()
            | NestedMap()
            | Lambda()
            | LambdaInvocation()
            | ExecutionContextVariable()
        ):
            raise to.refusal(kind_words(node))
        case never:
            assert_never(never)


EXACT_DIGITS = 15
"""How many digits of a decimal a float of 64 bits holds exactly."""


def _in_list(value: Expression, options: Sequence[Expression]) -> Expression:
    """Whether a value is in a list; engines look for it among the constants of the list alone, if it has some."""
    constants = tuple(one_zero(each) for each in options if isinstance(each, Literal))
    tests: list[Expression] = [equal(value, each) for each in options if not isinstance(each, Literal)]
    if constants:
        tests.insert(0, SingularOrList(value, constants))
    return balanced("or", tests)


PRECISIONS = (0, 3, 6, 9)
"""How many digits of a second times have in Arrow, and in all engines that there are profiles of."""


def require_precision(type_: t.Type, to: Lowering) -> None:
    """Raise for a type of times, or of what has such in it, of a precision that engines do not have."""
    if isinstance(type_, t.PrecisionTime | t.PrecisionTimestamp | t.PrecisionTimestampTZ) and (
        type_.precision not in PRECISIONS
    ):
        raise to.refusal(f"the type {type_}", f"cast it, if you can, to one of the precisions {PRECISIONS}")
    for part in type_.parameters:
        if isinstance(part, t.Type):
            require_precision(part, to)


PLAIN_SCALE = 6
"""Decimals of how many digits behind the point have no exponent in their text, where those of more may have one."""


def require_cast(source: t.Type, target: t.Type, to: Lowering) -> None:
    """Raise unless the engine casts all values of a type as Spark does; the specification leaves much of it open."""
    if source.nullable and not target.nullable:
        raise to.refusal(f"a cast of {source} to {target}, which fails for NULL,", rule="cast")
    match source, target:
        case t.Struct(), t.Struct() if source.as_required() == target.as_required() and has_structs(to):
            return
        case ((t.Struct() | t.List() | t.Map()), _):
            pass  # engines have names of fields, of which there are none here
        case _ if source.as_required() == target.as_required():
            return
        case t.Decimal(), t.Decimal():
            return
        case t.VarChar(length=length), t.VarChar(length=longest) if length <= longest:
            return
        case t.PrecisionTimestamp(precision=digits), t.PrecisionTimestamp(precision=most) if digits <= most:
            return
        case t.Decimal(precision=digits), t.FP64() if digits > EXACT_DIGITS:
            pass  # it is rounded twice
        case t.Decimal(scale=scale), t.String() if scale > PLAIN_SCALE and to.profile.has_form("exponents_in_texts"):
            pass  # 0.00000001 would be 1E-8
        case _ if target.keyword in to.profile.casts.get(source.keyword, ()):
            return
    raise to.refusal(f"a cast of {source} to {target}", rule="cast")


def directed(key: SortKey, to: Lowering) -> SortKey:
    """A sort key without subqueries, with one of the four directions: what is clustered is in an order."""
    if not isinstance(key.direction, str):
        raise to.refusal("a sort by a function of two values")
    expression = in_order(key.expression)
    if expression is key.expression and key.direction != "clustered":
        return key
    return SortKey(expression, "asc_nulls_first" if key.direction == "clustered" else key.direction)


def _by_option(node: ScalarFunction, to: Lowering) -> Expression | None:
    """A call with an option by which the engine does not compute, written by other calls; None of any other call."""
    if len(node.options) != 1:
        return None
    (option,) = node.options
    name, wanted = option.name.lower(), [each.upper() for each in option.preferences]
    rule = to.profile.function_rules.get(node.function.name)
    if set(wanted) & set(to.profile.values_of(name, node.function)) or not isinstance(node.type, INTEGERS):
        return None
    if name == "division_type" and wanted[0] == "FLOOR" and to.has_function("scalar function", node.function):
        return floored_modulus(node) if rule is None else None
    if name != "overflow" or rule == "guarded_division":
        return None
    if to.profile.has_form("unchecked_casts"):  # which fail for no value
        wanted = [each for each in wanted if each != "ERROR"]
    if rule == "fitted_decimal" and node.function.name == "multiply" and isinstance(node.type, t.I64):
        return None  # a product of integers of 64 bits has more digits than the engine has
    return overflowing(node, wanted)


def lower_call(node: ScalarFunction, to: Lowering) -> Expression:
    """A call of a function that the engine has."""
    other = _by_option(node, to)
    if other is not None:
        return other
    to.require_options(node.function, node.options)
    bare = attrs.evolve(node, options=()) if node.options else node
    rule = to.profile.function_rules.get(node.function.name)
    match rule, node.function.name, node.arguments:
        case _, "and" | "or" as name, ():  # some engines have those of two values alone
            return TRUE if name == "and" else FALSE
        case _, "and" | "or", (Expression() as value,):
            return value
        case str(), _, _ if rule in EQUIVALENTS:
            return EQUIVALENTS[rule](bare, [each for each in node.arguments if isinstance(each, Expression)])
        case "date_part", _, (EnumArgument(word), *between, Expression() as value) if (
            word in DATE_PARTS
            and between in ([], [EnumArgument("ONE")])
            and isinstance(value.type, t.Date | t.PrecisionTimestamp)
        ):
            part = Literal(DATE_PARTS[word], t.String())
            function = FunctionId(to.profile.urn_of("date_part:str_any"), "date_part:str_any")
            type_ = t.I32(nullable=value.type.nullable)
            return ScalarFunction(function, (part, value), type_)
        case "comparisons", "between", (Expression() as value, Expression() as low, Expression() as high):
            return _null_if_any(
                node.arguments, conjunction([compared("gte", value, low), compared("lte", value, high)])
            )
        case "nullif", _, (Expression() as left, Expression() as right):
            return chosen([(equal(left, right), Literal(None, node.type))], left)
        case "like_pattern", _, (Expression() as value, Expression() as pattern):
            to.require_function("scalar function", node.function)
            return attrs.evolve(bare, arguments=(value, _without_escapes(pattern)))
        case "null_if_any", _, _:
            to.require_function("scalar function", node.function)
            return _null_if_any(node.arguments, bare)
        case "one_zero", name, (Expression() as left, Expression() as right):
            is_negated = name == "is_distinct_from" and not to.has_function("scalar function", node.function)
            if not is_negated:
                to.require_function("scalar function", node.function)
            return negated(compared("is_not_distinct_from", left, right)) if is_negated else compared(name, left, right)
        case "derived_decimal", "divide", (Expression() as value, _) if isinstance(node.type, t.Decimal):
            return _quotient(bare, value)
        case "derived_decimal", _, _ if isinstance(node.type, t.Decimal):
            return Cast(bare, node.type) if node.type.precision == MAX_PRECISION else bare
        case "wide_decimal", _, (Expression() as left, Expression() as right) if isinstance(node.type, t.Decimal):
            return wide_decimal(bare, left, right)
        case "fitted_decimal", _, (Expression() as left, Expression() as right) if isinstance(node.type, t.Decimal):
            return fitted_decimal(bare, left, right)
        case "fitted_division", "divide", (Expression() as left, Expression() as right) if isinstance(
            node.type, t.Decimal
        ):
            return fitted_quotient(left, right, node.type)
        case "extract_date", _, (EnumArgument(word), *between, Expression(type=t.Date()) as value) if word in (
            "YEAR",
            "MONTH",
            "DAY",
        ) and between in ([], [EnumArgument("ONE")]):
            short = FunctionId(node.function.urn, "extract:req_date")
            to.require_function("scalar function", short)
            return ScalarFunction(short, (EnumArgument(word), value), node.type)
        case "fitted_division", "divide", (_, divisor) if isinstance(node.type, INTEGERS):
            to.require_function("scalar function", node.function)
            # Of the least integer by -1 the engine makes 0.
            return bare if isinstance(divisor, Literal) and divisor.value != -1 else wrapped(bare)
        case "one_character_each", "reverse", (Expression() as value,):
            to.require_function("scalar function", node.function)
            return reversed_text(bare, value, to.profile.urn_of("length_grapheme:str"))
        case "other_sigma", "lower", (Expression() as value,):
            to.require_function("scalar function", node.function)
            return lowered_text(bare, value)
        case "guarded_division", name, (Expression() as left, Expression() as right) if isinstance(node.type, INTEGERS):
            to.require_function("scalar function", node.function)
            return guarded_division(bare, left, right)
        case "guarded_division", "divide", (Expression() as left, Expression() as right) if isinstance(
            node.type, t.Decimal
        ):
            return exact_quotient(left, right, node.type)
        case "guarded_division", _, (_, Literal(value=divisor)) if divisor:
            to.require_function("scalar function", node.function)
            return bare
        case str(), _, _ if rule in FORM_RULES:
            return bare
        case None | "derived_decimal" | "wide_decimal" | "fitted_decimal" | "fitted_division", _, _:
            to.require_function("scalar function", node.function)
            return bare
        case _:
            raise to.refusal(f"a call of {node.function.name} with these arguments")


def _without_escapes(pattern: Expression) -> Expression:
    """A pattern whose backslashes mean themselves, which they do in the specification, where the engine has escapes."""
    if not isinstance(pattern, Literal):
        one, two = (Literal(text, pattern.type.as_required()) for text in ("\\", "\\\\"))
        return of_type(call("string", "replace", pattern, one, two), pattern.type)
    return pattern if pattern.value is None else attrs.evolve(pattern, value=pattern.value.replace("\\", "\\\\"))


def _null_if_any(arguments: Sequence[Argument], value: Expression) -> Expression:
    """A value, or NULL where an argument is NULL."""
    tests = [is_null(each) for each in arguments if isinstance(each, Expression) and each.type.nullable]
    if not tests:
        return value
    return chosen([(balanced("or", tests), Literal(None, value.type.as_nullable()))], value)


def _quotient(node: ScalarFunction, value: Expression) -> Expression:
    """A quotient of decimals, rounded to its scale: the engine cuts it off four digits behind those of the dividend."""
    type_, dividend = node.type, value.type
    assert isinstance(type_, t.Decimal)
    assert isinstance(dividend, t.Decimal)
    scale = max(dividend.scale, type_.scale - 3)
    precision = min(MAX_PRECISION, dividend.precision + scale - dividend.scale)
    wider = t.Decimal(precision, scale, nullable=dividend.nullable)
    return Cast(attrs.evolve(node, arguments=(of_type(value, wider), *node.arguments[1:])), type_)
