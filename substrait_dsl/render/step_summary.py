"""One step of a plan, or a part of it, as one line of an error."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.errors import shorten
from substrait_dsl.render.describe import Description, describe
from substrait_dsl.render.description_parts import Column
from substrait_dsl.render.expressions import ExpressionWriter
from substrait_dsl.render.literals import name_text
from substrait_dsl.render.scopes import Labels, Row, Scope

LONGEST = 160
"""A step, or a part of it, is cut after so many characters."""


@attrs.frozen
class Step:
    """A relation of a plan and, maybe, a part of it, as the text of the plan shows them."""

    text: str
    """The relation with its arguments; where it computes several columns, the one that the part belongs to."""
    part: str | None
    """The expression, aggregate function or window function."""

    def __str__(self) -> str:
        return f"in {self.part} (step: {self.text})" if self.part else f"(step: {self.text})"


def step(plan: Rel, rel: Rel, node: Node | None = None) -> Step:
    """Return a step of a plan.

    Args:
        plan: the relation at the top.
        rel: the relation, anywhere in the plan, in its subqueries, too.
        node: a part of the relation: an expression, an aggregate function or a window function.
    """
    labels = Labels()
    description, scope = _find(plan, rel, labels)
    position = None if node is None else _column(rel, node)
    part = None if node is None else _part(node, rel, ExpressionWriter(labels, scope, rel.anchor))
    text = _outline(description) if position is None else _with_column(description, rel, position)
    return Step(text, None if part is None else shorten(part, LONGEST))


def origin(rel: Rel, position: int) -> str:
    """Return a relation in a line, with one of its columns: ``aggregate by k -> total: i64? = sum(x)``."""
    return _with_column(describe(rel), rel, position)


def summaries(plan: Rel) -> dict[int, str]:
    """Return each relation of a plan in a line, by its id, with the columns that it puts out, where it has its own."""
    return {id(rel): _summary(description) for rel, description, _ in _descriptions(plan, Labels())}


def _summary(description: Description) -> str:
    columns = "" if description.columns is None else f" -> {', '.join(map(str, description.columns))}"
    return shorten(_outline(description) + columns, 2 * LONGEST)


def _outline(description: Description) -> str:
    return shorten(" ".join([description.name, *map(str, description.arguments)]), LONGEST)


def _with_column(description: Description, rel: Rel, position: int) -> str:
    name = rel.schema.names[position]
    shown = [str(each) for each in description.columns or () if isinstance(each, Column) and each.name == name]
    return f"{_outline(description)} -> {shorten(shown[0] if shown else name_text(name), LONGEST)}"


def _find(plan: Rel, rel: Rel, labels: Labels) -> tuple[Description, Scope | None]:
    """Return the description of a relation, and the scope that it stands in."""
    for current, description, outer in _descriptions(plan, labels):
        if current is rel:
            return description, outer
    return describe(rel, labels), None  # one that its parents show only in part


def _descriptions(plan: Rel, labels: Labels) -> Iterator[tuple[Rel, Description, Scope | None]]:
    """Yield the relations of a plan, each with its description and the scope that it stands in."""
    waiting: list[tuple[Rel, Scope | None]] = [(plan, None)]
    seen: set[int] = set()
    while waiting:
        current, outer = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        description = describe(current, labels, outer)
        yield current, description, outer
        below: list[tuple[Rel, Scope | None]]
        below = [(subquery.rel, subquery.scope) for subquery in description.subqueries]
        below += zip(description.inputs, description.scopes, strict=True)
        waiting += reversed(below)  # in the order of the plan's text, so that subqueries have the same numbers


def _column(rel: Rel, node: Node) -> int | None:
    """Return the column that a part of a relation belongs to."""
    first, sources = _sources(rel)
    for position, source in enumerate(sources, first):
        if any(part is node for part in walk(source, into_relations=False)):
            return position
    return None


def _sources(rel: Rel) -> tuple[int, tuple[Node, ...]]:
    """Return the first computed column of a relation, and the nodes that it and the following are computed from."""
    match rel:
        case r.Project(input=child, expressions=expressions):
            return len(child.schema), expressions
        case r.Aggregate(keys=keys, measures=measures):
            return 0, (*keys, *measures)
        case r.Window(input=child, functions=functions):
            return len(child.schema), functions
        case r.Expand(fields=fields):
            return 0, fields
        case _:
            return 0, ()


def _part(node: Node, rel: Rel, writer: ExpressionWriter) -> str | None:
    row = _row(rel, node)
    match node:
        case ex.AggregateFunction():
            return writer.measure(ex.Measure(node), row)
        case ex.WindowCall():
            return writer.window(node, row)
        case ex.Expression():
            return writer.text(node, row)
        case _:
            return None


def _row(rel: Rel, node: Node) -> Row:
    """Return the row that a part of a relation sees."""
    match rel:
        case r.Read():
            return Row((rel.base_schema,))
        case r.Update():
            return Row((rel.table_schema,))
        case r.Join() | r.LateralJoin() | r.HashJoin() | r.MergeJoin() if rel.post_filter is not None and any(
            part is node for part in walk(rel.post_filter, into_relations=False)
        ):
            return Row((rel.schema,))
        case _:
            return Row(tuple(child.schema for child in rel.inputs))
