"""Literals as Spark SQL text whose type Spark cannot mistake.

Specification: ``Expression.Literal`` in ``algebra.proto``. All but the most harmless strings travel as hexadecimal:
Spark replaces ``${...}`` in SQL text, reads backslashes by a setting, and what a user wrote must never be read as SQL.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.types import MICROSECONDS, UNSIGNED, spark_sql_type
from substrait_dsl.spark.session.engines import ENGINE, current_engine


def literal_to_sql(literal: Literal) -> str:
    """Write a literal as SQL text of exactly its Spark type.

    Args:
        literal: a literal of any type that Spark can hold, nested ones included.

    Returns:
        A constant expression: ``5L``, ``'ab'``, ``CAST(X'24' AS STRING)``, ``named_struct('f0', 5L)``.

    Raises:
        UnsupportedError: Spark has no such type or cannot hold the value: a map with a repeated key, a moment outside
            the years 1 to 9999.
    """
    type_ = literal.type
    if isinstance(type_, t.Func):
        return "NULL"  # a function is no value in Spark; what takes one knows this
    sql_type = spark_sql_type(type_)
    if literal.value is None:
        return f"CAST(NULL AS {sql_type})"
    return current_engine().literal_to_sql(literal) or WRITERS[type(type_)](literal.value, type_)


_HARMLESS = re.compile(r"""(?:[A-Za-z0-9 .,:/%#+"()<>=-]|_(?!_))*""")
"""Texts without the end of one, an escape, a variable or a generated name; Spark need not compute these from bytes."""


def text_to_sql(value: str) -> str:
    """Write a string as SQL text that nothing on the way to Spark can misread.

    Raises:
        UnsupportedError: the string holds half of a character, which no encoding of Unicode can write.
    """
    if _HARMLESS.fullmatch(value):
        return f"'{value}'"
    try:
        return f"CAST(X'{value.encode().hex()}' AS STRING)"
    except UnicodeEncodeError:
        raise UnsupportedError(f"a {ENGINE} string holds whole characters, got {value!r}") from None


def failing(message: str) -> str:
    """SQL text that raises an error at run time."""
    return f"raise_error({text_to_sql(message)})"


def struct_to_sql(fields: Iterable[str]) -> str:
    """Write a struct of fields, which are called by their positions."""
    return record_to_sql({f"f{position}": field for position, field in enumerate(fields)})


def record_to_sql(fields: Mapping[str, str]) -> str:
    """Write a struct of fields with names."""
    named = (f"{text_to_sql(name)}, {text}" for name, text in fields.items())
    return f"named_struct({', '.join(named)})"


TRUE, FALSE = "(1 = 1)", "(1 = 2)"
"""The SQL text of boolean literals.

Where the word TRUE or FALSE decides the condition of a correlated EXISTS, Spark 4.1 fails: constant folding drops the
outer reference before decorrelation. Comparisons are folded later.
"""

UNKNOWN = "transform(array(CAST(NULL AS BOOLEAN)), v -> v)[0]"
"""The SQL text of the boolean NULL. A literal NULL beside AND or OR makes Spark's optimizer fail when it looks for
filters to push down to a source such as Iceberg."""

_INTEGER_SUFFIXES: dict[type[t.Type], str] = {t.I8: "Y", t.I16: "S", t.I32: "", t.I64: "L"}
_FLOAT_SUFFIXES: dict[type[t.Type], str] = {t.FP32: "F", t.FP64: "D"}


def _integer(value: int, type_: t.Type) -> str:
    return f"{value}{_INTEGER_SUFFIXES[type(type_)]}"


def _floating(value: float, type_: t.Type) -> str:
    if math.isfinite(value):
        return f"{value!r}{_FLOAT_SUFFIXES[type(type_)]}"
    return f"CAST('{value}' AS {spark_sql_type(type_)})"


def _decimal(value: Any, type_: t.Type) -> str:
    assert isinstance(type_, t.Decimal)
    text = f"{value:f}BD"
    # Spark gives a literal the scale it is written with, and the fewest digits that hold it.
    _, digits, exponent = value.as_tuple()
    if (max(len(digits), type_.scale), -int(exponent)) == type_.parameters:
        return text
    return f"CAST({text} AS {spark_sql_type(type_)})"


def _timestamp(value: int, type_: t.Type) -> str:
    assert isinstance(type_, t.PrecisionTimestamp | t.PrecisionTimestampTZ)
    try:
        timestamp = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=_micros(value, type_.precision))
    except OverflowError:
        raise UnsupportedError(f"a {ENGINE} {type_} lies in the years 1 to 9999, got {value}") from None
    text = timestamp.isoformat(" ", "microseconds")
    return f"TIMESTAMP_LTZ'{text}Z'" if isinstance(type_, t.PrecisionTimestampTZ) else f"TIMESTAMP_NTZ'{text}'"


def _time(value: int, type_: t.Type) -> str:
    assert isinstance(type_, t.PrecisionTime)
    seconds, micros = divmod(_micros(value, type_.precision), 1_000_000)
    text = f"TIME'{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micros:06}'"
    return text if type_.precision == MICROSECONDS else f"CAST({text} AS {spark_sql_type(type_)})"


def _interval_year(value: Any, type_: t.Type) -> str:
    months = value.years * 12 + value.months
    sign = "-" if months < 0 else ""
    return f"INTERVAL '{sign}{abs(months) // 12}-{abs(months) % 12}' YEAR TO MONTH"


def _interval_day(value: Any, type_: t.Type) -> str:
    assert isinstance(type_, t.IntervalDay)
    micros = (value.days * 86_400 + value.seconds) * 1_000_000 + _micros(value.subseconds, type_.precision)
    seconds, fraction = divmod(abs(micros), 1_000_000)
    clock = f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"
    return f"INTERVAL '{'-' if micros < 0 else ''}{seconds // 86_400} {clock}' DAY TO SECOND"


def _micros(units: int, precision: int) -> int:
    """Units of 10**-precision seconds in microseconds; Spark's types have no finer ones."""
    return int(units * 10 ** (MICROSECONDS - precision))


def _struct(value: tuple[Literal, ...], type_: t.Type) -> str:
    return struct_to_sql(map(literal_to_sql, value))


def _list(value: tuple[Literal, ...], type_: t.Type) -> str:
    items = ", ".join(map(literal_to_sql, value))
    return f"array({items})" if value else f"CAST(array() AS {spark_sql_type(type_)})"


def _identity(key: Literal) -> object:
    """Return a value that is equal for map keys that Spark takes for equal: 0.0 and -0.0, and NaN."""
    match key.value:
        case float() as number if number != number:
            return "NaN"
        case tuple() as parts:
            return tuple(_identity(part) if isinstance(part, Literal) else part for part in parts)
        case value:
            return value


def _map(value: tuple[tuple[Literal, Literal], ...], type_: t.Type) -> str:
    if len({_identity(key) for key, _ in value}) < len(value):  # spec decision 57
        raise UnsupportedError(f"the keys of a {ENGINE} map must differ, got a literal of {type_} that repeats one")
    items = ", ".join(f"{literal_to_sql(key)}, {literal_to_sql(item)}" for key, item in value)
    return f"map({items})" if value else f"CAST(map() AS {spark_sql_type(type_)})"


def _unsigned_literal(value: Any, type_: t.Type) -> str:
    """An unsigned integer: a structure of one text, its digits."""
    digits = value[0].value if isinstance(value, tuple) and len(value) == 1 else None
    if not isinstance(digits, str) or not digits.isdecimal() or int(digits) > UNSIGNED[type_.as_required()].largest:
        raise UnsupportedError(f"a literal of {type_} is the digits of a number in its range, got {value!r}")
    return f"CAST({int(digits)}BD AS {spark_sql_type(type_)})"


WRITERS: dict[type[t.Type], Callable[[Any, t.Type], str]] = {
    t.Boolean: lambda value, type_: TRUE if value else FALSE,
    t.I8: _integer,
    t.I16: _integer,
    t.I32: _integer,
    t.I64: _integer,
    t.FP32: _floating,
    t.FP64: _floating,
    t.Decimal: _decimal,
    t.String: lambda value, type_: text_to_sql(value),
    t.VarChar: lambda value, type_: text_to_sql(value),
    t.FixedChar: lambda value, type_: text_to_sql(value),
    t.UUID: lambda value, type_: text_to_sql(str(value)),
    t.Binary: lambda value, type_: f"X'{value.hex()}'",
    t.FixedBinary: lambda value, type_: f"X'{value.hex()}'",
    t.Date: lambda value, type_: f"DATE'{value.isoformat()}'",
    t.PrecisionTime: _time,
    t.PrecisionTimestamp: _timestamp,
    t.PrecisionTimestampTZ: _timestamp,
    t.IntervalYear: _interval_year,
    t.IntervalDay: _interval_day,
    t.Struct: _struct,
    t.List: _list,
    t.Map: _map,
    t.UserDefined: _unsigned_literal,
}
"""For each type that Spark has, the function that writes its values."""
