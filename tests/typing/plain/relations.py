"""Relations: what keeps the rows keeps their type; what makes others is of unknown rows until they are declared."""

import datetime as dt
from typing import assert_type

import substrait_dsl as sd
from substrait_dsl import I64, DynRow, Relation, String
from substrait_dsl import functions as f
from tests.typing.tables import Customers, Orders, Summary

orders = sd.read_named("orders", Orders)
customers = sd.read_named(("catalog", "customers"), Customers, filter=lambda c: c.c_name != "")

assert_type(orders, Relation[Orders])
assert_type(sd.read_named("orders", Orders, columns=["o_orderkey"]), Relation[DynRow])
assert_type(sd.read_virtual([(1, "a", "b" * 10)], Customers), Relation[Customers])
assert_type(sd.read_files("orders.csv", {"x": String}, format="csv"), Relation[DynRow])

assert_type(orders.filter(lambda o: o.o_orderkey > 3), Relation[Orders])
assert_type(orders.filter(orders.c.o_open, lambda o: o.o_rank > 3), Relation[Orders])
assert_type(orders.filter(sd.col("o_orderdate") < dt.date(1995, 1, 1)), Relation[Orders])
assert_type(orders.sort("o_rank", sd.desc(lambda o: o.o_rank + 1, nulls="last")).fetch(3, 1).limit(2), Relation[Orders])
assert_type(orders.distinct(), Relation[Orders])
assert_type(orders.union_all(orders), Relation[Orders])
assert_type(orders.set_op("minus_multiset", orders), Relation[Orders])

assert_type(orders.select("o_rank", twice=lambda o: o.o_rank * 2), Relation[DynRow])
assert_type(orders.project(year=lambda o: f.extract("YEAR", o.o_orderdate), one=1), Relation[DynRow])
assert_type(orders.with_columns(o_rank=lambda _: 1).drop("o_rank").rename(o_custkey="k"), Relation[DynRow])
assert_type(orders.join(customers, lambda o, c: o.o_custkey == c.c_custkey), Relation[DynRow])
assert_type(orders.join(customers, on=lambda o, c: o.o_custkey == c.c_custkey, how="left_mark"), Relation[DynRow])
assert_type(orders.cross(customers), Relation[DynRow])
assert_type(
    orders.aggregate("o_custkey", total=lambda o: f.sum(o.o_totalprice), n=f.count()).filter(lambda r: r.total > 1),
    Relation[DynRow],
)
assert_type(orders.group_by("o_custkey").agg(n=f.count()), Relation[DynRow])
assert_type(
    orders.filter(lambda o: sd.exists(customers.filter(lambda c: c.c_custkey == o.o_custkey))), Relation[Orders]
)


def summary(every: Relation[Orders]) -> Relation[Summary]:
    """Name the rows at function boundaries: the checker knows what comes in and what goes out."""
    return (
        every.aggregate("o_custkey", total=lambda o: f.sum(o.o_totalprice), comment=lambda o: f.any_value(o.o_comment))
        .rename(o_custkey="key")
        .as_(Summary)
    )


class Line(sd.Schema):
    key: I64
    text: sd.Nullable[String]


def lines(every: Relation[Orders]) -> Relation[Line]:
    return every.into(lambda o: Line(key=o.o_orderkey + 1, text=o.o_comment))


def first(rows: Relation) -> Relation:
    """A bare `Relation` is one of any rows."""
    return rows.limit(1)


assert_type(lines(orders).c.text, sd.Expr[String, sd.Null])
assert_type(orders.into(lambda o: Line(key=sd.lit(1, I64), text=sd.lit("x", String))), Relation[Line])
assert_type(first(orders), Relation)
first(orders.select("o_rank")).filter(lambda o: o.o_rank > 3)
again: Relation = orders
again = again.select("o_rank")
