"""The parts of a relation's description: clauses and output columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import eq

import attrs

from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.properties import Properties
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import Binary, String, Type
from substrait_dsl.render.expression_format import Binding, direction_text
from substrait_dsl.render.expressions import ExpressionWriter
from substrait_dsl.render.literals import constant_text, name_text, type_text
from substrait_dsl.render.scopes import Row

UNFOLDED = 8
"""A relation with no more output columns than this lists them all, also those that are as in the input."""

SHORTEST_RUN = 3
"""Fewer columns than this are not worth folding."""

MAX_CONJUNCTS = 100
"""A condition of more conjuncts than this is not split."""


@attrs.frozen
class Clause:
    """An argument of a relation: a word that introduces it, if it needs one, and its items."""

    label: str
    items: tuple[str, ...]
    joiner: str = ", "

    def __str__(self) -> str:
        inside = self.joiner.join(self.items)
        return f"{self.label} {inside}" if self.label and inside else self.label or inside


@attrs.frozen
class Column:
    """An output column; `source` is what it is computed from, where its name does not say so."""

    name: str
    type: Type
    source: str | None = None

    def __str__(self) -> str:
        return f"{name_text(self.name)}: {type_text(self.type)}" + (f" = {self.source}" if self.source else "")


@attrs.frozen
class ColumnRun:
    """Output columns that are neighbours in an input too, with names and types unchanged or only made nullable."""

    first: str
    last: str
    count: int
    is_null_extended: bool = False

    def __str__(self) -> str:
        nullable = ", made nullable" if self.is_null_extended else ""
        return f"{name_text(self.first)} to {name_text(self.last)} ({self.count} columns{nullable})"


@attrs.frozen
class InputColumns:
    """All the columns of the input, or of one side of a join, as they are."""

    side: str = ""

    def __str__(self) -> str:
        return f"{self.side}.*" if self.side else "*"


OutputColumn = Column | ColumnRun | InputColumns


Parts = tuple[tuple[Clause | None, ...], Iterable[OutputColumn] | None]
"""The parts of a description: arguments (None: the default), and output columns (None: those of the input)."""


def quote(text: str) -> str:
    """Return a text in single quotes."""
    return constant_text(text, String())


def join_names(names: Sequence[str]) -> str:
    """Return a name of several parts: ``shop."order lines"``."""
    return ".".join(name_text(name) for name in names)


def message_text(message: AnyMessage) -> str:
    """Return a message that nobody here can read: its type and its bytes, ``'acme.Hint' x'0801'``."""
    name = quote(message.type_url.removeprefix("type.googleapis.com/"))
    return f"{name} {constant_text(message.value, Binary())}" if message.value else name


def extension_clauses(extension: AdvancedExtension | None, of: str = "") -> Iterator[Clause]:
    """Return the clauses of extension messages: an enhancement, which changes the meaning, and optimizations."""
    if extension is not None:
        if extension.enhancement is not None:
            yield Clause(f"{of}enhancement", (message_text(extension.enhancement),))
        if extension.optimizations:
            yield Clause(f"{of}optimization", tuple(map(message_text, extension.optimizations)))


def columns_clause(schema: NamedStruct) -> Clause:
    """Return the columns of a table that is no input: ``columns id: i64, name: string``."""
    return Clause("columns", tuple(str(Column(field.name, field.type)) for field in schema))


def known_properties(properties: Properties, row: Row) -> list[str]:
    """Describe an ordering and a distribution: ``ordered by id asc nulls last``, ``partitioned by customer``."""
    keys = [f"{row.path(key.field)} {direction_text(key.direction)}" for key in properties.ordering]
    known = [f"ordered by {', '.join(keys)}"] if keys else []
    distribution = properties.distribution
    if distribution is not None:
        paths = ", ".join(row.path(path) for path in sorted(distribution.fields))
        known.append(f"{distribution.kind} by {paths}" if paths else distribution.kind)
    return known


def declared_clause(properties: Properties, row: Row) -> Clause | None:
    """Return the order and the distribution that data is declared to have; None if there are none."""
    known = known_properties(properties, row)
    return Clause("declared", tuple(known), "; ") if known else None


def condition_clause(label: str, condition: Expression | None, row: Row, writer: ExpressionWriter) -> Clause | None:
    """Return a condition, with what `and` connects as items; None if there is none."""
    if condition is None:
        return None
    parts = list(islice(conjuncts(condition), MAX_CONJUNCTS + 1))
    if not 1 < len(parts) <= MAX_CONJUNCTS:  # too many, perhaps exponentially many: as one text, which may be cut
        return Clause(label, (writer.text(condition, row),))
    return Clause(label, tuple(writer.text(part, row, Binding.AND) for part in parts), " and ")


def computed_column(field: Field, source: str) -> Column:
    """Return an output column with what it is computed from, unless that is a column of its name."""
    return Column(field.name, field.type, None if source == name_text(field.name) else source)


def copied_columns(rel: Rel, row: Row, origins: Sequence[int]) -> Iterable[Column | ColumnRun]:
    """Yield the output columns of a relation, each with its position in the row of its inputs.

    If there are many, neighbours that stay neighbours are folded.
    """
    fold = len(origins) > UNFOLDED
    position = 0
    while position < len(origins):
        run = _run(rel, row, origins, position) if fold else None
        yield run or computed_column(rel.schema.fields[position], row.label(origins[position]))
        position += run.count if run else 1


def _run(rel: Rel, row: Row, origins: Sequence[int], start: int) -> ColumnRun | None:
    """Return the run of unchanged columns, or of columns made nullable, that begins at a position of the output."""
    same = _run_length(rel, row, origins, start, nullable=False)
    count = max(same, _run_length(rel, row, origins, start, nullable=True))
    if count < SHORTEST_RUN:
        return None
    fields = rel.schema.fields
    return ColumnRun(fields[start].name, fields[start + count - 1].name, count, is_null_extended=same < count)


def _run_length(rel: Rel, row: Row, origins: Sequence[int | None], start: int, *, nullable: bool) -> int:
    fields = rel.schema.fields
    first = origins[start]
    side = None if first is None else row.locate(first)
    if first is None or side is None:
        return 0
    number, inside = side
    source = (row.nullable_sides if nullable else row.sides)[number].fields
    limit = min(len(fields) - start, len(source) - inside)
    count, step, growing = 0, 1, True
    while step:  # it doubles while all is alike, and is halved from then on: a relation may have very many columns
        end = count + step
        alike = (
            end <= limit
            and fields[start + count : start + end] == source[inside + count : inside + end]
            and all(map(eq, origins[start + count : start + end], range(first + count, first + end)))
        )
        count = end if alike else count
        growing = growing and alike
        step = step * 2 if growing else step // 2
    return count
