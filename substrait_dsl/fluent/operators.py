"""The operators of expressions, with the types that a checker sees.

Each operator is a function of the catalogue; which overload, and so the type, is decided by the operands' types when
the expression is built. The overloads below say the same in Python's terms, as far as those reach. What they cannot
say (the precision of a decimal product) a checker sees as ``Any``.

A method binds `self` before it looks at the other operand, hence two overloads each: an operand of the same
nullability, or a required one, leaves it as it is, a nullable one makes the result nullable. (In a function of a user's
that is generic in `N` they are the same `N`, which is neither `Req` nor `Null`.) And mypy does not check the bound of a
type variable that `self` binds; hence `Operators` has the type twice, once covariant: ``self: Operators[Number[V], T,
N]`` takes exactly the types that are a `Number`, and `V` becomes what their values are written as.
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from typing import TYPE_CHECKING, Any, Generic, Self, overload

from typing_extensions import TypeVar

from substrait_dsl.algebra.expressions.intervals import DaySeconds, YearMonths
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
    NarrowerThan,
    Null,
    Number,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Req,
    Type,
    WrittenAs,
)
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.tracebacks import hide_library_frames

if TYPE_CHECKING:
    from substrait_dsl.fluent.expr import DynExpr, Expr
    from substrait_dsl.fluent.subqueries import Quantified

Kind = TypeVar("Kind", covariant=True)
T = TypeVar("T", bound=Type)
N = TypeVar("N", bound=Null, covariant=True, default=Req)
V = TypeVar("V")
AnyDecimal = Decimal[Any, Any]
Instant = Date | PrecisionTimestamp[Any] | PrecisionTimestampTZ[Any]
Interval = IntervalDay[Any] | IntervalYear
Span = dt.timedelta | YearMonths | DaySeconds
PythonValue = (
    bool
    | int
    | float
    | str
    | bytes
    | decimal.Decimal
    | dt.date
    | dt.time
    | uuid.UUID
    | Span
    | list[Any]
    | tuple[Any, ...]
)
"""Python values that become literals of the type the other operand has."""


class Operators(Generic[Kind, T, N]):
    """Arithmetic, comparison and logic; `Expr` inherits them. `Kind` is `T`, covariant."""

    __slots__ = ()

    @overload
    def __add__(self: Operators[Number[V], T, N], other: Expr[T, N] | Expr[T, Req] | V) -> Expr[T, N]: ...
    @overload
    def __add__(self: Operators[Number[Any], T, Null], other: Expr[T, Null]) -> Expr[T, Null]: ...
    @overload
    def __add__(
        self: Operators[AnyDecimal, Any, N], other: Exact[N] | Exact[Req] | int | decimal.Decimal
    ) -> Expr[AnyDecimal, N]: ...
    @overload
    def __add__(self: Operators[AnyDecimal, Any, Null], other: Exact[Null]) -> Expr[AnyDecimal, Null]: ...
    @overload
    def __add__(
        self: Operators[Number[int], Any, Any], other: Operators[AnyDecimal, Any, Any] | decimal.Decimal
    ) -> Expr[AnyDecimal, Any]: ...
    @overload
    def __add__(self: Operators[NarrowerThan[I64], Any, Any], other: Expr[I64, Any]) -> Expr[I64, Any]: ...
    @overload
    def __add__(self: Operators[NarrowerThan[FP64], Any, Any], other: Expr[FP64, Any]) -> Expr[FP64, Any]: ...
    @overload
    def __add__(self: Operators[Number[Any], T, Any], other: Operators[NarrowerThan[T], Any, Any]) -> Expr[T, Any]: ...
    @overload
    def __add__(self: Operators[NarrowerThan[FP64], Any, Any], other: Approximate[Any]) -> DynExpr: ...
    @overload
    def __add__(self: Operators[Instant, Any, Any], other: Operators[Interval, Any, Any] | Span) -> DynExpr: ...
    def __add__(self: Any, other: Any) -> Any:
        return _operator("add", self, other)

    @overload
    def __sub__(self: Operators[Number[V], T, N], other: Expr[T, N] | Expr[T, Req] | V) -> Expr[T, N]: ...
    @overload
    def __sub__(self: Operators[Number[Any], T, Null], other: Expr[T, Null]) -> Expr[T, Null]: ...
    @overload
    def __sub__(
        self: Operators[AnyDecimal, Any, N], other: Exact[N] | Exact[Req] | int | decimal.Decimal
    ) -> Expr[AnyDecimal, N]: ...
    @overload
    def __sub__(self: Operators[AnyDecimal, Any, Null], other: Exact[Null]) -> Expr[AnyDecimal, Null]: ...
    @overload
    def __sub__(
        self: Operators[Number[int], Any, Any], other: Operators[AnyDecimal, Any, Any] | decimal.Decimal
    ) -> Expr[AnyDecimal, Any]: ...
    @overload
    def __sub__(self: Operators[NarrowerThan[I64], Any, Any], other: Expr[I64, Any]) -> Expr[I64, Any]: ...
    @overload
    def __sub__(self: Operators[NarrowerThan[FP64], Any, Any], other: Expr[FP64, Any]) -> Expr[FP64, Any]: ...
    @overload
    def __sub__(self: Operators[Number[Any], T, Any], other: Operators[NarrowerThan[T], Any, Any]) -> Expr[T, Any]: ...
    @overload
    def __sub__(self: Operators[NarrowerThan[FP64], Any, Any], other: Approximate[Any]) -> DynExpr: ...
    @overload
    def __sub__(self: Operators[Instant, Any, Any], other: Operators[Interval, Any, Any] | Span) -> DynExpr: ...
    def __sub__(self: Any, other: Any) -> Any:
        return _operator("subtract", self, other)

    @overload
    def __mul__(self: Operators[Number[V], T, N], other: Expr[T, N] | Expr[T, Req] | V) -> Expr[T, N]: ...
    @overload
    def __mul__(self: Operators[Number[Any], T, Null], other: Expr[T, Null]) -> Expr[T, Null]: ...
    @overload
    def __mul__(
        self: Operators[AnyDecimal, Any, N], other: Exact[N] | Exact[Req] | int | decimal.Decimal
    ) -> Expr[AnyDecimal, N]: ...
    @overload
    def __mul__(self: Operators[AnyDecimal, Any, Null], other: Exact[Null]) -> Expr[AnyDecimal, Null]: ...
    @overload
    def __mul__(
        self: Operators[Number[int], Any, Any], other: Operators[AnyDecimal, Any, Any] | decimal.Decimal
    ) -> Expr[AnyDecimal, Any]: ...
    @overload
    def __mul__(self: Operators[NarrowerThan[I64], Any, Any], other: Expr[I64, Any]) -> Expr[I64, Any]: ...
    @overload
    def __mul__(self: Operators[NarrowerThan[FP64], Any, Any], other: Expr[FP64, Any]) -> Expr[FP64, Any]: ...
    @overload
    def __mul__(self: Operators[Number[Any], T, Any], other: Operators[NarrowerThan[T], Any, Any]) -> Expr[T, Any]: ...
    @overload
    def __mul__(self: Operators[NarrowerThan[FP64], Any, Any], other: Approximate[Any]) -> DynExpr: ...
    @overload
    def __mul__(self: Operators[Number[int], Any, Null], other: Operators[Interval, T, N]) -> Expr[T, Null]: ...
    @overload
    def __mul__(self: Operators[Number[int], Any, Any], other: Span) -> DynExpr: ...
    def __mul__(self: Any, other: Any) -> Any:
        return _operator("multiply", self, other)

    @overload
    def __truediv__(self: Operators[Number[float], T, N], other: Expr[T, N] | Expr[T, Req] | float) -> Expr[T, N]: ...
    @overload
    def __truediv__(self: Operators[Number[float], T, Null], other: Expr[T, Null]) -> Expr[T, Null]: ...
    @overload
    def __truediv__(
        self: Operators[AnyDecimal, Any, N], other: Exact[N] | Exact[Req] | int | decimal.Decimal
    ) -> Expr[AnyDecimal, N]: ...
    @overload
    def __truediv__(self: Operators[AnyDecimal, Any, Null], other: Exact[Null]) -> Expr[AnyDecimal, Null]: ...
    @overload
    def __truediv__(
        self: Operators[Number[int], Any, Any], other: Operators[AnyDecimal, Any, Any] | decimal.Decimal
    ) -> Expr[AnyDecimal, Any]: ...
    @overload
    def __truediv__(self: Operators[NarrowerThan[FP64], Any, Any], other: Expr[FP64, Any]) -> Expr[FP64, Any]: ...
    @overload
    def __truediv__(
        self: Operators[Number[float], T, Any], other: Operators[NarrowerThan[T], Any, Any]
    ) -> Expr[T, Any]: ...
    @overload
    def __truediv__(self: Operators[FP32, Any, Any], other: Approximate[Any]) -> DynExpr: ...
    @overload
    def __truediv__(self: Operators[NarrowerThan[FP64], Any, Any], other: Operators[FP32, Any, Any]) -> DynExpr: ...
    def __truediv__(self: Any, other: Any) -> Any:
        return _quotient(self, other)

    @overload
    def __mod__(self: Operators[Number[int], T, N], other: Expr[T, N] | Expr[T, Req] | int) -> Expr[T, N]: ...
    @overload
    def __mod__(self: Operators[Number[int], T, Null], other: Expr[T, Null]) -> Expr[T, Null]: ...
    @overload
    def __mod__(
        self: Operators[AnyDecimal, Any, N], other: Exact[N] | Exact[Req] | int | decimal.Decimal
    ) -> Expr[AnyDecimal, N]: ...
    @overload
    def __mod__(self: Operators[AnyDecimal, Any, Null], other: Exact[Null]) -> Expr[AnyDecimal, Null]: ...
    @overload
    def __mod__(
        self: Operators[Number[int], Any, Any], other: Operators[AnyDecimal, Any, Any] | decimal.Decimal
    ) -> Expr[AnyDecimal, Any]: ...
    @overload
    def __mod__(self: Operators[NarrowerThan[I64], Any, Any], other: Expr[I64, Any]) -> Expr[I64, Any]: ...
    @overload
    def __mod__(self: Operators[Number[int], T, Any], other: Operators[NarrowerThan[T], Any, Any]) -> Expr[T, Any]: ...
    @overload
    def __mod__(self: Operators[I8 | I16, Any, Any], other: Operators[I16 | I32, Any, Any]) -> DynExpr: ...
    def __mod__(self: Any, other: Any) -> Any:
        return _operator("modulus", self, other)

    @overload
    def __radd__(self: Operators[Number[V], T, N], other: V) -> Expr[T, N]: ...
    @overload
    def __radd__(self: Operators[AnyDecimal, Any, N], other: int | decimal.Decimal) -> Expr[AnyDecimal, N]: ...
    @overload
    def __radd__(self: Operators[Number[int], Any, N], other: decimal.Decimal) -> Expr[AnyDecimal, N]: ...
    def __radd__(self: Any, other: Any) -> Any:
        return _operator("add", other, self)

    @overload
    def __rsub__(self: Operators[Number[V], T, N], other: V) -> Expr[T, N]: ...
    @overload
    def __rsub__(self: Operators[AnyDecimal, Any, N], other: int | decimal.Decimal) -> Expr[AnyDecimal, N]: ...
    @overload
    def __rsub__(self: Operators[Number[int], Any, N], other: decimal.Decimal) -> Expr[AnyDecimal, N]: ...
    def __rsub__(self: Any, other: Any) -> Any:
        return _operator("subtract", other, self)

    @overload
    def __rmul__(self: Operators[Number[V], T, N], other: V) -> Expr[T, N]: ...
    @overload
    def __rmul__(self: Operators[AnyDecimal, Any, N], other: int | decimal.Decimal) -> Expr[AnyDecimal, N]: ...
    @overload
    def __rmul__(self: Operators[Number[int], Any, N], other: decimal.Decimal) -> Expr[AnyDecimal, N]: ...
    @overload
    def __rmul__(self: Operators[Interval, T, N], other: int) -> Expr[T, N]: ...
    def __rmul__(self: Any, other: Any) -> Any:
        return _operator("multiply", other, self)

    @overload
    def __rtruediv__(self: Operators[Number[float], T, N], other: float) -> Expr[T, N]: ...
    @overload
    def __rtruediv__(self: Operators[AnyDecimal, Any, N], other: int | decimal.Decimal) -> Expr[AnyDecimal, N]: ...
    @overload
    def __rtruediv__(self: Operators[Number[int], Any, N], other: decimal.Decimal) -> Expr[AnyDecimal, N]: ...
    def __rtruediv__(self: Any, other: Any) -> Any:
        return _quotient(other, self)

    @overload
    def __rmod__(self: Operators[Number[int], T, N], other: int) -> Expr[T, N]: ...
    @overload
    def __rmod__(self: Operators[AnyDecimal, Any, N], other: int | decimal.Decimal) -> Expr[AnyDecimal, N]: ...
    @overload
    def __rmod__(self: Operators[Number[int], Any, N], other: decimal.Decimal) -> Expr[AnyDecimal, N]: ...
    def __rmod__(self: Any, other: Any) -> Any:
        return _operator("modulus", other, self)

    @overload
    def __pow__(self: Operators[Number[V], T, N], other: Expr[T, N] | Expr[T, Req] | V) -> Expr[T, N]: ...
    @overload
    def __pow__(self: Operators[Number[Any], T, Null], other: Expr[T, Null]) -> Expr[T, Null]: ...
    @overload
    def __pow__(self: Operators[NarrowerThan[I64], Any, Any], other: Expr[I64, Any]) -> Expr[I64, Any]: ...
    @overload
    def __pow__(self: Operators[NarrowerThan[FP64], Any, Any], other: Expr[FP64, Any]) -> Expr[FP64, Any]: ...
    @overload
    def __pow__(self: Operators[Number[Any], T, Any], other: Operators[NarrowerThan[T], Any, Any]) -> Expr[T, Any]: ...
    @overload
    def __pow__(self: Operators[NarrowerThan[FP64], Any, Any], other: Approximate[Any]) -> DynExpr: ...
    def __pow__(self: Any, other: Any) -> Any:
        return _operator("power", self, other)

    def __rpow__(self: Operators[Number[V], T, N], other: V) -> Expr[T, N]:
        return _operator("power", other, self)

    def __neg__(self: Operators[Number[Any] | AnyDecimal, T, N]) -> Expr[T, N]:
        return _operator("negate", self)

    def __pos__(self) -> Self:
        return self

    def __abs__(self: Operators[Number[Any] | AnyDecimal, T, N]) -> Expr[T, N]:
        return _operator("abs", self)

    @overload  # type: ignore[override]  # an expression, not a truth value
    def __eq__(self: Operators[WrittenAs[V], T, N], other: Expr[T, N] | Expr[T, Req] | V) -> Expr[Boolean, N]: ...
    @overload
    def __eq__(self, other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __eq__(self: Exact[Any], other: Exact[Any] | decimal.Decimal) -> Expr[Boolean, Any]: ...
    @overload
    def __eq__(self: Approximate[Any], other: Approximate[Any]) -> Expr[Boolean, Any]: ...
    @overload
    def __eq__(self, other: Quantified) -> Expr[Boolean, Null]: ...
    def __eq__(self: Any, other: Any) -> Any:
        return _comparison("equal", self, other)

    @overload  # type: ignore[override]  # an expression, not a truth value
    def __ne__(self: Operators[WrittenAs[V], T, N], other: Expr[T, N] | Expr[T, Req] | V) -> Expr[Boolean, N]: ...
    @overload
    def __ne__(self, other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __ne__(self: Exact[Any], other: Exact[Any] | decimal.Decimal) -> Expr[Boolean, Any]: ...
    @overload
    def __ne__(self: Approximate[Any], other: Approximate[Any]) -> Expr[Boolean, Any]: ...
    @overload
    def __ne__(self, other: Quantified) -> Expr[Boolean, Null]: ...
    def __ne__(self: Any, other: Any) -> Any:
        return _comparison("not_equal", self, other)

    @overload
    def __lt__(self: Operators[WrittenAs[V], T, N], other: Expr[T, N] | Expr[T, Req] | V) -> Expr[Boolean, N]: ...
    @overload
    def __lt__(self, other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __lt__(self: Exact[Any], other: Exact[Any] | decimal.Decimal) -> Expr[Boolean, Any]: ...
    @overload
    def __lt__(self: Approximate[Any], other: Approximate[Any]) -> Expr[Boolean, Any]: ...
    @overload
    def __lt__(self, other: Quantified) -> Expr[Boolean, Null]: ...
    def __lt__(self: Any, other: Any) -> Any:
        return _comparison("lt", self, other)

    @overload
    def __le__(self: Operators[WrittenAs[V], T, N], other: Expr[T, N] | Expr[T, Req] | V) -> Expr[Boolean, N]: ...
    @overload
    def __le__(self, other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __le__(self: Exact[Any], other: Exact[Any] | decimal.Decimal) -> Expr[Boolean, Any]: ...
    @overload
    def __le__(self: Approximate[Any], other: Approximate[Any]) -> Expr[Boolean, Any]: ...
    @overload
    def __le__(self, other: Quantified) -> Expr[Boolean, Null]: ...
    def __le__(self: Any, other: Any) -> Any:
        return _comparison("lte", self, other)

    @overload
    def __gt__(self: Operators[WrittenAs[V], T, N], other: Expr[T, N] | Expr[T, Req] | V) -> Expr[Boolean, N]: ...
    @overload
    def __gt__(self, other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __gt__(self: Exact[Any], other: Exact[Any] | decimal.Decimal) -> Expr[Boolean, Any]: ...
    @overload
    def __gt__(self: Approximate[Any], other: Approximate[Any]) -> Expr[Boolean, Any]: ...
    @overload
    def __gt__(self, other: Quantified) -> Expr[Boolean, Null]: ...
    def __gt__(self: Any, other: Any) -> Any:
        return _comparison("gt", self, other)

    @overload
    def __ge__(self: Operators[WrittenAs[V], T, N], other: Expr[T, N] | Expr[T, Req] | V) -> Expr[Boolean, N]: ...
    @overload
    def __ge__(self, other: Expr[T, Null]) -> Expr[Boolean, Null]: ...
    @overload
    def __ge__(self: Exact[Any], other: Exact[Any] | decimal.Decimal) -> Expr[Boolean, Any]: ...
    @overload
    def __ge__(self: Approximate[Any], other: Approximate[Any]) -> Expr[Boolean, Any]: ...
    @overload
    def __ge__(self, other: Quantified) -> Expr[Boolean, Null]: ...
    def __ge__(self: Any, other: Any) -> Any:
        return _comparison("gte", self, other)

    @overload
    def __and__(
        self: Operators[Boolean, Any, N], other: Expr[Boolean, N] | Expr[Boolean, Req] | bool
    ) -> Expr[Boolean, N]: ...
    @overload
    def __and__(self: Operators[Boolean, Any, Null], other: Expr[Boolean, Null]) -> Expr[Boolean, Null]: ...
    def __and__(self: Any, other: Any) -> Any:
        return _operator("and", self, other)

    def __rand__(self: Operators[Boolean, Any, N], other: bool) -> Expr[Boolean, N]:
        return _operator("and", other, self)

    @overload
    def __or__(
        self: Operators[Boolean, Any, N], other: Expr[Boolean, N] | Expr[Boolean, Req] | bool
    ) -> Expr[Boolean, N]: ...
    @overload
    def __or__(self: Operators[Boolean, Any, Null], other: Expr[Boolean, Null]) -> Expr[Boolean, Null]: ...
    def __or__(self: Any, other: Any) -> Any:
        return _operator("or", self, other)

    def __ror__(self: Operators[Boolean, Any, N], other: bool) -> Expr[Boolean, N]:
        return _operator("or", other, self)

    @overload
    def __xor__(
        self: Operators[Boolean, Any, N], other: Expr[Boolean, N] | Expr[Boolean, Req] | bool
    ) -> Expr[Boolean, N]: ...
    @overload
    def __xor__(self: Operators[Boolean, Any, Null], other: Expr[Boolean, Null]) -> Expr[Boolean, Null]: ...
    def __xor__(self: Any, other: Any) -> Any:
        return _operator("xor", self, other)

    def __rxor__(self: Operators[Boolean, Any, N], other: bool) -> Expr[Boolean, N]:
        return _operator("xor", other, self)

    def __invert__(self: Operators[Boolean, Any, N]) -> Expr[Boolean, N]:
        return _operator("not", self)

    __hash__ = object.__hash__


Exact = Operators[AnyDecimal | Number[int], Any, N]
"""An expression of a decimal or an integer: any two have a type in common, unless it would have too many digits."""
Approximate = Operators[FP64 | NarrowerThan[FP64], Any, N]
"""An expression of a float, or of a number that is one without a loss."""


def _operator(function: str, *operands: object) -> DynExpr:
    from substrait_dsl.fluent.calls import scalar

    try:
        return scalar(function, operands)
    except SubstraitDslError as error:
        hide_library_frames(error)
        raise


def _quotient(left: object, right: object) -> DynExpr:
    from substrait_dsl.fluent.calls import quotient

    return quotient(left, right)


def _comparison(function: str, left: object, right: object) -> DynExpr:
    from substrait_dsl.fluent.subqueries import compare

    try:
        return compare(function, left, right)
    except SubstraitDslError as error:
        hide_library_frames(error)
        raise
