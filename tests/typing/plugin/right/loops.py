"""Loops whose values are right, or may never come to a call, or are not those that the program shows."""

from collections.abc import Callable
from typing import Any

import substrait_dsl as sd
from substrait_dsl.errors import UnknownFieldError
from tests.typing.plugin.tables import items, orders

NAMES = ("part", "prat")

for name in ("order", "part"):
    items.select(name)
    large = items.filter(sd.col(name) > 1)
sd.reveal_schema(large)
# N: Schema is order: i64, part: i64, quantity: i32
for name in NAMES:
    if name != "prat":
        items.select(name)
for name in NAMES:
    if name == "prat":
        continue
    items.select(name)
for name in NAMES:
    try:
        items.select(name)
    except UnknownFieldError:
        break
for name in NAMES:
    items.select(name if name == "part" else "order")
    name == "part" and items.select(name)
for name in NAMES:
    name = "order"
    items.select(name)
rows: list[Callable[[Any], Any]] = []
for name in NAMES:
    rows.append(lambda r: r[name])  # noqa: B023, PERF401
for name, count in (("part", 1), ("order", 2)):
    items.filter(sd.col(name) > count)
print([items.select(name) for name in NAMES if name != "prat"])
print([items.select(name if name == "part" else "order") for name in NAMES])
print(next(items.select(name) for name in ("part", "prat")))
print({name: lambda r, name=name: r[name] for name in NAMES})
for name, wanted in {"part": 1, "order": 2}.items():
    items.filter(lambda r, name=name, wanted=wanted: r[name] == wanted).select(name)
for column in items.columns:
    items.select(column)
for number in range(3):
    items.limit(number)
for name in NAMES[:1]:
    items.select(name)


def chosen(names: list[str]) -> list[sd.Relation]:
    for name in names:
        items.select(name)
    return [items.select(name) for name in names]


def marked(name: str, least: int) -> sd.Relation:
    seen = items.join(orders, lambda i, o: i.order == o.id, "left_mark", mark=name, post_filter=lambda r: r["seen"])
    read = sd.read_named("rows", {name: sd.I64}, filter=lambda r: r["part"] > least)
    return seen.cross(read)


chosen(["part"])
