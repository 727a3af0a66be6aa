"""Aggregates: keys, grouping sets, measures; and what is left of the columns afterwards."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders

grouped = items.group_by("order", "part")

items.aggregate("prt", n=f.count())
# E: aggregate: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.aggregate("part", "part", n=f.count())
# E: aggregate: two columns would be called "part"; give one of them an alias  [substrait-schema]
items.aggregate("part", part=f.count())
# E: aggregate: two columns would be called "part"; give one of them an alias  [substrait-schema]
items.aggregate(lambda i: i.part + 1, n=f.count())
# E: aggregate: the expression has no name; give it one: expression.alias("name"), or
#    name=expression  [substrait-schema]
items.aggregate()
# E: aggregate: an aggregate needs a key or a measure: this one would have no columns  [substrait-schema]
items.aggregate("part", n=f.count)
# E: aggregate: measure "n" is the function count itself; call it: count(...)  [substrait-invalid-argument]
items.aggregate("part", n="count")
# E: aggregate: measure "n" must be an aggregate function, got 'count'; write f.count()  [substrait-invalid-argument]
items.aggregate("part", n=lambda i: i.quantity + 1)
# E: aggregate: measure "n" is no aggregate function but an expression; wrap it, for example f.sum(...); to group by
#    it, pass it as a key  [substrait-type-mismatch]
items.aggregate("part", n=sd.col("quantity"))
# E: aggregate: measure "n" is no aggregate function but an expression; wrap it, for example f.sum(...); to group by
#    it, pass it as a key  [substrait-type-mismatch]
items.aggregate("part", n=items.c.quantity)
# E: aggregate: measure "n" is no aggregate function but an expression; wrap it, for example f.sum(...); to group by
#    it, pass it as a key  [substrait-type-mismatch]
items.aggregate("part", n=f.row_number())
# E: aggregate: measure "n" must be an aggregate function, row_number is a window function; write
#    row_number(...).over(...) in with_columns(...); first_of(n, partition_by=..., order_by=...) of a relation keeps the
#    first rows of each group  [substrait-invalid-argument]
items.aggregate("part", n=f.abs(sd.col("quantity")))
# E: aggregate: measure "n" is no aggregate function but an expression; wrap it, for example f.sum(...); to group by
#    it, pass it as a key  [substrait-type-mismatch]
items.aggregate("part", n=lambda i: f.sum(i.qantity))
# E: aggregate, measure "n": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.aggregate("part", n=f.sum(sd.col("qantity")))
# E: aggregate, measure "n": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.aggregate("part", n=f.sum(items["qantity"]))
# E: there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.aggregate("part", n=f.count().filter(sd.col("qantity") > 1))
# E: aggregate, measure "n": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
items.aggregate("part", n=f.count().filter(sd.col("quantity")))
# E: aggregate, measure "n": the filter of a measure must be a boolean, this is i32  [substrait-type-mismatch]
items.aggregate("part", n=lambda i: f.count().filter(i.quantity))
# E: aggregate, measure "n": the filter of a measure must be a boolean, this is i32  [substrait-type-mismatch]
items.aggregate("part", "order", n=f.count(), grouping_sets=[("part",), ("ordr",)])
# E: aggregate: grouping set 1 names 'ordr', which is no key; the keys are "part", "order"; did you mean
#    "order"?  [substrait-schema]
items.aggregate("part", "order", n=f.count(), grouping_sets=[("part",)])
# E: aggregate: every key must stand in a grouping set; order stands in none  [substrait-schema]
items.aggregate("part", "order", n=f.count(), grouping_sets=["part", "order"])
# E: aggregate: grouping set 0 must be a tuple of keys, got 'part'; ("part",)  [substrait-invalid-argument]
items.aggregate("part", "order", n=f.count(), grouping_sets=[])
# E: aggregate: grouping_sets is empty; leave it out to group by all keys; [()] makes one group  [substrait-schema]
items.aggregate("part", "order", n=f.count(), grouping_sets=[("part", "part"), ("order",)])
# E: aggregate: grouping set 0 names 'part' twice  [substrait-schema]
items.aggregate("part", "order", n=f.count(), grouping_sets=[("part", "order"), (3,)])
# E: aggregate: grouping set 1 names 3, which is no key; the keys are "part", "order"  [substrait-schema]
items.aggregate("part", n=f.count(), method="hashing")
# E: aggregate: unknown method 'hashing'; expected one of "any", "hash", "streaming"; write
#    "hash"  [substrait-invalid-choice]
items.aggregate("part", method=f.count())
# E: aggregate: method is an argument of the verb, one of "any", "hash", "streaming", and no name for a column here;
#    give the column another name; rename(other="method") changes it afterwards  [substrait-invalid-argument]
items.sort("order").aggregate("part", n=f.count(), method="streaming")
# E: aggregate: a streaming aggregate needs an input sorted by its keys, but it is sorted by order; sort it by the keys
#    of every grouping set, or use a hash aggregate  [substrait-schema]
items.aggregate("part", "order", n=f.count()).select("quantity")
# E: select: there is no column "quantity"; there are "part", "order", "n"  [substrait-unknown-field]
items.aggregate("part", n=f.count()).filter(lambda r: r.n == "many")
# E: filter: no overload takes equal(i64, 'many'); 'many' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
items.aggregate("part", n=f.count()).filter(lambda r: r.count > 1)
# E: filter: there is no column "count"; there are "part", "n"  [substrait-unknown-field]
items.aggregate("part", "order", n=f.count(), grouping_sets=[("part",), ("order",)]).select("grouping_sets")
# E: select: there is no column "grouping_sets"; there are "part", "order", "n", "grouping_set"; did you mean
#    "grouping_set"?  [substrait-unknown-field]
items.group_by()
# E: group_by: expected at least one key; aggregate(...) folds all rows into one  [substrait-invalid-argument]
items.group_by("prt")
# E: group_by: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.group_by(lambda i: i.prt)
# E: group_by: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.group_by(lambda i: i.part + 1)
# E: group_by: the expression has no name; give it one: expression.alias("name"), or
#    name=expression  [substrait-schema]
items.group_by(product="prt")
# E: group_by, key "product": there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.group_by("part", part=lambda i: i.order)
# E: group_by: two columns would be called "part"; give one of them an alias  [substrait-schema]
items.group_by("part").agg()
grouped.agg(f.count())
# E: agg: the measure count has no name; give it one: total=count(...)  [substrait-schema]
grouped.agg(n=f.count)
# E: agg: measure "n" is the function count itself; call it: count(...)  [substrait-invalid-argument]
grouped.agg(part=f.count())
# E: agg: two columns would be called "part"; give one of them an alias  [substrait-schema]
grouped.agg(n=lambda i: i.quantity)
# E: agg: measure "n" is no aggregate function but an expression; wrap it, for example f.sum(...); to group by it, pass
#    it as a key  [substrait-type-mismatch]
grouped.agg(n=lambda i: f.sum(i.qantity))
# E: agg, measure "n": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
grouped.agg(lambda i: f.sum(i.quantity))
# E: agg: the measure sum has no name; give it one: total=sum(...)  [substrait-schema]
grouped.agg(f.count().alias("n"), n=f.count())
# E: agg: two columns would be called "n"; give one of them an alias  [substrait-schema]
grouped.agg(n=f.count()).select("quantity")
# E: select: there is no column "quantity"; there are "order", "part", "n"  [substrait-unknown-field]
grouped.rollup(n=f.sum(sd.col("qantity")))
# E: rollup, measure "n": there is no column "qantity"; there are "order", "part", "quantity"; did you mean
#    "quantity"?  [substrait-unknown-field]
grouped.rollup(n=f.count()).select("order", "part", "n", "set")
# E: select: there is no column "set"; there are "order", "part", "n", "grouping_set"; did you mean
#    "grouping_set"?  [substrait-unknown-field]
grouped.rollup(grouping_set=f.count())
# E: rollup: two columns would be called "grouping_set"; give one of them an alias  [substrait-schema]
grouped.cube(n=lambda i: i.part)
# E: cube: measure "n" is no aggregate function but an expression; wrap it, for example f.sum(...); to group by it,
#    pass it as a key  [substrait-type-mismatch]
grouped.cube(n=f.count()).filter(lambda r: r.grouping_set == "1")
# E: filter: no overload takes equal(i32, '1'); '1' does not fit i32: it takes an int, not a str; write 1, a
#    number  [substrait-function-not-found]
grouped.agg(n=f.count()).group_by("part").agg(most=f.max(sd.col("m")))
# E: agg, measure "most": there is no column "m"; there are "order", "part", "n"  [substrait-unknown-field]
grouped.sum("quantity")
# E: "GroupBy[Items, Row[F[Literal['order'], I64], F[Literal['part'], I64]]]" has no attribute "sum"  [attr-defined]
orders.aggregate(first=lambda o: f.max(o.comment))
# E: aggregate, measure "first": no overload takes max(string?); the specification has none of texts;
#    substrait_dsl.everyday.max(x) compares texts by code points; top_n(1, desc(x)) gives the row; for each group,
#    row_number().over(partition_by=..., order_by=desc(x)) in with_columns(...); then filter by it ==
#    1  [substrait-function-not-found]
orders.aggregate(first=f.any_value(sd.col("coment")))
# E: aggregate, measure "first": there is no column "coment"; there are "id", "customer", "price", "weight", "day",
#    "open", "rank", "comment"; did you mean "comment"?  [substrait-unknown-field]
orders.aggregate(n=f.count(sd.col("id"), sd.col("rank")))
# E: aggregate, measure "n": no overload takes count(i64, i32?); write count(x)  [substrait-function-not-found]
orders.aggregate(n=lambda o: f.count(o.id).order_by("idd"))
# E: aggregate, measure "n": there is no column "idd"; there are "id", "customer", "price", "weight", "day", "open",
#    "rank", "comment"; did you mean "id"?  [substrait-unknown-field]
orders.aggregate("open", total=lambda o: f.sum(o.price)).filter(lambda r: r.total > 0.5)
# E: filter: no overload takes gt(decimal<38,2>?, 0.5); 0.5 does not fit decimal<38,2>: it takes a decimal.Decimal or an
#    int, not a float; write Decimal("0.5")  [substrait-function-not-found]
orders.distinct("id")
# E: Too many positional arguments for "distinct" of "RowSelectionVerbs"  [call-arg]
# N: "distinct" defined in "substrait_dsl.fluent.row_selection"
orders.distinct().select("idd")
# E: select: there is no column "idd"; there are "id", "customer", "price", "weight", "day", "open", "rank", "comment";
#    did you mean "id"?  [substrait-unknown-field]

items.group_by("part").agg(x=lambda i: f.sum(i.quantity) / i.order)
# E: agg, measure "x": column "order" is no key, and stands in no aggregate function; functions.any_value(col("order"))
#    is the value of one of the rows; or make it a key  [substrait-schema]
items.group_by("part").agg(x=f.count() > "a")
# E: agg, measure "x": no overload takes gt(i64, 'a'); 'a' does not fit i64: it takes an int, not a
#    str  [substrait-function-not-found]
items.group_by("part").agg(f.count() + 1)
# E: agg: the measure of "count" has no name; give it one: total=...  [substrait-schema]
items.group_by("part").agg(x=lambda i: f.count() + f.sum(i.quantity).over())
# E: agg, measure "x": a window function sees the rows of a relation, a measure those of a group; name the measures, and
#    compute it in with_columns(...) after the aggregate  [substrait-type-mismatch]
items.group_by("part").rollup(x=lambda i: f.count() + (i.part + 1))
# E: rollup, measure "x": the key "part" is NULL where a grouping set leaves it out, and this expression uses it as
#    required; write col("part") for it, which is the key; or name the measures, and compute it in with_columns(...)
#    after the aggregate  [substrait-schema]
items.filter(lambda i: f.count() > 1)
# E: filter: a condition is an expression, but this computes with the aggregate function count; name it in
#    aggregate(...), then use the column in with_columns(...); or give windows:
#    count(...).over(...)  [substrait-type-mismatch]
items.group_by("part").agg(x=lambda i: (f.count() + 1).filter(i.order > 1))
# E: agg, measure "x": distinct, filter, order_by, over and frame are of one aggregate function, but this computes with
#    the aggregate function count; write them there: count(...).filter(...)  [substrait-type-mismatch]
items.group_by("part").pivot("order", [], f.count())
# E: pivot: expected at least one value that becomes a column  [substrait-invalid-argument]
items.group_by("part").pivot("order", [1], f.count() + 1)
# E: pivot, measure "1": pivot takes one aggregate function, but this computes with the aggregate function count;
#    write agg(...), with a column for each value, and in it a filter of each function:
#    functions.sum(x).filter(col("key") == value); fill_null(...) puts a value in place of
#    NULLs  [substrait-type-mismatch]
