"""Loops over values that the program shows: each of them makes the calls in it."""

import substrait_dsl as sd
from tests.typing.plugin.tables import items, orders

NAMES = ("part", "prat")

for name in NAMES:
    items.select("order", name)
    # E: select: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
for name in ["order", "prat"]:
    items.filter(sd.col(name) > 1)
    # E: filter: there is no column "prat"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]
for key in {"order": 1, "prat": 2}:
    derived = items.select("part", "quantity")
    derived.select(key)
    # E: select: there is no column "order"; there are "part", "quantity"  [substrait-unknown-field]
for least in (1, "a"):
    items.filter(lambda i, least=least: i.part > least)
    # E: filter: no overload takes gt(i64, 'a'); 'a' does not fit i64: it takes an int, not a
    #    str  [substrait-function-not-found]
for count in (1, 2):
    orders.filter(lambda o, count=count: o.comment == count)
    # E: filter: no overload takes equal(string?, 1); cast argument 1 from string? to i64?, or write "1", a
    #    text  [substrait-function-not-found]

LEAST = {"heavy": 5, "light": "2"}
SIZES = ("small", 2)

for name, most in LEAST.items():
    orders.filter(lambda o, name=name, most=most: (o.comment == name) & (o.rank > most))
    # E: filter: no overload takes gt(i32?, '2'); '2' does not fit i32: it takes an int, not a str; write 2, a
    #    number  [substrait-function-not-found]
print([orders.filter(sd.col("comment") == size) for size in SIZES])
# E: filter: no overload takes equal(string?, 2); cast argument 1 from string? to i64?, or write "2", a
#    text  [substrait-function-not-found]
print({size: orders.select(size, "comment") for size in ("weight", "wight")})
# E: select: there is no column "wight"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment"; did you mean "weight"?  [substrait-unknown-field]
