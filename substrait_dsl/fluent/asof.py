"""As-of joins: each row with the row of another relation whose time is nearest, in a form that is linear.

Both sides become one relation, sorted by keys and time. A running count numbers the rows of the right side, and gives
each row of the left one the number of the row that it matches; a window over one number has the columns of both.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs

from substrait_dsl import functions as f
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import Project, emit
from substrait_dsl.errors import (
    InvalidArgumentError,
    TypeMismatchError,
    UnknownFieldError,
    error_context,
    require_choice,
)
from substrait_dsl.fluent import column_arguments
from substrait_dsl.fluent.base import wrap_relation
from substrait_dsl.fluent.conditionals import when
from substrait_dsl.fluent.expr import Expr, SortKey
from substrait_dsl.fluent.leaf_expressions import col, lit, null
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.fluent.sorting import asc

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

AsofDirection = Literal["backward", "forward", "nearest"]
AsofHow = Literal["left", "inner"]
DIRECTIONS: tuple[AsofDirection, ...] = ("backward", "forward", "nearest")
HOW: tuple[AsofHow, ...] = ("left", "inner")
Tolerance = int | float | decimal.Decimal | dt.timedelta
"""The most that two times may differ: a number for numbers, a span for dates and timestamps."""
ColumnPair = str | tuple[str, str]
"""A column of both sides: a name that both have, or the name on each."""

_INTEGERS = (t.I8, t.I16, t.I32, t.I64)
_FLOATS = (t.FP32, t.FP64)
_TIMESTAMPS = (t.PrecisionTimestamp, t.PrecisionTimestampTZ)
_MAX_DIGITS = 6
"""The digits of a timestamp that a distance in microseconds has."""
_I64_DIGITS: int = 19
"""The digits of an ``i64``."""
_MAX_DECIMALS = 38
"""The digits of the largest decimal."""


@attrs.frozen
class AsofJoin:
    """The arguments of an as-of join, checked.

    Args:
        left: the left side.
        right: the right side.
        time: the positions of the time on both sides.
        keys: the positions of the keys on both sides.
        payload: the positions of the columns of the right side that are put out.
        direction: which right row matches.
        how: whether left rows without a match are put out.
        tolerance: the most that the times may differ, as an expression of the type of distances; None for any.
        ties: how right rows of the same time are ordered.
    """

    left: Rel
    right: Rel
    time: tuple[int, int]
    keys: Sequence[tuple[int, int]]
    payload: Sequence[int]
    direction: AsofDirection
    how: AsofHow
    tolerance: Tolerance | None
    ties: Sequence[ex.SortKey]

    @property
    def time_type(self) -> t.Type:
        """The type of the times, nullable."""
        return self.left.schema.fields[self.time[0]].type.as_nullable()

    def build(self) -> Rel:
        """Return the relation: the columns of the left side, then those of the right one that are put out."""
        rows = self._left_rows().union_all(self._right_rows())
        keys = [f"l{left_position}" for left_position, _ in self.keys] or ["all"]
        is_left_first = self.direction == "forward"  # of equal times, a row is counted before those that it matches
        order = [asc("t"), SortKey("side", "desc_nulls_last" if is_left_first else "asc_nulls_first")]
        order += [SortKey(f"o{number}", _direction(key)) for number, key in enumerate(self.ties)]
        # what follows is what came so far in the other direction: a frame up to the end is quadratic on Spark
        back = [
            SortKey("t", "desc_nulls_last"),
            SortKey("side", "asc_nulls_first" if is_left_first else "desc_nulls_last"),
        ]
        up_to: dict[str, Any] = {"partition_by": keys, "order_by": order, "rows": (None, 0)}
        from_here = {**up_to, "order_by": back}
        numbered = rows.with_columns(
            n=f.count(col("rt")).over(**up_to),
            **({"before": f.max(col("rt")).over(**up_to)} if self._needs_before else {}),
            **({"after": f.min(col("rt")).over(**from_here)} if self._needs_after else {}),
        ).with_columns(g=when(col("side") == 0).then(col("n")).otherwise(self._number_of_match()))
        # of one number there is at most one right row, which stands first
        group: dict[str, Any] = {"partition_by": [*keys, "g"], "order_by": "side", "rows": (None, None)}
        values = {f"r{each}": f.nth_value(col(f"r{each}"), 1).over(**group) for each in self.payload}
        matched = f.nth_value(col("rt"), 1).over(**group).is_not_null()
        # that required columns have values there is said, so that no check of it is left to engines
        required = [f"l{each}" for each, field in enumerate(self.left.schema.fields) if not field.type.nullable]
        found = numbered.with_columns(matched=matched, **values).filter(col("side") == 1, *map(_is_known, required))
        if self.how == "inner":
            required = [f"r{each}" for each in self.payload if not self.right.schema.types[each].nullable]
            found = found.filter(col("matched"), *map(_is_known, required))
        return self._output(found)

    def _output(self, found: Any) -> Rel:
        """Return the columns of both sides under their names, required where they are."""
        columns: dict[str, Expr[Any, Any]] = {}
        names: list[str] = []
        for position, field in enumerate(self.left.schema.fields):
            column = col(f"l{position}")
            columns[f"l{position}"] = column if field.type.nullable else column.assert_not_null()
            names.append(field.name)
        for position in self.payload:
            field, column = self.right.schema.fields[position], col(f"r{position}")
            is_required = self.how == "inner" and not field.type.nullable
            columns[f"r{position}"] = column.assert_not_null() if is_required else column
            names.append(field.name)
        selected: Rel = found.select(**columns)._rel
        return emit(selected, range(len(names)), names)

    # --- both sides, as rows of one relation

    def _left_rows(self) -> Relation[Any]:
        time, payload = self.time_type, self.right.schema.fields
        return wrap_relation(self.left).select(
            **{f"l{position}": col(position) for position in range(len(self.left.schema))},
            **{f"r{position}": null(payload[position].type) for position in self.payload},
            **{f"o{number}": null(key.expression.type) for number, key in enumerate(self.ties)},
            t=_comparable(col(self.time[0]), time),
            rt=null(time),
            side=lit(1, t.I32),
            **self._constant_key(),
        )

    def _right_rows(self) -> Relation[Any]:
        """Return the right rows that may match: those with a time and all keys."""
        right_positions = dict([self.time, *self.keys])
        names = [f"o{number}" for number in range(len(self.ties))]
        width = len(self.right.schema)
        rel = Project(self.right, tuple(key.expression for key in self.ties), tuple(names)) if self.ties else self.right
        time = _comparable(col(self.time[1]), self.time_type)
        has_keys = [col(position).is_not_null() for _, position in self.keys]
        return (
            wrap_relation(rel)
            .filter(_is_time(col(self.time[1]), self.time_type), *has_keys)
            .select(
                **{
                    f"l{position}": col(right_positions[position]) if position in right_positions else null(field.type)
                    for position, field in enumerate(self.left.schema.fields)
                },
                **{f"r{position}": col(position) for position in self.payload},
                **{name: col(width + number) for number, name in enumerate(names)},
                t=time,
                rt=time,
                side=lit(0, t.I32),
                **self._constant_key(),
            )
        )

    def _constant_key(self) -> dict[str, Expr[Any, Any]]:
        """Return the key of a join without keys: a constant. Sail fails to plan the window without a partition."""
        return {} if self.keys else {"all": lit(0, t.I32)}

    # --- which right row a left one matches

    @property
    def _is_measured(self) -> bool:
        return self.tolerance is not None or self.direction == "nearest"

    @property
    def _needs_before(self) -> bool:
        return self._is_measured and self.direction != "forward"

    @property
    def _needs_after(self) -> bool:
        return self._is_measured and self.direction != "backward"

    def _number_of_match(self) -> Expr[Any, Any]:
        """Return the number of the right row that a left row matches; no right row has the number 0."""
        time, before, after = col("t"), col("before"), col("after")
        is_time = _is_time(time, self.time_type)
        last, following = col("n"), col("n") + 1
        if self.direction == "backward":
            return when(is_time & self._is_near(time, before)).then(last).otherwise(0)
        if self.direction == "forward":
            return when(is_time & self._is_near(after, time)).then(following).otherwise(0)
        is_before = before.is_not_null() & (
            after.is_null() | (before == time) | (self._distance(time, before) < self._distance(after, time))
        )
        return (
            when(~is_time)
            .then(0)
            .when(f.coalesce(is_before, False))
            .then(when(self._is_near(time, before)).then(last).otherwise(0))
            .when(self._is_near(after, time))
            .then(following)
            .otherwise(0)
        )

    def _is_near(self, later: Expr[Any, Any], earlier: Expr[Any, Any]) -> Expr[Any, Any]:
        """Return that two times differ by no more than the tolerance; true if there is none."""
        if self.tolerance is None:
            return lit(True)
        distance = self._distance(later, earlier)
        near: Expr[Any, Any] = f.coalesce(distance <= lit(*_limit(self.tolerance, self.time_type)), False)
        return near

    def _distance(self, later: Expr[Any, Any], earlier: Expr[Any, Any]) -> Expr[Any, Any]:
        distance: Expr[Any, Any] = _number(later, self.time_type) - _number(earlier, self.time_type)
        return distance


def _direction(key: ex.SortKey) -> Any:
    """Return how a sort key of the fluent API sorts as this one of the algebra does."""
    direction = key.direction
    return direction if isinstance(direction, str) else lambda _: direction


def _is_known(name: str) -> Expr[Any, Any]:
    return col(name).is_not_null()


def _is_time(time: Expr[Any, Any], type_: t.Type) -> Expr[Any, Any]:
    """Return that a value is one that others are before or after: no NULL, and no NaN."""
    if isinstance(type_, _FLOATS):
        is_number: Expr[Any, Any] = f.coalesce(~f.is_nan(time), False)
        return is_number
    return time.is_not_null()


def _comparable(time: Expr[Any, Any], type_: t.Type) -> Expr[Any, Any]:
    """Return a time by which rows are sorted: of -0.0 and 0.0, which are equal, engines sort one first."""
    return time + lit(0.0, type_.as_required()) if isinstance(type_, _FLOATS) else time


def _number(time: Expr[Any, Any], type_: t.Type) -> Expr[Any, Any]:
    """Return a time as a number whose differences are exact: of dates in seconds, of timestamps in microseconds."""
    match type_:
        case t.PrecisionTimestamp() | t.PrecisionTimestampTZ():
            zone = ("UTC",) if isinstance(type_, t.PrecisionTimestampTZ) else ()
            return f.extract("UNIX_TIME", time, *zone) * 1_000_000 + f.extract("SUBSECOND", time, *zone)
        case t.Date():
            return f.extract("UNIX_TIME", time)
        case t.I8() | t.I16() | t.I32():
            return time.cast(t.I64)
        case t.I64():
            return time.cast(f"decimal<{_I64_DIGITS},0>")
    return time


def _limit(tolerance: Any, type_: t.Type) -> tuple[Any, t.Type]:
    """Return a tolerance as a value and a type of differences of `_number`."""
    match type_:
        case t.PrecisionTimestamp() | t.PrecisionTimestampTZ():
            return tolerance // dt.timedelta(microseconds=1), t.I64()
        case t.Date():
            return tolerance // dt.timedelta(seconds=1), t.I64()
        case t.I8() | t.I16() | t.I32():
            return tolerance, t.I64()
        case t.I64():
            return tolerance, _decimal(_I64_DIGITS + 1, 0)
        case t.Decimal():
            return tolerance, _decimal(min(type_.precision + 1, _MAX_DECIMALS), type_.scale)
    return float(tolerance), type_.as_required()


def _decimal(precision: Any, scale: Any) -> t.Type:
    return t.Decimal(precision, scale)


# --- arguments


def asof_join(
    left: Rel,
    right: Rel,
    on: Any,
    by: Any,
    direction: Any,
    how: Any,
    tolerance: Any,
    order_by: Any,
) -> Rel:
    """Return the relation that an as-of join puts out. Raises as `Relation.asof_join` does."""
    require_choice("direction", direction, DIRECTIONS, "asof-direction")
    require_choice("how", how, HOW, "asof-join-type")
    with error_context(place="on"):
        left_time, right_time, is_common = _pair(on, left, right, "on")
        time = left.schema.fields[left_time].type
        _require_time(left.schema.names[left_time], time)
        if direction == "nearest" or tolerance is not None:
            _require_measurable(time)
    pairs: list[tuple[int, int]] = []
    once = {right_time} if is_common else set()
    with error_context(place="by"):
        for each in _keys(by):
            one, other, is_common = _pair(each, left, right, "by")
            if (one, other) in pairs or one == left_time:
                raise InvalidArgumentError(f'the column "{left.schema.names[one]}" stands twice')
            pairs.append((one, other))
            once |= {other} if is_common else set()
    _require_tolerance(tolerance, time)
    payload = [position for position in range(len(right.schema)) if position not in once]
    return AsofJoin(
        left, right, (left_time, right_time), pairs, payload, direction, how, tolerance, _ties(order_by, right)
    ).build()


def _ties(order_by: Any, right: Rel) -> Sequence[ex.SortKey]:
    """Return the sort keys of right rows of the same time."""
    if order_by is None:
        return ()
    with error_context(place="order_by"):
        scope = Scope("asof_join", (right,))
        keys = column_arguments.sort_keys(order_by if column_arguments.is_list(order_by) else [order_by], scope)
        if scope.anchor is not None:
            raise InvalidArgumentError(
                "a key takes no correlated subquery", hint="compute it before: with_columns(...)"
            )
        if any(key.direction == "clustered" for key in keys):
            raise InvalidArgumentError("clustered says of no row that it is before another", hint='write asc("x")')
        return keys


def _keys(by: Any) -> Sequence[Any]:
    if isinstance(by, str):
        return [by]
    if not column_arguments.is_list(by):
        raise InvalidArgumentError("expected names, or pairs of a name of each side, in a list", got=by, hint=_KEYS)
    return list(by)


_KEYS = 'write by="k", by=["k", "j"], or by=[("left", "right")]'


def _pair(columns: Any, left: Rel, right: Rel, argument: str) -> tuple[int, int, bool]:
    """Return the positions of a column on both sides, and whether it has one name. Raises if the types differ."""
    match columns:
        case str():
            left_name, right_name = columns, columns
        case (str() as left_name, str() as right_name):
            pass
        case _:
            hint = _KEYS if argument == "by" else 'write on="time", or on=("left", "right")'
            raise InvalidArgumentError(
                "expected a name that both sides have, or a name of each", got=columns, hint=hint
            )
    is_common = isinstance(columns, str)
    try:
        one = column_arguments.key_position("left", left, left_name, right if is_common else None)
        other = column_arguments.key_position("right", right, right_name, left if is_common else None)
    except UnknownFieldError as error:
        if error.hint in (None, column_arguments.NAMES_DIFFER):
            pair = '("left", "right")'
            error.hint = (
                f"columns of different names are a pair: {argument}={f'[{pair}]' if argument == 'by' else pair}"
            )
        raise
    types = left.schema.fields[one].type, right.schema.fields[other].type
    if not types[0].matches(types[1]):
        from substrait_dsl.fluent.operand_hints import key_hint

        what = f'"{left_name}"' if left_name == right_name else f'"{left_name}" and "{right_name}"'
        raise TypeMismatchError(
            f"{what}: the left side has {types[0].as_required()}, the right one {types[1].as_required()}",
            names=[left_name, right_name],
            hint=key_hint((left_name, right_name), types),
        )
    return one, other, is_common


def _require_time(name: str, type_: t.Type) -> None:
    """Raise `TypeMismatchError` for a column that is no time."""
    if not isinstance(type_, (*_INTEGERS, *_FLOATS, t.Decimal, t.Date, *_TIMESTAMPS)):
        raise TypeMismatchError(
            f'rows are near by a number, a date or a timestamp; "{name}" is {type_.as_required()}',
            names=[name],
            hint="columns that are equal stand in by=",
        )


def _require_measurable(type_: t.Type) -> None:
    """Raise `TypeMismatchError` for a time whose differences are not exact."""
    digits = type_.precision if isinstance(type_, _TIMESTAMPS) else 0
    if digits > _MAX_DIGITS:
        raise TypeMismatchError(
            f"distances of timestamps are measured in microseconds, this is {type_.as_required()}",
            hint="cast both sides to a precision of at most 6, or take the nearest before or after without tolerance",
        )
    if isinstance(type_, t.Decimal) and type_.precision == _MAX_DECIMALS:
        raise TypeMismatchError(
            f"distances of decimals have a digit more, but {type_.as_required()} has the most that there are",
            hint=f'cast both sides to "decimal<{_MAX_DECIMALS - 1},{type_.scale}>"',
        )


def _require_tolerance(tolerance: Any, type_: t.Type) -> None:
    """Raise unless a tolerance is a span of times of this type, and not negative."""
    if tolerance is None:
        return
    spans = isinstance(type_, (t.Date, *_TIMESTAMPS))
    if spans:
        fits, wanted = isinstance(tolerance, dt.timedelta), "datetime.timedelta(...)"
    elif isinstance(type_, _FLOATS):
        fits, wanted = type(tolerance) in (int, float), "a float"
    elif isinstance(type_, t.Decimal):
        fits, wanted = type(tolerance) in (int, decimal.Decimal), "a Decimal or an int"
    else:
        fits, wanted = type(tolerance) is int, "an int"
    if not fits:
        raise TypeMismatchError(
            f"the tolerance of {type_.as_required()} is {wanted}",
            got=tolerance,
            hint=f"write tolerance={_EXAMPLES[wanted]}",
        )
    zero = dt.timedelta() if spans else 0
    if not tolerance >= zero:  # a NaN is none either
        raise InvalidArgumentError("a tolerance is not negative", got=tolerance)


_EXAMPLES = {
    "datetime.timedelta(...)": "datetime.timedelta(hours=1)",
    "a float": "0.5",
    "a Decimal or an int": 'Decimal("0.5")',
    "an int": "5",
}
"""A tolerance of each sort, for hints."""
