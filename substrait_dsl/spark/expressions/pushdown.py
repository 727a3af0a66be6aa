"""Hide comparisons and conditions from predicate pushdown where a reader would get them wrong.

Spark pushes a comparison with a constant down to the reader of files, which skips row groups by their statistics; to a
source such as Iceberg it leaves some conditions altogether. Readers are wrong about these constants:

- floats: min/max statistics ignore NaN, which is the greatest value to Spark, and may tell 0.0 from -0.0;
- dates before 1582-10-15: the Julian and the Gregorian calendar are confused on the way;
- timestamps that are no whole milliseconds: they are truncated for a Parquet file of milliseconds;
- strings with characters above U+D7FF: the ORC reader orders them as UTF-16;
- strings that are UUIDs: Iceberg converts them if the column has that type, orders them as signed numbers, and accepts
  both spellings;
- decimals of more than 32 bits: of a Parquet file with fewer digits than its table only the last 32 bits are compared;
- the least integers: Iceberg cannot truncate them for a table that is partitioned by truncation.

A constant may be known when the plan is built, or only at run time, as that of a subquery. Besides, Iceberg takes "NULL
differs from a constant" for true, which in three-valued logic it is not.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Callable, Collection, Iterable, Set

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Expression, walk
from substrait_dsl.spark.expressions.named_values import with_name
from substrait_dsl.spark.expressions.signed_zeros import sort_key
from substrait_dsl.spark.expressions.types import holds
from substrait_dsl.spark.session.engines import current_engine


def opaque_sql(text: str) -> str:
    """Write a value so that Spark's optimizer does not simplify it: it sees no column, and pushes no filter down."""
    return with_name(text, "v", "v")


_UNCHANGED: dict[type[t.Type], Callable[[str], str]] = {
    t.Decimal: opaque_sql,  # a sum has another type
    t.FP32: "({} + CAST(0 AS FLOAT))".format,
    t.FP64: "({} + 0D)".format,
    t.I8: "({} | 0Y)".format,
    t.I16: "({} | 0S)".format,
    t.I32: "({} | 0)".format,
    t.I64: "({} | 0L)".format,
    t.Date: "date_add({}, 0)".format,
    t.PrecisionTimestamp: "({} + INTERVAL '0' SECOND)".format,
    t.PrecisionTimestampTZ: "({} + INTERVAL '0' SECOND)".format,
    t.String: "concat({}, '')".format,
    t.VarChar: "concat({}, '')".format,
    t.FixedChar: "concat({}, '')".format,
    t.UserDefined: opaque_sql,
}
"""The same value, computed, so that Spark does not see a column. Adding zero to a float changes only -0.0."""


_FLOATS = (t.FP32, t.FP64)
"""The types, alone or nested, whose comparisons are never pushed down: where values are equal, Spark substitutes one
for the other, and they may be different zeros."""


def hide_from_readers(
    text: str, value: Expression, others: Collection[Expression], *, ordered: bool = False, listed: bool = False
) -> str:
    """Write a value that is compared with others, hidden from predicate pushdown where readers would be wrong.

    If the comparison is `ordered`, it is one of order, not only of equality. If the others are `listed`, a column among
    them may turn to NULL in a plan whose rows are filtered out, and Spark leaves it in the list.
    """
    if isinstance(value, ex.Literal):
        return sort_key(text, value.type)
    is_fatal = listed and isinstance(value.type, t.INTEGER_TYPES) and any(map(_may_become_null, others))
    return opaque_sql(text) if is_fatal else hide_column_from_readers(text, value.type, others, ordered=ordered)


def hide_column_from_readers(text: str, type_: t.Type, others: Collection[Expression], *, ordered: bool = False) -> str:
    """Write a column of a type that is compared with values, hidden from predicate pushdown where necessary."""
    if holds(type_, _FLOATS):
        if (key := sort_key(text, type_)) != text:
            return key
        return _UNCHANGED.get(type(type_), opaque_sql)(text)
    is_hidden = any(_is_misread(other, ordered=ordered) for other in others)
    return _UNCHANGED.get(type(type_), str)(text) if is_hidden else text


def _may_become_null(option: Expression) -> bool:
    return option.type.nullable and not isinstance(option, ex.Literal)


def column_sql(text: str, value: Expression) -> str:
    """Write a value that becomes a column, hidden from constant propagation where necessary.

    Spark substitutes the constant for such a column, so that another column would be compared with the constant. It
    does not see that an element of a list is constant.
    """
    if isinstance(value.type, t.Boolean) and not value.type.nullable:
        return predicate_sql(text, value)
    is_hidden = _is_misread(value, ordered=True) and not isinstance(value.type, _FLOATS)
    return opaque_sql(text) if is_hidden else text


_NEGATIONS = frozenset(("not", "and_not", "xor", "not_equal", "is_false", "is_not_true", "is_not_false"))
_NULL_SAFE = frozenset(("is_distinct_from", "is_not_distinct_from"))


def predicate_sql(text: str, condition: Expression) -> str:
    """Write a condition that need only be true where the expression is true.

    Where a filter is an inequality, Spark adds that its operands are not NULL. Where the inequality is only a part of
    the filter it does not, and Iceberg takes NULL for true: such conditions are hidden from it. So are boolean columns,
    for which Spark may substitute the expressions that they were computed from.
    """
    nodes = [node for node in walk(condition, into_relations=False) if isinstance(node, Expression)]
    if not current_engine().has_constant_conditions and is_constant_condition(condition):
        return f"coalesce({text}, false)"
    calls = {node.function.name for node in nodes if isinstance(node, ex.ScalarFunction)}
    if condition.type.nullable:
        return f"coalesce({text}, false)" if _may_pass_null(condition, nodes, calls) else text
    # It is never NULL, so Spark would see through a coalesce.
    differs = "is_distinct_from" in calls or ("is_not_distinct_from" in calls and not calls.isdisjoint(_NEGATIONS))
    is_hidden = differs and any(isinstance(node, ex.Literal) for node in nodes)
    return opaque_sql(text) if is_hidden else text


def _may_pass_null(condition: Expression, nodes: Iterable[Expression], calls: Set[str]) -> bool:
    """Whether a condition has a boolean column or a nested inequality, whose NULL a reader may take for true."""
    booleans = [node for node in nodes if isinstance(node.type, t.Boolean)]
    if any(isinstance(node, ex.FieldReference) for node in booleans):
        return True
    is_part = any(node is not condition and node is not _positive(condition) for node in booleans)
    return is_part and not calls.isdisjoint(_NEGATIONS | _NULL_SAFE)


def is_constant_condition(condition: Expression) -> bool:
    """Whether a condition refers to no row."""
    of_row = (ex.FieldReference, ex.ScalarSubquery, ex.InPredicate, ex.SetPredicate, ex.SetComparison)
    return not any(isinstance(node, of_row) for node in walk(condition, into_relations=False))


def _positive(condition: Expression) -> Expression:
    """A condition without the ``not`` before it."""
    match condition:
        case ex.ScalarFunction(function=function, arguments=(Expression() as inner,)) if (
            function.standard_name == "not"
        ):
            return inner
        case _:
            return condition


def _is_misread(constant: Expression, *, ordered: bool) -> bool:
    """Whether an operand of a comparison is, or may fold to, a constant that readers are wrong about."""
    if _is_near(constant):
        return False
    literals = [node for node in walk(constant, into_relations=False) if isinstance(node, ex.Literal)]
    if isinstance(constant, ex.Literal) or _depends_on_row(constant):
        return not all(_is_read_right(literal.value, literal.type, ordered=ordered) for literal in literals)
    return type(constant.type) in _UNCHANGED and (
        constant.type.nullable or not isinstance(constant.type, t.INTEGER_TYPES)
    )


def _depends_on_row(expression: Expression) -> bool:
    return bool(expression.free_anchors) or any(
        isinstance(node, ex.FieldReference) for node in walk(expression, into_relations=False)
    )


_MIN_TRUNCATED = {t.I32: -(2**31) + 2**24, t.I64: -(2**63) + 2**56}
"""The integers below are truncated to a multiple that is out of range."""
_MAX_UNITS = 2**31
"""A decimal in Parquet is a number of units of its last digit: from this one on, it may not fit the type of a file."""
_LAST_LOST = dt.date(1582, 10, 15)
_EPOCH = dt.date(1970, 1, 1)
_DAY = 86_400
_LAST_IN_ORDER = "\ud7ff"
_MILLISECOND = 3
"""The number of digits after the second."""
_LIKE_A_UUID = re.compile(r"[0-9a-fA-F]+(-[0-9a-fA-F]+){4}")
"""The spellings of a UUID that Java accepts."""
_SPELLED_LIKE_STORED = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _is_read_right(value: object, type_: t.Type, *, ordered: bool = True) -> bool:
    match value, type_:
        case dt.date(), _:
            return value > _LAST_LOST
        case decimal.Decimal(), t.Decimal():
            return -_MAX_UNITS <= value.scaleb(type_.scale) < _MAX_UNITS
        case int(), t.I32() | t.I64():
            return value >= _MIN_TRUNCATED[type(type_)]
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
    """Whether a number of units of 10**-precision seconds is a whole number of milliseconds."""
    return bool(units % 10 ** max(precision - _MILLISECOND, 0) == 0)


_MAX_STEPS, _STEP_YEARS = 4, 25
_FIRST_NEAR = 1700
"""From this year on, so many steps of so many years do not lead to a misread date."""


def _is_near(constant: Expression, steps: int = _MAX_STEPS) -> bool:
    """Whether a constant is computed from a date or timestamp of the last centuries, such as a week before now."""
    match constant:
        case ex.Literal(value=value):
            return _is_near_value(value, constant.type)
        case ex.Cast(input=value, target=t.Date() | t.PrecisionTimestamp() | t.PrecisionTimestampTZ()):
            return _is_near(value, steps)
        case ex.ScalarFunction(function=function, arguments=arguments) if function.standard_name in ("add", "subtract"):
            return steps > 0 and all(isinstance(part, Expression) and _is_near(part, steps - 1) for part in arguments)
        case _:
            return False


def _is_near_value(value: object, type_: t.Type) -> bool:
    match value, type_:
        case ex.DaySeconds(), t.IntervalDay():
            days = abs(value.days) + abs(value.seconds) // _DAY
            return days < _STEP_YEARS * 365 and _has_milliseconds(value.subseconds, type_.precision)
        case ex.YearMonths(), _:
            return abs(value.years) + abs(value.months) // 12 < _STEP_YEARS
        case dt.date(), _:
            return value.year >= _FIRST_NEAR
        case int(), t.PrecisionTimestamp() | t.PrecisionTimestampTZ():
            year = 1970 + value // 10**type_.precision // _DAY // 366
            return year >= _FIRST_NEAR and _is_read_right(value, type_)
        case _:
            return False
