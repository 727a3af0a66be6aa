"""Operators: the type of the operands, nullable if one of them is."""

import datetime as dt
import decimal
from typing import Any, TypeVar, assert_type
from typing import Literal as L

import substrait_dsl as sd
from substrait_dsl import FP32, FP64, I16, I32, I64, Boolean, Decimal, Expr, Null, Req, String
from substrait_dsl import functions as f
from substrait_dsl.fluent.expr import DynExpr
from tests.typing.tables import Orders

N = TypeVar("N", bound=Null)


def arithmetic(o: Orders) -> None:
    assert_type(o.o_orderkey + 1, Expr[I64, Req])
    assert_type(1 - o.o_orderkey, Expr[I64, Req])
    assert_type(o.o_orderkey * o.o_custkey, Expr[I64, Req])
    assert_type(o.o_rank % o.o_orderkey, Expr[I64, Null])
    assert_type(o.o_rank - o.o_rank, Expr[I64, Null])
    assert_type(-o.o_rank, Expr[I64, Null])
    assert_type(abs(o.o_orderkey), Expr[I64, Req])
    assert_type(o.o_weight * 1.5 + 1, Expr[FP64, Req])
    assert_type(o.o_totalprice * 2, Expr[Decimal[Any, Any], Req])
    assert_type(o.o_totalprice * (1 - o.o_totalprice), Expr[Decimal[Any, Any], Req])
    assert_type(o.o_totalprice + decimal.Decimal("1.5"), Expr[Decimal[Any, Any], Req])
    assert_type(o.o_orderdate - dt.timedelta(days=90), DynExpr)
    assert_type(o.o_orderkey * dt.timedelta(days=1), DynExpr)
    assert_type(o.o_taken + sd.lit(dt.timedelta(days=1), sd.IntervalDay(6)), DynExpr)


def numbers_of_two_types(o: Orders, i: Expr[I32, Null], s: Expr[FP32], t: Expr[I16]) -> None:
    """The narrower one is cast, which loses nothing."""
    assert_type(o.o_totalprice * o.o_priority, Expr[Decimal[Any, Any], Req])
    assert_type(o.o_totalprice * o.o_rank, Expr[Decimal[Any, Any], Null])
    assert_type(o.o_orderkey * o.o_totalprice, Expr[Decimal[Any, Any], Any])
    assert_type(o.o_orderkey * decimal.Decimal("1.2"), Expr[Decimal[Any, Any], Any])
    assert_type(decimal.Decimal("1.2") - o.o_orderkey, Expr[Decimal[Any, Any], Req])
    assert_type(o.o_totalprice / o.o_orderkey, Expr[Decimal[Any, Any], Req])
    assert_type(o.o_totalprice % o.o_priority, Expr[Decimal[Any, Any], Req])
    assert_type(o.o_orderkey + o.o_priority, Expr[I64, Any])
    assert_type(o.o_priority + o.o_orderkey, Expr[I64, Any])
    assert_type(t % o.o_orderkey, Expr[I64, Any])
    assert_type(o.o_weight * i, Expr[FP64, Any])
    assert_type(i - o.o_weight, Expr[FP64, Any])
    assert_type(o.o_weight / i, Expr[FP64, Any])
    assert_type(i / o.o_weight, Expr[FP64, Any])
    assert_type(s + o.o_weight, Expr[FP64, Any])
    assert_type(t + s, DynExpr)
    assert_type(t % i, DynExpr)
    assert_type(i + s, DynExpr)
    assert_type(i / s, DynExpr)
    assert_type(o.o_priority**o.o_orderkey, Expr[I64, Any])


def comparisons_of_two_types(o: Orders, i: Expr[I32, Null], s: Expr[FP32], d: Expr[Decimal[L[10], L[4]]]) -> None:
    assert_type(o.o_priority == o.o_orderkey, Expr[Boolean, Any])
    assert_type(o.o_totalprice > d, Expr[Boolean, Any])
    assert_type(o.o_totalprice > i, Expr[Boolean, Any])
    assert_type(o.o_orderkey <= d, Expr[Boolean, Any])
    assert_type(o.o_orderkey <= decimal.Decimal("1.5"), Expr[Boolean, Any])
    assert_type(i < s, Expr[Boolean, Any])
    assert_type(o.o_weight != i, Expr[Boolean, Any])
    assert_type(o.o_totalprice.between(d, o.o_orderkey), Expr[Boolean, Any])
    assert_type(o.o_orderkey.is_in([i, d, 3]), Expr[Boolean, Any])
    assert_type(o.o_weight.is_in([i, s]), Expr[Boolean, Any])


def conditions(o: Orders) -> None:
    assert_type(o.o_orderkey == 5, Expr[Boolean, Req])
    assert_type(o.o_orderkey != o.o_rank, Expr[Boolean, Null])
    assert_type(o.o_rank < o.o_orderkey, Expr[Boolean, Null])
    assert_type(o.o_comment == "x", Expr[Boolean, Null])
    assert_type(o.o_clerk == "x", Expr[Boolean, Req])
    assert_type(o.o_totalprice > 100, Expr[Boolean, Req])
    assert_type(o.o_orderdate >= dt.date(1995, 1, 1), Expr[Boolean, Req])
    assert_type(o.o_taken < dt.datetime(1995, 1, 1), Expr[Boolean, Req])
    assert_type((o.o_orderkey > 3) & o.o_open, Expr[Boolean, Req])
    assert_type((o.o_orderkey > 3) | (o.o_rank > 3), Expr[Boolean, Null])
    assert_type((o.o_rank > 3) ^ o.o_open, Expr[Boolean, Null])
    assert_type(~(o.o_rank > 3), Expr[Boolean, Null])
    assert_type(o.o_rank.is_null(), Expr[Boolean, Req])
    assert_type(o.o_orderkey.between(1, o.o_custkey), Expr[Boolean, Req])
    assert_type(o.o_orderkey.between(1, o.o_rank), Expr[Boolean, Null])
    assert_type(o.o_rank.between(1, 2), Expr[Boolean, Null])
    assert_type(o.o_comment.is_in(["x", None]), Expr[Boolean, Any])
    assert_type(o.o_orderkey > sd.any_of(sd.read_named("orders", Orders).select("o_custkey")), Expr[Boolean, Null])


def ratio(part: Expr[FP64, N], whole: Expr[FP64, N]) -> Expr[FP64, N]:
    return part / whole


def scaled(x: Expr[I64, N], y: Expr[I64, N], z: Expr[I64]) -> Expr[I64, N]:
    return -(x + y * x - 1) % y * z


def money(price: Expr[Decimal[Any, Any], N], tax: Expr[Decimal[Any, Any], N]) -> Expr[Decimal[Any, Any], N]:
    return price * tax + price


def near(low: Expr[FP64, N], x: Expr[FP64, N]) -> Expr[Boolean, N]:
    return x.between(low, 5.0) & ~(x > 3.0) | (x == low)


def named(name: Expr[String, N], other: Expr[String, N]) -> Expr[Boolean, N]:
    return f.like(name, "%x%") | (name == "y") ^ (name < other)


def of_one_nullability(o: Orders) -> None:
    """Whatever `N` is in these functions, it is that of their arguments together where they are called."""
    assert_type(ratio(o.o_weight, o.o_weight), Expr[FP64, Req])
    assert_type(scaled(o.o_rank, o.o_orderkey, o.o_orderkey), Expr[I64, Null])
    assert_type(money(o.o_totalprice, o.o_totalprice), Expr[Decimal[Any, Any], Req])
    assert_type(near(o.o_weight, o.o_weight), Expr[Boolean, Req])
    assert_type(named(o.o_comment, o.o_comment), Expr[Boolean, Null])


def unknown(r: sd.DynRow, o: Orders) -> Expr[Boolean, Null]:
    assert_type(r.x, DynExpr)
    assert_type(r["x"], DynExpr)
    assert_type(r.x + 1, DynExpr)
    assert_type(1 - (r.x * 2), DynExpr)
    assert_type(-r.x, DynExpr)
    assert_type(r.x + o.o_orderkey, DynExpr)
    assert_type(r.x > 1, Expr[Boolean, Any])
    assert_type(r.x.alias("y"), DynExpr)
    return o.o_orderkey == r.x
