"""Values that are known when the plan runs: plan parameters, and the time, date and time zone of the execution."""

from __future__ import annotations

from typing import Any, overload

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.types import Date, Null, Nullable, PrecisionTimestampTZ, Req, String, SubSecond, Type
from substrait_dsl.errors import InvalidArgumentError, error_context
from substrait_dsl.fluent.expr import DynExpr, Expr, bound_expr
from substrait_dsl.fluent.schemas import as_type

T = TypeVar("T", bound=Type)
P = TypeVar("P", bound=SubSecond)


@overload
def parameter(number: int, type: type[Nullable[T]]) -> Expr[T, Null]: ...
@overload
def parameter(number: int, type: type[T] | T) -> Expr[T, Req]: ...
@overload
def parameter(number: int, type: str) -> DynExpr: ...
def parameter(number: int, type: Any) -> Any:
    """Declare a plan parameter: a value that is bound when the plan runs.

    Args:
        number: what it is called by, from 0; the same number is the same value, wherever it stands.
        type: its type, as in a schema.

    Returns:
        The expression; ``Plan(..., parameter_bindings={number: value})`` binds it. Raises `InvalidArgumentError` for a
        number that is none.

    Specification: ``DynamicParameter``.

    Example:
        >>> print(orders.filter(lambda o: o.id == sd.parameter(0, "i64")))
        filter id = parameter(0):i64
          read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="parameter"):
        if isinstance(number, bool) or not isinstance(number, int):
            raise InvalidArgumentError("the number of a parameter is an int", got=number)
        return bound_expr(ex.DynamicParameter(as_type(type), number), None, f"parameter{number}")


@overload
def current_timestamp() -> Expr[PrecisionTimestampTZ[Any], Req]: ...
@overload
def current_timestamp(precision: P) -> Expr[PrecisionTimestampTZ[P], Req]: ...
def current_timestamp(precision: Any = 6) -> Any:
    """Give the time of the execution: one value for the whole plan, never NULL.

    Args:
        precision: how many digits after the second.

    Returns:
        A required ``precision_timestamp_tz``. Raises `InvalidArgumentError` for a precision that there is not.

    Specification: ``ExecutionContextVariable``.

    Example:
        >>> print(orders.select(at=sd.current_timestamp(3)).schema)
        0  at  precision_timestamp_tz<3>
    """
    with error_context(verb="current_timestamp"):
        return _variable("current_timestamp", PrecisionTimestampTZ(precision))


def current_date() -> Expr[Date, Req]:
    """Give the date of the execution: one value for the whole plan, never NULL.

    Specification: ``ExecutionContextVariable``.

    Example:
        >>> print(orders.select(day=sd.current_date()).schema)
        0  day  date
    """
    return _variable("current_date", Date())


def current_timezone() -> Expr[String, Req]:
    """Give the time zone of the execution, by its name: one value for the whole plan, never NULL.

    Specification: ``ExecutionContextVariable``.

    Example:
        >>> print(orders.select(zone=sd.current_timezone()).schema)
        0  zone  string
    """
    return _variable("current_timezone", String())


def _variable(name: ex.ContextVariable, type_: Type) -> DynExpr:
    return bound_expr(ex.ExecutionContextVariable(name, type_), None, name)
