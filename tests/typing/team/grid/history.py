"""Events in time: windows, sessions, lateral joins, lists."""

from __future__ import annotations

import datetime as dt
from typing import Any

import substrait_dsl as sd
from grid.tables import Outage, crews, meters, outages, readings, stations, tariffs
from substrait_dsl import functions as f

GAP = dt.timedelta(hours=6)
PER_STATION: dict[str, Any] = {"partition_by": "station_id", "order_by": "started_at"}
start = sd.lit(dt.datetime(1970, 1, 1))


def seconds(at: sd.Expr[Any, Any]) -> sd.Expr[Any, Any]:
    return f.extract("UNIX_TIME", at)


def sessions(rows: sd.Relation[Outage]) -> sd.Relation[Any]:
    """Outages of a station that follow each other within some hours are one."""
    before = rows.with_columns(previous=lambda o: f.lag(o.ended_at).over(**PER_STATION))
    is_near = f.coalesce(sd.col("started_at") <= sd.col("previous") + GAP, False)
    marked = before.with_columns(begins=sd.when(is_near).then(0).otherwise(1))
    numbered = marked.with_columns(session=lambda o: f.sum(o.begins).over(**PER_STATION, rows=(None, 0)))
    return numbered.group_by("station_id", "session").agg(
        first=lambda o: f.min(o.started_at),
        last=lambda o: f.max(o.ended_at),
        outages=f.count(),
        causes=lambda o: f.string_agg(o.cause, ", "),
    )


def moving(days: int = 7) -> sd.Relation[Any]:
    by_day = readings.group_by("meter_id", day=lambda r: r.read_at.cast(sd.Date)).agg(
        kwh=lambda r: f.sum(r.kwh), volts=lambda r: f.avg(r.voltage)
    )
    week = (1 - days, 0)
    return by_day.window(
        partition_by="meter_id",
        order_by="day",
        place=f.row_number(),
        mean=lambda d: f.avg(d.kwh).frame(rows=week),
        quarter=f.ntile(4),
    ).filter(lambda d: (d.place > 7) & (d.kwh > d.mean * 2))


def changes() -> sd.Relation[Any]:
    order: dict[str, Any] = {"partition_by": "meter_id", "order_by": ["read_at"]}
    steps = readings.select(
        "meter_id",
        "read_at",
        delta=lambda r: r.voltage - f.lag(r.voltage, 1).over(**order),
        first=lambda r: f.first_value(r.quality).over(**order),
        rank=f.dense_rank().over(partition_by="meter_id", order_by=sd.desc("voltage")),
    )
    return steps.filter(lambda s: (f.abs(s.delta) > 15.0) & (s.rank <= 10)).sort("meter_id", "rank")


def tariff_at() -> sd.Relation[Any]:
    """The tariffs that began before each payment month: an as-of join."""
    days = sd.read_virtual([(dt.date(2025, 1, 1),), (dt.date(2025, 2, 1),)], {"day": "date"})

    def before(row: sd.DynRow) -> sd.Relation:
        earlier = tariffs.filter(lambda t: t.valid_from <= row.day)
        return earlier.sort(sd.desc("valid_from")).limit(1).select("tariff_code", "per_kwh")

    return days.lateral_join(before, how="left").filter(lambda d: d.per_kwh.is_not_null())


def worst_outages() -> sd.Relation[Any]:
    worst = stations.lateral_join(
        lambda s: (
            outages.filter(lambda o: o.station_id == s.station_id).top_n(3, sd.desc("affected")).drop("station_id")
        ),
    )
    return worst.select("station_name", "cause", "affected", year=lambda w: f.extract("YEAR", w.started_at))


def phases() -> sd.Relation[Any]:
    each = meters.select("meter_id", "phases").unnest("phases", element="phase", offset="position")
    counted = each.group_by("phase").agg(meters=f.count(), first=lambda e: f.min(e.position))
    return counted.filter(lambda p: p.phase.is_in([1, 2, 3])).sort("phase")


def members() -> sd.Relation[Any]:
    return (
        crews.unnest("members")
        .filter(lambda c: ~f.starts_with(c.element, "temp"))
        .select("crew_name", member=lambda c: f.upper(c.element), lead=lambda c: c.offset == 0)
        .distinct()
    )


def wide_to_long() -> sd.Relation[Any]:
    stats = readings.group_by("meter_id").agg(low=lambda r: f.min(r.voltage), high=lambda r: f.max(r.voltage))
    return stats.expand(
        meter_id=sd.col("meter_id"),
        what=sd.switching(sd.lit("low"), sd.lit("high")),
        volts=sd.switching(sd.col("low"), sd.col("high")),
        index="number",
    ).filter(lambda s: (s.what == "low") & (s.number == 0) & (s.volts < 200.0))


def quarters() -> sd.Relation[Any]:
    number = seconds(sd.col("read_at"))
    began = start + (number - f.modulus(number, 900, division_type="FLOOR")) * dt.timedelta(seconds=1)
    return (
        readings.with_columns(quarter=began)
        .group_by("quarter")
        .agg(kwh=lambda r: f.sum(r.kwh), middle=lambda r: f.median("EXACT", r.voltage))
        .sort("quarter")
    )


def percentile() -> sd.Relation[Any]:
    placed = readings.with_columns(part=f.cume_dist().over(order_by="voltage"))
    return placed.filter(lambda r: r.part >= 0.95).aggregate(p95=lambda r: f.min(r.voltage))


def months() -> sd.Relation[Any]:
    def month(at: sd.Expr[Any, Any]) -> sd.Expr[Any, Any]:
        return f.extract("YEAR", at) * 100 + f.extract("MONTH", "ONE", at)

    return (
        outages.group_by(month=lambda o: month(o.started_at), cause=sd.col("cause"))
        .cube(outages=f.count(), affected=lambda o: f.sum(o.affected))
        .filter(lambda m: m.grouping_set < 3)
        .sort("month", "cause")
    )


def build() -> list[sd.Relation[Any]]:
    grouped = sessions(outages)
    return [
        grouped.filter(lambda s: s.outages > 1),
        moving(),
        changes(),
        tariff_at(),
        worst_outages(),
        phases(),
        members(),
        wide_to_long(),
        quarters(),
        percentile(),
        months(),
    ]
