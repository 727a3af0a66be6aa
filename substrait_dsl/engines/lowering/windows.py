"""Window functions in the relations where engines have them: projections."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import WindowFunction
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk, with_children
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.terms import column, with_columns
from substrait_dsl.errors import class_words


@attrs.frozen
class SplitWindows:
    """A relation whose window functions are columns of a projection below it."""

    projection: Rel
    """The input, and behind its columns those of the window functions."""
    columns: Mapping[WindowFunction, int]
    """The positions of the window columns."""
    mapping: tuple[int, ...] | None
    """The output columns of the relation over the projection; None for all."""

    def place_over(self, rel: Rel, projection: Rel) -> Rel:
        """Return the relation over the lowered projection."""
        windows = (node for node in walk(rel, into_relations=False) if isinstance(node, WindowFunction))
        done: dict[int, Node] = {
            id(window): column(projection, self.columns[window]) for window in windows if window in self.columns
        }
        for child in rel.children():
            if not isinstance(child, Rel):
                rebuild(child, lambda node: node, into_relations=False, done=done)
        for child in rel.inputs:
            done[id(child)] = projection
        return with_children(rel, done)

    def restore(self, rel: Rel) -> Rel:
        """Restore the columns that the relation had before."""
        return rel if self.mapping is None else rl.emit(rel, self.mapping)


def split_windows(rel: Rel, lowering: Lowering) -> SplitWindows | None:
    """Split the window functions off a relation that is no projection, or has nested ones; None for others.

    Raises:
        UnsupportedError: the relation has several inputs, so that there is no projection of its rows.
    """
    found = outermost_windows(rel)
    if isinstance(rel, rl.Project):
        found = [inner for each in found for inner in outermost_windows(each)]
    if not found or isinstance(rel, rl.Expand):  # which becomes projections
        return None
    if not isinstance(rel, rl.Project | rl.Filter | rl.Sort | rl.Aggregate | rl.TopN | rl.Window):
        raise lowering.refusal(f"a window function in {class_words(rel)}")
    width = len(rel.input.schema)
    places = {each: width + n for n, each in enumerate(dict.fromkeys(found))}
    projection = attrs.evolve(with_columns(rel.input, *places, name="window"), anchor=rel.anchor)
    added = width + len(places)
    match rel:
        case rl.Aggregate():
            mapping = None
        case rl.Project() | rl.Window():
            mapping = (*range(width), *range(added, added + len(rel.schema) - width))
        case _:
            mapping = tuple(range(width))
    return SplitWindows(projection, places, mapping)


def outermost_windows(node: Node) -> list[WindowFunction]:
    """Return the window functions inside a node that are in no other, in order."""
    found: list[WindowFunction] = []
    stack = [child for child in reversed(node.children()) if child.flags.has_window_functions]
    while stack:
        each = stack.pop()
        if isinstance(each, WindowFunction):
            found.append(each)
        else:
            stack += [child for child in reversed(each.children()) if child.flags.has_window_functions]
    return found
