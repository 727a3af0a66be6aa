"""What the plugin cannot evaluate, for it depends on parameters: mypy itself says then what is wrong with it."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Any

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import Items, Orders, items, orders


class Color(enum.Enum):
    RED = "red"


def compared(
    text: str, number: int, part: float, day: dt.date, color: Color, perhaps: int | None, each: object
) -> None:
    orders.filter(lambda o: o.id == text)
    # E: Unsupported operand types for == ("Expr[I64, Req]" and "str")  [operator]
    orders.filter(lambda o: o.comment != number)
    # E: Unsupported operand types for != ("Expr[String, Null]" and "int")  [operator]
    orders.filter(lambda o: o.id == part)
    # E: Unsupported operand types for == ("Expr[I64, Req]" and "float")  [operator]
    orders.filter(lambda o: o.id == day)
    # E: Unsupported operand types for == ("Expr[I64, Req]" and "date")  [operator]
    orders.filter(lambda o: o.comment == color)
    # E: Unsupported operand types for == ("Expr[String, Null]" and "Color")  [operator]
    orders.filter(lambda o: o.id == perhaps)
    # E: Unsupported operand types for == ("Expr[I64, Req]" and "int | None")  [operator]
    orders.filter(lambda o: (o.id > 1) & (o.id == each))
    # E: Unsupported operand types for == ("Expr[I64, Req]" and "object")  [operator]
    orders.filter(lambda o: number == o.comment)
    # E: Unsupported operand types for == ("int" and "Expr[String, Null]")  [operator]
    derived = orders.select("id", "comment")
    derived.filter(lambda o: o.id == text)
    # E: Unsupported operand types for == ("Expr[I64, Req]" and "str")  [operator]
    derived.filter(lambda o: o.comment == color)
    # E: Unsupported operand types for == ("Expr[String, Null]" and "Color")  [operator]
    derived.filter(lambda o: o.comment == Color.RED)
    # E: filter: equal: cannot infer the Substrait type of <Color.RED: 'red'> (Color); say it: lit(value,
    #    type)  [substrait-invalid-argument]
    derived.filter(lambda o: (o.id > 1) & (o.id == perhaps))
    # E: Unsupported operand types for == ("Expr[I64, Req]" and "int | None")  [operator]
    derived.select(same=lambda o: o.comment == day)
    # E: Unsupported operand types for == ("Expr[String, Null]" and "date")  [operator]
    orders.filter(lambda o: o.id == number, lambda o: number == o.id, lambda o: o.weight == part)


def decided(number: int, flag: bool) -> None:
    orders.filter(lambda o: o.comment is None)
    # E: filter: an expression is None is found out before the query runs; use is_null()  [substrait-invalid-argument]
    orders.filter(lambda o: (o.id > 1) & (o.comment is not None))
    # E: filter: an expression is not None is found out before the query runs; use
    #    is_not_null()  [substrait-invalid-argument]
    orders.filter(lambda o: o.id in (1, 2))
    # E: filter: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
    orders.filter(lambda o: "x" in o.comment)
    # E: filter: an expression is not a container; write x.is_in([...]), or functions.contains(x, y) of texts,
    #    functions.any_match(xs, lambda x: x == y) of a list  [substrait-type-mismatch]
    orders.filter(lambda o: any([o.id > 5, o.open]))
    # E: filter: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
    orders.filter(lambda o: number > 3)
    # E: Argument 1 to "filter" of "Relation" has incompatible type "Callable[[Orders], bool]"; expected "Expr[Boolean,
    #    Null] | Callable[[Orders], Expr[Boolean, Null]]"  [arg-type]
    orders.filter(number > 3)
    # E: Argument 1 to "filter" of "Relation" has incompatible type "bool"; expected "Expr[Boolean, Null] |
    #    Callable[[Orders], Expr[Boolean, Null]]"  [arg-type]
    orders.filter(lambda o: number)
    # E: Argument 1 to "filter" of "Relation" has incompatible type "Callable[[Orders], int]"; expected "Expr[Boolean,
    #    Null] | Callable[[Orders], Expr[Boolean, Null]]"  [arg-type]
    orders.select(greatest=lambda o: max(o.id, o.id))
    # E: select, column "greatest": an expression has no truth value before the query runs; combine conditions with &
    #    and | and ~ (in parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if,
    #    x.is_in([...]) instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
    items.group_by("part").agg(total=lambda i: sum(i.quantity))
    # E: agg, measure "total": an expression is not a sequence; use expression[0] for an element of a list,
    #    functions.sum(x) and the like for all values of a column  [substrait-type-mismatch]


def any_type(number: sd.Expr[sd.FP64]) -> sd.Expr[Any]:
    print("what it returns is known by its type only")
    return number


def unknown_columns(of: sd.Relation[Items], rows: sd.Relation[Orders]) -> None:
    some = rows.select("id", "weight", x=lambda o: any_type(o.weight))
    sd.reveal_schema(some)
    # N: Schema is id: i64, weight: fp64, x: unknown
    some.filter(lambda r: (r.x > 3) & (r.y > 3))
    # E: there is no column "y"; there are "id", "weight", "x"  [substrait-unknown-field]
    sd.reveal_schema(some.group_by("id").agg(least=lambda r: f.min(any_type(r.weight)), n=f.count()))
    # N: Schema is id: i64, least: unknown, n: i64
