"""Relations of which some columns are known: what is wrong with these is wrong whatever the others are."""

from typing import Any, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders


class Weighed(sd.Schema):
    weight: sd.FP64


W = TypeVar("W", bound=Weighed)


def chosen(names: list[str]) -> None:
    some = orders.select(*names, total=lambda o: o.weight * 2.0)
    sd.reveal_schema(some)
    # N: Schema is ..., total: fp64
    some.filter(lambda r: r.total > "much")
    # E: filter: no overload takes gt(fp64, 'much'); 'much' does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]
    some.filter(lambda r: r.wait > 1.0)
    # E: filter: there is no column "wait"; there are "total", "id", "customer", "price", "weight", "day", "open",
    #    "rank", "comment"  [substrait-unknown-field]
    some.select("total").sort("weight")
    # E: sort: there is no column "weight"; there is "total"  [substrait-unknown-field]
    orders.drop(*names).filter(lambda o: o.weight > "heavy")
    # E: filter: no overload takes gt(fp64, 'heavy'); 'heavy' does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]
    counted = orders.group_by(*names).agg(n=f.count())
    counted.filter(lambda r: r.n == "one")
    # E: filter: no overload takes equal(i64, 'one'); 'one' does not fit i64: it takes an int, not a
    #    str  [substrait-function-not-found]


def joined(other: sd.Relation[Any], measures: dict[str, sd.Measure[sd.I64]]) -> None:
    both = items.join(other, on=lambda i, o: i.part == o.id, how="left")
    sd.reveal_schema(both)
    # N: Schema is order: i64, part: i64, quantity: i32, ...
    both.select("order", f.upper(sd.col("quantity")), x=lambda r: r.other)
    # E: select: no overload takes upper(i32); cast argument 1 from i32 to string  [substrait-function-not-found]
    items.join(other, on=lambda i, o: i.prt == o.id)
    # E: join: there is no column "prt"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
    other.select("id", n=lambda o: f.char_length(o.name)).filter(lambda r: r.m > 1)
    # E: filter: there is no column "m"; there are "id", "n"  [substrait-unknown-field]
    items.group_by("part").agg(n=f.count(), **measures).sort(sd.asc("n", nulls="latest"))
    # E: unknown nulls 'latest'; expected one of "first", "last"; did you mean "last"?  [substrait-invalid-choice]
    items.group_by("part").agg(n=f.count(), **measures).filter(lambda r: f.upper(r.n) == "X")
    # E: filter: no overload takes upper(i64); cast argument 1 from i64 to string  [substrait-function-not-found]


def asked(rows: sd.Relation[W]) -> None:
    more = rows.with_columns(double=lambda r: r.weight * 2.0)
    sd.reveal_schema(more)
    # N: Schema is ..., weight: fp64, double: fp64
    more.filter(sd.col("double") == "x")
    # E: filter: no overload takes equal(fp64, 'x'); 'x' does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]
    rows.filter(sd.col("weight") > "x").sort("anything")
    # E: filter: no overload takes gt(fp64, 'x'); 'x' does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]
