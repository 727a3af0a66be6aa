"""Relations that others import: with declared types, and with types that are inferred."""

from schemas import Archive, Brief, Orders

import substrait_dsl as sd
from substrait_dsl import functions as f

orders = sd.read_named("orders", Orders)
archive = sd.read_named("archive", Archive)
dear = orders.filter(lambda o: o.price > 100).select("key", "price", "note")
sums = orders.group_by("day").agg(total=lambda o: f.sum(o.price), count=f.count())
DAY = sd.col("day")
RATE = sd.lit(2, sd.I64)


def load() -> sd.Relation[Orders]:
    return orders


def brief() -> sd.Relation[Brief]:
    return orders.select("key", "price").as_(Brief)


class Source:
    def __init__(self) -> None:
        self.notes = orders.select("key", "note")

    @property
    def loaded(self) -> sd.Relation[Orders]:
        return orders
