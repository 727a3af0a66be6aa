"""Plans as their text says them: what the text format leaves out is left out, and means the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import attrs
from typing_extensions import TypeIs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.node import Node, Rel, rebuild, with_children
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.proto.plan import encode_plan, from_bytes, to_bytes

N = TypeVar("N", bound=Node)


def as_text_says(plan: AlgebraPlan) -> AlgebraPlan:
    """The plan without emits of all columns, expressions of projects that are columns alone, and sole empty sets.

    Grouping expressions have the order of the sets.

    It is read from its bytes first, so that columns in between have the names that are read.
    """
    read, _ = from_bytes(to_bytes(encode_plan(plan)))
    trees = tuple(attrs.evolve(tree, input=_passed_on(tree.input)) for tree in read.trees)
    again, _ = from_bytes(to_bytes(encode_plan(attrs.evolve(read, trees=trees))))
    return canonical_plan(attrs.evolve(again, version=None))


def _passed_on(rel: Rel) -> Rel:
    if isinstance(rel, rl.Emit):
        inner = rel.input
        return _picked(inner, rel.mapping) if isinstance(inner, rl.Project) else rl.emit(_passed_on(inner), rel.mapping)
    if isinstance(rel, rl.Project):
        return _picked(rel, range(len(rel.schema)))
    changed = _with_changed_children(rel)
    return _with_ordered_keys(changed) if isinstance(changed, rl.Aggregate) else changed


def _with_ordered_keys(rel: rl.Aggregate) -> Rel:
    """The aggregate with its grouping expressions in the order in which the sets have them."""
    if rel.grouping_sets == ((),):
        return attrs.evolve(rel, grouping_sets=())
    order = list(dict.fromkeys(position for each in rel.grouping_sets for position in each))
    width, count = len(rel.schema), len(rel.keys)
    moved = attrs.evolve(
        rel,
        keys=tuple(rel.keys[position] for position in order),
        grouping_sets=tuple(tuple(map(order.index, each)) for each in rel.grouping_sets),
    )
    return rl.emit(moved, [*map(order.index, range(count)), *range(count, width)])


def _with_changed_children(node: N) -> N:
    """The node with the inputs of a relation changed, and the relations of subqueries."""
    changed: dict[int, Node] = {}
    for child in node.children():
        if isinstance(child, Rel):
            changed[id(child)] = _passed_on(child)
        else:
            changed[id(child)] = rebuild(child, _with_changed_relations, into_relations=False)
    return with_children(node, changed)


def _with_changed_relations(node: Node) -> Node:
    inside = {id(child): _passed_on(child) for child in node.children() if isinstance(child, Rel)}
    return with_children(node, inside) if inside else node


def _picked(project: rl.Project, mapping: Sequence[int]) -> Rel:
    """Some columns of a project, without its expressions that are columns."""
    project = _with_changed_children(project)
    below = project.input
    computed = tuple(each for each in project.expressions if not _is_column(each))
    width = len(below.schema)
    places = iter(range(width, width + len(computed)))
    columns = [
        *range(width),
        *(each.position if _is_column(each) else next(places) for each in project.expressions),
    ]
    names = tuple(f"c{place}" for place in range(len(computed)))
    rel = attrs.evolve(project, expressions=computed, names=names) if computed else below
    return rl.emit(rel, [columns[position] for position in mapping])


def _is_column(expression: ex.Expression) -> TypeIs[ex.FieldReference]:
    return isinstance(expression, ex.FieldReference) and expression.root is ex.ROOT
