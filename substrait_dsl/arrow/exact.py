"""Rows in exactly the types of a schema: columns that engines return in another type or under another name.

No value is changed. Engines have fewer types than Arrow: they return uuids as texts, unsigned integers as larger ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from substrait_dsl.arrow.schemas import pyarrow_module, to_arrow
from substrait_dsl.errors import ExecutionError
from substrait_dsl.layouts import plain_array, plain_type

if TYPE_CHECKING:
    import pyarrow as pa

    from substrait_dsl.algebra.schema import NamedStruct


def exact_table(columns: Sequence[pa.ChunkedArray], rows: int, schema: NamedStruct) -> pa.Table:
    """Make a table of exactly a schema.

    Args:
        columns: its columns, in order; they may have other names, and types that hold the same values.
        rows: how many rows there are, which no column tells if there are none.
        schema: the names, the types, and what may be NULL.

    Raises:
        ExecutionError: a required column, or a required part of one, is NULL, or a value is none of its type.
        UnsupportedError: a type has no exact Arrow storage.
    """
    pa = pyarrow_module()
    target = to_arrow(schema)
    if not columns:
        return pa.table({"rows": pa.nulls(rows)}).select([])
    converted = []
    for column, field in zip(columns, target, strict=True):
        chunks = [_field(chunk, field, f'column "{field.name}"') for chunk in column.chunks]
        converted.append(pa.chunked_array(chunks, field.type))
    return pa.Table.from_arrays(converted, schema=target)


def _field(array: pa.Array, field: pa.Field, what: str) -> pa.Array:
    if not field.nullable and array.null_count:
        raise ExecutionError(f"{what} is required, but it is NULL")
    pa = pyarrow_module()
    try:
        return _values(array, field.type, what)
    except (pa.ArrowException, ValueError, OverflowError) as error:  # a text may be no uuid
        raise ExecutionError(f"{what} holds a value that is no {field.type}: {error}") from error


def _values(array: pa.Array, wanted: pa.DataType, what: str) -> pa.Array:
    """Return the values of an array as those of another type that holds them."""
    pa = pyarrow_module()
    if array.type != wanted:
        array = plain_array(array, plain_type(array.type))
    if not pa.types.is_nested(wanted):
        return _leaf(array, wanted)
    from pyarrow import compute

    mask = array.is_null()
    match wanted:
        case pa.StructType():
            present = array.filter(array.is_valid()) if array.null_count else array
            for number, field in enumerate(wanted):  # what is inside of NULL is nothing
                _require(present.field(number), field, f"field {number} of {what}")
            optional = [field.with_nullable(True) for field in wanted]
            parts = [
                _field(array.field(number), field, f"field {number} of {what}") for number, field in enumerate(optional)
            ]
            return pa.StructArray.from_arrays(parts, fields=list(wanted), mask=mask)
        case pa.MapType():
            first = array.offsets[0].as_py()
            last = array.offsets[len(array)].as_py()
            keys = _field(array.keys.slice(first, last - first), wanted.key_field, f"a key of {what}")
            items = _field(array.items.slice(first, last - first), wanted.item_field, f"a value of {what}")
            offsets = compute.subtract(array.offsets, array.offsets[0])
            return pa.MapArray.from_arrays(offsets, keys, items, type=wanted, mask=mask)
        case _:
            lengths = compute.fill_null(compute.list_value_length(array), 0).cast(pa.int64())
            ends = pa.concat_arrays([pa.array([0], pa.int64()), compute.cumulative_sum(lengths)])
            items = _field(array.flatten(), wanted.value_field, f"an element of {what}")
            return pa.ListArray.from_arrays(ends.cast(pa.int32()), items, type=wanted, mask=mask)


def _require(array: pa.Array, field: pa.Field, what: str) -> None:
    if not field.nullable and array.null_count:
        raise ExecutionError(f"{what} is required, but it is NULL")


def _leaf(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    pa = pyarrow_module()
    if array.type == wanted:
        return array
    if wanted == pa.uuid():
        if array.type == pa.binary(16):
            return pa.ExtensionArray.from_storage(wanted, array)
        values = (None if value is None else UUID(value).bytes for value in array.to_pylist())
        return pa.ExtensionArray.from_storage(wanted, pa.array(values, pa.binary(16)))
    if pa.types.is_decimal(array.type) and pa.types.is_integer(wanted):
        return pa.array((None if value is None else int(value) for value in array.to_pylist()), wanted)
    return array.cast(wanted)
