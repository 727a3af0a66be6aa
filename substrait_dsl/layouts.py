"""Conversion of Arrow's layouts that engines do not take to those that Spark takes, without a change of any value.

Arrow has several layouts for the values of one type. Its own casts do not convert between all of them, least of all
inside other types, and make broken lists of list views (pyarrow 26). They are used only for types without parts.

Specification: https://arrow.apache.org/docs/format/Columnar.html.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from substrait_dsl.texts import constant, shorten

if TYPE_CHECKING:
    import pyarrow as pa

    from substrait_dsl.algebra.schema import NamedStruct


@cache
def _leaves() -> Mapping[pa.DataType, pa.DataType]:
    """By the types without types inside that Spark does not take, those that it takes, and that hold their values."""
    import pyarrow as pa

    return {
        pa.string_view(): pa.large_string(),
        pa.binary_view(): pa.large_binary(),
        pa.date64(): pa.date32(),  # the cast fails at milliseconds that are no complete day
        pa.time32("s"): pa.time64("us"),
        pa.time32("ms"): pa.time64("us"),
        pa.uuid(): pa.string(),
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20, 0),
    }


def hint_as_declared(table: pa.Table, declared: NamedStruct, names: Sequence[str | None], wanted: pa.Schema) -> str:
    """Return the hint for a frame of any library whose columns do not fit those that the plan declares.

    Args:
        table: the frame, as Arrow has it.
        declared: the columns that are declared.
        names: for each, how the table spells its name; None for one that it lacks.
        wanted: the declared types as Arrow's.

    Returns:
        What gives the frame the declared types; or which column no cast does that for, and why.
    """
    import pyarrow as pa

    if table.num_rows == 0:
        return f"rel.schema.to_arrow().empty_table() has the declared types, and no rows; {_REL}"
    if len({*names}) < len(names) or any(name is None or table.column_names.count(name) > 1 for name in names):
        return "give the frame one column of each declared name, or declare those that it has"
    for name, field, arrow_type in zip(names, declared, wanted.types, strict=True):
        column = table.column(name)
        if column.null_count and not field.type.nullable:
            count = f"{column.null_count} of {len(column)} rows"
            return (
                f'the required column "{name}" is NULL in {count}, as what is missing in pandas is: declare '
                f'it "{field.type.as_nullable()}", or leave these rows out'
            )
        try:
            column.cast(arrow_type)
        except pa.ArrowException as error:
            return (
                f'Arrow cannot cast the column "{name}" to {field.type}: {shorten(str(error))}; '
                "declare the type that it has, or change its values"
            )
    select = "select(rel.schema.names)"
    if list(names) != list(declared.names):
        select = f"select([{', '.join(constant(str(name)) for name in names)}]).rename_columns(rel.schema.names)"
    return f"pyarrow.table(frame).{select}.cast(rel.schema.to_arrow()) has the declared types; {_REL}"


_REL = "rel is what read_named gave"


def plain_type(arrow_type: pa.DataType) -> pa.DataType:
    """Return the type that holds the values of a type in a layout that Spark takes.

    The type itself, if it does already.
    """
    import pyarrow as pa

    if (leaf := _leaves().get(arrow_type)) is not None:
        return leaf
    match arrow_type:
        case pa.RunEndEncodedType() | pa.DictionaryType():
            return plain_type(arrow_type.value_type)
        case pa.StructType():
            plain: pa.DataType = pa.struct([_plain_field(field) for field in arrow_type])
        case pa.MapType():
            plain = pa.map_(_plain_field(arrow_type.key_field), _plain_field(arrow_type.item_field))
        case pa.ListViewType() | pa.LargeListViewType():
            return pa.large_list(_plain_field(arrow_type.value_field))
        case pa.ListType() | pa.LargeListType() | pa.FixedSizeListType():
            field = _plain_field(arrow_type.value_field)
            plain = arrow_type if field.equals(arrow_type.value_field) else pa.large_list(field)
        case _:
            return arrow_type
    return arrow_type if plain == arrow_type else plain


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(plain_type(field.type))


def plain_columns(table: pa.Table) -> pa.Table:
    """Return the table with each column in a layout that Spark takes.

    Raises:
        pyarrow.ArrowInvalid: a value of ``date64`` is no whole day.
    """
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        plain = _plain_field(field)
        if plain.type != field.type:
            try:
                chunks = [plain_array(chunk, plain.type) for chunk in table.column(position).chunks]
            except pa.ArrowInvalid as error:
                raise pa.ArrowInvalid(f'column "{field.name}": {error}') from error
            table = table.set_column(position, plain, pa.chunked_array(chunks, plain.type))
    return table


def plain_array(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return the values of an array as one of the type that `plain_type` gives for its own."""
    import pyarrow as pa
    from pyarrow import compute

    arrow_type = array.type
    if arrow_type == target:
        return array
    match arrow_type:
        case pa.UuidType():
            return pa.array([None if value is None else str(value) for value in array.to_pylist()], target)
        case pa.RunEndEncodedType():
            # Arrow decodes runs of a few types only, but numbers among them, and so those of the runs.
            numbers = pa.array(range(len(array.values)), pa.int64())
            runs = compute.run_end_decode(pa.RunEndEncodedArray.from_arrays(array.run_ends, numbers))
            return plain_array(array.values, target).take(runs.slice(array.offset, len(array)))
        case pa.DictionaryType():
            return plain_array(array.dictionary, target).take(array.indices)
        case pa.StructType():
            parts = [plain_array(array.field(n), target.field(n).type) for n in range(arrow_type.num_fields)]
            return pa.StructArray.from_arrays(parts, fields=list(target), mask=array.is_null())
        case pa.MapType():
            first = array.offsets[0].as_py()
            keys = plain_array(array.keys.slice(first), target.key_type)
            values = plain_array(array.items.slice(first), target.item_type)
            offsets = compute.subtract(array.offsets, array.offsets[0])
            return pa.MapArray.from_arrays(offsets, keys, values, type=target, mask=array.is_null())
        case pa.ListType() | pa.LargeListType() | pa.FixedSizeListType() | pa.ListViewType() | pa.LargeListViewType():
            lengths = compute.fill_null(compute.list_value_length(array), 0).cast(pa.int64())
            ends = pa.concat_arrays([pa.array([0], pa.int64()), compute.cumulative_sum(lengths)])
            values = plain_array(array.flatten(), target.value_type)
            return pa.LargeListArray.from_arrays(ends, values, type=target, mask=array.is_null())
    return array.cast(target)
