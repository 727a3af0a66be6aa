"""Window functions: what they give, and what their windows take."""

import datetime as dt
from typing import Any, assert_type
from typing import Literal as L

import substrait_dsl as sd
from substrait_dsl import FP64, I32, I64, Date, Decimal, DynRow, Expr, Null, Req, String, WindowFunction
from substrait_dsl import functions as f
from substrait_dsl.fluent.expr import DynExpr
from tests.typing.tables import Orders


def ranks(o: Orders) -> None:
    assert_type(f.row_number(), WindowFunction[I64, Null])
    assert_type(f.row_number().over(order_by=o.o_orderdate), Expr[I64, Null])
    assert_type(
        f.percent_rank().over(partition_by=[o.o_custkey, "o_clerk"], order_by=sd.desc("o_rank")), Expr[FP64, Null]
    )
    assert_type(f.ntile(o.o_priority).over(partition_by="o_custkey"), Expr[I32, Null])
    assert_type(f.lag(o.o_comment).over(order_by=[o.o_orderdate.desc(), 0]), Expr[String, Null])
    assert_type(f.lead(o.o_orderdate, 2).over(order_by=lambda r: r.o_orderdate), Expr[Date, Null])
    assert_type(f.first_value(o.o_totalprice).over(), Expr[Decimal[L[15], L[2]], Any])


def aggregates(o: Orders) -> None:
    assert_type(f.count().over(), Expr[I64, Req])
    assert_type(f.count(o.o_comment).distinct().over(partition_by=o.o_custkey), Expr[I64, Req])
    assert_type(f.sum(o.o_totalprice).over(partition_by=o.o_custkey), Expr[Decimal[L[38], L[2]], Null])
    assert_type(o.o_orderkey - f.max(o.o_orderkey).over(), Expr[I64, Null])


def frames(o: Orders) -> None:
    f.sum(o.o_rank).over(order_by="o_rank", rows=(None, 0))
    f.sum(o.o_rank).over(order_by="o_rank", rows=(-3, 3))
    f.sum(o.o_rank).over(order_by="o_rank", rows=(sd.preceding(o.o_orderkey), sd.following(1)))
    f.sum(o.o_rank).over(order_by="o_weight", range=(-0.5, 0.5))
    f.sum(o.o_rank).over(order_by="o_taken", range=(dt.timedelta(days=-7), sd.YearMonths(1)))
    assert_type(f.sum(o.o_rank).frame(rows=(-1, 0)), WindowFunction[I64, Null])


def unknown(r: DynRow) -> None:
    assert_type(f.sum(r.x).over(partition_by=r.y), Expr[Any, Any])
    assert_type(f.ntile(r.x).over(), Expr[Any, Any])
    assert_type(r.x - f.sum(r.x).over(), DynExpr)


class Ranked(sd.Schema):
    key: sd.I64
    rank: sd.Nullable[sd.I64]


orders = sd.read_named("orders", Orders)
ranked = orders.into(lambda o: Ranked(key=o.o_orderkey, rank=f.rank().over(order_by=o.o_totalprice)))
assert_type(ranked.filter(lambda r: r.rank <= 10), sd.Relation[Ranked])
assert_type(orders.with_columns(n=f.row_number().over(order_by="o_orderdate")), sd.Relation[DynRow])
