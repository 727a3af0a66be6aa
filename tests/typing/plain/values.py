"""Lambdas, structs, lists and maps, and what is known when the plan runs."""

from typing import Any, assert_type
from typing import Literal as L

import substrait_dsl as sd
from substrait_dsl import (
    I64,
    Boolean,
    Date,
    Decimal,
    DynRow,
    Expr,
    List,
    Null,
    PrecisionTimestampTZ,
    Req,
    String,
)
from substrait_dsl import functions as f
from substrait_dsl.fluent.expr import DynExpr
from tests.typing.tables import Orders


def lambdas(o: Orders, r: DynRow) -> None:
    assert_type(f.transform(o.o_tags, lambda tag: f.upper(tag)), Expr[List[Any], Req])
    assert_type(f.transform(o.o_tags, lambda tag: 1), Expr[List[Any], Req])
    assert_type(f.filter(o.o_tags, lambda tag: tag == o.o_comment), Expr[List[String], Req])
    assert_type(f.any_match(o.o_tags, lambda tag: tag.is_in(["a", "b"])), Expr[Boolean, Null])
    f.transform(r.x, lambda x: f.any_match(x, lambda y: y > r.z))
    f.transform(o.o_tags, f.upper)
    shout = sd.lambda_({"text": sd.String}, lambda text: f.upper(text))
    assert_type(shout(o.o_comment), DynExpr)
    f.transform(o.o_tags, shout)


def nested(o: Orders, r: DynRow) -> None:
    assert_type(sd.struct_of(key=o.o_orderkey, tags=o.o_tags, one=1), DynExpr)
    assert_type(sd.struct_of(key=o.o_orderkey).keep("key", 0, {"key": ["a", {"b": ["c"]}]}), DynExpr)
    assert_type(sd.struct_of(key=o.o_orderkey).keep({"key": sd.elements(0, first=2, keep=["a"])}), DynExpr)
    assert_type(sd.list_of(o.o_orderkey, o.o_rank, 5, None), DynExpr)
    assert_type(sd.map_of({"key": o.o_orderkey, "rank": o.o_rank}), DynExpr)
    assert_type(sd.map_of([(o.o_clerk, 1), (r.x, r.y)]), DynExpr)


def given() -> None:
    assert_type(sd.parameter(0, sd.I64), Expr[I64, Req])
    assert_type(sd.parameter(1, sd.Nullable[sd.String]), Expr[String, Null])
    assert_type(sd.parameter(2, sd.Decimal[L[15], L[2]]), Expr[Decimal[L[15], L[2]], Req])
    assert_type(sd.parameter(3, "list<i64>"), DynExpr)
    assert_type(sd.current_timestamp(), Expr[PrecisionTimestampTZ[Any], Req])
    assert_type(sd.current_timestamp(3), Expr[PrecisionTimestampTZ[L[3]], Req])
    assert_type(sd.current_date(), Expr[Date, Req])
    assert_type(sd.current_timezone(), Expr[String, Req])


orders = sd.read_named("orders", Orders)
assert_type(orders.filter(lambda o: o.o_orderdate < sd.current_date()), sd.Relation[Orders])
assert_type(orders.filter(lambda o: o.o_orderkey == sd.parameter(0, sd.I64)), sd.Relation[Orders])
