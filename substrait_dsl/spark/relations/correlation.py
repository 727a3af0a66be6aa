"""Outer rows that Spark lets a subquery refer to in some places only, which nobody but its optimizer knows.

It takes a subquery apart, and joins the rows of the outer one once for each of their values. Values that it cannot
compare it joins by in no other place than a plain projection or filter.
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
from substrait_dsl.spark.session.explain import spark_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NO_PLACE = "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY"
"""What Spark calls the places where a subquery may not refer to an outer row."""

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
        "Spark cannot run a lateral join whose right input reads a view with random values, such as those of uuid(), "
        "rand() or monotonically_increasing_id()",
        "write the rows of the view to a table or to files first, and read these",
    ),
}
"""By Spark's name for it, what else is wrong with a subquery than its place, and what to do."""

_LOSSES = (
    "Unable to rewrite domain join",
    "No plan for DomainJoin",
    "INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND",
    "Cannot evaluate expression: outer(",
    "Cannot generate code for expression: outer(",
)
"""What Spark says where its optimizer has taken a subquery apart and cannot put it together again."""

_LOST_COLUMN = re.compile(r"key not found: __s\d+#\d+")
"""What it says where it takes a condition on a column along to where this is not, as above unions of mark joins."""


def require_correlation(nodes: Iterable[Node], frame: DataFrame) -> None:
    """Raise `UnsupportedError` for a reference to a column of an outer row whose values Spark would have to compare.

    Args:
        nodes: all nodes of a plan.
        frame: what it is lowered to. Spark is asked for its plan of it only if there is such a column.
    """
    from pyspark.errors import PySparkException

    type_ = next((node.type for node in nodes if isinstance(node, FieldReference) and _is_no_key(node)), None)
    if type_ is None:
        return
    try:
        spark_plan(frame, "simple")
    except PySparkException as error:
        of_kind = (
            f"Spark cannot run a subquery that refers to a column of {type_} of an outer row in this place",
            "compute what is needed of the column in a projection below, as a column of its own",
        )
        if (refusal := refusal_of(error, of_kind)) is None:
            raise
        raise refusal from error


def refusal_of(error: Exception, any_place: tuple[str, str] = _ANY_PLACE) -> UnsupportedError | None:
    """What to raise if Spark says that it cannot run a subquery as it is; None: it says something else.

    Args:
        error: what Spark raised.
        any_place: what to say, and what to do, if a place is one where a subquery may not refer to an outer row.
    """
    from pyspark.errors import PySparkException

    condition = (isinstance(error, PySparkException) and error.getCondition()) or ""
    if not condition.startswith(_NO_PLACE):
        return None
    message, hint = _CAUSES.get(condition.rpartition(".")[2], any_place)
    return UnsupportedError(message, hint=hint)


def loss_of(message: str, plan: Rel) -> UnsupportedError | None:
    """What to raise if Spark's optimizer gives a plan up, as a rule for a subquery that refers to an outer row.

    None: it does not.

    Args:
        message: what Spark says, as a rule before any row is computed.
        plan: what was executed.
    """
    if _LOST_COLUMN.search(message):
        return UnsupportedError(
            "Spark's optimizer loses a column of the plan",
            hint="execute a part of it first, such as a join, write its rows, and go on from them",
        )
    if not any(words in message for words in _LOSSES) or not any(node.free_anchors for node in walk(plan)):
        return None
    return UnsupportedError(
        "Spark's optimizer gives up a subquery that refers to an outer row",
        hint="leave out conditions in it that are always false, or join its rows, or aggregates of them, instead",
    )


def _is_no_key(reference: FieldReference) -> bool:
    """Whether it is to an outer row, and its values are some that Spark cannot compare."""
    return isinstance(reference.root, OuterReference) and not _is_comparable(reference.type)


def _is_comparable(type_: Type) -> bool:
    try:
        require_comparable(type_, "a subquery")
    except UnsupportedError:
        return False
    return True
