"""Validation of calls in imported plans: a call must match an overload of its function.

The reader accepts a call that matches no overload, with the type that the plan declares, because other producers write
such calls. Spark would run it with its own coercions, so it is refused here, except for comparisons of values that
Spark compares exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import AggregateFunction, FunctionId, ScalarFunction, WindowCall
from substrait_dsl.algebra.function_ids import Phase
from substrait_dsl.algebra.node import Node
from substrait_dsl.catalog import CallArgument, Typed, standard_catalog
from substrait_dsl.catalog.described_arguments import describe_argument
from substrait_dsl.catalog.function_requirements import known_overload
from substrait_dsl.catalog.resolve import type_of_call
from substrait_dsl.errors import SubstraitDslError, UnsupportedError
from substrait_dsl.spark.expressions.functions import COMPARISONS
from substrait_dsl.spark.session.engines import ENGINE


def require_meaning(nodes: Iterable[Node]) -> None:
    """Raise `UnsupportedError` for a call that matches no overload; `nodes` are all nodes of a plan."""
    for node in nodes:
        match node:
            case ScalarFunction():
                phase: Phase = "initial_to_result"
            case AggregateFunction() | WindowCall():
                phase = node.phase
            case _:
                continue
        arguments = tuple(map(describe_argument, node.arguments))
        if _explain_mismatch(node.function, arguments, phase) is None:
            continue
        by_value = tuple(describe_argument(argument, by_value=True) for argument in node.arguments)
        if wrong := _explain_mismatch(node.function, by_value, phase):
            raise UnsupportedError(
                f"{ENGINE} cannot run a call that has no meaning: {wrong}",
                hint="cast its arguments to what the function takes" if _takes_count(node) else None,
            )


def _takes_count(call: ScalarFunction | AggregateFunction | WindowCall) -> bool:
    """Whether the function of a call has an overload with as many arguments."""
    overload = known_overload(standard_catalog(), call.function)
    return overload is not None and overload.takes_count(len(call.arguments))


@lru_cache(maxsize=4096)
def _explain_mismatch(function: FunctionId, arguments: tuple[CallArgument, ...], phase: Phase) -> str | None:
    """Return why arguments match no overload; None if they do, or if the function is not in the standard catalog."""
    catalog = standard_catalog()
    overload = known_overload(catalog, function)
    if overload is None:
        return None
    try:
        type_of_call(overload, arguments, phase, catalog.separate)
    except SubstraitDslError as error:
        if function.name in COMPARISONS and _compares_alike(arguments):
            return None
        return error.message
    return None


def _compares_alike(arguments: Sequence[CallArgument]) -> bool:
    """Whether the values belong to one family of types, within which Spark compares exactly."""
    types = {_representative(argument.type).as_required() for argument in arguments if isinstance(argument, Typed)}
    return len(types) == 1


def _representative(type_: t.Type) -> t.Type:
    """Return one representative type for all types whose values may be compared."""
    match type_:
        case t.Decimal():
            return t.Decimal(38, 0)
        case t.VarChar() | t.FixedChar():
            return t.String()
        case t.Date() | t.PrecisionTimestamp():
            return t.PrecisionTimestamp(6)
        case t.PrecisionTimestampTZ():
            return t.PrecisionTimestampTZ(6)
        case _:
            return type_
