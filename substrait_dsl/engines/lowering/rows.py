"""Reads, filters, sorts and fetches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, Literal, SortKey
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.properties import NO_PROPERTIES
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.dependent import MAX_ROW, fetch_conditions, integer_of
from substrait_dsl.engines.lowering.expressions import direct_sort_key, require_precision
from substrait_dsl.engines.lowering.structs import has_structs, with_names, with_positions
from substrait_dsl.engines.lowering.subqueries import attach, filter_rows, has_subquery
from substrait_dsl.engines.lowering.terms import (
    call,
    column,
    conjunction,
    first_columns,
    is_bare,
    number,
    row_number,
    window,
    with_columns,
)
from substrait_dsl.engines.lowering.windows import outermost_windows

MAX_NAME_PARTS = 3
"""Catalog, schema and table: engines ignore further parts of a name."""


def lower_read(rel: rl.Read, lowering: Lowering) -> Rel:
    """Lower a read to one of all columns, a filter and an emit; hints are dropped."""
    for type_ in rel.base_schema.types:
        require_precision(type_, lowering)
    match rel.definition:
        case rl.NamedTable(names=names) if len(names) > MAX_NAME_PARTS:
            raise lowering.refusal(f"a table whose name has {len(names)} parts")
        case rl.VirtualTable() if any(isinstance(type_, t.Struct) for type_ in rel.base_schema.types):
            raise lowering.refusal("rows in the plan with structs", rule="literal")
        case rl.NamedTable() | rl.VirtualTable():
            source: Rel = rel if _is_plain(rel) else rl.Read(rel.base_schema, rel.definition)
            source = with_positions(source, lowering) if has_structs(lowering) else source
        case rl.LocalFiles() | rl.IcebergTable() | rl.ExtensionTable():
            raise lowering.refusal_of_read(rel.definition)
    if rel.filter is not None:
        source = filter_rows(lowering, source, rel.filter, rel.anchor)
    if rel.projection is None:
        return source
    if any(item.child is not None for item in rel.projection.items):
        raise lowering.refusal("a read of a part of a column")
    return rl.emit(source, [item.position for item in rel.projection.items])


def _is_plain(rel: rl.Read) -> bool:
    """Whether a read has nothing but its schema and its definition."""
    has_filters = rel.filter is not None or rel.best_effort_filter is not None
    has_more = has_filters or rel.projection is not None or rel.name_values or rel.declared != NO_PROPERTIES
    return is_bare(rel) and not has_more


def lower_filter(rel: rl.Filter, lowering: Lowering) -> Rel:
    """Lower a filter to one without subqueries, on joins."""
    if is_bare(rel) and not isinstance(rel.input, rl.Sort) and not has_subquery(rel.condition):
        return rel
    return apply_below_sort(rel.input, lambda child: filter_rows(lowering, child, rel.condition, rel.anchor))


def apply_below_sort(rel: Rel, step: Callable[[Rel], Rel]) -> Rel:
    """Apply a step below the sort of its input.

    The step keeps the order, and its first columns are those of its input. What stands above a sort may get its rows in
    several partitions, and so lose their order.
    """
    return rl.Sort(step(rel.input), rel.keys) if isinstance(rel, rl.Sort) else step(rel)


def with_root_names(rel: Rel, types: Sequence[t.Type], lowering: Lowering) -> Rel:
    """Return the output of a root whose structs have the field names of the plan."""
    if not has_structs(lowering) or not any(isinstance(type_, t.Struct) for type_ in types):
        return rel
    if isinstance(rel, rl.Sort) and any(_takes_structs(key.expression) for key in rel.keys):
        width = len(rel.schema)
        source = with_columns(rel.input, *(key.expression for key in rel.keys), name="key")
        keys = (SortKey(column(source, width + number), key.direction) for number, key in enumerate(rel.keys))
        return first_columns(with_root_names(rl.Sort(source, tuple(keys)), types, lowering), width)
    return apply_below_sort(rel, lambda child: with_names(child, types, lowering))


def _takes_structs(key: Expression) -> bool:
    nodes = walk(key, into_relations=False)
    return any(isinstance(node, FieldReference) and isinstance(node.type, t.Struct) for node in nodes)


def lower_sort(rel: rl.Sort, lowering: Lowering) -> Rel:
    """Lower a sort to one without subqueries."""
    source, keys = sort_keys(rel.input, rel.keys, rel.anchor, lowering)
    is_same = is_bare(rel) and source is rel.input and all(map(is_, keys, rel.keys))
    return rel if is_same else first_columns(rl.Sort(source, keys), len(rel.schema))


def sort_keys(
    rel: Rel, keys: Sequence[SortKey], anchor: int | None, lowering: Lowering
) -> tuple[Rel, tuple[SortKey, ...]]:
    """Return sort keys without subqueries, over the relation with columns for these."""
    expressions = [key.expression for key in keys]
    if any(map(has_subquery, expressions)):
        rel, expressions = attach(lowering, rel, expressions, anchor)
        keys = [SortKey(each, key.direction) for each, key in zip(expressions, keys, strict=True)]
    return rel, tuple([direct_sort_key(key, lowering) for key in keys])


def lower_fetch(rel: rl.Fetch, lowering: Lowering) -> Rel:
    """Lower a fetch of constant numbers."""
    count, offset = constant(rel.count, lowering), constant(rel.offset, lowering)
    if count is None and (offset is None or integer_of(offset) == 0):
        return rel.input
    if not lowering.has_window_functions():
        return rl.Fetch(rel.input, count, offset)
    return _fetch(rel.input, count, offset, lowering)


def _fetch(rel: Rel, count: Expression | None, offset: Expression | None, lowering: Lowering) -> Rel:
    """Return a fetch. An offset without a count uses row numbers: the engine may drop a sort below it.

    So does a fetch of a sorted union: the engine compares rows of one input with the last of another only by keys that
    are no constants.
    """
    match rel:
        case rl.Emit(input=child) if count is None or isinstance(child, rl.Sort):
            return rl.emit(_fetch(child, count, offset, lowering), rel.mapping, rel.names)
        case rl.Project(input=child) if count is None and _is_sorted(child, lowering) and not outermost_windows(rel):
            return attrs.evolve(rel, input=_fetch(child, count, offset, lowering))
        case rl.Filter(input=child) if count is None and _is_sorted(child, lowering):
            raise lowering.refusal("a fetch of all rows but the first ones, above a filter of columns of sorted rows,")
        case rl.Sort(input=child, keys=keys) if count is None and offset is not None and integer_of(offset):
            return _numbered_fetch(child, keys, count, offset)
        case rl.Sort(input=child, keys=keys) if count is not None and lowering.has_set(child):
            return _numbered_fetch(child, keys, count, offset)
        case _:
            return rl.Fetch(rel, count, offset)


def _is_sorted(rel: Rel, lowering: Lowering) -> bool:
    """Whether a relation is a sort below emits, projections and filters."""
    return isinstance(lowering.find_below(rel, (rl.Emit, rl.Project, rl.Filter)), rl.Sort)


def _numbered_fetch(child: Rel, keys: tuple[SortKey, ...], count: Expression | None, offset: Expression | None) -> Rel:
    """Return the first rows in an order, by row number."""
    width = len(child.schema)
    numbered = with_columns(child, row_number(sorts=keys), name="row")
    chosen = rl.Filter(numbered, conjunction(fetch_conditions(column(numbered, width), count, offset)))
    return first_columns(rl.Sort(chosen, keys), width)


def constant(expression: Expression | None, lowering: Lowering) -> Expression | None:
    """Return a constant number of rows; None for NULL and for none."""
    if expression is None:
        return None
    if not isinstance(expression, Literal):
        raise lowering.refusal("a number of rows that is computed")
    return None if expression.value is None else number(expression.value)


def lower_top_n(rel: rl.TopN, lowering: Lowering) -> Rel:
    """Lower a top-n to a sort and a fetch; with ties, by rank."""
    count, offset = constant(rel.count, lowering), constant(rel.offset, lowering)
    source, keys = sort_keys(rel.input, rel.keys, rel.anchor, lowering)
    width = len(rel.schema)
    if rel.mode == "rows_only" or count is None:
        ordered = rl.Sort(source, keys)
        return first_columns(
            _fetch(ordered, count, offset, lowering)
            if lowering.has_window_functions()
            else rl.Fetch(ordered, count, offset),
            width,
        )
    if integer_of(count) == 0:
        return first_columns(rl.Fetch(source, number(0)), width)
    inner = len(source.schema)
    ranked = with_columns(source, row_number(sorts=keys), window("rank", sorts=keys), name="rank")
    last = min(integer_of(count) + (0 if offset is None else integer_of(offset)), MAX_ROW)
    conditions = [
        *fetch_conditions(column(ranked, inner), None, offset),
        call("comparison", "lte", column(ranked, inner + 1), number(last)),
    ]
    return first_columns(rl.Sort(rl.Filter(ranked, conjunction(conditions)), keys), width)
