"""Types and named structs as messages of ``type.proto``.

Specification: https://substrait.io/types/type_classes/. Every type declares NULLABLE or REQUIRED.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from substrait import type_pb2 as pb
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.catalog.user_types import type_problem
from substrait_dsl.errors import PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.complexity_limits import Sizes
from substrait_dsl.proto.declarations import Declarations
from substrait_dsl.proto.names import decode_schema_names
from substrait_dsl.proto.paths import walk_messages
from substrait_dsl.proto.shallow_plans import FLAT_TYPES, MAX_NESTING

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder

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
"""The field of ``Type.kind`` of each type."""

NUMBER_FIELDS: dict[type[t.Type], tuple[str, ...]] = {
    t.Decimal: ("precision", "scale"),
    **dict.fromkeys(t.LENGTH_TYPES, ("length",)),
    **dict.fromkeys(t.PRECISION_TYPES, ("precision",)),
}
"""The types with numeric parameters: their fields and attributes."""

_CLASSES = {field: class_ for class_, field in TYPE_FIELDS.items()}
Nested = t.Struct | t.List | t.Map | t.Func | t.UserDefined
"""The types that contain other types."""

_NULLABLE, _REQUIRED = pb.Type.NULLABILITY_NULLABLE, pb.Type.NULLABILITY_REQUIRED
_NULLABILITY = {_NULLABLE: True, _REQUIRED: False}


MAX_SCHEMA_NESTING = 45
"""The maximal nesting of types in a separate schema: each is two messages, and parsers accept 100."""


class DeepTypeError(Exception):
    """A type nests deeper than the layout of the plan allows; `encode_plan` then makes another layout."""


def encode_type(declarations: Declarations, type_: t.Type, message: pb.Type, depth: int = 0) -> None:
    """Write a type, by its alias if it has one; `depth` is the number of enclosing types."""
    alias = declarations.alias(type_)
    if alias is not None:
        message.alias.type_alias_reference = alias
        message.alias.nullability = _nullability(type_)
        return
    body = getattr(message, TYPE_FIELDS[type(type_)])
    if isinstance(type_, t.Unbound):  # the one type without nullability
        body.SetInParent()
    else:
        encode_type_body(declarations, type_, body, depth)


def encode_type_body(declarations: Declarations, type_: t.Type, body: Any, depth: int = 0) -> None:
    """Write the fields of a type into its own message, such as ``Type.List``."""
    body.nullability = _nullability(type_)
    if type_.variation is not None:
        body.type_variation_reference = declarations.variation(type_.variation)
    for name in NUMBER_FIELDS.get(type(type_), ()):
        setattr(body, name, getattr(type_, name))
    if type(type_) not in FLAT_TYPES and isinstance(type_, Nested):
        if depth >= declarations.type_nesting:
            raise DeepTypeError
        encode_inner_types(declarations, type_, body, depth + 1)


def _nullability(type_: t.Type) -> pb.Type.Nullability.ValueType:
    return _NULLABLE if type_.nullable else _REQUIRED


def decode_type(decoder: Decoder, message: pb.Type) -> t.Type:
    """Read a type."""
    try:
        field = message.WhichOneof("kind")
        if field is None:
            raise PlanFormatError("a type does not set its kind")
        if field == "unbound":
            return t.Unbound()
        if field == "alias":
            alias = decoder.alias(message.alias.type_alias_reference)
            return alias.with_nullability(decode_nullability(decoder, message.alias))
        return decode_type_body(decoder, _CLASSES[field], getattr(message, field))
    except SubstraitDslError:
        decoder.mark_location(message)
        raise


def decode_type_body(decoder: Decoder, class_: type[t.Type], body: Any) -> t.Type:
    """Read the message of a type, such as ``Type.List``."""
    common: dict[str, Any] = {"nullable": decode_nullability(decoder, body)}
    if class_ is not t.Func and body.type_variation_reference:  # a func has no variations
        unsigned = decoder.unsigned_type_name(body.type_variation_reference, class_.keyword, body)
        if unsigned is not None:
            return t.UserDefined(t.UNSIGNED_URN, unsigned, nullable=common["nullable"])
        common["variation"] = decoder.variation(body.type_variation_reference, class_.keyword, body)
    if class_ is t.IntervalDay and not body.HasField("precision"):
        decoder.report(
            FindingCode.INTERVAL_PRECISION, "an interval_day has no precision: read as 6, microseconds", body
        )
        return t.IntervalDay(6, **common)
    if class_ in NUMBER_FIELDS:
        return class_(*(getattr(body, name) for name in NUMBER_FIELDS[class_]), **common)
    decode_inner = _INNER_TYPES.get(class_)
    decoded = class_(**common) if decode_inner is None else class_(*decode_inner(decoder, body), **common)
    if isinstance(decoded, t.UserDefined):
        report_user_defined(decoder, decoded, body)
    return decoded


def report_user_defined(decoder: Decoder, type_: t.UserDefined, message: Any) -> None:
    """Report a problem of a user-defined type of a known extension, once for each."""
    if type_.urn not in decoder.catalog.extensions or type_.as_required() in decoder.checked:
        return
    decoder.checked.add(type_.as_required())
    problem = type_problem(decoder.catalog.extensions, type_)
    if problem is not None:
        decoder.report(FindingCode.TYPE_UNKNOWN, f"{problem}; kept unchanged, here and elsewhere", message)


def decode_nullability(decoder: Decoder, body: Any) -> bool:
    """Read the nullability; the default is nullable, as older producers left it out."""
    nullable = _NULLABILITY.get(body.nullability)
    if nullable is not None:
        return nullable
    if body.nullability != pb.Type.NULLABILITY_UNSPECIFIED:
        raise PlanFormatError(f"there is no nullability with the number {body.nullability}")
    decoder.report(FindingCode.NULLABILITY_MISSING, "a type is neither NULLABLE nor REQUIRED: read as nullable", body)
    return True


def encode_inner_types(declarations: Declarations, type_: Nested, body: Any, depth: int) -> None:
    """Write the types inside a type."""
    match type_:
        case t.Struct():
            for inner in type_.types:
                encode_type(declarations, inner, body.types.add(), depth)
        case t.List():
            encode_type(declarations, type_.element, body.type, depth)
        case t.Map():
            encode_type(declarations, type_.key, body.key, depth)
            encode_type(declarations, type_.value, body.value, depth)
        case t.Func():
            for parameter in type_.parameter_types:
                encode_type(declarations, parameter, body.parameter_types.add(), depth)
            encode_type(declarations, type_.return_type, body.return_type, depth)
        case t.UserDefined():
            body.type_reference = declarations.type(type_)
            encode_type_parameters(declarations, type_, body.type_parameters, depth)
        case _:
            assert_never(type_)


_INNER_TYPES: dict[type[t.Type], Callable[[Decoder, Any], tuple[Any, ...]]] = {
    t.Struct: lambda decoder, body: (tuple(decode_type(decoder, inner) for inner in body.types),),
    t.List: lambda decoder, body: (decode_type(decoder, body.type),),
    t.Map: lambda decoder, body: (decode_type(decoder, body.key), decode_type(decoder, body.value)),
    t.Func: lambda decoder, body: (
        tuple(decode_type(decoder, parameter) for parameter in body.parameter_types),
        decode_type(decoder, body.return_type),
    ),
    t.UserDefined: lambda decoder, body: (
        *decoder.type(body.type_reference),
        decode_type_parameters(decoder, body.type_parameters),
    ),
}
"""The decoders of the types inside a type, as the arguments of its class."""


def encode_type_parameters(declarations: Declarations, type_: t.UserDefined, messages: Any, depth: int = 1) -> None:
    """Write the parameters of a user-defined type, into a type or into a literal."""
    for parameter in type_.type_parameters:
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


def decode_type_parameters(decoder: Decoder, messages: Iterable[pb.Type.Parameter]) -> tuple[t.TypeParameter, ...]:
    """Read the parameters of a user-defined type."""
    return tuple(_decode_type_parameter(decoder, message) for message in messages)


def _decode_type_parameter(decoder: Decoder, message: pb.Type.Parameter) -> t.TypeParameter:
    match message.WhichOneof("parameter"):
        case "null":
            return None
        case "boolean":
            return message.boolean
        case "integer":
            return message.integer
        case "string":
            return message.string
        case "enum":
            return t.EnumParameter(message.enum)
        case "data_type":
            return decode_type(decoder, message.data_type)
        case None:
            decoder.mark_location(message)
            raise PlanFormatError("a parameter of a user-defined type has no value")
        case field:
            assert_never(field)


def encode_named_struct(declarations: Declarations, schema: NamedStruct, message: pb.NamedStruct) -> None:
    """Write a schema: names depth first, and a required struct."""
    message.names.extend(schema.depth_first_names())
    struct = message.struct
    struct.nullability = _REQUIRED
    for field in schema.fields:
        encode_type(declarations, field.type, struct.types.add())


def encode_schema(schema: NamedStruct) -> pb.NamedStruct:
    """Return a schema as a separate message.

    Raises `UnsupportedError` for types that extensions declare, since the declarations stand in a plan, and for types
    that are nested too deeply.
    """
    plan, message = Plan(), pb.NamedStruct()
    try:
        encode_named_struct(Declarations(plan, MAX_SCHEMA_NESTING), schema, message)
    except DeepTypeError:
        raise UnsupportedError("a type of the schema is nested too deeply to be written") from None
    if plan.extensions:
        raise UnsupportedError(
            "a schema by itself cannot hold types or variations of an extension: the plan declares them",
            hint="write a plan that reads a table of this schema",
        )
    return message


def decode_named_struct(decoder: Decoder, message: pb.NamedStruct) -> NamedStruct:
    """Read a schema: a required struct, and names for its fields and nested fields."""
    if message.struct.nullability != pb.Type.NULLABILITY_REQUIRED:
        decoder.report(
            FindingCode.NULLABILITY_MISSING, "the struct of a schema is not REQUIRED: read as required", message.struct
        )
    if message.struct.type_variation_reference:
        decoder.mark_location(message.struct)
        raise UnsupportedError("the struct of a schema is of a type variation, for which a schema has no place")
    types = [decode_type(decoder, type_) for type_ in message.struct.types]
    with decoder.part(message):
        decoder.sizes.check_row(types)
        return NamedStruct.from_types(types, decode_schema_names(decoder, types, message))


def encode_type_aliases(declarations: Declarations, types: Sequence[t.Type], plan: Plan) -> None:
    """Write the aliased types of a plan; each may contain the others.

    Raises `UnsupportedError` for one that is too large or nested too deeply.
    """
    declarations.aliases = {type_: number for number, type_ in enumerate(types, start=1)}
    if not types:
        return
    from substrait_dsl.proto.nesting_depth import levels_of_type  # few plans have aliases

    for type_, number in declarations.aliases.items():
        Sizes().check_type(type_, MAX_SCHEMA_NESTING)
        if _ALIAS_LEVELS + levels_of_type(type_) > MAX_NESTING:  # user-defined types take more than others
            raise UnsupportedError(f"the type alias {type_} is nested too deeply")
        message = plan.type_aliases.add()
        message.type_alias_anchor = number
        encode_type_body(declarations, type_, getattr(message.type, TYPE_FIELDS[type(type_)]))


_ALIAS_LEVELS = 2  # Plan, TypeAlias


def decode_type_aliases(decoder: Decoder, messages: Sequence[pb.TypeAlias]) -> None:
    """Read the aliased types of a plan; each may contain the others, but not itself."""
    declared: dict[int, pb.TypeAlias] = {}
    for message in messages:
        if declared.setdefault(message.type_alias_anchor, message) != message:
            decoder.mark_location(message)
            raise PlanFormatError(f"the plan declares type alias {message.type_alias_anchor} twice, differently")
    from graphlib import CycleError, TopologicalSorter  # not needed for writing

    used = {
        anchor: {
            part.type_alias_reference for part in walk_messages(message) if isinstance(part, pb.Type.TypeAliasReference)
        }
        for anchor, message in declared.items()
    }
    try:
        order = list(TopologicalSorter(used).static_order())
    except CycleError as error:
        raise PlanFormatError(f"type aliases are made of each other in a circle: {error.args[1][:10]}") from None
    alike: dict[t.Type, t.Type] = {}  # one object for equal types, which are compared at once then, however large
    for anchor in order:
        if anchor in declared:  # if not, who uses it refuses
            type_ = decode_type(decoder, declared[anchor].type)
            with decoder.part(declared[anchor]):
                decoder.sizes.check_type(type_, MAX_SCHEMA_NESTING)
                if isinstance(type_, t.Unbound):
                    raise PlanFormatError("a type alias stands for a concrete type, not for an unbound one")
            if declared[anchor].type.HasField("alias"):
                decoder.report(
                    FindingCode.TYPE_ALIAS,
                    "a type alias is just another alias; read as what that stands for",
                    declared[anchor],
                )
            decoder.aliases[anchor] = alike.setdefault(type_, type_)
