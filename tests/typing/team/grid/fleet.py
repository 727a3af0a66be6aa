"""Stations and their meters: dataclasses, TypedDicts and NamedTuples that hold relations."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, NamedTuple, TypedDict

import substrait_dsl as sd
from grid.tables import STATION, Address, Meter, Station, meters, outages, readings, stations
from substrait_dsl import functions as f


class Sources(TypedDict):
    meters: sd.Relation[Meter]
    stations: sd.Relation[Station]


class Limits(TypedDict, total=False):
    region: str
    least: float
    opened: dt.date


class Pair(NamedTuple):
    small: sd.Relation[Station]
    large: sd.Relation[Station]


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Counted(sd.Schema):
    station_id: sd.I32
    station_name: sd.String
    meters: sd.I64
    smart: sd.I64


class Place(sd.Schema):
    meter_id: sd.I64
    address: sd.Struct[Address]


SOURCES: Sources = {"meters": meters, "stations": stations}


@dataclass(frozen=True, slots=True)
class Fleet:
    meters: sd.Relation[Meter]
    stations: sd.Relation[Station]
    today: dt.date = dt.date(2025, 6, 1)

    @classmethod
    def of(cls, sources: Sources) -> Fleet:
        return cls(sources["meters"], sources["stations"])

    @property
    def active(self) -> sd.Relation[Meter]:
        return self.meters.filter(lambda m: m.removed_on.is_null() | (m.removed_on > self.today))

    @property
    def old(self) -> sd.Relation[Meter]:
        limit = dt.date(2010, 1, 1)
        return self.active.filter(lambda m: (m.installed_on < limit) & ~m.is_smart)

    def counted(self) -> sd.Relation[Counted]:
        joined = self.stations.join(self.active.rename(station_id="s"), on=lambda s, m: s.station_id == m.s)
        return (
            joined.group_by("station_id", "station_name")
            .agg(meters=f.count(), smart=lambda r: f.count().filter(r.is_smart))
            .as_(Counted)
        )

    def split(self, at: float) -> Pair:
        small = self.stations.filter(lambda s: s.capacity_kw < at)
        large = self.stations.filter(lambda s: s.capacity_kw >= at)
        return Pair(small, large)

    def limited(self, limits: Limits) -> sd.Relation[Station]:
        rows = self.stations
        if "region" in limits:
            rows = rows.filter(sd.col("region") == limits["region"])
        if "least" in limits:
            rows = rows.filter(lambda s: s.capacity_kw >= limits["least"])
        if "opened" in limits:
            rows = rows.filter(lambda s: s.opened_on >= limits["opened"])
        return rows

    def towns(self) -> sd.Relation[Any]:
        return (
            self.active.select(town=lambda m: m.address["town"], zip_code=lambda m: m.address["zip_code"])
            .filter(lambda p: f.like(p.zip_code, "10%"))
            .group_by("town")
            .agg(meters=f.count())
            .sort(sd.desc("meters"), sd.asc("town", nulls="last"))
        )

    def tagged(self, key: str) -> sd.Relation[Any]:
        return self.meters.select("meter_id", tag=lambda m: m.tags[key]).filter(lambda m: m.tag.is_not_null())

    def moved(self, street: str) -> sd.Relation[Place]:
        return self.meters.select(
            "meter_id",
            address=lambda m: sd.struct_of(
                street=sd.lit(street), town=m.address["town"], zip_code=m.address["zip_code"]
            ),
        ).as_(Place)


def sized(pair: Pair, size: Size) -> sd.Relation[Station]:
    return {Size.SMALL: pair.small, Size.LARGE: pair.large}[size]


def labelled(pair: Pair) -> sd.Relation[Any]:
    small = pair.small.select("station_name", size=sd.lit("small"))
    large = pair.large.select("station_name", size=sd.lit("large"))
    return small.union_all(large).sort("size", "station_name")


def joined(fleet: Fleet, how: Literal["inner", "left"]) -> sd.Relation[Any]:
    affected = outages.group_by(STATION).agg(outages=f.count(), affected=lambda o: f.sum(o.affected))
    return fleet.stations.join(affected.rename({"station_id": "station"}), lambda s, o: s.station_id == o.station, how)


def busiest(rows: Iterable[sd.Relation[Station]]) -> list[sd.Relation[Station]]:
    return [each.top_n(3, sd.desc("capacity_kw"), with_ties=True) for each in rows]


@contextmanager
def restricted(region: str) -> Iterator[sd.Relation[Station]]:
    yield stations.filter(lambda s: s.region == region)


def north() -> sd.Relation[Any]:
    with restricted("north") as rows:
        named = rows.select("station_id", label=lambda s: f.concat(s.station_name, " / ", s.region))
    return named.filter(lambda n: f.char_length(n.label) > 10)


def hashed(fleet: Fleet) -> sd.Relation[Any]:
    matched = fleet.active.hash_join(readings, [("meter_id", "meter_id")], "left_semi")
    merged = stations.sort("station_id").merge_join(
        outages.sort("station_id").select("outage_id", "station_id"), [("station_id", "station_id")], "left_anti"
    )
    return matched.join(merged.select(station=lambda s: s.station_id), on=lambda m, s: m.station_id == s.station)


def build() -> list[sd.Relation[Any]]:
    fleet = Fleet.of(SOURCES)
    pair = fleet.split(500.0)
    return [
        fleet.old.select("serial"),
        fleet.counted().filter(lambda c: c.smart < c.meters),
        *pair,
        fleet.limited({"region": "north", "least": 10.0, "opened": dt.date(2000, 1, 1)}),
        fleet.towns(),
        fleet.tagged("vendor").filter(lambda m: f.lower(m.tag) == "acme"),
        fleet.moved("Main Street").select(town=lambda p: p.address["town"]),
        sized(pair, Size.SMALL).filter(lambda s: s.opened_on > dt.date(1990, 1, 1)),
        labelled(pair),
        joined(fleet, "left").filter(lambda r: f.coalesce(r.outages, 0) == 0),
        *busiest(pair),
        north(),
        hashed(fleet),
    ]
