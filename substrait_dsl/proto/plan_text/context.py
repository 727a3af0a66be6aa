"""The state of writing one plan, and of reading one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import attrs
from google.protobuf.message import Message
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.paths import path_of
from substrait_dsl.proto.plan_text.names import Extensions, Kind
from substrait_dsl.proto.plan_text.scanner import Scanner


@attrs.define
class TextWriter:
    """The state of writing one plan: the message, and what it declares of extensions.

    Args:
        plan: the message.
        write_expression: writes an expression. Subqueries hold relations and relations expressions: this is the tie.
        write_relation: writes a relation.
    """

    plan: Plan
    write_expression: Callable[[TextWriter, pb.Expression], str]
    write_relation: Callable[[TextWriter, pb.Rel], tuple[list[str], int]]
    extensions: Extensions = attrs.field(factory=Extensions)
    subqueries: list[list[str]] = attrs.field(factory=list)
    """The lines of the relation of each subquery, which stand behind the trees of the plan."""
    further_words: dict[tuple[Kind, str], int] = attrs.field(factory=dict)
    """The anchors of what was declared that the plan itself does not declare, by kind and name."""

    def expression(self, message: pb.Expression) -> str:
        """Write an expression."""
        return self.write_expression(self, message)

    def relation(self, message: pb.Rel) -> tuple[list[str], int]:
        """Write a relation and its inputs; returns the lines, and the number of columns."""
        return self.write_relation(self, message)

    def refuse(self, what: str, message: Message, hint: str | None = None) -> UnsupportedError:
        """Return the error for something that the format has no place for."""
        text = f"the text format has no place for {what}"
        return UnsupportedError(text, path=path_of(self.plan, message) or None, hint=hint or _OTHER_FORMS)

    def require_only(self, message: Any, fields: Collection[str], what: str) -> None:
        """Raise `UnsupportedError` if a message has other fields than these."""
        for field, _ in message.ListFields():
            if field.name not in fields:
                raise self.refuse(f"{field.name} of {what}", message)

    def reference(self, kind: Kind, anchor: int, message: Message) -> str:
        """Write a reference to something that is declared."""
        written = self.extensions.write_reference(kind, anchor)
        if written is None:
            raise self.refuse(f"a {kind.replace('_', ' ')} that the plan does not declare ({anchor})", message)
        return written


_OTHER_FORMS = "to_bytes has a place for everything; to_json, too, but for messages of unknown types"


@attrs.define
class TextReader:
    """The state of reading one plan: what it declares of extensions, and the number of the line of each relation.

    Args:
        read_expression: reads an expression, as of `TextWriter`.
        read_tree: reads a tree of the text, by its number, as the relation of a subquery.
    """

    read_expression: Callable[[TextReader, Scanner, pb.Expression], None]
    read_tree: Callable[[TextReader, int, pb.Rel], None]
    extensions: Extensions = attrs.field(factory=Extensions)
    lines: list[tuple[Message, int]] = attrs.field(factory=list)
    trees: int = 0
    """How many trees the text has."""
    begun: set[int] = attrs.field(factory=set)
    """The trees that are read, or being read."""

    def expression(self, scanner: Scanner, message: pb.Expression) -> None:
        """Read an expression."""
        self.read_expression(self, scanner, message)

    def tree(self, number: int, message: pb.Rel) -> None:
        """Read a tree as the relation of a subquery."""
        self.read_tree(self, number, message)
