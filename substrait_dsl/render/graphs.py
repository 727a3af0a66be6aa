"""Plans as graphs: a node for each step, and an edge for each input; and the texts that other programs draw of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

import attrs

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.render.plan_walk import PlanWalk, ShownStep, walk_plan, walk_relation
from substrait_dsl.render.scopes import Labels
from substrait_dsl.render.text import step_lines
from substrait_dsl.texts import printable

WIDTH = 60
"""Lines of a node are broken to stay within so many characters, where there is a place to break."""

MAX_ITEMS = 12
"""A list of a node that is longer than this is cut, and says how much is missing."""

_JOINS = r.Cross | r.Join | r.LateralJoin | r.HashJoin | r.MergeJoin | r.NestedLoopJoin
_NOT_FOR_MERMAID = re.compile(
    r"[^\w .,()=+/'>?:-]"  # quotes, entities, comments, directives, tags, Markdown and formulas
    r"|:(?! )|\b_|_\b"  # addresses and icons; Markdown's stress
    r"|s(?=tyle)|c(?=lassDef)|\ufb02"  # words, and a ligature, for which Mermaid looks everywhere
)
"""What means something in Mermaid, also between quotes."""


@attrs.frozen
class Edge:
    """From the node of an input, or a subquery, to the node of a step, by their numbers."""

    source: int
    target: int
    label: str
    is_subquery: bool


@attrs.frozen
class Graph:
    """The steps of a plan, by their numbers, and the edges between them."""

    steps: tuple[ShownStep, ...]
    edges: tuple[Edge, ...]

    @property
    def nodes(self) -> Iterator[list[str]]:
        """The lines of each step."""
        for step in self.steps:
            yield [*map(printable, step_lines(step, WIDTH, max_items=MAX_ITEMS))]


def relation_graph(rel: Rel) -> Graph:
    """Return the graph of a relation and everything below it."""
    return _graph(walk_relation(rel, max_depth=sys.maxsize))


def plan_graph(plan: AlgebraPlan, roots: Sequence[Rel]) -> Graph:
    """Return the graph of the trees of a plan.

    Args:
        plan: the plan.
        roots: its roots, under the names that it gives their columns.

    What several trees share is one node, unless the plan changes tables in between.
    """
    return _graph(walk_plan(plan, roots, Labels(), max_depth=sys.maxsize))


def _graph(walk: PlanWalk) -> Graph:
    steps: list[ShownStep] = []
    edges: list[Edge] = []
    numbers: dict[int, int] = {}  # of the nodes, by the ids of relations: the last one, if it is evaluated anew
    waiting: list[tuple[int, ShownStep]] = []
    for entry in walk:
        if not isinstance(entry, ShownStep):
            continue
        if entry.depth == 0:
            edges += _edges(waiting, numbers)
            waiting = []
        numbers[id(entry.rel)] = len(steps)
        waiting.append((len(steps), entry))
        steps.append(entry)
    edges += _edges(waiting, numbers)
    return Graph(tuple(steps), tuple(edges))


def _edges(steps: Sequence[tuple[int, ShownStep]], numbers: dict[int, int]) -> Iterator[Edge]:
    """Yield the edges to steps of one tree, all of whose inputs have nodes by now."""
    for target, step in steps:
        for rel in {id(each.rel): each.rel for each in step.description.subqueries}.values():
            yield Edge(numbers[id(rel)], target, "subquery", True)
        sides = ("left", "right") if isinstance(step.rel.shown, _JOINS) else ("",) * len(step.description.inputs)
        for rel, side in zip(step.description.inputs, sides, strict=True):
            yield Edge(numbers[id(rel)], target, side, False)


def mermaid(graph: Graph) -> str:
    """Return a graph as a flowchart of Mermaid."""
    lines = ["flowchart BT"]
    lines += [f'  n{number}["{"<br/>".join(map(_mermaid_text, node))}"]' for number, node in enumerate(graph.nodes, 1)]
    for edge in graph.edges:
        arrow = "-.->" if edge.is_subquery else "-->"
        label = f"|{edge.label}|" if edge.label else ""
        lines.append(f"  n{edge.source + 1} {arrow}{label} n{edge.target + 1}")
    return "\n".join(lines)


def _mermaid_text(line: str) -> str:
    """Return a line of a node, with entities for what could be taken for something else."""
    return _NOT_FOR_MERMAID.sub(lambda sign: f"#{ord(sign[0])};", line)


def dot(graph: Graph) -> str:
    """Return a graph in DOT, the language of Graphviz."""
    lines = ["digraph plan {", "  rankdir=BT;", '  node [shape=box, fontname="monospace"];']
    for number, node in enumerate(graph.nodes, 1):
        label = "".join(f"{_dot_text(line)}\\l" for line in node)  # each line begins at the left
        lines.append(f'  n{number} [label="{label}"];')
    for edge in graph.edges:
        attributes = [f'label="{edge.label}"'] if edge.label else []
        attributes += ["style=dashed"] if edge.is_subquery else []
        written = f" [{', '.join(attributes)}]" if attributes else ""
        lines.append(f"  n{edge.source + 1} -> n{edge.target + 1}{written};")
    return "\n".join([*lines, "}"])


def _dot_text(line: str) -> str:
    """Return a line of a node, with what means something in a label escaped: also the ``&`` of an entity."""
    return line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
