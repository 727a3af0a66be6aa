"""The page of a relation, of a plan, or of two that are compared: what all parts of the library know of the steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.findings import Finding
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import AlgebraPlan
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
        shown = _Shown(graph, (value._rel,), (f"relation: {size}",))
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
    olds, news = (_numbers(each.graph) for each in shown)
    changed: dict[int, tuple[str, int | None]] = {}
    for pair in pair_trees(old, new):
        what = _change(pair)
        for rel, other, numbers in ((pair.before, pair.after, news), (pair.after, pair.before, olds)):
            if rel is not None and (what or id(rel) not in changed):
                changed[id(rel)] = what, None if other is None else numbers.get(id(other))
    pages = [each.on_page(name, changed) for each, name in zip(shown, names, strict=True)]
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
    about: Sequence[str]
    findings: Sequence[Finding] = ()

    def on_page(self, title: str, changed: Mapping[int, tuple[str, int | None]]) -> PagePlan:
        """Return it as the page shows it; `changed` has what became of relations, by their ids."""
        rels = [*{id(step.rel): step.rel for step in self.graph.steps}.values()]
        messages = step_messages(self.tops, {id_: each + 1 for id_, each in _numbers(self.graph).items()}, rels)
        facts = _facts(self.graph, rels, messages, changed)
        return PagePlan(title, self.about, self.findings, self.graph, [*facts], messages.declarations)


def _shown(plan: AlgebraPlan, *, origin: str | None = None, findings: Sequence[Finding] = ()) -> _Shown:
    labels, roots = Labels(), named_roots(plan)
    graph = plan_graph(plan, roots)
    size = f"{counted(len(plan.trees), 'tree')}, {counted(len(roots), 'root')}, {counted(len(graph.steps), 'step')}"
    about = [f"plan: {size}", *((origin,) if origin else ()), *plan_notes(plan, labels)]
    return _Shown(graph, (*plan.relations, *roots), about, findings)


def _numbers(graph: Graph) -> dict[int, int]:
    """Return the numbers of relations in a graph, by their ids; of one that is evaluated anew the last."""
    return {id(step.rel): number for number, step in enumerate(graph.steps)}


def _facts(
    graph: Graph, rels: Sequence[Rel], messages: StepMessages, changed: Mapping[int, tuple[str, int | None]]
) -> Iterator[StepFacts]:
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
