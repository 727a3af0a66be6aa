"""The operators of expressions, with the types that a checker sees.

Each operator is a function of the catalogue; which overload, and so the type, is decided by the operands' types when
the expression is built. The overloads below say the same in Python's terms, as far as those reach: two per family of
types, because a method binds `self` before it looks at the other operand. What they cannot say (the precision of a
decimal product) a checker sees as ``Any``.
"""

from __future__ import annotations

import datetime as dt
import decimal
from typing import TYPE_CHECKING, Any, Generic, Self, overload

from typing_extensions import TypeVar

from substrait_dsl.algebra.expressions.literals import YearMonths
from substrait_dsl.algebra.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    IntervalYear,
    Null,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Req,
    Type,
)

if TYPE_CHECKING:
    from substrait_dsl.fluent.conditions import Quantified
    from substrait_dsl.fluent.expr import DynExpr, Expr

T = TypeVar("T", bound=Type)
N = TypeVar("N", bound=Null, covariant=True, default=Req)
M = TypeVar("M", bound=Null)
Int = TypeVar("Int", I8, I16, I32, I64)
Float = TypeVar("Float", FP32, FP64)
Temporal = TypeVar("Temporal", Date, PrecisionTimestamp[Any], PrecisionTimestampTZ[Any], IntervalDay[Any], IntervalYear)
AnyDecimal = Decimal[Any, Any]
PythonValue = bool | int | float | str | bytes | decimal.Decimal | dt.date | dt.time | dt.timedelta | YearMonths
"""Python values that become literals of the type the other operand has."""


class Operators(Generic[T, N]):
    """Arithmetic, comparison and logic; `Expr` inherits them."""

    __slots__ = ()

    @overload
    def __add__(self: Operators[Int, M], other: Expr[Int, Req] | int) -> Expr[Int, M]: ...
    @overload
    def __add__(self: Operators[Int, Null], other: Expr[Int, Null]) -> Expr[Int, Null]: ...
    @overload
    def __add__(self: Operators[Float, M], other: Expr[Float, Req] | float) -> Expr[Float, M]: ...
    @overload
    def __add__(self: Operators[Float, Null], other: Expr[Float, Null]) -> Expr[Float, Null]: ...
    @overload
    def __add__(
        self: Operators[AnyDecimal, M], other: Expr[AnyDecimal, Req] | int | decimal.Decimal
    ) -> Expr[AnyDecimal, M]: ...
    @overload
    def __add__(self: Operators[AnyDecimal, Null], other: Expr[AnyDecimal, Null]) -> Expr[AnyDecimal, Null]: ...
    @overload
    def __add__(self: Operators[Temporal, Any], other: Expr[Any, Any] | dt.timedelta | YearMonths) -> DynExpr: ...
    def __add__(self: Any, other: Any) -> Any:
        return _operator("add", self, other)

    @overload
    def __sub__(self: Operators[Int, M], other: Expr[Int, Req] | int) -> Expr[Int, M]: ...
    @overload
    def __sub__(self: Operators[Int, Null], other: Expr[Int, Null]) -> Expr[Int, Null]: ...
    @overload
    def __sub__(self: Operators[Float, M], other: Expr[Float, Req] | float) -> Expr[Float, M]: ...
    @overload
    def __sub__(self: Operators[Float, Null], other: Expr[Float, Null]) -> Expr[Float, Null]: ...
    @overload
    def __sub__(
        self: Operators[AnyDecimal, M], other: Expr[AnyDecimal, Req] | int | decimal.Decimal
    ) -> Expr[AnyDecimal, M]: ...
    @overload
    def __sub__(self: Operators[AnyDecimal, Null], other: Expr[AnyDecimal, Null]) -> Expr[AnyDecimal, Null]: ...
    @overload
    def __sub__(self: Operators[Temporal, Any], other: Expr[Any, Any] | dt.timedelta | YearMonths) -> DynExpr: ...
    def __sub__(self: Any, other: Any) -> Any:
        return _operator("subtract", self, other)

    @overload
    def __mul__(self: Operators[Int, M], other: Expr[Int, Req] | int) -> Expr[Int, M]: ...
    @overload
    def __mul__(self: Operators[Int, Null], other: Expr[Int, Null]) -> Expr[Int, Null]: ...
    @overload
    def __mul__(self: Operators[Float, M], other: Expr[Float, Req] | float) -> Expr[Float, M]: ...
    @overload
    def __mul__(self: Operators[Float, Null], other: Expr[Float, Null]) -> Expr[Float, Null]: ...
    @overload
    def __mul__(
        self: Operators[AnyDecimal, M], other: Expr[AnyDecimal, Req] | int | decimal.Decimal
    ) -> Expr[AnyDecimal, M]: ...
    @overload
    def __mul__(self: Operators[AnyDecimal, Null], other: Expr[AnyDecimal, Null]) -> Expr[AnyDecimal, Null]: ...
    def __mul__(self: Any, other: Any) -> Any:
        return _operator("multiply", self, other)

    @overload
    def __truediv__(self: Operators[Int, M], other: Expr[Int, Req] | int) -> Expr[Int, M]: ...
    @overload
    def __truediv__(self: Operators[Int, Null], other: Expr[Int, Null]) -> Expr[Int, Null]: ...
    @overload
    def __truediv__(self: Operators[Float, M], other: Expr[Float, Req] | float) -> Expr[Float, M]: ...
    @overload
    def __truediv__(self: Operators[Float, Null], other: Expr[Float, Null]) -> Expr[Float, Null]: ...
    @overload
    def __truediv__(
        self: Operators[AnyDecimal, M], other: Expr[AnyDecimal, Req] | int | decimal.Decimal
    ) -> Expr[AnyDecimal, M]: ...
    @overload
    def __truediv__(self: Operators[AnyDecimal, Null], other: Expr[AnyDecimal, Null]) -> Expr[AnyDecimal, Null]: ...
    def __truediv__(self: Any, other: Any) -> Any:
        return _operator("divide", self, other)

    @overload
    def __mod__(self: Operators[Int, M], other: Expr[Int, Req] | int) -> Expr[Int, M]: ...
    @overload
    def __mod__(self: Operators[Int, Null], other: Expr[Int, Null]) -> Expr[Int, Null]: ...
    @overload
    def __mod__(
        self: Operators[AnyDecimal, M], other: Expr[AnyDecimal, Req] | int | decimal.Decimal
    ) -> Expr[AnyDecimal, M]: ...
    @overload
    def __mod__(self: Operators[AnyDecimal, Null], other: Expr[AnyDecimal, Null]) -> Expr[AnyDecimal, Null]: ...
    def __mod__(self: Any, other: Any) -> Any:
        return _operator("modulus", self, other)

    @overload
    def __radd__(self: Operators[Int, M], other: int) -> Expr[Int, M]: ...
    @overload
    def __radd__(self: Operators[Float, M], other: float) -> Expr[Float, M]: ...
    @overload
    def __radd__(self: Operators[AnyDecimal, M], other: int | decimal.Decimal) -> Expr[AnyDecimal, M]: ...
    def __radd__(self: Any, other: Any) -> Any:
        return _operator("add", other, self)

    @overload
    def __rsub__(self: Operators[Int, M], other: int) -> Expr[Int, M]: ...
    @overload
    def __rsub__(self: Operators[Float, M], other: float) -> Expr[Float, M]: ...
    @overload
    def __rsub__(self: Operators[AnyDecimal, M], other: int | decimal.Decimal) -> Expr[AnyDecimal, M]: ...
    def __rsub__(self: Any, other: Any) -> Any:
        return _operator("subtract", other, self)

    @overload
    def __rmul__(self: Operators[Int, M], other: int) -> Expr[Int, M]: ...
    @overload
    def __rmul__(self: Operators[Float, M], other: float) -> Expr[Float, M]: ...
    @overload
    def __rmul__(self: Operators[AnyDecimal, M], other: int | decimal.Decimal) -> Expr[AnyDecimal, M]: ...
    def __rmul__(self: Any, other: Any) -> Any:
        return _operator("multiply", other, self)

    @overload
    def __rtruediv__(self: Operators[Int, M], other: int) -> Expr[Int, M]: ...
    @overload
    def __rtruediv__(self: Operators[Float, M], other: float) -> Expr[Float, M]: ...
    @overload
    def __rtruediv__(self: Operators[AnyDecimal, M], other: int | decimal.Decimal) -> Expr[AnyDecimal, M]: ...
    def __rtruediv__(self: Any, other: Any) -> Any:
        return _operator("divide", other, self)

    @overload
    def __rmod__(self: Operators[Int, M], other: int) -> Expr[Int, M]: ...
    @overload
    def __rmod__(self: Operators[AnyDecimal, M], other: int | decimal.Decimal) -> Expr[AnyDecimal, M]: ...
    def __rmod__(self: Any, other: Any) -> Any:
        return _operator("modulus", other, self)

    def __neg__(self: Operators[T, M]) -> Expr[T, M]:
        return _operator("negate", self)

    def __pos__(self) -> Self:
        return self

    def __abs__(self: Operators[T, M]) -> Expr[T, M]:
        return _operator("abs", self)

    @overload  # type: ignore[override]  # an expression, not a truth value
    def __eq__(self: Operators[T, M], other: Expr[T, Req] | PythonValue) -> Expr[Boolean, M]: ...
    @overload
    def __eq__(self: Operators[T, Null], other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __eq__(self: Operators[T, Any], other: Quantified) -> Expr[Boolean, Null]: ...
    def __eq__(self: Any, other: Any) -> Any:
        return _comparison("equal", self, other)

    @overload  # type: ignore[override]  # an expression, not a truth value
    def __ne__(self: Operators[T, M], other: Expr[T, Req] | PythonValue) -> Expr[Boolean, M]: ...
    @overload
    def __ne__(self: Operators[T, Null], other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __ne__(self: Operators[T, Any], other: Quantified) -> Expr[Boolean, Null]: ...
    def __ne__(self: Any, other: Any) -> Any:
        return _comparison("not_equal", self, other)

    @overload
    def __lt__(self: Operators[T, M], other: Expr[T, Req] | PythonValue) -> Expr[Boolean, M]: ...
    @overload
    def __lt__(self: Operators[T, Null], other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __lt__(self: Operators[T, Any], other: Quantified) -> Expr[Boolean, Null]: ...
    def __lt__(self: Any, other: Any) -> Any:
        return _comparison("lt", self, other)

    @overload
    def __le__(self: Operators[T, M], other: Expr[T, Req] | PythonValue) -> Expr[Boolean, M]: ...
    @overload
    def __le__(self: Operators[T, Null], other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __le__(self: Operators[T, Any], other: Quantified) -> Expr[Boolean, Null]: ...
    def __le__(self: Any, other: Any) -> Any:
        return _comparison("lte", self, other)

    @overload
    def __gt__(self: Operators[T, M], other: Expr[T, Req] | PythonValue) -> Expr[Boolean, M]: ...
    @overload
    def __gt__(self: Operators[T, Null], other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __gt__(self: Operators[T, Any], other: Quantified) -> Expr[Boolean, Null]: ...
    def __gt__(self: Any, other: Any) -> Any:
        return _comparison("gt", self, other)

    @overload
    def __ge__(self: Operators[T, M], other: Expr[T, Req] | PythonValue) -> Expr[Boolean, M]: ...
    @overload
    def __ge__(self: Operators[T, Null], other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __ge__(self: Operators[T, Any], other: Quantified) -> Expr[Boolean, Null]: ...
    def __ge__(self: Any, other: Any) -> Any:
        return _comparison("gte", self, other)

    @overload
    def __and__(self: Operators[Boolean, M], other: Expr[Boolean, Req] | bool) -> Expr[Boolean, M]: ...
    @overload
    def __and__(self: Operators[Boolean, Null], other: Expr[Boolean, Null]) -> Expr[Boolean, Null]: ...
    def __and__(self: Any, other: Any) -> Any:
        return _operator("and", self, other)

    def __rand__(self: Operators[Boolean, M], other: bool) -> Expr[Boolean, M]:
        return _operator("and", other, self)

    @overload
    def __or__(self: Operators[Boolean, M], other: Expr[Boolean, Req] | bool) -> Expr[Boolean, M]: ...
    @overload
    def __or__(self: Operators[Boolean, Null], other: Expr[Boolean, Null]) -> Expr[Boolean, Null]: ...
    def __or__(self: Any, other: Any) -> Any:
        return _operator("or", self, other)

    def __ror__(self: Operators[Boolean, M], other: bool) -> Expr[Boolean, M]:
        return _operator("or", other, self)

    @overload
    def __xor__(self: Operators[Boolean, M], other: Expr[Boolean, Req] | bool) -> Expr[Boolean, M]: ...
    @overload
    def __xor__(self: Operators[Boolean, Null], other: Expr[Boolean, Null]) -> Expr[Boolean, Null]: ...
    def __xor__(self: Any, other: Any) -> Any:
        return _operator("xor", self, other)

    def __rxor__(self: Operators[Boolean, M], other: bool) -> Expr[Boolean, M]:
        return _operator("xor", other, self)

    def __invert__(self: Operators[Boolean, M]) -> Expr[Boolean, M]:
        return _operator("not", self)

    __hash__ = object.__hash__


def _operator(function: str, *operands: object) -> DynExpr:
    from substrait_dsl.fluent.calls import scalar

    return scalar(function, operands)


def _comparison(function: str, left: object, right: object) -> DynExpr:
    from substrait_dsl.fluent.conditions import compare

    return compare(function, left, right)
