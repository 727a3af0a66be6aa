"""What a type checker with the plugin knows of a relation, shown where the program asks for it."""

from __future__ import annotations

import sys
from typing import TypeVar

from substrait_dsl.errors import require
from substrait_dsl.fluent.base import RelationBase

R = TypeVar("R", bound=RelationBase)


def reveal_schema(relation: R) -> R:
    """Show the columns of a relation and return it: the mypy plugin as a note, a running program on its error output.

    As ``reveal_type`` for types, this is for looking, and not for programs that stay.

    Args:
        relation: the relation. Raises `InvalidArgumentError` for anything else.

    Example:
        >>> print(sd.reveal_schema(orders.select("id")))
        emit -> id: i64
          read orders -> id: i64, customer: i64, price: fp64?
    """
    require(relation, RelationBase, "reveal_schema takes a relation")
    print(f"Schema is {relation.schema.struct}", file=sys.stderr)
    return relation
