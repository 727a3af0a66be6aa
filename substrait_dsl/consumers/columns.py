"""Checks that a table has the columns that a plan declares, by the same rules as for tables of Spark."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import TYPE_CHECKING

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.arrow.exact import exact_table
from substrait_dsl.arrow.schemas import to_arrow, type_from_arrow
from substrait_dsl.errors import SchemaError, SubstraitDslError, quote, suggestion
from substrait_dsl.layouts import hint_as_declared

if TYPE_CHECKING:
    import pyarrow as pa

_CAST = "cast the column with pyarrow to the declared type, table.cast(schema), or declare the one that it has"


def actual_name(name: str, there: Collection[str]) -> str | None:
    """Return the name as a table spells it: exactly so, or the only one that differs in nothing but case."""
    if name in there:
        return name
    alike = [other for other in there if other.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def check_columns(
    found: pa.Schema, declared: NamedStruct, what: str, way_out: Callable[[], str] | None = None
) -> list[int]:
    """Return the positions in a table of the columns that are declared.

    Raises `SchemaError` with all columns that are declared and not there, there more than once, or of another type.
    `way_out` makes the hint about them where no name is nearly another.
    """
    positions, wrong, hints = [], [], []
    advised: str | None = None
    for field in declared:
        name = actual_name(field.name, found.names)
        if name is None:
            wrong.append(f'it has no column "{field.name}"')
            others = [other for other in found.names if actual_name(other, declared.names) is None]
            hints.append(suggestion(field.name, others))
            continue
        if found.names.count(name) > 1:
            wrong.append(f'it has {found.names.count(name)} columns "{name}"')
            continue
        position = found.get_field_index(name)
        if position in positions:
            wrong.append(f'it has one column "{name}", which is declared twice')
        positions.append(position)
        if not holds(found.field(position).type, field.type):
            wrong.append(f'column "{field.name}" is {found.field(position).type}, declared {field.type}')
            advised = _CAST
    if wrong:
        raise SchemaError(
            f"{what} does not fit the declared schema: {'; '.join(wrong)}; its columns are {quote(found.names)}",
            hint=next(filter(None, hints), None) or way_out or advised,
        )
    return positions


def fit_columns(table: pa.Table, declared: NamedStruct, what: str) -> pa.Table:
    """Return the declared columns of a table, in exactly their types. Raises as `check_columns` and `exact_table`."""
    import pyarrow as pa

    table = _with_known_types(table, declared)
    names = [actual_name(name, table.column_names) for name in declared.names]
    way_out = cache(lambda: hint_as_declared(table, declared, names, to_arrow(declared)))
    positions = check_columns(table.schema, declared, what, way_out)
    try:
        return exact_table([table.column(position) for position in positions], table.num_rows, declared)
    except SubstraitDslError as error:
        error.message = f"{what}: {error.message}"
        error.args = (error.message,)
        raise
    except pa.ArrowException as error:
        raise SchemaError(f"{what}: {error}") from error


def _with_known_types(table: pa.Table, declared: NamedStruct) -> pa.Table:
    """Return the table with decimals of pandas, which knows no type of them, in the types that are declared."""
    import pyarrow as pa

    if b"pandas" not in (table.schema.metadata or {}):
        return table
    for field in declared:
        name = actual_name(field.name, table.column_names)
        if name is None or table.column_names.count(name) > 1 or not isinstance(field.type, t.Decimal):
            continue
        position = table.schema.get_field_index(name)
        if pa.types.is_decimal(table.schema.field(position).type):
            decimal = pa.decimal128(field.type.precision, field.type.scale)
            try:
                table = table.set_column(position, name, table.column(position).cast(decimal))
            except pa.ArrowInvalid:  # it has more digits, which the check says
                continue
    return table


def holds(found: pa.DataType, declared: t.Type) -> bool:
    """Return whether a column of Arrow's holds the values of a type.

    Nullability and, if none are declared, names aside.
    """
    try:
        return _have_same_storage(type_from_arrow(found, True), declared)
    except SubstraitDslError:  # no type of the specification
        return False


def _have_same_storage(found: t.Type, declared: t.Type) -> bool:
    """Whether types are stored alike, part by part, and structs have the declared names."""
    match found, declared:
        case t.Struct(types=found_types), t.Struct(types=declared_types):
            return (
                len(found_types) == len(declared_types)
                and (declared.names is None or found.field_names == declared.names)
                and all(_have_same_storage(one, other) for one, other in zip(found_types, declared_types, strict=True))
            )
        case t.List(), t.List():
            return _have_same_storage(found.element, declared.element)
        case t.Map(), t.Map():
            return _have_same_storage(found.key, declared.key) and _have_same_storage(found.value, declared.value)
        case _:
            return _storage(found) == _storage(declared)


def _storage(type_: t.Type) -> object:
    """Return the key of a type without parts; columns of types with one key are interchangeable."""
    match type_:
        case t.String() | t.VarChar() | t.FixedChar():
            return t.String
        case t.Binary() | t.FixedBinary():
            return t.Binary
        case t.PrecisionTimestamp() | t.PrecisionTimestampTZ() | t.IntervalDay():
            return type(type_)  # of any digits: one that would be cut is an error
        case t.IntervalCompound() | t.IntervalYear():
            return t.IntervalCompound
        case _:
            return type_.as_required()
