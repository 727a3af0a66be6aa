"""Lateral joins, and the joins that say how they are done."""

import substrait_dsl as sd
from tests.typing.plugin.tables import items, parts

narrow = items.select("part", "quantity")

items.lateral_join(parts)
# E: lateral_join: expected a lambda that gets the left row and returns a relation, got Relation(part: i64, label:
#    string); a right side that does not depend on the left row is for join(...)  [substrait-invalid-argument]
items.lateral_join(lambda i: parts.filter(lambda p: p.part == i.prt))
# E: filter: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.lateral_join(lambda i: parts.filter(lambda p: p.prt == i.part))
# E: filter: there is no column "prt"; there are "part", "label"; did you mean "part"?  [substrait-unknown-field]
items.lateral_join(lambda i: i.part)
# E: lateral_join: expected a relation, got Expr(part: i64)  [substrait-invalid-argument]
items.lateral_join(lambda i: parts, how="right")
# E: lateral_join: unknown how 'right'; expected one of "inner", "left", "left_semi", "left_anti", "left_single",
#    "left_mark"  [substrait-invalid-choice]
items.lateral_join(lambda i: parts, on=lambda i, p: i.part)
# E: lateral_join: the condition must be a boolean, this is i64  [substrait-type-mismatch]
items.lateral_join(lambda i: parts.select("prt"))
# E: select: there is no column "prt"; there are "part", "label"; did you mean "part"?  [substrait-unknown-field]
items.lateral_join(lambda i: parts.filter(lambda p: p.part == i.part)).select("part")
# E: select: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first, or say which by
#    its position: col(1) or col(3); join(..., using="part") leaves one of a key  [substrait-ambiguous-field]
narrow.lateral_join(lambda i: parts.filter(lambda p: p.part == i.order))
# E: filter: there is no column "order"; there are "part", "quantity"  [substrait-unknown-field]
narrow.lateral_join(lambda i: parts.filter(lambda p: p.label == i.part))
# E: filter: no overload takes equal(string, i64); cast argument 1 from string to i64  [substrait-function-not-found]

items.hash_join(parts, "prt")
# E: hash_join, key 0: on the left side: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.hash_join(parts, [("part", "label")])
# E: hash_join, key 0: the two sides of a join key must have one type to be compared (eq): i64 and string; cast one of
#    them in a project below the join  [substrait-type-mismatch]
items.hash_join(parts, [("part", "prt")])
# E: hash_join, key 0: on the right side: there is no column "prt"; there are "part", "label"; did you mean
#    "part"?  [substrait-unknown-field]
items.hash_join(parts, lambda i, p: [i.part == p.label])
# E: hash_join: no overload takes equal(i64, string); cast argument 2 from string to
#    i64  [substrait-function-not-found]
items.hash_join(parts, lambda i, p: [i.part < p.part])
# E: hash_join, key 0: a key is an equality of a column of the left side and one of the right; other conditions go into
#    residual=..., or all of them into nested_loop_join(...)  [substrait-invalid-argument]
items.hash_join(parts, lambda i, p: i.part + 1 == p.part)
# E: hash_join, key 0: the left side of a join key must be a column or a field of one; compute it in a project below
#    the join  [substrait-invalid-argument]
items.hash_join(parts, 5)
# E: hash_join, key 0: expected the name of a column of both sides, a pair of names, or an equality, got 5; write
#    "key", ("left", "right"), or lambda l, r: l.left == r.right  [substrait-invalid-argument]
items.hash_join(parts, [])
# E: hash_join: expected at least one key; nested_loop_join(...) needs none  [substrait-invalid-argument]
items.hash_join(parts, "part", build="both")
# E: hash_join: unknown build side 'both'; expected one of "left", "right"  [substrait-invalid-choice]
items.hash_join(parts, "part", residual=lambda i, p: i.quantity)
# E: hash_join, residual: the condition must be a boolean, this is i32  [substrait-type-mismatch]
items.hash_join(parts, "part", residual=lambda i, p: p.quantity > 1)
# E: hash_join, residual: there is no column "quantity"; there are "part", "label"  [substrait-unknown-field]
items.hash_join(parts, "part", post_filter=lambda r: r.part > 1)
# E: hash_join, post_filter: column "part" is ambiguous: it stands at positions 1, 3; rename or drop one of them first,
#    or say which by its position: col(1) or col(3); join(..., using="part") leaves one of a
#    key  [substrait-ambiguous-field]
items.hash_join(parts, "part", "left_semi").select("label")
# E: select: there is no column "label"; there are "order", "part", "quantity"  [substrait-unknown-field]
items.merge_join(parts, "prt")
# E: merge_join, key 0: on the left side: there is no column "prt"; there are "order", "part", "quantity"; did you mean
#    "part"?  [substrait-unknown-field]
items.sort("order").merge_join(parts, "part")
# E: merge_join: the left input of a merge join must be sorted by its keys, but it is sorted by order; sort it by the
#    keys, or use a hash join  [substrait-schema]
items.merge_join(parts, sd.join_key("part", "label"))
# E: merge_join, key 0: the two sides of a join key must have one type to be compared (eq): i64 and string; cast one of
#    them in a project below the join  [substrait-type-mismatch]
items.merge_join(parts, sd.join_key("part", "part", "equal"))
# E: join_key: unknown comparison 'equal'; expected one of "eq", "is_not_distinct_from", "might_equal"; write
#    "eq"  [substrait-invalid-choice]
items.nested_loop_join(parts, lambda i, p: i.part + p.part)
# E: nested_loop_join: the condition must be a boolean, this is i64  [substrait-type-mismatch]
items.nested_loop_join(parts, how="full")
# E: nested_loop_join: unknown how 'full'; expected one of "inner", "outer", "left", "right", "left_semi",
#    "right_semi", "left_anti", "right_anti", "left_single", "right_single", "left_mark", "right_mark"; write
#    "outer"  [substrait-invalid-choice]
items.nested_loop_join(parts, False)
# E: nested_loop_join: the condition is an expression, names of columns or True, got False; lambda l, r: l.x == r.y
#    compares columns; lit(False) is a condition that no rows meet  [substrait-invalid-argument]
narrow.hash_join(parts, lambda i, p: i.order == p.part)
# E: hash_join: there is no column "order"; there are "part", "quantity"  [substrait-unknown-field]
narrow.nested_loop_join(parts, lambda i, p: i.part < p.label)
# E: nested_loop_join: no overload takes lt(i64, string); cast argument 2 from string to
#    i64  [substrait-function-not-found]
