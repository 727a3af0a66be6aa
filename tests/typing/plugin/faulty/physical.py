"""Exchanges, expands, hints, extensions, shared relations."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import customers, items, orders

MESSAGE = sd.AnyMessage("example.com/acme.Thing", b"1")

items.exchange("part")
# E: exchange: expected a kind of exchange, got 'part'; write scatter("part")  [substrait-invalid-argument]
items.exchange("hash")
# E: exchange: expected a kind of exchange, got 'hash'; write scatter("column", ...)  [substrait-invalid-argument]
items.exchange(sd.broadcast)
# E: exchange: expected a kind of exchange, got the function broadcast; write broadcast()  [substrait-invalid-argument]
items.exchange(None)
# E: exchange: expected a kind of exchange, got None; write scatter(...), single_bucket(...), multi_bucket(...),
#    round_robin() or broadcast()  [substrait-invalid-argument]
items.exchange(sd.scatter())
# E: exchange, scatter: a scatter needs at least one field  [substrait-invalid-argument]
items.exchange(sd.scatter("prt"))
# E: exchange, scatter: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.exchange(sd.scatter(lambda i: i.prt))
# E: exchange, scatter: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.exchange(sd.scatter(lambda i: i.part + 1))
# E: exchange, scatter: a scatter goes by columns or fields of them, not by other
#    expressions  [substrait-invalid-argument]
items.exchange(sd.single_bucket("part"))
# E: exchange, single_bucket: the number of a bucket is an i32, this is i64  [substrait-type-mismatch]
items.exchange(sd.single_bucket(lambda i: i.part))
# E: exchange, single_bucket: the number of a bucket is an i32, this is i64  [substrait-type-mismatch]
items.exchange(sd.single_bucket("quantity", constrained=True))
# E: exchange: buckets constrained to the partition count need a partition count  [substrait-invalid-argument]
items.exchange(sd.multi_bucket("quantity"))
# E: exchange, multi_bucket: the numbers of several buckets are a list<i32>, this is i32  [substrait-type-mismatch]
items.exchange(sd.broadcast(), partition_count=0)
# E: exchange: the partition count must be at least 1, got 0  [substrait-invalid-argument]
items.exchange(sd.broadcast(), partition_count="8")
# E: exchange: the partition count is an int, got '8'  [substrait-invalid-argument]
items.exchange(sd.broadcast(), targets="tcp://x")
# E: exchange: targets is a list of exchange targets, got 'tcp://x'; write exchange_target(uri,
#    *partition_ids)  [substrait-invalid-argument]
items.exchange(sd.broadcast(), partition_count=2, targets=[sd.exchange_target("x", 2)])
# E: exchange: there is no partition 2: there are 2  [substrait-invalid-argument]
items.exchange(sd.round_robin(exact="yes"))
# E: round_robin: exact is True or False, got 'yes'  [substrait-invalid-argument]
items.exchange(sd.scatter("part")).select("prt")
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.exchange_target(7)
# E: exchange_target: the destination is a message, got 7; write AnyMessage(type_url, value), or give a protobuf
#    message  [substrait-invalid-argument]
sd.exchange_target("x", "0")
# E: exchange_target: the number of a partition is an int, got '0'  [substrait-invalid-argument]

items.expand()
# E: expand: expected at least one column, as name=switching(...) or name=expression  [substrait-invalid-argument]
items.expand(x=1, index="x")
# E: expand: two columns would be called "x"; give one of them an alias  [substrait-schema]
items.expand(x=1, index=2)
# E: expand: the name of a column is a str, got 2  [substrait-invalid-argument]
items.expand(x="part")
# E: expand, column "x": expected a column, got the text 'part'; write col('part') for a column, lit('part') for
#    text  [substrait-invalid-argument]
items.expand(x=sd.switching("part", None))
# E: expand, column "x": 'part' may be a text or a column; write col('part') for the column, lit('part') for the
#    text  [substrait-invalid-argument]
items.expand(x=sd.switching(None))
# E: expand, column "x": every value is None; give one of them a type: null(type)  [substrait-literal]
items.expand(x=sd.switching(sd.col("part"), "x"))
# E: expand, column "x": the values of a switching field must have one type: 'x' does not fit i64: it takes an int, not
#    a str  [substrait-type-mismatch]
items.expand(x=sd.switching(sd.col("part"), sd.col("quantity")))
# E: expand, column "x": the values of a switching field must have one type: there is i64 and i32; cast them to one
#    type  [substrait-type-mismatch]
items.expand(x=lambda i: sd.switching(i.part, i.quantity))
# E: expand, column "x": the values of a switching field must have one type: there is i64 and i32; cast them to one
#    type  [substrait-type-mismatch]
items.expand(x=lambda i: sd.switching(i.prt, None))
# E: expand, column "x": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.expand(x=sd.switching(sd.col("prt"), None))
# E: expand, column "x": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.expand(x=sd.switching(f.sum(sd.col("part"))))
# E: expand, column "x": a value is an expression, but sum is an aggregate function; name it in aggregate(...), then
#    use the column in with_columns(...); or give it a window: sum(...).over(...)  [substrait-type-mismatch]
items.expand(x=sd.switching())
# E: switching: expected at least one value  [substrait-invalid-argument]
items.expand(part=sd.switching(sd.col("part"), None)).select("order")
# E: select: there is no column "order"; there are "part", "index"  [substrait-unknown-field]
items.expand(part=sd.switching(sd.col("part"), None)).filter(lambda r: r.index == "1")
# E: filter: no overload takes equal(i32, '1'); '1' does not fit i32: it takes an int, not a str; write 1, a
#    number  [substrait-function-not-found]

items.merging_capture(blocking="yes")
# E: merging_capture: blocking is True or False, got 'yes'  [substrait-invalid-argument]
items.merging_capture().select("prt")
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.simple_capture().filter(lambda i: i.part == "x")
# E: filter: no overload takes equal(i64, 'x'); 'x' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
items.unnest("part")
# E: unnest: only lists have elements, this is i64  [substrait-type-mismatch]
items.unnest(lambda i: sd.list_of(i.part, 5)).select("elemnt")
# E: select: there is no column "elemnt"; there are "order", "part", "quantity", "element", "offset"; did you mean
#    "element"?  [substrait-unknown-field]
items.hint("broadcast")
# E: hint: the row_count is a number, got 'broadcast'  [substrait-invalid-argument]
items.hint(-1)
# E: hint: the row_count of a hint must not be negative, got -1  [substrait-invalid-argument]
items.hint(1000, alias=5)
# E: hint: an alias is a str, got 5  [substrait-invalid-argument]
items.hint(saved=[(1, "hash")])
# E: hint: unknown type of computation 'hash'; expected one of "hashtable", "bloom_filter", "unknown"; did you mean
#    "hashtable"?  [substrait-invalid-choice]
items.hint(1000).select("prt")
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.with_extension(MESSAGE)
# E: with_extension: own is an AdvancedExtension, got AnyMessage(type_url='example.com/acme.Thing', value=b'1'); write
#    AdvancedExtension(optimizations=(...), enhancement=...)  [substrait-invalid-argument]
items.extension_single(MESSAGE, {"a": "strng"})
# E: extension_single, column "a": cannot read the type "strng": expected the name of a type at column 1, got "strng";
#    did you mean "string"?  [substrait-plan-format]
items.extension_single(MESSAGE, {"a": "i64"}).select("part")
# E: select: there is no column "part"; there is "a"  [substrait-unknown-field]
items.extension_single("message", {"a": "i64"})
# E: extension_single: the detail of an extension relation is a message, got 'message'; write AnyMessage(type_url,
#    value), or give a protobuf message  [substrait-invalid-argument]
sd.extension_multi([items, "orders"], MESSAGE, {"a": "i64"})
# E: extension_multi: expected a relation, got 'orders'; write read_named("orders", schema) for a table of that
#    name  [substrait-invalid-argument]
sd.extension_multi([items, orders], MESSAGE, {"a": "i64"}).select("part")
# E: select: there is no column "part"; there is "a"  [substrait-unknown-field]
sd.shared("items")
# E: shared: expected a relation, got 'items'; write read_named("items", schema) for a table of that
#    name  [substrait-invalid-argument]
sd.shared(items).select("prt")
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.shared(items.select("part")).filter(lambda r: r.order > 1)
# E: filter: there is no column "order"; there is "part"  [substrait-unknown-field]

customers.select("nme").exchange(sd.scatter("id")).limit(5)
# E: select: there is no column "nme"; there are "id", "name", "address", "tags", "notes"; did you mean
#    "name"?  [substrait-unknown-field]
(
    customers.exchange(sd.scatter("id"), partition_count=8)
    .expand(
        id=sd.col("id"),
        name=sd.switching(sd.col("name"), "all", sd.col("id")),
        # E: expand, column "name": the values of a switching field must have one type: there is string and i64; cast
        #    them to one type  [substrait-type-mismatch]
    )
    .merging_capture()
)
