"""The words of the format, in one table for each kind of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from substrait import algebra_pb2 as pb

VERSION, EXTENSIONS, PLAN = "=== Version", "=== Extensions", "=== Plan"
"""The headers of the sections, in their order."""

INDENT = "  "
"""The indent of an input below its relation."""

SIMPLE_TYPES: Mapping[str, str] = {
    "boolean": "bool",
    "i8": "i8",
    "i16": "i16",
    "i32": "i32",
    "i64": "i64",
    "fp32": "fp32",
    "fp64": "fp64",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "interval_year": "interval_year",
    "uuid": "uuid",
}
"""The field of ``Type.kind`` of each type without parameters."""

NUMBER_TYPES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "fixedchar": ("fixed_char", ("length",)),
    "varchar": ("varchar", ("length",)),
    "fixedbinary": ("fixed_binary", ("length",)),
    "decimal": ("decimal", ("precision", "scale")),
    "precisiontime": ("precision_time", ("precision",)),
    "precisiontimestamp": ("precision_timestamp", ("precision",)),
    "precisiontimestamptz": ("precision_timestamp_tz", ("precision",)),
    "interval_day": ("interval_day", ("precision",)),
    "interval_compound": ("interval_compound", ("precision",)),
}
"""The field of ``Type.kind`` of each type whose parameters are numbers, and the fields of these."""

FORMER_TYPES: Mapping[str, str] = {
    "time": "precision_time",
    "timestamp": "precision_timestamp",
    "timestamp_tz": "precision_timestamp_tz",
}
"""The field of each type that the specification has removed: they meant microseconds. They are read only."""

UNSIGNED_TYPES = ("u8", "u16", "u32", "u64")
"""Names that the format reserves for types without saying which these are."""

NESTED_TYPES = ("list", "map", "struct")
"""The types whose parameters are types."""

RESERVED = (*SIMPLE_TYPES, *FORMER_TYPES, *UNSIGNED_TYPES)
"""What the name of a user-defined type cannot begin with, unless ``u!`` stands in front of it."""


def enum_words(enum: Any, prefix: str) -> Mapping[str, int]:
    """Return the number of each word of an enumeration: ``JOIN_TYPE_LEFT_SEMI`` is ``LeftSemi``."""
    return {
        "".join(part.capitalize() for part in name.removeprefix(prefix).split("_")): number
        for name, number in enum.items()
        if number
    }


JOIN_TYPES = enum_words(pb.JoinRel.JoinType, "JOIN_TYPE_")
SET_OPS = enum_words(pb.SetRel.SetOp, "SET_OP_")
SORT_DIRECTIONS = enum_words(pb.SortField.SortDirection, "SORT_DIRECTION_")

FAILURE_BEHAVIORS: Mapping[str, int] = {
    "": pb.Expression.Cast.FAILURE_BEHAVIOR_UNSPECIFIED,
    "?": pb.Expression.Cast.FAILURE_BEHAVIOR_RETURN_NULL,
    "!": pb.Expression.Cast.FAILURE_BEHAVIOR_THROW_EXCEPTION,
}
"""What a failed cast does, by the mark in front of its type."""


def word_for(words: Mapping[str, int], number: int) -> str | None:
    """Return the word of a number; None if the table has none for it."""
    return next((word for word, known in words.items() if known == number), None)
