"""Values that are told apart: as keys of groups, of sets and of partitions, and as distinct values.

Of floating-point numbers, both zeros are one key. Spark groups by a map, too, but it sorts the entries for that, and
takes a NULL among numbers or truth values for zero or false where it does. So a key has, in place of each map, the
sorted list of its entries.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra.types import List, Map, Struct, Type, UserDefined, types_in
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import struct_to_sql
from substrait_dsl.spark.expressions.signed_zeros import one_zero
from substrait_dsl.spark.expressions.types import UNSIGNED, holds


def holds_map(type_: Type) -> bool:
    """Whether values of a type are maps, or have maps inside."""
    return holds(type_, Map)


@attrs.frozen
class _Way:
    """How a map becomes a part of a key, or such a part a map: by way of a list of entries."""

    entries: str
    """Makes the list of it."""
    fields: tuple[str, str]
    """What the key and the value of an entry are called, where the values have maps inside."""
    whole: str
    """The function that the list is given to."""

    def rebuilt(self, value: str, type_: Type, depth: int = 0) -> str:
        """A value with all maps in it, or parts of keys, turned into the other; just `value`, if there is none."""
        entry = f"e{depth}"
        match type_:
            case Map(value=inner):
                entries = self.entries.format(value)
                if holds_map(inner):
                    first, second = (f"{entry}.{field}" for field in self.fields)
                    pair = struct_to_sql([first, self.rebuilt(second, inner, depth + 1)])
                    entries = f"transform({entries}, {entry} -> {pair})"
                return f"{self.whole}({entries})"
            case List(element=inner) if holds_map(inner):
                return f"transform({value}, {entry} -> {self.rebuilt(entry, inner, depth + 1)})"
            case Struct(types=types) if holds_map(type_):
                parts = struct_to_sql(self.rebuilt(f"{value}.f{n}", inner, depth) for n, inner in enumerate(types))
                return f"if({value} IS NULL, NULL, {parts})"
            case _:
                return value


_AS_KEY = _Way("map_entries({})", ("key", "value"), "sort_array")
_FROM_KEY = _Way("{}", ("f0", "f1"), "map_from_entries")


def as_key(value: str, type_: Type) -> str:
    """SQL text of what stands for a value in a key: the value itself, if there is no map and no float in it.

    Raises `UnsupportedError` for values that Spark cannot tell apart: those of no declared type.
    """
    if any(isinstance(each, UserDefined) and each.as_required() not in UNSIGNED for each in types_in(type_)):
        raise UnsupportedError(f"Spark cannot tell values of {type_} apart, as groups, sets and distinct values do")
    return _AS_KEY.rebuilt(one_zero(value, type_), type_)


def from_key(value: str, type_: Type) -> str:
    """SQL text of the value that a part of a key stands for."""
    return _FROM_KEY.rebuilt(value, type_)
