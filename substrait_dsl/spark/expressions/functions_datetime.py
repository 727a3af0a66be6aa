"""The date and time functions that Spark runs exactly.

Specification: ``functions_datetime.yaml``. A timestamp with a time zone is an instant; its local time in a zone is
computed through the session's zone, which `execute` requires to be UTC.

Specification: ``functions_datetime.yaml``. A timestamp with a time zone is a moment; to see it as a clock in some zone
shows it, it goes through the session's zone, which `execute` requires to be UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra.calendar_units import ROUNDINGS, UNITS
from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import record_to_sql
from substrait_dsl.spark.expressions.named_values import template_with_name
from substrait_dsl.spark.expressions.templates import Call, Table, Template
from substrait_dsl.spark.session.engines import ENGINE


def local_clock(zone: str) -> str:
    """The local time in a zone at the instant of the first argument."""
    return f"convert_timezone('UTC', {zone}, CAST({{0}} AS TIMESTAMP_NTZ))"


def _find_instant(local: str, zone: str) -> str:
    """The instant of a local timestamp in a zone."""
    return f"CAST(convert_timezone({zone}, 'UTC', {local}) AS TIMESTAMP_LTZ)"


def _time_components(x: str) -> Mapping[str, str]:
    """The components of a clock time; each is counted since the next larger one (spec decision 56)."""
    second = f"extract(SECOND FROM {x})"
    return {
        "HOUR": f"hour({x})",
        "MINUTE": f"minute({x})",
        "SECOND": f"second({x})",
        "MILLISECOND": f"{second} % 1BD * 1000BD",
        "MICROSECOND": f"{second} % 0.001BD * 1000000BD",
        "SUBSECOND": f"{second} % 1BD * 1000000BD",
    }


def _date_components(x: str) -> Mapping[str, str]:
    """The components of a date; [#1] is the indexing argument, for those that have one."""
    return {
        "YEAR": f"year({x})",
        "ISO_YEAR": f"extract(YEAROFWEEK FROM {x})",
        "QUARTER": f"quarter({x})[#1]",
        "MONTH": f"month({x})[#1]",
        "DAY": f"day({x})[#1]",
        "DAY_OF_YEAR": f"dayofyear({x})[#1]",
        "MONDAY_DAY_OF_WEEK": f"weekday({x}) + 1[#1]",
        "SUNDAY_DAY_OF_WEEK": f"dayofweek({x})[#1]",
        "ISO_WEEK": f"weekofyear({x})[#1]",
    }


def _no_finer(x: str) -> Mapping[str, str]:
    """Spark's types end at microseconds."""
    return {"NANOSECOND": f"if({x} IS NULL, NULL, 0L)", "PICOSECOND": f"if({x} IS NULL, NULL, 0L)"}


_INDEXING = {"ONE": "", "ZERO": " - 1"}
_DAYS = "unix_date(CAST({0} AS DATE)) * 86400L"
_CLOCK = "hour({0}) * 3600L + minute({0}) * 60L + second({0})"


def _extract(*components: Mapping[str, str], zone: int | None = None) -> Template:
    merged = {name: text for some in components for name, text in some.items()}
    return Template("CAST([#0] AS BIGINT)", enums=(merged, _INDEXING), zone=zone)


def _is_leap_year(x: str, zone: int | None = None) -> Template:
    is_leap_year = f"(day(last_day(make_date(year({x}), 2, 1))) = 29)"
    return Template("[#0]", enums=({"IS_LEAP_YEAR": is_leap_year},), zone=zone)


def _add_months_in_zone(sign: str) -> str:
    """Add months to an instant, or subtract them, in the local time of a zone.

    Where the clock is set back an hour, some local times occur twice: the one with the former offset from UTC is meant,
    so that zero months change nothing. A list of one struct names the parts: u is the instant, l its local time, m the
    shifted local time.
    """
    local = local_clock("{2}")
    parts = {"u": "CAST({0} AS TIMESTAMP_NTZ)", "l": local, "m": f"{local} {sign} {{1}}", "z": "{2}"}
    as_before = "v.m - (v.l - v.u)"
    found = f"if(convert_timezone('UTC', v.z, {as_before}) = v.m, {as_before}, convert_timezone(v.z, 'UTC', v.m))"
    return template_with_name(record_to_sql(parts), "v", f"CAST({found} AS TIMESTAMP_LTZ)")


def _shift(sign: str) -> Table:
    """The sum or difference of a timestamp and an interval."""
    plain = Template(f"({{0}} {sign} {{1}})")
    name = "add" if sign == "+" else "subtract"
    return {
        f"{name}:pts": plain,
        f"{name}:date_iyear": plain,
        f"{name}:date_iday": Template(f"(CAST({{0}} AS TIMESTAMP_NTZ) {sign} {{1}})"),
        f"{name}:ptstz_iday": plain,
        # Without a zone there is no month to count, so subtract:ptstz_iyear is not here.
        f"{name}:ptstz_iyear_str": Template(_add_months_in_zone(sign), zone=2),
    }


_LATER = "timestampdiff(SECOND, CAST({0} AS TIMESTAMP_NTZ), " + local_clock("{1}") + ")"


def _truncated(date: str) -> Template:
    """A date or a timestamp truncated to a unit of the calendar; `date` is the text of one, with the unit in ``{}``."""

    def text(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
        multiple = call.arguments[-1]
        key = (choices["#1"], choices["#2"], multiple.value if isinstance(multiple, Literal) else None)
        if key not in UNITS:
            unit, origin, count = key
            raise UnsupportedError(
                f"{ENGINE} cannot run round_calendar to {count or 'a computed number of'} {unit} from {origin} exactly",
                hint="substrait_dsl.everyday.date_trunc writes what it can run",
            )
        unit = UNITS[key]
        return texts[0] if unit == "DAY" and call.output_type.keyword == "date" else date.format(unit, x=texts[0])

    units = {unit: unit for unit, _, _ in ROUNDINGS.values()}
    origins = {origin: origin for _, origin, _ in ROUNDINGS.values()}
    return Template(text, enums=({"FLOOR": ""}, units, origins))


DATETIME: Table = {
    "round_calendar:date": _truncated("trunc({x}, '{}')"),
    "round_calendar:pts": _truncated("CAST(date_trunc('{}', CAST({x} AS TIMESTAMP)) AS TIMESTAMP_NTZ)"),
    "extract:date": _extract(_date_components("{0}"), {"UNIX_TIME": _DAYS}),
    "extract:pt": _extract(_time_components("{0}")),
    "extract:pts": _extract(
        _date_components("{0}"), _time_components("{0}"), _no_finer("{0}"), {"UNIX_TIME": f"({_DAYS} + {_CLOCK})"}
    ),
    "extract:ptstz": _extract(
        _date_components(local_clock("{1}")),
        _time_components(local_clock("{1}")),
        _no_finer(local_clock("{1}")),
        {"UNIX_TIME": "if({1} IS NULL, NULL, unix_seconds({0}))", "TIMEZONE_OFFSET": _LATER},
        zone=1,
    ),
    "extract_boolean:date": _is_leap_year("{0}"),
    "extract_boolean:pts": _is_leap_year("{0}"),
    "extract_boolean:ptstz": _is_leap_year(local_clock("{1}"), zone=1),
    **_shift("+"),
    **_shift("-"),
    "multiply": Template("({1} * {0})"),
    "add_intervals": Template("({0} + {1})"),
    "lt": Template("({0} < {1})"),
    "lte": Template("({0} <= {1})"),
    "gt": Template("({0} > {1})"),
    "gte": Template("({0} >= {1})"),
    "assume_timezone:pts": Template(_find_instant("{0}", "{1}"), zone=1),
    "assume_timezone:date": Template(_find_instant("CAST({0} AS TIMESTAMP_NTZ)", "{1}"), zone=1),
    "local_timestamp": Template(local_clock("{1}"), zone=1),
}
