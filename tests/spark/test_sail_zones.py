"""Clocks on Sail: time zones in columns, hours that clocks show twice or never, times after 2099, and times of day."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.errors import ExecutionError
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POINT, LOCAL = "precision_timestamp_tz<6>", "precision_timestamp<6>"
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC")
LATE = "Sail does not know when clocks are set after 2099"


def around_changes() -> list[dt.datetime]:
    """Local times of 2021, of which some zone shows each twice, or never, or an hour before or after that."""
    days = [dt.datetime(2021, *day) for day in ((3, 14), (3, 28), (4, 4), (10, 3), (10, 31), (11, 7))]
    return [day + dt.timedelta(minutes=15 * step) for day in days for step in range(16)]


def shown(moment: dt.datetime, zone: str) -> dt.datetime:
    return moment.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def moment_of(local: dt.datetime, zone: str) -> dt.datetime:
    """The first of two moments; of a time that is never shown, the one by the clock before."""
    return local.replace(tzinfo=ZoneInfo(zone)).astimezone(dt.UTC)


def column(relation: Any, session: SparkSession) -> list[Any]:
    return list(relation.to_arrow(session).column("x").to_pylist())


def test_names_of_zones_in_a_column_and_hours_that_are_shown_twice(sail: SparkSession) -> None:
    times = [(zone, local) for zone in ZONES for local in around_changes()]
    rows: Any = sd.read_virtual(
        [(zone, local, local.replace(tzinfo=dt.UTC)) for zone, local in times],
        {"zone": "string", "local": LOCAL, "at": POINT},
    )
    of_column = rows.select(
        a=lambda r: f.local_timestamp(r.at, r.zone), b=lambda r: f.assume_timezone(r.local, r.zone)
    ).to_arrow(sail)
    assert of_column.column("a").to_pylist() == [shown(local, zone) for zone, local in times]
    assert of_column.column("b").to_pylist() == [moment_of(local, zone) for zone, local in times]
    for zone in ZONES[:3]:
        here = rows.filter(lambda r, zone=zone: r.zone == zone)
        found = column(here.select(x=lambda r, zone=zone: f.assume_timezone(r.local, zone)), sail)
        assert sorted(found) == sorted(moment_of(local, zone) for local in around_changes())


@pytest.mark.parametrize("name", ["GMT+1", "GMT+", "GMT-00:00", "BST", "+05:30"])
def test_names_in_a_column_that_the_database_has_not(name: str, sail: SparkSession) -> None:
    rows: Any = sd.read_virtual([(dt.datetime(2021, 1, 1, tzinfo=dt.UTC), name)], {"at": POINT, "zone": "string"})
    with refused(ExecutionError, f"{name} is no time zone of the IANA database"):
        rows.select(x=lambda r: f.local_timestamp(r.at, r.zone)).collect(sail)


def test_a_name_in_a_column_that_looks_like_one_of_these(sail: SparkSession) -> None:
    noon = dt.datetime(2021, 1, 1, 12, tzinfo=dt.UTC)
    rows: Any = sd.read_virtual([(noon, "GMT+0"), (noon, "GMT")], {"at": POINT, "zone": "string"})
    assert column(rows.select(x=lambda r: f.extract("HOUR", r.at, r.zone)), sail) == [12, 12]


CALLS: dict[str, Any] = {
    "local_timestamp": lambda r, zone: f.local_timestamp(r.at, zone),
    "assume_timezone": lambda r, zone: f.assume_timezone(r.local, zone),
    "assume_timezone of a day": lambda r, zone: f.assume_timezone(r.local.cast(sd.Date), zone, 6),
    "extract": lambda r, zone: f.extract("HOUR", r.at, zone),
    "extract_boolean": lambda r, zone: f.extract_boolean("IS_LEAP_YEAR", r.at, zone),
    "add": lambda r, zone: f.add(r.at, sd.YearMonths(0, 1), zone),
    "subtract": lambda r, zone: f.subtract(r.at, sd.YearMonths(1, 0), zone),
}


def at(moment: dt.datetime) -> Any:
    return sd.read_virtual(
        [(moment, moment.replace(tzinfo=None), "Europe/Berlin", None)],
        {"at": POINT, "local": LOCAL, "zone": "string", "none": "string?"},
    )


@pytest.mark.parametrize("call", CALLS)
def test_times_after_2099_fail_where_clocks_are_set(call: str, sail: SparkSession) -> None:
    late, last = (dt.datetime(*day, 12, tzinfo=dt.UTC) for day in ((2100, 7, 1), (2099, 7, 1)))
    for zone in (lambda r: "Europe/Berlin", lambda r: r.zone):
        with refused(ExecutionError, LATE):
            at(late).select(x=lambda r, zone=zone: CALLS[call](r, zone(r))).collect(sail)
        at(last).select(x=lambda r, zone=zone: CALLS[call](r, zone(r))).collect(sail)
    for zone in (lambda r: "Asia/Kolkata", lambda r: "UTC"):  # where nobody sets them
        at(late).select(x=lambda r, zone=zone: CALLS[call](r, zone(r))).collect(sail)
    assert column(at(late).select(x=lambda r: CALLS[call](r, r.none)), sail) == [None]


def test_times_after_2099_where_clocks_are_not_set(sail: SparkSession) -> None:
    late = dt.datetime(9998, 7, 1, 12, tzinfo=dt.UTC)
    found = column(at(late).select(x=lambda r: f.local_timestamp(r.at, "Asia/Kolkata")), sail)
    assert found == [dt.datetime(9998, 7, 1, 17, 30)]
    seconds = column(at(late).select(x=lambda r: f.extract("UNIX_TIME", r.at, "Europe/Berlin")), sail)
    assert seconds == [int(late.timestamp())]


def test_months_that_lead_beyond_2099(sail: SparkSession) -> None:
    before = dt.datetime(2099, 12, 15, 12, tzinfo=dt.UTC)
    with refused(ExecutionError, LATE):
        at(before).select(x=lambda r: f.add(r.at, sd.YearMonths(0, 7), "Europe/Berlin")).collect(sail)
    found = column(at(before).select(x=lambda r: f.subtract(r.at, sd.YearMonths(0, 5), "Europe/Berlin")), sail)
    assert found == [dt.datetime(2099, 7, 15, 11, tzinfo=dt.UTC)]  # 13:00 in winter, and in summer


@pytest.mark.parametrize("digits", [0, 3, 6])
def test_times_of_day_are_values_of_python(digits: int, sail: SparkSession, tmp_path: Path) -> None:
    """Also inside of others, beside another column of their name, and of a table and a file."""
    noon = dt.time(12, 0, 1)
    kind = f"precision_time<{digits}>"
    rows: Any = sd.read_virtual(
        [(noon, [noon], 1), (None, None, 2)], {"a": f"{kind}?", "b": f"list<{kind}>?", "e": "i64"}
    )
    inside = rows.select("e", s=lambda r: sd.struct_of(p=r.a), m=lambda r: sd.map_of({"k": r.a}))
    assert sorted(map(tuple, inside.collect(sail))) == [(1, (noon,), {"k": noon}), (2, (None,), {"k": None})]
    beside = rows.cross(rows.select("a")).filter(lambda r: r.e == 1).collect(sail)
    assert sorted(map(tuple, beside), key=str) == [(noon, [noon], 1, None), (noon, [noon], 1, noon)]
    table = pa.table({"a": pa.array([noon], {0: pa.time32("s"), 3: pa.time32("ms"), 6: pa.time64("us")}[digits])})
    read: Any = sd.read_named("t", {"a": f"{kind}?"})
    assert list(map(tuple, read.collect(sail, tables={"t": table}))) == [(noon,)]
    path = tmp_path / "times.parquet"
    pq.write_table(table, path)
    shown = f"precision_time<{max(digits, 3)}>?"  # Parquet has no seconds
    assert list(map(tuple, sd.read_files(path, {"a": shown}).collect(sail))) == [(noon,)]
