"""The output of a plan: the root's names, and exactly the derived types and nullability.

Inside a plan columns have generated names, fields of structs are called by position, and Spark derives a nullability of
its own, which is usually wider.
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.algebra.expressions.intervals import DaySeconds, YearMonths
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.spark.expressions.literals import literal_to_sql, struct_to_sql
from substrait_dsl.spark.expressions.null_checks import null_error
from substrait_dsl.spark.expressions.types import spark_sql_type, to_spark, type_to_spark
from substrait_dsl.spark.relations.frames import FrameTable
from substrait_dsl.spark.relations.tables import PLAIN_NAME, Item, Rows, items
from substrait_dsl.spark.session.connect import functions_of
from substrait_dsl.spark.session.engines import current_engine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, MapType, StructType

    from substrait_dsl.algebra.plan import Root


def output(rows: Rows, root: Root) -> DataFrame:
    """Return the rows of a root under its names and in its types."""
    table = rows.table
    assert isinstance(table, FrameTable)
    functions = functions_of(table.execution.spark)
    names = iter(root.names)
    schema = NamedStruct(tuple(Field(next(names), _rename_fields(type_, names)) for type_ in root.input.schema.types))
    found = {field.name: field for field in table.filtered.schema.fields}
    exact = [
        _exact(column, found[column].dataType, found[column].nullable, field.type, f'column "{field.name}"')
        for column, field in zip(rows.columns, schema, strict=True)
    ]
    if not exact and not table.filtered.columns:
        return table.filtered
    has_structs = any("STRUCT<" in spark_sql_type(field.type) for field in schema)
    if not has_structs and not table.keys_to_restore and all(map(PLAIN_NAME.fullmatch, schema.names)):
        select_items = [Item(text, (f"`{name}`",)) for text, name in zip(exact, schema.names, strict=True)]
        return table.select(select_items).frame
    fresh = table.execution.names(len(schema))
    frame = _select_in_order(table, [Item(text, (name,)) for text, name in zip(exact, fresh, strict=True)])
    if has_structs and current_engine().has_exact_casts:  # a cast is by position, and names the fields
        wanted = to_spark(schema).fields
        frame = frame.select(
            *(functions.col(name).cast(field.dataType).alias(name) for name, field in zip(fresh, wanted, strict=True))
        )
    return frame.toDF(*schema.names)


def _select_in_order(table: FrameTable, select_items: Sequence[Item]) -> DataFrame:
    """Select expressions under names of one column each, and sort their rows again where the order may be lost."""
    if not table.keys_to_restore:
        return table.select(select_items).frame
    computed = table.select([*select_items, *items(table.order)])
    return computed.sort(table.keys).select(items(name for item in select_items for name in item.names)).frame


def is_plain(root: Root) -> bool:
    """Whether no column of a root is nested, so that its types need not be compared with Spark's."""
    return all(map(PLAIN_NAME.fullmatch, root.names)) and not any(
        isinstance(type_, t.Struct | t.List | t.Map) for type_ in root.input.schema.types
    )


def plain_items(columns: Sequence[str], root: Root) -> list[Item]:
    """Return the select list of a plain root; the optimizer removes guards that Spark's nullability makes redundant."""
    return [
        Item(guard_nullability(column, None, type_, f'column "{name}"'), (f"`{name}`",))
        for column, type_, name in zip(columns, root.input.schema.types, root.names, strict=True)
    ]


def _rename_fields(type_: t.Type, names: Iterator[str]) -> t.Type:
    """Return a type whose fields of structs have the next names, depth first."""
    match type_:
        case t.Struct(types=types):
            inside = [(next(names), _rename_fields(inner, names)) for inner in types]
            return attrs.evolve(
                type_, types=tuple(inner for _, inner in inside), names=tuple(name for name, _ in inside)
            )
        case t.List(element=element):
            return attrs.evolve(type_, element=_rename_fields(element, names))
        case t.Map(key=key, value=value):
            return attrs.evolve(type_, key=_rename_fields(key, names), value=_rename_fields(value, names))
        case _:
            return type_


def _exact(text: str, found: DataType, nullable: bool | None, wanted: t.Type, what: str) -> str:
    """Write a value with exactly the wanted type and nullability; return `text` itself if it has them.

    A NULL in a required value is an error when the value is computed.
    """
    inside = _exact_inside(text, found, wanted, what)
    if inside != text and nullable is not False:
        inside = f"if({text} IS NULL, NULL, {inside})"
    return guard_nullability(inside, nullable, wanted, what)


def guard_nullability(text: str, nullable: bool | None, wanted: t.Type, what: str) -> str:
    """Write a value with the wanted nullability; `nullable` is what Spark derives (None: unknown)."""
    if nullable is not False and not wanted.nullable:
        # The last argument is never reached; because of it Spark derives that the result is required.
        return current_engine().coalesce([text, null_error(what), _any_value(wanted)], wanted)
    if wanted.nullable and nullable is not True:
        return f"if(true, {text}, NULL)"  # which Spark takes for nullable, and computes as if it were not there
    return text


def _exact_inside(text: str, found: DataType, wanted: t.Type, what: str) -> str:
    """Write a value with the wanted type, and the wanted nullability of its nested parts."""
    from pyspark.sql import types as spark

    match found, wanted:
        case spark.StructType(), t.Struct():
            return _exact_struct(text, found, wanted, what)
        case spark.ArrayType(elementType=element, containsNull=nullable), t.List(element=type_):
            exact_item = _exact("e", element, nullable, type_, f"an element of {what}")
            return text if exact_item == "e" else f"transform({text}, e -> {exact_item})"
        case spark.MapType(), t.Map():
            return _exact_map(text, found, wanted, what)
        case _:
            return text if found == type_to_spark(wanted) else f"CAST({text} AS {spark_sql_type(wanted)})"


def _exact_struct(text: str, found: StructType, wanted: t.Struct, what: str) -> str:
    """Write a struct with the wanted types and nullability of its fields."""
    parts = [f"{text}.f{number}" for number in range(len(wanted.types))]

    def exact(nullable: Sequence[bool | None]) -> list[str]:
        return [
            _exact(part, field.dataType, null, type_, f"field {number} of {what}")
            for number, (part, field, null, type_) in enumerate(
                zip(parts, found.fields, nullable, wanted.types, strict=True)
            )
        ]

    is_named = current_engine().has_exact_casts or [field.name for field in found.fields] == list(wanted.names or ())
    if is_named and exact([field.nullable for field in found.fields]) == parts:
        return text
    # Taken out of a struct, a field may be NULL to Spark because the struct may be.
    return _struct(exact([True if field.nullable else None for field in found.fields]), wanted)


def _exact_map(text: str, found: MapType, wanted: t.Map, what: str) -> str:
    """Write a map with the wanted types and nullability of its keys and values."""
    has_lambdas = current_engine().has_map_lambdas
    names = ("k", "v") if has_lambdas else ("p.key", "p.value")
    exact_key = _exact(names[0], found.keyType, False, wanted.key.as_required(), f"a key of {what}")
    exact_item = _exact(names[1], found.valueType, found.valueContainsNull, wanted.value, f"a value of {what}")
    if (exact_key, exact_item) == names:
        return text
    if not has_lambdas:  # pairs, as values alone may be nullable to the engine, inside of structs, too
        arrays = (f"transform(map_entries({text}), p -> {part})" for part in (exact_key, exact_item))
        rebuilt = f"map_from_arrays({', '.join(arrays)})"
        return rebuilt if wanted.nullable else guard_nullability(rebuilt, None, wanted, what)
    rebuilt = text if exact_key == "k" else f"transform_keys({text}, (k, v) -> {exact_key})"
    return rebuilt if exact_item == "v" else f"transform_values({rebuilt}, (k, v) -> {exact_item})"


def _struct(fields: Sequence[str], type_: t.Struct) -> str:
    """Write a struct; with the field names of its type if no cast will give it these."""
    if current_engine().has_exact_casts or type_.names is None:
        return struct_to_sql(fields)
    names = ("`" + name.replace("`", "``") + "`" for name in type_.names)
    named = (f"{text} AS {name}" for text, name in zip(fields, names, strict=True))
    return f"struct({', '.join(named)})"  # which, unlike named_struct, preserves nullability


def _any_value(type_: t.Type) -> str:
    """Some required value of a type, without a NULL in required parts."""
    match type_:
        case t.Struct(types=types):
            return _struct([_any_value(inner) for inner in types], type_)
        case t.List(element=element):
            return f"array({_any_value(element)})"
        case t.Map(key=key, value=value):
            return f"map({_any_value(key)}, {_any_value(value)})"
        case t.Decimal(scale=scale):  # with all its digits: a cast from fewer could overflow, and so be NULL
            return literal_to_sql(Literal(decimal.Decimal(0).scaleb(-scale), type_.as_required()))
        case t.UserDefined():
            return f"CAST(0 AS {spark_sql_type(type_)})"
        case _:
            return literal_to_sql(Literal(_SOME[type(type_)], type_.as_required()))


_SOME: dict[type[t.Type], Any] = {
    t.Boolean: False,
    t.I8: 0,
    t.I16: 0,
    t.I32: 0,
    t.I64: 0,
    t.FP32: 0.0,
    t.FP64: 0.0,
    t.String: "",
    t.VarChar: "",
    t.FixedChar: "",
    t.UUID: uuid.UUID(int=0),
    t.Binary: b"",
    t.FixedBinary: b"",
    t.Date: dt.date(1970, 1, 1),
    t.PrecisionTime: 0,
    t.PrecisionTimestamp: 0,
    t.PrecisionTimestampTZ: 0,
    t.IntervalYear: YearMonths(0),
    t.IntervalDay: DaySeconds(0),
}
"""A value of each type without types inside."""
