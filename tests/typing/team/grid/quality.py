"""Checks of data: a protocol, a generic function, rules in a list, partial functions."""

from __future__ import annotations

import datetime as dt
import functools
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import substrait_dsl as sd
from grid.tables import Customer, Meter, Reading, customers, meters, outages, readings, stations
from substrait_dsl import functions as f

S = TypeVar("S", bound=sd.Schema)
N = TypeVar("N", bound=sd.Null)


class Finding(sd.Schema):
    check: sd.String
    key: sd.I64
    detail: sd.Nullable[sd.String]


class Rule(Protocol):
    name: str

    def findings(self) -> sd.Relation[Finding]: ...


@dataclass
class Unknown:
    """Rows whose key another relation does not have."""

    name: str = "unknown meter"

    def findings(self) -> sd.Relation[Finding]:
        orphans = readings.join(meters, lambda r, m: r.meter_id == m.meter_id, how="left_anti")
        return (
            orphans.select(check=sd.lit(self.name), key=lambda r: r.meter_id, detail=sd.col("quality"))
            .distinct()
            .as_(Finding)
        )


@dataclass
class Removed:
    name: str = "read after removal"
    grace: int = 30

    def findings(self) -> sd.Relation[Finding]:
        gone = meters.filter(lambda m: m.removed_on.is_not_null()).select("meter_id", "removed_on", "serial")
        late = gone.rename(meter_id="id").join(
            readings,
            lambda m, r: (m.id == r.meter_id) & (r.read_at > m.removed_on + dt.timedelta(days=30)),
            how="inner",
        )
        return late.into(lambda r: Finding(check=sd.lit("late"), key=r.id, detail=r.serial))


@dataclass
class Repeated:
    name: str = "repeated serial"

    def findings(self) -> sd.Relation[Finding]:
        repeated = meters.group_by("serial").agg(times=f.count(), first=lambda m: f.min(m.meter_id))
        return (
            repeated.filter(lambda m: m.times > 1)
            .select(check=sd.lit("twice"), key=lambda m: m.first.assert_not_null(), detail=lambda m: m.serial)
            .with_columns(detail=lambda m: m.detail.cast(sd.String(nullable=True)))
            .select("check", "key", detail=lambda m: f.nullif(m.detail, ""))
            .as_(Finding)
        )


class Sampled(Generic[S]):
    """A relation, and some of its rows."""

    def __init__(self, rows: sd.Relation[S], size: int = 100) -> None:
        self.rows = rows
        self.size = size

    def sample(self) -> sd.Relation[S]:
        return self.rows.limit(self.size)

    def where(self, condition: sd.Expr[sd.Boolean, sd.Null]) -> Sampled[S]:
        return Sampled(self.rows.filter(condition), self.size)


def newest(rows: sd.Relation[S], by: str, count: int) -> sd.Relation[S]:
    return rows.sort(sd.desc(by)).fetch(count)


def clipped(value: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.FP64, N]:
    return f.least(f.greatest(value, 0.0), 400.0)


def is_recent(day: sd.Expr[sd.Date], *, days: int) -> sd.Expr[sd.Boolean]:
    start = dt.date(2025, 6, 1) - dt.timedelta(days=days)
    return day > start


last_week = functools.partial(is_recent, days=7)
last_ten = functools.partial(newest, count=10)


def new_meters(rows: sd.Relation[Meter]) -> sd.Relation[Meter]:
    return rows.filter(lambda m: last_week(m.installed_on)).filter(lambda m: m.is_smart)


def voltages(rows: sd.Relation[Reading]) -> sd.Relation[Any]:
    return rows.select("meter_id", voltage=lambda r: clipped(r.voltage)).filter(lambda r: r.voltage < 400.0)


def without_email(rows: sd.Relation[Customer]) -> sd.Relation[Customer]:
    conditions = [sd.col("email").is_null(), sd.col("since") < dt.date(2020, 1, 1)]
    return rows.filter(*conditions)


def domains(rows: sd.Relation[Customer]) -> sd.Relation[Any]:
    parts = rows.select("customer_id", parts=lambda c: f.string_split(c.email, "@"))
    return (
        parts.with_columns(domain=lambda p: p.parts[1])
        .group_by("domain")
        .agg(customers=f.count())
        .filter(lambda d: d.customers > 5)
        .sort(sd.desc("customers"))
    )


def all_findings(rules: list[Rule]) -> sd.Relation[Finding]:
    first, *rest = [rule.findings() for rule in rules]
    return first.union_all(*rest)


def counted(findings: sd.Relation[Finding]) -> sd.Relation[Any]:
    return findings.group_by("check").agg(
        number=f.count(),
        keys=lambda r: f.count(r.key).distinct(),
        sample=lambda r: f.any_value(r.detail),
    )


def gaps() -> sd.Relation[Any]:
    window: dict[str, Any] = {"partition_by": "meter_id", "order_by": "read_at"}
    before = readings.project(previous=lambda r: f.lag(r.read_at).over(**window))
    return before.filter(lambda r: r.previous + dt.timedelta(hours=2) < r.read_at).select(
        "meter_id", "read_at", "previous"
    )


def build() -> list[sd.Relation[Any]]:
    rules: list[Rule] = [Unknown(), Removed(), Repeated()]
    found = all_findings(rules)
    sampled = Sampled(stations, 5).where(sd.col("capacity_kw") > 100.0)
    return [
        found.filter(lambda x: f.starts_with(x.check, "read")),
        counted(found).sort("number"),
        sampled.sample().filter(lambda s: s.region == "north"),
        newest(outages, "started_at", 3).filter(lambda o: o.affected > 10),
        last_ten(meters, "installed_on"),
        new_meters(meters).select("meter_id"),
        voltages(readings),
        without_email(customers),
        domains(customers),
        gaps(),
    ]
