"""Expressions in those forms that an engine takes, where it takes few: the calls that lowering itself makes, too."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, Literal, ScalarFunction, WindowFunction, literal
from substrait_dsl.algebra.node import Node, rebuild
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.terms import (
    FALSE,
    TRUE,
    balanced,
    call,
    cast,
    chosen,
    is_not_null,
    is_null,
    negated,
    of_type,
)
from substrait_dsl.errors import UnsupportedError


def formed(expression: Expression, to: Lowering) -> Expression:
    """An expression of the same type and the same value in the forms that the engine takes."""

    def change(node: Node) -> Node:
        match node:
            case Literal():
                return _literal(node, to)
            case ScalarFunction():
                return of_type(_call(node, to), node.type)
            case WindowFunction():
                raise UnsupportedError(f"{to.profile} has no window functions")
            case Cast():
                return _cast(node, to)
            case _:
                return node

    return rebuild(expression, change, into_relations=False)


def _literal(node: Literal, to: Lowering) -> Expression:
    """A literal that the engine reads, cast to its type where it reads another one."""
    kind = node.type
    if node.value is None and to.profile.has_form("nulls_by_cast"):
        return _null(kind, to)
    match kind:
        case t.I16() if to.profile.has_form("small_integers_by_cast"):
            return Cast(Literal(node.value, t.I32(nullable=kind.nullable)), kind)
        case t.PrecisionTimestamp() if not to.profile.casts_to(kind):
            raise to.refusal(f"a literal of {kind}")
        case _:
            return node


def _null(kind: t.Type, to: Lowering) -> Expression:
    """A NULL of a type: cast to it, or a quotient by zero, where the engine does not cast to the type."""
    if to.profile.casts_to(kind):
        return Cast(Literal(None, t.I32(nullable=True)), kind)
    match kind:
        case t.I8() | t.FP32():
            one, zero = (literal(1, kind.as_required()), literal(0, kind.as_required()))
            return ScalarFunction(call("arithmetic", "divide", one, zero).function, (one, zero), kind)
        case _:
            raise to.refusal(f"a NULL of {kind}")


def _cast(node: Cast, to: Lowering) -> Expression:
    """A cast, which fails as it can on the engine. One that changes nothing but whether a value may be NULL stays."""
    if node.on_failure != "throw" and not to.profile.takes("expressions", "CAST", "RETURN_NULL"):
        raise to.refusal("a cast that gives NULL where it fails")
    if to.profile.casts_to(node.target):
        return node
    if node.input.type.as_required() == node.target.as_required():
        return node.input  # whether a value may be NULL is nothing to the engine
    raise to.refusal(f"a cast to {node.target}")


def _call(node: ScalarFunction, to: Lowering) -> Expression:
    rule = to.profile.function_rules.get(node.function.name, "")
    arguments = [each for each in node.arguments if isinstance(each, Expression)]
    if rule in FORM_RULES:
        return FORM_RULES[rule](node, arguments)
    return node


def _if_null(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    """COALESCE as a case for each value that may be NULL."""
    *others, last = arguments
    return chosen([(is_not_null(each), of_type(each, node.type)) for each in others], of_type(last, node.type))


def _from_zero(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    (value,) = arguments
    if isinstance(value.type, t.Decimal):
        nothing = Literal(decimal.Decimal(0), value.type.as_required())
        return cast(call("arithmetic_decimal", "subtract", nothing, value), value.type)
    zero = 0.0 if isinstance(value.type, t.FP32 | t.FP64) else 0
    if isinstance(value.type, t.I16):
        return call("arithmetic", "subtract", Cast(literal(zero, t.I32()), t.I16()), value)
    return call("arithmetic", "subtract", literal(zero, value.type.as_required()), value)


def _pairs(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    return balanced(node.function.name, arguments) if len(arguments) != 2 else node


def _difference(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    """XOR: two truth values are not equal."""
    return call("comparison", "not_equal", *arguments)


def _and_not(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    left, right = arguments
    return call("boolean", "and", left, negated(right))


def _truth(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    """IS TRUE and the like: a condition that is NULL chooses what stands for not being met."""
    (value,) = arguments
    name = node.function.name
    condition = value if name.endswith("true") else negated(value)
    met, unmet = (FALSE, TRUE) if "_not_" in name else (TRUE, FALSE)
    return chosen([(condition, met)], unmet)


def _distinct_by_nulls(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    """IS NOT DISTINCT FROM by comparing what is not NULL."""
    left, right = arguments
    equal = call("comparison", "equal", left, right)
    clauses: list[tuple[Expression, Expression]] = []
    if left.type.nullable:
        clauses.append((is_null(left), is_null(right)))
    if right.type.nullable:
        clauses.append((is_null(right), FALSE))
    made = chosen(clauses, equal) if clauses else equal
    return of_type(made, t.Boolean()) if node.function.name == "is_not_distinct_from" else negated(made)


FORM_RULES: Mapping[str, Callable[[ScalarFunction, list[Expression]], Expression]] = {
    "if_null": _if_null,
    "from_zero": _from_zero,
    "pairs": _pairs,
    "difference": _difference,
    "and_not": _and_not,
    "truth": _truth,
    "distinct_by_nulls": _distinct_by_nulls,
}
"""What writes a call of a function in the form that an engine takes, by the names of rules in profiles."""
