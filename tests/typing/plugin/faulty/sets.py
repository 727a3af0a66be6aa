"""Set operations over inputs that differ, and what comes out of them."""

import substrait_dsl as sd
from tests.typing.plugin.tables import customers, items, orders, parts

two = items.select("order", "part")
other = parts.rename(part="order", label="part")
maybe = orders.select("rank", "comment")
sure = orders.select(rank=lambda o: sd.lit(1, sd.I32), comment=lambda o: sd.lit("x", sd.String))

items.union_all(parts)
# E: union_all: the inputs of union_all must have the same number of columns: input 1 has 3 (order: i64, part: i64,
#    quantity: i32), input 2 has 2 (part: i64, label: string)  [substrait-schema]
items.union(parts)
# E: union: the inputs of union_distinct must have the same number of columns: input 1 has 3 (order: i64, part: i64,
#    quantity: i32), input 2 has 2 (part: i64, label: string)  [substrait-schema]
items.intersect(parts)
# E: intersect: the inputs of intersection_multiset must have the same number of columns: input 1 has 3 (order: i64,
#    part: i64, quantity: i32), input 2 has 2 (part: i64, label: string)  [substrait-schema]
items.subtract(parts)
# E: subtract: the inputs of minus_primary must have the same number of columns: input 1 has 3 (order: i64, part: i64,
#    quantity: i32), input 2 has 2 (part: i64, label: string)  [substrait-schema]
two.union_all(other)
# E: union_all: the inputs of union_all must have the same types: column 1 is part: i64 in input 1 but part: string in
#    input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.union(other)
# E: union: the inputs of union_distinct must have the same types: column 1 is part: i64 in input 1 but part: string in
#    input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.intersect(other)
# E: intersect: the inputs of intersection_multiset must have the same types: column 1 is part: i64 in input 1 but
#    part: string in input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.subtract(other)
# E: subtract: the inputs of minus_primary must have the same types: column 1 is part: i64 in input 1 but part: string
#    in input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.set_op("union_all", other)
# E: set_op: the inputs of union_all must have the same types: column 1 is part: i64 in input 1 but part: string in
#    input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.set_op("union_distinct", other)
# E: set_op: the inputs of union_distinct must have the same types: column 1 is part: i64 in input 1 but part: string
#    in input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.set_op("intersection_primary", other)
# E: set_op: the inputs of intersection_primary must have the same types: column 1 is part: i64 in input 1 but part:
#    string in input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.set_op("intersection_multiset", other)
# E: set_op: the inputs of intersection_multiset must have the same types: column 1 is part: i64 in input 1 but part:
#    string in input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.set_op("intersection_multiset_all", other)
# E: set_op: the inputs of intersection_multiset_all must have the same types: column 1 is part: i64 in input 1 but
#    part: string in input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.set_op("minus_primary", other)
# E: set_op: the inputs of minus_primary must have the same types: column 1 is part: i64 in input 1 but part: string in
#    input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.set_op("minus_primary_all", other)
# E: set_op: the inputs of minus_primary_all must have the same types: column 1 is part: i64 in input 1 but part:
#    string in input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.set_op("minus_multiset", other)
# E: set_op: the inputs of minus_multiset must have the same types: column 1 is part: i64 in input 1 but part: string
#    in input 2; cast one of them, for example to i64  [substrait-type-mismatch]
two.set_op("minus", two)
# E: set_op: unknown op 'minus'; expected one of "minus_primary", "minus_primary_all", "minus_multiset",
#    "intersection_primary", "intersection_multiset", "intersection_multiset_all", "union_distinct", "union_all"; write
#    "minus_primary"  [substrait-invalid-choice]
two.set_op("except", two)
# E: set_op: unknown op 'except'; expected one of "minus_primary", "minus_primary_all", "minus_multiset",
#    "intersection_primary", "intersection_multiset", "intersection_multiset_all", "union_distinct", "union_all"; write
#    "minus_primary"  [substrait-invalid-choice]
two.set_op("union", two)
# E: set_op: unknown op 'union'; expected one of "minus_primary", "minus_primary_all", "minus_multiset",
#    "intersection_primary", "intersection_multiset", "intersection_multiset_all", "union_distinct", "union_all"; write
#    "union_distinct"  [substrait-invalid-choice]
two.set_op("union_all")
# E: set_op: a set operation needs at least two inputs, got 1  [substrait-schema]
two.union_all()
# E: union_all: a set operation needs at least two inputs, got 1  [substrait-schema]
two.union_all(two, items)
# E: union_all: the inputs of union_all must have the same number of columns: input 1 has 2 (order: i64, part: i64),
#    input 3 has 3 (order: i64, part: i64, quantity: i32)  [substrait-schema]
two.union_all(two, two, parts)
# E: union_all: the inputs of union_all must have the same types: column 1 is part: i64 in input 1 but label: string in
#    input 4; cast one of them, for example to i64  [substrait-type-mismatch]
two.union_all(items.select("part", "quantity"))
# E: union_all: the inputs of union_all must have the same types: column 1 is part: i64 in input 1 but quantity: i32 in
#    input 2; cast the column of input 2 to i64  [substrait-type-mismatch]
two.union_all(items.select("part", "order"))
# E: union_all: the columns of input 2 have the names of input 1 in another order: "part", "order" instead of "order",
#    "part"; by_name=True matches them by name, select("order", "part") of input 2 puts them in
#    order  [substrait-schema]
two.union(items.select("part", "quantity"), by_name=True)
# E: union: columns are matched by name, but input 2 lacks "order" and has "quantity", which input 1 lacks;
#    with_columns(**{"order": null("i64")}) of input 2, or leave the column out of the others  [substrait-schema]
two.set_op("union_all", items.select("part", "order"), by_name=True).select("prt")
# E: select: there is no column "prt"; there are "order", "part"; did you mean "part"?  [substrait-unknown-field]
two.union_all("items")
# E: union_all: expected a relation, got 'items'; write read_named("items", schema) for a table of that
#    name  [substrait-invalid-argument]
two.union_all([two, two])
# E: union_all: expected a relation, got [Relation(order: i64, part: i64), Relation(order: i64, part:
#    i64)]; give them one by one: *[...]  [substrait-invalid-argument]
two.union_all(items.select("order", "prt"))
# E: select: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
two.union_all(customers)
# E: union_all: the inputs of union_all must have the same number of columns: input 1 has 2 (order: i64, part: i64),
#    input 2 has 5 (id: i64, name: string, address: struct<string, string?>, tags: list<string>, notes: map<string,
#    i64>)  [substrait-schema]
two.union_all(two).select("quantity")
# E: select: there is no column "quantity"; there are "order", "part"  [substrait-unknown-field]
two.union_all(parts.select(x="part", y="other"))
# E: select, column "y": there is no column "other"; there are "part", "label"; lit('other') is a constant
#    text  [substrait-unknown-field]
two.union(items.select("quantity", "part"), two)
# E: union: the inputs of union_distinct must have the same types: column 0 is order: i64 in input 1 but quantity: i32
#    in input 2; cast the column of input 2 to i64  [substrait-type-mismatch]
maybe.subtract(sure).filter(lambda r: r.rank == "x")
# E: filter: no overload takes equal(i32?, 'x'); 'x' does not fit i32: it takes an int, not a
#    str  [substrait-function-not-found]
maybe.intersect(sure).select("rnk")
# E: select: there is no column "rnk"; there are "rank", "comment"; did you mean "rank"?  [substrait-unknown-field]
two.union_all(two.rename(part="product")).filter(lambda r: r.product > 1)
# E: filter: there is no column "product"; there are "order", "part"  [substrait-unknown-field]
(
    items.filter(lambda i: i.quantity > 1)
    .select("order", "part")
    .union_all(
        two,
        items.select("part", "order", "quantity"),
        # E: union_all: the inputs of union_all must have the same number of columns: input 1 has 2 (order: i64, part:
        #    i64), input 3 has 3 (part: i64, order: i64, quantity: i32)  [substrait-schema]
    )
    .distinct()
    .select("quantity")
    # E: select: there is no column "quantity"; there are "order", "part"  [substrait-unknown-field]
)
