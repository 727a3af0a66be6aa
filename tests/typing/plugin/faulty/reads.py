"""Reads: schemas, filters, columns, rows that are written into the plan."""

import datetime as dt
from decimal import Decimal

import substrait_dsl as sd
from tests.typing.plugin.tables import Items, Orders, Parts

sd.read_named("items", "order i64")
# E: read_named: cannot read the DDL at character 7: expected a type of Spark such as BIGINT, DECIMAL(10,2) or
#    ARRAY<STRING>, got "i64"; Spark has it as BIGINT; a dict takes the types of Substrait: {"x":
#    "i64"}  [substrait-schema]
sd.read_named("items", {"order": sd.I64, "part": int})
# E: read_named, column "part": int is no Substrait type; did you mean I64?  [substrait-invalid-argument]
sd.read_named("items", {"order": "i64", "part": "strng"})
# E: read_named, column "part": cannot read the type "strng": expected the name of a type at column 1, got "strng"; did
#    you mean "string"?  [substrait-plan-format]
sd.read_named("items", {})
# E: read_named: a schema needs at least one column  [substrait-schema]
sd.read_named(5, Items)
# E: read_named: the name of a table is a str or a tuple of str, got 5  [substrait-invalid-argument]
sd.read_named("items", Items, filter=lambda i: i.prt > 1)
# E: read_named: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.read_named("items", Items, filter=lambda i: i.part)
# E: read_named: the condition must be a boolean, this is i64  [substrait-type-mismatch]
sd.read_named("items", Items, filter=sd.col("prt") > 1)
# E: read_named: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.read_named("items", Items, filter=lambda i: i.part == "x")
# E: read_named: no overload takes equal(i64, 'x'); 'x' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
sd.read_named("items", Items, best_effort_filter=lambda i: i.quantity)
# E: read_named: the condition must be a boolean, this is i32  [substrait-type-mismatch]
sd.read_named("items", Items, columns=["order", "prt"])
# E: read_named: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.read_named("items", Items, columns=[])
# E: read_named: columns must be a list of at least one name, got []  [substrait-type-mismatch]
sd.read_named("items", Items, columns="order")
# E: read_named: columns must be a list of at least one name, got 'order'  [substrait-type-mismatch]
sd.read_named("items", Items, columns=["order"]).select("part")
# E: select: there is no column "part"; there is "order"  [substrait-unknown-field]
sd.read_named("items", Items, columns=["order"]).filter(lambda i: i.part > 1)
# E: filter: there is no column "part"; there is "order"  [substrait-unknown-field]
sd.read_named("items", Items, ordering="prt")
# E: read_named, ordering: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.read_named("items", Items, ordering=["order", sd.desc("prt")])
# E: read_named, ordering: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.read_named("items", Items, distribution=["prt"])
# E: read_named, distribution: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
sd.read_named("items", Items, distribution="single")
# E: read_named, distribution: there is no column "single"; there are "order", "part", "quantity"; "singleton" says
#    that all rows are in one partition  [substrait-unknown-field]
sd.read_named("items", Items, properties={"a": 1})
# E: read_named: the properties of a read are texts, got 'a': 1  [substrait-invalid-argument]

prices = sd.read_named("prices", {"id": sd.I64, "price": "decimal<15,2>", "name": "string?"})
prices.select("nme")
# E: select: there is no column "nme"; there are "id", "price", "name"; did you mean "name"?  [substrait-unknown-field]
prices.filter(lambda p: p.nme == "x")
# E: filter: there is no column "nme"; there are "id", "price", "name"; did you mean "name"?  [substrait-unknown-field]
prices.filter(lambda p: p.id == "x")
# E: filter: no overload takes equal(i64, 'x'); 'x' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
prices.filter(lambda p: p.price > 0.5)
# E: filter: no overload takes gt(decimal<15,2>, 0.5); 0.5 does not fit decimal<15,2>: it takes a decimal.Decimal or an
#    int, not a float; write Decimal("0.5")  [substrait-function-not-found]
prices.filter(prices.c.nme == "x")
# E: there is no column "nme"; there are "id", "price", "name"; did you mean "name"?  [substrait-unknown-field]
prices.filter(prices["nme"] == "x")
# E: there is no column "nme"; there are "id", "price", "name"; did you mean "name"?  [substrait-unknown-field]
prices.with_columns(x=lambda p: p.name + 1)
# E: with_columns, column "x": no overload takes add(string?, 1); functions.concat(a, b) joins
#    texts  [substrait-function-not-found]
prices.as_(Parts)
# E: as_: the columns are not those of Parts: part is missing; label is missing; id is not declared; price is not
#    declared; name is not declared  [substrait-schema]
sd.read_named("prices", {"id": sd.I64, "price": "decimal<15,2>"}, filter=lambda p: p.price)
# E: read_named: the condition must be a boolean, this is decimal<15,2>  [substrait-type-mismatch]
sd.read_named("prices", {"id": sd.I64, "price": "decimal<15,2>"}, filter=lambda p: p.prise > 1)
# E: read_named: there is no column "prise"; there are "id", "price"; did you mean "price"?  [substrait-unknown-field]
sd.read_named("prices", {"id": sd.I64}, columns=["price"])
# E: read_named: there is no column "price"; there is "id"  [substrait-unknown-field]
sd.read_named("prices", prices.schema).select("nme")
# E: select: there is no column "nme"; there are "id", "price", "name"; did you mean "name"?  [substrait-unknown-field]

sd.read_virtual([(1, "x")], Items)
# E: read_virtual: row 0 has 2 values, the schema has 3 columns: order: i64, part: i64, quantity:
#    i32  [substrait-schema]
sd.read_virtual([(1, "x", 3)], Items)
# E: read_virtual: row 0, column "part": 'x' does not fit i64: it takes an int, not a str  [substrait-literal]
sd.read_virtual([(1, None, 3)], Items)
# E: read_virtual: row 0, column "part": NULL does not fit i64, which is required; "i64?", or Nullable[...] in a class,
#    is a type that NULL fits  [substrait-literal]
sd.read_virtual([(1, 2, 3_000_000_000)], Items)
# E: read_virtual: row 0, column "quantity": 3000000000 does not fit i32: it holds -2147483648 to
#    2147483647  [substrait-literal]
sd.read_virtual([{"order": 1, "part": 2}], Items)
# E: read_virtual: row 0 has no value for "quantity"; write None for NULL  [substrait-schema]
sd.read_virtual([{"order": 1, "part": 2, "quantty": 3}], Items)
# E: read_virtual: row 0: there is no column "quantty"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
sd.read_virtual([{"order": 1, "part": "2", "quantity": 3}], Items)
# E: read_virtual: row 0, column "part": '2' does not fit i64: it takes an int, not a str; write 2, a
#    number  [substrait-literal]
sd.read_virtual([5], Items)
# E: read_virtual: row 0 must be a tuple or a dict, got 5  [substrait-invalid-argument]
sd.read_virtual(5, Items)
# E: read_virtual: the rows are a list of tuples or dicts, got 5  [substrait-invalid-argument]
sd.read_virtual([(1, "x")], {"id": sd.I64, "name": "strng"})
# E: read_virtual, column "name": cannot read the type "strng": expected the name of a type at column 1, got "strng";
#    did you mean "string"?  [substrait-plan-format]
sd.read_virtual([(1, 2)], {"id": sd.I64, "name": "string?"})
# E: read_virtual: row 0, column "name": 2 does not fit string?: it takes a str, not an int  [substrait-literal]
sd.read_virtual([(1, "x"), (2, None)], {"id": sd.I64, "name": "string"})
# E: read_virtual: row 1, column "name": NULL does not fit string, which is required; "string?", or Nullable[...] in a
#    class, is a type that NULL fits  [substrait-literal]
sd.read_virtual([(1, "x")], {"id": sd.I64, "name": "string"}).select("nme")
# E: select: there is no column "nme"; there are "id", "name"; did you mean "name"?  [substrait-unknown-field]
sd.read_virtual([(Decimal("1.234"),)], {"price": "decimal<15,2>"})
# E: read_virtual: row 0, column "price": Decimal('1.234') does not fit decimal<15,2>: it has more than 2 digits after
#    the point  [substrait-literal]
sd.read_virtual([(dt.datetime(2000, 1, 1),)], {"day": sd.Date})
# E: read_virtual: row 0, column "day": datetime.datetime(2000, 1, 1, 0, 0) does not fit date: it takes a
#    datetime.date, not a datetime  [substrait-literal]

sd.read_files("orders.xml", Orders, format="xml")
# E: read_files: unknown format 'xml'; expected one of "parquet", "orc", "arrow", "dwrf",
#    "csv"  [substrait-invalid-choice]
sd.read_files("data/*.parquet", Orders)
# E: read_files: 'data/*.parquet' is a pattern, not a path; say so: kind="glob"  [substrait-invalid-argument]
sd.read_files(5, Orders)
# E: read_files: expected a path or a list of paths, got 5  [substrait-invalid-argument]
sd.read_files([], Orders)
# E: read_files: a read of files needs at least one path  [substrait-invalid-argument]
sd.read_files("orders.parquet", Orders, kind="dir")
# E: read_files: unknown kind 'dir'; expected one of "path", "glob", "file", "folder"  [substrait-invalid-choice]
sd.read_files("orders.csv", {"id": "string"}, format="csv", header="chek")
# E: read_files: unknown header 'chek'; expected one of "check", "skip"; did you mean
#    "check"?  [substrait-invalid-choice]
sd.read_csv("orders.csv", {"id": "string"}, line_breaks="in_quote")
# E: read_csv: unknown line_breaks 'in_quote'; expected one of "end_records", "in_quotes"; did you mean
#    "in_quotes"?  [substrait-invalid-choice]
sd.read_files("orders.parquet", Orders, header="skip")
# E: read_files: header= is of delimited text, but the format is Parquet; write format="csv" or
#    format=DelimitedText(...)  [substrait-invalid-argument]
sd.read_files("orders.parquet", Orders, columns=["idd"])
# E: read_files: there is no column "idd"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment"; did you mean "id"?  [substrait-unknown-field]
sd.read_files("orders.csv", {"id": "i64"}, format="csv").select("price")
# E: read_files: delimited text holds strings, but column "id" is declared i64; read_csv(path, schema) casts them; or
#    declare strings, and cast them in a project  [substrait-type-mismatch]
sd.read_files("orders.csv", {"id": "i64"}, format="csv", filter=lambda o: o.id > "x")
# E: read_files: no overload takes gt(i64, 'x'); 'x' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
sd.read_iceberg("s3://t/v1.json", Orders, snapshot_id=1, snapshot_timestamp=5)
# E: read_iceberg: an Iceberg snapshot is given by its id or by a timestamp, not by both  [substrait-invalid-argument]
sd.read_iceberg("s3://t/v1.json", Orders, snapshot_timestamp="2026-01-01")
# E: read_iceberg: the time of a snapshot is a datetime with time zone, or microseconds since 1970-01-01 UTC, got
#    '2026-01-01'  [substrait-invalid-argument]
sd.read_iceberg("s3://t/v1.json", Orders, columns=["id"]).select("price")
# E: select: there is no column "price"; there is "id"  [substrait-unknown-field]
sd.read_extension("message", Orders)
# E: read_extension: the detail of an extension table is a message, got 'message'; write AnyMessage(type_url, value),
#    or give a protobuf message  [substrait-invalid-argument]
sd.read_extension(sd.AnyMessage("example.com/acme.Table", b"1"), {"id": "i64"}).select("price")
# E: select: there is no column "price"; there is "id"  [substrait-unknown-field]
sd.extension_leaf(sd.AnyMessage("example.com/acme.Table", b"1"), {"id": "i64"}).filter(lambda r: r.price > 1)
# E: filter: there is no column "price"; there is "id"  [substrait-unknown-field]
sd.extension_leaf("leaf", Orders)
# E: extension_leaf: the detail of an extension relation is a message, got 'leaf'; write AnyMessage(type_url, value),
#    or give a protobuf message  [substrait-invalid-argument]
sd.read_csv("orders.csv", {"day": "date"}, formats={"dya": "%d/%m/%Y"})
# E: read_csv: there is no column "dya"; there is "day"; did you mean "day"?  [substrait-unknown-field]
sd.read_csv("orders.csv", {"ids": "list<i64>"})
# E: read_csv, column "ids": delimited text has no values of list<i64>; it has numbers, truth values, texts, dates, and
#    timestamps with digits after the second: declare a string, and compute the value of it  [substrait-type-mismatch]
sd.read_json("orders.jsonl", Orders).filter(lambda o: o.idd > 3)
# E: filter: there is no column "idd"; there are "id", "customer", "price", "weight", "day", "open", "rank", "comment";
#    did you mean "id"?  [substrait-unknown-field]
sd.read_csv("orders.csv", Orders).filter(lambda o: o.idd > 3)
# E: filter: there is no column "idd"; there are "id", "customer", "price", "weight", "day", "open", "rank", "comment";
#    did you mean "id"?  [substrait-unknown-field]
