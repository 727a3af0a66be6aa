"""Lambdas: functions written into the plan, for functions that take functions.

Specification: https://substrait.io/expressions/lambda_expressions/. Inside a body, the parameters of a lambda are the
columns of a row: a `FieldReference` with a `LambdaParameter` root.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra.expressions.references import FieldReference, LambdaParameter
from substrait_dsl.algebra.node import Expression, ParameterUse, SubtreeFlags
from substrait_dsl.algebra.types import Func, Struct, Type
from substrait_dsl.errors import SchemaError, TypeMismatchError, UnknownFieldError, UnsupportedError


@attrs.frozen(eq=False, repr=False)
class Lambda(Expression):
    """A function of parameters of these types; its type is ``func<(parameters) -> body>``."""

    parameters: tuple[Type, ...]
    body: Expression

    def _derive_type(self) -> Type:
        own = (use for use in self.body.flags.parameter_uses if use.steps_out == 0)
        for use in sorted(own, key=lambda use: -1 if use.position is None else use.position):
            _check_use(use, self.parameters)
        return Func(self.parameters, self.body.type)

    def _derive_flags(self, flags: SubtreeFlags) -> SubtreeFlags:
        return flags.with_parameters(frozenset(use.further_out() for use in flags.parameter_uses if use.steps_out > 0))


@attrs.frozen(eq=False, repr=False)
class LambdaInvocation(Expression):
    """The value of a lambda for these arguments, whose types must be exactly those of its parameters."""

    function: Lambda
    arguments: tuple[Expression, ...]

    def _derive_type(self) -> Type:
        parameters = self.function.parameters
        if len(self.arguments) != len(parameters):
            raise SchemaError(f"the lambda takes {len(parameters)} arguments, got {len(self.arguments)}")
        for position, (argument, type_) in enumerate(zip(self.arguments, parameters, strict=True)):
            if argument.type != type_:
                raise TypeMismatchError(
                    f"argument {position} of the lambda must be {type_}, this is {argument.type}",
                    hint=f"cast it to {type_}",
                )
        return self.function.body.type


def _check_use(use: ParameterUse, parameters: tuple[Type, ...]) -> None:
    """Raise unless what refers to the parameters of a lambda takes them for what they are."""
    if use.in_subquery:
        raise parameter_in_subquery("the parameter of a lambda")
    if use.position is None:
        if use.type != Struct(parameters):
            raise TypeMismatchError(f"the parameters of the lambda are {Struct(parameters)}, not {use.type}")
    elif not 0 <= use.position < len(parameters):
        raise UnknownFieldError.of_position(use.position, "parameter", f": the lambda has {len(parameters)}")
    elif parameters[use.position] != use.type:
        raise TypeMismatchError(f"parameter {use.position} of the lambda is {parameters[use.position]}, not {use.type}")


def parameter_in_subquery(parameter: str) -> UnsupportedError:
    """Return the error for a parameter of a lambda that is used by a relation inside it."""
    return UnsupportedError(
        f"{parameter} is used in a subquery inside the lambda, which is not supported",
        hint="a subquery there sees the columns of the row around the lambda, but no parameters",
    )


def parameter(steps_out: int, position: int, type_: Type) -> FieldReference:
    """Return a reference to a parameter, by its position, of the lambda so many lambdas further out."""
    return FieldReference(position, type_, LambdaParameter(steps_out))
