"""Replace context variables by literals: the time, the date and the time zone of an execution.

Specification: https://substrait.io/expressions/execution_context_variables/. They become literals before anything is
lowered. So they are the same in the whole plan, and however often the rows are asked for.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import attrs

from substrait_dsl.algebra.expressions import ContextVariable, ExecutionContextVariable, Literal, literal
from substrait_dsl.algebra.node import Node, walk
from substrait_dsl.algebra.types import PrecisionTimestampTZ, String
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.session.engines import ENGINE

if TYPE_CHECKING:
    from substrait_dsl.algebra.plan import AlgebraPlan

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def now() -> dt.datetime:
    """Return the current time in whole milliseconds, so that comparisons with it may be pushed down to readers."""
    exact = dt.datetime.now(dt.UTC)
    return exact.replace(microsecond=exact.microsecond // 1000 * 1000)


@attrs.frozen
class Context:
    """When and where a plan is executed."""

    current_time: dt.datetime
    zone: str
    """The time zone of the session, as Spark has it."""

    def value(self, variable: ExecutionContextVariable) -> Literal:
        """The value of a variable, of its type. Raises `UnsupportedError` for a zone that only Spark knows."""
        type_ = variable.type
        match variable.variable:
            case "current_timestamp":
                assert isinstance(type_, PrecisionTimestampTZ)
                micros = (self.current_time - EPOCH) // dt.timedelta(microseconds=1)
                return Literal(micros * 10**type_.precision // 10**6, type_)
            case "current_date":
                return literal(self.current_time.astimezone(_zone(self.zone)).date(), type_)
            case "current_timezone":
                return literal(self.zone, String())


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise UnsupportedError(
            f"the date of the execution is not known in the session's time zone, {name}",
            hint='spark.conf.set("spark.sql.session.timeZone", "UTC")',
        ) from None


def with_values(plan: AlgebraPlan, context: Context) -> AlgebraPlan:
    """Return a plan with literals in place of its context variables.

    Raises `UnsupportedError` for a variable that is to be evaluated for each record.
    """
    nodes = (node for rel in plan.relations for node in walk(rel))
    variables = {node.variable for node in nodes if isinstance(node, ExecutionContextVariable)}
    if not variables:
        return plan
    moving: set[ContextVariable] = variables - {"current_timezone"}
    if plan.evaluation_mode == "per_record" and moving:
        raise UnsupportedError(f"{ENGINE} cannot evaluate {min(moving)} for each record, as the plan asks")

    def change(node: Node) -> Node:
        return context.value(node) if isinstance(node, ExecutionContextVariable) else node

    return plan.rebuilt(change)
