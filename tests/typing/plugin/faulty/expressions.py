"""Operators, casts, conditionals, constants: operands of types that do not go together."""

import datetime as dt
from decimal import Decimal

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import orders

short = orders.select("id", "price", "rank", "comment")

orders.filter(lambda o: o.id + o.comment > 1)
# E: filter: no overload takes add(i64, string?); functions.concat(a, b) joins texts  [substrait-function-not-found]
orders.filter(lambda o: o.id == "5")
# E: filter: no overload takes equal(i64, '5'); '5' does not fit i64: it takes an int, not a str; write 5, a
#    number  [substrait-function-not-found]
orders.filter(lambda o: o.id > o.weight)
# E: filter: no overload takes gt(i64, fp64); cast argument 1 from i64 to fp64  [substrait-function-not-found]
orders.filter(lambda o: o.comment > o.id)
# E: filter: no overload takes gt(string?, i64); cast argument 1 from string? to i64?  [substrait-function-not-found]
orders.filter(lambda o: o.day >= "1998-09-02")
# E: filter: no overload takes gte(date, '1998-09-02'); '1998-09-02' does not fit date: it takes a datetime.date, not a
#    str; write datetime.date.fromisoformat('1998-09-02')  [substrait-function-not-found]
orders.filter(lambda o: o.price >= 0.05)
# E: filter: no overload takes gte(decimal<15,2>, 0.05); 0.05 does not fit decimal<15,2>: it takes a decimal.Decimal or
#    an int, not a float; write Decimal("0.05")  [substrait-function-not-found]
orders.filter(lambda o: o.id)
# E: filter: the condition must be a boolean, this is i64  [substrait-type-mismatch]
orders.filter(lambda o: o.id & o.open)
# E: filter: no overload takes and(i64, boolean); put each comparison in parentheses: (a > 1) & (b <
#    2)  [substrait-function-not-found]
orders.filter(lambda o: ~o.id)
# E: filter: no overload takes not(i64); put a comparison in parentheses: ~(a == 1)  [substrait-function-not-found]
orders.filter(lambda o: f.sum(o.id))
# E: filter: a condition is an expression, but sum is an aggregate function; name it in aggregate(...), then use the
#    column in with_columns(...); or give it a window: sum(...).over(...)  [substrait-type-mismatch]
orders.filter(lambda o: o.id > 1 & o.rank > 2)
# E: filter: no overload takes and(1, i32?); put each comparison in parentheses: (a > 1) & (b <
#    2)  [substrait-function-not-found]
orders.filter(lambda o: o.comment == None)  # noqa: E711
# E: filter: a comparison with None is never true; use is_null() or is_not_null()  [substrait-invalid-argument]
orders.filter(sd.col("id") == "5")
# E: filter: no overload takes equal(i64, '5'); '5' does not fit i64: it takes an int, not a str; write 5, a
#    number  [substrait-function-not-found]
orders.filter(sd.col("id") > sd.col("weight"))
# E: filter: no overload takes gt(i64, fp64); cast argument 1 from i64 to fp64  [substrait-function-not-found]
orders.filter(sd.col("day") >= "1998-09-02")
# E: filter: no overload takes gte(date, '1998-09-02'); '1998-09-02' does not fit date: it takes a datetime.date, not a
#    str; write datetime.date.fromisoformat('1998-09-02')  [substrait-function-not-found]
orders.filter(sd.col("price") >= 0.05)
# E: filter: no overload takes gte(decimal<15,2>, 0.05); 0.05 does not fit decimal<15,2>: it takes a decimal.Decimal or
#    an int, not a float; write Decimal("0.05")  [substrait-function-not-found]
orders.filter(sd.col("id"))
# E: filter: the condition must be a boolean, this is i64  [substrait-type-mismatch]
orders.filter(sd.col("id") & sd.col("open"))
# E: filter: no overload takes and(i64, boolean); put each comparison in parentheses: (a > 1) & (b <
#    2)  [substrait-function-not-found]
orders.filter("id > 5")
# E: filter: a condition is a boolean expression, got 'id > 5'; write lambda r: r.x > 5, or col('x') >
#    5  [substrait-type-mismatch]
orders.filter()
# E: filter: expected a condition  [substrait-invalid-argument]
orders.filter(orders["id"] == "5")
# E: filter: no overload takes equal(i64, '5'); '5' does not fit i64: it takes an int, not a str; write 5, a
#    number  [substrait-function-not-found]
orders.filter(orders["id"] + orders["comment"] > 1)
# E: no overload takes add(i64, string?); functions.concat(a, b) joins texts  [substrait-function-not-found]
short.filter(lambda o: o.id + o.comment > 1)
# E: filter: no overload takes add(i64, string?); functions.concat(a, b) joins texts  [substrait-function-not-found]
short.filter(lambda o: o.id == "5")
# E: filter: no overload takes equal(i64, '5'); '5' does not fit i64: it takes an int, not a str; write 5, a
#    number  [substrait-function-not-found]
short.filter(lambda o: o.id > o.comment)
# E: filter: no overload takes gt(i64, string?); cast argument 2 from string? to i64?  [substrait-function-not-found]
short.filter(lambda o: o.price >= 0.05)
# E: filter: no overload takes gte(decimal<15,2>, 0.05); 0.05 does not fit decimal<15,2>: it takes a decimal.Decimal or
#    an int, not a float; write Decimal("0.05")  [substrait-function-not-found]
short.filter(lambda o: o.price >= Decimal("0.055"))
# E: filter: no overload takes gte(decimal<15,2>, Decimal('0.055')); Decimal('0.055') does not fit decimal<15,2>: it has
#    more than 2 digits after the point  [substrait-function-not-found]
short.filter(lambda o: o.id)
# E: filter: the condition must be a boolean, this is i64  [substrait-type-mismatch]
short.filter(lambda o: o.id.is_in(["a"]))
# E: filter: 'a' does not fit i64: it takes an int, not a str  [substrait-literal]
short.filter(lambda o: o.id.is_in([o.comment]))
# E: filter: an IN list: the value is i64 but an option is string?; values that are compared have one type: cast one of
#    them, or give a constant its type  [substrait-type-mismatch]
short.filter(lambda o: o.comment.between(1, 2))
# E: filter: no overload takes between(string?, 1, 2); cast argument 1 from string? to
#    i64?  [substrait-function-not-found]
short.filter(lambda o: o.comment.contains("x"))
# E: filter: an expression has no "contains"; write functions.contains(x, y) of texts, functions.any_match(xs, lambda x:
#    x == y) of a list  [substrait-unknown-attribute]
short.select(x=lambda o: o.comment + "!")
# E: select, column "x": no overload takes add(string?, string); functions.concat(a, b) joins
#    texts  [substrait-function-not-found]
short.select(x=lambda o: o.comment * 2)
# E: select, column "x": no overload takes multiply(string?, 2); cast argument 1 from string? to
#    fp64?  [substrait-function-not-found]
short.select(x=lambda o: o.id * 1.5)
# E: select, column "x": no overload takes multiply(i64, 1.5); cast argument 1 from i64 to
#    fp64  [substrait-function-not-found]
short.select(x=lambda o: o.id / o.rank)
# E: select, column "x": / of two integers, i64 and i32?, would leave the fraction out; x.cast(FP64) / y.cast(FP64)
#    has it; functions.divide(x, y) leaves it out  [substrait-type-mismatch]
short.select(x=lambda o: 7 / o.id)
# E: select, column "x": / of two integers, 7 and i64, would leave the fraction out; 7 / y.cast(FP64) has it;
#    functions.divide(7, y) leaves it out  [substrait-type-mismatch]
short.select(x=lambda o: -o.comment)
# E: select, column "x": no overload takes negate(string?); to sort by it, the largest first, write
#    desc(x)  [substrait-function-not-found]
short.select(x=sd.col("comment") + "!")
# E: select, column "x": no overload takes add(string?, string); functions.concat(a, b) joins
#    texts  [substrait-function-not-found]
short.select(x=sd.col("id") * 1.5)
# E: select, column "x": no overload takes multiply(i64, 1.5); cast argument 1 from i64 to
#    fp64  [substrait-function-not-found]
short.select(x=-sd.col("comment"))
# E: select, column "x": no overload takes negate(string?); to sort by it, the largest first, write
#    desc(x)  [substrait-function-not-found]
short.select(x=lambda o: o.id.cast(int))
# E: select, column "x": int is no Substrait type; did you mean I64?  [substrait-invalid-argument]
short.select(x=lambda o: o.id.cast("strng"))
# E: select, column "x": cannot read the type "strng": expected the name of a type at column 1, got "strng"; did you
#    mean "string"?  [substrait-plan-format]
short.select(x=sd.col("id").cast("bigint"))
# E: cannot read the type "bigint": expected the name of a type at column 1, got "bigint"; did you mean
#    "i64"?  [substrait-plan-format]
short.select(x=lambda o: o.id.cast(sd.I8, on_failure="ignore"))
# E: select, column "x": unknown on_failure 'ignore'; expected one of "throw", "return_null"  [substrait-invalid-choice]
short.select(x=lambda o: sd.when(o.id).then(1).otherwise(2))
# E: select, column "x": the condition of an if must be a boolean, this is i64  [substrait-type-mismatch]
short.select(x=lambda o: sd.when(o.id > 1).then(o.id).otherwise(o.comment))
# E: select, column "x": the branches of an if must have one type: there is i64 and string?; cast them to one
#    type  [substrait-type-mismatch]
short.select(x=sd.when(sd.col("id") > 1).then(sd.col("id")).otherwise("none"))
# E: select, column "x": the branches of an if must have one type: 'none' does not fit i64: it takes an int, not a
#    str  [substrait-type-mismatch]
short.select(x=lambda o: sd.when(o.id > 1).then(1))
# E: select, column "x": a column is an expression, but when(...).then(...) has no otherwise(...); finish it with
#    .otherwise(value); otherwise(None) gives NULL  [substrait-type-mismatch]
short.select(x=lambda o: sd.switch(o.id, {"one": 1}, default=None))
# E: select, column "x": 'one' does not fit i64: it takes an int, not a str  [substrait-literal]
short.select(x=lambda o: sd.switch(o.id, {1: "one", 2: 2}, default=None))
# E: select, column "x": the branches of a switch must have one type: there is string and i64; cast them to one
#    type  [substrait-type-mismatch]
short.select(x=sd.switch(sd.col("id"), {1: "one"}, default=2))
# E: select, column "x": the branches of a switch must have one type: there is string and i64; cast them to one
#    type  [substrait-type-mismatch]
short.select(x=None)
# E: select, column "x": a column is None; null(type) is a NULL; a lambda must return
#    something  [substrait-invalid-argument]
short.select(x=lambda o: None)
# E: select, column "x": a column is None; null(type) is a NULL; a lambda must return
#    something  [substrait-invalid-argument]
orders.filter(sd.lit(300, sd.I8) == 5)
# E: 300 does not fit i8: it holds -128 to 127  [substrait-literal]
sd.lit(300, sd.I8)
# E: 300 does not fit i8: it holds -128 to 127  [substrait-literal]
sd.lit("abc", sd.FixedChar(2))
# E: 'abc' does not fit fixedchar<2>: it has 3 characters, not 2  [substrait-literal]
sd.lit(Decimal("1.234"), sd.Decimal(5, 2))
# E: Decimal('1.234') does not fit decimal<5,2>: it has more than 2 digits after the point  [substrait-literal]
sd.null(int)
# E: int is no Substrait type; did you mean I64?  [substrait-invalid-argument]
orders.filter(lambda o: o.day + 30 > dt.date(2000, 1, 1))
# E: filter: no overload takes add(date, 30); 30 does not fit date: it takes a datetime.date, not an int; a span of time
#    is a datetime.timedelta: timedelta(days=30)  [substrait-function-not-found]
orders.filter(lambda o: 1 < o.id < 5)
# E: filter: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
#    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead
#    of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
orders.filter(lambda o: o.open and o.open)
# E: filter: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
#    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead
#    of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
orders.filter(lambda o: not o.open)
# E: filter: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
#    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead
#    of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
orders.filter(lambda o: o.open if o.open else o.id > 3)
# E: filter: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
#    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead
#    of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
orders.sort(lambda o: o.id.asc(nulls="middle"))
# E: sort: unknown nulls 'middle'; expected one of "first", "last"; a second column has a key of its own:
#    asc('middle')  [substrait-invalid-choice]
orders.with_columns(total=lambda o: o.price + o.weight)
# E: with_columns, column "total": no overload takes add(decimal<15,2>, fp64); cast argument 1 from decimal<15,2> to
#    fp64  [substrait-function-not-found]
orders.with_columns(total=orders.c.price + orders.c.weight)
# E: no overload takes add(decimal<15,2>, fp64); cast argument 1 from decimal<15,2> to
#    fp64  [substrait-function-not-found]
orders.with_columns(total=sd.col("price") + sd.col("weight"))
# E: with_columns, column "total": no overload takes add(decimal<15,2>, fp64); cast argument 1 from decimal<15,2> to
#    fp64  [substrait-function-not-found]
