"""Windows: partitions, ordering and frame of window functions.

A frame is a pair of bounds: ``rows=(-3, 0)``, ``range=(None, timedelta(days=7))``. None is the end of the partition, 0
the current row; a negative number is so far before it, a positive one so far after it.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.expressions.calls import Invocation
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.types import I64, Type
from substrait_dsl.catalog import Catalog
from substrait_dsl.catalog.function_requirements import distance_type
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError
from substrait_dsl.fluent.arguments import describe_operand
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.calls import MeasureBase, WindowFunction
from substrait_dsl.fluent.column_arguments import is_list, key_expression, sort_keys
from substrait_dsl.fluent.expr import DynExpr, ExprBase, SortKey, combine_in_scope, unbound_expr
from substrait_dsl.fluent.lambdas import LambdaScope
from substrait_dsl.fluent.scope import Scope

Key: TypeAlias = "str | int | ExprBase | SortKey | Callable[[Any], ExprBase | SortKey]"
Keys: TypeAlias = "Key | Sequence[Key]"
"""One or several columns: names, positions, expressions, lambdas that get the row; to order by, sort keys too."""

Distance: TypeAlias = "int | float | decimal.Decimal | dt.timedelta | ex.YearMonths | ex.DaySeconds"
BoundLike: TypeAlias = "Distance | Offset | None"
FrameLike: TypeAlias = "tuple[BoundLike, BoundLike]"


@attrs.frozen(eq=False, repr=False)
class Offset(Picklable):
    """A bound so far before or after the current row; made by `preceding` and `following`."""

    kind: ex.BoundKind
    distance: Any

    def __repr__(self) -> str:
        return f"{self.kind}({self.distance!r})"


def preceding(distance: ExprBase | Distance) -> Offset:
    """Bound a frame so far before the current row: ``rows=(preceding(r.n), 0)``.

    Args:
        distance: a number of rows (``i64``), or for a range what is taken from the sort key; never NULL or negative.

    Returns:
        A bound for ``over`` and ``frame``. Raises `InvalidArgumentError` for a distance that is not positive.

    Specification: ``Expression.WindowFunction.Bound.Preceding``.

    Example:
        >>> last = f.sum(sd.col("price")).over(order_by="id", rows=(sd.preceding(2), 0))
        >>> orders.project(last=last).columns
        ('id', 'customer', 'price', 'last')
    """
    return _offset("preceding", distance)


def following(distance: ExprBase | Distance) -> Offset:
    """Bound a frame so far after the current row: ``rows=(0, following(r.n))``.

    Args:
        distance: a number of rows (``i64``), or for a range what is added to the sort key; never NULL or negative.

    Returns:
        A bound for ``over`` and ``frame``. Raises `InvalidArgumentError` for a distance that is not positive.

    Specification: ``Expression.WindowFunction.Bound.Following``.

    Example:
        >>> sd.following(2)
        following(2)
    """
    return _offset("following", distance)


def _offset(kind: ex.BoundKind, distance: object) -> Offset:
    if not isinstance(distance, ExprBase) and _sign(distance) <= 0:
        raise InvalidArgumentError(f"{kind} takes a positive distance", got=distance, hint="0 is the current row")
    return Offset(kind, distance)


@attrs.frozen(eq=False, repr=False)
class Frame(Picklable, FrozenValue):
    """The rows that a window function sees: whether bounds count rows or are added to the sort key, and the bounds."""

    bounds_type: ex.BoundsType
    lower: Offset | ex.Bound
    upper: Offset | ex.Bound

    @property
    def expressions(self) -> list[ExprBase]:
        """The distances that are expressions."""
        distances = [bound.distance for bound in (self.lower, self.upper) if isinstance(bound, Offset)]
        return [distance for distance in distances if isinstance(distance, ExprBase)]


# spec decision 32: the specification's default is the whole partition; SQL's and Spark's depends on the order.
WHOLE_PARTITION = Frame("rows", ex.UNBOUNDED, ex.UNBOUNDED)
UP_TO_THE_CURRENT_ROW = Frame("range", ex.UNBOUNDED, ex.CURRENT_ROW)


def over(
    function: WindowFunction[Any, Any],
    misplaced: Sequence[object],
    partition_by: Any,
    order_by: Any,
    rows: Any,
    range: Any,
) -> DynExpr:
    """Return a window function with its window; see `WindowFunction.over`."""
    if misplaced:
        raise InvalidArgumentError(
            "the parts of a window are given by name",
            got=misplaced[0],
            hint="write over(partition_by=..., order_by=..., rows=(first, last))",
        )
    partitions, sorts = _keys(partition_by, "partition"), _keys(order_by, "order")
    framed = function
    if rows is not None or range is not None:
        framed = function.framed(frame(rows, range))
    used = [*framed.call.expressions(), *(framed.bounds.expressions if framed.bounds else ())]
    used += [_expression(each) for each in (*partitions, *sorts)]
    return combine_in_scope(function.call.name, partial(_window, framed, partitions, sorts), used, function.name)


def _window(
    function: WindowFunction[Any, Any], partitions: Sequence[Any], sorts: Sequence[Any], scope: Scope
) -> ex.Expression:
    if isinstance(scope, LambdaScope):
        raise SchemaError("a window function cannot stand in a lambda", hint="compute it before, as a column")
    keys = sort_keys(sorts, scope)
    by = tuple(key_expression(each, scope, "partition") for each in partitions)
    return ex.WindowFunction(window_call(function, scope, keys), by, keys)


def window_call(function: WindowFunction[Any, Any], scope: Scope, sorts: Sequence[ex.SortKey]) -> ex.WindowCall:
    """Return the call of the algebra, over the rows of a scope, in a window with these sort keys.

    Raises as `WindowFunction.over` does.
    """
    chosen = function.bounds or (UP_TO_THE_CURRENT_ROW if sorts else WHOLE_PARTITION)
    catalog = function.call.catalog
    lower, upper = (
        _resolve_bound(each, chosen.bounds_type, scope, sorts, catalog) for each in (chosen.lower, chosen.upper)
    )
    invocation: Invocation = "distinct" if function.distinct_values else "all"
    called, arguments, type_, options = function.call.resolve_in(scope)
    return ex.WindowCall(called, arguments, type_, options, lower, upper, chosen.bounds_type, invocation)


def frame(rows: Any, range: Any) -> Frame:
    """Return the frame that a pair of bounds says. Raises `InvalidArgumentError`."""
    if (rows is None) is (range is None):
        raise InvalidArgumentError("a frame is one of rows=(first, last) and range=(first, last)")
    kind: ex.BoundsType = "range" if rows is None else "rows"
    pair = range if rows is None else rows
    if not is_list(pair) or len(pair) != 2:
        raise InvalidArgumentError(
            f"{kind} is a pair (first, last)",
            got=pair,
            hint="None is the end of the partition, 0 the current row: (None, 0), (-3, 3)",
        )
    lower, upper = (_read(bound, kind) for bound in pair)
    _check_order(lower, upper, f"{kind}={pair!r}")
    return Frame(kind, lower, upper)


def _read(bound: Any, kind: ex.BoundsType) -> Offset | ex.Bound:
    if bound is None:
        return ex.UNBOUNDED
    if isinstance(bound, Offset):
        return bound
    if isinstance(bound, ExprBase):
        raise InvalidArgumentError(
            "a bound that is an expression does not say whether it is before or after the current row",
            hint="write preceding(x) or following(x)",
        )
    unbounded = isinstance(bound, int | float) and abs(bound) >= 2**63 - 1  # what Spark calls unboundedPreceding
    if unbounded or isinstance(bound, str):
        hint = "None is the end of the partition, 0 the current row, -3 is 3 before it, 3 is 3 after it"
        most = " below 2^63 - 1" if unbounded else ""
        raise InvalidArgumentError(f"a bound of a frame is a number{most} or None", got=bound, hint=hint)
    sign = _sign(bound)
    if kind == "rows" and type(bound) is not int:
        raise TypeMismatchError("a frame of rows is counted in integers", got=bound)
    if sign == 0:
        return ex.CURRENT_ROW
    return Offset("preceding", _opposite(bound)) if sign < 0 else Offset("following", bound)


def _opposite(distance: Any) -> Any:
    """Return a distance the other way.

    Of a decimal with all its digits, where ``-`` keeps as many as the context says.
    """
    return distance.copy_negate() if isinstance(distance, decimal.Decimal) else -distance


def _amount(distance: Any) -> Any:
    """Return a distance as one number, to compare with others of its kind.

    Raises `InvalidArgumentError` for what is none.
    """
    match distance:
        case ex.YearMonths(years, months):
            return 12 * years + months
        case ex.DaySeconds(days, seconds, subseconds):
            return (86_400 * days + seconds) * 10**12 + subseconds
        case dt.timedelta():
            return distance // dt.timedelta(microseconds=1)
        case int() | float() | decimal.Decimal() if not isinstance(distance, bool) and math.isfinite(distance):
            return distance
        case _:
            raise InvalidArgumentError(
                "a bound of a frame is None, a finite number or a span of time",
                got=distance,
                hint="None is the end of the partition; an expression stands in preceding(x) or following(x)",
            )


def _sign(distance: object) -> int:
    """Return whether a distance is negative, 0 or positive: -1, 0, 1."""
    amount = _amount(distance)
    return int(amount > 0) - int(amount < 0)


def _check_order(lower: Offset | ex.Bound, upper: Offset | ex.Bound, written: str) -> None:
    """Raise `InvalidArgumentError` for a frame that surely ends before it starts."""
    first, last = _place(lower), _place(upper)
    if first is None or last is None:
        return
    before, after = _sign(first), _sign(last)
    comparable = type(first) is type(last) or not (attrs.has(type(first)) or attrs.has(type(last)))
    if before > after or (before == after != 0 and comparable and _amount(first) > _amount(last)):
        raise InvalidArgumentError(f"the frame {written} ends before it starts", hint="the earlier bound comes first")


def _place(bound: Offset | ex.Bound) -> Any:
    """Return where a bound lies from the current row, as a signed distance; None if that is not known."""
    if isinstance(bound, Offset):
        if isinstance(bound.distance, ExprBase):
            return None
        return _opposite(bound.distance) if bound.kind == "preceding" else bound.distance
    return 0 if bound.kind == "current_row" else None


def _resolve_bound(
    bound: Offset | ex.Bound, kind: ex.BoundsType, scope: Scope, sorts: Sequence[ex.SortKey], catalog: Catalog
) -> ex.Bound:
    if isinstance(bound, ex.Bound):
        return bound
    value = bind(bound.distance, scope) if isinstance(bound.distance, ExprBase) else bound.distance
    if kind == "rows":
        return ex.Bound(bound.kind, value if isinstance(value, ex.Expression) else ex.literal(value, I64()))
    if len(sorts) != 1:
        raise SchemaError(
            f"a range with an offset needs exactly one sort key, this window has {len(sorts)}",
            hint="sort by one key, or count rows: rows=(first, last)",
        )
    return ex.Bound(bound.kind, _type_distance(value, sorts[0].expression.type, catalog))


def _type_distance(value: Any, key: Type, catalog: Catalog) -> ex.Expression:
    """Return a distance that can be added to a sort key and subtracted from it, typed by the key's type.

    Raises `TypeMismatchError` unless key and distance add up to the type of the key.
    """
    type_ = distance_type(catalog, key, describe_operand(value, "range"))
    return value if isinstance(value, ex.Expression) else ex.literal(value, type_.as_required())


def _keys(chosen: Any, verb: str) -> tuple[Any, ...]:
    keys = tuple(chosen) if is_list(chosen) else (chosen,)
    for key in keys:
        if verb == "partition" and isinstance(key, SortKey):
            raise InvalidArgumentError("partitions have no order", hint="write order_by=...")
        if isinstance(key, SortKey | ExprBase | str | int) or callable(key):
            continue
        hint = None
        if isinstance(key, MeasureBase):
            hint = "name the measure in aggregate(...), then compute the window in with_columns(...)"
        elif "Window" in type(key).__name__:
            hint = "write over(partition_by=..., order_by=..., rows=(first, last))"
        raise InvalidArgumentError(f"expected a column or an expression to {verb} by", got=key, hint=hint)
    return keys


def _expression(key: Any) -> ExprBase:
    """Return the expression of a key; where it is a name or a lambda, one that waits for a row."""
    of = key.expression if isinstance(key, SortKey) else key
    return of if isinstance(of, ExprBase) else unbound_expr(partial(_key, of), what="key" if callable(of) else "")


def _key(of: Any, scope: Scope) -> ex.Expression:
    return key_expression(of, scope, "sort")
