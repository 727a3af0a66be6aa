"""Functions of the file, those whose results the program shows, and others."""

from __future__ import annotations

import random
from typing import TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, items, orders

N = TypeVar("N", bound=sd.Null)
S = TypeVar("S", bound=sd.Schema)
WANTED = ["id", "weight"]


def number() -> int:
    return 5


def wanted() -> list[str]:
    return ["part", "quantity"]


def wanted_elsewhere() -> list[str]:
    return WANTED


def prefixed(name: str, prefix: str = "my") -> str:
    return f"{prefix}_{name}"


def share(part: sd.Expr[sd.FP64, N], rate: float = 0.5) -> sd.Expr[sd.FP64, N]:
    return part * (1.0 - rate)


def of_part(item: Items) -> sd.Expr[sd.Boolean]:
    least = 3
    return item.part > least


def by_chance() -> str:
    if random.random() > 2.0:
        return "prise"
    return "price"


def countdown(left: int) -> int:
    return countdown(left - 1) if left > 0 else 3


def large() -> sd.Relation:
    return items.filter(of_part).select("order", "part")


def last(rows: sd.Relation[S], key: str) -> sd.Relation[S]:
    return rows.sort(sd.desc(key)).fetch(number())


class Base:
    def key(self) -> str:
        return "none"


class Derived(Base):
    def key(self) -> str:
        return "part"


def of_a_class(base: Base) -> sd.Relation:
    return items.select("order", base.key())


sd.reveal_schema(items.select(*wanted()))
# N: Schema is part: i64, quantity: i32
sd.reveal_schema(items.fetch(number()).rename({"part": prefixed("part")}))
# N: Schema is order: i64, my_part: i64, quantity: i32
sd.reveal_schema(orders.select(a=lambda o: share(o.weight), b=lambda o: share(o.weight, rate=0.1)))
# N: Schema is a: fp64, b: fp64
sd.reveal_schema(items.select("part").filter(lambda i: i.part > countdown(3)))
# N: Schema is part: i64
sd.reveal_schema(last(items.filter(of_part), "part"))
# N: Schema is order: i64, part: i64, quantity: i32
orders.select(by_chance())
WANTED.append("day")
orders.select(*wanted_elsewhere())
of_a_class(Derived())

# What a function declares is what a variable has: other columns are assigned to it later.
rows = large()
rows = rows.filter(lambda r: r.part > 1)
rows = rows.select("part")
rows = rows.group_by("part").agg(n=f.count())
step = large().select("part")
step = step.rename(part="key")
