"""Lateral and physical joins, exchanges, windows, writes, hints: what stays `Relation[S]`, and what lambdas get."""

import datetime as dt
from typing import assert_type

import substrait_dsl as sd
from substrait_dsl import DynRow, Relation
from substrait_dsl import functions as f
from tests.typing.tables import Customers, Orders

orders = sd.read_named("orders", Orders, ordering="o_orderkey", distribution=["o_custkey"], properties={"hint": "x"})
customers = sd.read_named("customers", Customers)
message = sd.AnyMessage("example.com/acme.Table", b"1")

assert_type(orders, Relation[Orders])
assert_type(sd.read_iceberg("s3://t/v1.json", Orders, snapshot_timestamp=dt.datetime.now(dt.UTC)), Relation[Orders])
assert_type(sd.read_iceberg("s3://t/v1.json", Orders, filter=lambda o: o.o_rank > 3), Relation[Orders])
assert_type(sd.read_iceberg("s3://t/v1.json", Orders, columns=["o_rank"], snapshot_id=5), Relation[DynRow])
assert_type(sd.read_extension(message, Orders, ordering=sd.desc("o_rank")), Relation[Orders])
assert_type(sd.read_files([sd.FileSlice("/o.parquet", start=4), "/p.parquet"], Orders), Relation[Orders])
assert_type(sd.extension_leaf(message, Orders), Relation[Orders])
assert_type(sd.extension_leaf(message, {"a": sd.I64}), Relation[DynRow])
assert_type(sd.extension_multi([orders, customers], message, Orders), Relation[Orders])
assert_type(orders.extension_single(message, Customers), Relation[Customers])

assert_type(
    orders.lateral_join(
        lambda o: customers.filter(lambda c: c.c_custkey == o.o_custkey).top_n(3, sd.desc("c_name")),
        on=lambda o, c: c.c_custkey == o.o_custkey,
        how="left",
    ),
    Relation[DynRow],
)
assert_type(orders.hash_join(customers, [("o_custkey", "c_custkey")], "left_semi", build="left"), Relation[DynRow])
assert_type(
    orders.hash_join(
        customers,
        lambda o, c: [o.o_custkey == c.c_custkey, o.o_orderkey == c.c_custkey],
        residual=lambda o, c: c.c_name != "",
    ),
    Relation[DynRow],
)
assert_type(orders.hash_join(customers, lambda o, c: o.o_custkey == c.c_custkey), Relation[DynRow])
assert_type(
    orders.sort("o_custkey").merge_join(customers, sd.join_key("o_custkey", "c_custkey", f.equal)), Relation[DynRow]
)
assert_type(orders.nested_loop_join(customers, lambda o, c: o.o_custkey < c.c_custkey), Relation[DynRow])

assert_type(orders.top_n(5, "o_rank", lambda o: o.o_orderkey, offset=1, with_ties=True), Relation[Orders])
assert_type(orders.exchange(sd.scatter("o_custkey"), partition_count=4), Relation[Orders])
assert_type(orders.exchange(sd.broadcast(), targets=[sd.exchange_target("tcp://x", 0)]), Relation[Orders])
assert_type(orders.merging_capture(blocking=True).simple_capture(), Relation[Orders])
assert_type(orders.unnest(lambda o: sd.list_of(o.o_orderkey, 5), element="one"), Relation[DynRow])
assert_type(
    orders.window(
        partition_by="o_custkey",
        order_by=[sd.desc("o_totalprice"), lambda o: o.o_rank],
        place=f.rank(),
        total=lambda o: f.sum(o.o_totalprice).frame(rows=(-3, 0)),
    ),
    Relation[DynRow],
)
assert_type(
    orders.expand(key=lambda o: o.o_orderkey, rank=lambda o: sd.switching(o.o_rank, None), one=1), Relation[DynRow]
)
assert_type(orders.expand(rank=sd.switching(sd.col("o_rank"), None)), Relation[DynRow])
assert_type(orders.aggregate("o_custkey", n=f.count(), method="hash"), Relation[DynRow])

assert_type(orders.write("copy"), Relation[DynRow])
assert_type(orders.write(("db", "copy"), "ctas", create_mode="replace_if_exists", schema=Orders), Relation[DynRow])
assert_type(orders.write(sd.files_target("s3://x", "orc"), output="modified_records"), Relation[DynRow])
assert_type(
    sd.update("orders", Orders, {"o_rank": lambda o: o.o_rank + 1}, where=lambda o: o.o_orderkey > 5), Relation[DynRow]
)
assert_type(sd.update("orders", Orders, lambda o: {"o_rank": o.o_rank + 1}, where=True), Relation[DynRow])
assert_type(sd.create_table("copy", Orders, {"o_rank": 1}, or_replace=True), Relation[DynRow])
assert_type(sd.create_view(("db", "v"), orders), Relation[DynRow])

assert_type(orders.hint(1000, alias="orders", saved=[(1, "hashtable")]), Relation[Orders])
assert_type(orders.with_extension(common=sd.AdvancedExtension((message,))), Relation[Orders])
assert_type(sd.shared(orders), Relation[Orders])
