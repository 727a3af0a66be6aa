"""Columns that are not there, or that two columns might be."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, items, parts

items.select("prt")
items.select("part", "qantity")
items.select(3)
items.select(sd.col("prt"))
items.select(lambda i: i.prt)
items.select(items.c.prt)
items.select(items["prt"])
items.select(Items.prt)
items.select(total=sd.col("prt") + 1)
items.select(total=lambda i: i.prt + 1)
items.select(sd.col(7))
items.select("part", "part")
items.select("part", part=sd.col("order"))
items.select(sd.col("part") + 1)
items.select(lambda i: i.part + 1)
items.select()
items.select(lambda i: i["prt"])
items.select(label=parts.c.label)
items.project(twice=sd.col("qantity") * 2)
items.project(twice=lambda i: i.qantity * 2)
items.project(twice=items["qantity"] * 2)
items.project(part=sd.col("order"))
items.project(twice="part")
items.project()
items.with_columns(twice=lambda i: i.qantity * 2)
items.with_columns(part=sd.col("prt"))
items.with_columns(text="text")
items.drop("prt")
items.drop("order", "prt")
items.drop("order", "part", "quantity")
items.rename(prt="product")
items.rename(part="order")
items.rename(product="part")
items.rename({"prt": "product"})
items.emit([0, 3])
items.emit(["prt"])
items.filter(sd.col("prt") > 1)
items.filter(lambda i: i.prt > 1)
items.filter(items.c.prt > 1)
items.filter(items["prt"] > 1)
items.sort("prt")
items.sort(sd.desc("prt"))
items.sort("part", lambda i: i.qantity)
items.sort("part desc")
items.aggregate("prt", n=f.count())
items.group_by("prt").agg(n=f.count())
items.group_by("part").agg(total=f.sum(sd.col("qantity")))
items.group_by("part").agg(total=lambda i: f.sum(i.qantity))

two = items.join(parts, "part")
two.select("part")
two.filter(lambda r: r.part > 1)
two.filter(sd.col("part") > 1)
two.sort("part")
two.drop("part")
two.rename(part="product")
two.group_by("part").agg(n=f.count())
two.c.part
two["part"]
two.with_columns(part=1)

(
    items.filter(lambda i: i.quantity > 3)
    .with_columns(twice=lambda i: i.quantity * 2)
    .select("order", "twice")
    .filter(lambda r: r.twice > 5)
    .filter(
        lambda r: r.quantity > 5
    )
    .sort("order")
)
(
    items.rename(part="product")
    .group_by("product")
    .agg(
        n=f.count(),
        total=lambda i: f.sum(i.quantity),
    )
    .with_columns(
        half=lambda r: r.total / 2,
        share=lambda r: r.totl / r.n,
    )
    .filter(sd.col("n") > 1)
)
(
    items.select("order")
    .select("part")
    .select("nothing")
    .filter(sd.col("nothing") > 1)
)
