"""The two zeros of floating-point numbers: 0.0 and -0.0 are equal, though what is computed of them need not be.

Keys of groups, of sets and of partitions are to be one zero. Spark sees to that where it groups the rows, but it moves
conditions on a key below, where they are asked of each row's own.
"""

from __future__ import annotations

from substrait_dsl.algebra.types import FP32, FP64, Type
from substrait_dsl.spark.expressions.nested_values import rebuilt
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.session.engines import current_engine

FLOATS = (FP32, FP64)


def one_zero(value: str, type_: Type) -> str:
    """SQL text of a value with 0.0 in place of every -0.0 in it."""
    return rebuilt(value, type_, FLOATS, _plus_zero)


def sort_key(value: str, type_: Type) -> str:
    """SQL text of what a value is sorted by, where the engine sorts floats otherwise than Spark."""
    own = current_engine().float_key
    return rebuilt(value, type_, FLOATS, own) if own else value


def _plus_zero(value: str, type_: Type) -> str:
    if own := current_engine().float_key:
        return own(value, type_)
    return f"({value} + CAST(0 AS {spark_sql_type(type_)}))"
