"""Literals: a value of a type, exactly.

Specification: ``Expression.Literal`` in ``algebra.proto``. A Python value becomes a literal of the required type
exactly, or is refused: 300 is no ``i8``, 0.125 no ``decimal<5,2>``, "abcd" no ``varchar<3>``.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import math
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.intervals import Compound, DaySeconds, YearMonths
from substrait_dsl.algebra.extensions import AnyMessage, pack_message
from substrait_dsl.algebra.node import Expression, Node
from substrait_dsl.algebra.rules import branch_type
from substrait_dsl.algebra.unicode import is_unicode
from substrait_dsl.errors import LiteralError, shorten, suggestion


@attrs.frozen(eq=False, repr=False)
class Literal(Expression):
    """A constant.

    `value` is None for NULL, else as this table says:

    ======================================  ==============================================================
    boolean, integers, fp32, fp64           bool, int, float
    string, varchar, fixedchar              str
    binary, fixedbinary                     bytes
    decimal                                 decimal.Decimal, with exactly the type's scale
    date                                    datetime.date
    precision_time                          int: units of 10**-P seconds since midnight
    precision_timestamp, .._tz              int: units of 10**-P seconds since 1970-01-01 (UTC)
    interval_year, _day, _compound          `YearMonths`, `DaySeconds`, `Compound`
    uuid                                    uuid.UUID
    struct, list                            tuple of `Literal`
    map                                     tuple of pairs of `Literal`
    user-defined                            tuple of `Literal`: the fields of its structure; or `AnyMessage`
    ======================================  ==============================================================
    """

    value: Any
    literal_type: t.Type

    def _derive_type(self) -> t.Type:
        if type(self.literal_type) is t.Map and any(key.value is None for key, _ in self.value or ()):
            raise LiteralError("the keys of a map are never NULL, one is")  # keys may repeat: spec decision 57
        if type(self.literal_type) is t.Decimal and not isinstance(self.value, decimal.Decimal | None):
            raise _no_class(self.value, self.literal_type, f"a Decimal, not {_a(self.value)}")
        return self.literal_type

    def identity_fields(self) -> tuple[Any, ...]:
        # As numbers, NaN differs from itself and 0.0 equals -0.0; as constants of a plan it is the other way round.
        value = self.value.hex() if type(self.value) is float else self.value
        return (value, self.literal_type)

    def _find_children(self) -> tuple[Node, ...]:
        return Expression._find_children(self) if type(self.value) is tuple else ()

    def __repr__(self) -> str:
        try:
            return f"literal({shorten(repr(self.value))}, {self.literal_type})"
        except RecursionError:
            return "<Literal>"


def literal(value: object, type: t.Type) -> Literal:
    """Return the literal of a type for a Python value.

    Args:
        value: None, a Python value that the type can hold exactly, or an equal literal.
        type: the type of the literal; for None it must be nullable.

    Raises:
        LiteralError: the value does not fit the type.
    """
    if isinstance(value, Literal):
        if value.type == type:
            return value
        if value.type.matches(type):
            return literal(None, type) if value.value is None else Literal(value.value, type)
        raise LiteralError(f"expected a literal of {type}, got one of {value.type}")
    if value is None:
        if not type.nullable:
            raise LiteralError(f"NULL does not fit {type}, which is required")
        return Literal(None, type)
    convert = CONVERTERS.get(type.__class__)
    if convert is None:
        raise LiteralError(f"there are no literals of {type}")
    try:
        return Literal(convert(value, type), type)
    except RecursionError:
        raise LiteralError(f"a value of {type} is nested too deeply") from None


def fits(value: object, type: t.Type) -> bool:
    """Return whether a Python value can be a literal of the type."""
    try:
        literal(value, type)
    except LiteralError:
        return False
    return True


def natural_type(value: object) -> t.Type:
    """Return the type that a Python value has when nothing around it asks for another.

    Raises:
        LiteralError: the value has none: None, empty lists and maps, and objects of other classes.
        InvalidArgumentError: it is nested more deeply than types are.
    """
    return _natural_type(value, t.MAX_LEVELS)


def _natural_type(value: object, room: int) -> t.Type:
    """`natural_type`, where there is room for so many types inside each other."""
    if not room:
        raise t.too_deep("a value is nested too deeply")
    inside = partial(_natural_type, room=room - 1)
    match value:
        case Literal():
            return value.type
        case decimal.Decimal() if value.is_finite():
            return _natural_decimal(value)
        case dt.datetime():
            return t.PrecisionTimestampTZ(6) if value.tzinfo else t.PrecisionTimestamp(6)
        case list() | tuple() if value:
            return t.List(branch_type([*map(inside, value)], "a list"))
        case dict() if value:
            keys = branch_type([*map(inside, value)], "the keys of a map")
            return t.Map(keys, branch_type([*map(inside, value.values())], "the values of a map"))
    for python, natural in NATURAL_TYPES.items():
        if isinstance(value, python):
            return natural
    raise LiteralError(
        f"cannot infer the Substrait type of {value!r} ({type(value).__name__})",
        names=[value],
        remedy="type-of-value",
        hint=_numpy_hint(value),
    )


NATURAL_TYPES: Mapping[type, t.Type] = {
    bool: t.Boolean(),  # before int, of which it is a subclass
    int: t.I64(),
    float: t.FP64(),
    str: t.String(),
    bytes: t.Binary(),
    dt.date: t.Date(),
    dt.time: t.PrecisionTime(6),
    dt.timedelta: t.IntervalDay(6),
    uuid.UUID: t.UUID(),
    YearMonths: t.IntervalYear(),
}
"""The types of the values of classes of Python that have one type, whatever the value."""


def _natural_decimal(value: decimal.Decimal) -> t.Type:
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # finite
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale, 1)
    if precision > 38:
        raise LiteralError(f"{value} has {precision} digits; a decimal holds at most 38")
    return t.Decimal(precision, scale)  # type: ignore[type-var]  # known only now


def _a(value: object) -> str:
    """Return the name of a value's class with its article: "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeio' else 'a'} {name}"


def _no_fit(value: object, type_: t.Type, why: str = "", hint: str | None = None) -> LiteralError:
    hint = hint or _numpy_hint(value)
    return LiteralError.of_value(_format_value(value), type_, why, names=_texts(value), hint=hint)


def _no_class(
    value: object, type_: t.Type, takes: str, hint: str | None = None, *, remedy: str | None = None
) -> LiteralError:
    """Return the error for a value of a class none of whose values fit, with what does."""
    hint = hint or _numpy_hint(value)
    return LiteralError.of_value(
        _format_value(value), type_, takes=takes, names=_texts(value), remedy=remedy, hint=hint
    )


def _texts(value: object) -> Iterable[str]:
    """Return the text that a value is, or the texts in it."""
    if isinstance(value, str):
        return (value,)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple | Mapping) else ()


def _format_value(value: object) -> str:
    try:
        return shorten(repr(value))
    except ValueError:  # of a number with more digits than Python writes
        return f"{_a(value)} of thousands of digits"


def _number_hint(value: object, python: Callable[[str], object]) -> str | None:
    """Return the hint for a text that holds a number."""
    with contextlib.suppress(ValueError, ArithmeticError):
        return f"write {python(value)!r}, a number" if isinstance(value, str) else None
    return None


def _numpy_hint(value: object) -> str | None:
    """Return how a value of numpy becomes one of Python, which numpy's integers and arrays are not."""
    return "write value.tolist(), which is Python's own" if type(value).__module__ == "numpy" else None


def _exactly(python: type) -> Callable[[Any, t.Type], Any]:
    def convert(value: Any, type_: t.Type) -> Any:
        if type(value) is not python:
            raise _no_class(value, type_, f"a {python.__name__}, not {_a(value)}")
        return value

    return convert


def _is_int(value: Any) -> bool:
    """Return whether a value is an integer, perhaps of an enum or of another class of its own.

    True and false are none.
    """
    return isinstance(value, int) and not isinstance(value, bool)


def _integer(value: Any, type_: t.Type) -> int:
    if not _is_int(value):
        raise _no_class(value, type_, f"an int, not {_a(value)}", _number_hint(value, int))
    low, high = t.INTEGER_RANGES[type(type_)]
    if not low <= value <= high:
        raise _no_fit(value, type_, f"it holds {low} to {high}")
    return int(value)


def _fp64(value: Any, type_: t.Type) -> float:
    if not isinstance(value, float) and not (_is_int(value) and abs(value) <= 2**53):
        raise _no_class(value, type_, f"a float, not {_a(value)}", _number_hint(value, float))
    return float(value)


def _fp32(value: Any, type_: t.Type) -> float:
    number = _fp64(value, type_)
    if not math.isfinite(number):
        return number
    try:
        nearest: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        raise _no_fit(value, type_, "it is too large") from None
    # 0.1 is meant to be the fp32 nearest to 0.1; 0.1234567891 says more than an fp32 can hold.
    if nearest != number and float(f"{nearest:.9g}") != number and float(f"{nearest:.7g}") != number:
        raise _no_fit(value, type_, f"the nearest fp32 is {nearest!r}")
    return nearest


def _decimal(value: Any, type_: t.Type) -> decimal.Decimal:
    assert isinstance(type_, t.Decimal)
    if _is_int(value):
        value = decimal.Decimal(value)
    if not isinstance(value, decimal.Decimal):
        if isinstance(value, float) and not math.isfinite(value):
            raise _no_fit(value, type_, "a decimal holds no infinity and no NaN")
        hint = _number_hint(value, decimal.Decimal)
        remedy = "decimal-of-float" if isinstance(value, float) else None
        raise _no_class(value, type_, f"a decimal.Decimal or an int, not {_a(value)}", hint, remedy=remedy)
    if not value.is_finite():
        raise _no_fit(value, type_, "it is not a number")
    too_large = f"it has more than {type_.precision - type_.scale} digits before the point"
    if value.adjusted() >= 38:
        raise _no_fit(value, type_, too_large)
    with decimal.localcontext(prec=80):
        scaled = value.quantize(decimal.Decimal(1).scaleb(-type_.scale))
    if scaled != value:
        raise _no_fit(value, type_, f"it has more than {type_.scale} digits after the point")
    if len(scaled.as_tuple().digits) > type_.precision:
        raise _no_fit(value, type_, too_large)
    return scaled


def _text(value: Any, type_: t.Type) -> str:
    if not isinstance(value, str):
        raise _no_class(value, type_, f"a str, not {_a(value)}")
    if not is_unicode(value):
        raise _no_fit(value, type_, "it is no Unicode text (a lone surrogate)")
    if isinstance(type_, t.VarChar) and len(value) > type_.length:
        raise _no_fit(value, type_, f"it has {len(value)} characters")
    if isinstance(type_, t.FixedChar) and len(value) != type_.length:  # spec decision 53: characters are code points
        raise _no_fit(value, type_, f"it has {len(value)} characters, not {type_.length}")
    return str(value)


def _bytes(value: Any, type_: t.Type) -> bytes:
    if not isinstance(value, bytes | bytearray):
        raise _no_class(value, type_, f"bytes, not {_a(value)}")
    if isinstance(type_, t.FixedBinary) and len(value) != type_.length:
        raise _no_fit(value, type_, f"it has {len(value)} bytes, not {type_.length}")
    return bytes(value)


def _is_naive_iso(value: object, class_: type[dt.date]) -> bool:
    """Whether a value is a text that the `fromisoformat` of a class reads, without a time zone."""
    if not isinstance(value, str):
        return False
    try:
        found = class_.fromisoformat(value)
    except ValueError:
        return False
    return not isinstance(found, dt.datetime) or found.tzinfo is None


def _date(value: Any, type_: t.Type) -> dt.date:
    if type(value) is not dt.date:
        remedy = "date-of-text" if _is_naive_iso(value, dt.date) else None
        raise _no_class(value, type_, f"a datetime.date, not {_a(value)}", remedy=remedy)
    if value.year < 1000:
        raise _no_fit(value, type_, "a date lies in the years 1000 to 9999")
    return value


def _units(microseconds: int, precision: int, value: object, type_: t.Type) -> int:
    """Return a count of microseconds in units of 10**-precision seconds, which 64 bits must hold.

    The times of pandas are those of Python with nanoseconds beside, or no time at all.
    """
    nanoseconds = getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0)
    units, rest = divmod((microseconds * 1000 + nanoseconds) * 10**precision, 10**9)
    if rest:
        raise _no_fit(value, type_, f"it has more than {precision} digits after the second")
    if abs(units) >= 2**63:
        raise _no_fit(value, type_, f"64 bits do not hold that many units of 10**-{precision} seconds")
    return int(units)


_MICROSECOND = dt.timedelta(microseconds=1)


def _time(value: Any, type_: t.Type) -> int:
    assert isinstance(type_, t.PrecisionTime)
    if not isinstance(value, dt.time) or value.tzinfo:
        raise _no_class(value, type_, "a datetime.time without time zone")
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return _units(seconds * 1_000_000 + value.microsecond, type_.precision, value, type_)


def _timestamp(value: Any, type_: t.Type) -> int:
    assert isinstance(type_, t.PrecisionTimestamp | t.PrecisionTimestampTZ)
    zoned = isinstance(type_, t.PrecisionTimestampTZ)
    if not isinstance(value, dt.datetime) or (value.tzinfo is not None) is not zoned:
        remedy = "timestamp-of-text" if not zoned and _is_naive_iso(value, dt.datetime) else None
        what = f"a datetime.datetime {'with' if zoned else 'without'} time zone"
        raise _no_class(value, type_, what, remedy=remedy)
    if value != value:  # pandas' NaT
        raise _no_fit(value, type_, "it is no time")
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC if zoned else None)
    return _units((value - epoch) // _MICROSECOND, type_.precision, value, type_)


def _interval_day(value: Any, type_: t.Type) -> DaySeconds:
    assert isinstance(type_, t.IntervalDay | t.IntervalCompound)
    if isinstance(value, DaySeconds):
        if abs(value.subseconds) >= 10**type_.precision:
            raise _no_fit(
                value, type_, f"its subseconds make a second or more: they count units of 10**-{type_.precision}"
            )
        return value
    if not isinstance(value, dt.timedelta):
        raise _no_class(value, type_, f"a datetime.timedelta, not {_a(value)}")
    return DaySeconds(value.days, value.seconds, _units(value.microseconds, type_.precision, value, type_))


def _compound(value: Any, type_: t.Type) -> Compound:
    if not isinstance(value, Compound):
        raise _no_class(value, type_, f"a Compound, not {_a(value)}")
    return Compound(value.year_months, _interval_day(value.day_seconds, type_))


def _struct(value: Any, type_: t.Type) -> tuple[Literal, ...]:
    assert isinstance(type_, t.Struct)
    if isinstance(value, Mapping):
        names = type_.names or ()
        for name in value:
            if name not in names:
                hint = suggestion(str(name), names) if names else "its fields have no names: write a tuple"
                raise _no_fit(value, type_, f"it has no field {name!r}", hint)
        missing = [name for name in names if name not in value]
        if missing:
            raise _no_fit(value, type_, f"the field {missing[0]!r} is missing")
        value = tuple(value[name] for name in names)
    if not isinstance(value, list | tuple):
        raise _no_class(value, type_, f"a tuple or a dict, not {_a(value)}")
    if len(value) != len(type_.types):
        raise _no_fit(value, type_, f"it has {len(type_.types)} fields, not {len(value)}")
    return tuple(literal(item, inner) for item, inner in zip(value, type_.types, strict=True))


def _list(value: Any, type_: t.Type) -> tuple[Literal, ...]:
    assert isinstance(type_, t.List)
    if not isinstance(value, list | tuple):
        raise _no_class(value, type_, f"a list, not {_a(value)}")
    return tuple(literal(item, type_.element) for item in value)


def _map(value: Any, type_: t.Type) -> tuple[tuple[Literal, Literal], ...]:
    assert isinstance(type_, t.Map)
    if not isinstance(value, Mapping):
        raise _no_class(value, type_, f"a dict, not {_a(value)}")
    return tuple((literal(key, type_.key), literal(item, type_.value)) for key, item in value.items())


def _user_defined(value: Any, type_: t.Type) -> tuple[Literal, ...] | AnyMessage:
    message = pack_message(value)
    if message is not None:
        return message
    if isinstance(type_, t.UserDefined) and type_.urn == t.UNSIGNED_URN and _is_int(value):
        return (Literal(str(_unsigned(value, type_)), t.String()),)
    if not isinstance(value, tuple) or not all(isinstance(item, Literal) for item in value):
        takes = "a tuple of literals, one for each field of its structure"
        raise _no_class(value, type_, takes, remedy="fields-of-user-defined-type")
    return value


def _unsigned(value: Any, type_: t.UserDefined) -> int:
    """Return an integer of an unsigned type, whose structure is one text of its digits."""
    largest = 2 ** t.UNSIGNED_BITS[type_.name] - 1
    if not 0 <= value <= largest:
        raise _no_fit(value, type_, f"it takes integers from 0 to {largest}")
    return int(value)


CONVERTERS: dict[type[t.Type], Callable[[Any, t.Type], Any]] = {
    t.Boolean: _exactly(bool),
    t.I8: _integer,
    t.I16: _integer,
    t.I32: _integer,
    t.I64: _integer,
    t.FP32: _fp32,
    t.FP64: _fp64,
    t.String: _text,
    t.VarChar: _text,
    t.FixedChar: _text,
    t.Binary: _bytes,
    t.FixedBinary: _bytes,
    t.Decimal: _decimal,
    t.Date: _date,
    t.PrecisionTime: _time,
    t.PrecisionTimestamp: _timestamp,
    t.PrecisionTimestampTZ: _timestamp,
    t.IntervalYear: _exactly(YearMonths),
    t.IntervalDay: _interval_day,
    t.IntervalCompound: _compound,
    t.UUID: _exactly(uuid.UUID),
    t.Struct: _struct,
    t.List: _list,
    t.Map: _map,
    t.UserDefined: _user_defined,
}
