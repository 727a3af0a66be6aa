"""Limit the copies of relations: Spark plans a relation once for each place in the tree.

A plan holds a shared relation once, so a short one can expand to millions: a relation that is united with itself twenty
times over has a million reads in Spark.
"""

from __future__ import annotations

from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.session.engines import ENGINE

MAX_COPIES = 2_500
"""The most additional relations when each one is counted once per place in the tree.

Spark takes about 25 s and 1.3 GB for 2,000, as of ten doublings of one, and twice that for each further one.
"""


def require_size(top: Rel) -> None:
    """Raise `UnsupportedError` for a tree of too many relations, where each is counted in every place."""
    if top.size <= MAX_COPIES:
        return
    counts: dict[int, int] = {}
    relations = 0
    stack: list[Node] = [top]
    while stack:
        node = stack[-1]
        waiting = [child for child in node.children() if id(child) not in counts]
        if waiting and id(node) not in counts:
            stack.extend(waiting)
            continue
        stack.pop()
        if id(node) not in counts:
            is_relation = isinstance(node, Rel)
            relations += is_relation
            counts[id(node)] = is_relation + sum(counts[id(child)] for child in node.children())
    copies = counts[id(top)] - relations
    if copies > MAX_COPIES:
        raise UnsupportedError(
            f"the plan has {relations:,} relations, but {_about(counts[id(top)])} where each is counted in every place "
            f"where it stands, as {ENGINE} plans them, and {MAX_COPIES:,} more are the most",
            hint="write what is used so often to a table or a view, and read that",
        )


def _about(number: int) -> str:
    """A number, which may have thousands of digits, as a message shows it."""
    return f"{number:,}" if number < 10**15 else f"2^{number.bit_length() - 1} or more"
