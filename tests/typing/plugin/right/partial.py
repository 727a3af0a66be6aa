"""Relations of which some columns are known: the others may have any names and types, and stand anywhere."""

from typing import Any, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders


class Weighed(sd.Schema):
    weight: sd.FP64


W = TypeVar("W", bound=Weighed)


def chosen(names: list[str]) -> sd.Relation:
    some = orders.select(*names, total=lambda o: o.weight * 2.0)
    some.filter(lambda r: (r.total > 1.0) & (r[0] == "x")).sort(0, sd.desc("comment"))
    return some.select("total", "comment").rename(comment="total2").project(comment=lambda r: r.total)


def dropped(names: list[str]) -> sd.Relation:
    less = orders.drop(*names)
    return less.project(weight=sd.lit("heavy")).filter(lambda o: o.weight == "heavy").drop(-1)


def replaced(columns: dict[str, sd.DynExpr]) -> sd.Relation:
    return orders.with_columns(**columns).filter(lambda o: o.weight == "heavy")


def renamed(names: dict[str, str]) -> sd.Relation:
    return orders.rename(names).filter(lambda o: o.weight == "none")


def joined(other: sd.Relation[Any]) -> sd.Relation:
    both = items.join(other, on=lambda i, o: i.part == o.id, how="left")
    both.filter(lambda r: r.comment == "x").filter(lambda r: r[3] > 1, sd.col("quantity") > 1)
    both.union_all(both).select("order", x=lambda r: r.weight + r[-5]).filter(lambda r: r.x > 1.0)
    both.group_by("comment").agg(n=f.count(), most=lambda r: f.max(r.weight)).filter(lambda r: r.most > 1.0)
    return items.select("part").union_all(other.select("id")).as_(Part)


class Part(sd.Schema):
    part: sd.I64


def asked(rows: sd.Relation[W]) -> sd.Relation:
    rows.filter(lambda r: r["comment"] == "x").select("weight", "id").filter(lambda r: r.id > 1)
    return rows.with_columns(weight=sd.lit("x"), double=lambda r: r.weight * 2.0).filter(lambda r: r.weight == "x")


chosen(["comment", "id"])
dropped(["weight"])
replaced({"weight": sd.lit("heavy")})
renamed({"weight": "w", "comment": "weight"})
joined(orders)
asked(orders)
