"""Window functions as a relation of their own, and the copying of rows.

Specification: https://substrait.io/relations/physical_relations/#consistent-partition-window-operation, the hashing and
the streaming window, and the expand operation after them.
"""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.algebra.expressions.sort_keys import SortKey
from substrait_dsl.algebra.expressions.windows import WindowCall, check_frame
from substrait_dsl.algebra.node import Expression, Node, Rel
from substrait_dsl.algebra.properties import FieldPath, Properties
from substrait_dsl.algebra.relations.sortedness import direct_path, may_be_sorted_within
from substrait_dsl.algebra.schema import Field, NamedStruct, check_names
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, SchemaError, UnsupportedError, require_choice

_set = object.__setattr__

WindowMethod = typing.Literal["consistent_partition", "hashing", "streaming"]
WINDOW_METHODS: tuple[WindowMethod, ...] = typing.get_args(WindowMethod)


@attrs.frozen(eq=False, repr=False)
class Window(Rel):
    """Window functions that share their partitions and their order.

    Output: the input's columns, then one per function, called by `names`. The distribution stays; so does the order,
    but for a hashing and a streaming window (spec decision 9). A streaming window needs an input sorted by the
    partitions, then the sort keys; that is checked where the order of the input is known.
    """

    input: Rel
    functions: tuple[WindowCall, ...]
    partitions: tuple[Expression, ...]
    sorts: tuple[SortKey, ...]
    names: tuple[str, ...] = attrs.field(eq=False)
    method: WindowMethod = "consistent_partition"

    def _validate(self) -> None:
        if not self.functions:
            raise InvalidArgumentError("a window needs at least one function")
        require_choice("kind of window", self.method, WINDOW_METHODS)
        check_names(self.names, len(self.functions))
        for call in self.functions:
            check_frame(call, self.sorts)
        if self.method == "streaming":
            self._check_sorted()
        Rel._validate(self)

    def _check_sorted(self) -> None:
        if not may_be_sorted_within(self.input, self.partitions, self.sorts):
            raise SchemaError(
                "a streaming window needs an input sorted by its partitions, then by its sort keys",
                hint="sort the input so, or use a hashing window",
            )

    def _derive_schema(self) -> NamedStruct:
        new = tuple(Field(name, call.output_type) for name, call in zip(self.names, self.functions, strict=True))
        return NamedStruct.concatenate(self.input.schema, NamedStruct(new))

    def _derive_properties(self) -> Properties:
        properties = self.input.properties
        return properties if self.method == "consistent_partition" else properties.unordered()

    @property
    def single_row(self) -> bool:
        return self.input.single_row


@attrs.frozen(eq=False, repr=False)
class SwitchingField(Node):
    """A field of an expand that has another value in each copy of a row."""

    duplicates: tuple[Expression, ...]

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple(expression.type for expression in self.duplicates)


@attrs.frozen(eq=False, repr=False)
class ConsistentField(Node):
    """A field of an expand that has the same value in all copies of a row."""

    expression: Expression

    @property
    def types(self) -> tuple[Type, ...]:
        return (self.expression.type,)


ExpandField = SwitchingField | ConsistentField


MAX_FILLED = 10_000
MAX_FILLING = 8
"""The duplicates of all switching fields, filled up, may be this many, or so many times as many as there were: one long
field among many short ones would make a large relation of a small message."""


def _duplicate_fields(fields: tuple[ExpandField, ...]) -> tuple[ExpandField, ...]:
    """Return the fields with as many duplicates as a row has copies (spec decision 2)."""
    counts = [len(field.duplicates) for field in fields if isinstance(field, SwitchingField)]
    copies = max(counts, default=1)
    if len(counts) * copies > max(MAX_FILLED, MAX_FILLING * sum(counts)):
        raise UnsupportedError(
            f"{len(counts)} switching fields have {sum(counts)} duplicates, and would have {len(counts) * copies} if "
            f"each had {copies} as the longest has, which the shorter ones would be filled up to with NULL",
            hint="give every switching field the same number of duplicates, or make it a consistent field",
        )

    def duplicate_field(field: ExpandField) -> ExpandField:
        if isinstance(field, ConsistentField) or not 0 < len(field.duplicates) < copies:
            return field
        filler = Literal(None, field.duplicates[0].type.as_nullable())
        return SwitchingField(field.duplicates + (filler,) * (copies - len(field.duplicates)))

    return tuple(duplicate_field(field) for field in fields)


@attrs.frozen(eq=False, repr=False)
class Expand(Rel):
    """Each row copied, as often as the longest switching field has duplicates; one of fewer is filled up with NULL.

    Output: the fields, then the ``i32`` index of the copy, called by `names`. The distribution stays if its fields are
    consistent direct references, the order as far down as they are.
    """

    input: Rel
    fields: tuple[ExpandField, ...]
    names: tuple[str, ...] = attrs.field(eq=False)

    @property
    def copies_of_a_row(self) -> int:
        """How many rows become of one."""
        return max((len(field.duplicates) for field in self.fields if isinstance(field, SwitchingField)), default=1)

    def _validate(self) -> None:
        check_names(self.names, len(self.fields) + 1)
        _set(self, "fields", _duplicate_fields(self.fields))
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        fields = [
            (name, field.types, isinstance(field, SwitchingField))
            for name, field in zip(self.names, self.fields, strict=False)
        ]
        return rules.expand_schema(fields, self.names[-1])

    def _derive_properties(self) -> Properties:
        moves: list[tuple[FieldPath, FieldPath]] = []
        for position, field in enumerate(self.fields):
            path = direct_path(field.expression) if isinstance(field, ConsistentField) else None
            if path is not None:
                moves.append((path, (position,)))
        return self.input.properties.moved(moves)

    @property
    def single_row(self) -> bool:
        return self.input.single_row and self.copies_of_a_row == 1
