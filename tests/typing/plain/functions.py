"""Functions of the catalogue: overloads, shared nullability, words, options."""

from typing import Any, assert_type
from typing import Literal as L

from substrait_dsl import FP64, I64, Boolean, Decimal, DynRow, Expr, Measure, Null, Req, String, VarChar
from substrait_dsl import functions as f
from substrait_dsl.fluent.expr import DynExpr
from tests.typing.tables import Orders


def scalars(o: Orders) -> None:
    assert_type(f.add(o.o_orderkey, 1), Expr[I64, Req])
    assert_type(f.add(o.o_orderkey, o.o_rank), Expr[I64, Null])
    assert_type(f.add(1, o.o_rank, overflow="ERROR"), Expr[I64, Null])
    assert_type(f.add(o.o_rank, 1, overflow=["SATURATE", "ERROR"]), Expr[I64, Null])
    assert_type(f.add(1, 2), Expr[I64, Req])
    assert_type(f.add(o.o_totalprice, o.o_totalprice), Expr[Decimal[Any, Any], Req])
    assert_type(f.negate(o.o_totalprice), Expr[Decimal[L[15], L[2]], Req])
    assert_type(f.sqrt(o.o_weight), Expr[FP64, Req])
    assert_type(f.coalesce(o.o_rank, o.o_orderkey, 0), Expr[I64, Null])
    assert_type(f.nullif(o.o_orderkey, 0), Expr[I64, Null])
    assert_type(f.is_null(o.o_rank), Expr[Boolean, Req])
    assert_type(f.and_(o.o_open, o.o_rank > 1), Expr[Boolean, Null])
    assert_type(f.lt(o.o_orderdate, o.o_orderdate), Expr[Boolean, Req])


def numbers_of_two_types(o: Orders) -> None:
    """The narrower one is cast, which loses nothing."""
    assert_type(f.add(o.o_orderkey, o.o_priority), DynExpr)
    assert_type(f.multiply(o.o_totalprice, o.o_priority), DynExpr)
    assert_type(f.power(o.o_priority, o.o_weight), DynExpr)
    assert_type(f.coalesce(o.o_rank, o.o_priority, 0), DynExpr)
    assert_type(f.equal(o.o_rank, o.o_priority), Expr[Boolean, Null])
    assert_type(f.gt(o.o_totalprice, o.o_orderkey), Expr[Boolean, Req])
    assert_type(f.is_not_distinct_from(o.o_rank, o.o_priority), Expr[Boolean, Req])
    assert_type(f.corr(o.o_priority, o.o_weight), Measure[Any, Any])


def texts(o: Orders) -> None:
    assert_type(f.upper(o.o_comment), Expr[String, Null])
    assert_type(f.upper(o.o_clerk), Expr[VarChar[L[15]], Req])
    assert_type(f.substring(o.o_comment, 1, 2), Expr[String, Null])
    assert_type(f.like(o.o_comment, "%special%"), Expr[Boolean, Null])
    assert_type(f.concat_ws(", ", o.o_comment, "x"), Expr[String, Null])
    assert_type(f.extract("YEAR", o.o_orderdate), Expr[I64, Req])
    assert_type(f.extract("MONTH", "ONE", o.o_orderdate), Expr[I64, Req])


def measures(o: Orders) -> None:
    assert_type(f.sum(o.o_orderkey), Measure[I64, Null])
    assert_type(f.sum(o.o_totalprice), Measure[Decimal[L[38], L[2]], Null])
    assert_type(f.count(), Measure[I64, Req])
    assert_type(f.count(o.o_comment).distinct().alias("n"), Measure[I64, Req])
    assert_type(f.max(o.o_rank).filter(o.o_open), Measure[I64, Null])
    assert_type(f.any_value(o.o_comment), Measure[String, Null])


def unknown(r: DynRow, o: Orders) -> None:
    assert_type(f.add(r.x, r.y), DynExpr)
    assert_type(f.add(o.o_orderkey, r.y), DynExpr)
    assert_type(f.subtract(1, r.y), DynExpr)
    assert_type(f.upper(r.x), DynExpr)
    assert_type(f.sum(r.x), Measure[Any, Any])
    assert_type(f.sum(r.x * (1 - r.y)), Measure[Any, Any])
    assert_type(f.extract("YEAR", r.x), Expr[I64, Any])
