"""Where the nodes of a graph stand: in layers, the outputs of a plan at the top and what it reads at the bottom.

A node stands one layer below the lowest step that uses it, in the column of that step; each leaf has a column of its
own, and a node stands above the middle of its inputs. So no two nodes meet, and it takes one walk.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from substrait_dsl.render.graphs import Edge


@attrs.frozen
class Place:
    """Where a node stands: its column, in halves of columns and less, and its layer, from the top."""

    column: float
    layer: int


def lay_out_graph(count: int, edges: Sequence[Edge]) -> list[Place]:
    """Return the place of each node.

    Args:
        count: how many nodes there are.
        edges: the edges between them, from inputs to steps; they form no circle.
    """
    inputs: list[list[int]] = [[] for _ in range(count)]
    for edge in edges:
        inputs[edge.target].append(edge.source)
    layers, above = _layers(inputs)
    below: list[list[int]] = [[] for _ in range(count)]  # of each node those that stand in its column
    for node in range(count):
        for each in dict.fromkeys(inputs[node]):
            if above[each] == node:
                below[node].append(each)
    columns = _columns([node for node in range(count) if above[node] is None], below)
    return [Place(columns[node], layers[node]) for node in range(count)]


def _layers(inputs: Sequence[Sequence[int]]) -> tuple[list[int], list[int | None]]:
    """Return the layer of each node, and the step above it: one that uses it from the next layer."""
    layers = [0] * len(inputs)
    above: list[int | None] = [None] * len(inputs)
    uses = [0] * len(inputs)
    for below in inputs:
        for each in below:
            uses[each] += 1
    ready = [node for node, number in enumerate(uses) if not number]
    while ready:  # a node, when all that use it have their layers
        node = ready.pop()
        for each in inputs[node]:
            if layers[node] + 1 > layers[each]:
                layers[each], above[each] = layers[node] + 1, node
            uses[each] -= 1
            if not uses[each]:
                ready.append(each)
    return layers, above


def _columns(tops: Sequence[int], below: Sequence[Sequence[int]]) -> dict[int, float]:
    """Return the column of each node of trees: leaves in turn, other nodes in the middle of what is below them."""
    columns: dict[int, float] = {}
    leaves = 0
    stack = [(top, False) for top in reversed(tops)]
    while stack:
        node, is_ready = stack.pop()
        if not below[node]:
            columns[node] = leaves
            leaves += 1
        elif is_ready:
            columns[node] = (columns[below[node][0]] + columns[below[node][-1]]) / 2
        else:
            stack.append((node, True))
            stack += [(each, False) for each in reversed(below[node])]
    return columns
