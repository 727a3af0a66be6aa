"""Expressions: operators, functions, conditionals, parts of values, windows, subqueries."""

import datetime as dt
from decimal import Decimal
from uuid import UUID

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import customers, items, orders, parts

derived = orders.select("id", "price", "weight", "day", "open", "rank", "comment")

for relation in (orders, orders.filter(lambda o: o.open)):
    relation.filter(lambda o: (o.id > 3) & (o.weight < 1.5) | ~o.open ^ (o.rank == 3))
    relation.filter(lambda o: o.id.between(1, 5) & o.comment.is_in(["a", None]) & o.rank.is_in([1, o.rank]))
derived.filter(lambda o: (o.id > 3) & (o.weight < 1.5) | ~o.open ^ (o.rank == 3))
derived.filter(lambda o: o.id.between(1, 5) & o.comment.is_in(["a", None]) & o.rank.is_in([1, o.rank]))
derived.filter(lambda o: o.price.between(1, Decimal("2.50")), lambda o: o.day.is_in([dt.date(2000, 1, 1)]))
derived.filter(lambda o: o.comment == "x").filter(lambda o: (o.id != o.id) == o.open)
derived.filter((sd.col("id") > 3) & (sd.col("weight") < 1.5) | ~sd.col("open") ^ (sd.col("rank") == 3))
derived.filter(sd.lit(True), lambda o: sd.lit(False) | o.open)
derived.select(
    a=lambda o: 1 + o.id,
    b=lambda o: 2 * o.price - 1,
    c=lambda o: -o.weight,
    e=lambda o: o.id % 2,
    d=lambda o: abs(o.rank),
)
derived.select(a=1 + sd.col("id"), b=2 * sd.col("price"), c=-sd.col("weight"), d=abs(sd.col("rank")), e=+sd.col("id"))
derived.select(day=lambda o: o.day - dt.timedelta(days=3), month=lambda o: o.day + sd.YearMonths(0, 1))
derived.select(x=lambda o: o.id.cast(sd.String), y=lambda o: o.comment.cast("i64", on_failure="return_null"))
derived.select(x=lambda o: o.id.cast(sd.Decimal(15, 2)) + o.price, y=sd.col("rank").cast(sd.Nullable[sd.I64]) + 1)
derived.select(x=sd.null(sd.I64), y=sd.lit(None, "i64?"), z=sd.lit(5, sd.I8), u=sd.lit(UUID(int=5)), v=sd.lit(b"x"))

derived.select(x=lambda o: sd.when(o.id > 3).then("a").when(o.open).then(o.comment).otherwise(None))
derived.select(x=lambda o: sd.switch(o.rank, {1: "one", 2: "two"}, default=o.comment))
derived.select(x=sd.switch(sd.col("rank"), {1: sd.col("id")}, default=0))
derived.select(
    x=lambda o: f.coalesce(o.rank, 0), y=lambda o: f.substring(o.comment, 1, 2), z=lambda o: f.sqrt(o.weight)
)
derived.select(x=f.extract("YEAR", sd.col("day")), y=lambda o: f.extract("MONTH", "ONE", o.day))
derived.select(x=lambda o: f.add(o.id, 1, overflow="ERROR"), y=lambda o: f.add(o.id, 1, overflow=["SATURATE", "ERROR"]))
derived.filter(lambda o: f.like(o.comment, "%x%") & f.starts_with(o.comment, "a"), f.and_(sd.col("open"), True))
derived.filter(f.or_(*[sd.col("id") == number for number in range(3)]))
derived.filter(*[sd.col("id") != number for number in range(3)])

customers.select(city=lambda c: c.address["city"], first=lambda c: c.tags[0], a=lambda c: c.notes["a"])
customers.select(lambda c: c.address["city"]).filter(lambda r: r.city == "Rome")
customers.select(sd.col("address")["street"]).sort("street")
customers.filter(lambda c: f.any_match(c.tags, lambda t: t == c.name)).filter(lambda c: f.upper(c.tags[0]) == "A")
customers.select(two=lambda c: sd.struct_of(tags=c.tags).keep({"tags": sd.elements(first=2)})).select("two")
customers.select(short=lambda c: c.address.keep("city")).select(city=lambda r: r.short["city"])
customers.select(s=lambda c: sd.struct_of(a=c.id, b="x")).filter(lambda r: (r.s["a"] > 3) & (r.s["b"] == "x"))
customers.select(xs=lambda c: sd.list_of(c.id, 5, None)).filter(lambda r: r.xs[0] > 3)
customers.select(m=lambda c: sd.map_of({"a": c.id})).filter(lambda r: r.m["a"] == 3)
customers.filter(lambda c: c.id == sd.parameter(0, sd.I64)).filter(sd.col("id") > sd.parameter(1, "i64"))
orders.filter(lambda o: o.day < sd.current_date())

orders.filter(lambda o: sd.exists(items.filter(lambda i: i.order == o.id)))
orders.filter(lambda o: o.id.is_in(items.select("order")) & sd.record(o.id, o.customer).is_in([(1, 2), (3, 4)]))
orders.filter(lambda o: sd.record(o.id, o.customer).is_in(items.select("order", "part")))
orders.filter(lambda o: o.id > sd.any_of(items.select("order")), lambda o: o.id == sd.all_of(parts.select("part")))
orders.filter(lambda o: o.id > sd.scalar_subquery(items.filter(lambda i: i.order == o.id).aggregate(n=f.count())))
orders.filter(sd.unique(items.select("order"))).filter(sd.exists(parts))
orders.with_columns(
    pieces=lambda o: sd.scalar_subquery(
        items.filter(
            lambda i: (i.order == o.id) & sd.exists(parts.filter(lambda p: (p.part == i.part) & o.open))
        ).aggregate(pieces=lambda i: f.sum(i.quantity))
    ),
).filter(lambda o: o.pieces > 3)

items.with_columns(
    n=f.row_number().over(partition_by="part", order_by=["order", sd.desc("quantity")]),
    total=lambda i: f.sum(i.quantity).over(order_by=i.order, rows=(-3, 0)),
    share=lambda i: i.quantity.cast(sd.FP64) / f.sum(i.quantity.cast(sd.FP64)).over(),
    last=f.lag(sd.col("part"), 1).over(order_by=lambda i: i.order),
    near=lambda i: f.count().over(order_by="part", range=(sd.preceding(2), None)),
).filter(lambda r: (r.n < 3) & (r.total > 5))

sd.reveal_schema(derived.select(a=lambda o: 2 * o.price - 1, b=lambda o: f.divide(o.id, 2), c=lambda o: o.rank == 3))
# N: Schema is a: decimal<18,2>, b: i64, c: boolean?
sd.reveal_schema(
    # N: Schema is a: decimal<26,2>?, b: i64?, c: fp64?, d: i64?, e: decimal<15,2>?, f: boolean?, g: boolean?,
    #    h: decimal<22,1>
    orders.select(
        a=lambda o: o.price * o.rank,
        b=lambda o: o.id + o.rank,
        c=lambda o: o.rank * o.weight,
        d=lambda o: f.coalesce(o.rank, o.id),
        e=lambda o: sd.when(o.id > o.rank).then(o.price).otherwise(o.rank),
        f=lambda o: o.rank.is_in([o.id]),
        g=lambda o: o.price.between(o.rank, o.id),
        h=lambda o: o.id * Decimal("1.2"),
    )
)
sd.reveal_schema(
    # N: Schema is x: string?, y: i32?
    derived.select(x=lambda o: sd.when(o.id > 3).then("a").otherwise(None), y=lambda o: f.coalesce(o.rank, 0))
)
sd.reveal_schema(items.select(n=f.row_number().over(order_by="part"), m=lambda i: f.sum(i.part).over()))
# N: Schema is n: i64?, m: i64?
sd.reveal_schema(customers.select(s=lambda c: sd.struct_of(a=c.id, b="x"), xs=lambda c: sd.list_of(c.id, None)))
# N: Schema is s: struct<i64, string>, xs: list<i64?>
sd.reveal_schema(
    # N: Schema is n: i64, e: boolean
    orders.select(n=lambda o: sd.scalar_subquery(items.aggregate(n=f.count())), e=lambda o: sd.exists(items))
)
