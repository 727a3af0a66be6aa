"""Maps that are told apart: as keys of groups, in sets, and as distinct values.

Spark groups by a map, too. It sorts the entries for that, and takes a NULL among numbers or truth values for zero or
false where it does. So a key has, in place of each map, the sorted list of its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra.types import List, Map, Struct, Type
from substrait_dsl.spark.literals import struct_to_sql
from substrait_dsl.spark.tables import Item, Rows, items

if TYPE_CHECKING:
    from substrait_dsl.spark.workspace import Workspace


def holds_map(kind: Type) -> bool:
    """Whether values of a type are maps, or have maps inside."""
    match kind:
        case Map():
            return True
        case List(element=inner):
            return holds_map(inner)
        case Struct(types=types):
            return any(map(holds_map, types))
        case _:
            return False


def as_key(value: str, kind: Type, depth: int = 0) -> str:
    """SQL text of what stands for a value in a key: the value itself, if there is no map in it."""
    entry, deeper = f"e{depth}", depth + 1
    match kind:
        case Map(value=inner) if holds_map(inner):
            fields = struct_to_sql([f"{entry}.key", as_key(f"{entry}.value", inner, deeper)])
            return f"sort_array(transform(map_entries({value}), {entry} -> {fields}))"
        case Map():
            return f"sort_array(map_entries({value}))"
        case List(element=inner) if holds_map(inner):
            return f"transform({value}, {entry} -> {as_key(entry, inner, deeper)})"
        case Struct(types=types) if holds_map(kind):
            fields = struct_to_sql(as_key(f"{value}.f{n}", inner, deeper) for n, inner in enumerate(types))
            return f"if({value} IS NULL, NULL, {fields})"
        case _:
            return value


def from_key(value: str, kind: Type, depth: int = 0) -> str:
    """SQL text of the value that a part of a key stands for."""
    entry, deeper = f"e{depth}", depth + 1
    match kind:
        case Map(value=inner) if holds_map(inner):
            fields = struct_to_sql([f"{entry}.f0", from_key(f"{entry}.f1", inner, deeper)])
            return f"map_from_entries(transform({value}, {entry} -> {fields}))"
        case Map():
            return f"map_from_entries({value})"
        case List(element=inner) if holds_map(inner):
            return f"transform({value}, {entry} -> {from_key(entry, inner, deeper)})"
        case Struct(types=types) if holds_map(kind):
            fields = struct_to_sql(from_key(f"{value}.f{n}", inner, deeper) for n, inner in enumerate(types))
            return f"if({value} IS NULL, NULL, {fields})"
        case _:
            return value


def from_keys(rows: Rows, kinds: Sequence[Type], space: Workspace) -> Rows:
    """The rows with the values that the keys in their first columns stand for; `kinds` are the types of these."""
    if not any(map(holds_map, kinds)):
        return rows
    values = {
        name: Item(from_key(name, kind), (space.name(),))
        for name, kind in zip(rows.columns, kinds, strict=False)
        if holds_map(kind)
    }
    others = items(name for name in rows.table.names if name not in values)
    columns = tuple(values[name].names[0] if name in values else name for name in rows.columns)
    return Rows(rows.table.select([*others, *values.values()]), columns)
