"""Reads of all kinds, writes, updates, definitions."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, Orders, items, orders

MESSAGE = sd.AnyMessage("example.com/acme.Table", b"1")
PRICES = {"id": sd.I64, "price": "decimal<15,2>", "name": sd.Nullable[sd.String], "at": sd.PrecisionTimestamp(6)}

prices = sd.read_named("prices", PRICES)
prices.select("id", "price").filter(lambda p: p.price > Decimal("0.50"))
prices.filter(prices.c.name == "x", prices["price"] > 3).filter(lambda p: p.at < dt.datetime(2000, 1, 1))
sd.read_named("prices", {"id": sd.I64, "price": "decimal<15,2>", "name": sd.String(nullable=True)}).select("name")
sd.read_named("prices", prices.schema).select("name")
sd.read_named(("catalog", "db", "items"), Items, filter=lambda i: i.part > 3, best_effort_filter=sd.col("part") < 100)
sd.read_named("items", Items, columns=["order", "part"]).select("part")
sd.read_named("items", Items, ordering=["order", sd.desc("part")], distribution=["part"], properties={"hint": "x"})
sd.read_named("items", Items, ordering="order", distribution="singleton").select("quantity")
sd.read_virtual([(1, 2, 3), (4, 5, 6)], Items).filter(lambda i: i.part > 3)
sd.read_virtual([{"order": 1, "part": 2, "quantity": 3}], Items).select("part")
sd.read_virtual([(1, "x"), (2, None)], {"id": sd.I64, "name": "string?"}).select("name")
sd.read_virtual(
    [(Decimal("1.25"), dt.date(2000, 1, 1), sd.lit(5))], {"a": "decimal<5,2>", "b": "date", "c": "i64"}
).select("b")
sd.read_virtual([], Items).select("part")
sd.read_virtual([(number, number, 1) for number in range(3)], Items).filter(lambda i: i.part > 1)
sd.read_files("items.parquet", Items).select("part")
sd.read_files("data/*.parquet", Items, kind="glob", columns=["part"]).sort("part")
sd.read_files([sd.FileSlice("/o.parquet", start=4), "/p.parquet", Path("/q.parquet")], Orders, filter=lambda o: o.open)
sd.read_files("o.csv", {"id": "string", "name": "string"}, format="csv", header="skip").select(
    id=lambda r: r.id.cast(sd.I64)
)
sd.read_files("o.csv", {"id": "string"}, format=sd.DelimitedText(field_delimiter=";")).select("id")
sd.read_csv("items.csv", Items, line_breaks="in_quotes", encoding="latin-1", header="skip").filter(
    lambda i: i.part > 3
).select("part")
sd.read_csv("o.csv", {"id": "i64", "day": "date?"}, separator=";", formats={"day": "%d/%m/%Y"}, invalid="null").select(
    next=lambda r: r.id + 1, year=lambda r: f.extract("YEAR", r.day)
)
sd.read_json("items.jsonl", Items, unknown_keys="error", invalid="null").filter(lambda i: i.part > 3).select("part")
sd.read_json("o.jsonl", {"id": "i64", "at": "precision_timestamp<6>?"}, formats={"at": "%d/%m/%Y %H:%M"}).select(
    next=lambda r: r.id + 1, year=lambda r: f.extract("YEAR", r.at)
)
sd.read_iceberg("s3://t/v1.json", Items, snapshot_id=5, filter=lambda i: i.part > 3).select("part")
sd.read_iceberg(
    "s3://t/v1.json", Items, snapshot_timestamp=dt.datetime(2000, 1, 1, tzinfo=dt.UTC), columns=["part"]
).sort("part")
sd.read_extension(MESSAGE, Items, ordering=sd.desc("part")).select("part")
sd.read_extension(MESSAGE, {"id": "i64"}).filter(lambda r: r.id > 3)

items.write("copy")
items.write(("db", "copy"), "ctas", create_mode="replace_if_exists", schema=Items)
items.write("copy", output="modified_records").select("part")
items.write("copy", schema={"order": "i64?", "part": "i64", "quantity": "i32"})
items.select("part", n=lambda i: i.quantity).write("copy", schema={"part": "i64", "number": "i32"})
items.write(sd.files_target("s3://x", "orc"), "insert").to_plan()
items.write(sd.files_target("s3://x/{order}/part={part}"), output="modified_records").select("part")
items.write(sd.virtual_target("memory", pin=True), "delete")
items.write(sd.extension_object(MESSAGE), "update")

sd.update("items", Items, {"quantity": 1, "part": lambda i: i.part + 1}, where=lambda i: i.quantity > 3)
sd.update("items", Items, {"quantity": sd.col("quantity") + 1}, where=True).select("modified_records")
sd.update("items", Items, lambda i: {"quantity": i.quantity + 1}, where=sd.col("part") > 3)
sd.update(("db", "orders"), Orders, {"rank": None, "price": Decimal("1.50")}, where=lambda o: o.open & (o.rank > 3))
sd.update("items", {"part": "i64"}, {"part": lambda i: i.part + 1}, where=lambda i: i.part > 3)
sd.create_table("copy", Items, {"quantity": 1}, or_replace=True)
sd.create_table("copy", items.schema)
sd.create_table("copy", {"a": "i64", "b": sd.Nullable[sd.String]}, {"b": "x"})
sd.alter_table("copy", Items, {"quantity": 1})
sd.drop_table("copy", if_exists=True)
sd.create_view("view", items.select("part"))
sd.create_view(("db", "view"), items.group_by("part").agg(n=f.count()), or_replace=True)
sd.alter_view("view", orders)
sd.drop_view("view")

sd.reveal_schema(prices)
# N: Schema is id: i64, price: decimal<15,2>, name: string?, at: precision_timestamp<6>
sd.reveal_schema(sd.read_named("items", Items, columns=["quantity", "order"]))
# N: Schema is quantity: i32, order: i64
sd.reveal_schema(items.write("copy", output="modified_records"))
# N: Schema is order: i64, part: i64, quantity: i32
sd.reveal_schema(sd.update("items", Items, {"quantity": 1}, where=True))
# N: Schema is modified_records: i64
