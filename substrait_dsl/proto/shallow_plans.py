"""Plans of few steps, as most are: their height shows that no message can nest too deeply, so all is written inline.

The layout of others is found by `plan_layout`, which programs load that need it.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Node, Rel

MAX_NESTING = 99
"""The maximal level of a message below ``Plan``; at 100 Python's JSON parser gives up."""

FLAT_TYPES = frozenset((*t.SIMPLE_TYPES, *t.LENGTH_TYPES, *t.PRECISION_TYPES, t.Decimal))
"""The types that contain no others."""

MIN_INLINED = 10_000
"""The number of nodes up to which shared subtrees are written inline, or `MAX_GROWTH` times the number of nodes."""

SHALLOW_HEIGHT = 17
SHALLOW_TYPES = 12
"""Nothing in a plan of this height is too deep, if its types nest at most so far.

A node takes at most 3 levels, and so does a type inside a type (in a literal of a map, or in the mask of a read); and 3
* 17 + 3 * 12 + 8 < `MAX_LEVELS`.
"""


@attrs.frozen(eq=False, repr=False)
class Layout(FrozenValue):
    """The relations and expressions of a plan that are not written inline."""

    subtrees: tuple[tuple[Rel, ...], ...]
    """For each top node of the plan, the relations that get a ``PlanRel`` before it, in the order of references."""
    separate: frozenset[int]
    """The `id` of each of these."""
    detached: frozenset[int]
    """The `id` of each expression that goes to ``detached_expressions``."""
    type_nesting: int = MAX_NESTING
    """The maximal nesting of types; where they nest deeper, the plan needs another layout."""


def inline_layout(nodes: Sequence[Node]) -> Layout:
    """Return the layout of a shallow plan with these top nodes."""
    return Layout(((),) * len(nodes), frozenset(), frozenset(), SHALLOW_TYPES)


def is_shallow(nodes: Sequence[Node]) -> bool:
    """Whether nothing needs to be cut off, because the top nodes of a plan are low and small."""
    return all(
        node.height <= SHALLOW_HEIGHT and node.size <= MIN_INLINED and not node.flags.has_shared for node in nodes
    )
