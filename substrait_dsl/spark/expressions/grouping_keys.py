"""Grouping keys: values that groups, sets, partitions and DISTINCT compare for equality.

Both zeros of floating-point numbers are one key. Spark can group by a map, but it sorts the entries first, and takes a
NULL among numbers or booleans for zero or false there. So a key has the sorted list of entries in place of each map.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra.types import List, Map, Struct, Type, UserDefined, types_in
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import struct_to_sql
from substrait_dsl.spark.expressions.signed_zeros import one_zero
from substrait_dsl.spark.expressions.types import UNSIGNED, holds
from substrait_dsl.spark.session.engines import ENGINE


def holds_map(type_: Type) -> bool:
    """Whether values of a type are maps, or have maps inside."""
    return holds(type_, Map)


@attrs.frozen
class _Conversion:
    """A conversion between maps and lists of entries, in one direction."""

    entries: str
    """The SQL text of the list of entries."""
    fields: tuple[str, str]
    """The names of an entry's key and value."""
    finish: str
    """The function that is applied to the list."""

    def convert(self, value: str, type_: Type, depth: int = 0) -> str:
        """Convert all maps, or lists of entries, in a value; return `value` itself if there are none."""
        entry = f"e{depth}"
        match type_:
            case Map(value=inner):
                entries = self.entries.format(value)
                if holds_map(inner):
                    first, second = (f"{entry}.{field}" for field in self.fields)
                    pair = struct_to_sql([first, self.convert(second, inner, depth + 1)])
                    entries = f"transform({entries}, {entry} -> {pair})"
                return f"{self.finish}({entries})"
            case List(element=inner) if holds_map(inner):
                return f"transform({value}, {entry} -> {self.convert(entry, inner, depth + 1)})"
            case Struct(types=types) if holds_map(type_):
                parts = struct_to_sql(self.convert(f"{value}.f{n}", inner, depth) for n, inner in enumerate(types))
                return f"if({value} IS NULL, NULL, {parts})"
            case _:
                return value


_AS_KEY = _Conversion("map_entries({})", ("key", "value"), "sort_array")
_FROM_KEY = _Conversion("{}", ("f0", "f1"), "map_from_entries")


def as_key(value: str, type_: Type) -> str:
    """Write the grouping key of a value: the value itself, unless it holds a map or a float.

    Raises `UnsupportedError` for values that Spark cannot compare for equality: those of undeclared types.
    """
    if any(isinstance(each, UserDefined) and each.as_required() not in UNSIGNED for each in types_in(type_)):
        raise UnsupportedError(f"{ENGINE} cannot tell values of {type_} apart, as groups, sets and distinct values do")
    return _AS_KEY.convert(one_zero(value, type_), type_)


def from_key(value: str, type_: Type) -> str:
    """Write the value of a grouping key."""
    return _FROM_KEY.convert(value, type_)
