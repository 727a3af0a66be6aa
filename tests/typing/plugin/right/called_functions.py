"""Functions whose arguments, defaults and lists of columns are right, or not known to be wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, Orders, customers, items, orders

S = TypeVar("S", bound=sd.Schema)
Step = Callable[[sd.Relation[Any]], sd.Relation[Any]]


def narrowed(rows: sd.Relation[S], condition: sd.DynExpr | None = None, by: str | None = None) -> sd.Relation[S]:
    if condition is not None:
        rows = rows.filter(condition)
    if by is None:
        return rows
    return rows.sort(by)


narrowed(orders, sd.col("weight") > 1.0)
narrowed(items, sd.col("quantity") > 1, "part")
narrowed(orders)


def chosen(rows: sd.Relation[Any], condition: sd.DynExpr | None = None) -> sd.Relation[Any]:
    return rows if condition is None else rows.filter(condition)


chosen(orders, sd.col("weight") > 1.0).select("id")


def grouped(names: tuple[str, ...] = (), by: str = "") -> sd.Relation[Any]:
    if names:
        return orders.group_by(*names).agg(rows=f.count())
    return orders.sort(by) if by else orders


def renamed(name: str = "", rows: sd.Relation[Orders] = orders) -> sd.Relation[Any]:
    name = name or "id"
    return rows.select(name)


def looped(rows: sd.Relation[Any], steps: list[Step], names: list[str]) -> sd.Relation[Any]:
    columns = {}
    for name in names:
        columns[name] = sd.col(name)
    for step in steps:
        rows = step(rows)
    while len(names) > 2:
        rows = rows.limit(1)
    return rows.select(**columns)


looped(items, [lambda rows: rows.with_columns(more=sd.col("part") + 1)], ["more"])


def late(rows: sd.Relation[Items]) -> sd.Relation[Any]:
    columns = []
    for name in ("order", "part"):
        lower = name.lower()
        columns.append(lambda row, name=lower: row[name])
    return rows.select(first=columns[0], second=columns[1])


late(items).select("first", "second")


def either(rows: sd.Relation[Any], kind: str) -> sd.Relation[Any]:
    if kind == "items":
        return rows.sort("quantity")
    return rows.sort("weight")


either(items, "items")
either(orders, "orders")


def matching(rows: sd.Relation[Items], least: float | None) -> sd.Relation[Items]:
    conditions = [sd.col("part") == 1]
    if "weight" in rows.columns:
        conditions.append(sd.col("weight") > least)
    if least is not None:
        conditions.append(sd.col("quantity").cast(sd.FP64) > least)
    return rows.filter(*conditions) if conditions else rows


def of(kind: str) -> list[sd.Expr[sd.Boolean, Any]]:
    found: list[sd.Expr[sd.Boolean, Any]] = []
    if kind == "items":
        found.append(sd.col("quantity") > 1)
    else:
        found.append(sd.col("name") == kind)
    return found


items.filter(*of("items"))
customers.filter(*of("x"))


def emptied(rows: sd.Relation[Items]) -> sd.Relation[Items]:
    conditions = [sd.col("weight") > 1.0]
    conditions.clear()
    return rows.filter(*conditions)


def tried(rows: sd.Relation[Any], by: str) -> sd.Relation[Any]:
    try:
        return rows.sort(by)
    except sd.SubstraitDslError:
        return rows


tried(items, "weight")
