"""Whether a relation has the same rows each time it is computed, as long as no table changes.

All references to a shared relation have one result set. A relation whose rows may differ each time is therefore
computed once for all references, or refused where an engine computes it for each.

Specification: https://substrait.io/relations/logical_relations/#reference-operation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import assert_never, get_args

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import AggregateFunction, WindowCall
from substrait_dsl.algebra.node import Node, Rel, walk

_BY_ORDER = {
    "any_value", "approx_percentile", "collect_list", "collect_set", "max_by", "min_by", "mode", "string_agg"
}  # fmt: skip
"""Aggregate functions whose value depends on the order in which rows come, where the plan says none.

Those of `everyday` are among them: of several rows, or values, that are as good as another they take any.
"""

_OTHER_ROWS = (
    "may have other rows each time: which rows a fetch takes, or a window numbers first, depends on their order, and "
    "what is declared deterministic: false has other values"
)
SHARED_ROWS = f"computes a shared relation once for each use, and this one {_OTHER_ROWS}"
"""The reason for an engine that computes a shared relation more than once."""
REPEATED_ROWS = f"computes an input of this step several times, and it {_OTHER_ROWS}"
"""The reason for a relation that becomes several ones over the same input."""
SHARED_HINT = (
    "an aggregate, or a filter of ranks, says which rows are taken whatever their order; rows with other values each "
    "time are collected first, and read with from_arrow"
)


def is_stable(rel: Rel) -> bool:
    """Return whether the rows are the same each time, if tables do not change and views are deterministic.

    Which rows a fetch takes, and how a window numbers those that are equal to it, depends on the order in which an
    engine gets to them.
    """
    return all(map(does_not_depend_on_order, walk(rel)))


def does_not_depend_on_order(node: Node) -> bool:
    """Return whether a node gives the same whatever the order is in which rows come that it does not say."""
    match node:
        case WindowCall():
            return False
        case AggregateFunction(function=function, sorts=()):
            return function.name not in _BY_ORDER
        case Rel():
            return _is_relation_stable(node)
        case _:
            return True


_OF_PLANS = frozenset(get_args(rl.AnyRelation))
"""The classes of relations of plans. An engine may put others in their place, with rows that it has."""


def _is_relation_stable(rel: Rel) -> bool:
    """Return whether a relation puts out the same for the same input, its expressions aside.

    The `match` is over the closed union: a relation with a random choice must not be taken for a stable one unasked.
    """
    if type(rel) not in _OF_PLANS:
        return True  # rows that an engine has evaluated already
    relation = rl.as_union(rel)
    match relation:
        case rl.Fetch(count=count, offset=offset):
            return count is None and offset is None
        case rl.TopN():
            return False
        case (
            rl.Aggregate() | rl.Cross() | rl.Ddl() | rl.Emit() | rl.Exchange() | rl.Expand()
            | rl.ExtensionLeaf() | rl.ExtensionMulti() | rl.ExtensionSingle() | rl.Filter() | rl.HashJoin()
            | rl.Join() | rl.LateralJoin() | rl.MergeJoin() | rl.MergingCapture() | rl.NestedLoopJoin()
            | rl.Project() | rl.Read() | rl.Set() | rl.SimpleCapture() | rl.Sort() | rl.Unnest() | rl.Update()
            | rl.Window() | rl.Write()
        ):  # fmt: skip
            return True
        case never:
            assert_never(never)


def unstable_shared_relations(trees: Iterable[Rel], is_stable: Callable[[Rel], bool]) -> list[Rel]:
    """Return the shared relations that are used several times, and may have other rows each time they are computed.

    Args:
        trees: the relations of a plan.
        is_stable: whether the rows are the same each time, on an engine.
    """
    uses: Counter[int] = Counter()
    shared: dict[int, Rel] = {}
    seen: set[int] = set()
    for tree in trees:
        if not tree.flags.has_shared:
            continue
        if tree.shared:
            shared[id(tree)] = tree
            uses[id(tree)] += 1
        for node in walk(tree):
            if id(node) in seen:
                continue
            seen.add(id(node))
            for child in node.children():
                if isinstance(child, Rel) and child.shared:
                    shared[id(child)] = child
                    uses[id(child)] += 1
    return [rel for key, rel in shared.items() if uses[key] > 1 and not is_stable(rel)]
