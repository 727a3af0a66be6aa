"""A name that is bound to one relation after another: each binding has its own columns."""

# mypy: allow-redefinition, local-partial-types

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders

rel = orders.filter(lambda o: o.open)
rel = rel.select("id", "rank")
rel.select("price")
# E: select: there is no column "price"; there are "id", "rank"  [substrait-unknown-field]
rel = rel.rename(id="order")
rel.filter(lambda r: r.id > 3)
# E: filter: there is no column "id"; there are "order", "rank"  [substrait-unknown-field]
rel.join(items, "id")
# E: join: on the left side: there is no column "id"; there are "order", "rank"; columns of different names need a
#    lambda: lambda l, r: l.x == r.y  [substrait-unknown-field]
rel = rel.join(items, lambda r, i: r.order == i.order).group_by("part").agg(n=f.count())
rel.sort("rank")
# E: sort: there is no column "rank"; there are "part", "n"  [substrait-unknown-field]

declared: sd.Relation
declared = orders
declared.select("part")
# E: select: there is no column "part"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment"  [substrait-unknown-field]
declared = declared.select("id", "rank")
declared.filter(lambda r: r.price > 3)
# E: filter: there is no column "price"; there are "id", "rank"  [substrait-unknown-field]
declared = items.group_by("part").agg(total=lambda i: f.sum(i.quantity))
declared.sort("quantity")
# E: sort: there is no column "quantity"; there are "part", "total"  [substrait-unknown-field]
