"""Lambdas: Python functions traced into the plan, for functions of the catalogue that take functions.

A Python function is called once, where it is written, with an expression for each parameter. The types of the
parameters follow later, from the call that the lambda is an argument of: ``f.transform(r.prices, lambda x: x * 2)``. So
the body is an unbound expression, and a `LambdaScope` is its row: the parameters, and around them those of the
enclosing lambdas and the columns of the outer row.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from types import MethodType
from typing import Any, TypeGuard

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.type_syntax import TypeNode
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog import CallArgument, Overload, ValueArgument
from substrait_dsl.catalog.derive import build
from substrait_dsl.catalog.resolve import fit
from substrait_dsl.errors import InvalidArgumentError, LiteralError, SchemaError, TypeMismatchError, error_context
from substrait_dsl.fluent.binding import bind, leaves
from substrait_dsl.fluent.expr import DynExpr, ExprBase, combine_in_scope, unbound_expr
from substrait_dsl.fluent.scope import Scope


def is_function(value: object) -> TypeGuard[Callable[..., Any]]:
    """Return whether an operand is a function of Python or a lambda of the plan; classes are types."""
    return callable(value) and not isinstance(value, type)


class LambdaParameters(Picklable):
    """The parameters of one lambda: what they are called, and who they are, by this very object."""

    __slots__ = ("is_traced", "names")

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.is_traced = False
        """Whether the body of the lambda is known."""

    def reference(self, position: int, scope: Scope) -> Expression:
        """Return the reference to a parameter, as seen from a scope: so many lambdas further out."""
        steps_out = 0
        while isinstance(scope, LambdaScope):
            if scope.parameters is self:
                return ex.parameter(steps_out, position, scope.types[position])
            scope, steps_out = scope.outer, steps_out + 1
        name = f'the parameter "{self.names[position]}" of a lambda'
        if not self.is_traced:  # the body waits for its row, a relation inside it does not
            raise ex.parameter_in_subquery(name)
        raise SchemaError(f"{name} is used outside of it", hint="use it only inside the lambda")


class LambdaScope(Scope):
    """The row that the body of a lambda sees: its parameters, and what is around it."""

    __slots__ = ("outer", "parameters", "types")

    def __init__(self, parameters: LambdaParameters, types: tuple[Type, ...], outer: Scope) -> None:
        super().__init__(outer.verb, outer.inputs, outer.schema)
        self.parameters, self.types, self.outer = parameters, types, outer

    @property
    def is_of_lambda(self) -> bool:
        return True

    def seen_by(self, owners: frozenset[int]) -> Hashable:
        scope: Scope = self
        used: list[Hashable] = []
        steps_out = 0
        while isinstance(scope, LambdaScope):
            if id(scope.parameters) in owners:
                used.append((id(scope.parameters), steps_out, scope.types))
            scope, steps_out = scope.outer, steps_out + 1
        return id(scope), tuple(used)

    def column(self, column: str | int) -> ex.FieldReference:
        return self.outer.column(column)

    def column_of(self, rel: Rel, column: str | int) -> ex.FieldReference:
        return self.outer.column_of(rel, column)

    def local(self, expression: Expression, origin: Scope | None) -> Expression:
        return self.outer.local(expression, origin)


class LambdaFunction(Picklable):
    """A function of expressions, traced: an argument of functions that take functions, or called with values.

    Specification: ``Expression.Lambda``.

    Example:
        >>> sd.lambda_({"x": sd.I64}, lambda x: x * 2).names
        ('x',)
    """

    __slots__ = ("_body", "_parameters", "_types", "captured")

    def __init__(self, function: Callable[..., Any], names: Sequence[str], types: tuple[Type, ...] | None) -> None:
        if not callable(function):
            raise InvalidArgumentError("a function of the plan is made by lambda_(...)", got=function)
        own = self._parameters = LambdaParameters(tuple(names))
        self._types = types
        parameters = [unbound_expr(partial(own.reference, position), name) for position, name in enumerate(names)]
        self._body = function(*parameters)
        own.is_traced = True
        if is_function(self._body):
            raise InvalidArgumentError("a lambda returned a function", hint="a lambda must return an expression")
        of_parameters = set(map(id, parameters))
        found = leaves(self._body) if isinstance(self._body, ExprBase) else ()
        self.captured = tuple(leaf for leaf in found if id(leaf) not in of_parameters)
        """The expressions outside of the lambda that its body uses."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return self._parameters.names

    def parameter_types(self, wanted: Sequence[Type | None]) -> tuple[Type, ...] | None:
        """Give the declared types, or those that a call wants; None if that does not fit.

        Args:
            wanted: the types that the called function gives the parameters.

        Specification: ``Expression.Lambda``.

        Example:
            >>> sd.lambda_({"x": sd.I64}, lambda x: x * 2).parameter_types([sd.I64()])
            (I64(nullable=False, variation=None),)
        """
        if len(wanted) != len(self.names):
            return None
        known = tuple(type_ for type_ in wanted if type_ is not None)
        return self._types or (known if len(known) == len(wanted) else None)

    def resolve_types(self, types: tuple[Type, ...], outer: Scope, returns: Type | None = None) -> ex.Lambda:
        """Make the lambda of the algebra for parameters of these types.

        Args:
            types: the types of the parameters.
            outer: the row that the lambda stands in.
            returns: the type that is wanted. If it is the nullable form of what the body gives, the body is cast to it:
                a predicate of ``boolean?`` takes one that never is NULL.
        """
        from substrait_dsl.fluent.column_arguments import Role, as_expression

        body = as_expression(self._body, LambdaScope(self._parameters, types, outer), Role.RESULT_OF_LAMBDA)
        if body.flags.has_window_functions:
            raise SchemaError("a window function cannot stand in a lambda", hint="compute it before, as a column")
        if returns is not None and returns == body.type.as_nullable() != body.type:
            body = ex.Cast(body, returns)
        return ex.Lambda(types, body)

    def __call__(self, *arguments: object) -> DynExpr:
        """Call the lambda with these arguments, which have the declared types; Python values become literals.

        Raises `SchemaError` for another number of arguments, `TypeMismatchError` for other types.
        Specification: ``Expression.LambdaInvocation``.
        """
        from substrait_dsl.fluent.schemas import Schema

        types = self._types
        if types is None:
            raise InvalidArgumentError("a lambda without types cannot be called", hint="declare it with lambda_(...)")
        if any(isinstance(argument, Schema) for argument in arguments):
            raise InvalidArgumentError(f"{self} takes values, got a row", hint="name its columns: function(r.x)")
        if len(arguments) != len(types):
            raise SchemaError(f"{self} takes {_format_count(len(types))}, got {len(arguments)}")

        operands = (argument for argument in arguments if isinstance(argument, ExprBase))
        return combine_in_scope("lambda", partial(_invocation, self, arguments), (*operands, *self.captured))

    def __repr__(self) -> str:
        if self._types is None:
            return f"lambda({', '.join(self.names)})"
        return f"lambda({', '.join(f'{name}: {type_}' for name, type_ in zip(self.names, self._types, strict=True))})"


def _invocation(function: LambdaFunction, arguments: Sequence[object], scope: Scope) -> ex.Expression:
    types = function._types or ()
    pairs = zip(arguments, types, function.names, strict=True)
    values = [_argument(value, type_, name, scope) for value, type_, name in pairs]
    return ex.LambdaInvocation(function.resolve_types(types, scope), tuple(values))


def _argument(value: object, type_: Type, name: str, scope: Scope) -> ex.Expression:
    if not isinstance(value, ExprBase):
        try:
            return ex.literal(value, type_)
        except LiteralError as error:
            raise TypeMismatchError(f'argument "{name}" of a lambda', reason=error, names=[name]) from None
    argument = bind(value, scope)
    # A required value may stand for a nullable one, but the types of arguments and parameters must be the same.
    return ex.Cast(argument, type_) if argument.type != type_ == argument.type.as_nullable() else argument


def lambda_(parameters: Mapping[str, Any], body: Callable[..., Any]) -> LambdaFunction:
    """Make a function of declared parameters: ``double = lambda_({"x": I64}, lambda x: x * 2)``.

    Args:
        parameters: the types by name, at least one.
        body: a Python function of as many parameters, in this order, that returns an expression.

    Call it with values, ``double(r.price)``, or give it to a function that takes functions. It may use columns of the
    row around it. Raises `InvalidArgumentError` for a function of other parameters.
    Specification: ``Expression.Lambda``.

    Example:
        >>> double = sd.lambda_({"x": sd.I64}, lambda x: x * 2)
        >>> print(orders.select(twice=lambda o: double(o.id)).schema)
        0  twice  i64
    """
    from substrait_dsl.fluent.schemas import as_struct

    with error_context(verb="lambda_"):
        if not isinstance(parameters, Mapping):
            raise InvalidArgumentError("expected a dict of types by parameter", got=parameters)
        struct = as_struct(parameters)
        if not is_function(body):
            raise InvalidArgumentError(f"expected a function of {_format_count(len(struct))}", got=body)
        if _names(body, len(struct)) is None:
            raise InvalidArgumentError(f"{_describe_function(body)} does not take {_format_count(len(struct))}")
        return LambdaFunction(body, struct.names, struct.types)


def traced_argument(name: str, overloads: Sequence[Overload], operands: Sequence[object], position: int) -> object:
    """Return an operand of a call; a Python function traced, with as many parameters as the called function gives it.

    Raises `InvalidArgumentError` for a function of other parameters, or where none belongs.
    """
    operand = operands[position]
    if isinstance(operand, LambdaFunction) or not is_function(operand):
        return operand
    patterns = [
        pattern
        for overload in overloads
        if overload.takes_count(len(operands)) and (pattern := _pattern(overload, position)) is not None
    ]
    counts = sorted({len(pattern.parameters) - 1 for pattern in patterns})
    if not counts:
        from substrait_dsl.fluent.namespace import CatalogFunction

        hint = f"call it: {operand.__name__}(...)" if isinstance(operand, CatalogFunction | MethodType) else None
        raise InvalidArgumentError(f"{name} takes expressions and values, not the function {operand!r}", hint=hint)
    for count in counts:
        names = _names(operand, count)
        if names is not None:
            return LambdaFunction(operand, names, None)
    wanted = " or ".join(map(_format_count, counts))
    raise InvalidArgumentError(
        f"{name} calls its function with {wanted}, but {_describe_function(operand)} does not take that"
    )


def resolve_functions(
    overloads: Sequence[Overload], parts: Sequence[Any], scope: Scope, describe: Callable[[Any], CallArgument]
) -> list[Any]:
    """Return the arguments of a call with its functions as lambdas, typed by the first overload that fits.

    If none fits, a function stays as it is, or becomes the lambda that fits almost: the error is the catalogue's.
    """
    best = list(parts)
    for overload in overloads:
        resolved_parts, fits = _type_lambdas(overload, parts, scope, describe)
        if fits:
            return resolved_parts
        if resolved_parts:
            best = resolved_parts
    return best


def _type_lambdas(
    overload: Overload, parts: Sequence[Any], scope: Scope, describe: Callable[[Any], CallArgument]
) -> tuple[list[Any], bool]:
    """Return the arguments with lambdas typed by an overload that takes the others, and whether it takes these."""
    patterns = {
        position: _pattern(overload, position)
        for position, part in enumerate(parts)
        if isinstance(part, LambdaFunction)
    }
    if not overload.takes_count(len(parts)):
        return [], False
    # What the other arguments bind decides the types of the parameters: so they are matched first, without these.
    others = [position for position in range(len(parts)) if position not in patterns]
    reduced = attrs.evolve(overload, arguments=tuple(map(overload.argument_at, others)), variadic=None)
    found = fit(reduced, [describe(parts[position]) for position in others])
    if found is None:
        return [], False
    arguments, fits = list(parts), True
    for position, pattern in patterns.items():
        function: LambdaFunction = parts[position]
        if pattern is None:
            return [], False
        *wanted, returned = (build(part, found.bindings) for part in pattern.parameters if isinstance(part, TypeNode))
        types = function.parameter_types(wanted)
        if types is None:
            return [], False
        arguments[position] = function.resolve_types(types, scope, returned)
        fits &= found.bindings.match_argument(pattern, arguments[position].type, discrete=False)
    return arguments, fits


def _pattern(overload: Overload, position: int) -> TypeNode | None:
    """Return the pattern of an argument that takes a function; None for other arguments."""
    argument = overload.argument_at(position) if overload.arguments else None
    return argument.pattern if isinstance(argument, ValueArgument) and argument.pattern.keyword == "func" else None


def _names(function: Callable[..., Any], count: int) -> list[str] | None:
    """Return the names of the parameters of a Python function called with so many arguments.

    None if it does not take them.
    """
    try:
        signature = inspect.signature(function)
        signature.bind(*range(count))
    except (TypeError, ValueError):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [name for name, parameter in signature.parameters.items() if parameter.kind in positional]
    return [*names[:count], *(f"x{number}" for number in range(len(names), count))]


def _describe_function(function: Callable[..., Any]) -> str:
    from substrait_dsl.fluent.column_arguments import describe_function

    return describe_function(function)


def _format_count(count: int) -> str:
    return f"{count} argument{'s' if count != 1 else ''}"
