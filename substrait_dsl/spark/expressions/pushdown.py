"""Comparisons and conditions that Spark has to make itself.

Of a comparison with a constant Spark gives a copy to what reads files, which passes over what the statistics of a file
rule out; a table such as Iceberg's it leaves some conditions to altogether. Some constants they are wrong about:

- floats: a file tells its least and greatest values without NaN, which is above them to Spark, and may tell 0.0 from
  -0.0;
- days before 1582-10-15, as the calendars of then and of today are taken for each other on the way;
- points in time that are no whole milliseconds, which are cut off for a Parquet file of such;
- texts with characters above U+D7FF, whose order to a reader of ORC is that of UTF-16;
- texts that are uuids, which Iceberg takes for such if the column has them: it orders them as signed numbers, and knows
  both spellings;
- decimals of more than 32 bits, of which a Parquet file with fewer digits than its table takes the last 32;
- the least integers, which Iceberg cannot cut off to a multiple for a table that is partitioned so.

A constant may be known when the plan is written, or only when it runs, as that of a subquery. And to Iceberg a value
that is unknown differs from a constant, which is true of no value of SQL's.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Collection

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    Cast,
    DaySeconds,
    FieldReference,
    InPredicate,
    Literal,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    YearMonths,
)
from substrait_dsl.algebra.node import Expression, walk
from substrait_dsl.spark.expressions.signed_zeros import sort_key
from substrait_dsl.spark.expressions.types import holds
from substrait_dsl.spark.session.engines import current_engine

_UNSEEN = "transform(array({}), v -> v)[0]"
"""The same value, of which Spark does not see what it is."""

_UNCHANGED: dict[type[t.Type], str] = {
    t.Decimal: _UNSEEN,  # a sum has another type
    t.FP32: "({} + CAST(0 AS FLOAT))",
    t.FP64: "({} + 0D)",
    t.I8: "({} | 0Y)",
    t.I16: "({} | 0S)",
    t.I32: "({} | 0)",
    t.I64: "({} | 0L)",
    t.Date: "date_add({}, 0)",
    t.PrecisionTimestamp: "({} + INTERVAL '0' SECOND)",
    t.PrecisionTimestampTZ: "({} + INTERVAL '0' SECOND)",
    t.String: "concat({}, '')",
    t.VarChar: "concat({}, '')",
    t.FixedChar: "concat({}, '')",
    t.UserDefined: _UNSEEN,
}
"""The same value, so that Spark does not see that it is a column. What is added to a float changes only -0.0."""


_INTEGERS = (t.I8, t.I16, t.I32, t.I64)
"""The types of which a constant that is computed is only wrong if it is NULL, at which a reader of ORC fails."""

_FLOATS = (t.FP32, t.FP64)
"""The types whose comparisons are Spark's own, whatever they are compared with, as are those of what holds them: where
values are equal, Spark puts one in the place of the other, and these may be different zeros."""


def hide_from_readers(
    text: str, value: Expression, others: Collection[Expression], *, ordered: bool = False, listed: bool = False
) -> str:
    """A value that is compared with others, as text of SQL: kept from readers of files where they would be wrong.

    If it is `ordered`, it is asked which comes first, and not only whether they are equal. If the others are `listed`,
    a column among them may become NULL, in a plan that leaves its rows out, and Spark keeps it in the list.
    """
    if isinstance(value, Literal):
        return sort_key(text, value.type)
    is_fatal = listed and isinstance(value.type, _INTEGERS) and any(map(_may_become_null, others))
    return opaque_sql(text) if is_fatal else hide_column_from_readers(text, value.type, others, ordered=ordered)


def hide_column_from_readers(text: str, type_: t.Type, others: Collection[Expression], *, ordered: bool = False) -> str:
    """A column of a type that is compared with values, as text of SQL."""
    if holds(type_, _FLOATS):
        if (key := sort_key(text, type_)) != text:
            return key
        return _UNCHANGED.get(type(type_), _UNSEEN).format(text)
    is_kept = any(_is_misread(other, ordered=ordered) for other in others)
    return _UNCHANGED.get(type(type_), "{}").format(text) if is_kept else text


def _may_become_null(option: Expression) -> bool:
    return option.type.nullable and not isinstance(option, Literal)


def opaque_sql(text: str) -> str:
    """The same value, of which Spark does not see that it is a column: no reader is asked for it."""
    return _UNSEEN.format(text)


def column_sql(text: str, value: Expression) -> str:
    """A value that becomes a column, as text of SQL: Spark puts constants in the place of such columns.

    So a column that is compared with this one would be compared with the constant. That what comes out of a list is
    constant, Spark does not see.
    """
    if isinstance(value.type, t.Boolean) and not value.type.nullable:
        return predicate_sql(text, value)
    is_seen = _is_misread(value, ordered=True) and not isinstance(value.type, _FLOATS)
    return _UNSEEN.format(text) if is_seen else text


_NEGATIONS = frozenset(("not", "and_not", "xor", "not_equal", "is_false", "is_not_true", "is_not_false"))
_NULL_SAFE = frozenset(("is_distinct_from", "is_not_distinct_from"))


def predicate_sql(text: str, condition: Expression) -> str:
    """A condition of which only counts where it is true, as text of SQL.

    Where a condition is that two values differ, Spark says beside it that they are not NULL. Where that is only a part
    of one, it does not, and Iceberg takes it for true: such conditions are kept from it. So are columns of truth
    values, in whose place Spark may put what they were computed from.
    """
    nodes = [node for node in walk(condition, into_relations=False) if isinstance(node, Expression)]
    if not current_engine().has_constant_conditions and is_constant_condition(condition):
        return f"coalesce({text}, false)"
    calls = {node.function.name for node in nodes if isinstance(node, ScalarFunction)}
    truths = [node for node in nodes if isinstance(node.type, t.Boolean)]
    if condition.type.nullable:
        is_part = any(node is not condition and node is not _positive(condition) for node in truths)
        has_column = any(isinstance(node, FieldReference) for node in truths)
        is_kept = has_column or (is_part and not calls.isdisjoint(_NEGATIONS | _NULL_SAFE))
        return f"coalesce({text}, false)" if is_kept else text
    # It is never NULL, so Spark would see through a coalesce.
    differs = "is_distinct_from" in calls or ("is_not_distinct_from" in calls and not calls.isdisjoint(_NEGATIONS))
    is_kept = differs and any(isinstance(node, Literal) for node in nodes)
    return _UNSEEN.format(text) if is_kept else text


def is_constant_condition(condition: Expression) -> bool:
    """Whether no row is needed for a condition."""
    of_row = (FieldReference, ScalarSubquery, InPredicate, SetPredicate, SetComparison)
    return not any(isinstance(node, of_row) for node in walk(condition, into_relations=False))


def _positive(condition: Expression) -> Expression:
    """A condition without the ``not`` before it."""
    match condition:
        case ScalarFunction(function=function, arguments=(Expression() as inner,)) if function.name == "not":
            return inner
        case _:
            return condition


def _is_misread(constant: Expression, *, ordered: bool) -> bool:
    """Whether what a comparison is made with is, or may become, a constant that readers of files are wrong about."""
    if _is_near(constant):
        return False
    literals = [node for node in walk(constant, into_relations=False) if isinstance(node, Literal)]
    if isinstance(constant, Literal) or _depends_on_row(constant):
        return not all(_is_read_right(literal.value, literal.type, ordered=ordered) for literal in literals)
    return type(constant.type) in _UNCHANGED and (constant.type.nullable or not isinstance(constant.type, _INTEGERS))


def _depends_on_row(expression: Expression) -> bool:
    return bool(expression.free_anchors) or any(
        isinstance(node, FieldReference) for node in walk(expression, into_relations=False)
    )


_LEAST_KEPT = {t.I32: -(2**31) + 2**24, t.I64: -(2**63) + 2**56}
"""Integers below are cut off to a multiple that no integer is, if it is a multiple of so much."""
_MOST_UNITS = 2**31
"""A decimal is, in Parquet, a number of units of its last digit: from this one on, it may not fit a file's."""
_LAST_LOST = dt.date(1582, 10, 15)
_EPOCH = dt.date(1970, 1, 1)
_DAY = 86_400
_LAST_IN_ORDER = "\ud7ff"
_MILLISECOND = 3
"""How many digits after the second it has."""
_LIKE_A_UUID = re.compile(r"[0-9a-fA-F]+(-[0-9a-fA-F]+){4}")
"""What Java takes for a uuid."""
_SPELLED_LIKE_STORED = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _is_read_right(value: object, type_: t.Type, *, ordered: bool = True) -> bool:
    match value, type_:
        case dt.date(), _:
            return value > _LAST_LOST
        case decimal.Decimal(), t.Decimal():
            return -_MOST_UNITS <= value.scaleb(type_.scale) < _MOST_UNITS
        case int(), t.I32() | t.I64():
            return value >= _LEAST_KEPT[type(type_)]
        case int(), t.PrecisionTimestamp() | t.PrecisionTimestampTZ():
            days = value // 10**type_.precision // _DAY
            is_late = days > (_LAST_LOST - _EPOCH).days
            return is_late and (isinstance(type_, t.PrecisionTimestamp) or _has_milliseconds(value, type_.precision))
        case str(), _ if _LIKE_A_UUID.fullmatch(value):
            return not ordered and _SPELLED_LIKE_STORED.fullmatch(value) is not None
        case str(), _:
            return all(character <= _LAST_IN_ORDER for character in value)
        case _:
            return True


def _has_milliseconds(units: int, precision: int) -> bool:
    """Whether so many units of 10**-precision seconds are whole milliseconds."""
    return bool(units % 10 ** max(precision - _MILLISECOND, 0) == 0)


_MOST_STEPS, _STEP_YEARS = 4, 25
_FIRST_NEAR = 1700
"""From this year on, so many steps of so many years do not lead to what is misread."""


def _is_near(constant: Expression, steps: int = _MOST_STEPS) -> bool:
    """Whether a constant is reckoned from a point in time of the last centuries, as is a week before now."""
    match constant:
        case Literal(value=value):
            return _is_near_value(value, constant.type)
        case Cast(input=value, target=t.Date() | t.PrecisionTimestamp() | t.PrecisionTimestampTZ()):
            return _is_near(value, steps)
        case ScalarFunction(function=function, arguments=arguments) if function.name in ("add", "subtract"):
            return steps > 0 and all(isinstance(part, Expression) and _is_near(part, steps - 1) for part in arguments)
        case _:
            return False


def _is_near_value(value: object, type_: t.Type) -> bool:
    match value, type_:
        case DaySeconds(), t.IntervalDay():
            days = abs(value.days) + abs(value.seconds) // _DAY
            return days < _STEP_YEARS * 365 and _has_milliseconds(value.subseconds, type_.precision)
        case YearMonths(), _:
            return abs(value.years) + abs(value.months) // 12 < _STEP_YEARS
        case dt.date(), _:
            return value.year >= _FIRST_NEAR
        case int(), t.PrecisionTimestamp() | t.PrecisionTimestampTZ():
            year = 1970 + value // 10**type_.precision // _DAY // 366
            return year >= _FIRST_NEAR and _is_read_right(value, type_)
        case _:
            return False
