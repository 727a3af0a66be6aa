"""Reports: abstract classes, decorators, match, reduce, properties, constants of classes."""

from __future__ import annotations

import datetime as dt
import functools
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, Literal, ParamSpec, TypeAlias

import substrait_dsl as sd
from grid.tables import Customer, Outage, Payment, customers, outages, payments, stations, tariffs
from substrait_dsl import functions as f

P = ParamSpec("P")
Rows: TypeAlias = sd.Relation[Any]
Unit = Literal["day", "month", "year"]
NAME: Final = "name"
TOTALS = {"total": f.sum(sd.col("amount")), "payments": f.count()}

c = customers.c
by_cause = outages.group_by("cause")


class Spent(sd.Schema):
    """What a customer has paid."""

    LEAST: ClassVar[int] = 10

    customer_id: sd.I64
    name: sd.String
    total: sd.Nullable[sd.Decimal[sd.L[38], sd.L[2]]]


def listed(build: Callable[P, Rows]) -> Callable[P, list[Rows]]:
    """The function's relation, alone in a list."""

    @functools.wraps(build)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> list[Rows]:
        return [build(*args, **kwargs)]

    return wrapper


class Report(ABC):
    title: ClassVar[str]

    @abstractmethod
    def rows(self) -> Rows: ...

    def page(self, number: int, size: int = 50) -> Rows:
        return self.rows().fetch(size, number * size)


class Spending(Report):
    title = "spending"
    paid = payments.group_by("customer_id").agg(total=lambda p: f.sum(p.amount))
    order: ClassVar[list[sd.SortKey]] = [sd.desc("total"), sd.asc("name")]

    def __init__(self, least: int = Spent.LEAST) -> None:
        self.least = least
        self.customers = customers.filter(c.since < dt.date(2025, 1, 1))

    @functools.cached_property
    def spent(self) -> sd.Relation[Spent]:
        joined = self.customers.join(
            self.paid.rename(customer_id="payer"), on=lambda who, paid: who.customer_id == paid.payer
        )
        return joined.select("customer_id", "name", "total").as_(Spent)

    def rows(self) -> Rows:
        return self.spent.filter(lambda s: s.total > self.least).sort(*self.order)


class Causes(Report):
    title = "causes"

    def __init__(self, unit: Unit = "month") -> None:
        self.unit = unit

    def part(self, at: sd.Expr[sd.PrecisionTimestamp[sd.L[6]]]) -> sd.Expr[sd.String]:
        match self.unit:
            case "day":
                return f.strftime(at, "%Y-%m-%d")
            case "month":
                return f.strftime(at, "%Y-%m")
            case _:
                return f.extract("YEAR", at).cast(sd.String)

    def rows(self) -> Rows:
        counted = outages.group_by("cause", part=lambda o: self.part(o.started_at)).agg(
            outages=f.count(), affected=lambda o: f.sum(o.affected)
        )
        share = sd.col("affected").cast(sd.FP64) / f.sum(sd.col("affected")).over(partition_by="part").cast(sd.FP64)
        return counted.with_columns(share=share).filter(lambda r: r.share > 0.05).sort("part", sd.desc("share"))


class Open(Report):
    title = "open"

    def __init__(self, *names: str) -> None:
        self.names = names

    def rows(self) -> Rows:
        still = outages.filter(lambda o: o.ended_at.is_null() & (o.affected > 0))
        at = still.join(stations, on="station_id").filter(lambda r: r.region != "test")
        return at.select("outage_id", "station_name", hours=lambda r: f.extract("HOUR", r.started_at))


def filtered(rows: sd.Relation[Outage], *causes: str) -> sd.Relation[Outage]:
    conditions = [sd.col("cause") == cause for cause in causes]
    if not conditions:
        return rows
    return rows.filter(functools.reduce(lambda a, b: a | b, conditions))


def by_tariff() -> dict[str, sd.Relation[Customer]]:
    groups: dict[str, sd.Relation[Customer]] = {}
    for code in ("basic", "night", "green"):
        groups[code] = customers.filter(lambda who, code=code: who.tariff_code == code)
    return groups


def by_month(rows: sd.Relation[Payment], year: int) -> dict[int, list[Rows]]:
    months: defaultdict[int, list[Rows]] = defaultdict(list)
    for month in range(1, 4):
        first = dt.date(year, month, 1)
        months[month].append(rows.filter(lambda p, first=first: p.paid_on >= first).group_by("reference").agg(**TOTALS))
    return months


def chosen(kind: Literal["cheap", "dear"]) -> sd.Relation[Any]:
    match kind:
        case "cheap":
            key = sd.asc("per_kwh")
        case "dear":
            key = sd.desc("per_kwh")
    return tariffs.top_n(1, key, "tariff_code").select("tariff_code", price=lambda t: t.per_kwh)


@listed
def active(since: dt.date, *, names: Sequence[str] = (NAME, "email")) -> Rows:
    recent = payments.filter(lambda p: p.paid_on >= since).select("customer_id").distinct()
    present = customers.join(recent.rename(customer_id="payer"), lambda a, b: a.customer_id == b.payer, "left_semi")
    return present.select(NAME, "email", years=lambda a: 2025 - f.extract("YEAR", a.since))


def causes() -> Rows:
    if (severe := outages.filter(lambda o: o.affected > 100)) is outages:
        return severe
    counts = severe.group_by("cause").agg(severe=f.count())
    every = by_cause.agg(every=f.count()).rename(cause="kind")
    both = every.join(counts, on=lambda e, s: e.kind == s.cause, how="left")
    return both.select("kind", share=lambda r: f.divide(f.coalesce(r.severe, 0) * 100, r.every)).sort(
        sd.desc("share"), "kind"
    )


def build() -> list[Rows]:
    reports: list[Report] = [Spending(), Causes(), Causes("day"), Causes("year"), Open("outage_id")]
    pages = [report.page(2, size=20) for report in reports]
    groups = by_tariff()
    return [
        *pages,
        *(report.rows() for report in reports),
        Spending(5).spent.filter(lambda s: s.name != ""),
        filtered(outages, "storm", "digging"),
        groups["basic"].union_all(groups["night"]).select(NAME),
        *(rows for month in by_month(payments, 2025).values() for rows in month),
        chosen("cheap"),
        chosen("dear"),
        *active(dt.date(2025, 1, 1)),
        causes(),
        customers.filter(c.email.is_null(), c.tariff_code == "basic").select("name", "since"),
    ]
