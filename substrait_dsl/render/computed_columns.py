"""Relations that compute columns: project, aggregate, window, expand."""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.expressions import Expression, SortKey
from substrait_dsl.render.description_parts import Clause, Column, InputColumns, Parts, computed_column
from substrait_dsl.render.expressions import ExpressionWriter
from substrait_dsl.render.scopes import Row


def project_parts(project: r.Project, writer: ExpressionWriter) -> Parts:
    """Return the parts of a project's description."""
    row = Row((project.input.schema,))
    return (), _further_columns(project, [writer.text(expression, row) for expression in project.expressions])


def window_parts(window: r.Window, writer: ExpressionWriter) -> Parts:
    """Return the parts of a window's description."""
    row = Row((window.input.schema,))
    arguments = (
        None if window.method == "consistent_partition" else Clause("", (window.method,)),
        expressions_clause("partition by", window.partitions, row, writer),
        sort_clause("order by", window.sorts, row, writer),
    )
    return arguments, _further_columns(window, [writer.window(call, row) for call in window.functions])


def _further_columns(rel: r.Project | r.Window | r.Unnest, sources: Sequence[str]) -> list[Column | InputColumns]:
    fields = rel.schema.fields[len(rel.input.schema) :]
    further = [Column(field.name, field.type, source) for field, source in zip(fields, sources, strict=True)]
    return [InputColumns(), *further]


def aggregate_parts(aggregate: r.Aggregate, writer: ExpressionWriter) -> Parts:
    """Return the parts of an aggregate's description."""
    row, output = Row((aggregate.input.schema,)), Row((aggregate.schema,))
    sources = [writer.text(key, row) for key in aggregate.keys]
    sources += [writer.measure(measure, row) for measure in aggregate.measures]
    if len(sources) < len(aggregate.schema):
        sources.append("index of the grouping set")
    columns = [computed_column(field, source) for field, source in zip(aggregate.schema, sources, strict=True)]
    labels = [output.label(position) for position in range(len(aggregate.keys))]
    sets = [[labels[position] for position in positions] for positions in aggregate.grouping_sets]
    method = None if aggregate.method == "any" else Clause("", (aggregate.method,))
    match sets:
        case []:
            by = None
        case [keys] if keys:
            by = Clause("by", tuple(keys))
        case _:
            by = Clause("by", tuple(f"({', '.join(keys)})" for keys in sets))
    return (method, by), columns


def expand_parts(expand: r.Expand, writer: ExpressionWriter) -> Parts:
    """Return the parts of an expand's description."""
    row = Row((expand.input.schema,))
    sources = [_expand_source(field, row, writer) for field in expand.fields]
    sources.append("index of the duplicate")
    return (), [computed_column(field, source) for field, source in zip(expand.schema, sources, strict=True)]


def _expand_source(field: r.ExpandField, row: Row, writer: ExpressionWriter) -> str:
    match field:
        case r.ConsistentField():
            return writer.text(field.expression, row)
        case r.SwitchingField():
            return f"switching ({', '.join(writer.text(duplicate, row) for duplicate in field.duplicates)})"


def unnest_parts(unnest: r.Unnest) -> Parts:
    """Return the parts of an unnest's description."""
    name = Row((unnest.input.schema,)).label(unnest.column)
    return (Clause("", (name,)),), _further_columns(unnest, [f"element of {name}", "its offset"])


def expressions_clause(
    label: str, expressions: Sequence[Expression], row: Row, writer: ExpressionWriter
) -> Clause | None:
    """Expressions in a row; None if there are none."""
    return Clause(label, tuple(writer.text(expression, row) for expression in expressions)) if expressions else None


def sort_clause(label: str, keys: Sequence[SortKey], row: Row, writer: ExpressionWriter) -> Clause | None:
    """Sort keys; None if there are none."""
    return Clause(label, tuple(writer.sort_key(key, row) for key in keys)) if keys else None
