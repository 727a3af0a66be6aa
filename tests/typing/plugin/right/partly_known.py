"""Arguments that nobody knows beside those that are known, and values that loops and branches assign."""

from typing import Any, ClassVar, Literal

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import items, orders

NAMES = ("part", "quantity")


def with_unknown_arguments(
    key: sd.SortKey, name: str, size: int, on: sd.Expr[sd.Boolean], names: dict[str, str]
) -> None:
    items.sort(key, "part")
    items.select(name, "part").sort("order")
    items.fetch(size, offset=1)
    items.top_n(2, key, with_ties=True)
    items.window(partition_by=name, order_by="part", place=f.rank())
    items.join(orders.rename(comment="text"), on, "left_mark", mark=name)
    items.rename(names, part="quantity")
    items.select(name, "part", part2=sd.col("part"))


def with_dicts(measures: dict[str, sd.Measure[Any, Any]], functions: dict[str, sd.WindowFunction[Any, Any]]) -> None:
    items.aggregate(**measures)
    items.aggregate("order", method="hash", **measures)
    items.window(partition_by="order", **functions)


def of_any_relation(rows: sd.Relation[Any], size: int) -> None:
    rows.fetch(size, offset=1).limit(1).join(rows, on="part", how="left").unnest("part").rename(a="b")
    rows.top_n(3, "part").unpivot("part", "quantity", name="name", value="value")


def with_branches(order: Literal["up", "down"], is_small: bool) -> None:
    if order == "up":
        name = "part"
    elif is_small:
        name = "comment"
    else:
        name = "id"
    if order == "up":
        items.select(name)
    else:
        orders.select(name)
    items.select(name if order == "up" else "part")
    column = "prat"
    if is_small:
        column = "part"
        items.select(column)
    if order == "up":
        key = "prat"
        print(key)
        return
    else:
        key = "part"
    items.sort(key)


def with_loops() -> None:
    measures: dict[str, sd.Measure[Any, Any]] = {"rows": f.count()}
    for name in NAMES:
        measures[name] = f.sum(sd.col(name))
    sd.reveal_schema(items.group_by("order").agg(**measures))
    # N: Schema is order: i64, rows: i64, part: i64?, quantity: i64?
    found: dict[str, sd.Expr[Any, Any]] = {"key": sd.col("part")}
    items.with_columns(**found)
    for name in ("part", "prat"):
        found[name] = sd.col(name)
    del found["prat"]
    items.with_columns(**found)
    conditions = []
    for name in ("part", "prat"):
        conditions.append(sd.col(name).is_null())  # noqa: PERF401  # the loop is what is tested
    conditions.pop()
    items.filter(*conditions)


class Report:
    keys: ClassVar[list[str]] = ["part", "order"]
    changed: ClassVar[list[str]] = ["prat"]
    replaced: ClassVar[list[str]] = ["prat"]

    def rows(self) -> None:
        self.changed.clear()
        items.select(*self.changed, "part")
        items.select(*self.replaced)
        sd.reveal_schema(items.select(*self.keys))
        # N: Schema is part: i64, order: i64


class Replaced(Report):
    replaced: ClassVar[list[str]] = ["part"]


with_branches("down", is_small=True)
with_loops()
Replaced().rows()
