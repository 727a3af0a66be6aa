"""What there is to say about a relation, in one neutral record that any writer can print.

One small function per relation makes the record: a name, arguments as clauses (``on a = b``), the output columns if
they are not those of the input, and the relations below. A text, a diagram or a page are writers of such records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import assert_never

import attrs

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.properties import FieldPath
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.algebra.rules import JOIN_RULES
from substrait_dsl.algebra.schema import Field
from substrait_dsl.algebra.types import String, Struct, Type
from substrait_dsl.render.expressions import (
    DIRECTIONS,
    Binding,
    ExpressionWriter,
    Labels,
    Row,
    Scope,
    Subquery,
    expression_text,
)
from substrait_dsl.render.literals import constant_text, name_text

__all__ = ["Clause", "Column", "ColumnRun", "Description", "describe", "expression_text", "properties_clause"]

UNFOLDED = 8
"""A relation with no more output columns than this lists them all, also those that are as in the input."""

SHORTEST_RUN = 3
"""Fewer columns than this are not worth folding."""

MOST_CONJUNCTS = 100
"""A condition of more parts than this is not taken apart."""

LONGEST_TITLE = 40
"""An argument longer than this is no part of a relation's title."""

SHOWN_ROWS = 5
"""So many rows of a virtual table are shown."""


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
        return f"{name_text(self.name)}: {self.type}" + (f" = {self.source}" if self.source else "")


@attrs.frozen
class ColumnRun:
    """Output columns that are neighbours in an input too, with names and types unchanged or only made nullable."""

    first: str
    last: str
    count: int
    made_nullable: bool = False

    def __str__(self) -> str:
        nullable = ", made nullable" if self.made_nullable else ""
        return f"{name_text(self.first)} to {name_text(self.last)} ({self.count} columns{nullable})"


@attrs.frozen
class InputColumns:
    """All the columns of the input, or of one side of a join, as they are."""

    side: str = ""

    def __str__(self) -> str:
        return f"{self.side}.*" if self.side else "*"


OutputColumn = Column | ColumnRun | InputColumns


@attrs.frozen
class Description:
    """A relation, ready to be printed.

    `columns` is None if the output has the columns of the input. `subqueries` are those that the arguments mention, by
    the label that a writer then has to show with them.
    """

    name: str
    arguments: tuple[Clause, ...]
    columns: tuple[OutputColumn, ...] | None
    subqueries: tuple[Subquery, ...]
    inputs: tuple[Rel, ...]

    @property
    def title(self) -> str:
        """The name, with the argument that says which one it is: ``read orders``, ``join left_mark``."""
        which = [str(clause) for clause in self.arguments[:1] if not clause.label]
        return " ".join([self.name, *(text for text in which if len(text) <= LONGEST_TITLE)])


Parts = tuple[tuple[Clause | None, ...], Iterable[OutputColumn] | None]
"""What the function for one relation finds: arguments (None: not given), and output columns (None: the input's)."""


def describe(rel: Rel, labels: Labels | None = None, outer: Scope | None = None) -> Description:
    """The description of a relation.

    Args:
        rel: any relation.
        labels: the labels that the plan's relations have so far; subqueries get theirs here.
        outer: the scope that the relation stands in, if it is part of a subquery.
    """
    writer = ExpressionWriter(Labels() if labels is None else labels, outer, rel.anchor)
    arguments, columns = _parts(rel, writer)
    return Description(
        type(rel).__name__.lower(),
        tuple(clause for clause in arguments if clause is not None),
        None if columns is None else tuple(columns),
        tuple(writer.subqueries),
        rel.inputs,
    )


def properties_clause(rel: Rel) -> Clause:
    """What is known of the order and the distribution of a relation's rows; nothing is said of an unknown one."""
    row = Row((rel.schema,))
    keys = [f"{_path_text(rel, row, key.field)} {DIRECTIONS[key.direction]}" for key in rel.properties.ordering]
    known = [f"ordered by {', '.join(keys)}" if keys else "unordered"]
    distribution = rel.properties.distribution
    if distribution is not None:
        paths = ", ".join(_path_text(rel, row, path) for path in sorted(distribution.fields))
        known.append(f"{distribution.kind} by {paths}" if paths else distribution.kind)
    return Clause("", (f"[{'; '.join(known)}]",))


def _path_text(rel: Rel, row: Row, path: FieldPath) -> str:
    text = row.label(path[0])
    kind = rel.schema.types[path[0]]
    for position in path[1:]:
        assert isinstance(kind, Struct)  # a path leads into structs only
        text += f".{name_text(kind.names[position])}" if kind.names else f".${position}"
        kind = kind.types[position]
    return text


def _parts(rel: Rel, writer: ExpressionWriter) -> Parts:
    """The arguments and the output columns of a relation: one case per kind."""
    closed = r.closed(rel)
    match closed:
        case r.Read():
            return _read(closed, writer)
        case r.Filter():
            return (_condition("", closed.condition, Row((closed.input.schema,)), writer),), None
        case r.Sort():
            row = Row((closed.input.schema,))
            return (Clause("by", tuple(writer.sort_key(key, row) for key in closed.keys)),), None
        case r.Fetch():
            return _fetch(closed, writer), None
        case r.Project():
            return (), _project_columns(closed, writer)
        case r.Emit():
            return (), _kept_columns(closed, Row((closed.input.schema,)), closed.mapping)
        case r.Aggregate():
            return _aggregate(closed, writer)
        case r.Set():
            primary = closed.relations[0].schema
            same = closed.schema == primary
            columns = None if same else _kept_columns(closed, Row((primary,)), range(len(primary)))
            return (Clause("", (closed.op,)),), columns
        case r.Join():
            return _join(closed, writer)
        case r.Cross():
            row = Row((closed.left.schema, closed.right.schema))
            return (), _kept_columns(closed, row, range(len(closed.schema)))
        case _:
            assert_never(closed)


def _condition(label: str, condition: Expression | None, row: Row, writer: ExpressionWriter) -> Clause | None:
    """A condition, with what `and` connects as items."""
    if condition is None:
        return None
    parts = list(islice(conjuncts(condition), MOST_CONJUNCTS + 1))
    if not 1 < len(parts) <= MOST_CONJUNCTS:  # too many, perhaps exponentially many: as one text, which may be cut
        return Clause(label, (writer.text(condition, row),))
    return Clause(label, tuple(writer.text(part, row, Binding.AND) for part in parts), " and ")


# --- read


def _read(read: r.Read, writer: ExpressionWriter) -> Parts:
    row = Row((read.base_schema,))
    projection = None
    if read.projection is not None:
        partly = ", some in part" if any(item.child is not None for item in read.projection.items) else ""
        projection = Clause("", (f"({len(read.schema)} of {len(read.base_schema)} columns{partly})",))
    arguments = (
        _source(read.definition, writer),
        _condition("where", read.filter, row, writer),
        _condition("where perhaps", read.best_effort_filter, row, writer),
        projection,
    )
    return arguments, (Column(field.name, field.type) for field in read.schema)


def _source(definition: r.ReadDefinition, writer: ExpressionWriter) -> Clause:
    match definition:
        case r.NamedTable(names):
            return Clause("", (".".join(name_text(name) for name in names),))
        case r.VirtualTable(rows):
            shown = [
                f"({', '.join(writer.text(field, Row(())) for field in record.fields)})" for record in rows[:SHOWN_ROWS]
            ]
            more = [f"... ({len(rows) - SHOWN_ROWS} more)"] if len(rows) > SHOWN_ROWS else []
            return Clause("values" if rows else "values (no rows)", (*shown, *more))
        case r.LocalFiles(items):
            return Clause("files", tuple(_file_text(item) for item in items))
        case _:
            assert_never(definition)


def _file_text(item: r.FileItem) -> str:
    kind = "" if item.kind == "path" else f" {item.kind}"
    part = [f"{name} {getattr(item, name)}" for name in ("partition_index", "start", "length") if getattr(item, name)]
    inside = f" ({', '.join(part)})" if part else ""
    return f"{_format_text(item.format)}{kind} {_quoted(item.uri)}{inside}"


def _format_text(file_format: r.FileFormat) -> str:
    """The format's name, and its settings that are not the usual ones."""
    settings = [
        f"{field.name} {_quoted(value) if isinstance(value, str) else value}"
        for field in attrs.fields(type(file_format))
        if (value := getattr(file_format, field.name)) != field.default
    ]
    match file_format:
        case r.Parquet() | r.Arrow() | r.Orc() | r.Dwrf():
            name = type(file_format).__name__.lower()
        case r.DelimitedText():
            name = "delimited text"
        case _:
            assert_never(file_format)
    return f"{name} ({', '.join(settings)})" if settings else name


def _quoted(text: str) -> str:
    return constant_text(text, String())


# --- relations that compute or move columns


def _fetch(fetch: r.Fetch, writer: ExpressionWriter) -> tuple[Clause | None, ...]:
    row = Row((fetch.input.schema,))
    count = "all" if fetch.count is None else writer.text(fetch.count, row)
    offset = None if fetch.offset is None else Clause("offset", (writer.text(fetch.offset, row),))
    return Clause("", (count,)), offset


def _project_columns(project: r.Project, writer: ExpressionWriter) -> Iterable[Column | InputColumns]:
    row = Row((project.input.schema,))
    yield InputColumns()
    for name, expression in zip(project.names, project.expressions, strict=True):
        yield Column(name, expression.type, writer.text(expression, row))


def _aggregate(aggregate: r.Aggregate, writer: ExpressionWriter) -> Parts:
    row, output = Row((aggregate.input.schema,)), Row((aggregate.schema,))
    sources = [writer.text(key, row) for key in aggregate.keys]
    sources += [writer.measure(measure, row) for measure in aggregate.measures]
    if len(sources) < len(aggregate.schema):
        sources.append("index of the grouping set")
    columns = [_computed(field, source) for field, source in zip(aggregate.schema, sources, strict=True)]
    sets = [[output.label(position) for position in positions] for positions in aggregate.grouping_sets]
    match sets:
        case []:
            by = None
        case [keys] if keys:
            by = Clause("by", tuple(keys))
        case _:
            by = Clause("by", tuple(f"({', '.join(keys)})" for keys in sets))
    return (by,), columns


def _computed(field: Field, source: str) -> Column:
    return Column(field.name, field.type, None if source == name_text(field.name) else source)


def _join(join: r.Join, writer: ExpressionWriter) -> Parts:
    both, output = Row((join.left.schema, join.right.schema)), Row((join.schema,))
    arguments = (
        Clause("", (join.how,)),
        _condition("on", join.condition, both, writer),
        _condition("then filter", join.post_filter, output, writer),
    )
    return arguments, _join_columns(join, both)


def _join_columns(join: r.Join, both: Row) -> Iterable[OutputColumn]:
    rule = JOIN_RULES[join.how]
    if rule.left != "absent" and rule.right != "absent":
        return _kept_columns(join, both, range(len(join.schema)))
    mark = join.schema.fields[-1]
    kept = InputColumns("right" if rule.left == "absent" else "left")
    return (kept, Column(mark.name, mark.type)) if rule.mark else (kept,)


# --- columns that come from an input


def _kept_columns(rel: Rel, row: Row, origins: Sequence[int]) -> Iterable[Column | ColumnRun]:
    """The output columns of a relation, each with its position in the row of its inputs.

    If there are many, neighbours that stay neighbours are folded.
    """
    fold = len(origins) > UNFOLDED
    position = 0
    while position < len(origins):
        run = _run(rel, row, origins, position) if fold else None
        yield run or _computed(rel.schema.fields[position], row.label(origins[position]))
        position += run.count if run else 1


def _run(rel: Rel, row: Row, origins: Sequence[int], start: int) -> ColumnRun | None:
    """The run of unchanged columns, or of columns made nullable, that begins at a position of the output."""
    same = _run_length(rel, row, origins, start, lambda kind: kind)
    count = max(same, _run_length(rel, row, origins, start, Type.as_nullable))
    if count < SHORTEST_RUN:
        return None
    fields = rel.schema.fields
    return ColumnRun(fields[start].name, fields[start + count - 1].name, count, made_nullable=same < count)


def _run_length(rel: Rel, row: Row, origins: Sequence[int | None], start: int, change: Callable[[Type], Type]) -> int:
    fields = rel.schema.fields
    first = origins[start]
    side = None if first is None else row.locate(first)
    if first is None or side is None:
        return 0
    number, inside = side
    source = row.sides[number].fields
    count = 0
    while (
        start + count < len(fields)
        and inside + count < len(source)
        and origins[start + count] == first + count
        and fields[start + count].name == source[inside + count].name
        and fields[start + count].type == change(source[inside + count].type)
    ):
        count += 1
    return count
