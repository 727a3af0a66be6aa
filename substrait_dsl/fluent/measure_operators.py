"""The operators of measures: what is computed of the values of aggregate functions is a measure again.

The types are not known to a checker: only the mypy plugin, which makes the calls, says more than ``Measure[Any, Any]``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.errors import TypeMismatchError
from substrait_dsl.fluent.absent_operations import AbsentOfMeasures
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.operators import PythonValue
from substrait_dsl.fluent.truth_values import NoTruthValue

if TYPE_CHECKING:
    from substrait_dsl.fluent.calls import Measure, MeasureBase

Operand: TypeAlias = "MeasureBase | ExprBase | PythonValue"
"""What stands beside a measure: another one, a key, or a value of Python's."""


class MeasureOperators(AbsentOfMeasures):
    """Arithmetic, comparison and logic of measures, and the methods that expressions have, too."""

    __slots__ = ()

    def cast(self, to: Any, *, on_failure: ex.FailureBehavior = "throw") -> Measure[Any, Any]:
        """Convert the value of each group to another type.

        Args:
            to: the type, as for `Expr.cast`.
            on_failure: as for `Expr.cast`.

        Raises as `Expr.cast` does. Specification: ``Expression.Cast``, in a ``ProjectRel`` over the ``AggregateRel``.

        Example:
            >>> print(orders.aggregate(n=f.count().cast("i32")).schema)
            0  n  i32
        """
        return self._computed("cast", to, on_failure=on_failure)

    def assert_not_null(self) -> Measure[Any, Any]:
        """Require a value of each group, as `Expr.assert_not_null` does.

        Specification: ``Expression.Cast``, to the required type.

        Example:
            >>> print(orders.aggregate(total=lambda o: f.sum(o.price).assert_not_null()).schema)
            0  total  fp64
        """
        return self._computed("assert_not_null")

    def is_null(self) -> Measure[Any, Any]:
        """Test whether the value of a group is NULL. Specification: ``is_null``.

        Example:
            >>> print(orders.group_by("customer").agg(is_free=lambda o: f.sum(o.price).is_null()).schema)
            0  customer  i64
            1  is_free   boolean
        """
        return self._computed("is_null")

    def is_not_null(self) -> Measure[Any, Any]:
        """Test whether the value of a group is not NULL. Specification: ``is_not_null``.

        Example:
            >>> orders.aggregate(has_price=lambda o: f.sum(o.price).is_not_null()).columns
            ('has_price',)
        """
        return self._computed("is_not_null")

    def between(self, low: Operand, high: Operand) -> Measure[Any, Any]:
        """Test whether the value of a group is ``low <= value <= high``.

        Args:
            low: the smallest value: a Python value, a key, or a measure.
            high: the largest value.

        Raises as `Expr.between` does. Specification: ``between``.

        Example:
            >>> orders.aggregate(is_small=f.count().between(0, 100)).columns
            ('is_small',)
        """
        return self._computed("between", low, high)

    def is_in(self, options: Iterable[object]) -> Measure[Any, Any]:
        """Test whether the value of a group equals one of `options`.

        Args:
            options: values, as for `Expr.is_in`.

        Raises as `Expr.is_in` does. Specification: ``SingularOrList``, ``Subquery.InPredicate``.

        Example:
            >>> orders.aggregate(is_pair=f.count().is_in([2])).columns
            ('is_pair',)
        """
        return self._computed("is_in", options)

    def _computed(self, method: str, *arguments: Any, **named: Any) -> Measure[Any, Any]:
        """Return what a method of expressions makes of the value."""
        from substrait_dsl.fluent.computed_measures import compute_from

        return compute_from(lambda operands: getattr(operands[0], method)(*operands[1:], **named), [self, *arguments])

    def __add__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("add", self, other)

    def __radd__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("add", other, self)

    def __sub__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("subtract", self, other)

    def __rsub__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("subtract", other, self)

    def __mul__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("multiply", self, other)

    def __rmul__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("multiply", other, self)

    def __truediv__(self, other: Operand) -> Measure[Any, Any]:
        return _quotient(self, other)

    def __rtruediv__(self, other: Operand) -> Measure[Any, Any]:
        return _quotient(other, self)

    def __mod__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("modulus", self, other)

    def __rmod__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("modulus", other, self)

    def __pow__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("power", self, other)

    def __rpow__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("power", other, self)

    def __neg__(self) -> Measure[Any, Any]:
        return _operator("negate", self)

    def __abs__(self) -> Measure[Any, Any]:
        return _operator("abs", self)

    def __eq__(self, other: Operand) -> Measure[Any, Any]:  # type: ignore[override]  # a measure, not a truth value
        return _comparison("equal", self, other)

    def __ne__(self, other: Operand) -> Measure[Any, Any]:  # type: ignore[override]  # a measure, not a truth value
        return _comparison("not_equal", self, other)

    def __lt__(self, other: Operand) -> Measure[Any, Any]:
        return _comparison("lt", self, other)

    def __le__(self, other: Operand) -> Measure[Any, Any]:
        return _comparison("lte", self, other)

    def __gt__(self, other: Operand) -> Measure[Any, Any]:
        return _comparison("gt", self, other)

    def __ge__(self, other: Operand) -> Measure[Any, Any]:
        return _comparison("gte", self, other)

    def __and__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("and", self, other)

    def __rand__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("and", other, self)

    def __or__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("or", self, other)

    def __ror__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("or", other, self)

    def __xor__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("xor", self, other)

    def __rxor__(self, other: Operand) -> Measure[Any, Any]:
        return _operator("xor", other, self)

    def __invert__(self) -> Measure[Any, Any]:
        return _operator("not", self)

    def __bool__(self) -> NoTruthValue:
        raise TypeMismatchError(
            "a measure has no truth value before the query runs",
            hint="combine conditions with & and | and ~ (in parentheses); agg(...).filter(...) keeps groups",
        )

    __hash__ = object.__hash__


def _operator(function: str, *operands: object) -> Measure[Any, Any]:
    from substrait_dsl.fluent.calls import scalar

    return cast("Measure[Any, Any]", scalar(function, operands))


def _quotient(left: object, right: object) -> Measure[Any, Any]:
    from substrait_dsl.fluent.calls import quotient

    return cast("Measure[Any, Any]", quotient(left, right))


def _comparison(function: str, left: object, right: object) -> Measure[Any, Any]:
    from substrait_dsl.fluent.subqueries import compare

    return cast("Measure[Any, Any]", compare(function, left, right))
