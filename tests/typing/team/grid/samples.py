"""Tests of pipelines: small tables in the plan, what is expected, columns that are asserted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import substrait_dsl as sd
from grid.billing import Usage
from grid.consumption import Daily, Regional, daily, in_regions, is_good, usable
from grid.tables import Address, Meter, Reading, Station, meters
from substrait_dsl import functions as f
from substrait_dsl.testing import assert_schema

NOON = dt.datetime(2025, 6, 1, 12)
MAIN_STREET = {"street": "Main Street", "town": None, "zip_code": "1000"}

some_readings = sd.read_virtual(
    [
        (1, NOON, Decimal("1.250"), 230.5, None),
        (1, NOON + dt.timedelta(hours=1), Decimal("0.750"), 229.0, "estimated"),
        (2, NOON, Decimal("3.000"), 198.0, "good"),
    ],
    Reading,
)
some_stations = sd.read_virtual([(7, "Dock", "harbour", 500.0, dt.date(1999, 4, 1))], Station)
some_meters = sd.read_virtual(
    [(1, 7, None, "A-1", dt.date(2020, 1, 1), None, True, MAIN_STREET, [1, 2, 3], {"vendor": "acme"})], Meter
)
expected_days = sd.read_virtual(
    [(1, dt.date(2025, 6, 1), Decimal("1.250"), 1)],
    {"meter_id": "i64", "day": "date", "kwh": "decimal<38,3>?", "readings": "i64"},
)


class Wrong(Exception):
    pass


@contextmanager
def expecting(error: type[Exception]) -> Iterator[None]:
    try:
        yield
    except error:
        return
    raise Wrong


def test_usable() -> sd.Relation[Reading]:
    rows = usable(some_readings)
    assert rows.columns == ("meter_id", "read_at", "kwh", "voltage", "quality")
    assert_schema(rows.select("meter_id", "voltage"), {"meter_id": "i64", "voltage": "fp64"})
    return rows


def test_daily() -> sd.Relation[Daily]:
    rows = daily(some_readings.filter(lambda r: r.voltage > 200.0))
    assert_schema(rows, expected_days.schema)
    return rows.union_all(expected_days.as_(Daily))


def test_regions() -> sd.Relation[Regional]:
    rows = in_regions(expected_days.as_(Daily), some_meters, some_stations)
    assert rows.filter(lambda r: r.region == "harbour").schema == rows.schema
    return rows


def test_good() -> sd.Relation[Any]:
    marked = some_readings.select("meter_id", good=is_good)
    return marked.group_by("good").agg(rows=f.count()).filter(lambda m: f.is_true(m.good))


def test_empty() -> sd.Relation[Any]:
    none = sd.read_virtual([], {"meter_id": sd.I64, "tags": sd.List(sd.String())})
    return none.join(some_meters.select("meter_id", "serial"), on="meter_id").select(
        "serial", size=lambda m: f.cardinality(m.tags)
    )


def test_address() -> sd.Relation[Any]:
    towns = some_meters.select(street=lambda m: m.address["street"], first=lambda m: m.phases[0])
    other = meters.select(street=lambda m: f.initcap(m.address["street"]), first=lambda m: m.phases[1])
    return towns.subtract(other).filter(lambda t: (t.first == 1) & f.contains(t.street, "Main"))


def test_usage() -> sd.Relation[Usage]:
    usage = sd.read_virtual([(1, Decimal("4.000")), (2, None)], Usage)
    only = usage.filter(lambda u: f.coalesce(u.kwh, Decimal("0.000")) > 1)
    return only.sort("customer_id").fetch(1)


def test_errors() -> None:
    with expecting(sd.SubstraitDslError):
        some_stations.sort("no_such_column")  # type: ignore[substrait-unknown-field]


def test_join_types() -> list[sd.Relation[Any]]:
    left = some_readings.select("meter_id", "kwh")
    right = some_meters.select("meter_id", "serial").rename(meter_id="id")
    semi = left.join(right, on=lambda a, b: a.meter_id == b.id, how="left_semi").select("kwh")
    anti = right.join(left, on=lambda a, b: a.id == b.meter_id, how="right_anti").select("meter_id")
    outer = left.join(right, on=lambda a, b: a.meter_id == b.id, how="outer").select("kwh", "serial")
    crossed = left.cross(right).filter(lambda r: r.meter_id < r.id).drop("serial")
    return [semi, anti, outer.filter(lambda r: r.serial.is_null()), crossed]


def build() -> list[sd.Relation[Any]]:
    test_errors()
    nested = sd.read_virtual([("x", None, "1")], Address).select(
        "street", all=lambda a: sd.list_of(a.street, a.zip_code)
    )
    return [
        test_usable(),
        test_daily(),
        test_regions(),
        test_good(),
        test_empty(),
        test_address(),
        test_usage(),
        *test_join_types(),
        nested.filter(lambda n: f.any_match(n.all, lambda x: x == "1")),
    ]
