"""A name that is bound to one relation after another, without any annotation: mypy has a setting for that."""

# mypy: allow-redefinition, local-partial-types

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders

rel = orders.filter(lambda o: o.open)
rel = rel.select("id", "price", "rank")
rel = rel.with_columns(double=lambda o: o.price * 2)
rel = rel.drop("price")
sd.reveal_schema(rel)
# N: Schema is id: i64, rank: i32?, double: decimal<17,2>
rel = rel.join(items, lambda o, i: o.id == i.order)
rel = rel.group_by("rank").agg(n=f.count(), pieces=lambda r: f.sum(r.quantity))
sd.reveal_schema(rel)
# N: Schema is rank: i32?, n: i64, pieces: i64?
for number in range(3):
    rel = rel.filter(sd.col("n") > number)
rel.select("pieces")


def report(minimum: int, narrow: bool) -> sd.Relation:
    found = items.filter(lambda i: i.quantity > minimum)
    found = found.group_by("part").agg(n=f.count())
    if narrow:
        found = found.select("n")
    found = found.filter(lambda r: r.n > 1)
    return found.sort("n")


report(3, True).select("n")
