"""Timestamps of nine digits, which DataFusion makes of dates and texts, as timestamps of six, which engines have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Node, rebuild, walk

_NANO, _MICRO = 9, 6


def without_nanoseconds(rel: rl.Rel) -> rl.Rel:
    """Return the tree with timestamps of six digits where no value has more.

    It is the same tree where a table or a constant has more digits, or where a text is cast to a timestamp, which may
    have more.

    Args:
        rel: a tree as DataFusion wrote it.
    """
    nodes = [*walk(rel)]
    if not any(_has_nanoseconds(node) for node in nodes) or any(map(_may_need_nanoseconds, nodes)):
        return rel
    return rebuild(rel, _narrow)


def _fields(node: Any) -> Mapping[str, Any]:
    return {field.name: getattr(node, field.name) for field in attrs.fields(type(node))}


def _is_wide(value: object) -> bool:
    return isinstance(value, t.PrecisionTimestamp | t.PrecisionTimestampTZ | t.IntervalDay) and value.precision == _NANO


def _has_nanoseconds(node: Node) -> bool:
    return any(map(_is_wide, _fields(node).values()))


def _may_need_nanoseconds(node: Node) -> bool:
    """Whether a value has more than six digits after the second, or may have them."""
    match node:
        case rl.Read():
            return any("<9>" in str(column.type) for column in node.base_schema)
        case ex.Cast(input=value) if _is_wide(node.type):
            return not isinstance(value.type, t.Date | t.PrecisionTimestamp | t.PrecisionTimestampTZ | t.Null)
        case ex.Literal(value=None):
            return False
        case ex.Literal(value=int() as units) if _is_wide(node.literal_type):
            return units % 1000 != 0
        case ex.Literal(value=ex.DaySeconds() as interval) if _is_wide(node.literal_type):
            return interval.subseconds % 1000 != 0
        case ex.Literal():
            return "<9>" in str(node.literal_type) and not isinstance(node.literal_type, t.IntervalCompound)
    return False


def _narrow(node: Node) -> Node:
    """Return a node with the types, and the constant, of six digits."""
    before: Any = node
    changes: dict[str, Any] = {
        name: attrs.evolve(type_, precision=_MICRO) for name, type_ in _fields(node).items() if _is_wide(type_)
    }
    if not changes:
        return node
    match node:
        case ex.Literal(value=int() as units):
            changes["value"] = units // 1000
        case ex.Literal(value=ex.DaySeconds() as interval):
            changes["value"] = attrs.evolve(interval, subseconds=interval.subseconds // 1000)
    changed: Node = attrs.evolve(before, **changes)
    if isinstance(changed, ex.Cast) and changed.type == changed.input.type:
        return changed.input
    return changed
