"""Expressions, the parts of measures, and sort keys as messages of ``algebra.proto``.

Specification: https://substrait.io/expressions/field_references/ and its neighbours.
"""

from __future__ import annotations

from typing import Any, assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.expressions import (
    AggregateFunction,
    Argument,
    Cast,
    EnumArgument,
    Expression,
    FieldAccess,
    FieldReference,
    FunctionOption,
    IfThen,
    InPredicate,
    ListElement,
    Literal,
    MapKey,
    Measure,
    MultiOrList,
    OuterReference,
    RootReference,
    ScalarFunction,
    ScalarSubquery,
    Segment,
    SetComparison,
    SetPredicate,
    SingularOrList,
    SortKey,
    StructField,
    Switch,
    TypeArgument,
    closed,
)
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.enums import (
    AGGREGATION_INVOCATION,
    AGGREGATION_PHASE,
    COMPARISON_OP,
    FAILURE_BEHAVIOR,
    PREDICATE_OP,
    REDUCTION_OP,
    SORT_DIRECTION,
)
from substrait_dsl.proto.literals import encode_literal
from substrait_dsl.proto.types import encode_type


def encode_expression(encoder: Encoder, expression: Expression, message: pb.Expression) -> None:
    """Write an expression, or the ordinal of one that stands apart."""
    if id(expression) in encoder.layout.detached:
        encoder.detach(expression, message)
    else:
        encode_whole_expression(encoder, expression, message)


def encode_whole_expression(encoder: Encoder, expression: Expression, message: pb.Expression) -> None:
    """Write an expression, also one that stands apart."""
    known = closed(expression)
    match known:
        case FieldReference():
            encode_field_reference(encoder, known, message.selection)
        case Literal():
            encode_literal(encoder.declarations, known, message.literal)
        case ScalarFunction():
            encode_scalar_function(encoder, known, message.scalar_function)
        case FieldAccess():
            encode_field_access(encoder, known, message.selection)
        case Cast():
            encode_cast(encoder, known, message.cast)
        case IfThen():
            encode_if_then(encoder, known, message.if_then)
        case Switch():
            encode_switch(encoder, known, message.switch_expression)
        case SingularOrList():
            encode_singular_or_list(encoder, known, message.singular_or_list)
        case MultiOrList():
            encode_multi_or_list(encoder, known, message.multi_or_list)
        case ScalarSubquery():
            encode_scalar_subquery(encoder, known, message.subquery.scalar)
        case InPredicate():
            encode_in_predicate(encoder, known, message.subquery.in_predicate)
        case SetPredicate():
            encode_set_predicate(encoder, known, message.subquery.set_predicate)
        case SetComparison():
            encode_set_comparison(encoder, known, message.subquery.set_comparison)
        case _:
            assert_never(known)


# --- references


def encode_field_reference(encoder: Encoder, reference: FieldReference, message: pb.Expression.FieldReference) -> None:
    """Write a reference to a column."""
    message.direct_reference.struct_field.field = reference.position
    match reference.root:
        case RootReference():
            message.root_reference.SetInParent()
        case OuterReference(anchor):
            encoder.refer(anchor, message.outer_reference)
        case _:
            assert_never(reference.root)


def encode_field_access(encoder: Encoder, access: FieldAccess, message: pb.Expression.FieldReference) -> None:
    """Write a part of a value: further segments of a reference, if it is part of a column, else of an expression."""
    segments: list[Segment] = []
    base: Expression = access
    while isinstance(base, FieldAccess) and (base is access or id(base) not in encoder.layout.detached):
        segments.append(base.segment)
        base = base.input
    segment_message = message.direct_reference
    if isinstance(base, FieldReference):
        encode_field_reference(encoder, base, message)
        segment_message = message.direct_reference.struct_field.child
    else:
        encode_expression(encoder, base, message.expression)
    while segments:
        segment_message = encode_segment(encoder, segments.pop(), segment_message)


def encode_segment(
    encoder: Encoder, segment: Segment, message: pb.Expression.ReferenceSegment
) -> pb.Expression.ReferenceSegment:
    """Write one segment of a reference; returns the message for the next."""
    match segment:
        case StructField(position):
            message.struct_field.field = position
            return message.struct_field.child
        case ListElement(offset):
            message.list_element.offset = offset
            return message.list_element.child
        case MapKey(key):
            encode_literal(encoder.declarations, key, message.map_key.map_key)
            return message.map_key.child
        case _:
            assert_never(segment)


# --- calls


def encode_scalar_function(encoder: Encoder, call: ScalarFunction, message: pb.Expression.ScalarFunction) -> None:
    """Write a call of a scalar function."""
    message.function_reference = encoder.declarations.function(call.function)
    encode_arguments(encoder, call.arguments, message.arguments)
    if call.options:
        encode_options(call.options, message.options)
    encode_type(encoder.declarations, call.output_type, message.output_type)


def encode_aggregate_function(encoder: Encoder, call: AggregateFunction, message: pb.AggregateFunction) -> None:
    """Write a call of an aggregate function; phase and invocation are always said."""
    message.function_reference = encoder.declarations.function(call.function)
    encode_arguments(encoder, call.arguments, message.arguments)
    encode_options(call.options, message.options)
    encode_type(encoder.declarations, call.output_type, message.output_type)
    message.phase = AGGREGATION_PHASE[call.phase]
    message.invocation = AGGREGATION_INVOCATION[call.invocation]
    for key in call.sorts:
        encode_sort_key(encoder, key, message.sorts.add())


def encode_arguments(encoder: Encoder, arguments: tuple[Argument, ...], messages: Any) -> None:
    """Write the arguments of a call."""
    for argument in arguments:
        message: pb.FunctionArgument = messages.add()
        match argument:
            case Expression():
                encode_expression(encoder, argument, message.value)
            case EnumArgument(value):
                message.enum = value
            case TypeArgument(kind):
                encode_type(encoder.declarations, kind, message.type)
            case _:
                assert_never(argument)


def encode_options(options: tuple[FunctionOption, ...], messages: Any) -> None:
    """Write the options of a call."""
    for option in options:
        message: pb.FunctionOption = messages.add()
        message.name = option.name
        message.preference.extend(option.preferences)


def encode_measure(encoder: Encoder, measure: Measure, message: pb.AggregateRel.Measure) -> None:
    """Write a measure."""
    encode_aggregate_function(encoder, measure.function, message.measure)
    if measure.filter is not None:
        encode_expression(encoder, measure.filter, message.filter)


def encode_sort_key(encoder: Encoder, key: SortKey, message: pb.SortField) -> None:
    """Write an expression to sort by."""
    encode_expression(encoder, key.expression, message.expr)
    message.direction = SORT_DIRECTION[key.direction]


# --- casts, conditionals, membership


def encode_cast(encoder: Encoder, cast: Cast, message: pb.Expression.Cast) -> None:
    """Write a cast."""
    encode_type(encoder.declarations, cast.target, message.type)
    encode_expression(encoder, cast.input, message.input)
    message.failure_behavior = FAILURE_BEHAVIOR[cast.on_failure]


def encode_if_then(encoder: Encoder, expression: IfThen, message: pb.Expression.IfThen) -> None:
    """Write an if; `if` and `else` are no names in Python, so these fields are asked for by text."""
    for clause in expression.clauses:
        branch = message.ifs.add()
        encode_expression(encoder, clause.condition, getattr(branch, "if"))
        encode_expression(encoder, clause.then, branch.then)
    encode_expression(encoder, expression.otherwise, getattr(message, "else"))


def encode_switch(encoder: Encoder, expression: Switch, message: pb.Expression.SwitchExpression) -> None:
    """Write a switch."""
    encode_expression(encoder, expression.match, message.match)
    for case in expression.cases:
        branch = message.ifs.add()
        encode_literal(encoder.declarations, case.value, getattr(branch, "if"))
        encode_expression(encoder, case.then, branch.then)
    encode_expression(encoder, expression.otherwise, getattr(message, "else"))


def encode_singular_or_list(
    encoder: Encoder, expression: SingularOrList, message: pb.Expression.SingularOrList
) -> None:
    """Write a membership test of one value."""
    encode_expression(encoder, expression.value, message.value)
    for option in expression.options:
        encode_expression(encoder, option, message.options.add())


def encode_multi_or_list(encoder: Encoder, expression: MultiOrList, message: pb.Expression.MultiOrList) -> None:
    """Write a membership test of several values together."""
    for value in expression.values:
        encode_expression(encoder, value, message.value.add())
    for record in expression.records:
        fields = message.options.add().fields
        for field in record.fields:
            encode_expression(encoder, field, fields.add())


# --- subqueries


def encode_scalar_subquery(encoder: Encoder, subquery: ScalarSubquery, message: pb.Expression.Subquery.Scalar) -> None:
    """Write a subquery that is one value."""
    encoder.subquery(subquery.input, message.input)


def encode_in_predicate(encoder: Encoder, subquery: InPredicate, message: pb.Expression.Subquery.InPredicate) -> None:
    """Write a membership test in the rows of a subquery."""
    for needle in subquery.needles:
        encode_expression(encoder, needle, message.needles.add())
    encoder.subquery(subquery.haystack, message.haystack)


def encode_set_predicate(
    encoder: Encoder, subquery: SetPredicate, message: pb.Expression.Subquery.SetPredicate
) -> None:
    """Write a test of a subquery's rows as a whole."""
    message.predicate_op = PREDICATE_OP[subquery.op]
    encoder.subquery(subquery.tuples, message.tuples)


def encode_set_comparison(
    encoder: Encoder, subquery: SetComparison, message: pb.Expression.Subquery.SetComparison
) -> None:
    """Write a comparison with any or all of a subquery's values."""
    message.reduction_op = REDUCTION_OP[subquery.reduction]
    message.comparison_op = COMPARISON_OP[subquery.comparison]
    encode_expression(encoder, subquery.left, message.left)
    encoder.subquery(subquery.right, message.right)
