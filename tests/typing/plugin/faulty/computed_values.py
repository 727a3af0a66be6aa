"""What mypy says by itself where the plugin does not know a value; the functions here are not called."""

import datetime as dt
from collections.abc import Callable
from typing import Literal, ParamSpec

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Customers, Orders, customers, orders

P = ParamSpec("P")


def late(today: dt.date) -> None:
    sd.update("orders", Orders, {"weight": 1.0}, where=lambda o: o.id < today)
    # E: no overload takes lt(i64, date); date does not fit i64: it takes an int, not a
    #    date  [substrait-function-not-found]


def dearer(table: str) -> None:
    sd.update(table, Orders, lambda o: {"weight": o.wight * 2.0}, where=True)
    # E: update: there is no column "wight"; there are "id", "customer", "price", "weight", "day", "open", "rank",
    #    "comment"; did you mean "weight"?  [substrait-unknown-field]


def total() -> sd.Measure[sd.FP64, sd.Null]:
    return f.sum(sd.col("weight").cast(sd.I64))
    # E: Incompatible return value type (got "Measure[I64, Null]", expected "Measure[FP64, Null]")  [return-value]


def paired(today: dt.date) -> None:
    orders.join(customers, lambda o, c: c.id < today)
    # E: no overload takes lt(i64, date); date does not fit i64: it takes an int, not a
    #    date  [substrait-function-not-found]


def sized(day: dt.date, text: str) -> None:
    sd.VarChar(day)
    # E: Value of type variable "Length" of "VarChar" cannot be "date"  [type-var]
    sd.VarChar(0)
    # E: length of VarChar must be an integer from 1 to 2147483647, got 0  [substrait-invalid-argument]
    sd.Decimal(15, text)
    # E: Value of type variable "S" of "Decimal" cannot be "str"  [type-var]


def read(word: Literal["a", "b"]) -> None:
    sd.read_named("orders", Orders, filter=lambda *_: word)
    # E: Argument "filter" to "read_named" has incompatible type "Callable[[Orders], Literal['a', 'b']]"; expected
    #    "Expr[Boolean, Null] | Callable[[Orders], Expr[Boolean, Null]] | None"  [arg-type]
    orders.project(x=lambda *_: Orders)
    # E: project, column "x": a column is an expression, got Orders, not called; call it:
    #    Orders(...)  [substrait-invalid-argument]


def mapped(one: Callable[[Customers], sd.Expr[sd.Boolean]], other: Callable[P, sd.Expr[sd.Boolean]]) -> None:
    customers.select(x=lambda c: f.transform(c.tags, one))
    # E: Argument 2 to "transform" has incompatible type "Callable[[Customers], Expr[Boolean, Req]]"; expected
    #    "Callable[[DynExpr], ExprBase | bool | int | float | str | <10 more items>] | ExprBase"  [arg-type]
    f.transform(sd.col("tags"), other)
    # E: Argument 2 to "transform" has incompatible type "Callable[P, Expr[Boolean, Req]]"; expected
    #    "Callable[[DynExpr], ExprBase | bool | int | float | str | <10 more items>] | ExprBase"  [arg-type]


def rolled(made: Callable[P, object]) -> None:
    orders.group_by("id").rollup(lambda *_: made)
    # E: Argument 1 to "rollup" of "GroupBy" has incompatible type "Callable[[Orders], Callable[P, object]]"; expected
    #    "MeasureBase | Callable[[Orders], MeasureBase]"  [arg-type]
    orders.sort(lambda o: made)
    # E: Argument 1 to "sort" of "Relation" has incompatible type "Callable[[Orders], Callable[P, object]]"; expected
    #    "str | int | ExprBase | SortKey | Callable[[Orders], ExprBase | SortKey]"  [arg-type]


def looped() -> None:
    for name in {"pricy", "prize"}:
        orders.select(name)
        # E: select: there is no column "pricy"; there are "id", "customer", "price", "weight", "day", "open", "rank",
        #    "comment"; did you mean "price"?  [substrait-unknown-field]


ADDRESS = {"street": "Main Street", "number": 7}


def commented(text: str, number: int) -> None:
    orders.filter(sd.col("coment") == text)
    # E: filter: there is no column "coment"; there are "id", "customer", "price", "weight", "day", "open", "rank",
    #    "comment"; did you mean "comment"?  [substrait-unknown-field]
    orders.select(sd.lit(text).alias("text"), size=sd.col("wight"))
    # E: select, column "size": there is no column "wight"; there are "id", "customer", "price", "weight", "day",
    #    "open", "rank", "comment"; did you mean "weight"?  [substrait-unknown-field]
    sd.update("orders", Orders, {"coment": text}, where=lambda o: o.id == number)
    # E: update: there is no column "coment"; there are "id", "customer", "price", "weight", "day", "open", "rank",
    #    "comment"; did you mean "comment"?  [substrait-unknown-field]
    sd.read_virtual([(text, number)], {"id": sd.I64, "text": sd.String})
    # E: read_virtual: row 0, column "id": str does not fit i64: it takes an int, not a str  [substrait-literal]
    sd.read_virtual([(1, ADDRESS)], {"id": sd.I64, "at": sd.Struct.of({"street": sd.I64(), "number": sd.I64()})})
    # E: read_virtual: row 0, column "at": 'Main Street' does not fit i64: it takes an int, not a
    #    str  [substrait-literal]


def in_a_dict(names: list[str]) -> dict[str, sd.Relation[Orders]]:
    return {name: orders.filter(lambda o, name=name: o["coment"] == name) for name in names}
    # E: filter: there is no column "coment"; there are "id", "customer", "price", "weight", "day", "open", "rank",
    #    "comment"; did you mean "comment"?  [substrait-unknown-field]


def of_a_plan(price: float, day: dt.date, rows: sd.Relation[Orders]) -> None:
    on_day = rows.select("id").filter(lambda r: r.id == sd.parameter(3, sd.I64), sd.parameter(4, sd.Date) == day)
    sd.Plan(on_day, parameter_bindings={4: price})
    # E: Plan, parameter 4: float does not fit date: it takes a datetime.date, not a float  [substrait-literal]
    sd.Plan(on_day, parameter_bindings={4: day, 3: 2})
