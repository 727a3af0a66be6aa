"""What was consumed: functions from relations to relations, with declared results."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import substrait_dsl as sd
from grid.tables import METER, Meter, Reading, Station, meters, readings, stations
from substrait_dsl import L
from substrait_dsl import functions as f

FIRST_DAY = dt.date(2025, 1, 1)
LOW_VOLTAGE = 207.0
BAD_QUALITIES = ["estimated", "faulty"]


class Daily(sd.Schema):
    """The consumption of a meter on a day."""

    meter_id: sd.I64
    day: sd.Date
    kwh: sd.Nullable[sd.Decimal[L[38], L[3]]]
    readings: sd.I64


class Regional(sd.Schema):
    """The consumption of a region."""

    region: sd.String
    kwh: sd.Nullable[sd.Decimal[L[38], L[3]]]
    meters: sd.I64


class Load(sd.Schema):
    """How loaded a station is."""

    station_id: sd.I32
    load: sd.FP64


def is_good(reading: Reading) -> sd.Expr[sd.Boolean, sd.Null]:
    return reading.quality.is_null() | ~reading.quality.is_in(BAD_QUALITIES)


def usable(rows: sd.Relation[Reading]) -> sd.Relation[Reading]:
    return rows.filter(is_good).filter(lambda r: (r.voltage > LOW_VOLTAGE) & (r.kwh >= 0))


def daily(rows: sd.Relation[Reading]) -> sd.Relation[Daily]:
    with_day = rows.with_columns(day=lambda r: r.read_at.cast(sd.Date))
    totals = with_day.group_by("meter_id", "day").agg(kwh=lambda r: f.sum(r.kwh), readings=f.count())
    return totals.as_(Daily)


def since(rows: sd.Relation[Daily], day: dt.date = FIRST_DAY) -> sd.Relation[Daily]:
    return rows.filter(lambda d: d.day >= day)


def in_regions(days: sd.Relation[Daily], at: sd.Relation[Meter], of: sd.Relation[Station]) -> sd.Relation[Regional]:
    located = days.join(at.select(METER, "station_id").rename(meter_id="m"), on=lambda d, m: d.meter_id == m.m)
    named = located.join(of.rename(station_id="s"), lambda d, s: d.station_id == s.s)
    return (
        named.group_by("region")
        .agg(kwh=lambda r: f.sum(r.kwh), meters=lambda r: f.count(r.meter_id).distinct())
        .sort(sd.desc("kwh"), "region")
        .as_(Regional)
    )


def loads(days: sd.Relation[Daily]) -> sd.Relation[Load]:
    consumed = (
        days.join(meters.rename(meter_id="id"), on=lambda d, m: d.meter_id == m.id)
        .group_by("station_id")
        .agg(kwh=lambda r: f.sum(r.kwh))
        .rename(station_id="station")
    )
    return stations.join(consumed, lambda s, c: s.station_id == c.station, how="left").into(
        lambda r: Load(
            station_id=r.station_id,
            load=f.coalesce(r.kwh.cast(sd.FP64) / r.capacity_kw, 0.0).assert_not_null(),
        )
    )


def peaks(rows: sd.Relation[Reading], count: int = 10) -> sd.Relation[Reading]:
    return rows.sort(sd.desc("kwh", nulls="last"), METER).fetch(count)


def voltage_report(rows: sd.Relation[Reading]) -> sd.Relation:
    grouped = rows.group_by(METER, hour=lambda r: f.extract("HOUR", r.read_at))
    stats = grouped.agg(
        lowest=lambda r: f.min(r.voltage),
        highest=lambda r: f.max(r.voltage),
        mean=lambda r: f.avg(r.voltage),
        faulty=lambda r: f.count().filter(r.quality == "faulty"),
    )
    return stats.filter(lambda s: s.highest - s.lowest > 10.0).sort(METER, "hour")


def compared_with_last_year(this: sd.Relation[Daily], last: sd.Relation[Daily]) -> sd.Relation[Any]:
    before = last.rename(meter_id="m", day="d", kwh="kwh_before").drop("readings")
    return this.join(before, on=lambda t, b: t.meter_id == b.m, how="left").select(
        "meter_id",
        change=lambda r: r.kwh - r.kwh_before,
        grew=lambda r: (
            sd.when(r.kwh_before.is_null()).then("new").when(r.kwh > r.kwh_before).then("yes").otherwise("no")
        ),
    )


def build() -> list[sd.Relation[Any]]:
    days = since(daily(usable(readings)))
    return [
        days,
        in_regions(days, meters, stations),
        loads(days).filter(lambda s: s.load > 0.9),
        peaks(readings, count=5),
        voltage_report(readings),
        compared_with_last_year(days, since(days, dt.date(2024, 1, 1))),
        days.filter(lambda d: d.kwh > Decimal("12.5")).select("meter_id", "kwh"),
    ]
