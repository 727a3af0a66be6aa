"""Types and named structs as messages of ``type.proto``.

Specification: https://substrait.io/types/type_classes/. Every type says NULLABLE or REQUIRED.
"""

from __future__ import annotations

from typing import Any, assert_never

from substrait import type_pb2 as pb

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.proto.declarations import Declarations

TYPE_FIELDS: dict[type[t.Type], str] = {
    t.Boolean: "bool",
    t.I8: "i8",
    t.I16: "i16",
    t.I32: "i32",
    t.I64: "i64",
    t.FP32: "fp32",
    t.FP64: "fp64",
    t.String: "string",
    t.Binary: "binary",
    t.Date: "date",
    t.IntervalYear: "interval_year",
    t.IntervalDay: "interval_day",
    t.IntervalCompound: "interval_compound",
    t.UUID: "uuid",
    t.FixedChar: "fixed_char",
    t.VarChar: "varchar",
    t.FixedBinary: "fixed_binary",
    t.Decimal: "decimal",
    t.PrecisionTime: "precision_time",
    t.PrecisionTimestamp: "precision_timestamp",
    t.PrecisionTimestampTZ: "precision_timestamp_tz",
    t.Struct: "struct",
    t.List: "list",
    t.Map: "map",
    t.Func: "func",
    t.UserDefined: "user_defined",
    t.Unbound: "unbound",
}
"""The field of ``Type.kind`` that each type has."""


class DeepTypeError(Exception):
    """A type nests deeper than the layout of the plan allows for; `encode_plan` then makes another layout."""


def encode_type(declarations: Declarations, kind: t.Type, message: pb.Type, depth: int = 0) -> None:
    """Write a type; `depth` is how many types it stands inside."""
    body = getattr(message, TYPE_FIELDS[type(kind)])
    if isinstance(kind, t.Unbound):  # the one type without nullability
        body.SetInParent()
    else:
        encode_type_body(declarations, kind, body, depth)


def encode_type_body(declarations: Declarations, kind: t.Type, body: Any, depth: int = 0) -> None:
    """Write what a type says of itself into the message of its kind, such as ``Type.List``."""
    body.nullability = pb.Type.NULLABILITY_NULLABLE if kind.nullable else pb.Type.NULLABILITY_REQUIRED
    if kind.variation is not None:
        body.type_variation_reference = declarations.variation(kind.variation)
    match kind:
        case t.Decimal():
            body.precision = kind.precision
            body.scale = kind.scale
        case t.VarChar() | t.FixedChar() | t.FixedBinary():
            body.length = kind.length
        case (
            t.IntervalDay()
            | t.IntervalCompound()
            | t.PrecisionTime()
            | t.PrecisionTimestamp()
            | t.PrecisionTimestampTZ()
        ):
            body.precision = kind.precision
        case t.Struct() | t.List() | t.Map() | t.Func() | t.UserDefined():
            if depth >= declarations.type_nesting:
                raise DeepTypeError
            encode_inner_types(declarations, kind, body, depth + 1)
        case _:
            pass  # the simple types say no more


def encode_inner_types(
    declarations: Declarations, kind: t.Struct | t.List | t.Map | t.Func | t.UserDefined, body: Any, depth: int
) -> None:
    """Write the types that a type is made of."""
    match kind:
        case t.Struct():
            for inner in kind.types:
                encode_type(declarations, inner, body.types.add(), depth)
        case t.List():
            encode_type(declarations, kind.element, body.type, depth)
        case t.Map():
            encode_type(declarations, kind.key, body.key, depth)
            encode_type(declarations, kind.value, body.value, depth)
        case t.Func():
            for parameter in kind.parameter_types:
                encode_type(declarations, parameter, body.parameter_types.add(), depth)
            encode_type(declarations, kind.return_type, body.return_type, depth)
        case t.UserDefined():
            body.type_reference = declarations.type(kind)
            encode_type_parameters(declarations, kind, body.type_parameters, depth)
        case _:
            assert_never(kind)


def encode_type_parameters(declarations: Declarations, kind: t.UserDefined, messages: Any, depth: int = 1) -> None:
    """Write the parameters of a user-defined type, into a type or into a literal."""
    for parameter in kind.type_parameters:
        message: pb.Type.Parameter = messages.add()
        match parameter:
            case None:
                message.null.SetInParent()
            case bool():  # before int, which every bool is
                message.boolean = parameter
            case int():
                message.integer = parameter
            case str():
                message.string = parameter
            case t.EnumParameter():
                message.enum = parameter.value
            case t.Type():
                encode_type(declarations, parameter, message.data_type, depth)
            case _:
                assert_never(parameter)


def encode_named_struct(declarations: Declarations, schema: NamedStruct, message: pb.NamedStruct) -> None:
    """Write a schema: names depth first, and a required struct."""
    message.names.extend(schema.depth_first_names())
    message.struct.nullability = pb.Type.NULLABILITY_REQUIRED
    for field in schema.fields:
        encode_type(declarations, field.type, message.struct.types.add())
