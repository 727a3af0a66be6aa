"""Functions of the file whose results the program shows: they are evaluated where they are called."""

from __future__ import annotations

from typing import TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, items, orders

N = TypeVar("N", bound=sd.Null)


def first() -> int:
    """Give a number that no relation has rows for."""
    return -5


def keys() -> list[str]:
    return ["part", "quantty"]


def key(prefix: str, *, number: int = 2) -> str:
    end = number + 5
    return f"{prefix}{end}"


def weight() -> sd.Expr[sd.FP64]:
    return sd.col("wight")


def doubled(row: sd.Schema) -> sd.Expr[sd.I64]:
    return (row["prt"] * 2).cast(sd.I64)


def of_part(item: Items) -> sd.Expr[sd.Boolean]:
    least = 3
    return item.part > least


def share(part: sd.Expr[sd.FP64, N], rate: float = 0.5) -> sd.Expr[sd.FP64, N]:
    return part * rate


def large() -> sd.Relation:
    return items.filter(of_part).select("order", "part")


items.fetch(first())
# E: fetch: the count of a fetch must not be negative, got -5  [substrait-invalid-argument]
items.select(*keys())
# E: select: there is no column "quantty"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.select("order", key("part"))
# E: select: there is no column "part7"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
orders.select("id", weight())
# E: select: there is no column "wight"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment"; did you mean "weight"?  [substrait-unknown-field]
items.select("part", twice=doubled)
# E: select, column "twice": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.select("order").filter(of_part)
# E: filter: there is no column "part"; there is "order"  [substrait-unknown-field]
orders.select(part=lambda o: share(o.wieght))
# E: select, column "part": there is no column "wieght"; there are "id", "customer", "price", "weight", "day", "open",
#    "rank", "comment"; did you mean "weight"?  [substrait-unknown-field]
large().select("quantity")
# E: select: there is no column "quantity"; there are "order", "part"  [substrait-unknown-field]
large().filter(lambda r: r.quantity > 1).select("order")
# E: filter: there is no column "quantity"; there are "order", "part"  [substrait-unknown-field]
found = large()
found.sort("quantity")
# E: sort: there is no column "quantity"; there are "order", "part"  [substrait-unknown-field]
few = large().fetch(3)
few.group_by("order").agg(n=f.sum(sd.col("quantity")))
# E: agg, measure "n": there is no column "quantity"; there are "order", "part"  [substrait-unknown-field]
