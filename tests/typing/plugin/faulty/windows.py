"""Window functions over columns, and the window relation."""

import datetime as dt

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders

items.with_columns(n=f.row_number())
# E: with_columns, column "n": a column is an expression, but row_number is a window function without a window; write
#    row_number(...).over(...)  [substrait-type-mismatch]
items.with_columns(n=f.row_number().over(order_by="prt"))
# E: with_columns, column "n": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.with_columns(n=f.row_number().over(partition_by="prt", order_by="order"))
# E: with_columns, column "n": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.with_columns(n=f.row_number().over(partition_by=["part", "prt"]))
# E: with_columns, column "n": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.with_columns(n=f.row_number().over(order_by=sd.desc("prt")))
# E: with_columns, column "n": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.with_columns(n=f.row_number().over(order_by=lambda i: i.prt))
# E: with_columns, column "n": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.with_columns(n=f.row_number().over("order"))
# E: over: the parts of a window are given by name, got 'order'; write over(partition_by=..., order_by=...,
#    rows=(first, last))  [substrait-invalid-argument]
items.with_columns(n=f.row_number().over(partition_by=1.5))
# E: over: expected a column or an expression to partition by, got 1.5  [substrait-invalid-argument]
items.with_columns(n=lambda i: f.row_number().over(order_by=i.prt))
# E: with_columns, column "n": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.with_columns(n=lambda i: f.lag(i.prt).over(order_by="order"))
# E: with_columns, column "n": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.with_columns(n=lambda i: f.lag(i.part, "1").over(order_by="order"))
# E: with_columns, column "n": no overload takes lag(i64, '1'); there is lag(expression: any1, row_offset: i32) ->
#    any1?, lag(expression: any1) -> any1?, lag(expression: any1, row_offset: i32, default: any1) ->
#    any1?  [substrait-function-not-found]
items.with_columns(n=f.lag("part").over(order_by="order"))
# E: with_columns, column "n": lag takes a column or an expression, got the text 'part'; write col('part') for a
#    column, lit('part') for text  [substrait-invalid-argument]
items.with_columns(n=f.sum(sd.col("qantity")).over(partition_by="part"))
# E: with_columns, column "n": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.with_columns(n=lambda i: f.sum(i.quantity).over(partition_by=i.part, rows=3))
# E: over: rows is a pair (first, last), got 3; None is the end of the partition, 0 the current row: (None, 0), (-3,
#    3)  [substrait-invalid-argument]
items.with_columns(n=lambda i: f.sum(i.quantity).over(order_by=i.part, rows=("start", 0)))
# E: over: a bound of a frame is a number or None, got 'start'; None is the end of the partition, 0 the current row, -3
#    is 3 before it, 3 is 3 after it  [substrait-invalid-argument]
items.with_columns(n=lambda i: f.sum(i.quantity).over(order_by=i.part, rows=(0, -1)))
# E: over: the frame rows=(0, -1) ends before it starts; the earlier bound comes first  [substrait-invalid-argument]
items.with_columns(n=lambda i: f.sum(i.quantity).over(order_by=i.part, rows=(-1, 0), range=(-1, 0)))
# E: over: a frame is one of rows=(first, last) and range=(first, last)  [substrait-invalid-argument]
items.with_columns(n=lambda i: f.sum(i.quantity).over(range=(-1, 0)))
# E: over: a range with an offset needs exactly one sort key, this window has 0; sort by one key, or count rows:
#    rows=(first, last)  [substrait-schema]
items.with_columns(n=lambda i: f.sum(i.quantity).filter(i.part > 1).over())
# E: with_columns, column "n": sum: a window function has no filter; write sum(when(condition).then(x).otherwise(None)):
#    NULLs are not aggregated  [substrait-invalid-argument]
items.with_columns(n=lambda i: f.row_number().over(order_by="order") + i.quantity.cast(sd.FP64))
# E: with_columns, column "n": no overload takes add(i64?, fp64); cast argument 1 from i64? to
#    fp64?  [substrait-function-not-found]
items.with_columns(n=f.row_number() + 1)
# E: row_number is a window function without a window, no value to compute with; write
#    row_number(...).over(...)  [substrait-type-mismatch]
items.with_columns(n=f.count())
# E: with_columns, column "n": a column is an expression, but count is an aggregate function; name it in
#    aggregate(...), then use the column in with_columns(...); or give it a window:
#    count(...).over(...)  [substrait-type-mismatch]
items.with_columns(n=lambda i: f.abs(i.quantity).over())
# E: with_columns, column "n": an expression has no "over"; write functions.sum(x).over(...): a window is that of one
#    function, not of an expression  [substrait-unknown-attribute]
items.with_columns(n=f.rank().over(order_by="part")).filter(lambda r: r.n == "1")
# E: filter: no overload takes equal(i64?, '1'); '1' does not fit i64: it takes an int, not a str; write 1, a
#    number  [substrait-function-not-found]
items.select(n=f.rank().over(order_by="part")).select("part")
# E: select: there is no column "part"; there is "n"  [substrait-unknown-field]
items.filter(f.rank().over(order_by="part"))
# E: filter: the condition must be a boolean, this is i64?  [substrait-type-mismatch]
items.with_columns(n=f.ntile(sd.col("part")).over(order_by="part"))
orders.with_columns(n=lambda o: f.sum(o.id).over(order_by=o.comment, range=(-1, 0)))
# E: over: a range over string? cannot have an offset 1: key and offset do not add up to string; cast the sort key or
#    the offset, or count rows: rows=(first, last)  [substrait-type-mismatch]
orders.with_columns(n=lambda o: f.sum(o.id).over(order_by=o.day, range=(dt.timedelta(days=-1), 0)))
# E: over: a range over date cannot have an offset datetime.timedelta(days=1): key and offset do not add up to date;
#    give YearMonths, or cast the sort key to precision_timestamp<6> and give a timedelta  [substrait-type-mismatch]
orders.with_columns(n=lambda o: f.sum(o.comment).over(order_by=o.day))
# E: over: no overload takes sum(string?); cast argument 1 from string? to fp64?  [substrait-function-not-found]
orders.with_columns(n=f.sum(sd.col("comment")).over(order_by="day"))
# E: with_columns, column "n": no overload takes sum(string?); cast argument 1 from string? to
#    fp64?  [substrait-function-not-found]

items.window()
# E: window: expected at least one function, as name=function  [substrait-invalid-argument]
items.window(n=f.row_number(), order_by="prt")
# E: window, order_by: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.window(n=f.row_number(), partition_by="prt")
# E: window, partition_by: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.window(n=f.row_number(), partition_by=lambda i: i.prt)
# E: window, partition_by: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.window(part=f.row_number())
# E: window: there is a column "part" already  [substrait-schema]
items.window(n=f.row_number)
# E: window, function "n": this is the function row_number itself; call it:
#    row_number(...)  [substrait-invalid-argument]
items.window(n=f.row_number().over(order_by="part"))
# E: window, function "n": expected a window or an aggregate function, got an expression; leave .over(...) away here:
#    the window is that of the relation; or use with_columns(...)  [substrait-type-mismatch]
items.window(n=sd.col("part"))
# E: window, function "n": expected a window or an aggregate function, got an expression; leave .over(...) away here:
#    the window is that of the relation; or use with_columns(...)  [substrait-type-mismatch]
items.window(n=lambda i: i.part)
# E: window, function "n": expected a window or an aggregate function, got an expression; leave .over(...) away here:
#    the window is that of the relation; or use with_columns(...)  [substrait-type-mismatch]
items.window(n=f.sum(sd.col("qantity")))
# E: window, function "n": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.window(n=lambda i: f.sum(i.qantity))
# E: window, function "n": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.window(n=f.sum(sd.col("quantity")).frame(range=(-1, 0)))
# E: window, function "n": a range with an offset needs exactly one sort key, this window has 0; sort by one key, or
#    count rows: rows=(first, last)  [substrait-schema]
items.window(n=f.sum(sd.col("quantity")).filter(sd.col("part") > 1))
# E: window, function "n": sum: a window function has no filter; write sum(when(condition).then(x).otherwise(None)):
#    NULLs are not aggregated  [substrait-invalid-argument]
items.window(n=f.row_number(), method="stream")
# E: window: unknown method 'stream'; expected one of "consistent_partition", "hashing", "streaming"; write
#    "streaming"  [substrait-invalid-choice]
items.window(method=f.row_number())
# E: window: method is an argument of the verb, one of "consistent_partition", "hashing", "streaming", and no name for
#    a column here; give the column another name; rename(other="method") changes it
#    afterwards  [substrait-invalid-argument]
items.sort("order").window(n=f.row_number(), partition_by="part", method="streaming")
# E: window: a streaming window needs an input sorted by its partitions, then by its sort keys; sort the input so, or
#    use a hashing window  [substrait-schema]
items.window(n=f.row_number(), partition_by="part").select("m")
# E: select: there is no column "m"; there are "order", "part", "quantity", "n"  [substrait-unknown-field]
items.window(n=f.row_number(), partition_by="part").filter(lambda r: r.n > "1")
# E: filter: no overload takes gt(i64?, '1'); '1' does not fit i64: it takes an int, not a str; write 1, a
#    number  [substrait-function-not-found]
sd.preceding(-1)
# E: preceding takes a positive distance, got -1; 0 is the current row  [substrait-invalid-argument]
sd.following("3")
# E: a bound of a frame is None, a finite number or a span of time, got '3'; None is the end of the partition; an
#    expression stands in preceding(x) or following(x)  [substrait-invalid-argument]
