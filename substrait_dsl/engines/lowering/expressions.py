"""Expressions: calls of the engine's functions, and the classes of expressions that it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.null_filters import is_never_null
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.fitted import cast_to_decimal, has_digits
from substrait_dsl.engines.lowering.safe_casts import null_where_it_fails
from substrait_dsl.engines.lowering.scalar_functions import lower_scalar_function
from substrait_dsl.engines.lowering.structs import field_of, has_structs, literal_struct, make_struct
from substrait_dsl.engines.lowering.terms import (
    TRUE,
    UNKNOWN,
    as_type,
    case_when,
    conjunction,
    connect,
    equal,
    is_null,
    normalize_sort_key,
    one_zero,
)
from substrait_dsl.engines.lowering.window_functions import is_of_partition, lower_window_function
from substrait_dsl.errors import class_words


def lower_expression(node: ex.AnyExpression, lowering: Lowering) -> ex.Expression:
    """Lower an expression over lowered parts to one of the same type."""
    match node:
        case ex.FieldReference():
            return node
        case ex.Literal():
            return _lower_literal(node, lowering)
        case ex.SingularOrList():
            return _lower_membership(node)
        case ex.ScalarFunction():
            return as_type(lower_scalar_function(node, lowering), node.type)
        case ex.Cast():
            return _lower_cast(node, lowering)
        case ex.IfThen():
            return node
        case ex.Switch(match=value, cases=cases, otherwise=otherwise):
            return as_type(case_when([(equal(value, each.value), each.then) for each in cases], otherwise), node.type)
        case ex.MultiOrList(values=values, records=records):
            tests = [
                conjunction([equal(value, field) for value, field in zip(values, each.fields, strict=True)])
                for each in records
            ]
            return as_type(connect("or", tests), node.type)
        case ex.NestedStruct(fields=fields) if has_structs(lowering):
            type_ = node.type
            assert isinstance(type_, t.Struct)
            return as_type(make_struct(fields, type_, lowering), type_)
        case ex.FieldAccess(input=value, segment=ex.StructField(position=position)) if has_structs(lowering):
            return as_type(field_of(value, position, lowering), node.type)
        case ex.ScalarSubquery() | ex.InPredicate() | ex.SetPredicate() | ex.SetComparison():
            return node  # of its relation
        case ex.WindowFunction() if not lowering.has_window_functions() and is_of_partition(node):
            return node  # of its relation
        case ex.WindowFunction():
            return lower_window_function(node, lowering)
        case ex.DynamicParameter(reference=reference):
            error = lowering.refusal(f"parameter {reference}, which has no value,")
            error.remedy, error.details = "parameter-without-value", {"reference": reference}
            raise error
        case (
            ex.FieldAccess()
            | ex.MaskedReference()
            | ex.NestedStruct()
            | ex.NestedList()
            | ex.NestedMap()
            | ex.Lambda()
            | ex.LambdaInvocation()
            | ex.ExecutionContextVariable()
        ):
            raise lowering.refusal(class_words(node))
        case never:
            assert_never(never)


def _lower_literal(node: ex.Literal, lowering: Lowering) -> ex.Expression:
    """Return a literal that the engine reads; a struct becomes a struct of literals."""
    if isinstance(node.literal_type, t.Struct) and has_structs(lowering):
        return literal_struct(node, lowering, lambda each: lower_expression(each, lowering))
    if node.literal_type.keyword not in lowering.profile.literals:
        raise lowering.refusal(f"a literal of {node.literal_type}", rule="literal")
    require_precision(node.literal_type, lowering)
    return node


def _lower_membership(node: ex.SingularOrList) -> ex.Expression:
    """Lower a membership test; a value that is among its own options is only tested for NULL."""
    value, options = node.value, node.options
    if value in options:
        one_zero(value)  # which refuses what is not compared
        return as_type(case_when([(is_null(value), UNKNOWN)], TRUE), node.type)
    if isinstance(value.type, t.FP32 | t.FP64):
        return as_type(connect("or", [equal(value, each) for each in options]), node.type)
    return _build_in_list(one_zero(value), options)


def _lower_cast(node: ex.Cast, lowering: Lowering) -> ex.Expression:
    """Lower a cast to one that fails as the specification says."""
    if node.on_failure == "return_null" and not lowering.profile.takes("expressions", "CAST", "RETURN_NULL"):
        throwing = lower_expression(attrs.evolve(node, on_failure="throw"), lowering)
        return null_where_it_fails(node, throwing, lowering)
    is_checked = node.on_failure == "throw" and has_digits(node.input.type)
    if isinstance(node.target, t.Decimal) and is_checked and lowering.profile.has_form("unchecked_casts"):
        return as_type(cast_to_decimal(node.input, node.target), node.target)
    is_required = id(node) in lowering.checks_that_hold or is_never_null(node.input)
    require_cast(node.input.type.as_required() if is_required else node.input.type, node.type, lowering)
    require_precision(node.type, lowering)
    return node


EXACT_DIGITS = 15
"""The number of decimal digits that a float of 64 bits holds exactly."""


def _build_in_list(value: ex.Expression, options: Sequence[ex.Expression]) -> ex.Expression:
    """Return whether a value is in a list; engines search the constants of the list alone, if it has some."""
    constants = tuple(one_zero(each) for each in options if isinstance(each, ex.Literal))
    tests: list[ex.Expression] = [equal(value, each) for each in options if not isinstance(each, ex.Literal)]
    if constants:
        tests.insert(0, ex.SingularOrList(value, constants))
    return connect("or", tests)


PRECISIONS = (0, 3, 6, 9)
"""The precisions of times in Arrow, and in all engines with a profile."""


def require_precision(type_: t.Type, lowering: Lowering) -> None:
    """Raise for a type that is, or contains, a time of another precision than `PRECISIONS`."""
    if isinstance(type_, t.PrecisionTime | t.PrecisionTimestamp | t.PrecisionTimestampTZ) and (
        type_.precision not in PRECISIONS
    ):
        raise lowering.refusal(f"the type {type_}", f"cast it, if you can, to one of the precisions {PRECISIONS}")
    for part in type_.parameters:
        if isinstance(part, t.Type):
            require_precision(part, lowering)


PLAIN_SCALE = 6
"""The largest scale of decimals whose strings never have an exponent."""


def require_cast(source: t.Type, target: t.Type, lowering: Lowering) -> None:
    """Raise unless the engine casts all values of a type as Spark does; the specification leaves much of it open."""
    if source.nullable and not target.nullable:
        raise lowering.refusal(f"a cast of {source} to {target}, which fails for NULL,", rule="cast")
    match source, target:
        case t.Struct(), t.Struct() if source.as_required() == target.as_required() and has_structs(lowering):
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
        case t.Decimal(scale=scale), t.String() if scale > PLAIN_SCALE and lowering.profile.has_form(
            "exponents_in_texts"
        ):
            pass  # 0.00000001 would be 1E-8
        case _ if target.keyword in lowering.profile.casts.get(source.keyword, ()):
            return
    raise lowering.refusal(f"a cast of {source} to {target}", rule="cast")


def direct_sort_key(key: ex.SortKey, lowering: Lowering) -> ex.SortKey:
    """Return a sort key with one of the four directions; a clustered key gets an ascending one."""
    if not isinstance(key.direction, str):
        raise lowering.refusal("a sort by a function of two values")
    expression = normalize_sort_key(key.expression)
    if expression is key.expression and key.direction != "clustered":
        return key
    return ex.SortKey(expression, "asc_nulls_first" if key.direction == "clustered" else key.direction)
