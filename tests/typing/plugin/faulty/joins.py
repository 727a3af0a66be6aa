"""Joins and products: conditions, keys and join types."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders, parts

narrow = items.select("part", "quantity")

items.join(parts, "prt")
# E: join: on the left side: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.join(parts, ["part", "label"])
# E: join: on the left side: there is no column "label"; there are "order", "part", "quantity"; columns of different
#    names need a lambda: lambda l, r: l.x == r.y  [substrait-unknown-field]
items.join(parts, on="quantity")
# E: join: on the right side: there is no column "quantity"; there are "part", "label"; columns of different names need
#    a lambda: lambda l, r: l.x == r.y  [substrait-unknown-field]
items.join(parts, lambda i, p: i.part)
# E: join: the condition must be a boolean, this is i64  [substrait-type-mismatch]
items.join(parts, lambda i, p: i.part == p.label)
# E: join: no overload takes equal(i64, string); cast argument 2 from string to i64  [substrait-function-not-found]
items.join(parts, lambda i, p: i.quantity == p.label)
# E: join: no overload takes equal(i32, string); cast argument 2 from string to i32  [substrait-function-not-found]
items.join(parts, lambda i, p: i.label == p.part)
# E: join: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]
items.join(parts, lambda i, p: p.quantity == i.part)
# E: join: there is no column "quantity"; there are "part", "label"  [substrait-unknown-field]
items.join(parts, lambda i: i.part == 1)
# E: join: lambda(i) does not take 2 rows, one for each input; write lambda left, right: left.x ==
#    right.y  [substrait-invalid-argument]
items.join(parts, sd.col("part") == sd.col("part"))
# E: join: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by
#    its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
items.join(parts, items.c.part == parts.c.label)
# E: no overload takes equal(i64, string); cast argument 2 from string to i64  [substrait-function-not-found]
items.join(parts, items["part"] == parts["lable"])
# E: there is no column "lable"; there are "part", "label"; did you mean "label"?  [substrait-unknown-field]
items.join("parts", "part")
# E: join: expected a relation, got 'parts'; write read_named("parts", schema) for a table of that
#    name  [substrait-invalid-argument]
items.join(parts)
# E: join: expected on=, a condition or names, or using=, names of columns that are put out once; write using="x", or
#    on=lambda l, r: l.x == r.y; cross(other) pairs all rows  [substrait-invalid-argument]
items.join(parts, "part", using="part")
# E: join: expected on= or using=, not both; using="x" is that the columns x are equal, and puts out one of them; add
#    other conditions by filter(...)  [substrait-invalid-argument]
items.join(parts, using="prt")
# E: join, using: on the left side: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.join(parts.rename(label="order"), using="order")
# E: join, using: column "order" is i64 on the left side and string on the right; cast the one of the left side before:
#    with_columns(order=col("order").cast("string"))  [substrait-type-mismatch]
items.join(parts, using="part").select("prt")
# E: select: there is no column "prt"; there are "order", "part", "quantity", "label"; did you mean
#    "part"?  [substrait-unknown-field]
items.join(parts, using="part", how="outer").filter(lambda r: r.part == r.label)
# E: filter: no overload takes equal(i64, string?); cast argument 2 from string? to i64?  [substrait-function-not-found]
items.join(parts, using="part", post_filter=lambda r: r.part)
# E: join, post_filter: the condition must be a boolean, this is i64  [substrait-type-mismatch]
items.join(parts, False)
# E: join: the condition is an expression, names of columns or True, got False; lambda l, r: l.x == r.y compares
#    columns; lit(False) is a condition that no rows meet  [substrait-invalid-argument]
items.join(parts, "part", "lfet")
# E: join: unknown how 'lfet'; expected one of "inner", "outer", "left", "right", "left_semi", "right_semi",
#    "left_anti", "right_anti", "left_single", "right_single", "left_mark", "right_mark"; did you mean
#    "left"?  [substrait-invalid-choice]
items.join(parts, "part", how="full")
# E: join: unknown how 'full'; expected one of "inner", "outer", "left", "right", "left_semi", "right_semi",
#    "left_anti", "right_anti", "left_single", "right_single", "left_mark", "right_mark"; write
#    "outer"  [substrait-invalid-choice]
items.join(parts, "part", how="semi")
# E: join: unknown how 'semi'; expected one of "inner", "outer", "left", "right", "left_semi", "right_semi",
#    "left_anti", "right_anti", "left_single", "right_single", "left_mark", "right_mark"; write
#    "left_semi"  [substrait-invalid-choice]
items.join(parts, "part", how="left_mark", mark="order")
# E: join: there is a column "order" already; call the new one otherwise: mark="..."  [substrait-schema]
items.join(parts, "part", how="left_mark", mark=5)
# E: join: the name of a column is a str, got 5  [substrait-invalid-argument]
items.join(parts, "part", post_filter=lambda r: r.label)
# E: join, post_filter: the condition must be a boolean, this is string  [substrait-type-mismatch]
items.join(parts, "part", post_filter=lambda r: r.part > 1)
# E: join, post_filter: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or
#    say which by its position: col(1) or col(3); join(..., using="part") leaves one of a
#    key  [substrait-ambiguous-field]
items.join(parts, "part", post_filter=lambda r: r.lable == "x")
# E: join, post_filter: there is no column "lable"; there are "order", "part", "quantity", "part", "label"; did you mean
#    "label"?  [substrait-unknown-field]
items.join(parts, "part", how="left_semi").select("label")
# E: select: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]
items.join(parts, "part", how="left_semi").filter(lambda r: r.label == "x")
# E: filter: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]
items.join(parts, "part", how="right_semi").select("quantity")
# E: select: there is no column "quantity"; there are "part", "label"  [substrait-unknown-field]
items.join(parts, "part", how="left_anti").select("label")
# E: select: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]
items.join(parts, "part", how="right_anti").filter(sd.col("quantity") > 1)
# E: filter: there is no column "quantity"; there are "part", "label"  [substrait-unknown-field]
items.join(parts, "part", how="left_mark").filter(lambda r: r.mark + 1 > 0)
# E: filter: no overload takes add(boolean?, 1); 1 does not fit boolean: it takes a bool, not an
#    int  [substrait-function-not-found]
items.join(parts, "part", how="right_mark", mark="sold").select("mark")
# E: select: there is no column "mark"; there are "part", "label", "sold"  [substrait-unknown-field]
orders.asof_join(orders.select("customer", "day", "rank"), on="day", by="custmer")
# E: asof_join, by: on the left side: there is no column "custmer"; there are "id", "customer", "price", "weight",
#    "day", "open", "rank", "comment"; did you mean "customer"?  [substrait-unknown-field]
orders.asof_join(items, on=("id", "quantity"))
# E: asof_join, on: "id" and "quantity": the left side has i64, the right one i32; cast the one of the right side
#    before: with_columns(quantity=col("quantity").cast("i64"))  [substrait-type-mismatch]
orders.asof_join(orders, on="id", direction="before")
# E: asof_join: unknown direction 'before'; expected one of "backward", "forward", "nearest"; write
#    "backward"  [substrait-invalid-choice]
orders.asof_join(items, on=("id", "order")).select("quantty")
# E: select: there is no column "quantty"; there are "id", "customer", "price", "weight", "day", "open", "rank",
#    "comment", "order", "part", "quantity"; did you mean "quantity"?  [substrait-unknown-field]
narrow.join(parts, lambda i, p: i.order == p.part)
# E: join: there is no column "order"; there are "part", "quantity"  [substrait-unknown-field]
narrow.join(parts, lambda i, p: i.part == p.label)
# E: join: no overload takes equal(i64, string); cast argument 2 from string to i64  [substrait-function-not-found]
narrow.join(parts, lambda i, p: i.quantity == p.label)
# E: join: no overload takes equal(i32, string); cast argument 2 from string to i32  [substrait-function-not-found]
narrow.join(parts.select("label"), "part")
# E: join: on the right side: there is no column "part"; there is "label"; columns of different names need a lambda:
#    lambda l, r: l.x == r.y  [substrait-unknown-field]
narrow.join(parts.select("lable"), "part")
# E: select: there is no column "lable"; there are "part", "label"; did you mean "label"?  [substrait-unknown-field]
narrow.cross(parts).select("part")
# E: select: column "part" is ambiguous: it stands at positions 0, 2; rename or drop one of them first, or say which by
#    its position: col(0) or col(2); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
narrow.cross("parts")
# E: cross: expected a relation, got 'parts'; write read_named("parts", schema) for a table of that
#    name  [substrait-invalid-argument]
narrow.cross(parts.select("prt"))
# E: select: there is no column "prt"; there are "part", "label"; did you mean "part"?  [substrait-unknown-field]

(
    orders.join(items, lambda o, i: o.id == i.order)
    .join(parts, lambda r, p: r.part == p.part)
    .filter(lambda r: r.quantity > 3)
    .group_by("label")
    .agg(
        spent=lambda r: f.sum(r.price),
        pieces=lambda r: f.sum(r.quantty),
        # E: agg, measure "pieces": there is no column "quantty"; there are "id", "customer", "price", "weight", "day",
        #    "open", "rank", "comment", "order", "part", "quantity", "part", ... (13 in all); did you mean
        #    "quantity"?  [substrait-unknown-field]
    )
)
