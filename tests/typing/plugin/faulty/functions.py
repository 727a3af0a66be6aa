"""Functions of the catalogue, called with what no overload takes."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import customers, orders

short = orders.select("id", "price", "rank", "comment", "day", "open")

orders.select(x=lambda o: f.uper(o.comment))
# E: Module has no attribute "uper"; maybe "upper"?  [attr-defined]
orders.select(x=lambda o: f.upper(o.id))
# E: select, column "x": no overload takes upper(i64); cast argument 1 from i64 to
#    string  [substrait-function-not-found]
orders.select(x=lambda o: f.add(o.id, o.comment))
# E: select, column "x": no overload takes add(i64, string?); functions.concat(a, b) joins
#    texts  [substrait-function-not-found]
orders.select(x=lambda o: f.add(o.id, o.weight))
# E: select, column "x": no overload takes add(i64, fp64); cast argument 1 from i64 to
#    fp64  [substrait-function-not-found]
orders.select(x=lambda o: f.add(o.id))
# E: select, column "x": no overload takes add(i64); write add(x, y)  [substrait-function-not-found]
orders.select(x=lambda o: f.add(o.id, 1, overflow="WRAP"))
# E: select, column "x": unknown value of option overflow of add 'WRAP'; expected one of "SILENT", "SATURATE",
#    "ERROR"  [substrait-invalid-choice]
orders.select(x=lambda o: f.add(o.id, 1, overflw="ERROR"))
# E: select, column "x": unknown option of add 'overflw'; expected one of "overflow"; did you mean
#    "overflow"?  [substrait-invalid-choice]
orders.select(x=lambda o: f.add(x=o.id, y=1))
# E: select, column "x": add takes its arguments by position, "x" is given by name; write add(x,
#    y)  [substrait-invalid-argument]
orders.select(x=lambda o: f.substring(o.comment, o.id, 2))
# E: select, column "x": no overload takes substring(string?, i64, 2); cast argument 2 from i64 to
#    i32  [substrait-function-not-found]
orders.select(x=lambda o: f.extract("YAER", o.day))
# E: select, column "x": no overload takes extract('YAER', date); did you mean "YEAR"?  [substrait-function-not-found]
orders.select(x=lambda o: f.extract("MONTH", o.day))
# E: select, column "x": no overload takes extract('MONTH', date); write extract("MONTH", "ONE",
#    x)  [substrait-function-not-found]
orders.select(x=lambda o: f.extract("YEAR", o.comment))
# E: select, column "x": no overload takes extract('YEAR', string?); cast argument 2 from string? to
#    date?  [substrait-function-not-found]
orders.select(x=lambda o: f.concat(o.comment, o.id))
# E: select, column "x": no overload takes concat(string?, i64); cast argument 2 from i64 to
#    string  [substrait-function-not-found]
orders.select(x=lambda o: f.sum(o.id))
# E: select, column "x": a column is an expression, but sum is an aggregate function; name it in aggregate(...), then
#    use the column in with_columns(...); or give it a window: sum(...).over(...)  [substrait-type-mismatch]
orders.select(x=lambda o: f.row_number())
# E: select, column "x": a column is an expression, but row_number is a window function without a window; write
#    row_number(...).over(...)  [substrait-type-mismatch]
orders.select(x=lambda o: f.abs(f.max(o.id)))
# E: select, column "x": a column is an expression, but this computes with the aggregate function max; name it in
#    aggregate(...), then use the column in with_columns(...); or give windows:
#    max(...).over(...)  [substrait-type-mismatch]
orders.select(x=f.upper(sd.col("id")))
# E: select, column "x": no overload takes upper(i64); cast argument 1 from i64 to
#    string  [substrait-function-not-found]
orders.select(x=f.add(sd.col("id"), sd.col("comment")))
# E: select, column "x": no overload takes add(i64, string?); functions.concat(a, b) joins
#    texts  [substrait-function-not-found]
orders.select(x=f.substring(sd.col("comment"), sd.col("id"), 2))
# E: select, column "x": no overload takes substring(string?, i64, 2); cast argument 2 from i64 to
#    i32  [substrait-function-not-found]
orders.select(x=f.upper("comment"))
# E: upper takes a column or an expression, got the text 'comment'; write col('comment') for a column, lit('comment')
#    for text  [substrait-invalid-argument]
orders.select(x=f.upper(orders.c.id))
# E: no overload takes upper(i64); cast argument 1 from i64 to string  [substrait-function-not-found]
orders.select(x=f.upper(orders["id"]))
# E: no overload takes upper(i64); cast argument 1 from i64 to string  [substrait-function-not-found]
orders.select(x=f.upper)
# E: select, column "x": upper is a function of the library, not called; call it:
#    upper(...)  [substrait-invalid-argument]
orders.filter(f.like(sd.col("id"), "%x%"))
# E: filter: no overload takes like(i64, '%x%'); cast argument 1 from i64 to string  [substrait-function-not-found]
orders.filter(f.and_(sd.col("open"), sd.col("id")))
# E: filter: no overload takes and(boolean, i64); put each comparison in parentheses: (a > 1) & (b <
#    2)  [substrait-function-not-found]
short.select(x=lambda o: f.upper(o.id))
# E: select, column "x": no overload takes upper(i64); cast argument 1 from i64 to
#    string  [substrait-function-not-found]
short.select(x=lambda o: f.power(o.id, o.comment))
# E: select, column "x": no overload takes power(i64, string?); cast argument 2 from string? to
#    i64?  [substrait-function-not-found]
short.select(x=lambda o: f.coalesce(o.id, o.comment))
# E: select, column "x": no overload takes coalesce(i64, string?); cast argument 2 from string? to
#    i64?  [substrait-function-not-found]
short.select(x=lambda o: f.extract("HOUR", o.day))
# E: select, column "x": no overload takes extract('HOUR', date); there is extract(component: YEAR | ISO_YEAR | US_YEAR
#    | HOUR | MINUTE | SECOND | MILLISECOND | MICROSECOND | NANOSECOND | SUBSECOND | UNIX_TIME, x:
#    precision_timestamp<P>) -> i64, extract(component: YEAR | ISO_YEAR | US_YEAR | UNIX_TIME, x: date) -> i64,
#    extract(component: HOUR | MINUTE | SECOND | MILLISECOND | MICROSECOND | SUBSECOND, x: precision_time<P>) -> i64,
#    ... (7 in all)  [substrait-function-not-found]
short.filter(lambda o: f.starts_with(o.id, "x"))
# E: filter: no overload takes starts_with(i64, 'x'); cast argument 1 from i64 to string  [substrait-function-not-found]
short.filter(lambda o: f.like(o.comment, 5))
# E: filter: no overload takes like(string?, 5); write "5", a text  [substrait-function-not-found]
short.aggregate(x=lambda o: f.sum(o.comment))
# E: aggregate, measure "x": no overload takes sum(string?); cast argument 1 from string? to
#    fp64?  [substrait-function-not-found]
short.aggregate(x=lambda o: f.sum(f.sum(o.id)))
# E: aggregate, measure "x": sum takes values, but sum is an aggregate function; name it in aggregate(...), then use
#    the column in with_columns(...); or give it a window: sum(...).over(...)  [substrait-type-mismatch]
short.aggregate(x=f.avg(sd.col("comment")))
# E: aggregate, measure "x": no overload takes avg(string?); cast argument 1 from string? to
#    fp64?  [substrait-function-not-found]
short.aggregate(x=f.max(sd.col("comment")))
# E: aggregate, measure "x": no overload takes max(string?); the specification has none of texts;
#    substrait_dsl.everyday.max(x) compares texts by code points; top_n(1, desc(x)) gives the row; for each group,
#    row_number().over(partition_by=..., order_by=desc(x)) in with_columns(...); then filter by it ==
#    1  [substrait-function-not-found]
short.aggregate(x=f.sum("price"))
# E: aggregate, measure "x": no overload takes sum('price'); a column is col('price'), or the row's in a
#    lambda  [substrait-function-not-found]
short.aggregate(x=lambda o: f.count(o.id, distinct=True))
# E: aggregate, measure "x": the option distinct of count takes a word or several, got True; write
#    count(...).distinct()  [substrait-invalid-argument]
short.aggregate(x=lambda o: f.count().filter(o.id))
# E: aggregate, measure "x": the filter of a measure must be a boolean, this is i64  [substrait-type-mismatch]
short.aggregate(x=lambda o: f.count(o.id).order_by("idd"))
# E: aggregate, measure "x": there is no column "idd"; there are "id", "price", "rank", "comment", "day", "open"; did
#    you mean "id"?  [substrait-unknown-field]
customers.select(x=lambda c: f.transform(c.tags, lambda t: t + 1))
# E: select, column "x": no overload takes add(string, 1); functions.concat(a, b) joins
#    texts  [substrait-function-not-found]
customers.select(x=lambda c: f.transform(c.id, lambda t: t))
# E: select, column "x": no overload takes transform(i64, lambda(t)); there is transform(input: list<any1>, transformer:
#    func<any1 -> any2>) -> list<any2>  [substrait-function-not-found]
customers.select(x=lambda c: f.filter(c.tags, lambda t: f.upper(t)))
# E: select, column "x": no overload takes filter(list<string>, func<string -> string>); there is filter(input:
#    list<any1>, predicate: func<any1 -> boolean?>) -> list<any1>  [substrait-function-not-found]
customers.select(x=lambda c: f.transform(c.tags, lambda s, t: t))
# E: select, column "x": transform calls its function with 1 argument, but lambda(s, t) does not take
#    that  [substrait-invalid-argument]
customers.select(x=f.transform(sd.col("tags"), lambda t: t * 2))
# E: select, column "x": no overload takes multiply(string, 2); cast argument 1 from string to
#    fp64  [substrait-function-not-found]
