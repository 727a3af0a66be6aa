"""Lambdas: functions written into the plan, for functions that take functions.

Specification: https://substrait.io/expressions/lambda_expressions/. Inside a body, the parameters of a lambda are the
columns of a row: a `FieldReference` with a `LambdaParameter` root.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra.expressions.masks import MaskedReference, Row
from substrait_dsl.algebra.expressions.references import FieldReference, LambdaParameter
from substrait_dsl.algebra.node import Expression, Node, Rel
from substrait_dsl.algebra.types import Func, Struct, Type
from substrait_dsl.errors import SchemaError, TypeMismatchError, UnknownFieldError


@attrs.frozen(eq=False, repr=False)
class Lambda(Expression):
    """A function of parameters of these types; its type is ``func<(parameters) -> body>``."""

    parameters: tuple[Type, ...]
    body: Expression

    def _derive_type(self) -> Type:
        _check_body(self.body, self.parameters)
        return Func(self.parameters, self.body.type)


@attrs.frozen(eq=False, repr=False)
class LambdaInvocation(Expression):
    """The value of a lambda for these arguments, whose types must be exactly those of its parameters."""

    function: Lambda
    arguments: tuple[Expression, ...]

    def _derive_type(self) -> Type:
        parameters = self.function.parameters
        if len(self.arguments) != len(parameters):
            raise SchemaError(f"the lambda takes {len(parameters)} arguments, got {len(self.arguments)}")
        for position, (argument, kind) in enumerate(zip(self.arguments, parameters, strict=True)):
            if argument.type != kind:
                raise TypeMismatchError(
                    f"argument {position} of the lambda must be {kind}, this is {argument.type}",
                    hint=f"cast it to {kind}",
                )
        return self.function.body.type


def _check_body(body: Expression, parameters: tuple[Type, ...]) -> None:
    """Raise unless what the body of a lambda refers to as its parameters are these."""
    stack: list[tuple[Node, int]] = [(body, 0)]
    seen: set[tuple[int, int]] = set()
    while stack:
        node, further_in = stack.pop()  # so many lambdas stand between the node and this one
        if (id(node), further_in) in seen or isinstance(node, Rel):
            continue
        seen.add((id(node), further_in))
        match node:
            case FieldReference(position, kind, LambdaParameter(steps_out)) if steps_out == further_in:
                if not 0 <= position < len(parameters):
                    raise UnknownFieldError(f"there is no parameter {position}: the lambda has {len(parameters)}")
                if parameters[position] != kind:
                    raise TypeMismatchError(f"parameter {position} of the lambda is {parameters[position]}, not {kind}")
            case MaskedReference(input=Row(root=LambdaParameter(steps_out)) as row) if steps_out == further_in:
                if row.types != Struct(parameters):
                    raise TypeMismatchError(f"the parameters of the lambda are {Struct(parameters)}, not {row.types}")
        stack.extend((child, further_in + isinstance(node, Lambda)) for child in node.children())


def parameter(steps_out: int, position: int, kind: Type) -> FieldReference:
    """A reference to a parameter, by its position, of the lambda so many lambdas further out."""
    return FieldReference(position, kind, LambdaParameter(steps_out))
