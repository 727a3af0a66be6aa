"""Casts, conditionals and membership tests as messages of ``algebra.proto``.

Specification: https://substrait.io/expressions/specialized_record_expressions/ and ``Expression.Cast``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.types import UNSIGNED_URN, FixedChar, List, Map, String, Struct, Type, UserDefined, VarChar
from substrait_dsl.catalog import Typed
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.constants import constant_of_type, with_common_width, with_type_of
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.enums import FAILURE_BEHAVIOR, name_for
from substrait_dsl.proto.literals import decode_literal, encode_literal
from substrait_dsl.proto.types import decode_type, encode_type

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope


def encode_cast(encoder: Encoder, cast: ex.Cast, message: pb.Expression.Cast) -> None:
    """Write a cast."""
    encode_type(encoder.declarations, cast.target, message.type)
    encoder.expression(cast.input, message.input)
    message.failure_behavior = FAILURE_BEHAVIOR[cast.on_failure]


def decode_cast(decoder: Decoder, message: pb.Expression.Cast, scope: Scope) -> ex.Cast:
    """Read a cast; without a failure behavior it throws."""
    on_failure: ex.FailureBehavior = "throw"
    if message.failure_behavior == pb.Expression.Cast.FAILURE_BEHAVIOR_UNSPECIFIED:
        decoder.report(FindingCode.CAST_FAILURE, "a cast does not set its failure_behavior; read as throw", message)
    else:
        behavior = pb.Expression.Cast.FailureBehavior
        on_failure = name_for(FAILURE_BEHAVIOR, message.failure_behavior, behavior, "Cast.failure_behavior")
    value = decoder.expression(message.input, scope)
    target = _type_of_cast(decoder, message, value.type)
    for written in _types_as_text(value.type, target):
        if not isinstance(written, decoder.producer.types_with_own_text):
            continue
        within = "" if written is value.type else f", in a cast of {value.type} to {target},"
        raise UnsupportedError(
            f"{decoder.producer.title} writes {written} as text{within} in a way of its own, unlike other engines",
            hint="cast it to a decimal, a date or an integer, whose text is the same everywhere",
        )
    cast = ex.Cast(value, target, on_failure)
    if cast.type != target:
        decoder.report(
            FindingCode.CAST_NULLABILITY, f"a cast to {target} gives NULL where it fails; read as {cast.type}", message
        )
    return cast


def _type_of_cast(decoder: Decoder, message: pb.Expression.Cast, source: Type) -> Type:
    """Read the type of a cast: an unsigned integer, unless the input is unsigned already.

    A cast of another number to it may fail, or wrap around, where one to the signed integer gives a value.
    """
    if isinstance(source, UserDefined) and source.urn == UNSIGNED_URN:
        return decode_type(decoder, message.type)  # what it is computed with has no overload for unsigned ones
    before, decoder.is_in_stored_schema = decoder.is_in_stored_schema, True
    try:
        return decode_type(decoder, message.type)
    finally:
        decoder.is_in_stored_schema = before


def _types_as_text(source: Type, target: Type) -> Iterator[Type]:
    """Yield the types whose values a cast writes as strings: that of the value, or those inside it."""
    match source, target:
        case _, String() | VarChar() | FixedChar():
            yield from (source, *_types_inside(source))
        case List(element=actual), List(element=wanted):
            yield from _types_as_text(actual, wanted)
        case Map(key=key, value=value), Map(key=wanted_key, value=wanted_value):
            yield from _types_as_text(key, wanted_key)
            yield from _types_as_text(value, wanted_value)
        case Struct(types=actual_types), Struct(types=wanted_types):
            for actual, wanted in zip(actual_types, wanted_types, strict=False):
                yield from _types_as_text(actual, wanted)


def _types_inside(type_: Type) -> Iterator[Type]:
    """Yield the types inside a list, map or struct."""
    inside: tuple[Type, ...] = ()
    match type_:
        case List(element=element):
            inside = (element,)
        case Map(key=key, value=value):
            inside = (key, value)
        case Struct(types=types):
            inside = types
    for each in inside:
        yield from (each, *_types_inside(each))


def encode_if_then(encoder: Encoder, expression: ex.IfThen, message: pb.Expression.IfThen) -> None:
    """Write an if.

    `if` and `else` are no names in Python, so these fields are accessed by string.
    """
    for clause in expression.clauses:
        branch = message.ifs.add()
        encoder.expression(clause.condition, getattr(branch, "if"))
        encoder.expression(clause.then, branch.then)
    encoder.expression(expression.otherwise, getattr(message, "else"))


def decode_if_then(decoder: Decoder, message: pb.Expression.IfThen, scope: Scope) -> ex.IfThen:
    """Read an if; without a ``then`` in the first clause the other conditions are values (DataFusion)."""
    branches = list(message.ifs)
    base: ex.Expression | None = None
    if len(branches) > 1 and not branches[0].HasField("then"):
        base = decoder.expression(getattr(branches.pop(0), "if"), scope)
        decoder.report(
            FindingCode.IF_VALUE,
            "the first if has no then: read as the value that those of the others are compared with",
            message,
        )
    clauses = tuple(
        ex.IfClause(
            _condition(decoder, base, decoder.expression(getattr(branch, "if"), scope)),
            decoder.expression(branch.then, scope),
        )
        for branch in branches
    )
    otherwise = _otherwise(decoder, message, scope, [clause.then for clause in clauses])
    *thens, otherwise = _widen_to_common(decoder, [*(clause.then for clause in clauses), otherwise], message, branches)
    clauses = tuple(
        clause if clause.then is then else ex.IfClause(clause.condition, then)
        for clause, then in zip(clauses, thens, strict=True)
    )
    return ex.IfThen(clauses, otherwise)


def _widen_to_common(
    decoder: Decoder, values: Sequence[ex.Expression], message: Any, branches: Sequence[Any]
) -> tuple[ex.Expression, ...]:
    """Bring integer literals among the branches of a conditional to the width of the other branches."""
    otherwise = getattr(message, "else") if message.HasField("else") else message
    return with_common_width(decoder, values, [*(branch.then for branch in branches), otherwise], "a branch")


def _condition(decoder: Decoder, base: ex.Expression | None, condition: ex.Expression) -> ex.Expression:
    """Return the condition of a clause, or its equality with the base value."""
    if base is None:
        return condition
    decoder.count_repeated(base.size)
    found = decoder.catalog.resolve("scalar", "equal", (Typed(base.type), Typed(condition.type)))
    return ex.ScalarFunction(found.overload.function, (base, condition), found.output_type)


def encode_switch(encoder: Encoder, expression: ex.Switch, message: pb.Expression.SwitchExpression) -> None:
    """Write a switch."""
    encoder.expression(expression.match, message.match)
    for case in expression.cases:
        branch = message.ifs.add()
        encode_literal(encoder.declarations, case.value, getattr(branch, "if"))
        encoder.expression(case.then, branch.then)
    encoder.expression(expression.otherwise, getattr(message, "else"))


def decode_switch(decoder: Decoder, message: pb.Expression.SwitchExpression, scope: Scope) -> ex.Switch:
    """Read a switch."""
    match = decoder.expression(message.match, scope)
    thens = [decoder.expression(branch.then, scope) for branch in message.ifs]
    otherwise = _otherwise(decoder, message, scope, thens)
    *thens, otherwise = _widen_to_common(decoder, [*thens, otherwise], message, message.ifs)
    cases = tuple(
        ex.SwitchCase(_case_value(decoder, getattr(branch, "if"), match), then)
        for branch, then in zip(message.ifs, thens, strict=True)
    )
    return ex.Switch(match, cases, otherwise)


def _case_value(decoder: Decoder, message: pb.Expression.Literal, match: ex.Expression) -> ex.Literal:
    return constant_of_type(decoder, decode_literal(decoder, message), match.type, "a case of a switch", message)


def _otherwise(
    decoder: Decoder,
    message: pb.Expression.IfThen | pb.Expression.SwitchExpression,
    scope: Scope,
    branches: Sequence[ex.Expression],
) -> ex.Expression:
    """Read the else; NULL if the message has none (spec decision 22)."""
    if message.HasField("else"):
        return decoder.expression(getattr(message, "else"), scope)
    name = message.DESCRIPTOR.name
    if not branches:
        raise PlanFormatError(f"{name} has neither ifs nor an else")
    decoder.report(FindingCode.ELSE_MISSING, f"{name} has no else; read as NULL", message)
    return ex.Literal(None, branches[0].type.as_nullable())


def encode_singular_or_list(
    encoder: Encoder, expression: ex.SingularOrList, message: pb.Expression.SingularOrList
) -> None:
    """Write a membership test of one value."""
    encoder.expression(expression.value, message.value)
    for option in expression.options:
        encoder.expression(option, message.options.add())


def decode_singular_or_list(decoder: Decoder, message: pb.Expression.SingularOrList, scope: Scope) -> ex.SingularOrList:
    """Read a membership test of one value."""
    value = decoder.expression(message.value, scope)
    options = tuple(
        with_type_of(decoder, decoder.expression(option, scope), value.type, "an option of an IN list", option)
        for option in message.options
    )
    return ex.SingularOrList(value, options)


def encode_multi_or_list(encoder: Encoder, expression: ex.MultiOrList, message: pb.Expression.MultiOrList) -> None:
    """Write a membership test of several values together."""
    for value in expression.values:
        encoder.expression(value, message.value.add())
    for record in expression.records:
        fields = message.options.add().fields
        for field in record.fields:
            encoder.expression(field, fields.add())


def decode_multi_or_list(decoder: Decoder, message: pb.Expression.MultiOrList, scope: Scope) -> ex.MultiOrList:
    """Read a membership test of several values together."""
    values = tuple(decoder.expression(value, scope) for value in message.value)
    records = tuple(
        ex.OrListRecord(
            tuple(
                with_type_of(decoder, decoder.expression(field, scope), value.type, "an option of an IN list", field)
                for field, value in zip(record.fields, values, strict=False)
            )
            + tuple(decoder.expression(field, scope) for field in record.fields[len(values) :])
        )
        for record in message.options
    )
    return ex.MultiOrList(values, records)
