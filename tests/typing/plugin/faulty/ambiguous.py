"""Names that two columns have after a join, and columns of another relation than they are used on."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders, parts

two = items.join(parts, "part")
two.select("part")
# E: select: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by
#    its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.filter(lambda r: r.part > 1)
# E: filter: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by
#    its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.filter(sd.col("part") > 1)
# E: filter: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by
#    its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.sort("part")
# E: sort: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by
#    its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.drop("part")
# E: drop: column "part" is ambiguous: it stands at positions 1, 3; say which by its position: drop(1) or
#    drop(3)  [substrait-ambiguous-field]
two.rename(part="product")
# E: rename: column "part" is ambiguous: it stands at positions 1, 3; say which by its position: rename({1: ...}) or
#    rename({3: ...})  [substrait-ambiguous-field]
two.group_by("part").agg(n=f.count())
# E: group_by: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which
#    by its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.c.part.is_null()
# E: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by its
#    position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two["part"]
# E: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by its
#    position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.with_columns(part=1)
# E: with_columns: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say
#    which by its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.aggregate("part", n=f.count())
# E: aggregate: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which
#    by its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.join(parts, "part")
# E: join: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by
#    its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.hash_join(parts, "part")
# E: hash_join, key 0: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say
#    which by its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.top_n(5, "part")
# E: top_n: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by
#    its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
two.exchange(sd.scatter("part"))
# E: exchange, scatter: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or
#    say which by its position: col(1) or col(3); join(..., using="part") leaves one of a
#    key  [substrait-ambiguous-field]
two.window(partition_by="part", n=f.row_number())
# E: window, partition_by: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or
#    say which by its position: col(1) or col(3); join(..., using="part") leaves one of a
#    key  [substrait-ambiguous-field]
two.with_columns(n=f.row_number().over(order_by="part"))
# E: with_columns, column "n": column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them
#    first, or say which by its position: col(1) or col(3); join(..., using="part") leaves one of a
#    key  [substrait-ambiguous-field]
two.write("t", "ctas")
# E: write: a schema names each column once; "part" stands twice or more  [substrait-schema]
two.cross(orders).select("part")
# E: select: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by
#    its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
items.cross(items).filter(lambda r: r.quantity > 3)
# E: filter: column "quantity" is ambiguous: it stands at positions 2, 5; rename or drop one of them first, or say which
#    by its position: col(2) or col(5); join(..., using="quantity") leaves one of a key  [substrait-ambiguous-field]
items.join(items, lambda one, other: one.part == other.part).select("order")
# E: select: column "order" is ambiguous: it stands at positions 0, 3; rename or drop one of them first, or say which by
#    its position: col(0) or col(3); join(..., using="order") leaves one of a key  [substrait-ambiguous-field]

items.select(label=parts.c.label)
# E: select, column "label": column "label" belongs to another relation than the one it is used on; use a lambda
#    (lambda r: r.column), or the columns of the very relation the verb is called on  [substrait-schema]
items.filter(parts.c.part > 3)
# E: filter: column "part" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column),
#    or the columns of the very relation the verb is called on  [substrait-schema]
items.filter(lambda i: i.part == parts.c.part)
# E: filter: column "part" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column),
#    or the columns of the very relation the verb is called on  [substrait-schema]
items.sort(parts["label"])
# E: sort: column "label" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column), or
#    the columns of the very relation the verb is called on  [substrait-schema]
items.group_by(parts.c.part).agg(n=f.count())
# E: group_by: column "part" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column),
#    or the columns of the very relation the verb is called on  [substrait-schema]
items.group_by("part").agg(n=f.max(orders.c.id))
# E: agg, measure "n": column "id" belongs to another relation than the one it is used on; use a lambda (lambda r:
#    r.column), or the columns of the very relation the verb is called on  [substrait-schema]
items.select("part").filter(items.c.part > 3)
# E: filter: column "part" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column),
#    or the columns of the very relation the verb is called on  [substrait-schema]
items.filter(lambda i: i.part > 3).sort(items.c.part)
# E: sort: column "part" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column), or
#    the columns of the very relation the verb is called on  [substrait-schema]
items.join(parts, items.c.order == orders.c.id)
# E: join: column "id" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column), or
#    the columns of the very relation the verb is called on  [substrait-schema]
items.join(items, items.c.part == items.c.part)
# E: join: column "part" is ambiguous: both inputs are the same relation; name the sides with a lambda: lambda l, r:
#    l.part == r.part  [substrait-ambiguous-field]
items.join(parts, "part").filter(items.c.part > 3)
# E: filter: column "part" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column),
#    or the columns of the very relation the verb is called on  [substrait-schema]
items.with_columns(n=f.row_number().over(order_by=orders.c.id))
# E: with_columns, column "n": column "id" belongs to another relation than the one it is used on; use a lambda (lambda
#    r: r.column), or the columns of the very relation the verb is called on  [substrait-schema]
orders.filter(sd.exists(items.filter(items.c.order == orders.c.id)))
# E: filter: column "id" belongs to another relation than the one it is used on; use a lambda (lambda r: r.column), or
#    the columns of the very relation the verb is called on  [substrait-schema]
