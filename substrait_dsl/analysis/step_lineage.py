"""Trace the columns of each step to those of the steps below it: one step of the way that `trace` goes to the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import attrs

from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.trees import relations_below
from substrait_dsl.analysis.trace import row_of, trace_relation
from substrait_dsl.analysis.uses import NOTHING, InputColumn, OuterColumn, Traced, Uses, combine

MAX_FOLLOWED = 1_000
"""The columns of a relation that has more are not followed."""


ROWS = -1
"""The position of what is no column: which rows there are."""


@attrs.frozen
class StepLineage:
    """What the columns and the rows of a step come from."""

    columns: tuple[Uses, ...]
    rows: Uses
    relations: tuple[Rel, ...]
    """The relations that an `InputColumn` of the step is a column of, by its number; at `ROWS` stand their rows."""


def trace_steps(steps: Sequence[Rel]) -> dict[int, StepLineage]:
    """Return what the columns and the rows of each step come from, by the id of the relation.

    Args:
        steps: all relations of a plan, those of subqueries too.

    Of what is read, these are columns of sources; of all else, columns of the inputs and of the relations of
    subqueries, and inside a subquery columns of the row around it. A step that is too wide, or is made of one that is,
    has nothing here.
    """
    below = {id(rel): tuple({id(each): each for each in relations_below(rel)}.values()) for rel in steps}
    users: dict[int, list[Rel]] = defaultdict(list)
    for rel in steps:
        for each in below[id(rel)]:
            users[id(each)].append(rel)
    columns = _Columns()
    return {
        id(rel): _trace_step(rel, below[id(rel)], columns, users)
        for rel in steps
        if all(len(each.schema) <= MAX_FOLLOWED for each in (rel, *below[id(rel)]))
    }


class _Columns:
    """The columns of relations by the numbers of these, each of which is its own source."""

    def __init__(self) -> None:
        self._known: dict[int, list[Uses]] = defaultdict(list)

    def of(self, number: int, rel: Rel) -> tuple[Uses, ...]:
        """Return the columns of a relation that has a number."""
        known, width = self._known[number], len(rel.schema)
        known += (frozenset(((InputColumn(number, position), "identity"),)) for position in range(len(known), width))
        return tuple(known[:width])


def _trace_step(rel: Rel, below: Sequence[Rel], columns: _Columns, users: Mapping[int, Sequence[Rel]]) -> StepLineage:
    """Return what the columns and the rows of a step come from, given what it is made of, and what is made of each."""
    inputs = {
        id(each): Traced(columns.of(number, each), frozenset(((InputColumn(number, ROWS), "filter"),)))
        for number, each in enumerate(below)
    }
    found = trace_relation(rel, inputs)
    relations = [*below]
    if not rel.free_anchors:
        return StepLineage(found.columns, found.rows, tuple(relations))

    def outer_column(column: OuterColumn) -> Uses:
        """Return what a column of an enclosing row is; nothing if the relation around it is not there."""
        user = _enclosing(rel, column.anchor, users)
        if user is None:
            return NOTHING
        start = len(relations)
        relations.extend(user.inputs)
        row = row_of(user, [Traced(columns.of(start + number, each)) for number, each in enumerate(user.inputs)])
        return row[column.position]

    def resolved(uses: Uses) -> Uses:
        return NOTHING.union(
            *(
                combine(outer_column(source), use) if isinstance(source, OuterColumn) else ((source, use),)
                for source, use in uses
            )
        )

    return StepLineage(tuple(map(resolved, found.columns)), resolved(found.rows), tuple(relations))


def _enclosing(rel: Rel, anchor: int, users: Mapping[int, Sequence[Rel]]) -> Rel | None:
    """Return the relation around a relation whose row has an anchor."""
    seen = {id(rel)}
    around = [*users.get(id(rel), ())]
    while around:
        user = around.pop()
        if id(user) in seen:
            continue
        seen.add(id(user))
        if user.anchor == anchor:
            return user
        around += users.get(id(user), ())
    return None
