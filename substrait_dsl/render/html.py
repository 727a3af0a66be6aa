"""What cells of notebooks show: relations and plans as trees that fold, schemas as tables.

The words are those of the text of a plan (`describe`, `plan_walk`). Where that has no columns, as they are those of the
input, there are none here, either: so what is shown grows with the steps, and not with the steps times the columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from substrait_dsl.algebra.findings import WEIGHTS, Finding
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import Type
from substrait_dsl.markup import Markup, element, end_tag, fragment, start_tag
from substrait_dsl.render.describe import Column, properties_clause
from substrait_dsl.render.literals import name_text, type_text
from substrait_dsl.render.plan_walk import Mention, PlanWalk, ShownStep, walk_plan, walk_relation
from substrait_dsl.render.scopes import Labels
from substrait_dsl.render.text import MAX_ITEMS, nested_fields, plan_notes, shorten_clause

MAX_OPEN = 40
"""So many steps are unfolded at first."""

MAX_OPEN_COLUMNS = 12
"""A relation with no more columns than this shows them at first."""

_INSIDE = "margin-left: 0.5em; padding-left: 1em"
"""Where a step stands below another. Its element says so: in a notebook that it does not trust, JupyterLab leaves out
style sheets."""

_COLUMNS: dict[str, str] = {"class_": "sd-columns", "style": "margin-left: 1.5em"}

_MAX_INDENT = 20
"""Fields of structs that stand deeper are indented no further."""


def relation_html(rel: Rel) -> str:
    """Return a relation as HTML: its columns, and below them its steps, a tree that folds."""
    tree = _Tree()
    steps = list(tree.pieces(walk_relation(rel)))
    head = f"relation: {_columns(rel.schema)}, {counted(tree.shown, 'step')}"
    return fragment(_columns_of(rel, head), *steps)


def plan_html(
    plan: AlgebraPlan, roots: Sequence[Rel], *, origin: str | None = None, findings: Sequence[Finding] = ()
) -> str:
    """Return a plan as HTML: what it returns, its findings, and each tree, which folds.

    Args:
        plan: the plan.
        roots: its roots, under the names that it gives their columns.
        origin: by whom, and of which version of the specification it is, if it was read.
        findings: where it differs from the specification.
    """
    labels, tree = Labels(), _Tree()
    steps = list(tree.pieces(walk_plan(plan, roots, labels)))
    size = f"plan: {counted(len(plan.trees), 'tree')}, {counted(len(roots), 'root')}, {counted(tree.shown, 'step')}"
    outputs = [
        _columns_of(rel, f"root {number}: {_columns(rel.schema)}" if len(roots) > 1 else _columns(rel.schema))
        for number, rel in enumerate(islice(roots, MAX_ITEMS))
    ]
    if len(roots) > MAX_ITEMS:
        outputs.append(element("div", f"... ({len(roots) - MAX_ITEMS} more roots)"))
    notes = [element("div", note, class_="sd-text") for note in plan_notes(plan, labels)]
    head = element("div", size, *((element("i", f" ({origin})"),) if origin else ()))
    return fragment(head, *_findings(findings), *outputs, *steps, *notes)


def schema_html(schema: NamedStruct, head: str = "") -> str:
    """Return a schema as HTML: a table of all columns and the named fields in them, below what it is the schema of."""
    table = _table(enumerate(schema)) if len(schema) else element("div", "(no columns)")
    return fragment(*((element("div", head),) if head else ()), table)


def expression_html(written: str) -> str:
    """Return the text of an expression as HTML."""
    return fragment(element("code", written, class_="sd-text"))


def text_html(written: str) -> str:
    """Return a text of several lines as HTML, as it is."""
    return fragment(*(element("div", line, class_="sd-text") for line in written.split("\n")))


class _Tree:
    """The steps of a plan as nested elements, each of which folds."""

    def __init__(self) -> None:
        self.shown = 0
        """How many steps have been shown so far."""

    def pieces(self, walk: PlanWalk) -> Iterator[Markup]:
        """Yield the pieces of the tree."""
        depth = 0  # so many elements are open
        for entry in walk:
            yield from (end_tag("details") for _ in range(depth - entry.depth))
            depth = entry.depth
            where = {"class_": "sd-step sd-inside", "style": _INSIDE} if depth else {"class_": "sd-step"}
            if isinstance(entry, Mention):
                yield element("div", element("i", entry.text), **where)
                continue
            self.shown += 1
            folded = {} if self.shown > MAX_OPEN else {"open": ""}
            yield start_tag("details", **where, **folded)
            yield from _step(entry)
            depth += 1
        yield from (end_tag("details") for _ in range(depth))


def _step(step: ShownStep) -> Iterator[Markup]:
    """Yield a step: its verb and its arguments; then its columns, which unfold, and their order and distribution."""
    arguments = [f" {shorten_clause(clause)}" for clause in step.description.arguments]
    heading = (element("i", step.heading),) if step.heading else ()
    yield element("summary", *heading, element("b", step.description.name), *arguments, class_="sd-text")
    known = str(properties_clause(step.rel)).removeprefix("[").removesuffix("]")
    columns = step.description.columns
    if columns is None:
        yield element("div", f"{_columns(step.rel.schema)}, as in the input; {known}", **_COLUMNS)
        return
    missing = len(columns) - MAX_ITEMS
    rows = [
        row
        for each in columns[:MAX_ITEMS]
        for row in (
            _column_rows(each.name, each.type, each.source or "")
            if isinstance(each, Column)
            else (_row(str(each), "", "", "as in the input"),)
        )
    ]
    if missing > 0:
        rows.append(_row(f"... ({missing} more)", "", "", ""))
    table = element("table", _row("column", "type", "nullable", "computed from", cell="th"), *rows)
    yield element(
        "details",
        element("summary", f"{_columns(step.rel.schema)}; {known}", class_="sd-text"),
        table,
        **_COLUMNS,
    )


def _columns_of(rel: Rel, head: str) -> Markup:
    """Return the columns that a relation puts out, below a line that says what it is."""
    fields = list(islice(enumerate(rel.schema), MAX_ITEMS))
    missing = len(rel.schema) - MAX_ITEMS
    rest = (element("div", f"... ({missing} more; schema shows all)"),) if missing > 0 else ()
    folded = {} if len(rel.schema) > MAX_OPEN_COLUMNS else {"open": ""}
    return element("details", element("summary", head), _table(fields), *rest, **folded)


def _table(fields: Iterable[tuple[int, Field]]) -> Markup:
    """Return columns with their positions, each with its named fields below it."""
    rows = [row for position, field in fields for row in _column_rows(field.name, field.type, number=str(position))]
    return element("table", _row("", "column", "type", "nullable", cell="th"), *rows)


def _column_rows(name: str, type_: Type, *after: str, number: str | None = None) -> Iterator[Markup]:
    """Yield the row of a column, and one for each named field in it.

    Args:
        name: its name.
        type_: its type.
        after: further cells.
        number: its position, in a table that has them.
    """
    before = () if number is None else ("",)
    rest = ("",) * len(after)
    yield _row(*(() if number is None else (number,)), name_text(name), *_type_cells(type_), *after)
    fields = nested_fields(type_)
    for depth, inner, inner_type in islice(fields, MAX_ITEMS):
        indented = element("span", name_text(inner), style=f"padding-left: {min(depth, _MAX_INDENT) * 1.5}em")
        yield _row(*before, indented, *_type_cells(inner_type), *rest)
    if next(fields, None) is not None:
        yield _row(*before, "... (more fields)", "", "", *rest)


def _type_cells(type_: Type) -> tuple[str, str]:
    return type_text(type_), "yes" if type_.nullable else "no"


def _row(*contents: str, cell: str = "td") -> Markup:
    """Return a row, whose texts stand to the left: those of JupyterLab's tables stand to the right."""
    return element("tr", *(element(cell, content, style="text-align: left") for content in contents))


def _findings(findings: Sequence[Finding]) -> Iterator[Markup]:
    """Yield the findings of each weight, the heaviest first; what was assumed is unfolded."""
    for weight in reversed(WEIGHTS):
        found = [each for each in findings if each.weight == weight]
        if not found:
            continue
        items = [element("li", str(each), class_="sd-text") for each in found[:MAX_ITEMS]]
        if len(found) > MAX_ITEMS:
            items.append(element("li", f"... ({len(found) - MAX_ITEMS} more)"))
        folded = {"open": ""} if weight == "assumed" else {}
        head = element("summary", f"{counted(len(found), 'finding')}: {weight}")
        yield element("details", head, element("ul", *items), class_=f"sd-{weight}", **folded)


def _columns(schema: NamedStruct) -> str:
    return counted(len(schema), "column")


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 step``, ``2,000 steps``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
