"""Constants, and casts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from math import isinf, isnan
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.unicode import is_unicode
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.decimals import MAX_DIGITS
from substrait_dsl.sql_output.dialects import Dialect, simple_names
from substrait_dsl.sql_output.written import Written, cast_tree, fill

_SMALL = range(-(2**31), 2**31)


def write_literal(literal: ex.Literal, dialect: Dialect) -> Written:
    """Write a constant. Raises `UnsupportedError` for a value of a type that is not written."""
    from sqlglot import exp

    type_, value = literal.type, literal.value
    name = dialect.type_text(type_, is_ordered=False)
    match value:
        case None:
            return Written(exp.Null(), type_, is_typed=False)
        case tuple() if isinstance(type_, t.Struct):
            return write_struct([write_literal(each, dialect) for each in value], type_, dialect)
        case bool():
            return Written(exp.Boolean(this=value), type_)
        case int() if isinstance(type_, t.PrecisionTimestamp | t.PrecisionTimestampTZ):
            zone = "+00:00" if isinstance(type_, t.PrecisionTimestampTZ) else ""
            return Written(cast_tree(exp.Literal.string(f"{_timestamp(value)}{zone}"), type_, dialect), type_)
        case int():
            if value == -(2**63):  # without its sign it is no integer of 64 bits
                return Written(cast_tree(_number(value), type_, dialect), type_)
            natural = t.I32 if value in _SMALL else t.I64
            if value == -(2**31):
                return Written(_number(value), type_, is_typed=False)
            return Written(_number(value), type_, isinstance(type_, natural))
        case float():
            if isnan(value) or isinf(value):
                word = "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
                return Written(fill(f"CAST('{word}' AS {name})", [], {}, dialect), type_)
            number = exp.Literal.number(repr(abs(value)) if "e" in repr(value) else f"{abs(value)!r}e0")
            negative = str(value).startswith("-")
            return Written(exp.Neg(this=number) if negative else number, type_, isinstance(type_, t.FP64))
        case Decimal():
            assert isinstance(type_, t.Decimal)
            text = f"{value.copy_abs():f}"  # abs() would round to 28 digits
            digits = len(text.replace(".", "").lstrip("0")) or 1
            scale = len(text.partition(".")[2])
            natural_digits = max(digits, scale)
            # With the zero before its point it may have one digit too many, and is a double to DuckDB.
            if len(text.replace(".", "")) > MAX_DIGITS:
                return Written(cast_tree(exp.Literal.string(f"{value:f}"), type_, dialect), type_)
            number = exp.Literal.number(text)
            is_typed = (
                scale > 0 and (natural_digits, scale) == (type_.precision, type_.scale) and not text.startswith("0")
            )
            return Written(exp.Neg(this=number) if value < 0 else number, type_, is_typed)
        case str():
            return Written(_text(value, dialect), type_)
        case dt.date():
            return Written(exp.Cast(this=exp.Literal.string(value.isoformat()), to=exp.DataType.build("DATE")), type_)
        case _:
            raise UnsupportedError(f"a constant of type {type_} is not written as SQL of {dialect.title}")


def write_struct(fields: Sequence[Written], type_: t.Type, dialect: Dialect) -> Written:
    """Write a struct of these values. Raises `UnsupportedError` where the names of its fields are not known."""
    from sqlglot import exp

    dialect.type_text(type_, is_ordered=False)
    named = [
        exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=field.cast(dialect).copy())
        for name, field in zip(simple_names(type_), fields, strict=True)
    ]
    return Written(exp.Struct(expressions=named), type_, is_typed=False)


def _text(value: str, dialect: Dialect) -> Any:
    """Return a constant text. Spark replaces what looks like a variable, also inside of texts."""
    from sqlglot import exp

    if not is_unicode(value):
        raise UnsupportedError(f"a text with half a character is not written as SQL of {dialect.title}")
    if dialect.name != "spark" or VARIABLE not in value:
        return exp.Literal.string(value)
    first, *others = value.split(VARIABLE)
    parts = [f"{first}$", *(f"{{{part}$" for part in others[:-1]), f"{{{others[-1]}"]
    return exp.Anonymous(this="CONCAT", expressions=[exp.Literal.string(part) for part in parts])


VARIABLE = "${"
"""Where a variable begins, which Spark replaces in every text of SQL."""


def _timestamp(microseconds: int) -> str:
    """Return a timestamp as text. Raises `UnsupportedError` for one outside of the years 1 to 9999."""
    try:
        return (dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=microseconds)).isoformat(" ")
    except OverflowError:
        raise UnsupportedError(
            f"a constant timestamp {microseconds} microseconds from 1970-01-01 is not written as SQL: "
            "it lies outside of the years 1 to 9999"
        ) from None


def _number(value: int) -> Any:
    from sqlglot import exp

    number = exp.Literal.number(abs(value))
    return exp.Neg(this=number) if value < 0 else number


_INTEGERS = t.INTEGER_TYPES
_FLOATS = (t.FP32, t.FP64)
_EXACT_DIGITS = 15
"""Up to how many digits a decimal becomes the nearest double however it is computed."""


def write_cast(cast: ex.Cast, value: Written, dialect: Dialect) -> Written:
    """Write a cast. Raises `UnsupportedError` for one that the engine does otherwise."""
    source, target = cast.input.type, cast.target
    if source.nullable and not target.nullable:
        raise _refusal(source, target, dialect, "it would have to fail for NULL", f"cast it to {target.as_nullable()}")
    tries = cast.on_failure == "return_null"
    if source.matches(target):
        return Written(value.tree, target, value.is_typed)
    before = _before_cast(source, target, dialect)
    if tries and before is not None:
        before = before.replace("CAST(", "TRY_CAST(")
    if before is None:
        raise _refusal(source, target, dialect)
    tree = value.cast(dialect) if before == "{0}" or not value.is_typed else value.tree
    if isinstance(target, t.Boolean):
        return Written(fill("{0} <> 0", [tree], {}, dialect), target)
    tree = fill(before, [tree], {}, dialect)
    return Written(cast_tree(tree, target, dialect, tries=tries), target)


def _before_cast(source: t.Type, target: t.Type, dialect: Dialect) -> str | None:
    """Return a template of what is cast; None for casts that the engine may do otherwise."""
    is_duckdb = dialect.name == "duckdb"
    match source, target:
        case (t.I8() | t.I16() | t.I32() | t.I64(), t.Boolean()):
            return "{0}"
        case (t.I8() | t.I16() | t.I32() | t.I64(), t.I8() | t.I16() | t.I32() | t.I64() | t.FP32() | t.FP64()):
            return "{0}"
        case (t.I8() | t.I16() | t.I32() | t.I64(), t.Decimal() | t.String()):
            return "{0}"
        case (t.Boolean(), t.I8() | t.I16() | t.I32() | t.I64() | t.String()):
            return "{0}"
        case (t.FP32(), t.FP64()) | (t.Decimal(), t.Decimal()) | (t.Decimal(), t.String()):
            return "{0}"
        case (t.FP32() | t.FP64(), t.I8() | t.I16() | t.I32()):
            return "TRUNC({0})" if is_duckdb else "{0}"
        case (t.FP32() | t.FP64(), t.I64()) if is_duckdb:  # of 2^63 Spark makes the largest integer
            return "TRUNC({0})"
        case (t.Decimal(), t.I8() | t.I16() | t.I32() | t.I64()):
            return "TRUNC({0})" if is_duckdb else "CAST({0} AS BIGINT)" if not isinstance(target, t.I64) else "{0}"
        case (t.Decimal(precision=precision), t.FP64()) if precision <= _EXACT_DIGITS or not is_duckdb:
            return "{0}"
        case (t.Date(), t.String() | t.PrecisionTimestamp(precision=6)) | (t.PrecisionTimestamp(precision=6), t.Date()):
            return "{0}"
        case (t.VarChar(), t.String()):
            return "{0}"
        case _:
            return None


def _refusal(
    source: t.Type, target: t.Type, dialect: Dialect, why: str = "", hint: str | None = None
) -> UnsupportedError:
    reason = f": {why}" if why else ""
    return UnsupportedError(
        f"a cast from {source} to {target} is not known to be exact in the SQL of {dialect.title}{reason}", hint=hint
    )
