"""A plan as indented text for a terminal.

Each relation has a line, with its inputs below it, indented; what does not fit on the line follows below it after a
``|``. A subquery stands below the relation that has it, before the inputs. A relation that is reached twice is printed
once and then referred to by its label; so is one that would be too deep, which is printed at the left margin instead.
One that the plan itself has only once is marked ``shared``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import attrs

from substrait_dsl.algebra.expressions import AggregateFunction, Measure
from substrait_dsl.algebra.extended import ExtendedExpression
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import List, Map, Struct, Type
from substrait_dsl.render.describe import Clause, Description, properties_clause
from substrait_dsl.render.description_parts import columns_clause, computed_column
from substrait_dsl.render.expressions import ExpressionWriter
from substrait_dsl.render.literals import name_text
from substrait_dsl.render.plan_walk import Mention, PlanWalk, ShownStep, Task, walk_plan, walk_relation
from substrait_dsl.render.scopes import NO_ROW, Labels, Row

WIDTH = 100
"""Lines are broken to stay within so many characters, where there is a place to break."""

MAX_ITEMS = 40
"""A list longer than this is cut, and says how much is missing."""

_INDENT = "  "
_DETAIL = "    | "
_WORD = re.compile(r"""(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|\S)+""")
"""A word, inside which no line is broken: blanks in quotes are part of it."""


def explain(rel: Rel, *, properties: bool = False) -> str:
    """Return a plan as text: the relation, and everything below it.

    Args:
        rel: the relation at the top.
        properties: show for each relation what is known of the order and the distribution of its rows.

    Each relation is shown with its arguments and, after ``->``, the columns it puts out, unless those are the columns
    of its input: name, type (``?``: nullable) and what the column is computed from. ``*`` are all columns of the input.
    A column of an enclosing relation, seen from a subquery, is called ``outer.name``. The text grows with the number of
    relations, however deep they stand and however often they are shared; what is long or wide is cut, and says so.
    """
    return "\n".join(_lines(walk_relation(rel), properties=properties))


def explain_plan(plan: AlgebraPlan, roots: Sequence[Rel]) -> str:
    """Return a plan as text: each tree in turn, then its parameter bindings, and how variables are evaluated.

    Args:
        plan: the plan.
        roots: its roots, under the names that it gives their columns.

    What several trees share is printed once. That variables have one value for the whole plan is not said.
    """
    labels = Labels()
    lines = list(_lines(walk_plan(plan, roots, labels)))
    return "\n".join([*lines, *plan_notes(plan, labels)])


def plan_notes(plan: AlgebraPlan, labels: Labels) -> list[str]:
    """Return what there is to say about a plan below its trees: parameter bindings, how variables are evaluated."""
    writer = ExpressionWriter(labels)
    notes = [
        f"parameter({binding.anchor}) = {writer.text(binding.value, NO_ROW)}" for binding in plan.parameter_bindings
    ]
    if plan.evaluation_mode != "per_plan":
        notes.append(f"variables are evaluated {plan.evaluation_mode}")
    return notes


def explain_extended(extended: ExtendedExpression) -> str:
    """Return an extended expression as text.

    The row it is about, a line for each column, and the subqueries in them.
    """
    writer = ExpressionWriter(Labels(), None, extended.anchor)
    row = Row((extended.base_schema,))
    lines = [f"extended expression over {shorten_clause(columns_clause(extended.base_schema))}"]
    for field, node in zip(extended.schema, extended.nodes, strict=True):
        match node:
            case AggregateFunction():
                lines.append(f"{_INDENT}{computed_column(field, writer.measure(Measure(node), row))}")
            case Expression():
                lines.append(f"{_INDENT}{computed_column(field, writer.text(node, row))}")
    tasks = {
        id(each.rel): Task(each.rel, 1, each.scope, f"subquery {writer.labels.of(each.rel)}: ")
        for each in writer.subqueries
    }
    return "\n".join([*lines, *_lines(PlanWalk(tasks.values(), writer.labels))])


def show_schema(schema: NamedStruct) -> str:
    """Return a schema as text: position, name and type (``?``: nullable), a line for each column and named field."""
    rows: list[tuple[str, str, str]] = []
    for position, field in enumerate(schema):
        rows.append((str(position), name_text(field.name), str(field.type)))
        nested = nested_fields(field.type)
        rows.extend(("", _INDENT * depth + name_text(name), str(type_)) for depth, name, type_ in nested)
    if not rows:
        return "(no columns)"
    numbers, names, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    return "\n".join(f"{number:>{numbers}}  {name:<{names}}  {type_}" for number, name, type_ in rows)


def nested_fields(type_: Type, depth: int = 1) -> Iterator[tuple[int, str, Type]]:
    """Yield the named fields of structs in a type: how deep each stands, its name and its type."""
    match type_:
        case Struct(types=types, names=tuple(names)):
            for name, inner in zip(names, types, strict=True):
                yield depth, name, inner
                yield from nested_fields(inner, depth + 1)
        case List(element=element):
            yield from nested_fields(element, depth)
        case Map(key=key, value=value):
            yield from nested_fields(key, depth)
            yield from nested_fields(value, depth)
        case _:
            return


def _lines(walk: PlanWalk, *, properties: bool = False) -> Iterator[str]:
    """Yield the lines of a text: of each step a single one, if everything fits on it."""
    for entry in walk:
        indent = _INDENT * entry.depth
        if isinstance(entry, Mention):
            yield indent + entry.text
            continue
        head, *details = step_lines(entry, WIDTH - len(indent), properties=properties)
        yield indent + head
        yield from (indent + _DETAIL + detail for detail in details)


def step_lines(step: ShownStep, width: int, *, properties: bool = False, max_items: int = MAX_ITEMS) -> Iterator[str]:
    """Yield the lines of one step: its verb with what fits on the line, and then the rest of its clauses.

    Args:
        step: the step.
        width: how many characters a line has, where there is a place to break it.
        properties: whether to say its ordering and distribution.
        max_items: a list longer than this is cut.
    """
    clauses = [shorten_clause(clause, max_items) for clause in _clauses(step.rel, step.description, properties)]
    line = f"{step.heading}{step.description.name}"
    while clauses and len(line) + 1 + len(str(clauses[0])) <= width:
        line += f" {clauses.pop(0)}"
    yield line
    for clause in clauses:
        yield from _broken(clause, width - len(_DETAIL))


def _clauses(rel: Rel, description: Description, properties: bool) -> Iterator[Clause]:
    yield from description.arguments
    if description.columns is not None:
        yield Clause("->", tuple(map(str, description.columns)) or ("no columns",))
    if properties:
        yield properties_clause(rel)


def shorten_clause(clause: Clause, max_items: int = MAX_ITEMS) -> Clause:
    """Return a clause whose list is cut, and says how much is missing."""
    missing = len(clause.items) - max_items
    if missing <= 0:
        return clause
    return attrs.evolve(clause, items=(*clause.items[:max_items], f"... ({missing} more)"))


def _broken(clause: Clause, width: int) -> Iterator[str]:
    """Yield a clause on several lines: each condition on one of its own, of anything else as many items as fit."""
    stacked = clause.joiner.strip().isalpha()
    line = ""
    for number, chunk in enumerate(_chunks(clause, stacked)):
        if line and not stacked and len(line) + 1 + len(chunk) <= width:
            line += f" {chunk}"
            continue
        if line:
            yield line
        *full, line = _wrap_text(_INDENT + chunk if number else chunk, width)
        yield from full
    yield line


def _chunks(clause: Clause, stacked: bool) -> Iterator[str]:
    """Yield the items of a clause with what introduces or joins them."""
    joiner = clause.joiner.strip()
    last = len(clause.items) - 1
    for number, item in enumerate(clause.items):
        before = clause.label if number == 0 else joiner if stacked else ""
        after = joiner if number < last and not stacked else ""
        yield f"{before} {item}{after}".lstrip()


def _wrap_text(text: str, width: int) -> Iterator[str]:
    """Yield a text broken between words; all lines but the first are indented further."""
    indent = text[: len(text) - len(text.lstrip())]
    line = ""
    for word in _WORD.findall(text):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = ""
            indent += "" if indent.endswith(_INDENT * 2) else _INDENT * 2
        line = f"{line} {word}" if line else indent + word
    yield line
