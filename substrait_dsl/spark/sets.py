"""Set operations: one lowering for all, by counting.

The rows of all inputs are put together, each marked with the input it comes from; grouping them (where NULL equals
NULL) counts how often each row stands in each input, and a formula says how often it stands in the output. That is
one pass and one shuffle for any number of inputs, and it works for columns that Spark cannot compare.

Specification: https://substrait.io/relations/logical_relations/#set-operation-types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.spark import joins
from substrait_dsl.spark.map_keys import as_key, from_keys
from substrait_dsl.spark.tables import Item, Rows, Table, items

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import Set
    from substrait_dsl.algebra.rules import SetOp
    from substrait_dsl.spark.lowering import Lowering

Counts = Sequence[str]
"""The columns that hold how often a row stands in each input, the primary one first."""


def _in_any(counts: Counts) -> str:
    return f"({' OR '.join(f'{count} > 0' for count in counts)})"


def _in_all(counts: Counts) -> str:
    return f"({' AND '.join(f'{count} > 0' for count in counts)})"


DISTINCT: Mapping[SetOp, Callable[[Counts], str]] = {
    "minus_primary": lambda n: f"{n[0]} > 0 AND NOT {_in_any(n[1:])}",
    "intersection_primary": lambda n: f"{n[0]} > 0 AND {_in_any(n[1:])}",
    "intersection_multiset": _in_all,
}
"""The operations that put a row out once: when they do."""

COPIES: Mapping[SetOp, Callable[[Counts], str]] = {
    "minus_primary_all": lambda n: " - ".join(n),
    "minus_multiset": lambda n: f"if({_in_all(n[1:])}, 0L, {n[0]})",  # reading 16: duplicates stay
    "intersection_multiset_all": lambda n: f"least({', '.join(n)})",
}
"""The operations that put a row out several times: how often; not at all, if that is negative."""


def lower_set(rel: Set, to: Lowering) -> Rows:
    """Count the rows of the inputs, and put out as many as the operation says."""
    columns = to.space.names(len(rel.schema))
    side = to.space.name()
    kinds = rel.schema.types
    everything: list[Table] = []
    for number, child in enumerate(rel.relations):
        rows = to[child]
        keys = rows.columns if rel.op == "union_all" else map(as_key, rows.columns, kinds)
        made = [Item(key, (name,)) for key, name in zip(keys, columns, strict=True)]
        everything.append(rows.table.select([*made, Item(str(number), (side,))]))
    first, *others = everything
    united = first.union_all(others)
    if rel.op == "union_all":
        return Rows(united, columns)
    return from_keys(Rows(_put_out(rel, united, columns, side, to), columns), kinds, to.space)


def _put_out(rel: Set, united: Table, columns: tuple[str, ...], side: str, to: Lowering) -> Table:
    """The rows of all inputs together, as often as the operation puts them out."""
    if rel.op == "union_distinct":
        return united.group(columns, [Item("count(1)", (to.space.name(),))])
    counts = to.space.names(len(rel.relations))
    counted = united.group(
        columns, [Item(f"count_if({side} = {number})", (count,)) for number, count in enumerate(counts)]
    )
    if rel.op in DISTINCT:
        wanted = DISTINCT[rel.op](counts)
        if not any(map(joins.looks_up, rel.relations)):
            return counted.where(wanted)
        copies = f"if({wanted}, 1, 0)"  # a filter above a count above lookups crashes Spark's optimizer
    else:
        copies = f"CAST({COPIES[rel.op](counts)} AS INT)"
    repeated = Item(f"explode(array_repeat(1, {copies}))", (to.space.name(),))
    return counted.select([*items(columns), repeated])
