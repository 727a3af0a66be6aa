"""What looks like a truth value of an expression or of a relation, and is none."""

from __future__ import annotations

from typing import Any

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Orders, orders

KEY, WEIGHT = orders.c.id, sd.col("weight")
BY_COLUMN = {KEY: "key", WEIGHT: "weight"}


def filtered(rows: sd.Relation[Orders], only: sd.Expr[sd.Boolean] | None = None) -> sd.Relation[Orders]:
    if only is None:
        return rows
    return rows.filter(only) if only is not None else rows


def chosen(o: Orders, is_gross: bool, names: list[str]) -> sd.Expr[sd.FP64]:
    if is_gross and names and "x" not in names:
        return o.weight * 1.19
    return o.weight if is_gross or not names else o.weight * 2.0


def combined(conditions: list[sd.Expr[sd.Boolean, sd.Null]]) -> sd.Expr[sd.Boolean, sd.Null]:
    if not conditions:
        return sd.lit(True)
    first, *rest = conditions
    for condition in rest:
        first = first & condition
    return first if conditions and len(rest) > 1 else first & True


def of_a_kind(value: object) -> bool:
    return isinstance(value, sd.Expr) and not isinstance(value, sd.Relation)


def anything(value: Any) -> Any:
    return value and not value.count


def first_given(*relations: sd.Relation[Any] | None) -> sd.Relation[Any]:
    return next(each for each in relations if each is not None)


named = KEY in BY_COLUMN and WEIGHT in {KEY, WEIGHT} and KEY not in BY_COLUMN
largest = max([KEY, WEIGHT], key=lambda column: BY_COLUMN[column])
ordered = sorted([(1, KEY), (0, WEIGHT)], key=lambda pair: pair[0])
known = any(each is KEY for each in (KEY, WEIGHT)) or all(isinstance(each, sd.Expr) for each in [KEY])
total = sum([KEY, KEY], KEY)
columns = [name for name in orders.columns if name not in ("open", "day") and name]
if "id" in orders.columns and len(orders.schema) > 3 and orders.schema:
    filtered(orders).filter(lambda o: o.id.is_in([1, 2]) & ~o.open | (o.id == 3))
orders.filter(combined([KEY > 1]) if columns else KEY > 2).select(*columns)
orders.select(
    kind=lambda o: sd.when(o.open).then(sd.lit("open")).otherwise(sd.lit("shut")) if named else f.upper(o.comment)
)
{name: orders.select(name) for name in columns if orders is not None}
