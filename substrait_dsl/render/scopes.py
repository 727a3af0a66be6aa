"""The rows that expressions see, and the labels of their columns."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import attrs

from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.properties import FieldPath
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import Struct, Type
from substrait_dsl.render.literals import name_text


@attrs.frozen
class Row:
    """The row that an expression sees: the columns of one relation, or of the two sides of a join."""

    sides: tuple[NamedStruct, ...]

    @cached_property
    def _carriers(self) -> tuple[Counter[str], ...]:
        return tuple(Counter(side.names) for side in self.sides)

    @cached_property
    def nullable_sides(self) -> tuple[NamedStruct, ...]:
        """The sides with every column made nullable."""
        return tuple(side.as_nullable() for side in self.sides)

    def locate(self, position: int) -> tuple[int, int] | None:
        """Return the side that a column belongs to, and its position there; None if there is no such column."""
        for number, side in enumerate(self.sides):
            if position < len(side):
                return number, position
            position -= len(side)
        return None

    def label(self, position: int) -> str:
        """Return the label of a column: its name; if others have it too, ``left.id`` or ``right.id``, else ``id#3``."""
        place = self.locate(position)
        if place is None:
            return f"${position}"
        number, inside = place
        name = self.sides[number].fields[inside].name
        if sum(carriers[name] for carriers in self._carriers) == 1:
            return name_text(name)
        if len(self.sides) == 2 and self._carriers[number][name] == 1:
            return f"{('left', 'right')[number]}.{name_text(name)}"
        return f"{name_text(name)}#{position}"

    def path(self, path: FieldPath) -> str:
        """Return the label of a column, or of a field of a struct in it: ``address.city``."""
        text = self.label(path[0])
        place = self.locate(path[0])
        type_ = None if place is None else self.sides[place[0]].fields[place[1]].type
        for position in path[1:]:
            text += f".{field_label(type_, position)}"
            type_ = type_.types[position] if isinstance(type_, Struct) else None
        return text


def field_label(type_: Type | None, position: int) -> str:
    """Return the label of a field of a struct: its name, if it has one, else ``$1``."""
    named = isinstance(type_, Struct) and type_.names
    return name_text(named[position]) if named else f"${position}"


NO_ROW = Row(())


@attrs.frozen
class Scope:
    """The row that the expressions of a relation see, as a subquery in them sees it from inside."""

    row: Row
    anchor: int | None
    outer: Scope | None


@attrs.frozen
class Subquery:
    """A relation that an expression mentions, and the scope it stands in."""

    rel: Rel
    scope: Scope


@attrs.frozen
class Labels:
    """The numbers by which relations are called where they are not printed: ``#1``, ``#2``, in reading order."""

    _numbers: dict[int, int] = attrs.field(factory=dict)

    def of(self, rel: Rel) -> str:
        """Return the label of a relation; a new one if it has none yet."""
        return f"#{self._numbers.setdefault(id(rel), len(self._numbers) + 1)}"

    def __contains__(self, rel: Rel) -> bool:
        return id(rel) in self._numbers
