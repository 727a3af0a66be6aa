"""Functions that are called with columns that are not there, or that they do not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders

S = TypeVar("S", bound=sd.Schema)
Step = Callable[[sd.Relation[Any]], sd.Relation[Any]]


def newest(rows: sd.Relation[S], by: str, count: int) -> sd.Relation[S]:
    return rows.sort(sd.desc(by)).fetch(count)


newest(orders, "days", 3)
# E: sort: there is no column "days"; there are "id", "customer", "price", "weight", "day", "open", "rank", "comment";
#    did you mean "day"?  [substrait-unknown-field]
newest(items, count=3, by="part").filter(lambda i: i.part > "1")
# E: filter: no overload takes gt(i64, '1'); '1' does not fit i64: it takes an int, not a str; write 1, a
#    number  [substrait-function-not-found]


def cleaned(rows: sd.Relation[Any], *names: str, least: float | None = None) -> sd.Relation[Any]:
    conditions = [sd.col("id") > 1]
    if least is not None:
        conditions.append(sd.col("weight") > least)
    for name in names:
        rows = rows.with_columns(**{name: f.lower(sd.col(name))})
    return rows.filter(*conditions).select(*names)


cleaned(orders, "comment", "day")
# E: with_columns, column "day": no overload takes lower(date); cast argument 1 from date to
#    string  [substrait-function-not-found]
cleaned(orders.drop("weight"), "comment", least=2.5)
# E: filter: there is no column "weight"; there are "id", "customer", "price", "day", "open", "rank",
#    "comment"  [substrait-unknown-field]


def applied(rows: sd.Relation[Any], steps: list[Step]) -> sd.Relation[Any]:
    for step in steps:
        rows = step(rows)
    return rows


STEPS: list[Step] = [lambda rows: rows.filter(sd.col("quantity") > 1), lambda rows: rows.sort("amount")]
applied(items, STEPS)
# E: sort: there is no column "amount"; there are "order", "part", "quantity"  [substrait-unknown-field]
