"""Rows of an Arrow table as Python values: those that PySpark has for the same types."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import ExecutionError, UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa

Convert = Callable[[Any], Any]


class ResultRow(tuple[Any, ...]):
    """A row: a tuple whose values have names, ``row.total`` or ``row["total"]``, as a ``Row`` of PySpark."""

    __fields__: tuple[str, ...]

    @classmethod
    def of(cls, names: tuple[str, ...], values: Any) -> ResultRow:
        """Return a row of these names and values."""
        row = cls(values)
        row.__dict__["__fields__"] = names
        return row

    def asDict(self, recursive: bool = False) -> dict[str, Any]:  # noqa: N802  # as PySpark calls it
        """Return the values by their names; `recursive` also makes dicts of the structs inside."""

        def as_python(value: Any) -> Any:
            if isinstance(value, ResultRow):
                return value.asDict(True)
            if isinstance(value, list):
                return [as_python(item) for item in value]
            return {key: as_python(item) for key, item in value.items()} if isinstance(value, dict) else value

        values = map(as_python, self) if recursive else self
        return dict(zip(self.__fields__, values, strict=True))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return super().__getitem__(self._position(key, KeyError))
        return super().__getitem__(key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return super().__getitem__(self._position(name, AttributeError))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a row is immutable")

    def __contains__(self, name: object) -> bool:
        return name in self.__fields__

    def __reduce__(self) -> Any:
        return ResultRow.of, (self.__fields__, tuple(self))

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in zip(self.__fields__, self, strict=True))})"

    def _position(self, name: str, error: type[Exception]) -> int:
        try:
            return self.__fields__.index(name)
        except ValueError:
            raise error(name) from None


def require_values(schema: NamedStruct) -> None:
    """Raise `UnsupportedError` for a column whose values Python has no type for."""
    for field in schema:
        for type_ in t.types_in(field.type):
            if isinstance(type_, t.IntervalYear | t.IntervalCompound):
                raise UnsupportedError(
                    f'Python has no values of {type_}, the type of column "{field.name}"',
                    hint="to_arrow() has them, and show() prints them",
                )
            if isinstance(type_, t.Map) and any(isinstance(part, t.List | t.Map) for part in t.types_in(type_.key)):
                raise UnsupportedError(
                    f'Python has no maps whose keys are or hold lists, {type_}, the type of column "{field.name}"',
                    hint="to_arrow() has them",
                )


def python_rows(table: pa.Table, schema: NamedStruct, *, is_local: bool = True) -> list[ResultRow]:
    """Return the rows of a table of exactly a schema.

    Args:
        table: the table.
        schema: its schema.
        is_local: whether points in time are in the local time of this machine, as PySpark has them; else in UTC.

    Raises:
        ExecutionError: a date or a time is none of Python's.
    """
    names = schema.names
    try:
        columns = [
            _values(table.column(position).to_pylist(), field.type, is_local) for position, field in enumerate(schema)
        ]
    except (ValueError, OverflowError) as error:
        raise ExecutionError(
            f"the rows hold a date or a time that Python has not, outside of the years 1 to 9999 or with nanoseconds: "
            f"{error}",
            hint="filter such rows out, or cast the column to string",
        ) from error
    if not columns:
        return [ResultRow.of((), ())] * table.num_rows
    return [ResultRow.of(names, values) for values in zip(*columns, strict=True)]


def _values(values: list[Any], type_: t.Type, is_local: bool) -> list[Any]:
    convert = _converter(type_, is_local)
    return values if convert is None else [None if value is None else convert(value) for value in values]


def _converter(type_: t.Type, is_local: bool) -> Convert | None:
    """Return the function from Arrow's values to PySpark's; None if they are the same."""
    match type_:
        case t.UUID():
            return str
        case t.PrecisionTimestampTZ():
            return _local if is_local else _drop_time_zone
        case t.UserDefined(name="u64"):
            return Decimal
        case t.Struct(types=types):
            names = type_.field_names
            fields = list(zip(names, (_optional(part, is_local) for part in types), strict=True))
            return lambda value: ResultRow.of(names, (convert(value[name]) for name, convert in fields))
        case t.List(element=element):
            item = _converter(element, is_local)
            if item is None:
                return None
            each = _optional(element, is_local)
            return lambda value: list(map(each, value))
        case t.Map():
            key, item = _optional(type_.key, is_local), _optional(type_.value, is_local)
            return lambda value: {key(one): item(other) for one, other in value}
        case _:
            return None


def _optional(type_: t.Type, is_local: bool) -> Convert:
    """Return a converter of values that may be NULL."""
    found = _converter(type_, is_local)
    if found is None:
        return lambda value: value
    convert: Convert = found
    return lambda value: None if value is None else convert(value)


def _local(value: Any) -> Any:
    return value.astimezone().replace(tzinfo=None)


def _drop_time_zone(value: Any) -> Any:
    return value.replace(tzinfo=None)
