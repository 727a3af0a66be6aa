"""Set operations over inputs that differ, and what comes out of them."""

import substrait_dsl as sd
from tests.typing.plugin.tables import customers, items, orders, parts

two = items.select("order", "part")
other = parts.rename(part="order", label="part")
maybe = orders.select("rank", "comment")
sure = orders.select(rank=lambda o: sd.lit(1, sd.I32), comment=lambda o: sd.lit("x", sd.String))

items.union_all(parts)
items.union(parts)
items.intersect(parts)
items.subtract(parts)
two.union_all(other)
two.union(other)
two.intersect(other)
two.subtract(other)
two.set_op("union_all", other)
two.set_op("union_distinct", other)
two.set_op("intersection_primary", other)
two.set_op("intersection_multiset", other)
two.set_op("intersection_multiset_all", other)
two.set_op("minus_primary", other)
two.set_op("minus_primary_all", other)
two.set_op("minus_multiset", other)
two.set_op("minus", two)
two.set_op("except", two)
two.set_op("union", two)
two.set_op("union_all")
two.union_all()
two.union_all(two, items)
two.union_all(two, two, parts)
two.union_all(items.select("part", "quantity"))
two.union_all("items")
two.union_all([two, two])
two.union_all(items.select("order", "prt"))
two.union_all(customers)
two.union_all(two).select("quantity")
two.union_all(parts.select(x="part", y="part"))
two.union(items.select("quantity", "part"), two)
maybe.subtract(sure).filter(lambda r: r.rank == "x")
maybe.intersect(sure).select("rnk")
two.union_all(two.rename(part="product")).filter(lambda r: r.product > 1)
(
    items.filter(lambda i: i.quantity > 1)
    .select("order", "part")
    .union_all(
        two,
        items.select("part", "order", "quantity"),
    )
    .distinct()
    .select("quantity")
)
