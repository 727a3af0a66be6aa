"""Conditionals: `when` and `switch`, of expressions or of measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, overload

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.number_types import common_number
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.rules import common_type
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, LiteralError, TypeMismatchError, UnknownAttributeError
from substrait_dsl.fluent.arguments import NoValue
from substrait_dsl.fluent.calls import Measure, MeasureBase, refuse_operators
from substrait_dsl.fluent.choices import require_expression
from substrait_dsl.fluent.expr import DynExpr, ExprBase, Make, combine
from substrait_dsl.fluent.guidance import bool_hint, require_no_shown
from substrait_dsl.fluent.operators import PythonValue

R = TypeVar("R", default=DynExpr)

Condition = ExprBase | MeasureBase
Branch = ExprBase | PythonValue | dict[Any, Any] | None


class _Unfinished(Picklable, NoValue):
    """A conditional that lacks its next part, and so has no part that comes later."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a checker must not take every name for a method

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnknownAttributeError(f'{self._lacks}, and so no "{name}"', names=[name], hint=self._advice)


refuse_operators(_Unfinished)


class When(_Unfinished, Generic[R]):
    """A condition that waits for its value. `R` is what all of it becomes: an expression, or a measure."""

    __slots__ = ("_before", "_condition")
    _lacks = "when(...) has no then(...)"
    _advice = "write when(...).then(value).otherwise(value)"

    def __init__(self, condition: Condition, before: tuple[tuple[Condition, object], ...] = ()) -> None:
        if not isinstance(condition, ExprBase | MeasureBase):
            raise InvalidArgumentError("when takes a condition", got=condition, hint=bool_hint(condition))
        self._condition = condition
        self._before = before

    @overload
    def then(self, value: MeasureBase) -> Then[Measure[Any, Any]]: ...
    @overload
    def then(self, value: Branch) -> Then[R]: ...
    def then(self, value: object) -> Then[Any]:
        """Return the value if the condition is true."""
        return Then((*self._before, (self._condition, value)))


class Then(_Unfinished, Generic[R]):
    """Conditions with their values, waiting for another or for the value that holds otherwise."""

    __slots__ = ("_clauses",)
    _lacks = "when(...).then(...) has no otherwise(...)"
    _advice = "finish it with .otherwise(value); otherwise(None) gives NULL"

    def __init__(self, clauses: tuple[tuple[Condition, object], ...]) -> None:
        self._clauses = clauses

    @overload
    def when(self, condition: MeasureBase) -> When[Measure[Any, Any]]: ...
    @overload
    def when(self, condition: ExprBase) -> When[R]: ...
    def when(self, condition: Condition) -> When[Any]:
        """Return a further condition, tried if the ones before are not true."""
        return When(condition, self._clauses)

    @overload
    def otherwise(self, value: MeasureBase) -> Measure[Any, Any]: ...
    @overload
    def otherwise(self, value: Branch) -> R: ...
    def otherwise(self, value: object) -> Any:
        """Return the whole expression, with the value that holds if no condition is true; None for NULL."""
        operands = [part for clause in self._clauses for part in clause]
        return _combine("if_then", _if_then, [*operands, value])


@overload
def when(condition: MeasureBase) -> When[Measure[Any, Any]]: ...
@overload
def when(condition: ExprBase) -> When: ...
def when(condition: Condition) -> When[Any]:
    """Start a conditional: ``when(r.x > 0).then("plus").when(r.x < 0).then("minus").otherwise("zero")``.

    Args:
        condition: a boolean expression; its value counts if it is true, and none before it is. With a measure, here or
            as a value, all of it is a measure.

    Returns:
        What waits for ``then(value)``. All values must have one type; Python values take the type of the others. The
        expression is nullable if any value is. Raises `TypeMismatchError` for values of different types.

    Specification: ``Expression.IfThen``.

    Example:
        >>> print(orders.project(size=lambda o: sd.when(o.price > 5.0).then("large").otherwise("small")))
        project -> *, size: string = case when price > 5.0 then 'large' else 'small' end
          read orders -> id: i64, customer: i64, price: fp64?
    """
    return When(condition)


@overload
def switch(match: MeasureBase, cases: Mapping[Any, object], default: object) -> Measure[Any, Any]: ...
@overload
def switch(match: ExprBase, cases: Mapping[Any, object], default: object) -> DynExpr: ...
def switch(match: Any, cases: Mapping[Any, object], default: object) -> Any:
    """Choose the value of the case that equals `match`: ``switch(r.size, {"S": 1, "M": 2}, default=None)``.

    Args:
        match: the expression to compare, or a measure, which gives a measure.
        cases: Python values of its type, with the value that holds if it equals them.
        default: the value that holds otherwise; None for NULL.

    Returns:
        The expression, nullable if any value is. Raises `LiteralError` for a case that does not fit the type of
        `match`, `TypeMismatchError` for values of different types.

    Specification: ``Expression.SwitchExpression``.

    Example:
        >>> print(orders.select(level=lambda o: sd.switch(o.customer, {1: "gold"}, default=None)).schema)
        0  level  string?
    """
    if not isinstance(match, MeasureBase):
        require_expression(match, "switch takes an expression to compare")
    if not isinstance(cases, Mapping):
        raise InvalidArgumentError(
            "the cases of a switch are a dict of results by value",
            got=cases,
            hint='write switch(x, {1: "one", 2: "two"}, default=None)',
        )
    return _combine("switch", partial(_switch, tuple(cases)), [match, *cases.values(), default])


def _combine(what: str, make: Make, operands: Sequence[Any]) -> Any:
    """Return what is made of expressions, or, if there are measures among them, of measures."""
    if any(isinstance(each, MeasureBase) for each in operands):
        from substrait_dsl.fluent.computed_measures import compute_from

        return compute_from(partial(combine, what, make), operands)
    return combine(what, make, operands)


def _if_then(parts: Sequence[Any]) -> ex.Expression:
    conditions, results = parts[0:-1:2], [*parts[1:-1:2], parts[-1]]
    values = alike(results, "the branches of an if")
    clauses = tuple(ex.IfClause(c, v) for c, v in zip(conditions, values[:-1], strict=True))
    return ex.IfThen(clauses, values[-1])


def _switch(keys: Sequence[object], parts: Sequence[Any]) -> ex.Expression:
    subject, *results = parts
    values = alike(results, "the branches of a switch")
    labels = [ex.literal(key, subject.type.as_required()) for key in keys]
    return ex.Switch(subject, tuple(map(ex.SwitchCase, labels, values[:-1])), values[-1])


def alike(parts: Sequence[Any], what: str) -> list[ex.Expression]:
    """Parts, of which some are Python values, as expressions of one type and one nullability (spec decision 21).

    Numbers of several types are cast to the one that holds all of their values, if there is one.
    """
    typed = [part for part in parts if isinstance(part, ex.Expression)]
    plain = [part for part in parts if not isinstance(part, ex.Expression)]
    for part in plain:
        if isinstance(part, NoValue):
            raise TypeMismatchError(f"{part._lacks}, not a value", hint=part._advice)
        require_no_shown(part)
    if not typed and all(part is None for part in plain):
        raise LiteralError(f"{what} are all None", hint="give one of them a type: null(type)")
    types = [part.type for part in typed] or [ex.natural_type(part) for part in plain if part is not None]
    type_ = common_number(types) or common_type(types, what)
    type_ = type_.with_nullability(type_.nullable or any(part is None for part in plain))
    return [_convert_branch(part, type_, what) for part in parts]


def _convert_branch(part: Any, type_: Type, what: str) -> ex.Expression:
    if not isinstance(part, ex.Expression):
        try:
            return ex.literal(part, type_)
        except LiteralError as error:
            raise TypeMismatchError(f"{what} must have one type", reason=error) from None
    return part if part.type == type_ else ex.Cast(part, type_)
