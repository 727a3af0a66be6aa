"""Exchanges, expands, hints, extensions, shared relations."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import customers, items, orders

MESSAGE = sd.AnyMessage("example.com/acme.Thing", b"1")

items.exchange("part")
items.exchange("hash")
items.exchange(sd.broadcast)
items.exchange(None)
items.exchange(sd.scatter())
items.exchange(sd.scatter("prt"))
items.exchange(sd.scatter(lambda i: i.prt))
items.exchange(sd.scatter(lambda i: i.part + 1))
items.exchange(sd.single_bucket("part"))
items.exchange(sd.single_bucket(lambda i: i.part))
items.exchange(sd.single_bucket("quantity", constrained=True))
items.exchange(sd.multi_bucket("quantity"))
items.exchange(sd.broadcast(), partition_count=0)
items.exchange(sd.broadcast(), partition_count="8")
items.exchange(sd.broadcast(), targets="tcp://x")
items.exchange(sd.broadcast(), partition_count=2, targets=[sd.exchange_target("x", 2)])
items.exchange(sd.round_robin(exact="yes"))
items.exchange(sd.scatter("part")).select("prt")
sd.exchange_target(7)
sd.exchange_target("x", "0")

items.expand()
items.expand(x=1, index="x")
items.expand(x=1, index=2)
items.expand(x="part")
items.expand(x=sd.switching("part", None))
items.expand(x=sd.switching(None))
items.expand(x=sd.switching(sd.col("part"), "x"))
items.expand(x=sd.switching(sd.col("part"), sd.col("quantity")))
items.expand(x=lambda i: sd.switching(i.part, i.quantity))
items.expand(x=lambda i: sd.switching(i.prt, None))
items.expand(x=sd.switching(sd.col("prt"), None))
items.expand(x=sd.switching(f.sum(sd.col("part"))))
items.expand(x=sd.switching())
items.expand(part=sd.switching(sd.col("part"), None)).select("order")
items.expand(part=sd.switching(sd.col("part"), None)).filter(lambda r: r.index == "1")

items.merging_capture(blocking="yes")
items.merging_capture().select("prt")
items.simple_capture().filter(lambda i: i.part == "x")
items.hint("broadcast")
items.hint(-1)
items.hint(1000, alias=5)
items.hint(saved=[(1, "hash")])
items.hint(1000).select("prt")
items.with_extension(MESSAGE)
items.extension_single(MESSAGE, {"a": "strng"})
items.extension_single(MESSAGE, {"a": "i64"}).select("part")
items.extension_single("message", {"a": "i64"})
sd.extension_multi([items, "orders"], MESSAGE, {"a": "i64"})
sd.extension_multi([items, orders], MESSAGE, {"a": "i64"}).select("part")
sd.shared("items")
sd.shared(items).select("prt")
sd.shared(items.select("part")).filter(lambda r: r.order > 1)

customers.select("nme").exchange(sd.scatter("id")).limit(5)
(
    customers.exchange(sd.scatter("id"), partition_count=8)
    .expand(
        id=sd.col("id"),
        name=sd.switching(sd.col("name"), "all", sd.col("id")),
    )
    .merging_capture()
)
