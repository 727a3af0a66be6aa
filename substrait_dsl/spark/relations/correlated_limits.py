"""First rows inside correlated subqueries: where a LIMIT gives them, and where the rows must be numbered.

Spark turns a correlated LIMIT into numbers of the rows, counted anew for each combination of the outer columns that
stand inside the LIMIT. If something around it, in the same subquery, refers to further outer columns, the rows for
outer rows that differ only in these are numbered together (observed in Spark 4.3): of each, too few are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra.relations import Aggregate, Emit, Fetch, Filter, Project, Sort, TopN, Window
from substrait_dsl.spark.relations.column_pruning import columns_outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from substrait_dsl.algebra.node import Rel


def exact_limits(rels: Sequence[Rel]) -> set[int]:
    """The fetches, by their ids, for which a LIMIT is right: those that see all outer columns there are.

    Args:
        rels: the relations in all subqueries with one row around them; nothing beside them refers to it.
    """
    everything = {column for rel in rels for column in _outer_columns(rel)}
    found = set()
    for rel in rels:
        below = rel
        # a relation that is not named here ends the search: its rows are numbered, which is right everywhere
        while isinstance(below, Project | Emit | Filter | Sort | Aggregate | Window | Fetch | TopN):
            if isinstance(below, Fetch | TopN) and _outer_columns(below) == everything:
                found.add(id(below))
            below = below.input
    return found


def _outer_columns(rel: Rel) -> set[tuple[int, int]]:
    return set(columns_outside([rel], rel.free_anchors))
