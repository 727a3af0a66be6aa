"""Orders, parts of the rows, top-n."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import customers, items

narrow = items.select("part", "quantity")

items.sort()
# E: sort: a sort needs at least one key  [substrait-invalid-argument]
items.sort("prt")
# E: sort: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.sort("part", "prt")
# E: sort: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.sort("-part")
# E: sort: there is no column "-part"; there are "order", "part", "quantity"; write
#    desc("part")  [substrait-unknown-field]
items.sort("part desc")
# E: sort: there is no column "part desc"; there are "order", "part", "quantity"; write
#    desc("part")  [substrait-unknown-field]
items.sort(7)
# E: sort: there is no column 7: the relation has 3 columns  [substrait-unknown-field]
items.sort(1.5)
# E: sort: expected a column or an expression to sort by, got 1.5  [substrait-invalid-argument]
items.sort(None)
# E: sort: expected a column or an expression to sort by, got None  [substrait-invalid-argument]
items.sort(lambda i: i.prt)
# E: sort: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.sort(sd.asc("prt"))
# E: sort: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.sort(sd.desc(lambda i: i.prt))
# E: sort: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.sort(sd.asc("part", nulls="lowest"))
# E: unknown nulls 'lowest'; expected one of "first", "last"; a second column has a key of its own:
#    asc('lowest')  [substrait-invalid-choice]
items.sort(lambda i: i.part.desc(nulls="lowest"))
# E: sort: unknown nulls 'lowest'; expected one of "first", "last"; a second column has a key of its own:
#    desc('lowest')  [substrait-invalid-choice]
items.sort(sd.clustered("prt"))
# E: sort: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.sort(items["prt"])
# E: there is no column "prt"; there are "order", "part", "quantity"; did you mean "part"?  [substrait-unknown-field]
items.sort(f.sum(sd.col("part")))
# E: sort: expected a column or an expression to sort by, got Measure(sum)  [substrait-invalid-argument]
items.sort(lambda i: f.sum(i.part))
# E: sort: expected a column or an expression to sort by, got Measure(sum)  [substrait-invalid-argument]
items.sort("part").select("prt")
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
narrow.sort("order")
# E: sort: there is no column "order"; there are "part", "quantity"  [substrait-unknown-field]
narrow.sort(sd.desc("order"), "part")
# E: sort: there is no column "order"; there are "part", "quantity"  [substrait-unknown-field]
narrow.sort(lambda i: i.order)
# E: sort: there is no column "order"; there are "part", "quantity"  [substrait-unknown-field]
narrow.sort(lambda i: i.part.desc(), lambda i: i.order.asc())
# E: sort: there is no column "order"; there are "part", "quantity"  [substrait-unknown-field]
narrow.sort(lambda i: f.upper(i.part))
# E: sort: no overload takes upper(i64); cast argument 1 from i64 to string  [substrait-function-not-found]
narrow.sort(sd.asc(sd.col("part") + "x"))
# E: sort: no overload takes add(i64, 'x'); 'x' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
items.sort(sd.compared("part", f.equal))
# E: sort: a comparison function gives an integer, but equal(x: any1, y: any1) -> boolean gives
#    boolean  [substrait-type-mismatch]
items.fetch("10")
# E: fetch: the count is a number of rows, got '10'  [substrait-type-mismatch]
items.fetch(-1)
# E: fetch: the count of a fetch must not be negative, got -1  [substrait-invalid-argument]
items.fetch(10, -2)
# E: fetch: the offset of a fetch must not be negative, got -2  [substrait-invalid-argument]
items.fetch(1.5)
# E: fetch: the count is a number of rows, got 1.5  [substrait-type-mismatch]
items.fetch(10, offset="2")
# E: fetch: the offset is a number of rows, got '2'  [substrait-type-mismatch]
items.fetch(sd.lit("x"))
# E: fetch: the count of a fetch must be an integer, this is string  [substrait-type-mismatch]
items.fetch(sd.col("part"))
# E: fetch: the count of a fetch must not depend on a row, but it refers to a column  [substrait-invalid-argument]
items.limit(-1)
# E: limit: the count of a fetch must not be negative, got -1  [substrait-invalid-argument]
items.limit("10")
# E: limit: the count is a number of rows, got '10'  [substrait-type-mismatch]
items.limit(None)
# E: limit: expected a number of rows, got None  [substrait-invalid-argument]
items.fetch(10).select("prt")
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.limit(10).filter(lambda i: i.part == "x")
# E: filter: no overload takes equal(i64, 'x'); 'x' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
items.top_n("part", 5)
# E: top_n: the count is a number of rows, got 'part'  [substrait-type-mismatch]
items.top_n(5)
# E: top_n: a top-n needs at least one key  [substrait-invalid-argument]
items.top_n(5, "prt")
# E: top_n: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.top_n(5, sd.desc("prt"))
# E: top_n: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.top_n(5, lambda i: i.prt)
# E: top_n: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.top_n(-5, "part")
# E: top_n: the count of a top-n must not be negative, got -5  [substrait-invalid-argument]
items.top_n(5, "part", offset=-1)
# E: top_n: the offset of a top-n must not be negative, got -1  [substrait-invalid-argument]
items.top_n(5, "part", with_ties="yes")
# E: top_n: with_ties is True or False, got 'yes'  [substrait-invalid-argument]
narrow.top_n(5, "order")
# E: top_n: there is no column "order"; there are "part", "quantity"  [substrait-unknown-field]
narrow.top_n(5, "part").select("order")
# E: select: there is no column "order"; there are "part", "quantity"  [substrait-unknown-field]
customers.sort("address")
customers.sort("notes")
customers.sort(lambda c: c.address["zip"])
# E: sort: there is no field "zip" in struct<string, string?>; there are "street",
#    "city"  [substrait-unknown-field]
