"""The two zeros of floating-point numbers: 0.0 and -0.0 are equal, but results computed from them may differ.

Keys of groups, sets and partitions have one zero. Spark normalizes them where it groups, but it pushes filters on a key
below the aggregate, where they see the values of single rows.
"""

from __future__ import annotations

from substrait_dsl.algebra.types import FP32, FP64, Type
from substrait_dsl.spark.expressions.nested_values import rebuild_parts
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.session.engines import current_engine

FLOATS = (FP32, FP64)


def one_zero(value: str, type_: Type) -> str:
    """Write a value with 0.0 in place of every -0.0 in it."""
    return rebuild_parts(value, type_, FLOATS, _plus_zero)


def sort_key(value: str, type_: Type) -> str:
    """Write the sort key of a value, where the engine orders floats otherwise than Spark."""
    own = current_engine().float_key
    return rebuild_parts(value, type_, FLOATS, own) if own else value


def _plus_zero(value: str, type_: Type) -> str:
    if own := current_engine().float_key:
        return own(value, type_)
    return f"({value} + CAST(0 AS {spark_sql_type(type_)}))"
