"""Schema classes, their instances, `into` and `as_`; types as values."""

from typing import Literal as L

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, items, orders, parts


class Total(sd.Schema):
    part: sd.I64
    total: sd.Nullable[sd.I64]


class Named(sd.Schema):
    id: sd.I64
    comment: sd.String


class More(Named):
    rank: sd.I32


items.into(lambda i: Total(part=i.part))
items.into(lambda i: Total(part=i.part, total=i.quantity))
items.into(lambda i: Total(part=i.part, total=i.order, more=i.order))
items.into(lambda i: Total(part=i.part, totl=i.order))
items.into(lambda i: Total(part=i.prt, total=i.order))
items.into(lambda i: Total(i.part, i.order))
items.into(lambda i: i)
items.into(lambda i: i.part)
items.into(Total)
items.into(lambda i: Total(part=sd.col("part"), total=sd.col("quantity")))
items.into(lambda i: Total(part=sd.col("prt"), total=sd.col("order")))
items.into(lambda i: Total(part=f.sum(i.part), total=i.order))
orders.into(lambda o: Named(id=o.id, comment=o.comment))
orders.into(lambda o: Named(id=o.rank, comment=f.coalesce(o.comment, "")))
orders.into(lambda o: More(id=o.id, comment=sd.lit("x", sd.String)))
orders.select("id", "comment").into(lambda o: Named(id=o.id, comment=o.comment))
orders.select("id", "comment").into(lambda o: Named(id=o.idd, comment=sd.lit("x", sd.String)))
orders.into(lambda o: Named(id=o.id, comment=sd.lit("x", sd.String))).select("rank")

items.as_(Total)
items.as_("Total")
items.as_({"part": "i64"})
items.select("part", total="order")
items.select("part", total=sd.col("order")).as_(Items)
items.select(total=sd.col("order"), part=sd.col("part")).as_(Total)
items.select("part", total=sd.col("quantity")).as_(Total)
orders.select("id", "comment").as_(Named)
orders.select("id", "comment", "rank").as_(More)
parts.as_(Items).select("part")
items.group_by("part").agg(total=lambda i: f.sum(i.order)).as_(Items)
items.group_by("part").agg(total=lambda i: f.avg(i.quantity)).as_(Total)
(
    items.group_by("part")
    .agg(total=lambda i: f.sum(i.order))
    .as_(Total)
    .filter(
        lambda t: t.total > "5",
    )
)

sd.Decimal(2, 3)
sd.Decimal(39, 2)
sd.FixedChar(0)
sd.PrecisionTimestamp(13)
sd.List(sd.String)
sd.Struct.of({"a": int})
sd.parse_type("strng")
sd.parse_type(5)
sd.I64(nullable="no")
sd.read_named("t", {"price": sd.Decimal(2, 3)})
orders.c.id.cast(sd.Decimal(2, 3))
orders.select(x=lambda o: o.id.cast(sd.Decimal(39, 2)))
sd.read_named("t", {"price": sd.Decimal[L[2], L[3]]})
