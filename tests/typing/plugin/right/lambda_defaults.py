"""Values that only their class is known of, where some value of the class is right."""

import datetime as dt
from decimal import Decimal
from typing import ClassVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Orders, Parts, orders

for least in [1, 2]:
    orders.filter(lambda o, least=least: o.id > least)
    orders.filter(lambda o, least=least: o.weight > least)
    orders.filter(lambda o, least=least: o.price > least)
    orders.select(x=lambda o, least=least: o.rank * least)
for name in ("comment", "open"):
    orders.filter(lambda o, name=name: o.comment == name)
    orders.select(x=lambda o, name=name: o[name])
for price in (Decimal("1.50"), Decimal(2)):
    orders.filter(lambda o, price=price: o.price >= price)
for part in ("YEAR", "ISO_YEAR"):
    orders.select(x=lambda o, part=part: f.extract(part, o.day))


def until(day: dt.date, when: dt.datetime, count: int) -> sd.Relation:
    orders.filter(lambda o: o.day == day)
    orders.filter(lambda o, day=day: o.day <= day)
    orders.filter(lambda o: o.day.cast(sd.PrecisionTimestamp(6)) < when)
    orders.limit(count)
    today = when.date()
    return orders.filter(lambda o, today=today: o.day == today)


class Dated(sd.Schema):
    KEYS: ClassVar[tuple[str, ...]] = ("day",)
    LIMIT = 5
    day: sd.Date

    def later(self) -> sd.Expr[sd.Boolean]:
        return self.day > dt.date(2000, 1, 1)


class Base(sd.Schema):
    """Without columns: the classes that inherit from it have them."""


class Derived(Base):
    part: sd.I64


def read(schema: type[Base], other: type[sd.Schema]) -> list[sd.Relation]:
    return [sd.read_named("a", schema), sd.read_named("b", other), sd.read_named("c", Derived)]


read(Derived, Orders)
sd.read_named("parts", Parts).filter(lambda p, label="x": p.label == label)
