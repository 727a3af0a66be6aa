"""Limits of the size of a plan that is read.

The relations of a plan are a graph, and so are its detached expressions: a plan that uses everything twice doubles the
columns, or the types of columns, with every few bytes. So types are counted, each once, before anything visits them
field by field.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized

import attrs
from google.protobuf.message import Message

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import UnsupportedError

MAX_TYPE_SIZE = 10_000
"""The maximal number of types in a type, itself included."""
MAX_ROW_SIZE = 50_000
"""The maximal number of columns of a relation, nested types included."""
MAX_COLUMNS = 4_000_000
"""The maximal number of columns of all relations that compute columns.

Short relations over a wide table grow faster than the plan does. A thousand relations of a thousand columns each are a
quarter of it, five thousand of twenty columns the fortieth part.
"""
MAX_INPUT_COLUMNS = 10_000_000
"""The maximal number of input columns of all relations with several inputs."""

MAX_PARTS = 100_000
"""The maximal number of trees, extensions, functions and bindings:

an empty one takes two bytes, and some 30 µs to read.
"""

NESTED = frozenset((t.Struct, t.List, t.Map, t.Func, t.UserDefined))
"""The types that contain others: those that may be large."""


@attrs.frozen(eq=False, repr=False)
class _Size(FrozenValue):
    type: t.Type  # held, so that no other type gets its `id`
    types: int
    levels: int


def require_few_parts(message: Message) -> None:
    """Raise `UnsupportedError` for a plan that lists too many of one thing, before anything visits them."""
    for field, value in message.ListFields():
        if not isinstance(value, str | bytes | Message) and isinstance(value, Sized) and len(value) > MAX_PARTS:
            raise UnsupportedError(f"there are {len(value):,} {field.name}, and {MAX_PARTS:,} are the most")


class Sizes:
    """The sizes of the types of a plan."""

    def __init__(self) -> None:
        self._known: dict[int, _Size] = {}
        self._schemas: dict[int, NamedStruct] = {}
        self._columns = 0
        self._input_columns = 0

    def check_type(self, type_: t.Type, nesting: int | None = None) -> None:
        """Raise `UnsupportedError` for a type that is too large, or nested too deeply."""
        if type(type_) not in NESTED:
            return
        size = self._size(type_)
        if size.types > MAX_TYPE_SIZE:
            raise UnsupportedError(f"a type is too large: it is made of more than {MAX_TYPE_SIZE} types")
        if nesting is not None and size.levels > nesting:
            raise UnsupportedError(f"a type is nested too deeply: more than {nesting} levels")

    def check_schema(self, schema: NamedStruct) -> None:
        """Apply `check_row` to the columns of a relation, which often are those of its input.

        Raises `UnsupportedError` also if all relations together have too many.
        """
        if id(schema) in self._schemas:
            return
        self._schemas[id(schema)] = schema
        self.check_row(schema.types)
        self._columns += len(schema)
        if self._columns > MAX_COLUMNS:
            raise UnsupportedError(f"the relations of the plan have more than {MAX_COLUMNS} columns all together")

    def count_inputs(self, columns: int) -> None:
        """Count the input columns of a relation with several inputs. Raises `UnsupportedError` for too many."""
        self._input_columns += columns
        if self._input_columns > MAX_INPUT_COLUMNS:
            raise UnsupportedError(
                f"the joins and sets of the plan have more than {MAX_INPUT_COLUMNS} columns in their inputs"
            )

    def check_row(self, types: Sequence[t.Type]) -> None:
        """Raise `UnsupportedError` for too many columns, nested fields included."""
        size = len(types)
        if not NESTED.isdisjoint(map(type, types)):
            size += sum(self._size(type_).types for type_ in types if type(type_) in NESTED)
        if size > MAX_ROW_SIZE:
            raise UnsupportedError(
                f"a relation is too wide: it has more than {MAX_ROW_SIZE} columns, the types inside of theirs included"
            )

    def _size(self, type_: t.Type) -> _Size:
        known = self._known.get(id(type_))
        if known is None:
            inside = type_.type_parameters if isinstance(type_, t.UserDefined) else type_.parameters
            sizes = [self._size(part) for part in inside if isinstance(part, t.Type)]
            known = self._known[id(type_)] = _Size(
                type_, 1 + sum(size.types for size in sizes), 1 + max((size.levels for size in sizes), default=0)
            )
        return known
