"""``EXCEPT ALL`` and ``INTERSECT ALL``: DataFusion makes joins of them, in which a row matches any number of others."""

from __future__ import annotations

import re

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, rebuild, walk
from substrait_dsl.algebra.relations.joins import COMPARISON_URN, conjuncts
from substrait_dsl.algebra.rules import SetOp
from substrait_dsl.errors import UnsupportedError


@attrs.frozen
class _Operation:
    """A set operation that counts repetitions."""

    words: str
    """Its words in SQL."""
    pattern: re.Pattern[str]
    """How it is found in the text of a query."""
    how: str
    """The join that DataFusion makes of it."""
    op: SetOp


_OPERATIONS = (
    _Operation("EXCEPT ALL", re.compile(r"\bexcept\s+all\b", re.IGNORECASE), "left_anti", "minus_primary_all"),
    _Operation(
        "INTERSECT ALL", re.compile(r"\bintersect\s+all\b", re.IGNORECASE), "left_semi", "intersection_multiset_all"
    ),
)

_JOINS_ALIKE = re.compile(r"\b(?:anti|semi)\b|\bdistinct\s+from\b|<=>", re.IGNORECASE)
"""What else may become a join in which NULL equals NULL."""


def count_rows(rel: rl.Rel, text: str) -> rl.Rel:
    """Return the tree with set operations in place of the joins that DataFusion makes of those that count repetitions.

    ``EXCEPT`` and ``INTERSECT`` alone are such joins, too, of distinct rows: to these repetitions make no difference.

    Args:
        rel: a tree as DataFusion wrote it.
        text: the text of the query without constants, names in quotes and comments.

    Raises:
        UnsupportedError: which joins stand for the operations of the text, the tree does not say.
    """
    for each in _OPERATIONS:
        if each.pattern.search(text) is None:
            continue
        joins = [node for node in walk(rel) if isinstance(node, rl.Join) and node.how == each.how]
        unclear = [
            join for join in joins if _has_null_keys(join) and not (_is_distinct(join.left) or _is_of_rows(join))
        ]
        counted = [join for join in joins if _has_null_keys(join)]
        if _JOINS_ALIKE.search(text) is not None or unclear or not counted:
            raise UnsupportedError(
                f"DataFusion makes a join of {each.words} that says nothing of repetitions",
                hint=f'read both queries, then first.set_op("{each.op}", second)',
            )
        rel = rebuild(rel, _Counting(each.how, each.op))
    return rel


@attrs.frozen
class _Counting:
    """Puts set operations in the place of joins."""

    how: str
    op: SetOp

    def __call__(self, node: Node) -> Node:
        if not isinstance(node, rl.Join) or node.how != self.how or _is_distinct(node.left) or not _is_of_rows(node):
            return node
        counted = rl.Set((node.left, node.right), self.op)
        wanted = node.schema
        if counted.schema.types == wanted.types:
            return counted
        width = len(wanted)
        casts = tuple(
            ex.Cast(ex.FieldReference(position, found), type_)
            for position, (found, type_) in enumerate(zip(counted.schema.types, wanted.types, strict=True))
        )
        return rl.emit(rl.Project(counted, casts, wanted.names), tuple(range(width, 2 * width)), wanted.names)


def _is_distinct(rel: rl.Rel) -> bool:
    """Whether no row is there twice: each is a group."""
    return isinstance(rel, rl.Aggregate) and not rel.measures and len(rel.grouping_sets) == 1


def _has_null_keys(join: rl.Join) -> bool:
    """Whether NULL equals NULL in a comparison of a join."""
    return any(_compared(part) is not None for part in conjuncts(join.condition))


def _is_of_rows(join: rl.Join) -> bool:
    """Whether a join compares each column with that at the same position, and nothing else."""
    width = len(join.left.schema)
    pairs = [_compared(part) for part in conjuncts(join.condition)]
    types = zip(join.left.schema.types, join.right.schema.types, strict=False)
    return (
        len(join.right.schema) == width
        and pairs == [(position, position + width) for position in range(width)]
        and all(one.as_required() == other.as_required() for one, other in types)
        and join.post_filter is None
    )


def _compared(part: ex.Expression) -> tuple[int, int] | None:
    """Return the columns that a condition compares, so that NULL equals NULL; negative ones are computed."""
    match part:
        case ex.ScalarFunction(function=function, arguments=(one, other)) if (
            function.urn == COMPARISON_URN and function.name == "is_not_distinct_from"
        ):
            return _position(one), _position(other)
        case _:
            return None


def _position(value: ex.Argument) -> int:
    return value.position if isinstance(value, ex.FieldReference) and value.root == ex.RootReference() else -1
