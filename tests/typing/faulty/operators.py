"""Operators on operands of the wrong types."""

# ruff: noqa: B015, B018  # the expressions are there for a type checker to read

import datetime as dt
from typing import TypeVar

from substrait_dsl import FP64, Boolean, Expr, Null
from tests.typing.tables import Orders

N = TypeVar("N", bound=Null)


def arithmetic(o: Orders) -> None:
    o.o_comment + 1  # E: a string plus a number
    o.o_comment + o.o_comment  # E: strings are joined by concat
    o.o_orderkey + o.o_weight  # E: i64 plus fp64
    o.o_totalprice * o.o_weight  # E: decimal times fp64
    o.o_orderkey / o.o_custkey  # E: the quotient of two integers leaves the fraction out
    o.o_orderkey / o.o_priority  # E: of two integer types, too
    o.o_orderkey / 2  # E: and of a constant
    2 / o.o_orderkey  # E: on either side
    o.o_priority % o.o_weight  # E: there is no modulus of floats
    o.o_orderkey * 1.5  # E: a float is no i64
    o.o_orderkey + 1.5  # E: a float is no i64
    o.o_orderkey + "1"  # E: a str is no i64
    o.o_totalprice - 1.5  # E: a float is no exact decimal
    o.o_weight % 2  # E: there is no modulus of floats
    o.o_open + 1  # E: a boolean plus a number
    1 - o.o_comment  # E: a number minus a string
    -o.o_comment  # E: minus a string
    o.o_orderdate + 1  # E: a day plus a number
    o.o_orderdate - o.o_orderdate  # E: there is no difference of days
    o.o_orderdate + o.o_orderkey  # E: a day plus a number
    dt.timedelta(days=1) + o.o_orderdate  # E: the day comes first


def comparisons(o: Orders) -> None:
    o.o_orderkey < o.o_comment  # E: i64 and string
    o.o_orderkey < o.o_weight  # E: i64 and fp64
    o.o_weight < o.o_totalprice  # E: fp64 and decimal
    o.o_orderkey == o.o_comment  # E(mypy, pyright): ty takes Python's own ==, which compares anything
    o.o_comment > 1  # E: string and int
    o.o_totalprice >= 1.5  # E: a float is no exact decimal
    o.o_orderdate < "1995-01-01"  # E: a day as a text
    o.o_orderkey < None  # E: NULL is tested by is_null()


def logic(o: Orders) -> None:
    o.o_orderkey & o.o_open  # E: a number is no condition
    o.o_open | o.o_comment  # E: nor is a string
    ~o.o_orderkey  # E: nor its negation
    o.o_open & 1  # E: nor 1
    o.o_orderkey > 1 & o.o_custkey > 2  # E: & binds tighter than >: parentheses are missing


def less_nullable(x: Expr[FP64, N], y: Expr[FP64, Null]) -> Expr[FP64, N]:
    return x / y  # E: the result may be NULL where x may not


def bounded_by_null(x: Expr[FP64, N], y: Expr[FP64, Null]) -> Expr[Boolean, N]:
    return x.between(1.0, y)  # E: likewise
