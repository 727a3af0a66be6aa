"""Mistakes that plain typing does not see: the rows are unknown to it, or Python has no word for the rule.

All of them are errors when the program runs.
"""

import substrait_dsl as sd
from tests.typing.tables import Customers, Orders, Summary

orders = sd.read_named("orders", Orders)
customers = sd.read_named("customers", Customers)

orders.select("o_orderky")  # a misspelt name in a text
orders.filter(sd.col("o_orderky") > 1)  # the same as a column of any relation
orders.select("o_rank").filter(lambda r: r.o_orderkey > 1)  # a column that is gone
orders.union_all(customers)  # other columns
orders.select("o_rank").as_(Summary)  # other columns than declared
orders.filter(lambda o: customers.c.c_custkey > 1)  # a column of another relation
sd.Decimal(2, 3)  # more digits after the point than there are
sd.read_virtual([("one", "a", "b")], Customers)  # a value of another type
