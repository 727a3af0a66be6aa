"""Functions that ask for at least some columns, and give the others, too."""

from typing import Any, TypeVar

import substrait_dsl as sd
from tests.typing.plugin.tables import orders


class Weighed(sd.Schema):
    weight: sd.FP64


class Noted(sd.Schema):
    comment: sd.Nullable[sd.String]


class Parcel(Weighed):
    number: sd.I64


W = TypeVar("W", bound=Weighed)
N = TypeVar("N", bound=Noted)


def heavy(rows: sd.Relation[W], least: float = 100.0) -> sd.Relation[W]:
    return rows.filter(lambda r: r.weight > least).sort(sd.desc("weight"))


def same(rows: sd.Relation[W], other: sd.Relation[W] | None) -> sd.Relation[W]:
    return rows if other is None else rows.union_all(other)


def noted(rows: sd.Relation[N]) -> sd.Relation[N]:
    return rows.filter(lambda r: r.comment.is_not_null()).fetch(3)


def parcels(rows: sd.Relation[Parcel]) -> sd.Relation[Parcel]:
    return heavy(rows)


def heavier(rows: sd.Relation[W]) -> sd.Relation[W]:
    return heavy(heavy(rows), 200.0)


def unknown(rows: sd.Relation[Any], others: sd.Relation) -> None:
    heavy(rows).select("anything")
    heavy(others.select("weight")).select("weight")


class Steps:
    least = 10.0

    def heavy(self, rows: sd.Relation[W]) -> sd.Relation[W]:
        return heavy(rows, self.least)


sd.reveal_schema(heavy(orders.select("id", "weight")))
# N: Schema is id: i64, weight: fp64
sd.reveal_schema(heavier(noted(orders.select("weight", "comment"))))
# N: Schema is weight: fp64, comment: string?
sd.reveal_schema(noted(orders.select(comment=sd.lit("none"))))
# N: Schema is comment: string
sd.reveal_schema(Steps().heavy(orders.select("weight", "open")).select("open"))
# N: Schema is open: boolean
sd.reveal_schema(same(orders.select("weight"), orders.select("weight")))
# N: Schema is weight: fp64
sd.reveal_schema(parcels(orders.select("weight", number="id").as_(Parcel)))
# N: Schema is weight: fp64, number: i64
unknown(orders.select("weight", anything="id"), orders)
