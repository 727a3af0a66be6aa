"""Whether a table has the columns that are declared.

Specification: https://substrait.io/relations/logical_relations/#read-operation, the base schema.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.types import List, Map, Struct, Type
from substrait_dsl.errors import SchemaError, quote, suggestion
from substrait_dsl.spark.expressions.types import type_to_spark

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

    from substrait_dsl.algebra.schema import NamedStruct


@attrs.frozen
class Origin:
    """Where the declared columns come from, in the words of an error."""

    name: str
    place: str


DECLARED = Origin("the declared schema", "declared")
ROWS = Origin("the rows", "in the rows")


AS_IN_THE_FILE = (
    "declare columns as the file has them, which schema_of(path) shows where it is on this machine, and cast them: "
    'with_columns(x=col("x").cast("i32"))'
)
"""The hint for files with other columns than are declared."""


def check_columns(
    found: StructType,
    declared: NamedStruct,
    what: str,
    origin: Origin = DECLARED,
    ways_out: Mapping[str, str | None] | None = None,
    way_out: Callable[[], str | None] | None = None,
) -> tuple[str, ...]:
    """Return the names in a table of the declared columns, which may differ in case, as in Spark's own resolution.

    Each declared column has one of the table to itself. Raises `SchemaError` with all columns that are missing,
    declared twice, or of another type. The columns of rows that are written are not declared: `origin` says where they
    come from. By the names of columns, `ways_out` has the hints for those of another type; `way_out` makes that for a
    table which has none of these.
    """
    types = {field.name: field.dataType for field in found.fields}
    names: list[str] = []
    first: dict[str, str] = {}
    wrong = []
    hints = []
    advised = []
    for field in declared:
        name = actual_name(field.name, types)
        if name is None:
            wrong.append(f'it has no column "{field.name}"')
            hints.append(
                suggestion(field.name, [other for other in types if actual_name(other, declared.names) is None])
            )
            continue
        names.append(name)
        if name in first and found.names.count(name) == 1:
            wrong.append(f'it has one column "{name}", {origin.place} "{first[name]}" and "{field.name}"')
            continue
        first[name] = field.name
        if found.names.count(name) > 1:
            wrong.append(f'it has {found.names.count(name)} columns "{name}"')
            hints.append("columns that are read have names of their own: df.toDF(...) gives all of them new ones")
            continue
        if not fits(types[name], type_to_spark(field.type), field.type):
            expected = type_to_spark(field.type).simpleString()
            actual = types[name].simpleString()
            wrong.append(f'column "{field.name}" is {actual}, {origin.place} {field.type} ({expected})')
            advised.append((ways_out or {}).get(name))
    if wrong:
        raise SchemaError(
            f"{what} does not fit {origin.name}: {'; '.join(wrong)}; its columns are {quote(found.names)}",
            hint=next(filter(None, [*hints, *advised]), None) or way_out,
        )
    return tuple(names)


def actual_name(name: str, there: Collection[str]) -> str | None:
    """Return the spelling of a name in a table: an exact match, or the only one that differs in case."""
    if name in there:
        return name
    alike = [other for other in there if other.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def fits(actual: DataType, expected: DataType, declared: Type) -> bool:
    """Whether a Spark column holds the values of a type; nullability is ignored, and so are undeclared names."""
    from pyspark.sql import types as spark

    match actual, expected, declared:
        case spark.StructType(fields=found_fields), spark.StructType(fields=declared_fields), Struct(
            types=field_types, names=names
        ):
            return len(found_fields) == len(declared_fields) and all(
                (names is None or a.name == b.name) and fits(a.dataType, b.dataType, type_)
                for a, b, type_ in zip(found_fields, declared_fields, field_types, strict=True)
            )
        case spark.ArrayType(elementType=a), spark.ArrayType(elementType=b), List(element=element):
            return fits(a, b, element)
        case (
            spark.MapType(keyType=a, valueType=b),
            spark.MapType(keyType=c, valueType=d),
            Map(key=key, value=value),
        ):
            return fits(a, c, key) and fits(b, d, value)
        case _:
            return actual == expected
