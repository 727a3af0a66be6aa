"""Conditions in which NULL equals NULL, on an engine that then treats all equalities of a join so.

DataFusion makes join keys of ``IS NOT DISTINCT FROM``, and sets for all keys of the join that NULL equals NULL. What
becomes a key later, from a condition or a filter above, is compared so, too: ``NOT (a <> b)`` then takes NULL and NULL
for equal. So IS NOT DISTINCT FROM is written as two equalities: whether the values are NULL, and the values with a
stand-in for NULL.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Mapping
from typing import Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, Literal, ScalarFunction
from substrait_dsl.algebra.node import Node, rebuild, walk
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.structs import has_random, opaque_false
from substrait_dsl.engines.lowering.terms import FALSE, call, case_when, connect, equal, is_null, negate

COMPARISONS = ("is_not_distinct_from", "is_distinct_from")

STAND_INS: Mapping[type[t.Type], Callable[[Any], object]] = {
    t.Boolean: lambda type_: False,
    **dict.fromkeys(t.INTEGER_TYPES, lambda type_: 0),
    **dict.fromkeys((t.FP32, t.FP64), lambda type_: 0.0),
    t.String: lambda type_: "",
    t.Binary: lambda type_: b"",
    t.FixedBinary: lambda type_: bytes(int(type_.length)),
    t.Date: lambda type_: datetime.date(1970, 1, 1),
    t.Decimal: lambda type_: decimal.Decimal(0).scaleb(-int(type_.scale)),
    **dict.fromkeys((t.PrecisionTimestamp, t.PrecisionTimestampTZ), lambda type_: 0),
}
"""By type a value that stands in for NULL in a comparison; any value does: whether it is NULL decides."""


def with_equalities(condition: Expression, lowering: Lowering) -> Expression:
    """Rewrite the comparisons in which NULL equals NULL in a condition of a join or a filter."""

    def change(node: Node) -> Node:
        match node:
            case ScalarFunction(arguments=(Expression() as left, Expression() as right)) if (
                node.function.standard_name in COMPARISONS
            ):
                if isinstance(left, Literal) or isinstance(right, Literal):
                    return node  # of one side alone
                test = _are_same(left, right, node, lowering)
                return test if test is node or node.function.name == "is_not_distinct_from" else negate(test)
            case _:
                return node

    if not any(
        isinstance(node, ScalarFunction) and node.function.standard_name in COMPARISONS
        for node in walk(condition, into_relations=False)
    ):
        return condition
    return rebuild(condition, change, into_relations=False)


def _are_same(left: Expression, right: Expression, node: ScalarFunction, lowering: Lowering) -> Expression:
    if not left.type.nullable and not right.type.nullable:
        return equal(left, right)
    type_ = left.type.as_required()
    make = STAND_INS.get(type(type_))
    if make is not None and type_.keyword in lowering.profile.literals:
        stand_in = Literal(make(type_), type_)
        values = [
            call("comparison", "coalesce", each, stand_in) if each.type.nullable else each for each in (left, right)
        ]
        return connect("and", [equal(is_null(left), is_null(right)), equal(*values)])
    if not has_random(lowering):
        return node
    same = node if node.function.name == "is_not_distinct_from" else negate(node)
    return case_when([(opaque_false(lowering), FALSE)], same)
