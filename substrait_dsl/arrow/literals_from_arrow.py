"""Values of an Arrow table as literals, exactly: what `values` writes, read back."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.intervals import Compound, DaySeconds, YearMonths
from substrait_dsl.algebra.expressions.literals import Literal, literal
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.arrow.exact import exact_table
from substrait_dsl.arrow.schemas import pyarrow_module
from substrait_dsl.errors import ExecutionError, InvalidArgumentError, LiteralError, error_context

if TYPE_CHECKING:
    import pyarrow as pa


def literal_columns(table: pa.Table, schema: NamedStruct) -> list[list[Literal]]:
    """Return the values of each column of a table as literals of the types of a schema, which is the table's own.

    Raises:
        InvalidArgumentError: a column that says that it has no NULL has one, or a value is none of its type.
        LiteralError: a value has no literal, such as a date before the year 1000.
        UnsupportedError: a type has no exact Arrow storage.
    """
    try:
        exact = exact_table(table.columns, table.num_rows, schema)
    except ExecutionError as error:
        raise InvalidArgumentError(error.message) from error
    columns = []
    for column, field in zip(exact.columns, schema, strict=True):
        with error_context(place="column", name=field.name):
            columns.append([each for chunk in column.chunks for each in _literals(chunk, field.type)])
    return columns


def _literals(array: pa.Array, type_: t.Type) -> list[Literal]:
    """Return the values of an array of the storage of a type."""
    if not array.null_count:
        return list(_present(array, type_))
    present, null = iter(_present(array.drop_null(), type_)), literal(None, type_)
    return [next(present) if is_valid else null for is_valid in array.is_valid().to_pylist()]


def _present(array: pa.Array, type_: t.Type) -> Iterable[Literal]:
    """Return the values of an array without NULLs."""
    pa = pyarrow_module()
    match type_:
        case t.Struct(types=types):
            parts = [_literals(array.field(position), inside) for position, inside in enumerate(types)]
            return [Literal(fields, type_) for fields in zip(*parts, strict=True)]
        case t.List(element=element):
            first, items = array.offsets[0].as_py(), _literals(array.flatten(), element)
            return [Literal(tuple(items[a - first : b - first]), type_) for a, b in _bounds(array)]
        case t.Map(key=key, value=value):
            first, last = array.offsets[0].as_py(), array.offsets[len(array)].as_py()
            keys = _literals(array.keys.slice(first, last - first), key)
            values = _literals(array.items.slice(first, last - first), value)
            pairs = list(zip(keys, values, strict=True))
            return [Literal(tuple(pairs[a - first : b - first]), type_) for a, b in _bounds(array)]
        case t.PrecisionTime() | t.PrecisionTimestamp() | t.PrecisionTimestampTZ() | t.IntervalDay():
            units = array.cast(pa.int32()) if pa.types.is_time32(array.type) else array
            values = units.cast(pa.int64()).to_pylist()
            if not isinstance(type_, t.IntervalDay):
                return [Literal(value, type_) for value in values]
            return [Literal(_day_seconds(value, type_.precision), type_) for value in values]
    convert = _CONVERSIONS.get(type(type_), _same)
    return [literal(convert(value), type_) for value in array.to_pylist()]


def _bounds(array: pa.Array) -> Sequence[tuple[int, int]]:
    """Return where the items of each list or map begin and end."""
    offsets = array.offsets.to_pylist()
    return list(itertools.pairwise(offsets))


def _day_seconds(units: int, precision: int) -> DaySeconds:
    seconds, subseconds = divmod(units, 10**precision)
    days, seconds = divmod(seconds, 86_400)
    return DaySeconds(days, seconds, subseconds)


def _year_months(value: Any) -> YearMonths:
    if value.days or value.nanoseconds:
        raise LiteralError(f"an interval_year has years and months alone, got {value}")
    sign = -1 if value.months < 0 else 1
    years, months = divmod(abs(value.months), 12)
    return YearMonths(sign * years, sign * months)


def _compound(value: Any) -> Compound:
    months = _year_months(type(value)((value.months, 0, 0)))
    seconds, nanoseconds = divmod(value.nanoseconds, 10**9)
    return Compound(months, DaySeconds(value.days, seconds, nanoseconds))


def _same(value: Any) -> Any:
    return value


_CONVERSIONS: dict[type[t.Type], Callable[[Any], Any]] = {t.IntervalYear: _year_months, t.IntervalCompound: _compound}
"""What makes the value of a literal of one of pyarrow's, by the types where it is not that."""
