"""Schemas: fields with positions, names and types.

Specification: ``NamedStruct`` in ``type.proto``. A plan refers to fields by position; it has names only in
reads and roots, and two fields may have the same one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from substrait_dsl.algebra.pickling import PickledByFields
from substrait_dsl.algebra.types import List, Map, Struct, Type, struct_names
from substrait_dsl.algebra.unicode import require_unicode
from substrait_dsl.errors import (
    AmbiguousFieldError,
    InvalidArgumentError,
    SchemaError,
    UnknownFieldError,
    printable,
)


@attrs.frozen(eq=False, repr=False)
class Field(PickledByFields):
    """One column: a name and a type.

    Args:
        name: its name.
        type: its type.

    Specification: a name and a type of ``NamedStruct``.

    Example:
        >>> print(orders.schema.fields[2])
        price: fp64?
    """

    name: str
    type: Type
    _other: Field | None = attrs.field(default=None, init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if isinstance(self.name, str):  # what is none is held as it came
            require_unicode(self.name, "the name of a column")

    def __str__(self) -> str:
        return printable(f"{self.name}: {self.type}")

    def with_nullability(self, nullable: bool) -> Field:
        """Set the outermost nullability of the column's type: one object, however often it is asked for.

        Args:
            nullable: whether the column may be NULL.

        Specification: ``Type.Nullability``.

        Example:
            >>> print(orders.schema.fields[0].with_nullability(True))
            id: i64?
        """
        if self.type.nullable is nullable:
            return self
        if self._other is None or type(nullable) is not bool:
            other = Field(self.name, self.type.with_nullability(nullable))  # which refuses what is no bool
            object.__setattr__(self, "_other", other)
            object.__setattr__(other, "_other", self)
        return self._other or self


@attrs.frozen(eq=False, repr=False)
class NamedStruct(PickledByFields):
    """The fields of a relation's output, in order."""

    fields: tuple[Field, ...]
    _positions: dict[str, list[int]] | None = attrs.field(default=None, init=False, eq=False, repr=False)
    _types: tuple[Type, ...] | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @classmethod
    def of(cls, fields: Mapping[str, Type] | Iterable[tuple[str, Type]]) -> NamedStruct:
        """Return a schema from names and types."""
        pairs = fields.items() if isinstance(fields, Mapping) else fields
        return cls(tuple(Field(name, type_) for name, type_ in pairs))

    @classmethod
    def from_types(cls, types: Sequence[Type], names: Sequence[str]) -> NamedStruct:
        """Return the schema of columns of these types; `names` are depth first, with those of the fields of structs.

        Raises `SchemaError` for another number of names.
        """
        needed = len(types) + sum(sum(1 for _ in struct_names(type_)) for type_ in types)
        if len(names) != needed:
            raise SchemaError(
                f"a schema has {len(names)} names, but its types have {needed} fields",
                hint="the fields of structs inside count, depth first",
            )
        remaining = iter(names)
        return cls(tuple(Field(next(remaining), _name_fields(type_, remaining)) for type_ in types))

    @classmethod
    def concatenate(cls, *schemas: NamedStruct) -> NamedStruct:
        """Return the fields of several schemas side by side."""
        if len(schemas) == 1:
            return schemas[0]
        combined = cls(sum((schema.fields for schema in schemas), ()))
        object.__setattr__(combined, "_types", sum((schema.types for schema in schemas), ()))  # no walk over the fields
        return combined

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the top-level fields."""
        return tuple([field.name for field in self.fields])

    @property
    def types(self) -> tuple[Type, ...]:
        """The types of the fields."""
        if self._types is None:
            object.__setattr__(self, "_types", tuple([field.type for field in self.fields]))
        return self._types or ()

    def row_type(self) -> Struct:
        """Return the type of a row: a required struct."""
        return Struct(self.types, self.names)

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __str__(self) -> str:
        return ", ".join(str(field) for field in self.fields)

    def depth_first_names(self) -> tuple[str, ...]:
        """Return all names, nested ones after their parent, as ``NamedStruct.names`` and ``RelRoot.names`` do."""
        names: list[str] = []
        for field in self.fields:
            names.append(field.name)
            names += struct_names(field.type)
        return tuple(names)

    def position(self, column: str | int) -> int:
        """Return the position of a column given by name, or by position (negative ones count from the end).

        Raises `UnknownFieldError`, `AmbiguousFieldError`, and `InvalidArgumentError` for what is neither.
        """
        if isinstance(column, bool) or not isinstance(column, str | int):
            is_several = isinstance(column, list | tuple | slice)
            remedy = "several-columns" if is_several else None
            raise InvalidArgumentError("a column is given by its name or position", got=column, remedy=remedy)
        if isinstance(column, int):
            size = len(self.fields)
            if not -size <= column < size:
                raise UnknownFieldError.of_position(column, "column", f": the relation has {size} columns")
            return column % size
        column = str.__str__(column)  # of a member of an enum that is a text, the text
        found = self._index().get(column, ())
        if len(found) == 1:
            return found[0]
        if not found:
            error = UnknownFieldError.of_name(column, self.names)
            if not self.fields:  # nearly always the row of a write
                error.remedy = "column-of-no-columns"
            raise error
        raise AmbiguousFieldError.of_name(column, found)

    def _index(self) -> dict[str, list[int]]:
        if self._positions is None:
            index: dict[str, list[int]] = {}
            for position, field in enumerate(self.fields):
                index.setdefault(field.name, []).append(position)
            object.__setattr__(self, "_positions", index)
            return index
        return self._positions

    def pick(self, positions: Sequence[int]) -> NamedStruct:
        """Return the fields at these positions, in that order, repeats allowed."""
        return NamedStruct(tuple([self.fields[position] for position in positions]))

    def with_names(self, names: Sequence[str]) -> NamedStruct:
        """Return the same types under other names."""
        return NamedStruct(tuple([Field(name, field.type) for name, field in zip(names, self.fields, strict=True)]))

    def as_nullable(self) -> NamedStruct:
        """Every field made nullable."""
        return NamedStruct(tuple([f if f.type.nullable else f.with_nullability(True) for f in self.fields]))


def _name_fields(type_: Type, names: Iterator[str]) -> Type:
    """Return the type with names for the fields of its structs: the inverse of `struct_names`."""
    match type_:
        case Struct():
            fields = [(next(names), _name_fields(inner, names)) for inner in type_.types]
            own, types = zip(*fields, strict=True) if fields else ((), ())
            return attrs.evolve(type_, types=types, names=own)
        case List():
            return attrs.evolve(type_, element=_name_fields(type_.element, names))
        case Map():
            return attrs.evolve(type_, key=_name_fields(type_.key, names), value=_name_fields(type_.value, names))
        case _:
            return type_


def check_names(names: Sequence[str], columns: int) -> None:
    """Raise `SchemaError` unless there is one name for each column that needs one."""
    if len(names) != columns:
        raise SchemaError(f"{columns} columns need a name each, got {len(names)} names")
