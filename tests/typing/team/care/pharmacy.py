"""Prescriptions and stock: functions with defaults, constants of the module, conditions that are put together."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

import substrait_dsl as sd
from substrait_dsl import functions as f

Condition: TypeAlias = sd.Expr[sd.Boolean, Any]


class Drug(sd.Schema):
    drug_id: sd.I32
    drug: sd.String
    unit_price: sd.Decimal[sd.L[8], sd.L[2]]
    controlled: sd.Boolean
    doses: sd.List[sd.FP64]


class Prescription(sd.Schema):
    prescription_id: sd.I64
    drug_id: sd.I32
    patient: sd.String
    units: sd.I32
    issued_on: sd.Date
    note: sd.Nullable[sd.String]


class Stock(sd.Schema):
    drug_id: sd.I32
    store: sd.String
    units: sd.I32
    expires_on: sd.Nullable[sd.Date]


drugs = sd.read_named("drugs", Drug)
prescriptions = sd.read_named("prescriptions", Prescription)
stock = sd.read_named("stock", Stock)

KEYS = ["drug_id"]
STORES = ("main", "annex")
PER_DRUG: dict[str, Any] = {"partition_by": "drug_id", "order_by": sd.desc("issued_on")}
TODAY = dt.date(2025, 5, 5)
TOTALS: dict[str, sd.Measure[Any, Any]] = {"units": f.sum(sd.col("units")), "times": f.count()}
JOIN_KEYS = [("drug_id", "drug_id")]


class HasRows(Protocol):
    def rows(self) -> sd.Relation[Stock]: ...


@dataclass(frozen=True, kw_only=True)
class Query:
    """A search for prescriptions."""

    patient: str | None = None
    since: dt.date | None = None
    least: int = 0
    controlled: bool = False

    def conditions(self) -> list[Condition]:
        found: list[Condition] = [sd.col("units") >= self.least]
        if self.patient is not None:
            found.append(sd.col("patient") == self.patient)
        if self.since is not None:
            found.append(sd.col("issued_on") >= self.since)
        return found

    def run(self) -> sd.Relation[Prescription]:
        rows = prescriptions.filter(*self.conditions())
        return rows.sort(sd.desc("issued_on"), "prescription_id").limit(100)


@dataclass
class Shelf:
    store: str

    def rows(self) -> sd.Relation[Stock]:
        return stock.filter(lambda s: s.store == self.store)

    def expired(self, on: dt.date = TODAY) -> sd.Relation[Stock]:
        return self.rows().filter(lambda s: s.expires_on.is_not_null() & (s.expires_on < on))

    def value(self) -> sd.Relation[Any]:
        priced = self.rows().join(drugs.rename(drug_id="d"), on=lambda s, d: s.drug_id == d.d)
        summed = priced.group_by("store").agg(worth=lambda p: f.sum(p.unit_price * p.units), drugs=f.count())
        return summed.with_columns(mean=lambda p: p.worth / p.drugs)


def used(since: dt.date = dt.date(2025, 1, 1), least: int = 1) -> sd.Relation[Any]:
    recent = prescriptions.filter(lambda p: p.issued_on >= since)
    return recent.group_by(*KEYS).agg(**TOTALS).filter(lambda u: u.times >= least)


def shortages(factor: float = 2.0) -> sd.Relation[Any]:
    have = stock.group_by("drug_id").agg(have=lambda s: f.sum(s.units))
    need = used().rename(drug_id="d", units="need")
    both = have.join(need, on=lambda a, b: a.drug_id == b.d, how="right")
    lacking = both.filter(lambda r: f.coalesce(r.have, 0).cast(sd.FP64) < r.need.cast(sd.FP64) * factor)
    return lacking.select("d", "need", missing=lambda r: r.need - f.coalesce(r.have, 0)).sort(sd.desc("missing"))


def newest() -> sd.Relation[Any]:
    numbered = prescriptions.with_columns(place=f.row_number().over(**PER_DRUG))
    return numbered.filter(lambda p: p.place == 1).drop("place")


def noted(words: tuple[str, ...] = ("urgent", "child")) -> sd.Relation[Any]:
    flags = {f"is_{word}": f.contains(f.lower(sd.col("note")), word) for word in words}
    return prescriptions.with_columns(**flags).select("prescription_id", "note", *flags)


def per_store() -> dict[str, sd.Relation[Any]]:
    found: dict[str, sd.Relation[Any]] = {}
    for store in STORES:
        rows = stock.filter(sd.col("store") == store)
        found[store] = rows.group_by("drug_id").agg(units=lambda s: f.sum(s.units))
    return found


def grouped() -> Mapping[str, list[sd.Relation[Any]]]:
    found: defaultdict[str, list[sd.Relation[Any]]] = defaultdict(list)
    for store in STORES:
        for month in (1, 2, 3):
            first = dt.date(2025, month, 1)
            found[store].append(stock.filter(lambda s, first=first: s.expires_on >= first).select("drug_id", "units"))
    return found


def strong(at: float = 50.0) -> sd.Relation[Drug]:
    return drugs.filter(lambda d: f.any_match(d.doses, lambda dose: dose > at))


def cheap(limit: Decimal = Decimal("9.99")) -> sd.Relation[Any]:
    few = drugs.filter(lambda d: (d.unit_price <= limit) & ~d.controlled)
    return few.select("drug", first=lambda d: d.doses[0], price=lambda d: d.unit_price).sort("price", "drug")


def never_used() -> sd.Relation[Drug]:
    return drugs.join(prescriptions, lambda d, p: d.drug_id == p.drug_id, how="left_anti").as_(Drug)


def above_mean() -> sd.Relation[Any]:
    mean = drugs.aggregate(mean=lambda d: f.avg(d.unit_price))
    return drugs.filter(lambda d: d.unit_price > sd.scalar_subquery(mean)).select("drug_id", "drug")


def labelled(rows: sd.Relation[Prescription], by: str) -> sd.Relation[Any]:
    label = sd.when(sd.col("units") > 10).then("many").when(sd.col("units") > 1).then("some").otherwise("one")
    return rows.select(by, "issued_on", label=label).filter(lambda r: r.label != "one")


def monthly() -> sd.Relation[Any]:
    return (
        prescriptions.group_by(month=lambda p: f.extract("MONTH", "ONE", p.issued_on), drug_id=sd.col("drug_id"))
        .agg(units=lambda p: f.sum(p.units))
        .filter(lambda m: m.month > 3)
        .sort("month", sd.desc("units"))
    )


def pieces(count: int) -> Iterator[sd.Relation[Prescription]]:
    for number in range(count):
        yield prescriptions.sort("prescription_id").fetch(10, offset=10 * number)


def hashed() -> sd.Relation[Any]:
    return stock.hash_join(drugs, JOIN_KEYS, "left_semi").select("store", "units")


def everywhere(shelves: list[Shelf]) -> sd.Relation[Stock]:
    first, *rest = [shelf.rows() for shelf in shelves]
    return first.union_all(*rest).filter(lambda s: s.units > 0)


def from_source(source: HasRows) -> sd.Relation[Any]:
    return source.rows().select("store", left=lambda s: s.units - 1).distinct()


def build() -> list[sd.Relation[Any]]:
    shelf = Shelf("main")
    return [
        Query(patient="A", since=TODAY).run(),
        shelf.expired(),
        shelf.value(),
        shortages(),
        newest(),
        noted(),
        *per_store().values(),
        *(rows for each in grouped().values() for rows in each),
        strong(),
        cheap(),
        never_used(),
        above_mean(),
        labelled(prescriptions, "patient"),
        monthly(),
        *pieces(2),
        hashed(),
        everywhere([shelf, Shelf("annex")]),
        from_source(shelf),
        noted().filter(lambda p: p.is_urgent),
    ]
