"""Time zones: clocks that are set back, and names that are none."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.spark.rows import collected, values
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("compiled")

BERLIN = ZoneInfo("Europe/Berlin")
POINT = "precision_timestamp_tz<6>"


def later(moment: dt.datetime, months: int) -> dt.datetime:
    """By a clock in Berlin, which keeps its distance from UTC where it shows a time twice, and skips what it skips."""
    local = moment.astimezone(BERLIN)
    years, month = divmod(local.year * 12 + local.month - 1 + months, 12)
    last = ((dt.date(years, month + 1, 1) + dt.timedelta(days=31)).replace(day=1) - dt.timedelta(days=1)).day
    shown = local.replace(tzinfo=None, year=years, month=month + 1, day=min(local.day, last))
    first, second = (shown.replace(tzinfo=BERLIN, fold=fold).astimezone(dt.UTC) for fold in (0, 1))
    is_shown = first.astimezone(BERLIN).replace(tzinfo=None) == shown
    return second if is_shown and shown - second.replace(tzinfo=None) == local.utcoffset() else first


def test_months_later_where_clocks_are_set(spark: SparkSession) -> None:
    days = [dt.datetime(2021, month, day, tzinfo=dt.UTC) for month, day in ((3, 27), (8, 31), (10, 30), (10, 31))]
    moments = [day + dt.timedelta(minutes=30 * step) for day in days for step in range(48)]
    rows: Any = values({"at": POINT}, *((moment,) for moment in moments))
    for months in (0, 1, 2, 12, -7):
        span = sd.YearMonths(0, months)
        found = collected(
            rows.select(
                "at",
                added=lambda r, span=span: f.add(r.at, span, "Europe/Berlin"),
                subtracted=lambda r, months=months: f.subtract(r.at, sd.YearMonths(0, -months), "Europe/Berlin"),
            ),
            spark,
        )
        wanted = {moment.replace(tzinfo=None): later(moment, months).replace(tzinfo=None) for moment in moments}
        assert [(at, added) for at, added, _ in found if wanted[at] != added] == []
        assert all(added == subtracted for _, added, subtracted in found)


@pytest.mark.parametrize("name", ["BST", "PST", "IST", "Z", "UT", "+05:30", "-8", "GMT+1", "UTC+01:00"])
def test_names_that_the_database_has_not(name: str, spark: SparkSession) -> None:
    """To Spark BST is a time of Bangladesh."""
    rows: Any = values({"at": POINT, "zone": "string"}, (dt.datetime(2021, 1, 1, tzinfo=dt.UTC), name))
    with refused(UnsupportedError, "execute", f"'{name}' is no time zone of the IANA database"):
        rows.select(x=lambda r: f.local_timestamp(r.at, name)).execute(spark)
    with refused(ExecutionError, "collect", f"{name} is no time zone of the IANA database"):
        rows.select(x=lambda r: f.extract("HOUR", r.at, r.zone)).collect(spark)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("UTC+1", "UTC+1 is no time zone of the IANA database"),
        ("SystemV/EST5", "SystemV/EST5 is no time zone of the IANA database"),
        ("Mars/Phobos", "'Mars/Phobos' is no time zone of the IANA database that Java has"),
    ],
)
def test_a_name_in_a_column_that_is_none(name: str, said: str, spark: SparkSession) -> None:
    rows: Any = values({"at": POINT, "zone": "string"}, (dt.datetime(2021, 1, 1, tzinfo=dt.UTC), name))
    with refused(ExecutionError, f"collect: {said} in local_timestamp(at, zone) (step: project -> x: "):
        rows.select(x=lambda r: f.local_timestamp(r.at, r.zone)).collect(spark)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Europe/Berln", 'did you mean "Europe/Berlin"?'),
        ("europe/berlin", 'did you mean "Europe/Berlin"?'),
        ("Mars/Phobos", 'write the name of one, as "Europe/Berlin"'),
        ("", 'write the name of one, as "Europe/Berlin"'),
    ],
)
def test_names_that_nobody_has(name: str, hint: str, spark: SparkSession) -> None:
    rows: Any = values({"at": POINT}, (dt.datetime(2021, 1, 1, tzinfo=dt.UTC),))
    with refused(UnsupportedError, "execute", f"'{name}' is no time zone of the IANA database", hint):
        rows.select(x=lambda r: f.local_timestamp(r.at, name)).execute(spark)


def test_names_that_look_alike_and_are_there(spark: SparkSession) -> None:
    zones = {"UTC": 12, "GMT": 12, "GMT+0": 12, "Etc/GMT+5": 7, "EST": 7, "Asia/Kolkata": 17}
    rows: Any = values({"zone": "string"}, *((name,) for name in zones))
    noon = sd.lit(dt.datetime(2021, 1, 1, 12, tzinfo=dt.UTC))
    found = rows.select("zone", hour=lambda r: f.extract("HOUR", noon, r.zone))
    assert dict(collected(found, spark)) == zones
