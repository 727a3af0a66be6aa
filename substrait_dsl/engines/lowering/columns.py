"""Projections, windows and expands."""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import WindowFunction
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk
from substrait_dsl.engines.lowering.aggregates import lower_aggregate
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.expressions import require_cast
from substrait_dsl.engines.lowering.rows import apply_below_sort
from substrait_dsl.engines.lowering.subqueries import attach, has_subquery
from substrait_dsl.engines.lowering.terms import (
    as_type,
    column,
    conjunction,
    is_bare,
    number,
    one_zero,
    project_only,
    same,
    shift_fields,
)
from substrait_dsl.engines.lowering.window_functions import is_of_partition, lower_window_function


def lower_project(rel: rl.Project, lowering: Lowering) -> Rel:
    """Lower a project: without subqueries, and without window functions for engines that have none."""
    if not lowering.has_window_functions() and any(each.flags.has_window_functions for each in rel.expressions):
        return _lower_window_columns(rel, lowering)
    if not any(map(has_subquery, rel.expressions)):
        if is_bare(rel) and not isinstance(rel.input, rl.Sort):
            return rel
        return apply_below_sort(rel.input, lambda child: rl.Project(child, rel.expressions, rel.names))
    width = len(rel.input.schema)

    def with_values(child: Rel) -> Rel:
        source, expressions = attach(lowering, child, rel.expressions, rel.anchor)
        inner = len(source.schema)
        return rl.emit(
            rl.Project(source, tuple(expressions), rel.names), [*range(width), *range(inner, inner + len(expressions))]
        )

    match rel.input:  # joins keep no order
        case rl.Fetch(input=rl.Sort(keys=keys)):
            return rl.Sort(with_values(rel.input), keys)
        case child:
            return apply_below_sort(child, with_values)


def _lower_window_columns(rel: rl.Project, lowering: Lowering) -> Rel:
    """Lower a project whose window functions become columns of joined groups."""
    if any(map(has_subquery, rel.expressions)):
        raise lowering.refusal("a window function beside a subquery")
    width = len(rel.input.schema)

    def join_child(child: Rel) -> Rel:
        source, expressions = add_window_columns(child, rel.expressions, lowering)
        inner = len(source.schema)
        return rl.emit(
            rl.Project(source, expressions, rel.names), [*range(width), *range(inner, inner + len(expressions))]
        )

    return apply_below_sort(rel.input, join_child)


def lower_window(rel: rl.Window, lowering: Lowering) -> Rel:
    """Lower a window relation to a project of window functions."""
    windows = [WindowFunction(each, rel.partitions, rel.sorts) for each in rel.functions]
    functions = tuple(
        each if not lowering.has_window_functions() and is_of_partition(each) else lower_window_function(each, lowering)
        for each in windows
    )
    return lower_project(rl.Project(rel.input, functions, rel.names, anchor=rel.anchor), lowering)


def lower_expand(rel: rl.Expand, lowering: Lowering) -> Rel:
    """Lower an expand to a union of a projection for each copy of a row."""
    copies = []
    for copy in range(rel.copies_of_a_row):
        expressions = [
            each.duplicates[copy] if isinstance(each, rl.SwitchingField) else each.expression for each in rel.fields
        ]
        if any(map(has_subquery, expressions)):
            raise lowering.refusal("an expand with subqueries")
        for each, type_ in zip(expressions, rel.schema.types, strict=False):
            if each.type != type_:
                require_cast(each.type, type_, lowering)
        typed = [as_type(each, type_) for each, type_ in zip(expressions, rel.schema.types, strict=False)]
        copies.append(project_only(rel.input, (*typed, number(copy, t.I32())), rel.schema.names))
    return rl.Set(tuple(copies), "union_all") if len(copies) > 1 else copies[0]


# --- windows over entire partitions, for engines without window functions: groups joined to their rows


def add_window_columns(
    child: Rel, expressions: Sequence[ex.Expression], lowering: Lowering
) -> tuple[Rel, tuple[ex.Expression, ...]]:
    """Return a relation with a column for each window function in some expressions, and these over the columns.

    Raises:
        UnsupportedError: the relation is computed twice, and may have other rows each time, or depends on outer rows.
    """
    if not lowering.is_stable(child):
        raise lowering.refusal("a window over rows that may be others each time that they are computed")
    if child.free_anchors or any(each.free_anchors for each in expressions):
        raise lowering.refusal("a window that depends on an outer row")
    found: dict[Node, ex.Expression] = {}
    windows = [
        node for each in expressions for node in walk(each, into_relations=False) if isinstance(node, ex.WindowFunction)
    ]
    source = child
    for partitions in dict.fromkeys(each.partitions for each in windows):
        some = [each for each in dict.fromkeys(windows) if each.partitions == partitions]
        source, columns = _with_groups(child, source, partitions, some, lowering)
        found.update(zip(some, columns, strict=True))
    return source, tuple(
        rebuild(each, lambda node: found.get(node, node), into_relations=False) for each in expressions
    )


def _with_groups(
    child: Rel,
    source: Rel,
    partitions: tuple[ex.Expression, ...],
    windows: Sequence[ex.WindowFunction],
    lowering: Lowering,
) -> tuple[Rel, list[ex.Expression]]:
    """Join groups of a relation to a relation that begins with its columns; also the values of the groups."""
    keys = tuple(map(one_zero, partitions))
    measures = tuple(
        ex.Measure(
            ex.AggregateFunction(each.call.function, each.call.arguments, each.call.output_type, each.call.options)
        )
        for each in windows
    )
    names = tuple(f"c{n}" for n in range(len(keys) + len(measures)))
    sets = (tuple(range(len(keys))),) if keys else ()
    groups = lower_aggregate(rl.Aggregate(child, keys, sets, measures, names), lowering)
    width = len(source.schema)
    tests = [same(key, shift_fields(column(groups, n), width)) for n, key in enumerate(keys)]
    joined = rl.Join(source, groups, "inner", conjunction(tests)) if tests else rl.Cross(source, groups)
    return joined, [as_type(column(joined, width + len(keys) + n), each.type) for n, each in enumerate(windows)]
