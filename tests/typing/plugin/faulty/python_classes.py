"""Schemas that are classes of Python: dataclasses, TypedDict, NamedTuple, models of attrs and pydantic."""

import dataclasses

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin import models
from tests.typing.plugin.models import Counter, Half, Marked, Outer, Pair, Wheel

orders = sd.read_named("orders", models.Order)
orders.filter(lambda o: o.prize > 1)
# E: filter: there is no column "prize"; there are "key", "color", "level", "price", "cost", "comment", "place",
#    "route", "tags", "day", "at", "state", ... (17 in all); did you mean "price"?  [substrait-unknown-field]
sd.reveal_schema(orders.group_by("state").agg(total=lambda o: f.sum(o.price), n=lambda o: f.sum(o.pieces)))
# N: Schema is state: string?, total: decimal<38,2>?, n: i64?
sd.reveal_schema(orders.select(lambda o: o.place["y"], lambda o: o.city["name"], "code"))
# N: Schema is y: fp64?, name: string, code: varchar<5>
sd.read_files("wheels.parquet", Wheel).select("nme")
# E: select: there is no column "nme"; there are "key", "name", "raw"; did you mean "name"?  [substrait-unknown-field]
sd.read_virtual([((1, 2), None)], Pair).filter(lambda r: r.first == 1)
# E: filter: no overload takes equal(list<i64>, 1); 1 does not fit list<i64>: it takes a list, not an
#    int  [substrait-function-not-found]
counters = sd.read_named("counters", Counter)
sd.reveal_schema(counters.join(sd.read_named("t", Outer.Inner), lambda c, i: c.count == i.x))
# N: Schema is count: i64, share: fp64?, x: i64
sd.reveal_schema(sd.read_named("readings", Marked))
# N: Schema is count: i64, value: decimal<12,3>, other: decimal<5,1>, at: precision_timestamp_tz<6>, local:
#    precision_timestamp<6>?, marks: list<string>
sd.read_named("half", Half)
# E: read_named, column "name": a column stands in every row, but the key may be missing; write a type | None in its
#    place  [substrait-invalid-argument]
sd.read_named("prices", models.NoDigits)
# E: read_named, column "price": decimal.Decimal does not say how many digits it has; write Annotated[decimal.Decimal,
#    Decimal(15, 2)], of the type of this library  [substrait-invalid-argument]
sd.read_named("t", models.Itself)
# E: read_named, column "me": Itself holds itself, but a type has no end then  [substrait-schema]
sd.read_named("t", models.OneOf)
# E: read_named, column "x": a column has one type, and not one of int, str  [substrait-invalid-argument]


def read(class_: type[models.Keyed]) -> None:
    """A subclass of it may have more columns, so nothing is known."""
    sd.reveal_schema(sd.read_named("t", class_))
    # N: Schema is unknown


def read_one_of_here() -> None:
    """A class in a function sees the names of the module alone, and is not looked for."""

    @dataclasses.dataclass
    class Here:
        x: int

    sd.reveal_schema(sd.read_named("t", Here))
    # N: Schema is unknown
