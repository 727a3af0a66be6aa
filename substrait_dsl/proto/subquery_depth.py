"""The nesting depth of subqueries, as a decoder meets it.

A subtree or detached expression can be decoded before the reference to it, unless it sees the row of that: a correlated
subtree, and a detached expression, are decoded in place. So calls nest, through all subqueries. Parsers do not limit
that, as they limit messages, but Python limits nested calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from substrait_dsl.algebra.expressions import InPredicate, ScalarSubquery, SetComparison, SetPredicate
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.relations import LateralJoin
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.nesting_depth import LEVELS
from substrait_dsl.proto.shallow_plans import Layout

MAX_CALLS = 820
"""The maximal depth of calls of a decoder: Python allows 1000, those of the caller included."""

_CALLS = {class_: 2 * levels for class_, levels in LEVELS.items()} | dict.fromkeys(
    (ScalarSubquery, InPredicate, SetPredicate, SetComparison), 4
)
"""The maximal depth of calls for a node: two for each message, but for subqueries."""
_CALLS_FOR_SEPARATE = 5
"""The depth of calls to find a subtree or detached expression."""


def require_readable(nodes: Sequence[Node], layout: Layout) -> None:
    """Raise `UnsupportedError` for subqueries that nest too deeply to be decoded again.

    Args:
        nodes: those at the top of a plan.
        layout: what of the plan stands apart.
    """
    if not layout.detached and not any(rel.free_anchors for rels in layout.subtrees for rel in rels):
        return
    found: dict[int, _Calls] = {}
    for node in _children_first(nodes):
        here, separate = 2, 0
        for child in node.children():
            calls, own = found[id(child)], _CALLS[type(node)]
            is_separate = id(child) in layout.detached or id(child) in layout.separate
            if is_separate and isinstance(child, Rel) and not child.free_anchors:
                continue  # it sees no row outside of it, and is read before all else
            looking = _CALLS_FOR_SEPARATE if is_separate else 0
            if _sees_other_rows(child, node):
                here = max(here, own + looking + calls.here + calls.separate)
            elif is_separate:
                separate = max(separate, looking + calls.here, calls.separate)
            else:
                own = 0 if child is _first_input(node) else own
                here, separate = max(here, own + calls.here), max(separate, calls.separate)
        if here + separate > MAX_CALLS:
            raise UnsupportedError(
                f"subqueries nest too deeply: reading them back would take more than {MAX_CALLS} calls in each other",
                hint="join the relations instead",
            )
        found[id(node)] = _Calls(here, separate)


@attrs.frozen(eq=False, repr=False)
class _Calls(FrozenValue):
    """The maximal depth of calls while a node is decoded."""

    here: int
    """In place: its own calls and those for its parts, or those for its first input, which comes before."""
    separate: int
    """For the subtrees and detached expressions over the same rows: they come before, one after the other."""


def _sees_other_rows(child: Node, node: Node) -> bool:
    """Whether a child sees other rows than the node: then its separate parts are decoded inside of it."""
    if isinstance(node, LateralJoin) and child is node.right:
        return True
    return isinstance(child, Rel) is not isinstance(node, Rel)


def _first_input(node: Node) -> Rel | None:
    """Return the input of a relation that is decoded first, and without nesting."""
    return getattr(node, "input", getattr(node, "left", None)) if isinstance(node, Rel) else None


def _children_first(nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield all nodes of a plan, each once, after its children."""
    seen: set[int] = set()
    stack = [(node, False) for node in nodes]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(child, False) for child in node.children()]
