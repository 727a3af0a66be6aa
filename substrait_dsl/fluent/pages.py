"""The page of a relation, of a plan, or of two that are compared: what all parts of the library know of the steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.findings import Finding
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.relations import Emit
from substrait_dsl.analysis.column_lineage import SourceColumn
from substrait_dsl.analysis.plan_changes import StepPair
from substrait_dsl.analysis.step_lineage import trace_steps
from substrait_dsl.analysis.uses import InputColumn, Uses
from substrait_dsl.errors import InvalidArgumentError
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.differences import diff, pair_trees
from substrait_dsl.fluent.guidance import relation_hint
from substrait_dsl.fluent.plan import Plan, named_roots
from substrait_dsl.proto.step_messages import StepMessages, step_messages
from substrait_dsl.render.graphs import Graph, plan_graph, relation_graph
from substrait_dsl.render.html import counted
from substrait_dsl.render.plan_page import Origin, PagePlan, StepFacts, plan_page
from substrait_dsl.render.scopes import Labels
from substrait_dsl.render.text import plan_notes

BEFORE, AFTER = "before", "after"

Changes = dict[int, tuple[str, int | None]]
"""What became of relations of a plan, by their ids, and the numbers of the steps in their places in the other plan."""


def page_of(value: RelationBase | Plan, title: str) -> str:
    """Return the page of a relation or a plan.

    Args:
        value: the relation or the plan.
        title: what it is called.
    """
    if isinstance(value, Plan):
        shown = _shown(value._algebra, origin=value._origin, findings=value.findings)
    else:
        graph = relation_graph(value._rel)
        size = f"{counted(len(value._rel.schema), 'column')}, {counted(len(graph.steps), 'step')}"
        shown = _Shown(graph, (value._rel,), (value._rel,), (f"relation: {size}",))
    return plan_page(title, [shown.on_page(title, {})])


def comparison_page(
    before: RelationBase | Plan, after: RelationBase | Plan, title: str, names: tuple[str, str] = (BEFORE, AFTER)
) -> str:
    """Return the page of two relations or plans side by side.

    Args:
        before: a relation or a plan.
        after: what it became.
        title: what the window is called.
        names: what the two are called.

    Raises as `sd.diff`.
    """
    old_plan, new_plan = _plan(before), _plan(after)
    changes = str(diff(old_plan, new_plan)).split("\n")
    old, new = canonical_plan(old_plan._algebra), canonical_plan(new_plan._algebra)
    shown = [
        _shown(algebra, origin=plan._origin, findings=plan.findings)
        for algebra, plan in ((old, old_plan), (new, new_plan))
    ]
    olds, news = (each.numbers for each in shown)
    changed: tuple[Changes, Changes] = ({}, {})  # of each side: a relation may be on both
    for pair in pair_trees(old, new):
        what = _change(pair)
        sides = ((pair.before, pair.after, news), (pair.after, pair.before, olds))
        for known, (rel, other, numbers) in zip(changed, sides, strict=True):
            if rel is not None and (id(rel) not in known or (what and not pair.is_copy)):
                known[id(rel)] = what, None if other is None else numbers.get(id(other))
    pages = [each.on_page(name, known) for each, name, known in zip(shown, names, changed, strict=True)]
    return plan_page(title, pages, changes)


def _plan(value: RelationBase | Plan) -> Plan:
    if isinstance(value, RelationBase):
        return value.to_plan()
    if not isinstance(value, Plan):
        raise InvalidArgumentError("expected a relation or a plan to compare", got=value, hint=relation_hint(value))
    return value


def _change(pair: StepPair) -> str:
    """Return what became of a step; nothing if it is the same."""
    if pair.is_same:
        return ""
    return "added" if pair.before is None else "removed" if pair.after is None else "changed"


@attrs.frozen
class _Shown:
    """A relation or a plan, with its graph."""

    graph: Graph
    tops: Sequence[Rel]
    roots: Sequence[Rel]
    about: Sequence[str]
    findings: Sequence[Finding] = ()
    renamed: Mapping[int, int] = {}
    """The relations of the graph that stand for one of the plan under other names, by their ids."""

    @property
    def numbers(self) -> dict[int, int]:
        """The numbers of relations of the plan, by their ids."""
        found = _numbers(self.graph)
        return {original: found[id_] for id_, original in self.renamed.items()} | found

    @property
    def outputs(self) -> frozenset[int]:
        """The numbers of the steps that are roots; of one that is evaluated anew those below no other step."""
        ids, steps = {*map(id, self.roots)}, self.graph.steps
        at_top = {id(step.rel) for step in steps if step.depth == 0}
        return frozenset(
            number
            for number, step in enumerate(steps)
            if id(step.rel) in ids and (step.depth == 0 or id(step.rel) not in at_top)
        )

    def on_page(self, title: str, changed: Changes) -> PagePlan:
        """Return it as the page shows it; `changed` has what became of relations, by their ids."""
        rels = [*{id(step.rel): step.rel for step in self.graph.steps}.values()]
        messages = step_messages(self.tops, {id_: each + 1 for id_, each in _numbers(self.graph).items()}, rels)
        known = {id_: changed[original] for id_, original in self.renamed.items() if original in changed} | changed
        facts = _facts(self.graph, rels, messages, known)
        return PagePlan(title, self.about, self.findings, self.graph, [*facts], messages.declarations, self.outputs)


def _shown(plan: AlgebraPlan, *, origin: str | None = None, findings: Sequence[Finding] = ()) -> _Shown:
    labels, roots = Labels(), named_roots(plan)
    graph = plan_graph(plan, roots)
    size = f"{counted(len(plan.trees), 'tree')}, {counted(len(roots), 'root')}, {counted(len(graph.steps), 'step')}"
    about = [f"plan: {size}", *((origin,) if origin else ()), *plan_notes(plan, labels)]
    return _Shown(graph, (*plan.relations, *roots), roots, about, findings, dict(_renamed(plan, roots)))


def _renamed(plan: AlgebraPlan, roots: Sequence[Rel]) -> Iterator[tuple[int, int]]:
    """Yield the ids of what the names of roots made anew, and of what it was: an emit on top, and hints below it."""
    for root, shown in zip(plan.roots, roots, strict=True):
        original = root.input
        if shown is original or original.shared:
            continue
        if isinstance(original, Emit):
            yield id(shown), id(original)
            original = original.input
        if shown.inputs[0] is not original:
            yield id(shown.inputs[0]), id(original)


def _numbers(graph: Graph) -> dict[int, int]:
    """Return the numbers of relations in a graph, by their ids; of one that is evaluated anew the last."""
    return {id(step.rel): number for number, step in enumerate(graph.steps)}


def _facts(graph: Graph, rels: Sequence[Rel], messages: StepMessages, changed: Changes) -> Iterator[StepFacts]:
    """Yield what is known of each step."""
    traced = trace_steps(rels)
    everywhere = _numbers(graph)
    below: list[dict[int, int]] = [{} for _ in graph.steps]
    for edge in graph.edges:
        below[edge.target][id(graph.steps[edge.source].rel)] = edge.source
    origins = _Origins()
    for step, known in zip(graph.steps, below, strict=True):
        found = traced.get(id(step.rel))
        change = changed.get(id(step.rel), ("", None))
        message = messages.steps[id(step.rel)]
        if found is None:
            yield StepFacts(None, (), (), message, *change)
            continue
        numbers = [known.get(id(rel), everywhere.get(id(rel), -1)) for rel in found.relations]
        yield StepFacts([origins[each] for each in found.columns], origins[found.rows], numbers, message, *change)


class _Origins(dict[Uses, tuple[Origin, ...]]):
    """What columns come from, as the page has it; many columns come from the same."""

    def __missing__(self, uses: Uses) -> tuple[Origin, ...]:
        columns = sorted((each.number, each.position, use) for each, use in uses if isinstance(each, InputColumn))
        sources = sorted((str(each), use) for each, use in uses if isinstance(each, SourceColumn))
        origins: list[Origin] = [*columns]
        origins += sources
        self[uses] = found = tuple(origins)
        return found
