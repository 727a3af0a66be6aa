"""Functions of dates and timestamps: their parts, and intervals that are added to them."""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.calendar_units import CLOCK_UNITS, UNITS
from substrait_dsl.sql_output.dialects import Dialect
from substrait_dsl.sql_output.written import Written, cast_tree, fill, has_column

_DATE_PARTS = ("YEAR",)
_TIME_PARTS = ("YEAR", "HOUR", "MINUTE")
_COUNTED_PARTS = ("QUARTER", "MONTH", "DAY", "DAY_OF_YEAR")
"""Parts of which a call says whether they are counted from 1 or from 0."""

_TIMES = (t.Date, t.PrecisionTimestamp)


def write_part(call: ex.ScalarFunction, values: Sequence[Written], dialect: Dialect) -> Written | None:
    """Write a part of a date or a timestamp; None if it is another one."""
    words = [argument.value.upper() for argument in call.arguments if isinstance(argument, ex.EnumArgument)]
    part, type_ = words[0], values[0].type
    known = _DATE_PARTS if isinstance(type_, t.Date) else _TIME_PARTS if isinstance(type_, t.PrecisionTimestamp) else ()
    is_counted = len(words) == 2 and part in _COUNTED_PARTS and isinstance(type_, _TIMES)
    if len(values) != 1 or not (is_counted or (len(words) == 1 and part in known)):
        return None
    text = f"EXTRACT({part.replace('DAY_OF_YEAR', 'DOY')} FROM {{0}})"
    text += " - 1" if words[1:] == ["ZERO"] else ""
    text = text if dialect.name == "duckdb" else f"CAST({text} AS BIGINT)"
    tree = fill(text, [values[0].cast(dialect)], {}, dialect)
    return Written(tree, call.output_type, has_column(tree))  # of a constant NULL DuckDB's is a double


def write_start(call: ex.ScalarFunction, value: Written, dialect: Dialect) -> Written | None:
    """Write ``round_calendar`` as the start of a unit of the calendar; None if it is none."""
    rounding, *units = [each.value for each in call.arguments if isinstance(each, ex.EnumArgument)]
    multiple = call.arguments[-1]
    number = multiple.value if isinstance(multiple, ex.Literal) else None
    unit = UNITS.get((units[0], units[1], number))
    if rounding != "FLOOR":
        return None
    # Spark truncates to units of the clock by the zone of the session.
    if unit is None or not isinstance(value.type, _TIMES) or (unit in CLOCK_UNITS and dialect.name == "spark"):
        return None
    text = f"DATE_TRUNC('{unit}', {{0}})"
    if dialect.name == "spark":  # of a timestamp, date_trunc gives one of the zone of the session
        text = "CAST({0} AS DATE)" if unit == "DAY" else f"TRUNC(CAST({{0}} AS DATE), '{unit}')"
    tree = fill(f"CAST({text} AS {{T}})", [value.cast(dialect)], {"T": dialect.type_text(call.output_type)}, dialect)
    return Written(tree, call.output_type)


def interval_of(call: ex.ScalarFunction) -> str | None:
    """Return the interval that a call adds or subtracts, as SQL; None if there is no constant one."""
    is_shift = call.function.standard_name in ("add", "subtract") and call.function.urn.endswith(":functions_datetime")
    if not is_shift or len(call.arguments) != 2 or not isinstance(call.arguments[1], ex.Literal):
        return None
    first = call.arguments[0]
    if not isinstance(first, ex.Expression) or not isinstance(first.type, _TIMES):
        return None
    match call.arguments[1].value:
        case ex.YearMonths(years, months):
            return f"INTERVAL '{12 * years + months}' MONTH"
        case ex.DaySeconds(days, 0, 0):
            return f"INTERVAL '{days}' DAY"
        case ex.DaySeconds(days, seconds, 0):
            return f"INTERVAL '{86_400 * days + seconds}' SECOND"
        case _:
            return None


def write_shift(call: ex.ScalarFunction, interval: str, value: Written, dialect: Dialect) -> Written:
    """Write a date or a timestamp and an interval that is added or subtracted."""
    tree = value.cast(dialect)
    if isinstance(value.type, t.Date) and not isinstance(call.output_type, t.Date) and dialect.name == "spark":
        tree = cast_tree(tree, call.output_type, dialect)  # days of a date are a date to Spark
    sign = "+" if call.function.name == "add" else "-"
    shifted = fill(f"{{0}} {sign} {interval}", [tree], {}, dialect)
    is_typed = not isinstance(call.output_type, t.Date)
    return Written(shifted if is_typed else cast_tree(shifted, call.output_type, dialect), call.output_type)
