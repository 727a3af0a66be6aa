"""Subqueries: correlated or not, in conditions and columns."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders, parts

narrow = items.select("order", "part")

orders.filter(lambda o: sd.exists(items.filter(lambda i: i.ordr == o.id)))
orders.filter(lambda o: sd.exists(items.filter(lambda i: i.order == o.idd)))
orders.filter(lambda o: sd.exists(items.filter(lambda i: i.order == o.day)))
orders.filter(lambda o: sd.exists(narrow.filter(lambda i: i.ordr == o.id)))
orders.filter(lambda o: sd.exists(narrow.filter(lambda i: i.order == o.comment)))
orders.filter(lambda o: sd.exists("items"))
orders.filter(sd.exists(items.select("prt")))
orders.filter(lambda o: o.id.is_in(items))
orders.filter(lambda o: o.id.is_in(items.select("prt")))
orders.filter(lambda o: o.id.is_in(parts.select("label")))
orders.filter(lambda o: o.id.is_in("abc"))
orders.filter(sd.col("id").is_in(parts.select("label")))
orders.filter(lambda o: o.id > sd.any_of(items))
orders.filter(lambda o: o.id > sd.all_of(parts.select("label")))
orders.filter(lambda o: o.id > sd.any_of([1, 2]))
orders.filter(lambda o: o.id == items)
orders.filter(lambda o: o.id > sd.scalar_subquery(items))
orders.filter(lambda o: o.id > sd.scalar_subquery(items.select("prt")))
orders.filter(lambda o: o.id > sd.scalar_subquery(parts.aggregate(m=f.any_value(sd.col("label")))))
orders.filter(lambda o: sd.record(o.id, o.customer).is_in(items))
orders.filter(lambda o: sd.record(o.id, o.day).is_in(narrow))
orders.filter(lambda o: sd.record(o.id, o.customer).is_in([(1, 2), (3,)]))
orders.filter(lambda o: sd.record(o.id, "customer").is_in([(1, 2)]))
orders.filter(sd.unique(items.select("prt")))
orders.with_columns(n=lambda o: sd.scalar_subquery(items.filter(lambda i: i.order == o.id).aggregate(n=f.cnt())))
orders.with_columns(
    total=lambda o: sd.scalar_subquery(
        items.filter(lambda i: i.order == o.id)
        .aggregate(n=lambda i: f.sum(i.quantity), m=f.count())
    )
)
orders.with_columns(
    total=lambda o: sd.scalar_subquery(
        items.filter(lambda i: i.order == o.id)
        .aggregate(n=lambda i: f.sum(i.quantty))
    )
)
orders.with_columns(total=lambda o: sd.scalar_subquery(items.aggregate(n=f.count()))).filter(lambda o: o.total > "1")
orders.fetch(sd.scalar_subquery(parts.select("label")))
