"""Writes, updates, and the definitions of tables and views."""

import substrait_dsl as sd
from tests.typing.plugin.tables import Items, Orders, Parts, items, orders, parts

MESSAGE = sd.AnyMessage("example.com/acme.Table", b"1")

items.write(5)
items.write("t", "append")
items.write("t", op="upsert")
items.write("t", output="rows")
items.write("t", "ctas", create_mode="overwrite")
items.write("t", create_mode="error_if_exists")
items.write("t", schema=Parts)
items.write("t", schema=Orders)
items.select("part", "order", "quantity").write("t", schema=Items)
items.with_columns(quantity=lambda i: i.quantity.cast(sd.I64)).write("t", schema=Items)
items.with_columns(quantity=sd.null(sd.I32)).write("t", schema=Items)
orders.select("id", "rank").write("t", schema={"id": "i64", "rank": "i32"})
orders.select("id", "rank").write("t", schema={"id": "i64", "rang": sd.Nullable[sd.String]})
orders.select("id", "rank").write("t", schema={"id": "i64", "rank": "int"})
orders.select("id", "rank").write("t", schema=parts.schema)
items.cross(items).write("t", "ctas")
items.select("prt").write("t")
items.write("t").select("order")
items.write("t", output="modified_records").select("prt")
items.write("t", output="modified_records").filter(lambda r: r.quantity == "x")
items.write(sd.files_target("s3://x", "xml"))
items.write(sd.virtual_target(""))
items.write(sd.extension_object("t"))

sd.update("items", Items, {"quantty": 1}, where=True)
sd.update("items", Items, {"quantity": "1"}, where=True)
sd.update("items", Items, {"quantity": None}, where=True)
sd.update("items", Items, {"quantity": lambda i: i.part}, where=True)
sd.update("items", Items, {"quantity": sd.col("part")}, where=True)
sd.update("items", Items, {"quantity": 1}, where=lambda i: i.part)
sd.update("items", Items, {"quantity": 1}, where=sd.col("prt") > 1)
sd.update("items", Items, {"quantity": 1}, where=lambda i: i.prt > 1)
sd.update("items", Items, lambda i: {"quantity": i.part}, where=True)
sd.update("items", Items, lambda i: {"quantty": 1}, where=True)
sd.update("items", Items, [("quantity", 1)], where=True)
sd.update("items", Items, {}, where=True)
sd.update("items", {"part": "i64"}, {"part": lambda i: i.prt}, where=True)
sd.update("items", {"part": "i64"}, {"part": "x"}, where=lambda i: i.part > 1)
sd.update("items", Items, {"quantity": 1}, where=True).select("quantity")
sd.update(
    "items",
    Items,
    {
        "order": lambda i: i.order + 1,
        "quantity": lambda i: i.order + 1,
    },
    where=lambda i: i.quantity > 1,
)

sd.create_table("t", items)
sd.create_table("t", {"a": "strng"})
sd.create_table("t", {})
sd.create_table("t", Items, {"quantity": "many"})
sd.create_table("t", Items, {"quantty": 1})
sd.create_table("t", Items, {"quantity": sd.col("part")})
sd.create_table("t", Items, or_replace="yes")
sd.create_table(5, Items)
sd.create_table("t", Items).select("part")
sd.alter_table("t", Items, {"part": 1.5})
sd.drop_table("t", if_exists="yes")
sd.create_view("v", Items)
sd.create_view("v", items.select("prt"))
sd.create_view("v", items.cross(items))
sd.create_view("v", items.join(parts, "part"), or_replace=True)
sd.alter_view("v", "items")
sd.drop_view(5)
sd.extension_object(MESSAGE, 5)
