"""Functions over Arrow arrays of a user's functions of arrays, values or Series, with a check of what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def over_arrays(
    body: Callable[..., Any],
    takes: str,
    result: pa.DataType,
    required: bool,
    title: str,
    *,
    aggregates: bool = False,
) -> Callable[..., pa.Array]:
    """Return a function over Arrow arrays of one length, whose result is checked.

    It refers to nothing of this package, so that it can be sent to machines that do not have it.

    Args:
        body: the user's function.
        takes: what that takes.
        result: the type of the result.
        required: whether a NULL in the result is an error.
        title: what errors call the function.
        aggregates: whether it is a function of one array of groups, each a list of records with a field for each
            argument, and the user's is called for each group.
    """
    as_array, as_series = _array_maker(result, title), _series_maker()
    body = _named_in_errors(body, title)
    of_group = _group_caller(body, takes)

    def of_values(arrays: Sequence[Any]) -> Any:
        return as_array([body(*row) for row in zip(*(array.to_pylist() for array in arrays), strict=True)])

    def of_series(arrays: Sequence[Any]) -> Any:
        import pandas as pd
        import pyarrow as pa
        from pyarrow import types as pt

        value = body(*as_series(arrays))
        if value is None:
            raise TypeError(f"{title} returns None, and not a Series")
        found = pa.Array.from_pandas(pd.Series(value))
        if isinstance(found, pa.ChunkedArray):
            found = found.combine_chunks()
        is_same_kind = (
            (pt.is_timestamp(found.type) and pt.is_timestamp(result) and found.type.tz is None)
            or (pt.is_decimal(found.type) and pt.is_decimal(result))
            or (pt.is_large_string(found.type) and pt.is_string(result))
            or (pt.is_floating(found.type) and pt.is_integer(result) and found.null_count > 0)
        )
        return found.cast(result) if is_same_kind else found

    def run(*arrays: Any) -> Any:
        import pyarrow as pa

        if aggregates:
            found = as_array(list(map(of_group, arrays[0])))
        else:
            found = {"values": of_values, "series": of_series}.get(takes, lambda each: body(*each))(arrays)
        if isinstance(found, pa.ChunkedArray):
            found = found.combine_chunks()
        if not isinstance(found, pa.Array):
            raise TypeError(f"{title} returns {type(found).__qualname__}, and not an Arrow array")
        if pa.types.is_null(found.type):
            found = found.cast(result)
        if found.type != result:
            raise TypeError(f"{title} returns {found.type}, and its extension declares {result}")
        if len(found) != len(arrays[0]):
            raise ValueError(f"{title} returns {len(found)} values for {len(arrays[0])} rows")
        if required and found.null_count:
            raise ValueError(f"{title} returns NULL, and its extension declares a required result")
        return found

    return run


# Each gives a function of its own, which is sent where it runs, as one of a module is not.


def _named_in_errors(body: Callable[..., Any], title: str) -> Callable[..., Any]:
    """Return a function whose errors name it."""

    def call(*arguments: Any) -> Any:
        try:
            return body(*arguments)
        except Exception as error:
            words = f"{type(error).__qualname__}: {error}".removesuffix(": ")
            raise RuntimeError(f"{title} raises {words}") from error

    return call


def _array_maker(result: pa.DataType, title: str) -> Callable[[Sequence[Any]], Any]:
    """Return a function that makes an array of values, whose types are checked."""

    def as_array(values: Sequence[Any]) -> Any:
        import datetime as dt
        import decimal

        import pyarrow as pa
        from pyarrow import types as pt

        tests: list[tuple[Callable[[Any], bool], Callable[[Any], bool]]] = [
            (pt.is_boolean, lambda value: isinstance(value, bool)),
            (pt.is_integer, lambda value: isinstance(value, int) and not isinstance(value, bool)),
            (pt.is_floating, lambda value: isinstance(value, float)),
            (pt.is_string, lambda value: isinstance(value, str)),
            (pt.is_binary, lambda value: isinstance(value, bytes)),
            (pt.is_date, lambda value: isinstance(value, dt.date) and not isinstance(value, dt.datetime)),
            (pt.is_timestamp, lambda value: isinstance(value, dt.datetime) and value.tzinfo is None),
            (pt.is_decimal, lambda value: isinstance(value, decimal.Decimal)),
        ]
        is_of_type = next(test for is_type, test in tests if is_type(result))
        for value in values:
            if value is not None and not is_of_type(value):
                found = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
                raise TypeError(f"{title} returns {value!r}, of the type {found}, and its extension declares {result}")
        try:
            return pa.array(values, result)
        except (OverflowError, pa.ArrowException) as error:  # a decimal of more digits, a time out of range
            raise ValueError(f"{title} returns a value that does not fit {result}: {error}") from None

    return as_array


def _series_maker() -> Callable[[Sequence[Any]], list[Any]]:
    """Return a function that makes Series of arrays."""

    def as_series(arrays: Sequence[Any]) -> list[Any]:
        import pandas as pd
        import pyarrow as pa

        exact = {pa.int8(): pd.Int8Dtype(), pa.int16(): pd.Int16Dtype(), pa.int32(): pd.Int32Dtype()}
        exact[pa.int64()] = pd.Int64Dtype()  # else integers beside NULL would become floats
        return [array.to_pandas(types_mapper=exact.get if array.null_count else None) for array in arrays]

    return as_series


def _group_caller(body: Callable[..., Any], takes: str) -> Callable[[Any], Any]:
    """Return a function that calls the user's with the rows of a group."""
    as_series = _series_maker()

    def of_group(group: Any) -> Any:
        columns = group.values.flatten()
        values = [column.to_pylist() for column in columns] if takes == "values" else columns
        value = body(*(as_series(values) if takes == "series" else values))
        if hasattr(value, "as_py"):  # of Arrow
            return value.as_py()
        if getattr(value, "shape", None) == ():  # of NumPy
            value = value.item()
        if takes != "series":
            return value
        import pandas as pd

        return None if pd.api.types.is_scalar(value) and pd.isna(value) else value

    return of_group
