"""Wards and their patients: configuration in dataclasses, a registry of measures, classes with methods."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f

S = TypeVar("S", bound=sd.Schema)


class Bed(sd.Schema):
    ward: sd.String
    floor: sd.I32


class Stay(sd.Schema):
    stay_id: sd.I64
    patient_id: sd.I64
    ward_id: sd.I32
    admitted_at: sd.PrecisionTimestamp[sd.L[6]]
    discharged_at: sd.Nullable[sd.PrecisionTimestamp[sd.L[6]]]
    diagnosis: sd.String
    codes: sd.List[sd.String]
    bed: sd.Struct[Bed]
    urgent: sd.Boolean


class Patient(sd.Schema):
    patient_id: sd.I64
    surname: sd.String
    born_on: sd.Date
    insurer: sd.Nullable[sd.String]


class Ward(sd.Schema):
    ward_id: sd.I32
    ward_name: sd.String
    beds: sd.I32
    cost_per_day: sd.Decimal[sd.L[9], sd.L[2]]


class Load(sd.Schema):
    ward_id: sd.I32
    stays: sd.I64
    longest: sd.Nullable[sd.I64]


stays = sd.read_named("stays", Stay)
patients = sd.read_named("patients", Patient)
wards = sd.read_named("wards", Ward)

ADULT_SINCE = dt.date(2007, 1, 1)
SECONDS_PER_DAY = 86_400
SHOWN = ["stay_id", "diagnosis", "admitted_at"]
RENAMES = {"ward_id": "id", "ward_name": "label"}


class Shift(Enum):
    DAY = "day"
    NIGHT = "night"


@dataclass(frozen=True)
class Settings:
    """What a report of a ward needs."""

    since: dt.datetime
    keys: tuple[str, ...] = ("ward_id", "diagnosis")
    least: int = 5
    measures: Mapping[str, sd.Measure[Any, Any]] = field(default_factory=dict)


class Window(NamedTuple):
    first: dt.date
    last: dt.date


def days(stay: Stay) -> sd.Expr[Any, Any]:
    end = f.coalesce(stay.discharged_at, dt.datetime(2025, 1, 1))
    return f.divide(f.extract("UNIX_TIME", end) - f.extract("UNIX_TIME", stay.admitted_at), SECONDS_PER_DAY)


class Census:
    """The stays of some wards."""

    columns: ClassVar[list[str]] = ["stay_id", "ward_id", "urgent"]
    order: ClassVar[tuple[str, ...]] = ("ward_id", "stay_id")

    def __init__(self, rows: sd.Relation[Stay], settings: Settings) -> None:
        self.rows = rows
        self.settings = settings

    def open(self) -> sd.Relation[Stay]:
        return self.rows.filter(lambda s: s.discharged_at.is_null() & (s.admitted_at >= self.settings.since))

    def narrow(self) -> sd.Relation[Any]:
        return self.open().select(*self.columns).sort(*self.order)

    def load(self) -> sd.Relation[Load]:
        lasting = self.rows.with_columns(
            length=lambda s: f.extract("DAY", "ONE", f.coalesce(s.discharged_at, s.admitted_at))
        )
        grouped = lasting.group_by("ward_id").agg(stays=f.count(), longest=lambda s: f.max(s.length))
        return grouped.filter(lambda g: g.stays >= self.settings.least).as_(Load)

    def named(self) -> sd.Relation[Any]:
        labels = wards.rename(RENAMES)
        joined = self.load().join(labels, on=lambda a, b: a.ward_id == b.id, how="left")
        return joined.select("label", "stays", free=lambda r: r.beds.cast(sd.I64) - r.stays)

    def per_key(self) -> sd.Relation[Any]:
        return self.rows.group_by(*self.settings.keys).agg(**self.settings.measures)


class Repository(Generic[S]):
    def __init__(self, rows: sd.Relation[S]) -> None:
        self._rows = rows

    def all(self) -> sd.Relation[S]:
        return self._rows

    def first(self, count: int, *keys: str) -> sd.Relation[S]:
        return self._rows.sort(*keys).limit(count)

    def matching(self, *conditions: sd.Expr[sd.Boolean, Any]) -> sd.Relation[S]:
        return self._rows.filter(*conditions)


def adults(people: sd.Relation[Patient], born_before: dt.date = ADULT_SINCE) -> sd.Relation[Patient]:
    return people.filter(lambda p: p.born_on < born_before)


def insured(people: sd.Relation[Patient], insurers: Sequence[str]) -> sd.Relation[Patient]:
    return people.filter(lambda p: p.insurer.is_in(insurers)).sort("surname", sd.desc("born_on"))


def with_names() -> sd.Relation[Any]:
    grown = adults(patients).rename(patient_id="pid")
    both = stays.join(grown, on=lambda s, p: s.patient_id == p.pid)
    return both.select(*SHOWN, name=lambda b: f.upper(b.surname), since=lambda b: f.extract("YEAR", b.admitted_at))


def per_shift(shift: Shift) -> sd.Relation[Stay]:
    match shift:
        case Shift.DAY:
            condition = f.extract("HOUR", sd.col("admitted_at")) < 18
        case Shift.NIGHT:
            condition = f.extract("HOUR", sd.col("admitted_at")) >= 18
    return stays.filter(condition)


def floors() -> sd.Relation[Any]:
    return (
        stays.select("stay_id", floor=lambda s: s.bed["floor"], where=lambda s: f.concat(s.bed["ward"], "!"))
        .filter(lambda b: b.floor > 2)
        .sort("where")
    )


def diagnoses(prefixes: Iterable[str] = ("A", "B")) -> list[sd.Relation[Any]]:
    return [
        stays.filter(lambda s, prefix=prefix: f.starts_with(s.diagnosis, prefix)).select("stay_id", "diagnosis")
        for prefix in prefixes
    ]


def between(window: Window) -> sd.Relation[Stay]:
    first, last = window
    return stays.filter(lambda s: s.admitted_at.cast(sd.Date).between(first, last))


def costs(census: Census) -> sd.Relation[Any]:
    loaded = census.load().rename(ward_id="w")
    rows = wards.join(loaded, on=lambda a, b: a.ward_id == b.w)
    cost = sd.col("cost_per_day") * sd.col("stays")
    top = rows.with_columns(cost=cost).sort(sd.desc("cost")).fetch(3)
    return top.select("ward_name", "cost", dear=lambda r: sd.when(r.cost > 100).then("yes").otherwise("no"))


def stays_of(patient: sd.Relation[Patient]) -> sd.Relation[Patient]:
    return patient.filter(lambda p: sd.exists(stays.filter(lambda s: s.patient_id == p.patient_id)))


def codes() -> sd.Relation[Any]:
    each = stays.select("stay_id", "codes").unnest("codes", element="code")
    counted = each.group_by("code").agg(number=f.count(), first=lambda e: f.min(e.stay_id))
    return counted.filter(lambda c: c.number > 1).sort(sd.desc("number"), "code")


def build() -> list[sd.Relation[Any]]:
    settings = Settings(dt.datetime(2024, 1, 1), measures={"stays": f.count()})
    census = Census(stays, settings)
    people = Repository(patients)
    return [
        census.narrow(),
        census.named(),
        census.per_key(),
        people.first(3, "surname"),
        people.matching(sd.col("born_on") < ADULT_SINCE),
        people.all().filter(lambda p: p.surname != ""),
        insured(patients, ["A", "B"]),
        with_names(),
        per_shift(Shift.DAY),
        floors(),
        *diagnoses(),
        between(Window(dt.date(2024, 1, 1), dt.date(2024, 2, 1))),
        costs(census),
        stays_of(patients),
        codes(),
        stays.select("stay_id", length=days).filter(lambda s: s.length > 3),
    ]
