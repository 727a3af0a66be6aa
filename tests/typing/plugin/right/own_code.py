"""Code of the program's own around pipelines: functions that give rows, several relations, methods, enums, numbers."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import ClassVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, Orders, Parts, items, orders, parts

# Instances of schema classes that functions give: `into` takes them.


class Labelled(sd.Schema):
    part: sd.I64
    label: sd.String


def labelled(part: Parts) -> Labelled:
    return Labelled(part=part.part, label=f.upper(part.label))


def of_item(item: Items, label: str) -> Labelled:
    return Labelled(part=item.part, label=sd.lit(label))


class Labels:
    def of_part(self, part: Parts) -> Labelled:
        return labelled(part)

    @staticmethod
    def of_any(part: Parts) -> Labelled:
        return labelled(part)

    @classmethod
    def of_class(cls, part: Parts) -> Labelled:
        return cls.of_any(part)


def given(rows: sd.Relation[Items], label: str) -> sd.Relation[Labelled]:
    return rows.into(lambda i: of_item(i, label))


sd.reveal_schema(parts.into(labelled))
# N: Schema is part: i64, label: string
sd.reveal_schema(parts.into(lambda p: labelled(p)).select("label"))
# N: Schema is label: string
sd.reveal_schema(parts.into(Labels().of_part).union_all(parts.into(Labels.of_any), parts.into(Labels.of_class)))
# N: Schema is part: i64, label: string
sd.reveal_schema(given(items, "x"))
# N: Schema is part: i64, label: string


class Selves(sd.Schema):
    self: sd.I64
    other: sd.I64


sd.reveal_schema(items.into(lambda i: Selves(self=i.part, other=i.order)).select("other", self=lambda s: s.self))
# N: Schema is other: i64, self: i64

# Several relations of one schema class.


def all_of(first: sd.Relation[Items], rest: list[sd.Relation[Items]]) -> sd.Relation[Items]:
    return first.union_all(*rest)


def both(first: sd.Relation[Items], *rest: sd.Relation[Items]) -> sd.Relation[Items]:
    return first.set_op("union_distinct", *rest).union_all(first, *rest)


def named(first: sd.Relation[Items], rest: dict[str, sd.Relation[Items]]) -> sd.Relation[Items]:
    return first.union(*rest.values())


def of_parts(sequence: Sequence[sd.Relation[Items]]) -> sd.Relation[Items]:
    first, *rest = sequence
    return first.intersect(*rest)


sd.reveal_schema(all_of(items, [items]))
# N: Schema is order: i64, part: i64, quantity: i32
sd.reveal_schema(both(items, items).union_all(named(items, {"a": items}), of_parts([items, items])))
# N: Schema is order: i64, part: i64, quantity: i32

# Methods and constants of schema classes are no columns.


class Counted(sd.Schema):
    part: sd.I64
    quantity: sd.I32
    LEAST = 5
    MOST: ClassVar = 10

    def is_many(self) -> sd.Expr[sd.Boolean]:
        return self.quantity > Counted.LEAST

    @staticmethod
    def twice(row: Counted) -> sd.Expr[sd.I32]:
        return row.quantity * 2


counted = items.select("part", "quantity").as_(Counted)
sd.reveal_schema(counted.filter(Counted.is_many, lambda c: c.quantity < Counted.MOST).select(twice=Counted.twice))
# N: Schema is twice: i32

# Members of enums that are texts are names.


class Names(enum.StrEnum):
    PART = "part"
    QUANTITY = "quantity"


class Mixed(str, enum.Enum):  # noqa: UP042  # what there was before StrEnum
    PART = "part"


sd.reveal_schema(items.select(Names.PART, x=lambda i: i[Names.QUANTITY], y=sd.col(Mixed.PART)))
# N: Schema is part: i64, x: i32, y: i64
sd.reveal_schema(items.group_by(Names.PART).agg(total=f.sum(items[Names.QUANTITY])).drop(Mixed.PART))
# N: Schema is total: i64?

# Numbers: what is written out is known, and so is what depends on none.


def with_numbers(number: int) -> None:
    sd.reveal_schema(orders.select(x=lambda o: o.rank + number, y=lambda o: o.price > number, z=sd.lit(number)))
    # N: Schema is x: i32?, y: boolean, z: i64
    sd.reveal_schema(orders.select(n=f.ntile(number).over(order_by="id")).fetch(number))
    # N: Schema is n: i64?


with_numbers(3)
sd.reveal_schema(orders.select(x=lambda o: o.price * 10**6, y=lambda o: o.price * (1 << 20)))
# N: Schema is x: decimal<23,2>, y: decimal<23,2>
sd.reveal_schema(orders.select(z=lambda o: o.price * (7 // 2 * 1000)))
# N: Schema is z: decimal<20,2>

# What a list or dict is given to changes nothing, if it is the library's.

keys = ["part"]
sd.reveal_schema(items.group_by(*keys).agg(many=lambda i: f.max(i.quantity)).filter(sd.col("part").is_in([1, 2])))
# N: Schema is part: i64, many: i32?
options = [1, 2]
sd.reveal_schema(items.filter(lambda i: i.part.is_in(options)).select("part", x=lambda i: i.order.is_in(options)))
# N: Schema is part: i64, x: boolean
sd.reveal_schema(items.select(x=lambda i: i.order.is_in([*options, 3]), y=lambda i: i.order.is_in((0, *options))))
# N: Schema is x: boolean, y: boolean

# A verb that is called on the class of relations, and a condition that waits in a variable.

when = sd.when(sd.col("part") > 3).then("many")
sd.reveal_schema(sd.Relation.select(items, "part", many=when.otherwise("few")))
# N: Schema is part: i64, many: string


def in_steps(order: Orders) -> sd.Expr[sd.Boolean]:
    found = order.price > 3
    found = found & (order.id == 1)
    found &= order.open
    return found


orders.filter(in_steps)
