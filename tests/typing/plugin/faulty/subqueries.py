"""Subqueries: correlated or not, in conditions and columns."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders, parts

narrow = items.select("order", "part")

orders.filter(lambda o: sd.exists(items.filter(lambda i: i.ordr == o.id)))
# E: filter: there is no column "ordr"; there are "order", "part", "quantity"; did you mean
#    "order"?  [substrait-unknown-field]
orders.filter(lambda o: sd.exists(items.filter(lambda i: i.order == o.idd)))
# E: filter: there is no column "idd"; there are "id", "customer", "price", "weight", "day", "open", "rank", "comment";
#    did you mean "id"?  [substrait-unknown-field]
orders.filter(lambda o: sd.exists(items.filter(lambda i: i.order == o.day)))
# E: filter: no overload takes equal(i64, date); values that are compared have one type  [substrait-function-not-found]
orders.filter(lambda o: sd.exists(narrow.filter(lambda i: i.ordr == o.id)))
# E: filter: there is no column "ordr"; there are "order", "part"; did you mean "order"?  [substrait-unknown-field]
orders.filter(lambda o: sd.exists(narrow.filter(lambda i: i.order == o.comment)))
# E: filter: no overload takes equal(i64, string?); cast argument 2 from string? to i64?  [substrait-function-not-found]
orders.filter(lambda o: sd.exists("items"))
# E: filter: exists takes a relation, got 'items'; write read_named("items", schema) for a table of that
#    name  [substrait-invalid-argument]
orders.filter(sd.exists(items.select("prt")))
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
orders.filter(lambda o: o.id.is_in(items))
# E: filter: an IN subquery: 1 values to look for, but a relation of 3 columns; take the one that is compared, for
#    example rel.select("order")  [substrait-schema]
orders.filter(lambda o: o.id.is_in(items.select("prt")))
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
orders.filter(lambda o: o.id.is_in(parts.select("label")))
# E: filter: an IN subquery, column "label": the value is i64 but an option is string; values that are compared have one
#    type: cast one of them, or give a constant its type  [substrait-type-mismatch]
orders.filter(lambda o: o.id.is_in("abc"))
# E: filter: is_in takes a list of values or a relation, got 'abc'  [substrait-invalid-argument]
names = ["a", "b"]
orders.filter(lambda o: o.id.is_in([*names, "c"]))
# E: filter: 'a' does not fit i64: it takes an int, not a str  [substrait-literal]
orders.filter(sd.col("id").is_in(parts.select("label")))
# E: filter: an IN subquery, column "label": the value is i64 but an option is string; values that are compared have one
#    type: cast one of them, or give a constant its type  [substrait-type-mismatch]
orders.filter(lambda o: o.id > sd.any_of(items))
# E: filter: "any" of a subquery needs a relation of one column, this one has 3: order: i64, part: i64, quantity:
#    i32  [substrait-schema]
orders.filter(lambda o: o.id > sd.all_of(parts.select("label")))
# E: filter: "all" of a subquery: the value is i64 but an option is string; values that are compared have one
#    type: cast one of them, or give a constant its type  [substrait-type-mismatch]
orders.filter(lambda o: o.id > sd.any_of([1, 2]))
# E: filter: any_of takes a relation, got [1, 2]  [substrait-invalid-argument]
orders.filter(lambda o: o.id == items)
# E: filter: equal takes values, but this is a relation; scalar_subquery(rel) is its one value, any_of(rel) and
#    all_of(rel) compare with every row  [substrait-type-mismatch]
orders.filter(lambda o: o.id > sd.scalar_subquery(items))
# E: filter: a scalar subquery needs a relation of one column, this one has 3: order: i64, part: i64, quantity:
#    i32  [substrait-schema]
orders.filter(lambda o: o.id > sd.scalar_subquery(items.select("prt")))
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
orders.filter(lambda o: o.id > sd.scalar_subquery(parts.aggregate(m=f.any_value(sd.col("label")))))
# E: filter: no overload takes gt(i64, string?); cast argument 2 from string? to i64?  [substrait-function-not-found]
orders.filter(lambda o: sd.record(o.id, o.customer).is_in(items))
# E: filter: an IN subquery: 2 values to look for, but a relation of 3 columns; take those that are compared:
#    rel.select(...)  [substrait-schema]
orders.filter(lambda o: sd.record(o.id, o.day).is_in(narrow))
# E: filter: an IN subquery, column "part": the value is date but an option is i64; values that are compared have one
#    type: cast one of them, or give a constant its type  [substrait-type-mismatch]
orders.filter(lambda o: sd.record(o.id, o.customer).is_in([(1, 2), (3,)]))
# E: filter: is_in: 2 values, but a tuple of 1: (3,)  [substrait-invalid-argument]
orders.filter(lambda o: sd.record(o.id, "customer").is_in([(1, 2)]))
# E: filter: record takes expressions, got the text 'customer'; write col('customer') for a column, lit('customer') for
#    text  [substrait-invalid-argument]
orders.filter(sd.unique(items.select("prt")))
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
orders.with_columns(n=lambda o: sd.scalar_subquery(items.filter(lambda i: i.order == o.id).aggregate(n=f.cnt())))
# E: Module has no attribute "cnt"  [attr-defined]
orders.with_columns(
    total=lambda o: sd.scalar_subquery(
        items.filter(lambda i: i.order == o.id).aggregate(n=lambda i: f.sum(i.quantity), m=f.count())
        # E: with_columns, column "total": a scalar subquery needs a relation of one column, this one has 2: n: i64?, m:
        #    i64  [substrait-schema]
    )
)
orders.with_columns(
    total=lambda o: sd.scalar_subquery(items.filter(lambda i: i.order == o.id).aggregate(n=lambda i: f.sum(i.quantty)))
    # E: aggregate, measure "n": there is no column "quantty"; there are "order", "part", "quantity"; did you mean
    #    "quantity"?  [substrait-unknown-field]
)
orders.with_columns(total=lambda o: sd.scalar_subquery(items.aggregate(n=f.count()))).filter(lambda o: o.total > "1")
# E: filter: no overload takes gt(i64, '1'); '1' does not fit i64: it takes an int, not a str; write 1, a
#    number  [substrait-function-not-found]
orders.fetch(sd.scalar_subquery(parts.select("label")))
# E: fetch: the count of a fetch must be an integer, this is string?  [substrait-type-mismatch]
