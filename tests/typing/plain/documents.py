"""Plans and extended expressions: what they are read as, and the rows that lambdas get."""

from typing import assert_type

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.fluent.expr import DynExpr
from tests.typing.tables import Orders

orders = sd.read_named("orders", Orders)
assert_type(sd.Plan.from_bytes(orders.to_plan().to_bytes()), sd.Plan)

extended = sd.ExtendedExpression(
    Orders,
    "o_rank",
    lambda o: (o.o_weight * 2.0).alias("double"),
    lambda o: f.max(o.o_weight).alias("most"),
    open=lambda o: o.o_open & (o.o_orderkey > 5),
    one=1,
)
assert_type(extended.schema, sd.RelationSchema)
assert_type(extended.findings, tuple[sd.Finding, ...])
assert_type(sd.ExtendedExpression.from_bytes(extended.to_bytes(), strict=True), sd.ExtendedExpression)
sd.ExtendedExpression(orders, "o_rank", weight=orders.c.o_weight)
sd.ExtendedExpression({"a": sd.I64}, double=lambda r: r.a * 2)
assert_type(extended.expression("double"), DynExpr)
assert_type(orders.filter(extended.expression("open")), sd.Relation[Orders])
asked = orders.filter(lambda o: o.o_orderkey > sd.parameter(1, sd.I64))
assert_type(orders.to_plan().with_roots(asked, orders.limit(1), parameter_bindings={1: 5}), sd.Plan)
