"""A page by itself that shows plans as graphs to walk about in: what a plan says, as data, beside the page's script.

The data is JSON in a script element that does not run; its `<`, `>` and `&` are escapes, so that nothing in it ends the
element or begins a comment. The script (``page.js``) writes all of it as text. The policy of the page names the script
and the style by their hashes: nothing else runs, and nothing is loaded or sent.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice

import attrs

from substrait_dsl.algebra.findings import WEIGHTS, Finding
from substrait_dsl.algebra.schema import Field
from substrait_dsl.markup import Markup, document, element
from substrait_dsl.render.describe import Column, ColumnRun, Description, properties_clause
from substrait_dsl.render.description_parts import InputColumns
from substrait_dsl.render.graph_layout import lay_out_graph
from substrait_dsl.render.graphs import Graph
from substrait_dsl.render.literals import name_text, type_text
from substrait_dsl.render.plan_walk import ShownStep
from substrait_dsl.render.text import MAX_ITEMS, nested_fields, shorten_clause
from substrait_dsl.texts import printable

MAX_COLUMNS = 1_000
"""Of a step with more columns than this the first ones are on the page."""

Origin = tuple[int, int, str] | tuple[str, str]
"""What something comes from: a column of a relation of the step, by its number and position, or a source; and how.

At the position -1 stands what is no column: which rows there are.
"""

Uses = tuple[tuple[int | str, ...], ...]
"""What something comes from, by the numbers of steps."""

Json = dict[str, object]


@attrs.frozen
class StepFacts:
    """What is known of a step beside its description."""

    columns: Sequence[tuple[Origin, ...]] | None
    """What each of its columns comes from; None if they are not followed."""
    rows: tuple[Origin, ...]
    """What decides which rows there are."""
    relations: Sequence[int]
    """The steps that these are columns of, by their numbers; -1 is none."""
    message: str
    """Its message of the specification, as JSON."""
    change: str = ""
    """What became of it, where two plans are compared: ``added``, ``removed`` or ``changed``."""
    partner: int | None = None
    """The number of the step of the other plan that stands in its place."""


@attrs.frozen
class PagePlan:
    """A plan as a page shows it.

    Args:
        title: what it is called.
        about: lines about all of it.
        findings: where it differs from the specification.
        graph: its steps.
        facts: what else is known of each.
        declarations: what the messages of the steps refer to, as JSON.
        outputs: the numbers of the steps that are roots.
    """

    title: str
    about: Sequence[str]
    findings: Sequence[Finding]
    graph: Graph
    facts: Sequence[StepFacts]
    declarations: str
    outputs: frozenset[int]


def plan_page(title: str, plans: Sequence[PagePlan], changes: Sequence[str] | None = None) -> str:
    """Return the page of a plan, or of two that are compared.

    Args:
        title: what the window is called.
        plans: one plan, or what it was and what it became.
        changes: the lines that say what differs, of two plans.
    """
    data: Json = {"title": printable(title), "plans": [_plan(each) for each in plans]}
    if changes is not None:
        data["changes"] = [*map(printable, changes)]
    script, style = _resource("page.js"), _resource("page.css")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    body = Markup(
        element("noscript", "The script of this page, which draws the plan, is turned off here.")
        + element("script", _inert_json(data), type="application/json", id="data")
        + element("script", script)
    )
    return document(title, policy, element("style", style), body)


@cache
def _resource(name: str) -> Markup:
    return Markup((files("substrait_dsl.render") / name).read_text(encoding="utf-8"))


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _inert_json(value: Json) -> Markup:
    """Return JSON that is text in a script element: no character of it means anything to a reader of HTML."""
    text = json.dumps(value, separators=(",", ":"))  # in ASCII
    return Markup(text.translate({ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}))


def _plan(plan: PagePlan) -> Json:
    graph = plan.graph
    fields = _Fields()
    uses: dict[Uses, int] = {}
    places = lay_out_graph(len(graph.steps), graph.edges)
    inputs: list[list[int]] = [[] for _ in graph.steps]
    related: list[set[int]] = [set() for _ in graph.steps]
    for edge in graph.edges:
        related[edge.target].add(edge.source)
        if not edge.is_subquery:
            inputs[edge.target].append(edge.source)
    steps = []
    used = {edge.source for edge in graph.edges}
    all_facts = zip(graph.steps, plan.facts, places, inputs, related, strict=True)
    for number, (step, facts, place, below, known) in enumerate(all_facts):
        steps.append(
            {
                **_description(step),
                "size": len(step.rel.schema),
                "fields": _columns(step, below, fields),
                "is_followed": facts.columns is not None,
                "lineage": [*_lineage(facts, uses)],
                "rows": _number(facts.rows, facts, uses) if facts.rows else None,
                "is_output": number in plan.outputs or number not in used,
                "is_correlated": not known.issuperset(facts.relations),
                "message": printable(facts.message),
                "change": facts.change,
                "partner": facts.partner,
                "column": place.column,
                "layer": place.layer,
            }
        )
    return {
        "title": printable(plan.title),
        "about": [*map(printable, plan.about)],
        "findings": [*_findings(plan.findings)],
        "declarations": printable(plan.declarations),
        "fields": [*map(_field, fields.numbers)],
        "uses": [
            [[printable(part) if isinstance(part, str) else part for part in use] for use in each] for each in uses
        ],
        "steps": steps,
        "edges": [[edge.source, edge.target, edge.label, edge.is_subquery] for edge in graph.edges],
        "across": max((place.column for place in places), default=0) + 1,
        "down": max((place.layer for place in places), default=0) + 1,
    }


def _description(step: ShownStep) -> Json:
    """Return the words of a step."""
    return {
        "heading": printable(step.heading),
        "verb": printable(step.description.name),
        "arguments": [printable(str(shorten_clause(clause))) for clause in step.description.arguments],
        "properties": printable(str(properties_clause(step.rel)).removeprefix("[").removesuffix("]")),
        "computed": {position: printable(text) for position, text in _computed(step.description)},
    }


def _computed(description: Description) -> Iterator[tuple[int, str]]:
    """Yield what columns are computed from, by their positions."""
    position = 0
    for each in description.columns or ():
        match each:
            case Column(source=str(source)):
                yield position, source
                position += 1
            case Column():
                position += 1
            case ColumnRun(count=count):
                position += count
            case InputColumns(side=side):
                position += len(description.inputs[side == "right"].schema)
        if position >= MAX_COLUMNS:
            return


class _Fields:
    """Columns by their numbers; most are the same objects in many steps, which need not be compared."""

    def __init__(self) -> None:
        self.numbers: dict[Field, int] = {}
        self._by_id: dict[int, tuple[int, Field]] = {}

    def __getitem__(self, field: Field) -> int:
        known = self._by_id.get(id(field))
        if known is None:
            known = self._by_id[id(field)] = self.numbers.setdefault(field, len(self.numbers)), field
        return known[0]


def _columns(step: ShownStep, inputs: Sequence[int], fields: _Fields) -> int | list[tuple[int, int]]:
    """Return the columns of a step: the number of an input that has the same, or runs of numbers of fields."""
    if step.description.columns is None and inputs and step.rel.schema == step.rel.inputs[0].schema:
        return inputs[0]
    runs: list[tuple[int, int]] = []
    for field in islice(step.rel.schema, MAX_COLUMNS):
        number = fields[field]
        start, length = runs[-1] if runs else (-1, 0)
        if start + length == number and length:
            runs[-1] = start, length + 1
        else:
            runs.append((number, 1))
    return runs


def _lineage(facts: StepFacts, uses: dict[Uses, int]) -> Iterator[tuple[int, int, int] | int]:
    """Yield what columns come from: runs of columns of one step that are as they were there, or numbers of uses."""
    relation = start = length = 0
    for origins in facts.columns or ():
        origin = origins[0] if len(origins) == 1 else ("", "")
        is_copy = len(origin) == 3 and origin[2] == "identity" and facts.relations[origin[0]] >= 0
        if length and not (is_copy and origin[0] == relation and origin[1] == start + length):
            yield length, facts.relations[relation], start
            length = 0
        if not is_copy:
            yield _number(origins, facts, uses)
        elif length:
            length += 1
        else:
            relation, start, length = int(origin[0]), int(origin[1]), 1
    if length:
        yield length, facts.relations[relation], start


def _number(origins: Sequence[Origin], facts: StepFacts, uses: dict[Uses, int]) -> int:
    """Return the number of uses, by the numbers of steps."""
    found: list[tuple[int | str, ...]] = []
    for origin in origins:
        if len(origin) == 2:
            found.append((printable(origin[0]), origin[1]))
        elif facts.relations[origin[0]] >= 0:
            found.append((facts.relations[origin[0]], *origin[1:]))
    return uses.setdefault(tuple(found), len(uses))


def _field(field: Field) -> list[object]:
    nested = [*islice(nested_fields(field.type), MAX_ITEMS + 1)]
    rows = [[depth, name_text(name), type_text(type_), type_.nullable] for depth, name, type_ in nested[:MAX_ITEMS]]
    if len(nested) > MAX_ITEMS:
        rows.append([1, "... (more fields)", "", False])
    return [printable(name_text(field.name)), printable(type_text(field.type)), field.type.nullable, rows]


def _findings(findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """Yield the findings, the heaviest first."""
    for weight in reversed(WEIGHTS):
        found = [each for each in findings if each.weight == weight]
        yield from ((weight, printable(each)) for each in found[:MAX_ITEMS])
        if len(found) > MAX_ITEMS:
            yield weight, f"... ({len(found) - MAX_ITEMS} more)"
