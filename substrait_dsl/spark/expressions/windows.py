"""Window functions as Spark SQL text: a call, OVER partitions, an order and a frame.

Specification: https://substrait.io/expressions/window_functions/. A frame is always written out, for Spark's default
is not the specification's (spec decision 32). Functions that look at the whole partition, whatever the frame, get none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Bound, Expression, Literal, SortKey, WindowCall
from substrait_dsl.algebra.expressions.intervals import DaySeconds, YearMonths
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.aggregates import AGGREGATE_FUNCTIONS, grouping_keys
from substrait_dsl.spark.expressions.bound_aggregates import bound_window
from substrait_dsl.spark.expressions.grouping_keys import as_key
from substrait_dsl.spark.expressions.signed_zeros import sort_key
from substrait_dsl.spark.expressions.sorting import ORDERINGS, direction_of
from substrait_dsl.spark.expressions.templates import Table, Template, lower, require_comparable
from substrait_dsl.spark.expressions.types import holds, spark_sql_type
from substrait_dsl.spark.session.engines import ENGINE, current_engine

MAX_ROWS = 2**31 - 1
"""The greatest distance between rows in Spark; a row further away does not exist."""

_OFFSET = Template("{name}({args:, }){over}", literal_arguments=(1,))

WINDOW_FUNCTIONS: Mapping[str, Table] = {
    # {over} is a window without a frame, which has some order; {frame} is one with the frame of the call.
    "functions_arithmetic": {
        "row_number": Template("CAST(row_number(){over} AS BIGINT)"),
        "rank": Template("CAST(rank(){over} AS BIGINT)"),
        "dense_rank": Template("CAST(dense_rank(){over} AS BIGINT)"),
        "percent_rank": Template("percent_rank(){over}"),
        "cume_dist": Template("cume_dist(){over}"),
        "ntile": Template(
            f"CAST(ntile(CAST(least({{0}}, {MAX_ROWS}) AS INT)){{over}} AS {{T}})", literal_arguments=(0,)
        ),
        "first_value": Template("first_value({0}){frame}"),
        "last_value": Template("last_value({0}){frame}"),
        "nth_value": Template("nth_value({0}, {1}){frame}", {"on_domain_error": {"ERROR": ""}}, literal_arguments=(1,)),
        "lead": _OFFSET,
        "lag": _OFFSET,
    }
}
"""The window functions of each extension, by what follows ``extension:io.substrait:`` in its URN."""

UNFRAMED_FUNCTIONS = frozenset({"median"})
"""The aggregate functions that Spark computes over whole partitions only: it accepts neither an order nor a frame."""

_SUM = (
    "CAST(aggregate(collect_set({0}){filter}, CAST(NULL AS DECIMAL(38,0)), (a, v) -> "
    "CAST(coalesce(a + v, v) AS DECIMAL(38,0))) AS {T})"
)

_COUNTS: Table = {
    # To Sail the set of no values is NULL.
    "count": Template("CAST(coalesce(size(collect_set({0}){filter}), 0) AS {T})"),
    # To a set of Spark 4.1 NaN may be another value than NaN; their texts are the same.
    "count:fp": Template("CAST(coalesce(size(collect_set(CAST({0} AS STRING)){filter}), 0) AS {T})"),
}

_FLOATS = (t.FP32, t.FP64)

DISTINCT_FUNCTIONS: Mapping[str, Table] = {
    "functions_aggregate_decimal_output": _COUNTS,
    "functions_aggregate_generic": _COUNTS,
    "functions_arithmetic": {"sum:int": Template(_SUM), "sum0:int": Template(f"coalesce({_SUM}, 0L)")},
}
"""Aggregates over the distinct values of a frame: Spark has no DISTINCT there, but sets."""


def window_to_sql(
    call: WindowCall, partitions: Sequence[Expression], sorts: Sequence[SortKey], sql: Callable[[Expression], str]
) -> str:
    """Write a window function, or an aggregate function over a frame.

    Args:
        call: the call, with its frame.
        partitions: the partition keys.
        sorts: the sort keys within a partition.
        sql: writes an expression in them.

    Returns:
        SQL text of the derived Spark type.

    Raises:
        UnsupportedError: Spark cannot compute the function, over this frame, exactly.
    """
    name = call.function.name
    if call.phase != "initial_to_result":
        raise UnsupportedError(f"{ENGINE} computes {name} as a whole, it cannot run the phase {call.phase} alone")
    for expression in (*partitions, *(key.expression for key in sorts)):
        require_comparable(expression.type, "a window")
    engine = current_engine()
    texts = [
        sql(value) if isinstance(value, Literal) else engine.operand(sql(value))
        for value in call.arguments
        if isinstance(value, Expression)
    ]
    by = ", ".join(engine.operand(as_key(sql(expression), expression.type)) for expression in partitions)
    by = f"PARTITION BY {by} " if by else ""
    engine.require_frame(call)
    keys = [_sort_key(key, sql) for key in sorts]
    frame = f" OVER ({by}{_frame(call, _ordering(call, sorts), sql)})"
    if name not in WINDOW_FUNCTIONS.get(call.function.extension, {}):
        if (bound := bound_window(call, texts, frame)) is not None:
            return bound
        extra = {"distinct": "", "order": "", "filter": frame}
        return lower(call, grouping_keys(call, texts), _aggregates(call), extra)
    return _window_function_to_sql(call, texts, f" OVER ({by}ORDER BY {', '.join(keys) or 'NULL'})", frame)


def _window_function_to_sql(call: WindowCall, texts: list[str], over: str, frame: str) -> str:
    """Write a window function of Spark, given its window without a frame, and with the frame of the call."""
    name = call.function.name
    if call.invocation == "distinct":
        raise UnsupportedError(f"{ENGINE} cannot run {name} over distinct values")
    number = _number(call)
    if name in ("ntile", "nth_value") and number is not None and number < 1:
        raise UnsupportedError(f"{ENGINE} cannot run {name} of {number}, only from 1 on")
    if number is None:
        if name == "nth_value":
            raise UnsupportedError(f"{ENGINE} cannot run nth_value of NULL, only from 1 on")
        return f"CAST(NULL AS {spark_sql_type(call.output_type)})"
    if len(texts) > 1 and name != "ntile":
        texts[1] = str(number)  # a negative literal may be a cast, which is none to every engine
    if number < -MAX_ROWS:
        texts[1] = str(-MAX_ROWS)  # which is too far for any row, too, and whose sign Spark can turn round
    return lower(call, texts, WINDOW_FUNCTIONS, {"name": name, "over": over, "frame": frame})


def _ordering(call: WindowCall, sorts: Sequence[SortKey]) -> Sequence[SortKey]:
    """Return the sort keys of a window; a function over whole partitions has none.

    Raises `UnsupportedError` for such a function over a part of a partition.
    """
    if call.function.name not in UNFRAMED_FUNCTIONS:
        return sorts
    far = MAX_ROWS if call.bounds_type == "rows" else inf
    reaches_all = _place(call.lower, -inf) <= -far and _place(call.upper, inf) >= far
    if not reaches_all and (call.bounds_type == "rows" or sorts):  # in a range without an order, all rows are peers
        raise UnsupportedError(
            f"{ENGINE} computes {call.function.name} over whole partitions only, this window has a frame",
            hint="over(rows=(None, None)) is the whole partition, whatever the order",
        )
    return ()


def _number(call: WindowCall) -> int | None:
    """Return the literal number of rows or buckets of a call; 1 if it has no such argument."""
    values = call.arguments[:1] if call.function.name == "ntile" else call.arguments[1:2]
    value = values[0] if values else None
    return value.value if isinstance(value, Literal) else 1


def _aggregates(call: WindowCall) -> Mapping[str, Table]:
    """Return the table of the aggregate function that is called."""
    if call.invocation != "distinct":
        return AGGREGATE_FUNCTIONS
    urn, name = call.function.extension, call.function.name
    native = AGGREGATE_FUNCTIONS.get(urn, {})
    repetitions_count = any("{distinct}" in str(native[key].text) for key in native if key.partition(":")[0] == name)
    # A set of Spark 4.1 has NaN more than once.
    has_floats = any(
        holds(argument.type, _FLOATS) and not (name == "count" and isinstance(argument.type, _FLOATS))
        for argument in call.arguments
        if isinstance(argument, Expression)
    )
    if not repetitions_count:
        return AGGREGATE_FUNCTIONS
    if has_floats or not any(key.partition(":")[0] == name for key in DISTINCT_FUNCTIONS.get(urn, {})):
        raise UnsupportedError(f"{ENGINE} cannot run {name} over the distinct values of a window exactly")
    return DISTINCT_FUNCTIONS


def _frame(call: WindowCall, sorts: Sequence[SortKey], sql: Callable[[Expression], str]) -> str:
    """The order and the frame of a window."""
    first, last = _place(call.lower, -inf), _place(call.upper, inf)
    keys = [_sort_key(key, sql) for key in sorts]
    if call.bounds_type == "range" and not sorts:
        first, last = -inf, inf  # all rows are peers
    is_empty = first > last or (call.bounds_type == "rows" and first >= MAX_ROWS)
    if is_empty:  # Spark refuses a frame that is obviously empty
        return f"{_order(keys)}ROWS BETWEEN UNBOUNDED PRECEDING AND {MAX_ROWS} PRECEDING"
    if call.bounds_type == "rows" or (first, last) == (-inf, inf):
        bounds = f"{_row(first, 'PRECEDING')} AND {_row(last, 'FOLLOWING')}"
        return f"{_order(keys)}ROWS BETWEEN {bounds}"
    if call.lower.offset is not None or call.upper.offset is not None:
        key_type, keys = _widen_key(call, sorts[0], sql)
    else:
        key_type = None
    bounds = f"{_value(call.lower, 'PRECEDING', key_type, sql)} AND {_value(call.upper, 'FOLLOWING', key_type, sql)}"
    return f"{_order(keys)}RANGE BETWEEN {bounds}"


def _sort_key(key: SortKey, sql: Callable[[Expression], str]) -> str:
    text = sort_key(sql(key.expression), key.expression.type)
    return f"{current_engine().operand(text)} {ORDERINGS[direction_of(key)]}"


def _order(keys: Sequence[str]) -> str:
    return f"ORDER BY {', '.join(keys)} " if keys else ""


def _place(bound: Bound, end: float) -> float | Fraction:
    """Return the distance of a bound from the current row, in rows or units of the sort key."""
    match bound.kind:
        case "unbounded":
            return end
        case "current_row":
            return 0
        case direction:
            if not isinstance(bound.offset, Literal):
                raise UnsupportedError(
                    f"{ENGINE} takes the offset of a frame only as a literal, this bound {direction} depends on more",
                    hint="bind its parameters, or compute the frame with a join",
                )
            amount = _amount(bound.offset)
            return -amount if direction == "preceding" else amount


def _amount(offset: Literal) -> Fraction:
    match offset.value, offset.type:
        case YearMonths(years, months), _:
            return Fraction(12 * years + months)
        case DaySeconds(days, seconds, subseconds), t.IntervalDay(precision=digits):
            return 86_400 * days + seconds + Fraction(subseconds, 10**digits)
        case number, type_ if isinstance(type_, (*t.INTEGER_RANGES, t.FP32, t.FP64, t.Decimal)) and isfinite(number):
            return Fraction(number)
        case _:
            raise UnsupportedError(f"{ENGINE} cannot take {offset} as the offset of a frame")


def _row(place: float | Fraction, end: str) -> str:
    """Write a bound in rows; `end` is the direction of an unbounded one."""
    if place == 0:
        return "CURRENT ROW"
    if place <= -MAX_ROWS or place >= MAX_ROWS:
        is_end = (place < 0) is (end == "PRECEDING")
        return f"UNBOUNDED {end}" if is_end else f"{MAX_ROWS} {'PRECEDING' if place < 0 else 'FOLLOWING'}"
    return f"{abs(place)} {'PRECEDING' if place < 0 else 'FOLLOWING'}"


def _widen_key(call: WindowCall, key: SortKey, sql: Callable[[Expression], str]) -> tuple[str | None, list[str]]:
    """Return the type in which the sort key is compared with its sums with an offset, and the key in it.

    In this type no sum overflows: Spark would raise an error, or wrap around.
    """
    offsets = [bound.offset.type for bound in (call.lower, call.upper) if bound.offset is not None]
    match key.expression.type:
        case t.I8() | t.I16() | t.I32():
            wide: str | None = "BIGINT"
        case t.I64():
            wide = "DECIMAL(20,0)"
        case t.Decimal() as own:
            decimals = [own, *(each for each in offsets if isinstance(each, t.Decimal))]
            scale = max(int(each.scale) for each in decimals)
            digits = scale + max(int(each.precision) - int(each.scale) for each in decimals)
            if digits >= 38:  # a sum of two of these has less digits after the point
                spans = "".join(f", {each} away" for each in decimals[1:])
                fits = digits == own.precision > scale
                raise UnsupportedError(
                    f"{ENGINE} cannot compute a range over {own}{spans}, exactly",
                    hint=f"cast the sort key to {attrs.evolve(own, precision=37)}" if fits else None,
                )
            _require_sign_change(call)
            wide = f"DECIMAL({digits},{scale})"
        case _:
            wide = None
    text = sort_key(sql(key.expression), key.expression.type)
    return wide, [f"{f'CAST({text} AS {wide})' if wide else text} {ORDERINGS[direction_of(key)]}"]


MAX_SIGN_CHANGED = 34
"""The most digits of a decimal that survive a change of sign in Spark."""


def _require_sign_change(call: WindowCall) -> None:
    """Raise `UnsupportedError` for an offset that changes with its sign."""
    for bound in (call.lower, call.upper):
        if isinstance(bound.offset, Literal) and isinstance(bound.offset.value, Decimal):
            digits = "".join(map(str, bound.offset.value.as_tuple().digits)).strip("0")
            if len(digits) > MAX_SIGN_CHANGED:
                value = bound.offset.value
                raise UnsupportedError(
                    f"{ENGINE} takes {MAX_SIGN_CHANGED} digits of the offset of a frame, {value} has {len(digits)}"
                )


def _value(bound: Bound, end: str, key_type: str | None, sql: Callable[[Expression], str]) -> str:
    """Write a bound in units of the sort key."""
    match bound.kind:
        case "unbounded":
            return f"UNBOUNDED {end}"
        case "current_row":
            return "CURRENT ROW"
        case direction:
            assert bound.offset is not None
            text = sql(bound.offset)
            return f"{f'CAST({text} AS {key_type})' if key_type else text} {direction.upper()}"
