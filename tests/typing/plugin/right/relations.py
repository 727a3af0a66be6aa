"""Joins, set operations, aggregates, sorting and fetching, physical relations."""

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, items, orders, parts

MESSAGE = sd.AnyMessage("example.com/acme.Thing", b"1")
narrow = items.select("part", "quantity")

items.join(parts, ["part"], "inner").filter(lambda r: (r.label == "x") & (r.quantity > 3))
items.join(parts, lambda i, p: i.part == p.part, "outer").filter(lambda r: r.label.is_null())
items.join(parts, items.c.part == parts.c.part, "left").select("order", "label")
items.join(parts, items["part"] == parts["part"], "right").select("order", "label")
items.join(parts, sd.col(1) == sd.col(3), "left_semi").as_(Items)
items.join(parts, "part", "right_semi").select("part", "label")
items.join(parts, "part", "left_anti").union_all(items)
items.join(parts, "part", "right_anti").union_all(parts)
items.join(parts, "part", "left_single").select("label")
items.join(parts, "part", "right_single").select("label")
items.join(parts, "part", "left_mark").filter(lambda r: r.mark).select("part", "mark")
items.join(parts, "part", "right_mark", mark="sold").filter(sd.col("sold") | sd.col("sold").is_null())
items.join(parts, True, post_filter=lambda r: r.quantity > 3)
items.join(items, lambda one, other: (one.order == other.order) & (one.part < other.part)).select(0, 1, 5)
narrow.join(parts.filter(lambda p: p.label != ""), lambda i, p: (i.part == p.part) & (i.quantity > 3)).select("label")
narrow.cross(parts.select("label")).select("part", "label")

items.lateral_join(lambda i: parts.filter(lambda p: p.part == i.part)).select("label")
items.lateral_join(lambda i: parts.filter(lambda p: p.part == i.part).top_n(3, "label"), how="left").select("order")
items.lateral_join(lambda i: parts, on=lambda i, p: i.part == p.part, how="left_mark").filter(lambda r: r.mark)
narrow.lateral_join(lambda i: parts.filter(lambda p: p.part == i.part).aggregate(n=f.count())).select("part", "n")

items.hash_join(parts, "part").select("label")
items.hash_join(parts, [("part", "part")], "left", build="left").select("label")
items.hash_join(parts, lambda i, p: [i.part == p.part], residual=lambda i, p: i.quantity > 3).select("label")
items.hash_join(parts, lambda i, p: i.part == p.part, post_filter=lambda r: r.quantity > 3).select("label")
items.hash_join(parts, items.c.part == parts.c.part).select("label")
items.hash_join(parts, sd.join_key("part", "part", "is_not_distinct_from")).select("label")
items.hash_join(parts, [sd.join_key(lambda i: i.part, "part", f.equal)]).select("label")
items.sort("part").merge_join(parts.sort("part"), "part").select("label")
items.merge_join(parts, "part", "left_anti").select("quantity")
items.nested_loop_join(parts, lambda i, p: i.part < p.part).select("label")
items.nested_loop_join(parts, how="left_mark", mark="any").filter(lambda r: r.any)

items.union_all(items.filter(lambda i: i.quantity > 3), items.sort("part")).filter(lambda i: i.part > 3)
narrow.union(items.select("part", "quantity")).intersect(narrow).subtract(narrow).select("part")
narrow.set_op("minus_primary_all", narrow, narrow).set_op("minus_multiset", narrow).select("part")
narrow.set_op("intersection_primary", narrow).set_op("intersection_multiset_all", narrow).set_op(
    "union_distinct", narrow
)
orders.select("rank").set_op("intersection_multiset", orders.select(rank=lambda o: f.coalesce(o.rank, 0))).select(
    "rank"
)
relations = [narrow.filter(sd.col("part") == number) for number in range(3)]
relations[0].union_all(*relations[1:]).select("part")
narrow.union_all(*(narrow for _ in range(3))).select("quantity")

items.aggregate("part", n=f.count(), total=lambda i: f.sum(i.quantity), most=f.max(sd.col("order"))).select("most")
items.aggregate(n=f.count()).select("n")
items.aggregate("part", "order").select("order", "part")
items.aggregate(lambda i: i.part, sd.col("order"), (items.c.quantity + 1).alias("q"), n=f.count()).select("q")
items.aggregate("part", "order", n=f.count(), grouping_sets=[("part",), ("part", 1), ()]).filter(
    lambda r: r.grouping_set > 0
)
items.aggregate(
    "part", n=f.count().filter(sd.col("quantity") > 3), m=lambda i: f.count(i.order).distinct(), method="hash"
)
items.sort("part").aggregate("part", n=f.count(), method="streaming").select("n")
items.group_by("part", big=lambda i: i.quantity > 3).agg(
    f.count().alias("n"), total=lambda i: f.sum(i.quantity)
).select("big")
items.group_by(items.c.part).agg(total=f.sum(items.c.quantity)).select("total")
items.group_by("part", "order").rollup(n=f.count()).filter(lambda r: r.part.is_null() | (r.grouping_set == 0))
items.group_by("part", "order").cube(lambda i: f.sum(i.quantity).alias("n")).select("n")
grouped = items.group_by("part")
grouped.agg(n=f.count()).join(grouped.agg(m=f.count()), "part").select("n", "m")

items.sort("part", sd.desc("quantity"), lambda i: i.order, sd.asc(lambda i: i.part + 1, nulls="last"), items.c.part)
items.sort(0, sd.clustered("part"), lambda i: i.part.desc(nulls="first"), sd.col("order") * 2)
items.fetch(10, 5).limit(3).fetch(offset=1).fetch(sd.lit(5), sd.parameter(0, sd.I64))
items.fetch(sd.scalar_subquery(parts.aggregate(n=f.count())))
items.top_n(5, "part", lambda i: i.quantity, offset=1, with_ties=True).select("part")

items.exchange(sd.scatter("part", lambda i: i.order), partition_count=4).select("part")
items.exchange(sd.single_bucket("quantity")).exchange(
    sd.single_bucket(lambda i: i.quantity + 1, constrained=True), partition_count=2
)
items.exchange(sd.round_robin(exact=True)).exchange(sd.broadcast(), targets=[sd.exchange_target("tcp://x", 0)])
items.expand(part=sd.col("part"), order=lambda i: sd.switching(i.order, None), one=1).filter(lambda r: r.index == 0)
items.expand(x=sd.switching(sd.col("part"), lambda i: i.order, 5), index="copy").select("x", "copy")
items.merging_capture(blocking=True).simple_capture().select("part")
items.unnest(lambda i: sd.list_of(i.part, 5), element="one").filter(lambda r: r.one + r.offset > 3).select("part")
items.window(
    partition_by="part",
    order_by=[sd.desc("order"), lambda i: i.quantity],
    place=f.rank(),
    total=lambda i: f.sum(i.quantity),
)
items.window(n=f.row_number(), m=f.count().frame(rows=(-1, 0))).select("n", "m").filter(lambda r: r.n + r.m > 3)
items.hint(1000, alias="items", saved=[(1, "hashtable")]).select("part")
items.with_extension(common=sd.AdvancedExtension((MESSAGE,))).select("part")
items.extension_single(MESSAGE, {"a": "i64"}).select("a")
sd.extension_multi([items, orders], MESSAGE, Items).select("part")
sd.extension_leaf(MESSAGE, {"a": "i64"}).filter(lambda r: r.a > 3)
shared = sd.shared(items.select("part", "quantity"))
shared.join(shared, lambda one, other: one.part == other.part).select(0, 3)

sd.reveal_schema(items.join(parts, "part", "outer"))
# N: Schema is order: i64?, part: i64?, quantity: i32?, part: i64?, label: string?
sd.reveal_schema(items.join(parts, "part", "right_mark"))
# N: Schema is part: i64, label: string, mark: boolean?
sd.reveal_schema(items.lateral_join(lambda i: parts.filter(lambda p: p.part == i.part), how="left"))
# N: Schema is order: i64, part: i64, quantity: i32, part: i64?, label: string?
sd.reveal_schema(orders.select("rank").intersect(orders.select(rank=lambda o: f.coalesce(o.rank, sd.lit(0, sd.I32)))))
# N: Schema is rank: i32?
sd.reveal_schema(items.group_by("part", "order").rollup(total=lambda i: f.sum(i.quantity)))
# N: Schema is part: i64?, order: i64?, total: i64?, grouping_set: i32
sd.reveal_schema(items.expand(part=sd.switching(sd.col("part"), None), q=sd.col("quantity")))
# N: Schema is part: i64?, q: i32, index: i32
sd.reveal_schema(items.window(n=f.rank(), order_by="part").drop("order"))
# N: Schema is part: i64, quantity: i32, n: i64?
