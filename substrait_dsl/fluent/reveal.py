"""`reveal`: show what a type checker with the plugin knows of a relation."""

from __future__ import annotations

import sys
from typing import TypeVar

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import error_context, require
from substrait_dsl.fluent.base import RelationBase

R = TypeVar("R", bound=RelationBase)


def reveal_schema(relation: R, name: str | None = None) -> R:
    """Show the columns of a relation and return it: the mypy plugin as a note, a running program on its error output.

    As ``reveal_type`` for types, this is for looking, and not for programs that stay.

    Args:
        relation: the relation.
        name: the name of a schema class; with it, the source of that class is shown, to paste; without it, one line.

    Returns:
        The relation. Raises `InvalidArgumentError` for what is no relation or no name of a class, and `SchemaError`
        for columns that no class has: a name that stands twice, or is no identifier.

    Specification: ``NamedStruct``.

    Example:
        >>> print(sd.reveal_schema(orders.select("id"), "Keys"))
        emit -> id: i64
          read orders -> id: i64, customer: i64, price: fp64?
    """
    require(relation, RelationBase, "reveal_schema takes a relation")
    with error_context(verb="reveal_schema"):
        print(describe_revealed(relation.schema.struct, name), file=sys.stderr)
    return relation


def describe_revealed(struct: NamedStruct, name: str | None) -> str:
    """What `reveal_schema` shows of some columns."""
    if name is None:
        return f"Schema is {struct}"
    from substrait_dsl.fluent.schema_source import schema_class_source

    return f"Schema class is\n{schema_class_source(name, struct)}".rstrip()
