"""Functions of an extension of one's own, with the stub that ``substrait-dsl stub`` makes."""

from typing import Any, assert_type
from typing import Literal as L

import substrait_dsl as sd
from substrait_dsl import Date, Decimal, Expr, Measure, Null, Req, String, VarChar
from substrait_dsl.fluent.expr import DynExpr
from tests.typing.own import functions as own
from tests.typing.tables import Orders


def calls(o: Orders, r: sd.DynRow) -> None:
    assert_type(own.shout(o.o_comment, 3), Expr[String, Null])
    assert_type(own.shout(o.o_clerk, 3), Expr[VarChar[L[15]], Req])
    assert_type(own.shout(r.x, 3), DynExpr)
    assert_type(own.date(o.o_taken, "LATEST", zone="UTC"), Expr[Date, Req])
    assert_type(own.date(o.o_taken, "LATEST"), Expr[Date, Req])
    assert_type(own.str(o.o_taken), Expr[String, Req])
    assert_type(own.longest(o.o_tags, o.o_tags, o.o_tags), Expr[sd.List[String], Req])
    assert_type(own.product(o.o_totalprice), Measure[Decimal[L[38], L[2]], Null])
    assert_type(own.product(o.o_totalprice * o.o_totalprice), Measure[Decimal[L[38], Any], Null])


class Shouted(sd.Schema):
    text: sd.Nullable[String]


orders = sd.read_named("orders", Orders)
assert_type(orders.into(lambda o: Shouted(text=own.shout(o.o_comment, 1))), sd.Relation[Shouted])
