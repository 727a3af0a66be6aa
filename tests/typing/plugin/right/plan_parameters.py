"""Values of plan parameters, where the relations are known, and where they are not."""

import datetime as dt
from typing import Any

import substrait_dsl as sd
from tests.typing.plugin.tables import Orders, orders

dear = orders.filter(lambda o: o.weight > sd.parameter(1, sd.FP64), sd.col("day") < sd.parameter(2, "date"))
values = {1: 1.5, 2: dt.date(2024, 1, 1)}
plan = sd.Plan(dear, orders, parameter_bindings=values)
plan.with_roots(dear.select("id"), parameter_bindings={1: sd.lit(2.0)})
sd.Plan(orders.fetch(sd.parameter(7, sd.I64)), parameter_bindings={7: 3})


def of_others(rows: sd.Relation[Orders], any_rows: sd.Relation[Any], condition: sd.Expr[sd.Boolean], on: Any) -> None:
    sd.Plan(rows, parameter_bindings={1: 2.0})
    sd.Plan(any_rows, dear, parameter_bindings={9: 2.0})
    sd.Plan(orders.filter(condition), parameter_bindings={9: 2.0})
    sd.Plan(orders.join(orders.select("id").rename(id="key"), on=on), parameter_bindings={9: 2.0})
    sd.Plan(orders.select(x=on), parameter_bindings={9: 2.0})
    sd.Plan(dear, parameter_bindings={on: 2.0})
    sd.Plan(dear, parameter_bindings=on)


def given(price: float, day: dt.date) -> sd.Plan:
    return sd.Plan(dear, parameter_bindings={1: price, 2: day})
