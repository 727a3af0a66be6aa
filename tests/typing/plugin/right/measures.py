"""Measures that are computed of others: by operators, functions, conversions and conditions, of keys, too."""

from decimal import Decimal

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders

by_customer = orders.group_by("customer").agg(
    mean=lambda o: f.sum(o.weight) / f.count(o.weight).cast(sd.FP64),
    more=lambda o: f.avg(o.price) * Decimal("1.2"),
    total=lambda o: f.coalesce(f.sum(o.rank), 0),
    other=lambda o: f.coalesce(0, f.sum(o.rank)),
    rounded=lambda o: f.round(f.avg(o.price), 1),
    short=f.sum(sd.col("rank")).cast("i32", on_failure="return_null"),
    is_large=f.count() > 1,
    size=sd.when(f.count() > 10).then("large").otherwise("small"),
    word=sd.switch(f.count(), {1: "one"}, "many"),
    plain=lambda o: f.max(o.weight),
    key=lambda o: o.customer + f.count(),
)
sd.reveal_schema(by_customer)
# N: Schema is customer: i64, mean: fp64?, more: decimal<38,3>?, total: i64?, other: i64?, rounded: decimal<38,2>?,
#    short: i32?, is_large: boolean, size: string, word: string, plain: fp64?, key: i64
sd.reveal_schema(orders.group_by("customer", "open").rollup(x=lambda o: o.customer + f.count(), n=f.count()))
# N: Schema is customer: i64?, open: boolean?, x: i64?, n: i64, grouping_set: i32
items.aggregate(
    a=f.count().between(1, 5) & ~(f.count() == 3),
    b=f.count().is_in([1, 2]),
    c=f.sum(sd.col("quantity")).is_null(),
    d=f.sum(sd.col("quantity")).assert_not_null(),
    e=-f.count() % 2,
    g=abs(2 - f.count()),
)


def share(part: sd.Measure[sd.I64, sd.Null], of: sd.Measure[sd.I64, sd.Null]) -> sd.Measure[sd.FP64, sd.Null]:
    return part.cast(sd.FP64) / of.cast(sd.FP64)


items.group_by("part").agg(x=lambda i: share(f.sum(i.quantity), f.sum(i.order)))
