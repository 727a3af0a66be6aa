"""What expressions come from: the columns of the row that they see, and how each is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, assert_never

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.analysis.column_lineage import DIRECT_USES, ColumnUse, IndirectUse, SourceColumn


class OuterColumn(NamedTuple):
    """A column of the row of an enclosing relation, until that relation is traced."""

    anchor: int
    position: int


@attrs.frozen
class InputColumn:
    """A column of a relation that a step is made of, where the step is looked at by itself."""

    number: int
    """The number of the relation among those that the step is made of."""
    position: int


Origin = SourceColumn | OuterColumn | InputColumn
Uses = frozenset[tuple[Origin, ColumnUse]]
NOTHING: Uses = frozenset()


class Traced(NamedTuple):
    """What a relation is known to come from."""

    columns: tuple[Uses, ...]
    rows: Uses = NOTHING


class Row(NamedTuple):
    """The row that expressions see: what its columns come from, and what the relations of subqueries come from."""

    columns: Sequence[Uses]
    traced: Mapping[int, Traced]

    def uses(self, expressions: Iterable[Node | None], use: ColumnUse) -> Uses:
        """Return what expressions come from that are used in a way; None is no expression."""
        found: set[tuple[Origin, ColumnUse]] = set()
        stack: list[tuple[Node, ColumnUse]] = [(each, use) for each in expressions if each is not None]
        seen: set[tuple[int, ColumnUse]] = set()
        while stack:
            node, use = stack.pop()
            if (id(node), use) in seen:
                continue
            seen.add((id(node), use))
            if isinstance(node, ex.FieldReference):
                found |= self._referenced(node.root, (node.position,), use)
            elif isinstance(node, ex.MaskedReference) and isinstance(node.input, ex.Row):
                found |= self._referenced(
                    node.input.root, [item.position for item in node.mask.items], _use_of_part(use)
                )
            elif isinstance(node, Rel):  # of a subquery; a set predicate has none of its values
                found |= self.traced[id(node)].rows
            else:
                if isinstance(node, ex.ScalarSubquery | ex.InPredicate | ex.SetComparison):
                    found |= self._values(node, use)
                elif isinstance(node, ex.SetPredicate) and node.op == "unique":
                    found |= combine(NOTHING.union(*self.traced[id(node.tuples)].columns), _use_of_part(use))
                stack += _children(node, use)
        return frozenset(found)

    def _referenced(self, root: ex.Root, positions: Iterable[int], use: ColumnUse) -> Uses:
        match root:
            case ex.RootReference():
                return NOTHING.union(*(combine(self.columns[position], use) for position in positions))
            case ex.OuterReference(anchor=anchor):
                return frozenset((OuterColumn(anchor, position), use) for position in positions)
            case ex.LambdaParameter():  # the values are those of the list, which is an argument itself
                return NOTHING
            case never:
                assert_never(never)

    def _values(self, subquery: ex.ScalarSubquery | ex.InPredicate | ex.SetComparison, use: ColumnUse) -> Uses:
        """Return what the values come from that a subquery gives, or is compared with."""
        match subquery:
            case ex.ScalarSubquery(input=relation):
                return combine(self.traced[id(relation)].columns[0], use)
            case ex.InPredicate(haystack=relation) | ex.SetComparison(right=relation):
                return combine(NOTHING.union(*self.traced[id(relation)].columns), _use_of_part(use))


def _children(node: Node, use: ColumnUse) -> Iterable[tuple[Node, ColumnUse]]:
    """Yield the parts of an expression, each with how it is used where the expression is used in some way."""
    inside = _use_of_part(use)
    decided: tuple[Node, ...] = ()
    how: ColumnUse = inside
    match node:
        case ex.IfClause(condition=condition):
            decided, how = (condition,), _unless_indirect(use, "conditional")
        case ex.Switch(match=matched):
            decided, how = (matched,), _unless_indirect(use, "conditional")
        case ex.WindowFunction(partitions=partitions, sorts=sorts):
            decided, how = (*partitions, *sorts), _unless_indirect(use, "window")
    deciding = {id(each) for each in decided}
    for child in node.children():
        yield child, how if id(child) in deciding else inside


def _use_of_part(use: ColumnUse) -> ColumnUse:
    """Return how a part is used of an expression that is used so: what is computed is no copy."""
    return "transformation" if use == "identity" else use


def _unless_indirect(use: ColumnUse, indirect: IndirectUse) -> ColumnUse:
    return indirect if use in DIRECT_USES else use


def combine(uses: Uses, use: ColumnUse) -> Uses:
    """Return the uses of what is itself used: of two direct ones the stronger, of others the one that is indirect."""
    if use == "identity":
        return uses
    return frozenset((source, _stronger(before, use)) for source, before in uses)


def _stronger(before: ColumnUse, use: ColumnUse) -> ColumnUse:
    if before not in DIRECT_USES:
        return before
    if use not in DIRECT_USES:
        return use
    return max(before, use, key=DIRECT_USES.index)


def with_row(found: Traced, anchor: int, row: Sequence[Uses]) -> Traced:
    """Return what is traced with the references to a row replaced by what its columns come from."""

    def replaced(uses: Uses) -> Uses:
        if not any(isinstance(source, OuterColumn) and source.anchor == anchor for source, _ in uses):
            return uses
        return NOTHING.union(
            *(
                combine(row[source.position], use)
                if isinstance(source, OuterColumn) and source.anchor == anchor
                else ((source, use),)
                for source, use in uses
            )
        )

    return Traced(tuple(map(replaced, found.columns)), replaced(found.rows))
