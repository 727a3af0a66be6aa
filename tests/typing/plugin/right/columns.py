"""Columns, by every way to name them, through the verbs that choose, leave out, rename, add and replace them."""

import datetime as dt
from decimal import Decimal

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, Orders, items, orders, parts

items.select("part", "quantity")
items.select("order", product="part", many="quantity").select("product", "many")
items.group_by(product="part", order="order").agg(n=f.count()).select("product", "n")
items.select(1, 2)
items.select(sd.col("part"), sd.col(2))
items.select(lambda i: i.part, lambda i: i["quantity"], lambda i: i[0])
items.select(items.c.part, items["quantity"], items[0])
items.select(Items.part, Items.quantity)
items.select("part", twice=lambda i: i.quantity * 2, one=1, text=sd.lit("x"), day=dt.date(2000, 1, 1))
items.select(
    (sd.col("part") + 1).alias("next"), lambda i: (i.part - 1).alias("last"), f.add(items.c.part, 1).alias("n")
)
items.project(
    twice=sd.col("quantity") * 2, half=lambda i: f.divide(i.quantity, 2), again=items.c.quantity, more=items["part"] + 1
)
items.with_columns(quantity=lambda i: i.quantity.cast(sd.I64), price=Decimal("1.5"))
items.with_columns(**{"line total": sd.col("quantity") * 2})
items.drop("part", 2).drop()
items.rename(part="product").rename({"product": "part", 2: "count"}).rename({})
SIDE = "right"
items.rename(lambda name: f"{name}_{SIDE}").rename(lambda name: name.upper()).select("PART_RIGHT")
sd.reveal_schema(items.rename(lambda name: {"part": "product"}.get(name, name)))
# N: Schema is order: i64, product: i64, quantity: i32
sd.reveal_schema(items.join(parts, using="part", how="outer"))
# N: Schema is order: i64?, part: i64, quantity: i32?, label: string?
sd.reveal_schema(items.asof_join(parts.select("part", since="part"), on=("order", "since"), by="part", tolerance=5))
# N: Schema is order: i64, part: i64, quantity: i32, since: i64?
sd.reveal_schema(items.select("order", "part").union_all(items.select("part", "order"), by_name=True))
# N: Schema is order: i64, part: i64
items.emit([2, 0, 0])
items.distinct()

two = items.join(parts, "part")
two.select(0, "quantity", "label")
two.select(sd.col(1).alias("part"), lambda r: r[3].alias("other"))
two.rename({3: "part_again"}).select("part", "part_again")
two.drop(3).sort("part")

(
    items.filter(lambda i: i.quantity > 3)
    .with_columns(twice=lambda i: i.quantity * 2)
    .select("order", "twice")
    .filter(lambda r: r.twice > 5)
    .sort("order", sd.desc("twice"))
    .select("twice")
    .rename(twice="x")
    .filter(sd.col("x") < 100)
)
(
    orders.filter(orders.c.open, orders.c.weight > 1.5, orders["rank"].is_not_null())
    .filter(sd.col("price") * 2 > 100, lambda o: o.day - sd.YearMonths(1, 2) < dt.date(2000, 1, 1))
    .with_columns(
        tax=lambda o: o.price * Decimal("0.19"),
        rank=lambda o: f.coalesce(o.rank, 0),
        text=sd.when(sd.col("open")).then("open").otherwise(None),
    )
    .select("id", "tax", "rank", "text")
)

sd.reveal_schema(items.select("order", product="part", text=sd.lit("part")))
# N: Schema is order: i64, product: i64, text: string
sd.reveal_schema(items.select("part", twice=lambda i: i.quantity * 2, one=1))
# N: Schema is part: i64, twice: i32, one: i64
sd.reveal_schema(orders.select("rank", tax=lambda o: o.price * Decimal("0.19"), part=lambda o: o.price / o.price))
# N: Schema is rank: i32?, tax: decimal<18,4>, part: decimal<38,10>
sd.reveal_schema(items.with_columns(part=sd.col("quantity"), x=sd.null(sd.String)).drop("order").rename(x="note"))
# N: Schema is part: i32, quantity: i32, note: string?
sd.reveal_schema(two.rename({3: "again"}).emit([3, 1]))
# N: Schema is again: i64, part: i64
sd.reveal_schema(orders.distinct())
# N: Schema is id: i64, customer: i64, price: decimal<15,2>, weight: fp64, day: date, open: boolean, rank: i32?,
#    comment: string?

names = [name for name in items.columns if name != "part"]
items.select(*names)
items.select(*items.columns)
items.drop(*["part", "order"])
columns = {name: sd.col(name) for name in ("part", "order")}
items.select(**columns).select("part")
items.with_columns(**{name: sd.lit(0) for name in names}).filter(lambda r: r.part > 3)
chosen = "part" if names else "order"
items.select(chosen).sort(chosen).filter(sd.col(chosen) > 3)
items.select(*(sd.col(name).alias(f"{name}_2") for name in names)).rename(order_2="o")

row: Orders = orders.c
orders.filter(row.open, row.id > 3)
late = orders.c.day > dt.date(1999, 12, 31)
orders.filter(late).filter(lambda o: o.open)
orders.filter(late & orders.c.open)
dear = sd.col("price") > 100
orders.filter(dear).select("price").filter(dear)

shared = {"a": sd.I64}
sd.reveal_schema(sd.read_named("t", {**shared, "b": sd.String}))
# N: Schema is a: i64, b: string
sd.reveal_schema(sd.read_virtual([(number, str(number)) for number in range(3)], {"a": sd.I64, "b": sd.String}))
# N: Schema is a: i64, b: string
added = {"y": sd.col("part")}
sd.reveal_schema(items.select(*["part", "order", "quantity"][1:], **{"x": sd.lit(1), **added}))
# N: Schema is order: i64, quantity: i32, x: i64, y: i64
again = items.as_(Items)
again.filter(items.c.part > 1).distinct()
other_name = items
again_by_it = other_name.as_(Items)
items.filter(again_by_it.c.part > 1).filter(lambda i: i["quantity"] > 3)
