"""Writes, updates, and the definitions of tables and views."""

import substrait_dsl as sd
from tests.typing.plugin.tables import Items, Orders, Parts, items, orders, parts

MESSAGE = sd.AnyMessage("example.com/acme.Table", b"1")

items.write(5)
# E: write: the name of a table is a str or a tuple of str, got 5  [substrait-invalid-argument]
items.write("t", "append")
# E: write: unknown op 'append'; expected one of "insert", "delete", "update", "ctas"; write
#    "insert"  [substrait-invalid-choice]
items.write("t", op="upsert")
# E: write: unknown op 'upsert'; expected one of "insert", "delete", "update", "ctas"; write "update"
#    for rows whose key the table has, "insert" for the others  [substrait-invalid-choice]
items.write("t", output="rows")
# E: write: unknown output 'rows'; expected one of "no_output", "modified_records"  [substrait-invalid-choice]
items.write("t", "ctas", create_mode="overwrite")
# E: write: unknown create_mode 'overwrite'; expected one of "append_if_exists", "replace_if_exists",
#    "ignore_if_exists", "error_if_exists"; write "replace_if_exists"  [substrait-invalid-choice]
items.write("t", create_mode="error_if_exists")
# E: write: a create mode belongs to a ctas, and to nothing else; this is insert  [substrait-invalid-argument]
items.write("t", schema=Parts)
# E: write: the table has 2 columns, but 3 are given  [substrait-schema]
items.write("t", schema=Orders)
# E: write: the table has 8 columns, but 3 are given  [substrait-schema]
items.select("part", "order", "quantity").write("t", schema=Items)
# E: write: the columns are in another order than the table's: part, order, quantity instead of order, part, quantity;
#    they are written by position; select("order", "part", "quantity") first  [substrait-schema]
items.with_columns(quantity=lambda i: i.quantity.cast(sd.I64)).write("t", schema=Items)
# E: write: column "quantity" of the table is i32, but quantity: i64 is given; cast it to
#    i32  [substrait-type-mismatch]
items.with_columns(quantity=sd.null(sd.I32)).write("t", schema=Items)
# E: write: column "quantity" of the table is required, but quantity: i32? may be NULL; give it a value and say so:
#    functions.coalesce(x, ...).assert_not_null()  [substrait-type-mismatch]
orders.select("id", "rank").write("t", schema={"id": "i64", "rank": "i32"})
# E: write: column "rank" of the table is required, but rank: i32? may be NULL; give it a value and say so:
#    functions.coalesce(x, ...).assert_not_null()  [substrait-type-mismatch]
orders.select("id", "rank").write("t", schema={"id": "i64", "rang": sd.Nullable[sd.String]})
# E: write: column "rang" of the table is string?, but rank: i32? is given; cast it to
#    string?  [substrait-type-mismatch]
orders.select("id", "rank").write("t", schema={"id": "i64", "rank": "int"})
# E: write, column "rank": cannot read the type "int": expected the name of a type at column 1, got "int"; did you mean
#    "i32"?  [substrait-plan-format]
orders.select("id", "rank").write("t", schema=parts.schema)
# E: write: column "label" of the table is string, but rank: i32? is given; cast it to
#    string  [substrait-type-mismatch]
items.cross(items).write("t", "ctas")
# E: write: a schema names each column once; "order", "part", "quantity" stand twice or more  [substrait-schema]
items.select("prt").write("t")
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.write("t").select("order")
# E: select: there is no column "order"; there are none; of a write, write(..., output="modified_records") puts out
#    the rows that it wrote  [substrait-unknown-field]
items.write("t", output="modified_records").select("prt")
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.write("t", output="modified_records").filter(lambda r: r.quantity == "x")
# E: filter: no overload takes equal(i32, 'x'); 'x' does not fit i32: it takes an int, not a
#    str  [substrait-function-not-found]
items.write(sd.files_target("s3://x", "xml"))
# E: files_target: unknown format 'xml'; expected one of "parquet", "orc", "arrow", "dwrf",
#    "csv"  [substrait-invalid-choice]
items.write(sd.files_target("s3://x/{ordr}"))
# E: write: there is no column "ordr" that folders can be named after; there are "order", "part", "quantity"; did you
#    mean "order"?  [substrait-unknown-field]
items.write(sd.files_target("s3://x/{order}/{part}/{quantity}"))
# E: write: folders are named after all columns, and none is left for the files  [substrait-schema]
items.write(sd.virtual_target(""))
# E: virtual_target: the name of a table in memory is one text that is not empty, got ''  [substrait-invalid-argument]
items.write(sd.extension_object("t"))
# E: extension_object: the detail of an extension object is a message, got 't'; write AnyMessage(type_url, value), or
#    give a protobuf message  [substrait-invalid-argument]

sd.update("items", Items, {"quantty": 1}, where=True)
# E: update: there is no column "quantty"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
sd.update("items", Items, {"quantity": "1"}, where=True)
# E: update, column "quantity": '1' does not fit i32: it takes an int, not a str; write 1, a number  [substrait-literal]
sd.update("items", Items, {"quantity": None}, where=True)
# E: update, column "quantity": NULL does not fit i32, which is required  [substrait-literal]
sd.update("items", Items, {"quantity": lambda i: i.part}, where=True)
# E: update: column "quantity" of the table is i32, but quantity: i64 is given; cast it to
#    i32  [substrait-type-mismatch]
sd.update("items", Items, {"quantity": sd.col("part")}, where=True)
# E: update: column "quantity" of the table is i32, but quantity: i64 is given; cast it to
#    i32  [substrait-type-mismatch]
sd.update("items", Items, {"quantity": 1}, where=lambda i: i.part)
# E: update: the condition must be a boolean, this is i64  [substrait-type-mismatch]
sd.update("items", Items, {"quantity": 1}, where=sd.col("prt") > 1)
# E: update: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.update("items", Items, {"quantity": 1}, where=lambda i: i.prt > 1)
# E: update: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.update("items", Items, lambda i: {"quantity": i.part}, where=True)
# E: update: column "quantity" of the table is i32, but quantity: i64 is given; cast it to
#    i32  [substrait-type-mismatch]
sd.update("items", Items, lambda i: {"quantty": 1}, where=True)
# E: update: there is no column "quantty"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
sd.update("items", Items, [("quantity", 1)], where=True)
# E: update: changes is a dict of new values by column, got [('quantity', 1)]  [substrait-invalid-argument]
sd.update("items", Items, {}, where=True)
# E: update: an update needs at least one column to change  [substrait-invalid-argument]
sd.update("items", {"part": "i64"}, {"part": lambda i: i.prt}, where=True)
# E: update, column "part": there is no column "prt"; there is "part"; did you mean "part"?  [substrait-unknown-field]
sd.update("items", {"part": "i64"}, {"part": "x"}, where=lambda i: i.part > 1)
# E: update, column "part": 'x' does not fit i64: it takes an int, not a str  [substrait-literal]
sd.update("items", Items, {"quantity": 1}, where=True).select("quantity")
# E: select: there is no column "quantity"; there is "modified_records"  [substrait-unknown-field]
sd.update(
    "items",
    Items,
    {
        "order": lambda i: i.order + 1,
        "quantity": lambda i: i.order + 1,
        # E: update: column "quantity" of the table is i32, but quantity: i64 is given; cast it to
        #    i32  [substrait-type-mismatch]
    },
    where=lambda i: i.quantity > 1,
)

sd.create_table("t", items)
# E: create_table: expected a schema, got a relation; rel.write(name, "ctas") makes a table of its rows; rel.schema is
#    its schema, for an empty one  [substrait-invalid-argument]
sd.create_table("t", {"a": "strng"})
# E: create_table, column "a": cannot read the type "strng": expected the name of a type at column 1, got "strng"; did
#    you mean "string"?  [substrait-plan-format]
sd.create_table("t", {})
# E: create_table: a schema needs at least one column  [substrait-schema]
sd.create_table("t", Items, {"quantity": "many"})
# E: create_table, the default of "quantity": 'many' does not fit i32: it takes an int, not a str  [substrait-literal]
sd.create_table("t", Items, {"quantty": 1})
# E: create_table: there is no column "quantty"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
sd.create_table("t", Items, {"quantity": sd.col("part")})
# E: create_table, the default of "quantity": a default is a Python value, not an
#    expression  [substrait-invalid-argument]
sd.create_table("t", Items, or_replace="yes")
# E: create_table: or_replace is True or False, got 'yes'  [substrait-invalid-argument]
sd.create_table(5, Items)
# E: create_table: the name of a table is a str or a tuple of str, got 5  [substrait-invalid-argument]
sd.create_table("t", Items).select("part")
# E: select: there is no column "part"; there are none; of a write, write(..., output="modified_records") puts out
#    the rows that it wrote  [substrait-unknown-field]
sd.alter_table("t", Items, {"part": 1.5})
# E: alter_table, the default of "part": 1.5 does not fit i64: it takes an int, not a float  [substrait-literal]
sd.drop_table("t", if_exists="yes")
# E: drop_table: if_exists is True or False, got 'yes'  [substrait-invalid-argument]
sd.create_view("v", Items)
# E: create_view: expected a relation, got <class 'tests.typing.plugin.tables.Items'>  [substrait-invalid-argument]
sd.create_view("v", items.select("prt"))
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.create_view("v", items.cross(items))
# E: create_view: a schema names each column once; "order", "part", "quantity" stand twice or more  [substrait-schema]
sd.create_view("v", items.join(parts, "part"), or_replace=True)
# E: create_view: a schema names each column once; "part" stands twice or more  [substrait-schema]
sd.alter_view("v", "items")
# E: alter_view: expected a relation, got 'items'; write read_named("items", schema) for a table of that
#    name  [substrait-invalid-argument]
sd.drop_view(5)
# E: drop_view: the name of a table is a str or a tuple of str, got 5  [substrait-invalid-argument]
sd.extension_object(MESSAGE, 5)
# E: Too many arguments for "extension_object"  [call-arg]
