"""Groups that are joined to other rows, and grouped again.

Some engines go on to take the keys of the inner groups for keys of the joined rows: DataFusion does, and Sail with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import Aggregate, Set


def has_keys(rel: Rel) -> bool:
    """Return whether a relation groups its rows or makes them distinct, so that some of its columns are a key."""
    return (isinstance(rel, Aggregate) and bool(rel.keys)) or (isinstance(rel, Set) and rel.op != "union_all")


def joined_groups(relations: Iterable[Rel], inside: Callable[[Rel], Iterable[Rel]]) -> frozenset[int]:
    """Find the aggregates and set operations below a join that is below another one of them.

    Args:
        relations: the relations of a tree, each before those inside of it.
        inside: gives the relations directly inside a relation; one with several, and no set operation, joins them.

    Returns:
        Their ids.
    """
    grouped: set[int] = set()
    joined: set[int] = set()
    found: set[int] = set()
    for rel in relations:
        parts = [id(part) for part in inside(rel)]
        is_group = has_keys(rel)
        if is_group and id(rel) in joined:
            found.add(id(rel))
        if id(rel) in joined or (id(rel) in grouped and len(parts) > 1 and not isinstance(rel, Set)):
            joined.update(parts)
        if is_group or id(rel) in grouped:
            grouped.update(parts)
    return frozenset(found)
