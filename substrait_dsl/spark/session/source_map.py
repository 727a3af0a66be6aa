"""What an execution noted down while a plan was lowered: which expression became which text, which column which name.

With it an error of Spark's, which speaks of SQL text and generated names, is led back to the step of the plan that
it came from, and the names in Spark's plans to columns. Nothing is noted unless somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import attrs

from substrait_dsl.algebra.node import Node, Rel


@attrs.define(eq=False)
class Record:
    """The notes of lowering one tree of a plan, or a part of it."""

    plan: Rel
    """The relation that was lowered, with literals in place of variables: what is noted are parts of it."""
    written: list[tuple[Node, Mapping[int, str]]] = attrs.field(factory=list)
    """Expressions and measures, each with the texts of its parts by their ids: also its own."""
    inlined: list[tuple[str, str]] = attrs.field(factory=list)
    """Texts in which names gave way to the aggregates that they stood for: before, and after."""
    columns: dict[str, tuple[Rel, int]] = attrs.field(factory=dict)
    """The relation that a generated name appears in first, and the position of its column there."""
    names: dict[int, tuple[str, ...]] = attrs.field(factory=dict)
    """The names of the columns of each relation, by its id."""
    refused: list[tuple[Exception, Node]] = attrs.field(factory=list)
    """What was being lowered when an error was raised: an expression or a relation, inner ones first."""


_RECORDS: ContextVar[list[Record] | None] = ContextVar("records", default=None)
# Expressions are written in many places, whose arguments say all that the text depends on; a note changes no text.


@contextmanager
def recording() -> Iterator[list[Record]]:
    """Note what is lowered inside: one record for each tree, those of the roots at the end."""
    records: list[Record] = []
    token = _RECORDS.set(records)
    try:
        yield records
    finally:
        _RECORDS.reset(token)


def note_plan(plan: Rel) -> None:
    """Begin a record: a tree is about to be lowered."""
    records = _RECORDS.get()
    if records is not None:
        records.append(Record(plan))


def forget() -> None:
    """Forget the records so far: what they are of was only rehearsed."""
    records = _RECORDS.get()
    if records is not None:
        records.clear()


def note_text(node: Node, texts: Mapping[int, str]) -> None:
    """Note what an expression or a measure was written as, and its parts, by their ids."""
    records = _RECORDS.get()
    if records:
        records[-1].written.append((node, texts))


def note_inlined(before: str, after: str) -> None:
    """Note that names in a text gave way to what they stood for."""
    records = _RECORDS.get()
    if records and before != after:
        records[-1].inlined.append((before, after))


def note_columns(rel: Rel, names: tuple[str, ...]) -> None:
    """Note the names of the columns of a relation that was lowered."""
    records = _RECORDS.get()
    if records:
        records[-1].names[id(rel)] = names
        for position, name in enumerate(names):
            records[-1].columns.setdefault(name, (rel, position))


def note_refused(error: Exception, node: Node) -> None:
    """Note that an error was raised while an expression, a measure or a relation was lowered."""
    records = _RECORDS.get()
    if records:
        records[-1].refused.append((error, node))
