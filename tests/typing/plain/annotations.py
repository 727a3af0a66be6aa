"""Functions of a user's own: what they take and give can be named."""

from typing import Any, assert_type

import substrait_dsl as sd
from substrait_dsl import DynRow, Relation
from substrait_dsl import functions as f
from tests.typing.tables import Customers, Orders

orders = sd.read_named("orders", Orders)
customers = sd.read_named("customers", Customers)


def heaviest(column: str) -> sd.SortKey:
    return sd.desc(column, nulls="last")


def by_clerk(rows: Relation[Orders]) -> sd.GroupBy[Orders, Any]:
    return rows.group_by("o_clerk")


def weight(value: sd.Expr[sd.FP64, sd.Null]) -> sd.Measure[sd.FP64, sd.Null]:
    return f.sum(value)


def label(row: sd.Schema) -> sd.Expr[sd.String]:
    return row[0].cast(sd.String)


MEASURES: dict[str, sd.Measure[Any, Any]] = {"n": f.count(), "weight": f.sum(sd.col("o_weight"))}

assert_type(orders.sort(heaviest("o_weight"), orders.c.o_rank.asc()), Relation[Orders])
assert_type(sd.asc("o_weight"), sd.SortKey)
assert_type(by_clerk(orders).agg(total=lambda o: weight(o.o_weight)), Relation[DynRow])
assert_type(orders.group_by("o_clerk").agg(**MEASURES), Relation[DynRow])

# a function of any row takes those of every schema class, and those that nothing is known of
assert_type(orders.select(x=label), Relation[DynRow])
assert_type(customers.select("c_name").select(x=label), Relation[DynRow])
