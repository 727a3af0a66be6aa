"""What will be consumed: parameters, lambdas in lists, options of functions, generic measures."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, TypeVar

import substrait_dsl as sd
from grid.tables import Reading, Station, meters, readings, stations
from substrait_dsl import L
from substrait_dsl import functions as f

N = TypeVar("N", bound=sd.Null)
S = TypeVar("S", bound=sd.Schema)

HOURS = [0, 6, 12, 18]
WEIGHTS = {"low": 0.5, "usual": 1.0, "high": 1.75}
Step = Callable[[sd.Relation[Any]], sd.Relation[Any]]


class Weather(sd.Schema):
    region: sd.String
    day: sd.Date
    celsius: sd.Nullable[sd.FP64]
    wind: sd.List[sd.FP64]
    notes: sd.Map[sd.String, sd.FP64]


class Hourly(sd.Schema):
    meter_id: sd.I64
    hour: sd.I64
    kw: sd.FP64


class Curve(sd.Schema):
    hour: sd.I64
    kw: sd.Nullable[sd.FP64]
    spread: sd.Nullable[sd.FP64]


weather = sd.read_files("weather/*.parquet", Weather, kind="glob")


def ratio(part: sd.Expr[sd.FP64, N], of: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.FP64, N]:
    return part / of


def mean(value: sd.Expr[sd.FP64, sd.Null]) -> sd.Measure[sd.FP64, sd.Null]:
    return f.avg(value).filter(value >= 0.0)


def latest_first(column: str) -> sd.SortKey:
    return sd.desc(column, nulls="last")


def hourly(rows: sd.Relation[Reading]) -> sd.Relation[Hourly]:
    return rows.into(
        lambda r: Hourly(meter_id=r.meter_id, hour=f.extract("HOUR", r.read_at), kw=r.kwh.cast(sd.FP64) * 4.0)
    )


def curve(rows: sd.Relation[Hourly]) -> sd.Relation[Curve]:
    return (
        rows.group_by("hour")
        .agg(kw=lambda h: mean(h.kw), spread=lambda h: f.std_dev(h.kw, distribution="SAMPLE"))
        .as_(Curve)
    )


def at_hours(rows: sd.Relation[Curve]) -> sd.Relation[Curve]:
    return rows.filter(lambda c: c.hour.is_in(HOURS))


def scenarios(rows: sd.Relation[Curve]) -> dict[str, sd.Relation]:
    return {
        name: rows.select("hour", kw=lambda c, weight=weight: c.kw * weight, name=sd.lit(name))
        for name, weight in WEIGHTS.items()
    }


def everything(rows: sd.Relation[Curve]) -> sd.Relation[Any]:
    each = scenarios(rows)
    return each["low"].union_all(each["usual"], each["high"]).sort("name", latest_first("kw"))


def above(rows: sd.Relation[Hourly], number: int = 1) -> sd.Relation[Hourly]:
    return rows.filter(lambda h: h.kw > sd.parameter(1, sd.FP64))


def since(rows: sd.Relation[Reading]) -> sd.Relation[Reading]:
    first = sd.parameter(2, sd.Date)
    return rows.filter(lambda r: r.read_at.cast(sd.Date) >= first)


def windy() -> sd.Relation[Any]:
    rows = weather.filter(lambda w: f.any_match(w.wind, lambda x: x > 20.0))
    return rows.select(
        "region",
        "day",
        gusts=lambda w: f.filter(w.wind, lambda x: x >= 15.0),
        knots=lambda w: f.transform(w.wind, lambda x: x * 1.94),
        first=lambda w: w.wind[0],
        humidity=lambda w: w.notes["humidity"],
    )


def degree_days() -> sd.Relation[Any]:
    heated = weather.with_columns(missing=lambda w: f.greatest(sd.lit(18.0) - f.coalesce(w.celsius, 18.0), 0.0))
    by_month = heated.group_by("region", month=lambda w: f.strftime(w.day, "%Y-%m"))
    summed = by_month.agg(degrees=lambda w: f.sum(w.missing), days=f.count())
    return summed.filter(lambda w: w.degrees > 100.0).with_columns(
        mean=lambda w: f.round(w.degrees / w.days.cast(sd.FP64), 1)
    )


def correlated() -> sd.Relation[Any]:
    placed = readings.join(meters.rename(meter_id="m"), lambda r, m: r.meter_id == m.m).join(
        stations.rename(station_id="s"), on=lambda r, s: r.station_id == s.s
    )
    with_day = placed.select("region", "voltage", read=lambda r: r.read_at.cast(sd.Date))
    both = with_day.join(weather.rename(region="r"), on=lambda p, w: (p.region == w.r) & (p.read == w.day), how="left")
    return both.group_by("region").agg(
        fit=lambda b: f.corr(b.voltage, b.celsius, rounding="TIE_TO_EVEN"), rows=f.count()
    )


STEPS: list[Step] = [
    lambda rows: rows.filter(sd.col("capacity_kw") > 100.0),
    lambda rows: rows.select("station_id", "region", "capacity_kw"),
    lambda rows: rows.sort("region", sd.desc("capacity_kw")),
]


def applied(rows: sd.Relation[Any], steps: list[Step]) -> sd.Relation[Any]:
    for step in steps:
        rows = step(rows)
    return rows


def headroom(rows: sd.Relation[Station], load: float) -> sd.Relation[Any]:
    largest = rows.aggregate(largest=lambda s: f.max(s.capacity_kw))
    return rows.select(
        "station_id",
        room=lambda s: ratio(s.capacity_kw - load, s.capacity_kw),
        of_largest=lambda s: ratio(s.capacity_kw, sd.scalar_subquery(largest)),
    ).filter(lambda s: (s.room > 0.2) | (s.of_largest > 0.8))


def columns() -> sd.ExtendedExpression:
    return sd.ExtendedExpression(
        Station, watts=lambda s: s.capacity_kw * 1000.0, is_old=sd.col("opened_on") < dt.date(1990, 1, 1)
    )


def typed() -> sd.Relation[Any]:
    digits: sd.Expr[sd.Decimal[L[10], L[1]]] = sd.lit(2, sd.Decimal(10, 1))
    return stations.select("station_id", rounded=lambda s: s.capacity_kw.cast(sd.Decimal(10, 1)) + digits)


def build() -> list[sd.Relation[Any] | sd.ExtendedExpression]:
    curves = curve(hourly(since(readings)))
    return [
        at_hours(curves).filter(lambda c: c.spread < 5.0),
        everything(curves).filter(lambda c: c.name != "low"),
        above(hourly(readings)).sort("hour"),
        windy().filter(lambda w: w.first > 1.0),
        degree_days(),
        correlated(),
        applied(stations, STEPS),
        headroom(stations, 12.5),
        columns(),
        typed(),
    ]
