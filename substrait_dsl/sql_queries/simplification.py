"""Trees as a person would have written them: without the projects of a producer that compute nothing."""

from __future__ import annotations

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, rebuild
from substrait_dsl.algebra.relations.sortedness import direct_path


def simplify(rel: rl.Rel) -> rl.Rel:
    """Return the tree with the same rows and columns, and without what only repeats columns of the input.

    A project whose columns are put out again by an emit keeps what it computes; a column that it only repeats is taken
    from below it.

    Args:
        rel: a tree.
    """
    return rebuild(rel, _simplify)


def _simplify(node: Node) -> Node:
    if not isinstance(node, rl.Emit):
        return node
    emit = node
    if isinstance(emit.input, rl.Project) and _may_change(emit.input):
        simplified = _without_repeated_columns(emit, emit.input)
        if not isinstance(simplified, rl.Emit):
            return simplified
        emit = simplified
    return _without_names(emit)


def _without_repeated_columns(emit: rl.Emit, project: rl.Project) -> rl.Rel:
    """Return an emit on a project that computes only what is put out, and that repeats no column."""
    below = project.input
    width = len(below.schema)
    used = {position - width for position in emit.mapping if position >= width}
    computed = [index for index in sorted(used) if _repeated_column(project.expressions[index]) is None]
    if len(computed) == len(project.expressions):
        return emit
    places = {index: width + place for place, index in enumerate(computed)}

    def find_place(position: int) -> int:
        if position < width:
            return position
        repeated = _repeated_column(project.expressions[position - width])
        return places[position - width] if repeated is None else repeated

    if computed:
        expressions = tuple(project.expressions[index] for index in computed)
        names = tuple(project.names[index] for index in computed)
        below = attrs.evolve(project, expressions=expressions, names=names)
    mapping = [find_place(position) for position in emit.mapping]
    has_same_names = below.schema.pick(mapping).names == emit.schema.names
    return rl.emit(below, mapping, None if has_same_names else emit.schema.names)


def _without_names(emit: rl.Emit) -> rl.Rel:
    """Return the emit on a step that names what it computes as the emit does, or the step alone if no more is to do."""
    below = emit.input
    if (
        isinstance(below, rl.Project | rl.Aggregate)
        and _may_change(below)
        and len({*emit.mapping}) == len(emit.mapping)
    ):
        first = len(below.schema) - len(below.names)
        names = dict(zip(emit.mapping, emit.schema.names, strict=True))
        chosen = tuple(names.get(first + place, name) for place, name in enumerate(below.names))
        below = attrs.evolve(below, names=chosen)
    has_same_names = below.schema.pick(emit.mapping).names == emit.schema.names
    return rl.emit(below, emit.mapping, None if has_same_names else emit.schema.names)


def _may_change(rel: rl.Rel) -> bool:
    """Whether nothing else refers to the step, and nothing is said of it."""
    return rel.common is None and not rel.shared


def _repeated_column(expression: ex.Expression) -> int | None:
    """Return the position of the column of the input that an expression is; None if it is something else."""
    path = direct_path(expression)
    return path[0] if path is not None and len(path) == 1 else None
