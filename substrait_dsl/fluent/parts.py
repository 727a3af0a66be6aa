"""Parts of structs and lists, as arguments of `Expr.keep`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.errors import InvalidArgumentError, error_context

Part: TypeAlias = "str | int | Mapping[Any, Sequence[Part] | Elements]"
"""A field of a struct, by name or position; or fields with the parts to keep of each."""


@attrs.frozen(eq=False, repr=False)
class Elements(FrozenValue):
    """Elements of a list, made by `elements`."""

    mask: ex.ListMask
    """Which ones; without what to keep of each."""
    keep: Sequence[Part] | Elements | None = None


def elements(*positions: int, first: int = 0, keep: Sequence[Part] | Elements | None = None) -> Elements:
    """Name the elements of a list that `Expr.keep` keeps.

    Args:
        positions: those at these positions, from 0 on, ascending.
        first: so many from the beginning of the list, before those.
        keep: what to keep of each element: the parts of a struct, as `Expr.keep` takes them, or the elements of a list.

    Returns:
        What stands for the parts of a field in `Expr.keep`. A list that is shorter has fewer elements; what is kept of
        one element is a list all the same.

    Raises:
        InvalidArgumentError: no elements, negative positions, or positions that do not ascend.

    Specification: ``MaskExpression.ListSelect``; ``..5:[0,2]`` in
    https://substrait.io/expressions/field_references/#masked-complex-expression is ``elements(first=5, keep=[0, 2])``.

    Example:
        >>> import substrait_dsl as sd
        >>> calls = "list<nstruct<to: string, at: date>>"
        >>> people = sd.read_named("people", {"who": f"nstruct<name: string, calls: {calls}>"})
        >>> print(people.select(who=lambda r: r.who.keep("name", {"calls": sd.elements(first=5, keep=["to"])})))
        emit -> who: struct<string, list<struct<string>>> = who#1
          project -> *, who: struct<string, list<struct<string>>> = who.(name, calls[..5].(to))
            read people -> who: struct<string, list<struct<string, date>>>
    """
    with error_context(verb="elements"):
        if isinstance(keep, str):
            raise InvalidArgumentError("expected a list of the parts of an element", got=keep)
        if type(first) is not int or not 0 <= first < 2**31:
            raise InvalidArgumentError("first is a number of elements, from 0 to 2147483647", got=first)
        for position in positions:
            _require_position(position)
        return Elements(ex.ListMask(first, positions), keep)


def _require_position(position: object) -> None:
    """Raise `InvalidArgumentError` for what is no position of an element."""
    if type(position) is int:
        return
    hint = None
    if isinstance(position, list | tuple | range) and position and all(type(each) is int for each in position):
        hint = f"give them one by one: elements({', '.join(map(str, position[:3]))}{', ...' * (len(position) > 3)})"
    raise InvalidArgumentError("positions of elements are integers from 0 on", got=position, hint=hint)
