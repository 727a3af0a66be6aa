"""Aggregation phases: a plan may aggregate parts of the rows, and then merge the intermediate values.

The intermediate values are those that the specification declares. Of most functions they are of the type of the result,
and are aggregated by the function itself; counts are added up; an average is a sum and a count until the end.

Specification: https://substrait.io/expressions/aggregate_functions/#aggregation-phase, and spec decisions 14 and 15.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra.expressions import AggregateFunction, Expression, FieldAccess, FunctionId, StructField
from substrait_dsl.algebra.function_ids import STANDARD
from substrait_dsl.algebra.types import Decimal, Struct, Type
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.aggregates import average_of
from substrait_dsl.spark.expressions.literals import struct_to_sql
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.session.engines import ENGINE

_GENERIC = f"{STANDARD}functions_aggregate_generic"
_MERGED_BY_ITSELF = ("any_value", "max", "min", "sum", "sum0")


@attrs.frozen
class Average:
    """An average in a phase, computed from a sum and a count."""

    call: AggregateFunction
    total: AggregateFunction
    many: AggregateFunction

    def to_sql(self, total: str, many: str) -> str:
        """The value, from the texts of the sum and the count."""
        if self.call.phase.endswith("_to_intermediate"):
            return f"CAST({struct_to_sql([total, many])} AS {spark_sql_type(self.call.output_type)})"
        return average_of(total, f"nullif({many}, 0L)", self.call.output_type)


def express_in_one_phase(call: AggregateFunction) -> AggregateFunction | Average:
    """Return a call from initial values to results that computes what a call computes in its phase.

    Raises:
        UnsupportedError: there is none for the function's intermediate values.
    """
    if call.phase == "initial_to_result":
        return call
    merges = call.phase.startswith("intermediate_")
    name = call.function.name
    if call.sorts or (merges and call.invocation == "distinct"):
        what = "in an order" if call.sorts else "of distinct values"
        raise UnsupportedError(f"{ENGINE} cannot run {name} in the phase {call.phase} {what}")
    complete = attrs.evolve(call, phase="initial_to_result")
    match name:
        case "avg":
            return _average(call, complete, merges=merges)
        case "count" if merges:
            return attrs.evolve(complete, function=_sum0(call.output_type))
        case "count":
            return complete
        case name if name in _MERGED_BY_ITSELF:
            return complete
    raise UnsupportedError(
        f"{ENGINE} cannot run {name} in the phase {call.phase}: "
        "what its intermediate values hold, no two engines agree on"
    )


def _average(call: AggregateFunction, complete: AggregateFunction, *, merges: bool) -> Average:
    value = call.arguments[0] if len(call.arguments) == 1 else None
    between = value.type if merges and isinstance(value, Expression) else call.output_type
    if not (isinstance(value, Expression) and isinstance(between, Struct) and len(between.types) == 2):
        raise UnsupportedError(
            f"{ENGINE} cannot run avg in the phase {call.phase} without a struct of a sum and a count"
        )
    sum_type, count_type = between.types
    if merges:
        first, second = (FieldAccess(value, StructField(position)) for position in range(2))
        total = attrs.evolve(complete, function=_sum0(sum_type), arguments=(first,), output_type=sum_type)
        many = AggregateFunction(_sum0(count_type), (second,), count_type)
    else:
        total = attrs.evolve(complete, function=_sum0(value.type), output_type=sum_type)
        many = AggregateFunction(FunctionId(_GENERIC, "count:any"), (value,), count_type, invocation=call.invocation)
    return Average(call, total, many)


def _sum0(type_: Type) -> FunctionId:
    """The sum of numbers of a type, 0 for no rows."""
    name = "functions_arithmetic_decimal" if isinstance(type_, Decimal) else "functions_arithmetic"
    return FunctionId(f"{STANDARD}{name}", f"sum0:{type_.short_name}")
