"""Casts as Spark SQL text, and checks of lengths, which Spark's strings do not have.

Specification: ``Expression.Cast`` in ``algebra.proto``. It names the two behaviours on failure and leaves the
conversions themselves to engines: here they are those of Spark in ANSI mode, where a value either converts or fails,
less the ones whose result would depend on a setting or drop digits unseen. Between a timestamp with a time zone and
anything local, the zone is the session's, which `execute` requires to be UTC.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.conditionals import FailureBehavior
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import failing, struct_to_sql, text_to_sql
from substrait_dsl.spark.expressions.named_values import with_name
from substrait_dsl.spark.expressions.types import MICROSECONDS, UNSIGNED, spark_sql_type, storage_type
from substrait_dsl.spark.session.engines import ENGINE, current_engine

if TYPE_CHECKING:
    from substrait_dsl.spark.session.engines import Castable

_NUMBERS: tuple[type[t.Type], ...] = (*t.INTEGER_TYPES, t.FP32, t.FP64, t.Decimal)
_TEXTS: tuple[type[t.Type], ...] = (t.String, t.VarChar, t.FixedChar)
_BYTES: tuple[type[t.Type], ...] = (t.Binary, t.FixedBinary)
_MOMENTS: tuple[type[t.Type], ...] = (t.Date, t.PrecisionTimestamp, t.PrecisionTimestampTZ)

_CASTS: tuple[tuple[tuple[type[t.Type], ...], tuple[type[t.Type], ...]], ...] = (
    ((t.Boolean,), (t.Boolean, *_NUMBERS, *_TEXTS)),
    (_NUMBERS, (t.Boolean, *_NUMBERS, *_TEXTS)),
    (_TEXTS, (t.Boolean, *_NUMBERS, *_TEXTS, *_BYTES, *_MOMENTS)),
    (_BYTES, (*_BYTES, *_TEXTS)),
    (_MOMENTS, (*_MOMENTS, *_TEXTS)),
    ((t.PrecisionTime,), (t.PrecisionTime, *_TEXTS)),
    ((t.IntervalDay,), (t.IntervalDay,)),
    ((t.UUID,), _TEXTS),
)
"""From which types to which others Spark converts as a reader of the plan would expect."""

_FLOATS = (t.FP32, t.FP64)
_LOSSLESS: dict[type[t.Type], tuple[type[t.Type], ...]] = {
    t.I8: (t.I16, t.I32, t.I64, *_FLOATS, t.String),
    t.I16: (t.I32, t.I64, *_FLOATS, t.String),
    t.I32: (t.I64, *_FLOATS, t.String),
    t.I64: (*_FLOATS, t.String),
    t.FP32: (*_FLOATS, t.String),
    t.FP64: (*_FLOATS, t.String),
    t.Decimal: (*_FLOATS, t.String),
    t.Boolean: (t.String,),
    t.Date: (t.String,),
}
"""The types that every value of a type can be cast to."""

_LENGTHS: dict[type[t.Type], str] = {
    t.VarChar: "char_length({}) > {}",
    t.FixedChar: "char_length({}) != {}",  # spec decision 53: characters are code points
    t.FixedBinary: "octet_length({}) != {}",
}
"""When a value does not fit a type with a length."""

_LONG_DIGITS = 18
"""Up to how many digits a decimal is a 64-bit integer to Spark."""

_DAY = r"^\s*[+-]?\d{4,7}(-\d{1,2}(-\d{1,2}"
_TIME = r"([ T]\d{1,2}(:\d{1,2}(:\d{1,2}(\.\d{0,6})?)?)?%s)?)?)?\s*$"
_ZONE = r"(\s*[A-Za-z+-].*)?"
_SPELLINGS: dict[type[t.Type], str] = {
    t.Date: _DAY + _TIME % _ZONE,
    t.PrecisionTimestamp: _DAY + _TIME % "",
    t.PrecisionTimestampTZ: _DAY + _TIME % _ZONE,
}
"""The accepted spellings of dates and timestamps. Spark accepts more: a time without a date means today, as do some
words; it ignores what follows a date, truncates after the sixth digit, and drops a time zone from a timestamp without
one."""
_DAY_ALONE = _DAY + r")?)?\s*$"

_TEMPORAL = t.PrecisionTime | t.PrecisionTimestamp | t.PrecisionTimestampTZ | t.IntervalDay

NO_TIME = "Sail cannot cast a text with such a time to date"
"""The message for a text whose time of day Sail may read otherwise than Spark."""


def cast_to_sql(
    text: str, source: t.Type, target: t.Type, on_failure: FailureBehavior, castable: Castable | None = None
) -> str:
    """Write a cast.

    Args:
        text: the SQL text of the value.
        source: its type.
        target: the type to convert to.
        on_failure: what to do with a value that does not convert: raise an error at run time, or give NULL.
        castable: returns what is cast in place of the value; None: as the engine says of all values.

    Returns:
        SQL text whose Spark type is that of `target`.

    Raises:
        UnsupportedError: Spark does not convert these types exactly.
    """
    _require_castable(source, target)
    if (
        on_failure == "return_null"
        and isinstance(source, t.List | t.Map | t.Struct)
        and _any_part(_may_fail, source, target)
    ):
        raise UnsupportedError(
            f"{ENGINE} cannot cast {source} to {target} exactly: a part that fails would be NULL, not the whole",
            hint="cast the parts by themselves",
        )
    text = _convert(text, source, target, on_failure, castable=castable)
    source = storage_type(source)
    if isinstance(source, _BYTES) and isinstance(target, _TEXTS):  # which Spark takes as they are
        text = f"{'validate_utf8' if on_failure == 'throw' else 'try_validate_utf8'}({text})"
    if type(target) not in _LENGTHS or _fits_already(source, target):
        return text
    failure = "NULL" if on_failure == "return_null" else failing(f"a value does not fit {target.as_required()}")
    return _check_length(text, target, failure)


def _misfit(text: str, target: t.Type) -> str:
    misfit = text_to_sql(f" does not fit {target.as_required()}")
    return f"raise_error(concat('the value ', CAST({text} AS STRING), {misfit}))"


def _convert(
    text: str,
    source: t.Type,
    target: t.Type,
    on_failure: FailureBehavior,
    depth: int = 0,
    castable: Castable | None = None,
) -> str:
    """Cast a value to the Spark type of another type, and handle the values that Spark's own casts get wrong."""
    if source.matches(target):
        return text
    text, source = (castable or current_engine().castable)(text, source, target)
    throws, sql_type = on_failure == "throw", spark_sql_type(target)
    cast = "CAST" if throws else "TRY_CAST"
    converted = text if spark_sql_type(source) == sql_type else f"{cast}({text} AS {sql_type})"
    if not _differs(source, target) or (isinstance(target, t.Decimal) and not throws):
        return converted  # Spark's errors with decimals are NULLs that should be errors
    source = storage_type(source)
    if isinstance(target, t.UserDefined) or isinstance(source, t.List | t.Map | t.Struct):
        return _convert_parts(text, source, target, on_failure, depth)
    if len(text) <= _LONGEST_REPEATED:
        return _checked(text, source, target, throws, sql_type)
    return with_name(text, "v", _checked("v", source, target, throws, sql_type))


_LONGEST_REPEATED = 200
"""The longest text of a value that stands in a check and in the cast: of nested casts each would repeat the inner."""


def _checked(text: str, source: t.Type, target: t.Type, throws: bool, sql_type: str) -> str:
    """Write a cast with a check for the values that Spark's own gets wrong."""
    cast = "CAST" if throws else "TRY_CAST"
    converted = text if spark_sql_type(source) == sql_type else f"{cast}({text} AS {sql_type})"
    match source, target:
        case t.String() | t.VarChar() | t.FixedChar(), _:
            is_written = _matches_spelling(text, target)
            if not throws:
                return f"{cast}(if({is_written}, {text}, NULL) AS {sql_type})"
            return f"(CASE WHEN NOT {is_written} THEN {_misfit(text, target)} ELSE {converted} END)"
        case t.Decimal(), _:
            return f"{cast}({cast}({text} AS BIGINT) AS {sql_type})"
        case _, t.I64():  # of floats; 2^63 is the one value out of range that Spark takes for the largest in it
            limit = "9223372036854775808D"
            if not throws:
                return f"{cast}(nullif({text}, {limit}) AS {sql_type})"
            return f"(CASE WHEN {text} = {limit} THEN {_misfit(text, target)} ELSE {converted} END)"
        case _:  # floats to decimals, where Spark gives NULL for NaN and infinity
            return f"(CASE WHEN NOT abs({text}) < double('infinity') THEN {_misfit(text, target)} ELSE {converted} END)"


def _differs(source: t.Type, target: t.Type) -> bool:
    """Whether a cast, or that of a part of the value, is not simply the engine's."""
    if _any_part(_spark_errs, source, target):
        return True
    return isinstance(source, t.List | t.Map | t.Struct) and _any_part(_is_rewritten, source, target)


def _is_rewritten(source: t.Type, target: t.Type) -> bool:
    """Whether the engine is given another value than the one that is cast."""
    return current_engine().castable("", source, target) != ("", source)


def _convert_parts(text: str, source: t.Type, target: t.Type, on_failure: FailureBehavior, depth: int) -> str:
    """Cast a nested value part by part, and an unsigned integer by the type that stores it."""

    def convert_part(value: str, old: t.Type, new: t.Type) -> str:
        return _convert(value, old, new, on_failure, depth + 1)

    entry = f"e{depth}"
    match source, target:
        case _, t.UserDefined():
            return _check_range(convert_part(text, source, storage_type(target)), target, on_failure)
        case t.List(), t.List():
            return f"transform({text}, {entry} -> {convert_part(entry, source.element, target.element)})"
        case t.Map(), t.Map():
            key = convert_part(f"{entry}.key", source.key, target.key)
            value = convert_part(f"{entry}.value", source.value, target.value)
            return f"map_from_entries(transform(map_entries({text}), {entry} -> {struct_to_sql([key, value])}))"
        case t.Struct(), t.Struct():
            pairs = enumerate(zip(source.types, target.types, strict=True))
            fields = struct_to_sql([convert_part(f"{text}.f{number}", old, new) for number, (old, new) in pairs])
            return f"if({text} IS NULL, NULL, {fields})"
        case _:
            raise AssertionError(f"{source} is not castable to {target}")


def _check_range(text: str, target: t.UserDefined, on_failure: FailureBehavior) -> str:
    """Check that an unsigned integer, stored in a wider signed type, is in its range."""
    failure = "NULL" if on_failure == "return_null" else _misfit("v", target)
    largest = UNSIGNED[target.as_required()].largest
    return with_name(text, "v", f"if(v NOT BETWEEN 0 AND {largest}, {failure}, v)")


def _matches_spelling(text: str, target: t.Type) -> str:
    """Test whether a text is an accepted spelling of a type of dates or timestamps."""
    written = f"{text} RLIKE {text_to_sql(_SPELLINGS[type(target)])}"
    if not isinstance(target, t.Date):
        return written
    # Spark looks at nothing that follows a day; it may be a time of day, with a zone, and nothing else.
    timestamp = f"TRY_CAST({text} AS TIMESTAMP_LTZ) IS NOT NULL"
    return f"({text} RLIKE {text_to_sql(_DAY_ALONE)} OR ({written} AND {timestamp}))"


def _any_part(is_so: Callable[[t.Type, t.Type], bool], source: t.Type, target: t.Type) -> bool:
    """Whether a predicate holds for the cast of a value, or of anything nested in it."""
    match source, target:
        case t.List(), t.List():
            return _any_part(is_so, source.element, target.element)
        case t.Map(), t.Map():
            parts = ((source.key, target.key), (source.value, target.value))
            return is_so(source, target) or any(_any_part(is_so, old, new) for old, new in parts)
        case t.Struct(), t.Struct():
            return any(_any_part(is_so, old, new) for old, new in zip(source.types, target.types, strict=True))
        case _:
            return is_so(source, target)


def _may_fail(source: t.Type, target: t.Type) -> bool:
    """Whether some value does not convert."""
    if isinstance(source, t.Map) and isinstance(target, t.Map):  # two keys may be one float
        return isinstance(target.key, _FLOATS) and not isinstance(source.key, t.FP32 | type(target.key))
    if (unsigned := UNSIGNED.get(target.as_required())) is not None:
        most = UNSIGNED.get(source.as_required())
        return not isinstance(source, t.Boolean) and (most is None or most.largest > unsigned.largest)
    source = storage_type(source)
    lossless = _LOSSLESS.get(type(source), ())
    return not (isinstance(target, lossless) or spark_sql_type(source) == spark_sql_type(target))


def _spark_errs(source: t.Type, target: t.Type) -> bool:
    """Whether Spark's cast gives wrong results for some values of a type."""
    match storage_type(source), target:
        case _, t.UserDefined():  # of which Spark does not know the range
            return _may_fail(source, target)
        case t.String() | t.VarChar() | t.FixedChar(), _:
            return type(target) in _SPELLINGS
        case t.Decimal(precision=digits), t.I8() | t.I16() | t.I32():
            return bool(digits > _LONG_DIGITS)  # which pass through a float
        case t.FP32() | t.FP64(), t.I64() | t.Decimal():
            return True
        case t.Map(key=old), t.Map(key=new):  # where two keys become one, which is an error, it has both
            return spark_sql_type(old) != spark_sql_type(new)
        case _:
            return False


def fitting(text: str, type_: t.Type) -> str:
    """Write a check that a string fits the length of its type; one that does not is an error at run time."""
    return _check_length(text, type_, failing(f"a result does not fit {type_.as_required()}"))


def _check_length(text: str, type_: t.Type, failure: str) -> str:
    misfit = _LENGTHS[type(type_)].format("v", *type_.parameters)
    return with_name(text, "v", f"if({misfit}, {failure}, v)")


def _fits_already(source: t.Type, target: t.Type) -> bool:
    match source, target:
        case t.VarChar() | t.FixedChar(), t.VarChar():
            return bool(source.length <= target.length)
        case t.UUID(), t.VarChar():
            return bool(target.length >= 36)
        case _:
            return type(source) is type(target) and source.parameters == target.parameters


def _require_castable(source: t.Type, target: t.Type) -> None:
    if source.matches(target):
        return
    match source, target:
        case t.List(), t.List():
            _require_castable_inside(source.element, target.element)
        case t.Map(), t.Map():
            _require_castable_inside(source.key, target.key)
            _require_castable_inside(source.value, target.value)
        case t.Struct(), t.Struct() if len(source.types) == len(target.types):
            for old, new in zip(source.types, target.types, strict=True):
                _require_castable_inside(old, new)
        case _:
            old, new = storage_type(source), storage_type(target)
            if isinstance(target, t.UserDefined) and isinstance(new, t.Decimal):
                _require_integral(source, old, target)
            if not any(isinstance(old, olds) and isinstance(new, news) for olds, news in _CASTS):
                raise UnsupportedError(f"{ENGINE} cannot cast {source} to {target} exactly", hint=_hint(source, target))
            _require_precision(source, target)


def _require_integral(source: t.Type, stored: t.Type, target: t.Type) -> None:
    """Refuse a cast of fractions to an unsigned integer: Spark rounds them to a decimal, but truncates to integers."""
    if isinstance(stored, (*_FLOATS, *_TEXTS)) or (isinstance(stored, t.Decimal) and stored.scale):
        raise UnsupportedError(
            f"{ENGINE} cannot cast {source} to {target} exactly: it would round it, and cut it for smaller integers",
            hint=f"cast it to {t.I64()}, or to {t.Decimal(20, 0)}, which is rounded, and that to {target}",
        )


def _hint(source: t.Type, target: t.Type) -> str | None:
    """Return a hint for a cast of seconds to a timestamp, which is no cast."""
    if isinstance(source, t.I32 | t.I64) and isinstance(target, t.PrecisionTimestamp):
        return "of seconds write lit(datetime.datetime(1970, 1, 1)) + x * datetime.timedelta(seconds=1)"
    return None


def _require_castable_inside(source: t.Type, target: t.Type) -> None:
    _require_castable(source, target)
    if type(target) in _LENGTHS and not _fits_already(source, target):
        raise UnsupportedError(f"{ENGINE} cannot check lengths when it casts {source} to {target} inside a value")
    if source.nullable and not target.nullable:
        raise UnsupportedError(f"{ENGINE} cannot cast {source} to {target} inside a value: a NULL would have no place")


def _require_precision(source: t.Type, target: t.Type) -> None:
    digits: int = source.precision if isinstance(source, _TEMPORAL) else MICROSECONDS * isinstance(source, _TEXTS)
    if isinstance(target, _TEMPORAL) and target.precision < digits:
        raise UnsupportedError(
            f"{ENGINE} cannot cast {source} to {target} exactly: it would keep {digits} digits after the second",
            hint=f"cast it to {type(target)(MICROSECONDS)}",
        )
