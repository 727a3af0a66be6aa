"""Functions of expressions that give back the nullability that they take."""

from typing import TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import orders

N = TypeVar("N", bound=sd.Null)
M = TypeVar("M", sd.Req, sd.Null)


def doubled(value: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.FP64, N]:
    return value * 2.0


def increased(value: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.FP64, N]:
    return f.add(value, 1.0)


def rooted(value: sd.Expr[sd.FP64, M]) -> sd.Expr[sd.FP64, M]:
    return f.sqrt(value)


def balanced(value: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.FP64, N]:
    return value + 1.0 * value - f.abs(value)


def is_large(value: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.Boolean, N]:
    return (value > 10.0) & ~(value > 100.0)


rows = orders.select("weight", maybe=lambda o: sd.when(o.open).then(o.weight).otherwise(None))
derived = rows.select(
    x=lambda r: doubled(r.weight),
    y=lambda r: increased(balanced(r.maybe)),
    large=lambda r: is_large(r.maybe),
    root=lambda r: rooted(r.weight),
)
sd.reveal_schema(derived)
# N: Schema is x: fp64, y: fp64?, large: boolean?, root: fp64
