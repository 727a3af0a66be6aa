"""Functions whose defaults do not fit, or their own functions, and that fill lists with what does not fit."""

from __future__ import annotations

from typing import Any

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, Orders, items, orders


def before(rows: sd.Relation[Orders]) -> sd.Relation[Any]:
    def same(row: sd.DynRow) -> sd.Relation:
        found = items.filter(lambda i: i.order == row.order)
        return found.select("part")

    return rows.lateral_join(same)
    # E: filter: there is no column "order"; there are "id", "customer", "price", "weight", "day", "open", "rank",
    #    "comment"  [substrait-unknown-field]


def flagged(words: tuple[str, ...] = ("urgent", "lost")) -> sd.Relation[Any]:
    flags = {f"is_{word}": f.contains(sd.col("comments"), word) for word in words}
    return orders.with_columns(**flags)
    # E: with_columns, column "is_urgent": there is no column "comments"; there are "id", "customer", "price", "weight",
    #    "day", "open", "rank", "comment"; did you mean "comment"?  [substrait-unknown-field]


def sorted_by(by: str = "parts") -> sd.Relation[Items]:
    return items.sort(by)
    # E: sort: there is no column "parts"; there are "order", "part", "quantity"; did you mean
    #    "part"?  [substrait-unknown-field]


def matching(part: int, least: int | None, words: list[str]) -> sd.Relation[Items]:
    conditions = [sd.col("part") == part]
    if least is not None:
        conditions.append(sd.col("amount") >= least)
        # E: filter: there is no column "amount"; there are "order", "part", "quantity"  [substrait-unknown-field]
    return items.filter(*conditions)


class Search:
    least: int | None = None

    def conditions(self) -> list[sd.Expr[sd.Boolean, Any]]:
        found: list[sd.Expr[sd.Boolean, Any]] = []
        if self.least is not None:
            found.append(sd.col("quantity") >= self.least)
        found.append(sd.col("labels") == "a")
        # E: filter: there is no column "labels"; there are "order", "part", "quantity"  [substrait-unknown-field]
        return found

    def run(self) -> sd.Relation[Items]:
        return items.filter(*self.conditions())
