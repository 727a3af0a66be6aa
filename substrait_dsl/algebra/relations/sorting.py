"""Relations that sort: sort, and top-n, which is a sort and a fetch in one.

Specification: https://substrait.io/relations/logical_relations/#sort-operation and
https://substrait.io/relations/physical_relations/#top-n-operation.
"""

from __future__ import annotations

from typing import Literal, get_args

import attrs

from substrait_dsl.algebra.expressions.sort_keys import SortKey
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.properties import Properties
from substrait_dsl.algebra.relations.filtering import check_fetch
from substrait_dsl.algebra.relations.sortedness import sort_ordering
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, require_choice


@attrs.frozen(eq=False, repr=False)
class Sort(Rel):
    """The rows in an order. Output: the input's columns; the order becomes `keys`, the distribution stays."""

    input: Rel
    keys: tuple[SortKey, ...]

    def _validate(self) -> None:
        if not self.keys:
            raise InvalidArgumentError("a sort needs at least one key")
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return _derive_sorted(self.keys, self.input.properties)

    @property
    def single_row(self) -> bool:
        return self.input.single_row


FetchMode = Literal["rows_only", "with_ties"]
FETCH_MODES: tuple[FetchMode, ...] = get_args(FetchMode)


@attrs.frozen(eq=False, repr=False)
class TopN(Rel):
    """The first `count` rows in an order, after the first `offset`: a sort and a fetch in one.

    With `with_ties`, also the rows whose keys equal those of the last of these. Output: the input's columns; the
    order becomes `keys`, the distribution stays.
    """

    input: Rel
    keys: tuple[SortKey, ...]
    count: Expression | None
    """How many; None, or an expression that is NULL, means all."""
    offset: Expression | None = None
    mode: FetchMode = "rows_only"

    def _validate(self) -> None:
        if not self.keys:
            raise InvalidArgumentError("a top-n needs at least one key")
        require_choice("mode of a top-n", self.mode, FETCH_MODES)
        for name, expression in (("count", self.count), ("offset", self.offset)):
            if expression is not None:
                check_fetch("top-n", name, expression, self.anchor)
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return _derive_sorted(self.keys, self.input.properties)


def _derive_sorted(keys: tuple[SortKey, ...], before: Properties) -> Properties:
    ordering = sort_ordering(keys)
    return Properties(ordering, before.distribution, len(ordering) < len(keys), before.equal)
