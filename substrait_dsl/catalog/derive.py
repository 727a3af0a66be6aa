"""Type derivation: matching argument types with the patterns of extension files, and evaluating return types.

Specification: https://substrait.io/extensions/#type-derivation, ``grammar/SubstraitType.g4``, and the nullability
modes of https://substrait.io/expressions/scalar_functions/#nullability-handling.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import assert_never

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.type_syntax import (
    Binary,
    Call,
    Conditional,
    Constant,
    Expression,
    Name,
    Operator,
    Program,
    TypeNode,
    Unary,
)
from substrait_dsl.algebra.type_text import make_type
from substrait_dsl.algebra.types import Type, TypeParameter, TypeVariation, UserDefined
from substrait_dsl.errors import CatalogError

IntegerParameter = Callable[[str], int]
"""Gives the value of the integer literal passed as the argument of that name."""


@attrs.define(eq=False, repr=False)
class Bindings:
    """The values that the names (``P1``, ``any1``) of a function's patterns have in one call.

    `separate` are the type variations that the functions of their parent type do not take.
    """

    separate: frozenset[TypeVariation] = frozenset()
    values: dict[str, TypeParameter] = attrs.field(factory=dict)

    def copy(self) -> Bindings:
        """Return a copy of the bindings."""
        return Bindings(self.separate, dict(self.values))

    def match_argument(self, pattern: TypeNode, type_: Type, *, discrete: bool) -> bool:
        """Return whether an argument of that type fits, and bind the names.

        Its own nullability counts only if `discrete`.
        """
        if discrete and pattern.nullable is not type_.nullable:
            return False
        return self._match_type(pattern, type_.as_required())

    def _match_type(self, pattern: TypeNode, type_: Type) -> bool:
        """Match everything but the outermost nullability."""
        if pattern.is_any:
            return pattern.keyword == "any" or self._bind(pattern.keyword, type_)
        if pattern.keyword != type_.keyword or pattern.name != (type_.name if isinstance(type_, UserDefined) else ""):
            return False
        if type_.variation != pattern.variation and (pattern.variation or type_.variation in self.separate):
            return False
        if isinstance(type_, UserDefined) and type_.urn != pattern.urn:
            return False
        parameters = type_.type_parameters if isinstance(type_, UserDefined) else type_.parameters
        return len(parameters) == len(pattern.parameters) and all(
            self._match_parameter(inner, value) for inner, value in zip(pattern.parameters, parameters, strict=True)
        )

    def _match_parameter(self, pattern: Expression, value: TypeParameter) -> bool:
        match pattern:
            case TypeNode(is_any=True, nullable=False):
                return isinstance(value, Type) and self._match_type(pattern, value)  # any1 is i32? in a list<i32?>
            case TypeNode():
                return (
                    isinstance(value, Type)
                    and pattern.nullable is value.nullable
                    and self._match_type(pattern, value.as_required())
                )
            case Name(name):
                return self._bind(name, value)
            case Constant(constant):
                return constant == value
            case _:
                return False

    def _bind(self, name: str, value: TypeParameter) -> bool:
        return self.values.setdefault(name, value) == value


def run(program: Program, bindings: Bindings, integer_parameter: IntegerParameter) -> Type:
    """Return the type that a return program computes.

    Raises:
        CatalogError: If the program computes something else, or reads what is not bound.
        InvalidArgumentError: If the type it computes does not exist, such as a time of precision 13.
    """
    scope = _Scope(dict(bindings.values), integer_parameter)
    for name, expression in program.assignments:
        scope.values[name] = scope.evaluate(expression)
    result = scope.evaluate(program.result)
    if not isinstance(result, Type):
        raise CatalogError(f"a return type computes {result!r} instead of a type: {program}")
    return result


def build(pattern: TypeNode, bindings: Bindings) -> Type | None:
    """Return the type that a pattern stands for, or None if not all its names are bound."""
    try:
        result = _Scope(bindings.values, _no_integer_parameter).evaluate(pattern)
    except _UnboundError:
        return None
    return result if isinstance(result, Type) else None


class _UnboundError(CatalogError):
    """A name that no argument binds."""


def _no_integer_parameter(name: str) -> int:
    raise CatalogError(f"integer_parameter({name}) stands where no argument has a value")


def _truncated_quotient(left: int, right: int) -> int:
    if right == 0:
        raise CatalogError("a return type divides by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_ARITHMETIC: Mapping[Operator, Callable[[int, int], int | bool]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _truncated_quotient,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}

FUNCTIONS: Mapping[str, Callable[..., int]] = {"min": min, "max": max}
"""The functions of the derivation language, `integer_parameter` aside, which reads an argument of the call."""


@attrs.frozen(eq=False, repr=False)
class _Scope(FrozenValue):
    """The values of the names that an expression may read."""

    values: dict[str, TypeParameter]
    integer_parameter: IntegerParameter

    def evaluate(self, expression: Expression) -> TypeParameter:
        match expression:
            case Constant(value):
                return value
            case Name(name, nullable):
                return self.read(name, nullable)
            case TypeNode(keyword, nullable=nullable, is_any=True):
                return self.read(keyword, nullable)
            case TypeNode():
                return make_type(expression, [self.evaluate(inner) for inner in expression.parameters])
            case Call("integer_parameter", (Name(name),)):
                return self.integer_parameter(name)
            case Call(function, arguments):
                return FUNCTIONS[function](*map(self.integer, arguments))
            case Unary("-", operand):
                return -self.integer(operand)
            case Unary(_, operand):
                return not self.boolean(operand)
            case Binary("&&", left, right):
                return self.boolean(left) and self.boolean(right)
            case Binary("||", left, right):
                return self.boolean(left) or self.boolean(right)
            case Binary("=", left, right):
                return self.evaluate(left) == self.evaluate(right)
            case Binary("!=", left, right):
                return self.evaluate(left) != self.evaluate(right)
            case Binary(symbol, left, right):
                value = _ARITHMETIC[symbol](self.integer(left), self.integer(right))
                if not -(2**63) <= value < 2**63:  # some lines that square a number would take forever
                    raise CatalogError(f"a return type computes with {expression}, which has more than 64 bits")
                return value
            case Conditional(condition, then, otherwise):
                return self.evaluate(then if self.boolean(condition) else otherwise)
            case _:
                assert_never(expression)

    def read(self, name: str, nullable: bool) -> TypeParameter:
        if name not in self.values:
            raise _UnboundError(f"no argument binds {name}")
        value = self.values[name]
        return value.as_nullable() if nullable and isinstance(value, Type) else value

    def integer(self, expression: Expression) -> int:
        value = self.evaluate(expression)
        if type(value) is not int:
            raise CatalogError(f"a return type computes with {expression}, which is {value!r} and not an integer")
        return value

    def boolean(self, expression: Expression) -> bool:
        value = self.evaluate(expression)
        if type(value) is not bool:
            raise CatalogError(f"a return type tests {expression}, which is {value!r} and not a boolean")
        return value
