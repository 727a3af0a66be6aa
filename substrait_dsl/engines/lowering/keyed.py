"""Joins on an engine that joins by one key, which is a column of each side.

Several keys become one string, from which they could be read back. The residual condition is a filter of an inner join;
where rows without a match stay, the matches of the distinct left values are found first, and then joined.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import ROOT, Expression, FieldReference, Literal, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.engines.lowering.calls import LENGTH, to_form
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.known_types import union_of_columns, with_known_types
from substrait_dsl.engines.lowering.shown import merge_filter, merge_projection
from substrait_dsl.engines.lowering.terms import (
    TRUE,
    as_type,
    call,
    case_when,
    cast,
    column,
    columns,
    conjunction,
    is_null,
    map_fields,
    number,
    one_zero,
    shift_fields,
)

COMPARISONS = ("equal", "is_not_distinct_from")


@attrs.frozen
class Key:
    """Values of both sides that must be equal."""

    left: Expression
    right: Expression
    """Over the columns of the right side."""
    joins_nulls: bool
    """Whether NULL equals NULL."""


@attrs.frozen
class Condition:
    """The parts of a join condition."""

    keys: list[Key]
    left: list[Expression]
    """Conjuncts over left columns, or over none."""
    right: list[Expression]
    """Conjuncts over right columns, at their positions in the right side."""
    others: list[Expression]


def keyed_join(rel: rl.Join, lowering: Lowering) -> Rel:
    """Return a join by one key; of the types inner, left and outer.

    The inputs have the forms of the engine, the condition not yet.
    """
    left, right, how = with_known_types(rel.left, lowering), with_known_types(rel.right, lowering), rel.how
    parts = _parts(rel.condition, len(left.schema))
    match how:
        case "inner":
            return _inner(left, right, parts, lowering)
        case "left" | "left_semi" | "left_anti" if parts.left or parts.others:
            return _join_by_distinct_values(left, right, how, rel.condition, lowering)
        case "left" | "left_semi" | "left_anti":
            return _join_by_keys(left, _filter(right, parts.right, lowering), how, parts.keys, lowering)
        case "outer" if not (parts.left or parts.right or parts.others):
            return _join_by_keys(left, right, "outer", parts.keys, lowering)
        case "outer":
            return _outer(left, right, rel.condition, lowering)
        case _:
            raise lowering.refusal(f"a {how} join")


def _outer(left: Rel, right: Rel, condition: Expression, lowering: Lowering) -> Rel:
    """Return an outer join: a left join, and the right rows without a match, null-extended."""
    width, other = len(left.schema), len(right.schema)
    joined = keyed_join(rl.Join(left, right, "left", condition), lowering)
    mirrored = map_fields(condition, lambda at: at + other if at < width else at - width)
    without = keyed_join(rl.Join(right, left, "left_anti", mirrored), lowering)
    nulls = [Literal(None, type_.as_nullable()) for type_ in left.schema.types]
    rest = merge_projection(without, [*nulls, *columns(without)], joined.schema.names, lowering)
    return union_of_columns([joined, rest], lowering)


def _parts(condition: Expression, width: int) -> Condition:
    found = Condition([], [], [], [])
    for part in conjuncts(condition):
        if part == TRUE:
            continue
        sides = _sides(part, width)
        key = _key(part, width)
        if key is not None:
            found.keys.append(key)
        elif len(sides) > 1:
            found.others.append(part)
        elif sides == {"right"}:
            found.right.append(shift_fields(part, -width))
        else:
            found.left.append(part)
    return found


def _sides(expression: Expression, width: int) -> set[str]:
    return {
        "left" if node.position < width else "right"
        for node in walk(expression, into_relations=False)
        if isinstance(node, FieldReference) and node.root == ROOT
    }


def _key(part: Expression, width: int) -> Key | None:
    match part:
        case ScalarFunction(arguments=(Expression() as one, Expression() as other)) if (
            part.function.standard_name in COMPARISONS
        ):
            joins_nulls = part.function.name == "is_not_distinct_from"
            sides = _sides(one, width), _sides(other, width)
            if sides == ({"left"}, {"right"}):
                return Key(one, shift_fields(other, -width), joins_nulls)
            if sides == ({"right"}, {"left"}):
                return Key(other, shift_fields(one, -width), joins_nulls)
            return None
        case _:
            return None


def _filter(rel: Rel, conditions: Sequence[Expression], lowering: Lowering) -> Rel:
    return merge_filter(rel, to_form(conjunction(conditions), lowering), lowering) if conditions else rel


def _inner(left: Rel, right: Rel, parts: Condition, lowering: Lowering) -> Rel:
    sides = _filter(left, parts.left, lowering), _filter(right, parts.right, lowering)
    return _filter(_join_by_keys(*sides, "inner", parts.keys, lowering), parts.others, lowering)


def _join_by_keys(left: Rel, right: Rel, how: JoinType, keys: Sequence[Key], lowering: Lowering) -> Rel:
    """Return a join by all of several keys."""
    width, names = len(left.schema), left.schema.names
    one, other = _one_key(keys, lowering)
    left_side = with_known_types(merge_projection(left, [*columns(left), one], [*names, "key"], lowering), lowering)
    if how in ("left_semi", "left_anti"):
        right_keys = with_known_types(merge_projection(right, [other], ["key"], lowering), lowering)
        different = rl.Aggregate(right_keys, columns(right_keys), ((0,),), (), ("key",))
        marked = merge_projection(different, [*columns(different), number(1, t.I32())], ["key", "mark"], lowering)
        join_type: JoinType = "inner" if how == "left_semi" else "left"
        joined: Rel = _join(left_side, marked, join_type)
        if how == "left_anti":
            joined = rl.Filter(joined, is_null(column(joined, width + 2)))
        return merge_projection(joined, columns(joined, range(width)), names, lowering)
    right_side = with_known_types(
        merge_projection(right, [*columns(right), other], [*right.schema.names, "key"], lowering), lowering
    )
    joined = _join(left_side, right_side, how, len(right.schema))
    positions = [*range(width), *range(width + 1, width + 1 + len(right.schema))]
    return merge_projection(joined, columns(joined, positions), (*names, *right.schema.names), lowering)


def _join(left: Rel, right: Rel, how: JoinType, at: int = 0) -> Rel:
    """Return the join by the last column of the left side and one of the right side."""
    width = len(left.schema)
    return rl.Join(
        left, right, how, call("comparison", "equal", column(left, width - 1), shift_fields(column(right, at), width))
    )


def _one_key(keys: Sequence[Key], lowering: Lowering) -> tuple[Expression, Expression]:
    """Return the values of both sides that are equal where all keys are."""
    if not keys:
        return number(0, t.I32()), number(0, t.I32())
    if len(keys) == 1 and not keys[0].joins_nulls and not isinstance(keys[0].left.type, t.FP32 | t.FP64 | t.Decimal):
        return to_form(keys[0].left, lowering), to_form(keys[0].right, lowering)
    sides = []
    for side in ("left", "right"):
        key_text: Expression = Literal("", t.String())
        for key in keys:
            text = _text(getattr(key, side), lowering, joins_nulls=key.joins_nulls)
            key_text = call("string", "concat", call("string", "concat", key_text, Literal("|", t.String())), text)
        sides.append(to_form(key_text, lowering))
    return sides[0], sides[1]


def _text(value: Expression, lowering: Lowering, *, joins_nulls: bool) -> Expression:
    """Return a string that differs for different values, and marks its end."""
    match value.type:
        case t.String(nullable=nullable):
            length = ScalarFunction(LENGTH, (value,), t.I32(nullable=nullable))
            text: Expression = call("string", "concat", cast(length, t.String()), Literal(":", t.String()))
            text = call("string", "concat", text, value)
        case (
            t.Boolean() | t.I8() | t.I16() | t.I32() | t.I64() | t.FP32() | t.FP64() | t.Decimal() | t.Date()
            | t.PrecisionTimestamp()
        ):  # fmt: skip
            text = cast(one_zero(value), t.String())
        case other:
            raise lowering.refusal(f"a join by several values, one of them {other}")
    if joins_nulls and value.type.nullable:
        none = Literal("N", t.String(nullable=True))
        return case_when([(is_null(value), none)], as_type(text, none.type))
    return text


def _join_by_distinct_values(left: Rel, right: Rel, how: JoinType, condition: Expression, lowering: Lowering) -> Rel:
    """Return a join with any condition: right rows are found for the distinct values of the left columns in it."""
    width, names = len(left.schema), left.schema.names
    used = sorted(
        {
            node.position
            for node in walk(condition, into_relations=False)
            if isinstance(node, FieldReference) and node.root == ROOT and node.position < width
        }
    )
    new_positions = {position: n for n, position in enumerate(used)}
    test = map_fields(condition, lambda at: new_positions[at] if at < width else at - width + len(used))
    if not used:
        return _join_by_keys(left, _filter(right, [test], lowering), how, (), lowering)
    values = [to_form(one_zero(column(left, at)), lowering) for at in used]
    below = with_known_types(merge_projection(left, values, [names[at] for at in used], lowering), lowering)
    domain = rl.Aggregate(below, columns(below), (tuple(range(len(used))),), (), below.schema.names)
    matches = _inner(domain, right, _parts(test, len(used)), lowering)
    keys = [Key(column(left, at), column(matches, n), joins_nulls=True) for n, at in enumerate(used)]
    joined = _join_by_keys(left, with_known_types(matches, lowering), how, keys, lowering)
    if how != "left":
        return joined
    positions = [*range(width), *range(width + len(used), len(joined.schema))]
    return merge_projection(joined, columns(joined, positions), [joined.schema.names[at] for at in positions], lowering)
