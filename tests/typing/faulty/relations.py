"""Verbs called with what they do not take."""

import substrait_dsl as sd
from substrait_dsl import Relation
from substrait_dsl import functions as f
from tests.typing.tables import Customers, Orders

orders = sd.read_named("orders", Orders)
customers = sd.read_named("customers", Customers)

orders.fitler(lambda o: o.o_open)  # E: a misspelt verb
orders.filter(lambda o: o.o_orderkey)  # E: a number is no condition
orders.filter(orders.c.o_orderkey)  # E: the same without a lambda
orders.filter(lambda o: o.o_orderkey == "x")  # E: another type: Python's own == gives a bool
orders.filter(lambda o: f.sum(o.o_orderkey))  # E: nor is a measure
orders.filter(lambda o: o.o_orderky > 1)  # E: a misspelt column
orders.filter(lambda o, c: o.o_open)  # E: there is one row
orders.filter("o_open")  # E: a text is no condition
orders.project(total=lambda o: f.sum(o.o_orderkey))  # E: a measure outside of aggregate
orders.with_columns(total=f.sum(sd.col("o_orderkey")))  # E: the same without a lambda
orders.select(lambda o: o.o_orderky)  # E: a misspelt column
orders.aggregate("o_custkey", total=lambda o: o.o_orderkey + 1)  # E: an expression is no measure
orders.aggregate("o_custkey", total=orders.c.o_orderkey)  # E: the same without a lambda
orders.group_by("o_custkey").agg(total=lambda o: o.o_orderkey)  # E: the same after group_by
orders.join(customers, lambda o, c: o.o_custkey == c.c_custkey, how="semi")  # E: an unknown join type
orders.join(customers, lambda o, c: o.o_custkey < c.c_name)  # E: other types
orders.join(customers, lambda o, c: c.o_custkey == o.c_custkey)  # E: the sides are swapped
orders.join(customers, lambda o: o.o_open)  # E: there are two rows
orders.join("customers", on="key")  # E: a name is no relation
orders.set_op("union", customers)  # E: an unknown set operation
orders.sort(sd.asc("o_rank", nulls="lowest"))  # E: an unknown null placement
orders.fetch("10")  # E: a count is a number
orders.limit(1.5)  # E: a whole number
orders.drop(lambda o: o.o_rank)  # E: columns are dropped by name
sd.read_files("orders.xml", Orders, format="xml")  # E: an unknown format
sd.read_named("orders", Orders, filter=lambda o: o.o_orderkey)  # E: a number is no condition
sd.read_named("orders", 64)  # E: a number is no schema
sd.when(orders.c.o_open).then(1).otherwize(2)  # E: a misspelt method


class Out(sd.Schema):
    key: sd.I64
    comment: sd.Nullable[sd.String]


orders.into(lambda o: Out(key=o.o_rank, comment=o.o_comment))  # E: nullable into required
orders.into(lambda o: Out(key=o.o_orderkey))  # E: a column is missing
orders.into(lambda o: o.o_orderkey)  # E: an expression is no row
orders.as_("Out")  # E: a name is no schema


def boundary() -> Relation[Customers]:
    return orders.filter(lambda o: o.o_open)  # E: other rows than declared


def undeclared() -> Relation[Customers]:
    return customers.select("c_name")  # E: unknown rows where declared ones are due
