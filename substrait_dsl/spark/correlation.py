"""Outer rows that Spark lets a subquery refer to in some places only, which nobody but its optimizer knows.

It takes a subquery apart, and joins the rows of the outer one once for each of their values. Values that it cannot
compare it joins by in no other place than a plain projection or filter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import FieldReference, OuterReference
from substrait_dsl.algebra.node import Node
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.explain import spark_plan
from substrait_dsl.spark.templates import require_comparable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NO_PLACE = "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY"
"""What Spark calls the places where a subquery may not refer to an outer row."""


def require_correlation(nodes: Iterable[Node], frame: DataFrame) -> None:
    """Raise `UnsupportedError` for a reference to a column of an outer row whose values Spark would have to compare.

    Args:
        nodes: all nodes of a plan.
        frame: what it is lowered to. Spark is asked for its plan of it only if there is such a column.
    """
    from pyspark.errors import PySparkException

    kind = next((node.type for node in nodes if isinstance(node, FieldReference) and _is_no_key(node)), None)
    if kind is None:
        return
    try:
        spark_plan(frame, "simple")
    except PySparkException as error:
        if not is_no_place(error):
            raise
        raise UnsupportedError(
            f"Spark cannot run a subquery that refers to a column of {kind} of an outer row in this place",
            hint="compute what is needed of the column in a projection below, as a column of its own",
        ) from error


def is_no_place(error: Exception) -> bool:
    """Whether Spark says of a place that a subquery in it may not refer to an outer row."""
    from pyspark.errors import PySparkException

    return isinstance(error, PySparkException) and (error.getCondition() or "").startswith(_NO_PLACE)


def _is_no_key(reference: FieldReference) -> bool:
    """Whether it is to an outer row, and its values are some that Spark cannot compare."""
    return isinstance(reference.root, OuterReference) and not _is_comparable(reference.type)


def _is_comparable(kind: Type) -> bool:
    try:
        require_comparable(kind, "a subquery")
    except UnsupportedError:
        return False
    return True
