"""Shipments, vehicles and routes: tables in dicts, steps in lists, a pipeline class that chains steps."""

from __future__ import annotations

import datetime as dt
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypedDict, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f

T = TypeVar("T", bound=sd.Schema)


class Shipment(sd.Schema):
    shipment_id: sd.I64
    route: sd.String
    vehicle_id: sd.I32
    weight_kg: sd.FP64
    fee: sd.Decimal[sd.L[10], sd.L[2]]
    sent_on: sd.Date
    arrived_on: sd.Nullable[sd.Date]
    labels: sd.Map[sd.String, sd.String]


class Vehicle(sd.Schema):
    vehicle_id: sd.I32
    plate: sd.String
    max_kg: sd.FP64
    electric: sd.Boolean


class Leg(sd.Schema):
    route: sd.String
    position: sd.I32
    city: sd.String
    km: sd.FP64


shipments = sd.read_named("shipments", Shipment)
vehicles = sd.read_named("vehicles", Vehicle)
legs = sd.read_named("legs", Leg)

TABLES: dict[str, sd.Relation[Any]] = {"shipments": shipments, "vehicles": vehicles, "legs": legs}
CITIES: Final = ("Oslo", "Bergen", "Tromso")
ROUTE = "route"
METRICS = ("weight_kg", "fee")
LIMITS = {"light": 5.0, "normal": 50.0, "heavy": 1000.0}
OPTIONS: dict[str, Any] = {"partition_by": "route", "order_by": "sent_on"}
heavy = sd.col("weight_kg") > 500.0
late = sd.col("arrived_on").cast(sd.PrecisionTimestamp(6)) > sd.col("sent_on") + dt.timedelta(days=7)


class Tables(TypedDict):
    shipments: sd.Relation[Shipment]
    vehicles: sd.Relation[Vehicle]


@dataclass
class Job:
    """One run of the reports."""

    name: str
    tables: Tables
    day: dt.date = dt.date(2025, 3, 1)
    max_weight: float = 100.0
    keys: tuple[str, ...] = ("route",)

    @property
    def open(self) -> sd.Relation[Shipment]:
        return self.tables["shipments"].filter(lambda s: s.arrived_on.is_null() & (s.sent_on < self.day))

    def heavy(self) -> sd.Relation[Shipment]:
        return self.open.filter(lambda s: s.weight_kg > self.max_weight)

    def totals(self) -> sd.Relation[Any]:
        return self.heavy().group_by("route").agg(total=lambda s: f.sum(s.fee), number=f.count())

    def ranked(self) -> sd.Relation[Any]:
        placed = self.totals().with_columns(place=f.rank().over(order_by=sd.desc("total")))
        return placed.filter(lambda t: t.place <= 10).sort("place", "route")

    def vehicles_of(self, electric: bool) -> sd.Relation[Any]:
        chosen = self.tables["vehicles"].filter(lambda v: v.electric == electric)
        return chosen.join(self.open.rename(vehicle_id="v"), on=lambda a, b: a.vehicle_id == b.v).select(
            "plate", "shipment_id", share=lambda r: r.weight_kg / r.max_kg
        )


class Step(ABC):
    @abstractmethod
    def apply(self, rows: sd.Relation[Shipment]) -> sd.Relation[Shipment]: ...


class Recent(Step):
    def __init__(self, days: int = 30) -> None:
        self.days = days

    def apply(self, rows: sd.Relation[Shipment]) -> sd.Relation[Shipment]:
        first = dt.date(2025, 3, 1) - dt.timedelta(days=self.days)
        return rows.filter(lambda s: s.sent_on >= first)


class Paid(Step):
    least: int = 0

    def apply(self, rows: sd.Relation[Shipment]) -> sd.Relation[Shipment]:
        return rows.filter(lambda s: s.fee > self.least).sort(sd.desc("fee"))


def run(rows: sd.Relation[Shipment], *steps: Step) -> sd.Relation[Shipment]:
    return functools.reduce(lambda done, step: step.apply(done), steps, rows)


def page(rows: sd.Relation[T], number: int, size: int = 10) -> sd.Relation[T]:
    return rows.fetch(size, offset=number * size)


def sorted_by(rows: sd.Relation[Shipment], column: str, descending: bool = False) -> sd.Relation[Shipment]:
    key = sd.desc(column) if descending else sd.asc(column)
    return rows.sort(key, "shipment_id")


def by_limit() -> dict[str, sd.Relation[Shipment]]:
    return {name: shipments.filter(lambda s, at=at: s.weight_kg <= at) for name, at in LIMITS.items()}


def per_city() -> list[sd.Relation[Any]]:
    found = []
    for city in CITIES:
        rows = legs.filter(sd.col("city") == city)
        found.append(rows.select(ROUTE, "position"))
    return found


def metrics() -> sd.Relation[Any]:
    measures = {}
    for name in METRICS:
        measures[f"mean_{name}"] = f.avg(sd.col(name))
    return shipments.group_by(ROUTE).agg(**measures).sort(ROUTE)


def lengths() -> sd.Relation[Any]:
    total = legs.group_by("route").agg(km=lambda leg: f.sum(leg.km), stops=f.count())
    return total.filter(lambda t: (t.km > 100.0) & (t.stops < 20))


def priced(per_km: float = 1.5) -> sd.Relation[Any]:
    joined = shipments.join(lengths().rename(route="r"), on=lambda s, leg: s.route == leg.r)
    return joined.select("shipment_id", price=lambda j: j.km * per_km, old=lambda j: j.fee.cast(sd.FP64))


def labelled(key: str = "customer") -> sd.Relation[Any]:
    return shipments.select("shipment_id", owner=lambda s: s.labels[key], kind=lambda s: s.labels["kind"]).filter(
        lambda s: f.lower(s.owner) != "none"
    )


def previous() -> sd.Relation[Any]:
    return shipments.with_columns(
        before=lambda s: f.lag(s.sent_on).over(**OPTIONS),
        so_far=lambda s: f.sum(s.weight_kg).over(**OPTIONS, rows=(None, 0)),
    ).filter(lambda s: s.before.is_not_null() & (s.so_far > 10.0))


def chosen(kind: Literal["late", "heavy", "all"]) -> sd.Relation[Shipment]:
    match kind:
        case "late":
            return shipments.filter(late)
        case "heavy":
            return shipments.filter(heavy)
        case _:
            return shipments


def overloaded() -> sd.Relation[Any]:
    loads = shipments.group_by("vehicle_id", "sent_on").agg(load=lambda s: f.sum(s.weight_kg))
    limits = vehicles.select("plate", "max_kg", v=lambda x: x.vehicle_id)
    return (
        loads.join(limits, on=lambda a, b: a.vehicle_id == b.v, how="left")
        .filter(lambda r: r.load > r.max_kg)
        .select("plate", "sent_on", over=lambda r: f.round(r.load - r.max_kg, 1))
        .sort("sent_on", sd.desc("over"))
    )


REPORTS: dict[str, Callable[[], sd.Relation[Any]]] = {
    "metrics": metrics,
    "lengths": lengths,
    "priced": priced,
    "previous": previous,
    "legs": lambda: legs.select("city", "km").distinct(),
}


def all_reports(names: tuple[str, ...] = ("metrics", "priced")) -> list[sd.Relation[Any]]:
    return [REPORTS[name]() for name in names]


def build() -> list[sd.Relation[Any]]:
    job = Job("daily", {"shipments": shipments, "vehicles": vehicles})
    return [
        job.ranked(),
        job.vehicles_of(True),
        run(shipments, Recent(), Paid()),
        page(shipments, 2).filter(lambda s: s.route == "north"),
        sorted_by(shipments, "sent_on"),
        *by_limit().values(),
        *per_city(),
        metrics(),
        priced(),
        labelled(),
        previous(),
        chosen("late"),
        chosen("heavy"),
        overloaded(),
        *[make() for make in REPORTS.values()],
        *all_reports(),
        TABLES["legs"].select("city"),
    ]
