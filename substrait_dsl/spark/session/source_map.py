"""The source map: the text of each expression, and the generated name of each column, as a plan was lowered.

With it an error of Spark, which speaks of SQL text and generated names, is traced to the step of the plan that it came
from, and the names in Spark's plans to columns. Nothing is recorded unless it is requested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import attrs

from substrait_dsl.algebra.node import Node, Rel


@attrs.define(eq=False)
class Record:
    """The source map of one tree of a plan, or of a part of it."""

    plan: Rel
    """The relation that was lowered, with literals in place of variables; the nodes in the map are parts of it."""
    written: list[tuple[Node, Mapping[int, str]]] = attrs.field(factory=list)
    """Expressions and measures, each with the texts of its parts by their ids, its own included."""
    inlined: list[tuple[str, str]] = attrs.field(factory=list)
    """Texts before and after references to aggregates were replaced by the aggregates."""
    columns: dict[str, tuple[Rel, int]] = attrs.field(factory=dict)
    """The relation in which a generated name occurs first, and the position of its column there."""
    names: dict[int, tuple[str, ...]] = attrs.field(factory=dict)
    """The names of the columns of each relation, by its id."""
    refused: list[tuple[Exception, Node]] = attrs.field(factory=list)
    """The expressions and relations in which an error was raised, inner ones first."""


_RECORDS: ContextVar[list[Record] | None] = ContextVar("records", default=None)
# Expressions are written in many places, whose arguments say all that the text depends on; a note changes no text.


@contextmanager
def recording() -> Iterator[list[Record]]:
    """Record what is lowered in a block: one record for each tree, those of the roots last."""
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
    """Drop the records so far: they belong to a rehearsal."""
    records = _RECORDS.get()
    if records is not None:
        records.clear()


def note_text(node: Node, texts: Mapping[int, str]) -> None:
    """Note the text of an expression or a measure, and of its parts, by their ids."""
    records = _RECORDS.get()
    if records:
        records[-1].written.append((node, texts))


def note_inlined(before: str, after: str) -> None:
    """Note that references in a text were replaced by aggregates."""
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
