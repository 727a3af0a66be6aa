"""The fields that every relation may have beside its own: hints and extension messages.

Specification: ``RelCommon`` in ``algebra.proto`` and https://substrait.io/relations/common_fields/. None of it changes
a schema.
"""

from __future__ import annotations

from types import NoneType
from typing import Literal, get_args

import attrs

from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.validators import between, one
from substrait_dsl.errors import InvalidArgumentError, require_choice

ComputationType = Literal["hashtable", "bloom_filter", "unknown"]
COMPUTATION_TYPES: tuple[ComputationType, ...] = get_args(ComputationType)


def _unless_zero(value: float | None) -> float | None:
    return None if value == 0 else value


@attrs.frozen(eq=False, repr=False)
class Stats(FrozenValue):
    """The expected output of a relation: the number of rows, and their average size in bytes.

    0 says nothing, as in the message: it becomes None.
    """

    row_count: float | None = attrs.field(default=None, converter=_unless_zero)
    record_size: float | None = attrs.field(default=None, converter=_unless_zero)
    extension: AdvancedExtension | None = None

    def __attrs_post_init__(self) -> None:
        for name in ("row_count", "record_size"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InvalidArgumentError(f"the {name} of a hint must not be negative, got {value}")


@attrs.frozen(eq=False, repr=False)
class Computation(FrozenValue):
    """A data structure that one relation saves and another loads, called by a number: the hash table of a join.

    Args:
        id: the number.
        type: hashtable, bloom_filter or unknown.
        extension: messages of others about it.

    Specification: ``RelCommon.Hint.SavedComputation``, ``LoadedComputation``.

    Example:
        >>> print(orders.hint(saved=[sd.Computation(1, "hashtable")]))
        read orders hint saves hashtable 1 -> id: i64, customer: i64, price: fp64?
    """

    id: int = attrs.field(validator=between(-(2**31), 2**31 - 1))
    type: ComputationType
    extension: AdvancedExtension | None = attrs.field(
        default=None, validator=one("an AdvancedExtension or None", AdvancedExtension, NoneType)
    )

    def __attrs_post_init__(self) -> None:
        require_choice("type of computation", self.type, COMPUTATION_TYPES)


@attrs.frozen(eq=False, repr=False)
class Hint(FrozenValue):
    """Hints about a relation. They never change the result: a consumer may ignore them."""

    stats: Stats | None = None
    constraint: AdvancedExtension | None = None
    """The content of ``RuntimeConstraint``, which has no fields of its own."""
    alias: str | None = None
    """A name for the relation."""
    output_names: tuple[str, ...] = ()
    """Names of the relation's columns, nested ones depth first."""
    saved: tuple[Computation, ...] = ()
    loaded: tuple[Computation, ...] = ()
    extension: AdvancedExtension | None = None


def _unless_empty(extension: AdvancedExtension | None) -> AdvancedExtension | None:
    return None if extension == AdvancedExtension() else extension


@attrs.frozen(eq=False, repr=False)
class Common(FrozenValue):
    """The fields that all relations share, as far as anyone writes them."""

    hint: Hint | None = None
    extension: AdvancedExtension | None = attrs.field(default=None, converter=_unless_empty)
    """Extensions in ``RelCommon``."""
    own_extension: AdvancedExtension | None = attrs.field(default=None, converter=_unless_empty)
    """Extensions in the relation's own message."""
