"""Functions of expressions whose nullability is a type variable: their bodies are checked, too."""

from typing import TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f

N = TypeVar("N", bound=sd.Null)


def clamp(value: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.FP64, sd.Null]:
    return f.greatest(value, "x")
    # E: no overload takes greatest(fp64?, 'x'); 'x' does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]


def filled(value: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.FP64, N]:
    return f.coalesce(value, "x")
    # E: no overload takes coalesce(fp64?, 'x'); 'x' does not fit fp64: it takes a float, not a
    #    str  [substrait-function-not-found]


def is_large(value: sd.Expr[sd.I64, N]) -> sd.Expr[sd.Boolean, N]:
    return value > "a"
    # E: no overload takes gt(i64?, 'a'); 'a' does not fit i64: it takes an int, not a
    #    str  [substrait-function-not-found]


def required(value: sd.Expr[sd.FP64, N]) -> sd.Expr[sd.FP64]:
    return f.abs(value)
    # E: Incompatible return value type (got "Expr[FP64, N]", expected "Expr[FP64, Req]")  [return-value]
