"""Statements of many lines: a mistake is said at the line where it was written."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, items, orders, parts

(
    items.filter(
        lambda i: i.quantity > 3,
        lambda i: i.part == "x",
        # E: filter: no overload takes equal(i64, 'x'); 'x' does not fit i64: it takes an int, not a
        #    str  [substrait-function-not-found]
    ).select(
        "order",
        "part",
        "prt",
        x=sd.col("part"),
    )
)
(
    items.filter(lambda i: i.quantity > 3).project()
    # E: project: expected at least one column, as name=expression  [substrait-invalid-argument]
)
items.with_columns(
    a=lambda i: i.part + 1,
    b=lambda i: (
        (i.part > 1) & (i.quantity == "x")
        # E: with_columns, column "b": no overload takes equal(i32, 'x'); 'x' does not fit i32: it takes an int, not a
        #    str  [substrait-function-not-found]
    ),
)
items.with_columns(
    a=sd.col("part"),
    b=(
        (sd.col("part") > 1) & (sd.col("quantity") == "x")
        # E: with_columns, column "b": no overload takes equal(i32, 'x'); 'x' does not fit i32: it takes an int, not a
        #    str  [substrait-function-not-found]
    ),
)
items.filter(
    (sd.col("part") > 1) & (sd.col("quantity") + sd.col("part").cast("string") > 3)
    # E: filter: no overload takes add(i32, string); functions.concat(a, b) joins texts  [substrait-function-not-found]
)
items.join(
    parts,
    on=lambda i, p: i.quantity == p.label,
    # E: join: no overload takes equal(i32, string); cast argument 2 from string to i32  [substrait-function-not-found]
    how="left",
)
items.join(
    parts,
    "part",
    how="lefft",
    # E: join: unknown how 'lefft'; expected one of "inner", "outer", "left", "right", "left_semi", "right_semi",
    #    "left_anti", "right_anti", "left_single", "right_single", "left_mark", "right_mark"; did you mean
    #    "left"?  [substrait-invalid-choice]
)
items.join(
    parts.select(
        "lable",
        # E: select: there is no column "lable"; there are "part", "label"; did you mean
        #    "label"?  [substrait-unknown-field]
    ),
    "part",
)
items.aggregate(
    "part",
    n=f.count(),
    m=f.sum(
        sd.col("qty"),
        # E: aggregate, measure "m": there is no column "qty"; there are "order", "part",
        #    "quantity"  [substrait-unknown-field]
    ),
)
items.write(
    "t",
    schema={
        "order": "i64",
        "part": "string",
        # E: write: column "part" of the table is string, but part: i64 is given; cast it to
        #    string  [substrait-type-mismatch]
        "quantity": "i32",
    },
)
sd.read_named(
    "items",
    Items,
    filter=lambda i: i.part,
    # E: read_named: the condition must be a boolean, this is i64  [substrait-type-mismatch]
)
sd.read_virtual(
    [
        (1, 2, 3),
        (1, "x", 3),
        # E: read_virtual: row 1, column "part": 'x' does not fit i64: it takes an int, not a str  [substrait-literal]
    ],
    Items,
)
items.union_all(
    items,
    items.select("part"),
    # E: union_all: the inputs of union_all must have the same number of columns: input 1 has 3 (order: i64, part: i64,
    #    quantity: i32), input 3 has 1 (part: i64)  [substrait-schema]
)

orders.join(
    items,
    lambda o, i: o.id == i.order,
).group_by(
    "customer",
).agg(
    n=f.count(),
    most=lambda r: f.max(
        # E: agg, measure "most": no overload takes max(string?); the specification has none of texts;
        #    substrait_dsl.everyday.max(x) compares texts by code points; top_n(1, desc(x)) gives the row; for each
        #    group, row_number().over(partition_by=..., order_by=desc(x)) in with_columns(...); then filter by it ==
        #    1  [substrait-function-not-found]
        r.comment,
    ),
).sort(
    sd.desc("most"),
)
orders.select(
    "id",
    size=lambda o: (
        sd.when(o.price > 100)
        .then("dear")
        .when(o.price > "10")
        # E: select, column "size": no overload takes gt(decimal<15,2>, '10'); '10' does not fit decimal<15,2>: it takes
        #    a decimal.Decimal or an int, not a str; write Decimal('10'), a number  [substrait-function-not-found]
        .then("fair")
        .otherwise("cheap")
    ),
)
orders.select(
    "id",
    size=lambda o: (
        sd.when(o.price > 100).then("dear").otherwise(5)
        # E: select, column "size": the branches of an if must have one type: there is string and i64; cast them to one
        #    type  [substrait-type-mismatch]
    ),
)
sd.update(
    "items",
    Items,
    {
        "part": 1,
        "quantity": "2",
        # E: update, column "quantity": '2' does not fit i32: it takes an int, not a str; write 2, a
        #    number  [substrait-literal]
    },
    where=True,
)
orders.filter(
    lambda o: sd.exists(
        items.filter(
            lambda i: (i.order == o.id) & (i.qty > 3)
            # E: filter: there is no column "qty"; there are "order", "part", "quantity"  [substrait-unknown-field]
        )
    )
)
orders.with_columns(
    n=f.row_number().over(
        partition_by="customer",
        order_by=[
            "day",
            sd.desc("amount"),
            # E: with_columns, column "n": there is no column "amount"; there are "id", "customer", "price", "weight",
            #    "day", "open", "rank", "comment"  [substrait-unknown-field]
        ],
    ),
)
