"""Set operations: one lowering for all, by counting.

The rows of all inputs are united, each marked with its input; grouping them (where NULL equals NULL) counts how often
each row occurs in each input, and a formula gives how often it occurs in the output. That is one pass and one shuffle
for any number of inputs, and it works for columns that Spark cannot compare.

Equal rows may still differ: 0.0 equals -0.0. The output has rows of the primary input, or of any for a union; so the
columns that hold floats are collected beside the counts.

Specification: https://substrait.io/relations/logical_relations/#set-operation-types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra.types import FP32, FP64
from substrait_dsl.spark.expressions.grouping_keys import as_key
from substrait_dsl.spark.expressions.literals import struct_to_sql
from substrait_dsl.spark.expressions.types import holds
from substrait_dsl.spark.relations import joins
from substrait_dsl.spark.relations.grouped_maps import restore_maps
from substrait_dsl.spark.relations.single_input import without_keys
from substrait_dsl.spark.relations.tables import Item, Rows, Table, items

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import Set
    from substrait_dsl.algebra.rules import SetOp
    from substrait_dsl.spark.relations.input_lowering import InputLowering

Counts = Sequence[str]
"""The columns with the number of occurrences of a row in each input, the primary one first."""


def _is_in_any(counts: Counts) -> str:
    return f"({' OR '.join(f'{count} > 0' for count in counts)})"


def _is_in_all(counts: Counts) -> str:
    return f"({' AND '.join(f'{count} > 0' for count in counts)})"


DISTINCT: Mapping[SetOp, Callable[[Counts], str]] = {
    "minus_primary": lambda n: f"{n[0]} > 0 AND NOT {_is_in_any(n[1:])}",
    "intersection_primary": lambda n: f"{n[0]} > 0 AND {_is_in_any(n[1:])}",
    "intersection_multiset": _is_in_all,
}
"""The operations that emit a row once: the condition."""

COPIES: Mapping[SetOp, Callable[[Counts], str]] = {
    "minus_primary_all": lambda n: " - ".join(n),
    "minus_multiset": lambda n: f"if({_is_in_all(n[1:])}, 0L, {n[0]})",  # spec decision 16: duplicates stay
    "intersection_multiset_all": lambda n: f"least({', '.join(n)})",
}
"""The operations that emit a row several times: how often; not at all if that is negative."""


def lower_set(rel: Set, lowering: InputLowering) -> Rows:
    """Count the rows of the inputs, and emit as many as the operation says."""
    columns = lowering.execution.names(len(rel.schema))
    if rel.op == "union_all":
        return Rows(_unite([lowering[child].columns for child in rel.relations], columns, rel, lowering), columns)
    side = lowering.execution.name()
    types = rel.schema.types
    inexact = [position for position, type_ in enumerate(types) if holds(type_, (FP32, FP64))]
    values = lowering.execution.names(len(inexact))
    texts = []
    for number, child in enumerate(rel.relations):
        own = lowering[child].columns
        texts.append([*map(as_key, own, types), *(own[position] for position in inexact), str(number)])
    united = _unite(texts, (*columns, *values, side), rel, lowering)
    counted = restore_maps(
        Rows(_emit_groups(rel, united, columns, values, side, lowering), columns), types, lowering.execution
    )
    handed_on = dict(zip(inexact, values, strict=True))
    table = without_keys(rel, counted.table, lowering) if id(rel) in lowering.execution.joined_groups else counted.table
    return Rows(table, tuple(handed_on.get(n, column) for n, column in enumerate(counted.columns)))


def _unite(texts: Sequence[Sequence[str]], names: Sequence[str], rel: Set, lowering: InputLowering) -> Table:
    """Unite the rows of all inputs: of each these texts under these names."""
    first, *others = (
        lowering[child].table.select([Item(text, (name,)) for text, name in zip(columns, names, strict=True)])
        for child, columns in zip(rel.relations, texts, strict=True)
    )
    return first.union_all(others)


def _emit_groups(
    rel: Set, united: Table, columns: tuple[str, ...], values: tuple[str, ...], side: str, lowering: InputLowering
) -> Table:
    """Group the united rows, and emit each as often as the operation says.

    Args:
        rel: the set operation.
        united: the rows.
        columns: those of its columns that tell rows apart.
        values: those that hold values of the rows' own, which equal rows need not share.
        side: the column with the number of the input.
        lowering: the lowering, which gives the names.
    """
    primary = "" if rel.op == "union_distinct" else f" FILTER (WHERE {side} = 0)"
    collect = "collect_list" if rel.op in COPIES else "any_value"
    found = lowering.execution.names(1) if values else ()
    own = [Item(f"{collect}({struct_to_sql(values)}){primary}", (name,)) for name in found]
    counts = () if rel.op == "union_distinct" else lowering.execution.names(len(rel.relations))
    count_items = [Item(f"count_if({side} = {number})", (count,)) for number, count in enumerate(counts)]
    counted = united.group(columns, [*count_items, *own] or [Item("count(1)", (lowering.execution.name(),))])
    if rel.op in COPIES:
        copies = f"CAST(greatest({COPIES[rel.op](counts)}, 0L) AS INT)"
        if not values:
            copied = [*items(columns), Item(f"explode(array_repeat(1, {copies}))", lowering.execution.names(1))]
        else:
            copied = [*items(columns), Item(f"inline(slice({found[0]}, 1, {copies}))", values)]
        return without_keys(rel, counted.select(copied), lowering)
    if rel.op in DISTINCT:
        wanted = DISTINCT[rel.op](counts)
        if any(joins.looks_up(each, lowering.lookups) for each in rel.relations):
            # a filter above a count above lookups crashes Spark's optimizer
            repeated = Item(f"explode(array_repeat(1, if({wanted}, 1, 0)))", lowering.execution.names(1))
            counted = counted.select([*items((*columns, *found)), repeated])
        else:
            counted = counted.where(wanted)
    if not values:
        return counted
    return counted.select(
        [*items(columns), *(Item(f"{found[0]}.f{number}", (name,)) for number, name in enumerate(values))]
    )
