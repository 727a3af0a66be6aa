"""Changes of tables: writes, updates, definitions, files."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import substrait_dsl as sd
from grid.tables import Customer, Meter, Payment, Station, Tariff, customers, meters, payments, stations, tariffs
from substrait_dsl import functions as f

CSV = sd.DelimitedText(header_lines_to_skip=1, null_value="")
TODAY = dt.date(2025, 6, 1)
IMPORTED = {"payment": "string?", "customer": "string?", "amount": "string?", "day": "string?"}


class Archived(sd.Schema):
    meter_id: sd.I64
    serial: sd.String
    removed_on: sd.Date


def imported(path: str) -> sd.Relation[Payment]:
    texts = sd.read_files(path, IMPORTED, format=CSV)
    part = f.substring
    complete = texts.filter(lambda t: t.payment.is_not_null() & t.amount.is_not_null())
    return complete.select(
        payment_id=lambda t: t.payment.cast(sd.I64).assert_not_null(),
        customer_id=lambda t: t.customer.cast(sd.I64, on_failure="return_null").assert_not_null(),
        amount=lambda t: f.replace(t.amount, ",", ".").cast(sd.Decimal(10, 2)).assert_not_null(),
        paid_on=lambda t: (
            f.concat(part(t.day, 7, 4), "-", part(t.day, 4, 2), "-", part(t.day, 1, 2)).cast(sd.Date).assert_not_null()
        ),
        reference=sd.null(sd.String),
    ).as_(Payment)


def archived(rows: sd.Relation[Meter]) -> sd.Relation[Archived]:
    return rows.filter(lambda m: m.removed_on < TODAY).into(
        lambda m: Archived(meter_id=m.meter_id, serial=f.upper(m.serial), removed_on=m.removed_on.assert_not_null())
    )


def store(rows: sd.Relation[Archived]) -> list[sd.Relation]:
    by_year = rows.with_columns(year=lambda a: f.extract("YEAR", a.removed_on).cast(sd.String))
    return [
        rows.write(("grid", "archive"), "ctas", create_mode="append_if_exists"),
        by_year.select("meter_id", "serial", "year").write(sd.files_target("out/{year}", "parquet")),
        rows.select("meter_id").write(("grid", "active"), "delete"),
        rows.write(("grid", "archive"), output="modified_records").aggregate(n=f.count()),
    ]


def raised(percent: int) -> sd.Relation:
    factor = Decimal(100 + percent) / 100
    return sd.update(
        ("crm", "tariffs"),
        Tariff,
        {"monthly_fee": lambda t: (t.monthly_fee * Decimal("1.05")).cast(sd.Decimal(8, 2)), "valid_to": None},
        where=lambda t: t.valid_from < TODAY if factor > 1 else t.valid_from == TODAY,
    )


def renamed_region(old: str, new: str) -> sd.Relation:
    return sd.update(("grid", "stations"), Station, {"region": new}, where=lambda s: s.region == old)


def forgotten() -> sd.Relation:
    gone = customers.filter(
        lambda c: ~sd.exists(payments.filter(lambda p: (p.customer_id == c.customer_id) & (p.paid_on > c.since)))
    )
    return gone.write(("crm", "customers"), "delete")


def definitions() -> list[sd.Relation]:
    cheap = tariffs.filter(lambda t: t.per_kwh < Decimal("0.25")).select("tariff_code", "per_kwh")
    return [
        sd.create_table(("grid", "archive"), Archived, {"serial": "unknown"}),
        sd.create_table("notes", {"customer_id": sd.I64, "note": "string?", "day": sd.Date}, {"note": "none"}),
        sd.create_view("cheap", cheap),
        sd.drop_table("notes", if_exists=True),
    ]


class Loader:
    """Loads rows into tables, each by a step of its own."""

    def __init__(self, *, mode: str = "full") -> None:
        self.mode = mode
        self.steps: list[Callable[[], sd.Relation]] = []

    def add(self, step: Callable[[], sd.Relation]) -> Loader:
        self.steps.append(step)
        return self

    def new_customers(self) -> sd.Relation:
        names = sd.read_virtual(
            [(1, "Ann", None, "basic", TODAY), (2, "Bob", "bob@mail.org", "night", dt.date(2025, 5, 1))], Customer
        )
        return names.filter(lambda n: ~n.customer_id.is_in(customers.select("customer_id"))).write(("crm", "customers"))

    def new_stations(self) -> sd.Relation:
        added = stations.select(
            station_id=lambda s: s.station_id + 1000,
            station_name=lambda s: f.concat(s.station_name, " B"),
            region=sd.lit("south"),
            capacity_kw=lambda s: s.capacity_kw * 1.5,
            opened_on=sd.lit(TODAY),
        ).as_(Station)
        return stations.union(added).write(("grid", "stations"), "ctas", create_mode="replace_if_exists")

    def corrections(self) -> sd.Relation:
        fixed = payments.with_columns(
            amount=lambda p: f.abs(p.amount), reference=lambda p: f.coalesce(p.reference, "n/a")
        )
        return fixed.as_(Payment).write(("crm", "payments"), "update", output="modified_records")

    def run(self) -> list[sd.Relation]:
        return [step() for step in self.steps]


def replaced(meter: int, serial: str) -> sd.Relation:
    one = sd.read_virtual([(meter, serial)], {"meter_id": sd.I64, "serial": sd.String})
    other = meters.select("meter_id", "serial").filter(lambda m: m.meter_id == meter)
    return one.subtract(other).write("replacements")


def build() -> list[sd.Relation[Any]]:
    loader = Loader()
    loader.add(loader.new_customers).add(loader.new_stations).add(loader.corrections)
    old = archived(meters)
    return [
        imported("in.csv").filter(lambda p: p.amount > 0),
        old.sort("removed_on"),
        *store(old),
        raised(5),
        renamed_region("north", "far north"),
        forgotten(),
        *definitions(),
        *loader.run(),
        replaced(7, "A-1"),
        customers.select("name", "since").filter(lambda c: c.since == TODAY),
    ]
