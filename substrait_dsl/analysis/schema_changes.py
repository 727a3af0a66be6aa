"""What became of the columns of a schema: which were added, dropped, moved, or have another type."""

from __future__ import annotations

import typing
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Literal

import attrs

from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.type_text import text_with_names
from substrait_dsl.algebra.validators import TEXT, TEXT_OR_NONE, between
from substrait_dsl.errors import quote, require_choice
from substrait_dsl.texts import printable

ColumnChangeKind = Literal["added", "dropped", "retyped", "loosened", "tightened", "moved"]
COLUMN_CHANGES: tuple[ColumnChangeKind, ...] = typing.get_args(ColumnChangeKind)


@attrs.frozen
class ColumnChange:
    """What became of one column.

    Args:
        kind: ``"added"``, ``"dropped"``, ``"retyped"``; ``"loosened"``, where NULL is a value that was none before, in
            the column or inside its values; ``"tightened"``, where it is none any more; or ``"moved"``: its place
            among the columns that both have is another.
        name: the name of the column.
        before: the text of its type before, with the names of fields; None if it was added.
        after: that of its type now; None if it was dropped.
        root: which of the relations that a plan returns has it, from 0.

    Example:
        >>> print(sd.diff(orders, orders.drop("price")).columns[0])
        - price: fp64?
    """

    kind: ColumnChangeKind = attrs.field()
    name: str = attrs.field(validator=TEXT)
    before: str | None = attrs.field(validator=TEXT_OR_NONE)
    after: str | None = attrs.field(validator=TEXT_OR_NONE)
    root: int = attrs.field(default=0, validator=between(0, 2**31))

    def __attrs_post_init__(self) -> None:
        require_choice("change of a column", self.kind, COLUMN_CHANGES)

    def __str__(self) -> str:
        return printable(self._line())  # names are those of strangers

    def _line(self) -> str:
        place = f" (root {self.root})" if self.root else ""
        name = self.name if self.name.isidentifier() else quote([self.name])
        match self.kind:
            case "added":
                return f"+ {name}: {self.after}{place}"
            case "dropped":
                return f"- {name}: {self.before}{place}"
            case "moved":
                return f"~ {name}: moved{place}"
            case _:
                return f"~ {name}: {self.before} -> {self.after} ({self.kind}){place}"


def compare_schemas(before: NamedStruct, after: NamedStruct, root: int = 0) -> Iterator[ColumnChange]:
    """Yield what became of the columns, in the order of the new schema, then those that are gone.

    Columns are the same that have one name; of several of a name, the first of one schema is the first of the other.
    """
    old, new = _index_fields(before), _index_fields(after)
    places = {key: place for place, key in enumerate(old)}
    moved = _out_of_order([places[key] for key in new if key in places])
    for key, field in new.items():
        text = text_with_names(field.type)
        if key not in old:
            yield ColumnChange("added", field.name, None, text, root)
            continue
        former = text_with_names(old[key].type)
        if (kind := _type_change(former, text)) is not None:
            yield ColumnChange(kind, field.name, former, text, root)
        if places[key] in moved:
            yield ColumnChange("moved", field.name, former, text, root)
    for key, field in old.items():
        if key not in new:
            yield ColumnChange("dropped", field.name, text_with_names(field.type), None, root)


def _index_fields(schema: NamedStruct) -> dict[tuple[str, int], Field]:
    """Return the fields by their names, and which of those of one name they are."""
    seen = Counter[str]()
    found = {}
    for field in schema:
        found[field.name, seen[field.name]] = field
        seen[field.name] += 1
    return found


def _type_change(before: str, after: str) -> ColumnChangeKind | None:
    """Return how a type became another, by their texts; None if it is the same."""
    if before == after:
        return None
    if before.replace("?", "") != after.replace("?", ""):
        return "retyped"
    nullable_before, nullable_after = _marks(before), _marks(after)
    if nullable_before < nullable_after:
        return "loosened"
    return "tightened" if nullable_after < nullable_before else "retyped"


def _marks(text: str) -> set[int]:
    """Return the places of the marks of nullability in a type's text, the marks before them not counted."""
    return {place - number for number, place in enumerate(each for each, sign in enumerate(text) if sign == "?")}


def _out_of_order(places: list[int]) -> set[int]:
    """Return the fewest of some different numbers without which the others are in ascending order."""
    ends: list[int] = []  # the last number of the ascending sequence of each length whose last is the least
    before: dict[int, int | None] = {}
    for place in places:
        length = bisect_left(ends, place)
        before[place] = ends[length - 1] if length else None
        ends[length:] = [place, *ends[length + 1 :]]
    longest = set()
    last = ends[-1] if ends else None
    while last is not None:
        longest.add(last)
        last = before[last]
    return set(places) - longest
