"""Schemas to and from Apache Arrow: exact, or refused by name.

An Arrow field holds what a Substrait type says in three places: the storage type, the nullable flag, and, where
Arrow has no such type, metadata beside the storage (`TYPE_KEY`, `VARIATION_KEY`). So ``from_arrow(to_arrow(s)) == s``
for every schema that `to_arrow` accepts.

Specification: https://substrait.io/types/type_classes/ and ``Schema.fbs`` of Arrow's columnar format.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UNSIGNED_URN,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    Func,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    SubSecond,
    Type,
    TypeVariation,
    Unbound,
    UserDefined,
    VarChar,
    refuse_deep_types,
)
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError, SchemaError, UnsupportedError
from substrait_dsl.installation import install_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

TYPE_KEY = b"substrait:type"
"""Field metadata: the type in text syntax, where the storage alone would say another one."""

VARIATION_KEY = b"substrait:variation"
"""Field metadata: the type variation, as ``urn:name``."""

UNITS: Mapping[SubSecond, str] = {0: "s", 3: "ms", 6: "us", 9: "ns"}
"""Digits after the second -> Arrow's unit. Arrow has no others."""

UTC = "UTC"
"""The zone of every ``precision_timestamp_tz``: a point in time, whatever zone it is shown in."""


class ArrowSchema(Protocol):
    """Anything that exports a schema through the Arrow C data interface, ``pyarrow.Schema`` included."""

    def __arrow_c_schema__(self) -> object: ...


def to_arrow(schema: NamedStruct) -> pa.Schema:
    """Write a schema as an Arrow schema that `from_arrow` reads back to an equal one.

    Args:
        schema: the fields, with any nesting; an unnamed nested struct gets its positions as names.

    Returns:
        A ``pyarrow.Schema`` with the same names, order and nullability at every level. ``varchar``, ``fixedchar``,
        ``interval_year``, ``interval_compound`` and type variations keep their type in the field's metadata.

    Raises:
        UnsupportedError: a type has no exact Arrow storage; the error names the type and the path to the column.
    """
    return pyarrow_module().schema([_field(field.name, field.type, field.name) for field in schema])


@refuse_deep_types()
def from_arrow(schema: ArrowSchema) -> NamedStruct:
    """Read the schema that an Arrow schema stands for.

    Encodings are not types: dictionary and run-end encoding, views, and large and fixed-size layouts read as the
    type of their values, and a time zone as the point in time it shows.

    Args:
        schema: a ``pyarrow.Schema``, or any object with ``__arrow_c_schema__`` that describes a struct.

    Returns:
        The fields in order, with nullability and nested names.

    Raises:
        InvalidArgumentError: the argument is no Arrow schema.
        UnsupportedError: an Arrow type has no Substrait equal; the error names it and the path to the column.
        SchemaError: the metadata of a field names another type than its storage holds.
        PlanFormatError: the metadata of a field holds no type.
    """
    return NamedStruct(tuple(Field(field.name, _field_type(field, field.name)) for field in _schema_of(schema)))


def type_to_arrow(type_: Type) -> pa.DataType:
    """Give the Arrow type that stores the values of a type.

    A ``pyarrow.DataType`` has no place for the outermost nullability, nor for the metadata by which a field tells
    ``varchar<3>`` from ``string``: only `to_arrow` keeps these. Types inside a struct, list or map keep theirs.

    Raises:
        UnsupportedError: the type has no exact Arrow storage.
    """
    return _storage(type_, "")


@refuse_deep_types()
def type_from_arrow(arrow_type: pa.DataType, nullable: bool) -> Type:
    """Read the type that an Arrow type stands for, with the nullability that its field would say.

    Raises:
        UnsupportedError: the Arrow type has no Substrait equal.
        SchemaError: the metadata of a nested field names another type than its storage holds.
        PlanFormatError: the metadata of a nested field holds no type.
    """
    return _type(arrow_type, "").with_nullability(nullable)


# Both directions


@cache
def pyarrow_module() -> Any:
    """Return the ``pyarrow`` module, loaded when it is first needed."""
    try:
        import pyarrow
    except ImportError as error:
        raise UnsupportedError(
            "Arrow data needs pyarrow, which is not installed", hint=install_line("arrow")
        ) from error
    return pyarrow


@cache
def _equals() -> Mapping[Type, pa.DataType]:
    """Return the types that Arrow has under another name, none of whose meaning needs metadata."""
    pa = pyarrow_module()
    table = {
        Boolean(): pa.bool_(),
        I8(): pa.int8(),
        I16(): pa.int16(),
        I32(): pa.int32(),
        I64(): pa.int64(),
        FP32(): pa.float32(),
        FP64(): pa.float64(),
        String(): pa.string(),
        Binary(): pa.binary(),
        Date(): pa.date32(),
        UUID(): pa.uuid(),
        IntervalCompound(9): pa.month_day_nano_interval(),
        UserDefined(UNSIGNED_URN, "u8"): pa.uint8(),
        UserDefined(UNSIGNED_URN, "u16"): pa.uint16(),
        UserDefined(UNSIGNED_URN, "u32"): pa.uint32(),
        UserDefined(UNSIGNED_URN, "u64"): pa.uint64(),
    }
    for digits, unit in UNITS.items():
        table[PrecisionTime(digits)] = pa.time32(unit) if digits < 6 else pa.time64(unit)
        table[PrecisionTimestamp(digits)] = pa.timestamp(unit)
        table[PrecisionTimestampTZ(digits)] = pa.timestamp(unit, UTC)
        table[IntervalDay(digits)] = pa.duration(unit)
    return table


@cache
def _readings() -> Mapping[pa.DataType, Type]:
    """`_equals` read backwards, and the Arrow types that hold the same values in another layout."""
    pa = pyarrow_module()
    return {arrow: type_ for type_, arrow in _equals().items()} | {
        pa.large_string(): String(),
        pa.string_view(): String(),
        pa.large_binary(): Binary(),
        pa.binary_view(): Binary(),
        pa.date64(): Date(),  # milliseconds, but Arrow demands whole days
    }


# Substrait -> Arrow


def _field(name: str, type_: Type, path: str) -> pa.Field:
    storage = _storage(type_, path)
    return pyarrow_module().field(name, storage, nullable=type_.nullable, metadata=_metadata(type_) or None)


def _metadata(type_: Type) -> dict[bytes, str]:
    """Return the metadata of a field that keeps the type beside its storage."""
    metadata = {}
    plain = _plain(type_)
    if isinstance(plain, FixedChar | VarChar | IntervalYear | IntervalCompound) and plain not in _equals():
        metadata[TYPE_KEY] = str(plain)
    if type_.variation is not None:
        metadata[VARIATION_KEY] = f"{type_.variation.urn}:{type_.variation.name}"
    return metadata


def _plain(type_: Type) -> Type:
    """Return the type without the facts that a field has itself: the outermost nullability and the variation."""
    required = type_.as_required()
    return required if required.variation is None else attrs.evolve(required, variation=None)


def _storage(type_: Type, path: str) -> pa.DataType:
    pa = pyarrow_module()
    plain = _plain(type_)
    if plain in _equals():
        return _equals()[plain]
    match plain:
        case FixedChar() | VarChar():
            return pa.string()
        case FixedBinary(length=length):
            return pa.binary(length)
        case Decimal(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case IntervalYear():
            return pa.month_day_nano_interval()
        case IntervalCompound(precision=precision) if precision <= 9:
            return pa.month_day_nano_interval()
        case Struct(types=types):
            names = plain.field_names
            return pa.struct(
                [_field(name, inner, _member(path, name)) for name, inner in zip(names, types, strict=True)]
            )
        case List(element=element):
            return pa.list_(_field("item", element, f"{path}[]"))
        case Map(key=key, value=value) if not key.nullable:
            return pa.map_(_field("key", key, f"{path}[key]"), _field("value", value, f"{path}[value]"))
        case _:
            raise UnsupportedError(f"{type_} has no Arrow type", hint=_way_out(plain), path=path)


def _way_out(type_: Type) -> str | None:
    """Return the hint for a type that Arrow has no storage for."""
    match type_:
        case PrecisionTime() | PrecisionTimestamp() | PrecisionTimestampTZ() | IntervalDay():
            wide_enough = [digits for digits in UNITS if digits >= type_.precision]
            nearest = attrs.evolve(type_, precision=min(wide_enough, default=max(UNITS)))
            return f"Arrow has the precisions {', '.join(map(str, UNITS))}; the nearest is {nearest}"
        case IntervalCompound():
            return f"Arrow has no more than 9 digits after the second; the nearest is {IntervalCompound(9)}"
        case Map(key=key, value=value):
            return f"keys are never NULL in Arrow; use {Map(key.as_required(), value)}"
        case UserDefined():
            return "cast it to a type that Arrow has; of the user-defined types only unsigned integers have one"
        case Func():
            return "a function is an argument, not a value that a column could hold"
        case Unbound():
            return "give the column a type first"
        case _:
            return None


# Arrow -> Substrait


def _schema_of(schema: object) -> pa.Schema:
    pa = pyarrow_module()
    if isinstance(schema, pa.Schema):
        return schema
    expected = "expected a pyarrow.Schema or an object with __arrow_c_schema__"
    if not hasattr(schema, "__arrow_c_schema__"):
        raise InvalidArgumentError(f"{expected}, got {schema!r}")
    try:
        return pa.schema(schema)
    except pa.ArrowInvalid as error:
        raise InvalidArgumentError(f"{expected} that describes a struct, got {schema!r}") from error


def _field_type(field: pa.Field, path: str) -> Type:
    metadata = field.metadata or {}
    type_ = _type(field.type, path)
    if TYPE_KEY in metadata:
        type_ = _check_declared_type(metadata[TYPE_KEY], type_, path)
    if VARIATION_KEY in metadata:
        type_ = attrs.evolve(type_, variation=_variation(metadata[VARIATION_KEY], path))
    return type_.with_nullability(field.nullable)


def _check_declared_type(text: bytes, stored: Type, path: str) -> Type:
    """Return the type that the metadata declares, checked against what the storage says by itself."""
    try:
        declared = parse_type(_text(text, path))
    except PlanFormatError as error:
        error.path = path
        raise
    # Metadata often survives an operation that changes the storage (a cast, say); then neither may be believed.
    if _type(_storage(declared, path), path) != stored:
        raise SchemaError(
            f"the metadata declares {declared}, the storage holds {stored}",
            hint=f'drop the metadata key "{TYPE_KEY.decode()}" or store the declared type',
            path=path,
        )
    return declared


def _variation(text: bytes, path: str) -> TypeVariation:
    urn, _, name = _text(text, path).rpartition(":")
    if not (urn and name):
        raise SchemaError(f"a type variation in field metadata must be urn:name, got {text!r}", path=path)
    return TypeVariation(urn, name)


def _text(value: bytes, path: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise SchemaError(f"field metadata must be UTF-8 text, got {value!r}", path=path) from error


def _type(arrow_type: pa.DataType, path: str) -> Type:
    """Return the type by storage alone, required; nested fields have their metadata read."""
    read = None if arrow_type.num_fields else _readings().get(arrow_type)  # how Arrow looks for a deep type takes long
    return read or _composite(arrow_type, path)


def _composite(arrow_type: pa.DataType, path: str) -> Type:
    """Return the type for an Arrow type with parameters or with types inside."""
    pa = pyarrow_module()
    try:
        match arrow_type:
            case pa.TimestampType(tz=str()):
                return _readings()[pa.timestamp(arrow_type.unit, UTC)]
            case pa.DictionaryType() | pa.RunEndEncodedType():
                return _type(arrow_type.value_type, path)
            case _ if pa.types.is_decimal(arrow_type):  # of any width; first, for Arrow's are fixed-size binaries too
                return Decimal(arrow_type.precision, arrow_type.scale)
            case pa.FixedSizeBinaryType():
                return FixedBinary(arrow_type.byte_width)
            case pa.StructType():
                fields = [arrow_type.field(position) for position in range(arrow_type.num_fields)]
                types = tuple(_field_type(field, _member(path, field.name)) for field in fields)
                return Struct(types, tuple(field.name for field in fields))
            case (
                pa.ListType() | pa.LargeListType() | pa.FixedSizeListType() | pa.ListViewType() | pa.LargeListViewType()
            ):
                return List(_field_type(arrow_type.value_field, f"{path}[]"))
            case pa.MapType():
                key = _field_type(arrow_type.key_field, f"{path}[key]")
                return Map(key, _field_type(arrow_type.item_field, f"{path}[value]"))
            case _:
                raise UnsupportedError(f"the Arrow type {arrow_type} has no Substrait type", path=path)
    except InvalidArgumentError as error:  # parameters that the Substrait type cannot have
        raise UnsupportedError(
            f"the Arrow type {arrow_type} has no Substrait type: {error.message}", path=path
        ) from error


def _member(path: str, name: str) -> str:
    """Return the path to a field of the struct at `path`; a row itself has none."""
    return f"{path}.{name}" if path else name
