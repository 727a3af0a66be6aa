"""Rewrite nested values: replace all parts of certain types, at any depth."""

from __future__ import annotations

from collections.abc import Callable

from substrait_dsl.algebra.types import List, Map, Struct, Type
from substrait_dsl.spark.expressions.literals import struct_to_sql
from substrait_dsl.spark.expressions.types import holds


def rebuild_parts(
    value: str,
    type_: Type,
    parts: type[Type] | tuple[type[Type], ...],
    replace: Callable[[str, Type], str],
    depth: int = 0,
) -> str:
    """Write a value with every part of certain types replaced; NULL stays NULL.

    Args:
        value: SQL text of the value.
        type_: its type.
        parts: the types of the parts.
        replace: gives the text of what takes the place of a part, from its text and its type.
        depth: how many lambdas are around the value.
    """
    if not holds(type_, parts):
        return value
    entry = f"e{depth}"

    def rebuild_part(part: str, type_: Type) -> str:
        return rebuild_parts(part, type_, parts, replace, depth + 1)

    match type_:
        case List(element=element):
            return f"transform({value}, {entry} -> {rebuild_part(entry, element)})"
        case Map(key=key, value=entry_value):
            pair = struct_to_sql([rebuild_part(f"{entry}.key", key), rebuild_part(f"{entry}.value", entry_value)])
            return f"map_from_entries(transform(map_entries({value}), {entry} -> {pair}))"
        case Struct(types=types):
            fields = struct_to_sql([rebuild_part(f"{value}.f{number}", part) for number, part in enumerate(types)])
            return f"if({value} IS NULL, NULL, {fields})"
        case _:
            return replace(value, type_)
