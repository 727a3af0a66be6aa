"""Recognize correlated subqueries that Spark cannot decorrelate, which only its optimizer knows.

Decorrelation joins the distinct outer values to the subquery. Outer values that Spark cannot compare are allowed in
plain projections and filters only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import FieldReference, OuterReference
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.templates import require_comparable
from substrait_dsl.spark.session.engines import ENGINE
from substrait_dsl.spark.session.explain import spark_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NO_PLACE = "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY"
"""Spark's error condition for a subquery that may not refer to an outer row where it is."""

_ANY_PLACE = (
    "Spark cannot run a subquery that refers to an outer row in this place",
    "refer to the outer row above the join or the set operation in the subquery; in a condition on rows that are "
    "looked up, as the right ones of a left join, in the condition of the join",
)
_CAUSES: Mapping[str, tuple[str, str]] = {
    "HIGHER_ORDER_FUNCTION": (
        "Spark cannot run a subquery beside a lambda",
        "compute the subquery in a projection below, as a column of its own",
    ),
    "NON_DETERMINISTIC_LATERAL_SUBQUERIES": (
        "Spark cannot run a lateral join whose right input has random values, such as those of uuid(), rand() or "
        "monotonically_increasing_id(): of a view, or of a function that is declared deterministic: false",
        "write the rows of the view to a table or to files first, and read these; what a function draws is a column of "
        "the left input before the join",
    ),
}
"""By Spark's subcondition: the message and the hint of other faults of a correlated subquery."""

_LOSSES = (
    "Unable to rewrite domain join",
    "No plan for DomainJoin",
    "INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND",
    "Cannot evaluate expression: outer(",
    "Cannot generate code for expression: outer(",
)
"""Spark's messages when decorrelation has lost a reference to an outer row."""

_LOST_COLUMN = re.compile(r"key not found: __s\d+#\d+")
"""Spark's message when a filter is pushed to where its column does not exist, as above unions of mark joins."""


def require_correlation(nodes: Iterable[Node], frame: DataFrame) -> None:
    """Raise `UnsupportedError` for a reference to an outer column whose values Spark cannot compare.

    Args:
        nodes: all nodes of a plan.
        frame: the DataFrame that it is lowered to. It is explained only if there is such a column.
    """
    from pyspark.errors import PySparkException

    type_ = next((node.type for node in nodes if isinstance(node, FieldReference) and _is_no_key(node)), None)
    if type_ is None:
        return
    try:
        spark_plan(frame, "simple")
    except PySparkException as error:
        incomparable = (
            f"Spark cannot run a subquery that refers to a column of {type_} of an outer row in this place",
            "compute what is needed of the column in a projection below, as a column of its own",
        )
        if (refusal := refusal_of(error, incomparable)) is None:
            raise
        raise refusal from error


def refusal_of(error: Exception, any_place: tuple[str, str] = _ANY_PLACE) -> UnsupportedError | None:
    """Return the refusal for an error of Spark about a correlated subquery; None: it is another error.

    Args:
        error: the error.
        any_place: the message and the hint for a subquery that may not refer to an outer row where it is.
    """
    from pyspark.errors import PySparkException

    condition = (isinstance(error, PySparkException) and error.getCondition()) or ""
    if not condition.startswith(_NO_PLACE):
        return None
    message, hint = _CAUSES.get(condition.rpartition(".")[2], any_place)
    return UnsupportedError(message, hint=hint)


def loss_of(message: str, plan: Rel) -> UnsupportedError | None:
    """Return the refusal for a fault of Spark's optimizer, as a rule in decorrelation; None: it is another error.

    Args:
        message: Spark's message, as a rule before any row is computed.
        plan: the relation that was executed.
    """
    if _LOST_COLUMN.search(message):
        return UnsupportedError(
            f"{ENGINE}'s optimizer loses a column of the plan",
            hint="execute a part of it first, such as a join, write its rows, and go on from them",
        )
    if not any(words in message for words in _LOSSES) or not any(node.free_anchors for node in walk(plan)):
        return None
    return UnsupportedError(
        f"{ENGINE}'s optimizer cannot decorrelate a subquery that refers to an outer row",
        hint="leave out conditions in it that are always false, or join its rows, or aggregates of them, instead",
    )


def _is_no_key(reference: FieldReference) -> bool:
    """Whether a reference is to an outer column whose values Spark cannot compare."""
    return isinstance(reference.root, OuterReference) and not _is_comparable(reference.type)


def _is_comparable(type_: Type) -> bool:
    try:
        require_comparable(type_, "a subquery")
    except UnsupportedError:
        return False
    return True
