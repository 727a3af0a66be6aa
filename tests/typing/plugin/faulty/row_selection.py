"""The verbs that keep some rows, or give a table another shape."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders

items.distinct(on="prt")
# E: distinct: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.distinct(on="part", keep="last")
# E: distinct: keep="last" needs an order; write order_by=..., or keep="any"  [substrait-invalid-argument]
items.first_of(0, order_by="part")
# E: first_of: expected a number of rows, at least 1, got 0  [substrait-invalid-argument]
orders.drop_nulls("rnk")
# E: drop_nulls: there is no column "rnk"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment"; did you mean "rank"?  [substrait-unknown-field]
orders.fill_null(rank="none")
# E: fill_null, column "rank": no overload takes coalesce(i32?, 'none'); 'none' does not fit i32: it takes an
#    int, not a str  [substrait-function-not-found]
orders.value_counts("coment")
# E: value_counts: there is no column "coment"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment"; did you mean "comment"?  [substrait-unknown-field]
orders.describe("rnk")
# E: describe: there is no column "rnk"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment"; did you mean "rank"?  [substrait-unknown-field]
orders.describe(percentiles=[50])
# E: describe: percentiles are numbers from 0 to 1, got 50; 0.5 is the median  [substrait-invalid-argument]
items.unpivot("part", "quantity")
# E: unpivot, column "value": the values of a switching field must have one type: there is i64 and i32; cast them to one
#    type  [substrait-type-mismatch]
sd.reveal_schema(orders.drop_nulls("rank", "comment").select("rank", "comment"))
# N: Schema is rank: i32, comment: string
sd.reveal_schema(orders.fill_null(rank=0, comment=lambda o: o.comment).select("rank", "comment"))
# N: Schema is rank: i32, comment: string?
sd.reveal_schema(orders.value_counts("rank", name="n"))
# N: Schema is rank: i32?, n: i64
faults = orders.describe("rank", percentiles=[0.9]).filter(lambda c: c.nulls > 0)
sd.reveal_schema(faults.select("column", "mean", "p90"))
# N: Schema is column: string, mean: fp64?, p90: string?
sd.reveal_schema(items.unpivot("part", "order", name="what", value="key"))
# N: Schema is quantity: i32, what: string, key: i64
sd.reveal_schema(items.group_by("part").pivot("order", [1, 2], lambda i: f.sum(i.quantity)))
# N: Schema is part: i64, 1: i64?, 2: i64?
sd.reveal_schema(items.first_of(2, partition_by="part", order_by=sd.desc("quantity")).distinct(on=["part"]))
# N: Schema is order: i64, part: i64, quantity: i32
