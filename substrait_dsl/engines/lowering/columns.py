"""Projections, windows and expands."""

from __future__ import annotations

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import WindowFunction
from substrait_dsl.algebra.node import Rel
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.expressions import require_cast
from substrait_dsl.engines.lowering.partitions import over_partitions
from substrait_dsl.engines.lowering.rows import above_sort
from substrait_dsl.engines.lowering.subqueries import attach, has_subquery
from substrait_dsl.engines.lowering.terms import as_type, is_bare, number, project_only
from substrait_dsl.engines.lowering.window_functions import is_of_partition, lower_window_function


def lower_project(rel: rl.Project, to: Lowering) -> Rel:
    """Lower a project: without subqueries, and without window functions for engines that have none."""
    if not to.has_window_functions() and any(each.flags.has_window_functions for each in rel.expressions):
        return _over_partitions(rel, to)
    if not any(map(has_subquery, rel.expressions)):
        if is_bare(rel) and not isinstance(rel.input, rl.Sort):
            return rel
        return above_sort(rel.input, lambda child: rl.Project(child, rel.expressions, rel.names))
    width = len(rel.input.schema)

    def with_values(child: Rel) -> Rel:
        source, expressions = attach(to, child, rel.expressions, rel.anchor)
        inner = len(source.schema)
        return rl.emit(
            rl.Project(source, tuple(expressions), rel.names), [*range(width), *range(inner, inner + len(expressions))]
        )

    match rel.input:  # joins keep no order
        case rl.Fetch(input=rl.Sort(keys=keys)):
            return rl.Sort(with_values(rel.input), keys)
        case child:
            return above_sort(child, with_values)


def _over_partitions(rel: rl.Project, to: Lowering) -> Rel:
    """Lower a project whose window functions become columns of joined groups."""
    if any(map(has_subquery, rel.expressions)):
        raise to.refusal("a window function beside a subquery")
    width = len(rel.input.schema)

    def joined(child: Rel) -> Rel:
        source, expressions = over_partitions(child, rel.expressions, to)
        inner = len(source.schema)
        return rl.emit(
            rl.Project(source, expressions, rel.names), [*range(width), *range(inner, inner + len(expressions))]
        )

    return above_sort(rel.input, joined)


def lower_window(rel: rl.Window, to: Lowering) -> Rel:
    """Lower a window relation to a project of window functions."""
    windows = [WindowFunction(each, rel.partitions, rel.sorts) for each in rel.functions]
    functions = tuple(
        each if not to.has_window_functions() and is_of_partition(each) else lower_window_function(each, to)
        for each in windows
    )
    return lower_project(rl.Project(rel.input, functions, rel.names, anchor=rel.anchor), to)


def lower_expand(rel: rl.Expand, to: Lowering) -> Rel:
    """Lower an expand to a union of a projection for each copy of a row."""
    copies = []
    for copy in range(rel.copies_of_a_row):
        expressions = [
            each.duplicates[copy] if isinstance(each, rl.SwitchingField) else each.expression for each in rel.fields
        ]
        if any(map(has_subquery, expressions)):
            raise to.refusal("an expand with subqueries")
        for each, type_ in zip(expressions, rel.schema.types, strict=False):
            if each.type != type_:
                require_cast(each.type, type_, to)
        typed = [as_type(each, type_) for each, type_ in zip(expressions, rel.schema.types, strict=False)]
        copies.append(project_only(rel.input, (*typed, number(copy, t.I32())), rel.schema.names))
    return rl.Set(tuple(copies), "union_all") if len(copies) > 1 else copies[0]
