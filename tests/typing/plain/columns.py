"""Columns of declared rows: the annotation of a schema class is what a row and the class itself give."""

from typing import Literal as L
from typing import assert_type

import substrait_dsl as sd
from substrait_dsl import I64, Decimal, Expr, Null, Req, String
from substrait_dsl.fluent.expr import DynExpr
from tests.typing.tables import Orders


def row(o: Orders) -> None:
    assert_type(o.o_orderkey, Expr[I64, Req])
    assert_type(o.o_comment, Expr[String, Null])
    assert_type(o.o_totalprice, Expr[Decimal[L[15], L[2]], Req])
    assert_type(o.o_tags, Expr[sd.List[String], Req])
    assert_type(o.o_taken, Expr[sd.PrecisionTimestamp[L[6]], Req])
    assert_type(o.o_tags[0], DynExpr)


assert_type(Orders.o_orderkey, Expr[I64, Req])
assert_type(Orders.o_comment, Expr[String, Null])
assert_type(sd.col("o_orderkey"), DynExpr)
assert_type(sd.read_named("orders", Orders).c, Orders)
assert_type(sd.read_named("orders", Orders).c.o_rank, Expr[I64, Null])
assert_type(sd.read_named("orders", Orders)["o_rank"], DynExpr)

assert_type(Decimal(15, 2), Decimal[L[15], L[2]])
assert_type(sd.lit(1, I64), Expr[I64, Req])
assert_type(sd.lit("x", sd.Nullable[String]), Expr[String, Null])
assert_type(sd.lit(1, Decimal(15, 2)), Expr[Decimal[L[15], L[2]], Req])
assert_type(sd.lit(1), DynExpr)
assert_type(sd.null(I64), Expr[I64, Null])

assert_type(Orders.o_orderkey.alias("k"), Expr[I64, Req])
assert_type(Orders.o_orderkey.cast(String), Expr[String, Req])
assert_type(Orders.o_rank.cast(String), Expr[String, Null])
assert_type(Orders.o_orderkey.cast(Decimal(15, 2)), Expr[Decimal[L[15], L[2]], Req])
assert_type(Orders.o_orderkey.cast(sd.Nullable[String]), Expr[String, Null])
assert_type(Orders.o_orderkey.cast(sd.I8, on_failure="return_null"), Expr[sd.I8, Null])
