"""What functions of the program return: no verb says there what is wrong with it, so it is said where it stands."""

from __future__ import annotations

from typing import Any, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, Orders, Parts, items

N = TypeVar("N", bound=sd.Null)


def total(text: sd.Expr[sd.String]) -> sd.Measure[sd.I64, sd.Null]:
    return f.sum(text)
    # E: no overload takes sum(string); cast argument 1 from string to fp64  [substrait-function-not-found]


def large(text: sd.Expr[sd.String]) -> sd.Measure[sd.FP64, sd.Null]:
    return f.sum(text).filter(text > "x")
    # E: no overload takes sum(string); cast argument 1 from string to fp64  [substrait-function-not-found]


def no_measure(price: sd.Expr[sd.FP64]) -> sd.Expr[sd.FP64, sd.Null]:
    return f.sum(price)
    # E: Incompatible return value type (got "Measure[FP64, Null]", expected "Expr[FP64, Null]")  [return-value]


def of_any_nullability(price: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.I64, N]:
    return f.abs(price)
    # E: Incompatible return value type (got "Expr[FP64, N]", expected "Expr[I64, N]")  [return-value]


def required(price: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.FP64]:
    return f.abs(f.negate(price))
    # E: Incompatible return value type (got "Expr[FP64, N]", expected "Expr[FP64, Req]")  [return-value]


def of_any_digits(price: sd.Expr[sd.Decimal]) -> sd.Expr[sd.FP64]:
    return f.abs(price)
    # E: Incompatible return value type (got "Expr[Decimal[Any, Any], Req]", expected "Expr[FP64, Req]")  [return-value]


def compared(price: sd.Expr[sd.FP64]) -> sd.Expr[sd.Boolean]:
    return price == "x"
    # E: no overload takes equal(fp64, 'x'); 'x' does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]


def compared_inside(price: sd.Expr[sd.FP64]) -> sd.Expr[sd.Boolean]:
    return (price > 3.0) & ~(price == "x")
    # E: no overload takes equal(fp64, 'x'); 'x' does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]


def compared_in_row(item: Items, part: float) -> sd.Expr[sd.Boolean]:
    return (item.part == 1) | (item.part == part)
    # E: no overload takes equal(i64, float); there is equal(x: any1, y: any1) ->
    #    boolean  [substrait-function-not-found]


def compared_alike(price: sd.Expr[sd.FP64, N], other: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.Boolean, N]:
    return (price == other) & (price != "x")
    # E: no overload takes not_equal(fp64?, 'x'); 'x' does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]


def summed(price: sd.Expr[sd.FP64]) -> sd.Expr[sd.FP64]:
    return "x" + price * 2.0
    # E: no overload takes add('x', fp64); 'x' does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]


def item(row: Items) -> sd.Expr[sd.FP64]:
    return row["quantity"]
    # E: Incompatible return value type (got "Expr[I32, Req]", expected "Expr[FP64, Req]")  [return-value]


def no_item(row: Items) -> sd.Expr[sd.I32]:
    return row["quantty"]
    # E: there is no column "quantty"; there are "order", "part", "quantity"; did you mean
    #    "quantity"?  [substrait-unknown-field]


def right(
    price: sd.Expr[sd.FP64, N], text: sd.Expr[sd.String], row: sd.Schema, kind: sd.I64
) -> list[sd.Expr[Any, Any]]:
    return [f.abs(price), f.upper(text), f.abs(row["x"]), text.cast(kind), (price == 1.0) | (text == "x")]


def converted(number: sd.Expr[sd.I64]) -> sd.Expr[sd.I64]:
    return number.cast(sd.String)
    # E: Incompatible return value type (got "Expr[String, Req]", expected "Expr[I64, Req]")  [return-value]


# What a function returns by way of its own variables.


def by_steps(item: Items) -> sd.Expr[sd.Boolean]:
    found = item.part > 1
    found = found & (item.order == "x")
    # E: no overload takes equal(i64, 'x'); 'x' does not fit i64: it takes an int, not a
    #    str  [substrait-function-not-found]
    found &= item.quantity != "y"
    # E: no overload takes not_equal(i32, 'y'); 'y' does not fit i32: it takes an int, not a
    #    str  [substrait-function-not-found]
    return found


def by_name(item: Items) -> sd.Expr[sd.Boolean]:
    same = item.part == "x"
    # E: no overload takes equal(i64, 'x'); 'x' does not fit i64: it takes an int, not a
    #    str  [substrait-function-not-found]
    return (item.part > 1) & same


def by_list(item: Items) -> list[sd.Expr[sd.Boolean]]:
    found = [item.part > 1]
    found.append(item.order == "x")
    # E: no overload takes equal(i64, 'x'); 'x' does not fit i64: it takes an int, not a
    #    str  [substrait-function-not-found]
    return found


def less(item: Items) -> sd.Expr[sd.I64]:
    left = item.part
    left -= item.quantity.cast(sd.FP64)
    # E: no overload takes subtract(i64, fp64); cast argument 1 from i64 to fp64  [substrait-function-not-found]
    return left


# A variable has the columns of the relation that is assigned to it first.

step = items.select("part", "order")
step = step.rename(part="key")
# E: the columns are not those of the variable "step": part is missing; key is not declared; give this step a name of
#    its own, or declare step: Relation  [substrait-schema]
try:
    tried = items.select("part")
except ValueError:
    tried = items.select("order")
    # E: the columns are not those of the variable "tried": part is missing; order is not declared; give this step a
    #    name of its own, or declare tried: Relation  [substrait-schema]
overall = items.aggregate(total=f.sum(sd.col("part")))
overall = items.aggregate(total=f.count())
# E: the columns are those of the variable "overall", but some are never NULL that may be in it; give this step a name
#    of its own, or declare overall: Relation  [substrait-schema]


class Report:
    def __init__(self) -> None:
        self.rows = items.select("part")

    def renamed(self) -> None:
        self.rows = self.rows.rename(part="key")
        # E: the columns are not those of the variable "rows": part is missing; key is not declared; give this step a
        #    name of its own, or declare rows: Relation  [substrait-schema]


def joined(first: sd.Relation[Items], rest: list[sd.Relation[Parts]]) -> sd.Relation[Items]:
    return first.union_all(*rest)
    # E: union_all: the inputs of union_all must have the same number of columns: input 1 has 3 (order: i64, part: i64,
    #    quantity: i32), input 2 has 2 (part: i64, label: string)  [substrait-schema]


def multiplied(rows: sd.Relation[Orders], rate: float) -> sd.Relation:
    return rows.select(price=lambda o: o.price * rate)
    # E: no overload takes multiply(decimal<15,2>, float); float does not fit decimal<15,2>: it takes a decimal.Decimal
    #    or an int, not a float; write Decimal("...")  [substrait-function-not-found]


again = items.select("part")
again = again.select("label")
# E: select: there is no column "label"; there is "part"  [substrait-unknown-field]
