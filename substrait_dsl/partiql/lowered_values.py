"""Lowered values: a column, a struct or collection whose parts are lowered values, or a constant.

A struct whose attributes are known stays in parts. So ``(path (id f) (lit FooId))`` is a column of the relation, and no
engine has to build structs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import attrs

from substrait_dsl.algebra.expressions import Expression, FieldAccess, literal
from substrait_dsl.algebra.expressions.references import StructField
from substrait_dsl.algebra.types import Boolean, Type
from substrait_dsl.algebra.types import Struct as StructType
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.partiql.calls import call
from substrait_dsl.partiql.null_and_missing import Absent, absent_where, missing_where
from substrait_dsl.partiql.values import MISSING, Bag, CollectionType, Struct, Value


@attrs.frozen
class Column:
    """An expression over the row of a relation."""

    expression: Expression
    absent: Absent = "null"

    @property
    def type(self) -> Type:
        """Its Substrait type."""
        return self.expression.type

    @property
    def missing(self) -> Expression | None:
        """The condition for the value to be missing; None if it never is."""
        return missing_where(self.expression, self.absent)


@attrs.frozen
class Attributes:
    """A struct in parts. It is never null itself; where an attribute is missing, the struct lacks it."""

    fields: tuple[tuple[str, LoweredValue], ...]


@attrs.frozen
class ElementList:
    """A list, or a bag, with a fixed number of elements in each row."""

    collection_type: CollectionType
    items: tuple[LoweredValue, ...]


@attrs.frozen
class NullableComposite:
    """A struct or collection in parts: null, as its parts are, where the required boolean `is_present` is false."""

    parts: Attributes | ElementList
    is_present: Column


@attrs.frozen
class CollectedList:
    """A bag or list that is a column of lists; `element_of` returns an element of it."""

    column: Column
    element: LoweredValue
    collection_type: CollectionType = "bag"


@attrs.frozen
class Constant:
    """A value that is the same for all rows; also `MISSING`."""

    value: Value


LoweredValue: TypeAlias = Column | Attributes | ElementList | NullableComposite | CollectedList | Constant

NOTHING = Constant(MISSING)


def expand_constant(lowered: LoweredValue) -> LoweredValue:
    """Return a constant struct or collection in parts, one level; any other value as it is."""
    match lowered:
        case Constant(value=Struct(fields=fields)):
            return Attributes(tuple((name, Constant(value)) for name, value in fields))
        case Constant(value=Bag(items=items)):
            return ElementList("bag", tuple(map(Constant, items)))
        case Constant(value=tuple() as items):
            return ElementList("list", tuple(map(Constant, items)))
        case _:
            return lowered


def split_struct(value: LoweredValue) -> LoweredValue:
    """Return a struct in parts, also one that is a column; another value as it is, or a collection in parts.

    Raises `UnsupportedError` for a column of structs that may be null.
    """
    if not (isinstance(value, Column) and isinstance(value.type, StructType)):
        return expand_constant(value)
    if value.type.nullable:
        raise UnsupportedError(f"the fields of a nullable struct, {value.type}, are not accessed")
    return Attributes(tuple((name, attribute(value, number)) for number, name in enumerate(value.type.field_names)))


def attribute(struct: Column, number: int) -> Column:
    """Return a field of a struct column: missing where the struct is, else nullable."""
    type_ = struct.type
    assert isinstance(type_, StructType)
    absent = absent_where(struct.missing) if type_.types[number].nullable else struct.absent
    return Column(FieldAccess(struct.expression, StructField(number)), absent)


def leaves(value: LoweredValue, name: str = "") -> Iterator[tuple[str, Column | Constant]]:
    """Yield the columns and constants of a value, with a name for each: ``f.FooId``, ``pair[0]``."""
    match expand_constant(value):
        case Attributes(fields=fields):
            for inside, field in fields:
                yield from leaves(field, f"{name}.{inside}" if name else inside)
        case ElementList(items=items):
            for number, item in enumerate(items):
                yield from leaves(item, f"{name}[{number}]")
        case CollectedList(column=column):
            yield name or "value", column
        case NullableComposite(parts=parts, is_present=is_present):
            yield f"{name} is there", is_present
            yield from leaves(parts, name)
        case leaf:
            assert isinstance(leaf, Column | Constant)
            yield name or "value", leaf


def with_columns(value: LoweredValue, change: Callable[[Column], Column]) -> LoweredValue:
    """Map the columns of a value."""
    match value:
        case Column():
            return change(value)
        case Constant():
            return value
        case CollectedList(column=column):
            return attrs.evolve(value, column=change(column))
        case NullableComposite(parts=parts, is_present=is_present):
            return NullableComposite(with_columns(parts, change), change(is_present))  # type: ignore[arg-type]  # parts stay in parts
        case Attributes(fields=fields):
            return Attributes(tuple((name, with_columns(field, change)) for name, field in fields))
        case ElementList(items=items):
            return attrs.evolve(value, items=tuple(with_columns(item, change) for item in items))


def absent_of(columns: list[Column]) -> Absent:
    """Return what a NULL stands for in a value computed of columns."""
    nullable = [column for column in columns if column.type.nullable]
    meanings = {column.absent for column in nullable}
    if len(meanings) <= 1:
        return meanings.pop() if meanings else "null"
    return absent_where(*(column.missing for column in nullable))


def absent_result(columns: list[Column]) -> LoweredValue:
    """Return null where an operand is null, else missing: the value of an error in permissive mode."""
    nothing = literal(None, Boolean(nullable=True))
    nullable = [column for column in columns if column.type.nullable]
    if all(column.absent == "missing" for column in nullable):
        return NOTHING
    are_not_null = [call("is_not_null", column.expression) for column in nullable]
    missing = (column.missing for column in nullable)
    return Column(
        nothing, absent_where(are_not_null[0] if len(are_not_null) == 1 else call("and", *are_not_null), *missing)
    )
