"""The types of Substrait: one class per kind, frozen instances as values.

A class (`I64`, `Decimal`, `Nullable`) is what a schema class is annotated with and what a type checker sees; an
instance (`I64(nullable=True)`, `Decimal(15, 2)`) is what a schema holds. The two are the same classes, so that
``price: Decimal[L[15], L[2]]`` and ``Decimal(15, 2)`` cannot drift apart.

Specification: https://substrait.io/types/type_classes/ and ``type.proto``.
"""

from substrait_dsl.algebra.types.base import (
    MAX_LEVELS,
    NarrowerThan,
    Null,
    Nullable,
    Number,
    Req,
    Type,
    TypeVariation,
    WrittenAs,
    refuse_deep_types,
    too_deep,
)
from substrait_dsl.algebra.types.nested import (
    UNSIGNED_BITS,
    UNSIGNED_URN,
    EnumParameter,
    Func,
    List,
    Map,
    Struct,
    TypeParameter,
    Unbound,
    UserDefined,
    may_have_field_names,
    nullable_as_either,
    parameter_text,
    require_size,
    struct_names,
    types_in,
)
from substrait_dsl.algebra.types.scalars import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    IntervalYear,
    String,
)
from substrait_dsl.algebra.types.sized import (
    MAX_LENGTH,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    Precision38,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Scale38,
    SubSecond,
    VarChar,
)

SIMPLE_TYPES: tuple[type[Type], ...] = (
    Boolean, I8, I16, I32, I64, FP32, FP64, String, Binary, Date, IntervalYear, UUID, Unbound,
)  # fmt: skip
"""The types without parameters."""

PRECISION_TYPES = (IntervalDay, IntervalCompound, PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ)
"""The types with one parameter: digits after the second, 0 to 12."""

LENGTH_TYPES = (FixedChar, VarChar, FixedBinary)
"""The types with one parameter: a length of at least 1."""

INTEGER_TYPES = (I8, I16, I32, I64)
"""The integer types, the smallest first."""

INTEGER_RANGES: dict[type[Type], tuple[int, int]] = {
    type_class: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for type_class, bits in zip(INTEGER_TYPES, (8, 16, 32, 64), strict=True)
}
"""The integer types with their smallest and largest value."""

__all__ = [
    "FP32",
    "FP64",
    "I8",
    "I16",
    "I32",
    "I64",
    "INTEGER_RANGES",
    "INTEGER_TYPES",
    "LENGTH_TYPES",
    "MAX_LENGTH",
    "MAX_LEVELS",
    "PRECISION_TYPES",
    "SIMPLE_TYPES",
    "UNSIGNED_BITS",
    "UNSIGNED_URN",
    "UUID",
    "Binary",
    "Boolean",
    "Date",
    "Decimal",
    "EnumParameter",
    "FixedBinary",
    "FixedChar",
    "Func",
    "IntervalCompound",
    "IntervalDay",
    "IntervalYear",
    "List",
    "Map",
    "NarrowerThan",
    "Null",
    "Nullable",
    "Number",
    "Precision38",
    "PrecisionTime",
    "PrecisionTimestamp",
    "PrecisionTimestampTZ",
    "Req",
    "Scale38",
    "String",
    "Struct",
    "SubSecond",
    "Type",
    "TypeParameter",
    "TypeVariation",
    "Unbound",
    "UserDefined",
    "VarChar",
    "WrittenAs",
    "may_have_field_names",
    "nullable_as_either",
    "parameter_text",
    "refuse_deep_types",
    "require_size",
    "struct_names",
    "too_deep",
    "types_in",
]
