"""Aggregation: one grouping set is a GROUP BY; for several, each row is copied into each set.

Specification: https://substrait.io/relations/logical_relations/#aggregate-operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.expressions import (
    Expression,
    FieldReference,
    FunctionId,
    Measure,
    ScalarFunction,
)
from substrait_dsl.algebra.expressions.references import ROOT
from substrait_dsl.algebra.relations.joins import BOOLEAN_URN
from substrait_dsl.algebra.types import Boolean
from substrait_dsl.spark.expressions.grouping_keys import as_key, holds_map
from substrait_dsl.spark.expressions.literals import record_to_sql
from substrait_dsl.spark.expressions.sql_text import aggregate_to_sql
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.relations.expression_context import ExpressionContext, prepare_context
from substrait_dsl.spark.relations.grouped_maps import restore_maps
from substrait_dsl.spark.relations.partitions import sort_as_known
from substrait_dsl.spark.relations.single_input import choose_by_number, without_keys
from substrait_dsl.spark.relations.tables import Item, Rows, Table, items
from substrait_dsl.spark.session.engines import current_engine

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import Aggregate
    from substrait_dsl.spark.relations.input_lowering import InputLowering


def lower_aggregate(rel: Aggregate, lowering: InputLowering) -> Rows:
    """Compute the keys, group by them, compute the measures, and restore the known ordering.

    Spark's groups have no order, but a streaming aggregate preserves one.
    """
    rows, here = prepare_context(lowering, lowering[rel.input], rel.anchor, [*rel.keys, *rel.measures], hoist=True)
    rows, keys = _keys(rel, rows, here, lowering)
    group = _many_sets if len(rel.grouping_sets) > 1 else _one_set
    groups = group(rel, rows, keys, here, lowering)
    if id(rel) in lowering.execution.joined_groups:
        groups = Rows(without_keys(rel, groups.table, lowering), groups.columns)
    return sort_as_known(rel, groups)


def _one_set(
    rel: Aggregate, rows: Rows, keys: tuple[str, ...], here: ExpressionContext, lowering: InputLowering
) -> Rows:
    """Group by the keys; without any, all rows are one group."""
    measures = _measures(rel.measures, here, lowering)
    grouped = rows.table.group(tuple(dict.fromkeys(keys)), measures or [Item("count(1)", (lowering.execution.name(),))])
    groups = Rows(grouped, (*keys, *(name for item in measures for name in item.names)))
    return restore_maps(groups, [key.type for key in rel.keys], lowering.execution)


def _keys(rel: Aggregate, rows: Rows, here: ExpressionContext, lowering: InputLowering) -> tuple[Rows, tuple[str, ...]]:
    """The rows with the grouping keys as columns, and the names of these."""
    names: list[str] = []
    computed: list[Item] = []
    for key in rel.keys:
        column = rows.columns[key.position] if isinstance(key, FieldReference) and key.root == ROOT else None
        text = as_key(column or here.sql(key), key.type)
        if text == column:
            names.append(column)
        else:
            computed.append(Item(text, (lowering.execution.name(),)))
            names += computed[-1].names
    if computed:
        rows = Rows(rows.table.select([*items(rows.table.names), *computed]), rows.columns)
    return rows, tuple(names)


def _measures(measures: tuple[Measure, ...], here: ExpressionContext, lowering: InputLowering) -> list[Item]:
    measure_items = []
    for number, measure in enumerate(measures):
        others = measures[:number] + measures[number + 1 :]
        beside_distinct = any(other.function.invocation == "distinct" for other in others)
        text = aggregate_to_sql(measure, here.scope, beside_distinct=beside_distinct)
        measure_items.append(Item(text, (lowering.execution.name(),)))
    return measure_items


def _many_sets(
    rel: Aggregate, rows: Rows, keys: tuple[str, ...], here: ExpressionContext, lowering: InputLowering
) -> Rows:
    """Copy each row into each grouping set, with the grouping set index and its keys, and group by all of these.

    Spark's own GROUPING SETS gives no row for the empty set over no input, and equal sets have no index that differs.
    """
    empty = [number for number, grouping_set in enumerate(rel.grouping_sets) if not grouping_set]
    table = rows.table
    numbers = range(len(rel.grouping_sets))
    copies = _copies(rel, keys, numbers)
    indexes = f"array({', '.join(map(str, numbers))})"
    measures = rel.measures
    if empty:
        # One more row, only in the empty sets and counted by no measure, so that these have a group in any case.
        real = lowering.execution.name()
        table = _with_empty_row(rows, real, lowering)
        copies = f"if({real}, {copies}, {_copies(rel, keys, empty)})"
        indexes = f"if({real}, {indexes}, array({', '.join(map(str, empty))}))"
        measures = tuple(_exclude_null_row(measure, len(here.scope.columns)) for measure in measures)
        here = attrs.evolve(here, scope=attrs.evolve(here.scope, columns=(*here.scope.columns, real)))
    index, *names = lowering.execution.names(1 + len(keys))
    if current_engine().has_lists_of_records:
        table = table.select([*items(table.names), Item(f"inline({copies})", (index, *names))])
    else:
        table = table.select([*items(table.names), Item(f"explode({indexes})", (index,))])
        table = without_keys(rel.input, table, lowering)
        table = table.select([*items(table.names), *_keys_by_number(rel, keys, index, names)])
    aggregates = _measures(measures, here, lowering)
    grouped = table.group((index, *names), aggregates or [Item("count(1)", (lowering.execution.name(),))])
    groups = Rows(grouped, (*names, *(name for item in aggregates for name in item.names), index))
    return restore_maps(groups, [key.type for key in rel.keys], lowering.execution)


def _keys_by_number(rel: Aggregate, keys: tuple[str, ...], index: str, names: Sequence[str]) -> list[Item]:
    """The keys of each grouping set by its index, NULL where a set does not have the key."""
    key_items = []
    for position, (key, name) in enumerate(zip(keys, names, strict=True)):
        there = {number: key for number, grouping_set in enumerate(rel.grouping_sets) if position in grouping_set}
        key_items.append(Item(choose_by_number(index, there), (name,)))
    return key_items


def _copies(rel: Aggregate, keys: tuple[str, ...], numbers: range | list[int]) -> str:
    """An array with a struct for each of these grouping sets: the index (spec decision 13), and the keys or NULL."""
    structs = []
    for number in numbers:
        fields = {"index": str(number)}
        for position, (key, name) in enumerate(zip(rel.keys, keys, strict=True)):
            null = f"if(false, {name}, NULL)" if holds_map(key.type) else f"CAST(NULL AS {spark_sql_type(key.type)})"
            fields[f"k{position}"] = name if position in rel.grouping_sets[number] else null
        structs.append(record_to_sql(fields))
    return f"array({', '.join(structs)})"


def _with_empty_row(rows: Rows, real: str, lowering: InputLowering) -> Table:
    """The input and a row of NULLs; the column `real` is false for that row."""
    marked = rows.table.select([*items(rows.table.names), Item("true", (real,))])
    nulls = [Item("NULL", (lowering.execution.name(),)) for _ in rows.table.names]
    return marked.union_all([lowering.make_one_row([*nulls, Item("false", (lowering.execution.name(),))])])


def _exclude_null_row(measure: Measure, position: int) -> Measure:
    """Exclude the row of NULLs from a measure; the column at `position` is false for it."""
    real: Expression = FieldReference(position, Boolean())
    if measure.filter is not None:
        both = FunctionId(BOOLEAN_URN, "and:bool")
        real = ScalarFunction(both, (real, measure.filter), measure.filter.type)
    return attrs.evolve(measure, filter=real)
