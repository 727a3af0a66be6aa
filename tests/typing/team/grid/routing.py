"""Crews to outages: configuration in dicts, loops, comprehensions, dispatch tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import substrait_dsl as sd
from grid.tables import Crew, Outage, crews, outages, stations
from substrait_dsl import functions as f

REGIONS = ("north", "south", "harbour")
KEYS = ["region", "cause"]
RENAMED = {"station_id": "station", "region": "place"}
THRESHOLDS = {"storm": 500, "overload": 200, "digging": 50}
WINDOW: dict[str, Any] = {"partition_by": "region", "order_by": "started_at"}
MEASURES: dict[str, sd.Measure[Any, Any]] = {
    "outages": f.count(),
    "affected": f.sum(sd.col("affected")),
    "worst": f.max(sd.col("affected")),
}
LIST_TYPES = {"outage_id": sd.I64, "crew_id": sd.I32, "sent": sd.PrecisionTimestamp(6)}

located = outages.join(stations.rename(RENAMED), on=lambda o, s: o.station_id == s.station).rename(place="region")


def length(outage: sd.DynRow) -> sd.Expr[Any, Any]:
    return f.coalesce(outage.ended_at, dt.datetime(2025, 6, 1))


def by_severity() -> dict[str, sd.Relation[Outage]]:
    result = {}
    for cause, least in THRESHOLDS.items():
        result[cause] = outages.filter(lambda o, cause=cause, least=least: (o.cause == cause) & (o.affected > least))
    return result


def per_region() -> list[sd.Relation]:
    return [located.filter(sd.col("region") == region).drop("station", "station_name") for region in REGIONS]


def summary() -> sd.Relation:
    return located.group_by(*KEYS).agg(**MEASURES).sort(*KEYS)


def pivot() -> sd.Relation:
    columns = {
        f"{cause}_affected": f.sum(sd.col("affected")).filter(sd.col("cause") == cause)
        for cause in ("storm", "overload", "digging")
    }
    return located.group_by("region").agg(**columns).select("region", storms=lambda r: r.storm_affected)


def ranked() -> sd.Relation:
    return (
        located.with_columns(
            place=f.row_number().over(**WINDOW),
            so_far=lambda o: f.sum(o.affected).over(**WINDOW, rows=(None, 0)),
            before=lambda o: f.lag(o.cause).over(**WINDOW),
        )
        .filter(lambda o: o.place <= 3)
        .filter(lambda o: o.before.is_null() | (o.before != o.cause))
    )


def by_size(rows: sd.Relation[Outage]) -> sd.Relation[Outage]:
    return rows.sort(sd.desc("affected"), sd.asc("started_at"))


def by_age(rows: sd.Relation[Outage]) -> sd.Relation[Outage]:
    return rows.sort("started_at", "outage_id")


def open_first(rows: sd.Relation[Outage]) -> sd.Relation[Outage]:
    return rows.sort(sd.asc("ended_at", nulls="first")).limit(20)


ORDERS: dict[str, Callable[[sd.Relation[Outage]], sd.Relation[Outage]]] = {
    "size": by_size,
    "age": by_age,
    "open": open_first,
    "id": lambda rows: rows.sort("outage_id"),
}


def ordered(rows: sd.Relation[Outage], by: str) -> sd.Relation[Outage]:
    return ORDERS[by](rows)


def assigned(free: sd.Relation[Crew]) -> sd.Relation:
    candidates = located.join(
        free.filter(lambda c: f.cardinality(c.members) >= 2),
        on="region",
        how="left",
    )
    numbered = candidates.with_columns(
        choice=f.row_number().over(partition_by="outage_id", order_by=["crew_name", sd.desc("crew_id")])
    )
    return numbered.filter(lambda c: c.choice == 1).select("outage_id", "crew_id", sent=sd.lit(dt.datetime(2025, 6, 1)))


def history() -> sd.Relation:
    log = sd.read_virtual([(1, 7, dt.datetime(2025, 5, 1, 8)), (2, 9, dt.datetime(2025, 5, 2))], LIST_TYPES)
    return log.union_all(sd.read_named("dispatches", LIST_TYPES)).filter(lambda d: d.sent > dt.datetime(2025, 1, 1))


def shares() -> sd.Relation:
    rows = summary()
    named: dict[str, sd.Expr[Any, Any]] = {}
    for name in ("affected", "worst"):
        named[f"{name}_share"] = sd.col(name).cast(sd.FP64) / f.sum(sd.col("outages")).over().cast(sd.FP64)
    return rows.with_columns(**named).filter(lambda r: r.affected_share > 0.1)


def cleaned(names: tuple[str, ...] = ("cause", "region")) -> sd.Relation:
    return located.with_columns(**{name: lambda r, name=name: f.lower(f.trim(r[name], " ")) for name in names})


def build() -> list[sd.Relation[Any]]:
    severe = by_severity()
    return [
        *severe.values(),
        severe["storm"].union_all(severe["digging"]),
        *per_region(),
        summary().filter(lambda s: s.worst > 100),
        pivot(),
        ranked(),
        *[ordered(outages, by) for by in ("size", "age", "open", "id")],
        assigned(crews),
        history(),
        shares(),
        cleaned().filter(sd.col("cause") == "storm"),
        located.select("outage_id", until=length).filter(lambda o: o.until < dt.datetime(2025, 7, 1)),
    ]
