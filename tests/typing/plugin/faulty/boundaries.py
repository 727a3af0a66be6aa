"""Functions, classes and variables with declared relations and expressions: what goes in and what comes out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, Orders, Parts, items, orders, parts

S = TypeVar("S", bound=sd.Schema)


class Total(sd.Schema):
    part: sd.I64
    total: sd.Nullable[sd.I64]


def total(of: sd.Relation[Items]) -> sd.Relation[Total]:
    return of.group_by("part").agg(total=lambda i: f.sum(i.order)).as_(Total)


total(orders)
# E: Argument 1 to "total" has incompatible type "Relation[Orders]"; expected "Relation[Items]"  [arg-type]
total(items.select("part", "order"))
# E: the columns are not those of Items: quantity is missing; make them with select(...) or into(...), then
#    .as_(Items)  [substrait-schema]
total(total(items))
# E: Argument 1 to "total" has incompatible type "Relation[Total]"; expected "Relation[Items]"  [arg-type]
total("items")
# E: Argument 1 to "total" has incompatible type "str"; expected "Relation[Items]"  [arg-type]
total(items).select("order")
# E: select: there is no column "order"; there are "part", "total"  [substrait-unknown-field]
total(items).filter(lambda t: t.total == "many")
# E: filter: no overload takes equal(i64?, 'many'); 'many' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
total(items).filter(lambda t: t.totl > 3)
# E: filter: there is no column "totl"; there are "part", "total"; did you mean "total"?  [substrait-unknown-field]


def undeclared(of: sd.Relation[Items]) -> sd.Relation[Total]:
    return of.select("part")
    # E: the columns are not those of Total: total is missing; make them with select(...) or into(...), then
    #    .as_(Total)  [substrait-schema]


def misdeclared(of: sd.Relation[Items]) -> sd.Relation[Total]:
    counted = of.group_by("part").agg(n=f.count())
    return counted.as_(Total)
    # E: as_: the columns are not those of Total: total is missing; n is not declared  [substrait-schema]


def swapped(of: sd.Relation[Items], by: sd.Relation[Parts]) -> sd.Relation:
    joined = of.join(by, lambda i, p: p.part == i.label)
    # E: join: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]
    return joined.select("label").filter(lambda r: r.quantity > 3)
    # E: filter: there is no column "quantity"; there is "label"  [substrait-unknown-field]


def narrowed(rows: sd.Relation[S]) -> sd.Relation[S]:
    return rows.select("part")
    # E: Incompatible return value type (got "Relation[DynRow]", expected "Relation[S]")  [return-value]


def late(of: sd.Relation[Orders]) -> sd.Relation[Orders]:
    def dear(o: Orders) -> sd.Expr[sd.Boolean]:
        return o.price > "100"
        # E: no overload takes gt(decimal<15,2>, '100'); '100' does not fit decimal<15,2>: it takes a decimal.Decimal or
        #    an int, not a str; write Decimal('100'), a number  [substrait-function-not-found]

    minimum = of.aggregate(least=lambda o: f.min(o.weight))
    return of.filter(dear).filter(lambda o: o.weight == sd.scalar_subquery(minimum.select("most")))
    # E: select: there is no column "most"; there is "least"  [substrait-unknown-field]


def is_big(x: sd.Expr[sd.I64, sd.Null]) -> sd.Expr[sd.Boolean, sd.Null]:
    return x + 1
    # E: Incompatible return value type (got "Expr[I64, Null]", expected "Expr[Boolean, Null]")  [return-value]


def twice(x: sd.Expr[sd.I64]) -> sd.Expr[sd.I64]:
    return x * 2


orders.filter(lambda o: is_big(o.comment))
# E: Argument 1 to "is_big" has incompatible type "Expr[String, Null]"; expected "Expr[I64, Null]"  [arg-type]
orders.select(x=lambda o: twice(o.rank))
# E: Argument 1 to "twice" has incompatible type "Expr[I32, Null]"; expected "Expr[I64, Req]"  [arg-type]
orders.select(x=lambda o: twice(o.id)).filter(lambda r: r.x == "two")
# E: filter: no overload takes equal(i64, 'two'); 'two' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
orders.select("rank").select(x=lambda o: twice(o.rank))
# E: Argument 1 to "twice" has incompatible type "Expr[I32, Null]"; expected "Expr[I64, Req]"  [arg-type]
items.select(x=lambda i: twice(i.quantity))
# E: Argument 1 to "twice" has incompatible type "Expr[I32, Req]"; expected "Expr[I64, Req]"  [arg-type]
orders.into(lambda o: Total(part=twice(o.id), total=o.comment))
# E: Argument "total" to "Total" has incompatible type "Expr[String, Null]"; expected "Expr[I64, Null]"  [arg-type]


@dataclasses.dataclass
class Pipeline:
    source: sd.Relation[Items]
    result: sd.Relation | None = None

    def run(self) -> sd.Relation:
        self.source.select("prt")
        # E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
        #    "part"?  [substrait-unknown-field]
        self.result.select("part")
        # E: Item "None" of "Relation[DynRow | Any] | None" has no attribute "select"  [union-attr]
        self.result = self.source.group_by("part").agg(n=f.count())
        return self.result.filter(
            lambda r: r.m > 1,
            # E: filter: there is no column "m"; there are "part", "n"  [substrait-unknown-field]
        )

    def big(self) -> sd.Relation[Items]:
        self.source = parts
        # E: Incompatible types in assignment (expression has type "Relation[Parts]", variable has type
        #    "Relation[Items]")  [assignment]
        return self.source.filter(lambda i: i.quantity > "3")
        # E: filter: no overload takes gt(i32, '3'); '3' does not fit i32: it takes an int, not a str; write 3, a
        #    number  [substrait-function-not-found]


Pipeline(orders)
# E: Argument 1 to "Pipeline" has incompatible type "Relation[Orders]"; expected "Relation[Items]"  [arg-type]
Pipeline(items).source.select("label")
# E: select: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]
Pipeline(items).big().filter(lambda i: i.label == "x")
# E: filter: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]

either = items if len(items.columns) > 3 else parts
either.select("label")
# E: select: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]
either.filter(lambda r: r.part == "x")
# E: filter: no overload takes equal(i64, 'x'); 'x' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]


def perhaps(flag: bool) -> sd.Relation[Items] | None:
    return items.select("part") if flag else None
    # E: the columns are not those of Items: order is missing; quantity is missing; make them with select(...) or
    #    into(...), then .as_(Items)  [substrait-schema]


perhaps(True).select("part")
# E: Item "None" of "Relation[Items] | None" has no attribute "select"  [union-attr]
found = perhaps(True)
if found is not None:
    found.select("label")
    # E: select: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]

steps: list[Callable[[sd.Relation[Items]], sd.Relation[Items]]] = [total, lambda each: each.sort("prt")]
# E: List item 0 has incompatible type "Callable[[Relation[Items]], Relation[Total]]"; expected
#    "Callable[[Relation[Items]], Relation[Items]]"  [list-item]
# E: sort: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
tables: dict[str, sd.Relation] = {"items": items.select("prt")}
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
picked = [each.select("part", "label") for each in (items, items.limit(3))]
# E: select: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]
by_name = {name: items.select(part=sd.col(name)).select("order") for name in ("part", "order")}
# E: select: there is no column "order"; there is "part"  [substrait-unknown-field]


async def fetched() -> sd.Relation[Items]:
    return items.filter(lambda i: i.part > 3).sort("label")
    # E: sort: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]


async def selected() -> sd.Relation:
    rows = await fetched()
    return rows.select("label")
    # E: select: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]
