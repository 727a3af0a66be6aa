"""Expressions without others in them: a column by its name, a constant, a NULL."""

from __future__ import annotations

from functools import partial
from typing import Any, overload

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.types import Null, Nullable, Req, Type
from substrait_dsl.errors import InvalidArgumentError
from substrait_dsl.fluent.expr import DynExpr, Expr, bound_expr, unbound_expr, unwrap_constants
from substrait_dsl.fluent.schemas import as_type
from substrait_dsl.fluent.scope import own_column

T = TypeVar("T", bound=Type)


def col(column: str | int) -> DynExpr:
    """Refer to a column of whatever relation the expression is used on.

    Args:
        column: its name, or its position from 0.

    Returns:
        An unbound expression. Raises `UnknownFieldError` or `AmbiguousFieldError` when it meets the relation.

    Specification: ``Expression.FieldReference``.

    Example:
        >>> print(orders.filter(sd.col("price") > 5.0))
        filter price > 5.0
          read orders -> id: i64, customer: i64, price: fp64?
    """
    if isinstance(column, bool) or not isinstance(column, str | int):
        raise InvalidArgumentError("col takes the name or the position of a column", got=column)
    return unbound_expr(partial(own_column, column), str.__str__(column) if isinstance(column, str) else None)


@overload
def lit(value: object, type: type[Nullable[T]]) -> Expr[T, Null]: ...
@overload
def lit(value: object, type: type[T] | T) -> Expr[T, Req]: ...
@overload
def lit(value: object, type: str | None = None) -> DynExpr: ...
def lit(value: object, type: Any = None) -> Any:
    """Make a constant an expression.

    Args:
        value: a Python value; in a tuple, a list or a dict there may be constants, too. A value of a user-defined type
            is a tuple of them, one for each field of its structure, ``lit((lit(5), lit("EUR")), money)``, or a
            message: an `AnyMessage`, or one of protobuf.
        type: its type, which must hold the value exactly; by default the natural one: int is ``i64``, float ``fp64``,
            str ``string``, Decimal as many digits as it has, datetime ``precision_timestamp<6>``.

    Returns:
        The expression, required unless `type` is nullable. Raises `LiteralError` for a value that does not fit.

    Specification: ``Expression.Literal``.

    Example:
        >>> print(orders.project(one=sd.lit(1), rate=sd.lit(1, "fp64")).schema)
        0  id        i64
        1  customer  i64
        2  price     fp64?
        3  one       i64
        4  rate      fp64
    """
    value = unwrap_constants(value)
    return bound_expr(ex.literal(value, ex.natural_type(value) if type is None else as_type(type)), None)


@overload
def null(type: type[Nullable[T]]) -> Expr[T, Null]: ...
@overload
def null(type: type[T] | T) -> Expr[T, Null]: ...
@overload
def null(type: str) -> DynExpr: ...
def null(type: Any) -> Any:
    """Make a NULL of a type.

    Args:
        type: the type, as in a schema.

    Returns:
        The expression, always nullable.

    Specification: ``Expression.Literal.null``.

    Example:
        >>> print(orders.select(paid=sd.null("date")).schema)
        0  paid  date?
    """
    return bound_expr(ex.Literal(None, as_type(type).as_nullable()), None)
