"""Limits inside correlated subqueries: where a LIMIT is right, and where rows must be numbered.

Spark rewrites a correlated LIMIT to row numbers, one sequence for each combination of the outer columns that are used
below the LIMIT. If a part of the same subquery above it uses further outer columns, outer rows that differ only in
these share a sequence (observed in Spark 4.3), and get too few rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra.relations import Aggregate, Emit, Fetch, Filter, Project, Sort, TopN, Window
from substrait_dsl.spark.relations.column_pruning import columns_outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from substrait_dsl.algebra.node import Rel


def exact_limits(rels: Sequence[Rel]) -> set[int]:
    """Return the ids of the fetches for which a LIMIT is right: those that use all the outer columns used.

    Args:
        rels: the relations of all subqueries over one outer row; nothing else refers to it.
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
