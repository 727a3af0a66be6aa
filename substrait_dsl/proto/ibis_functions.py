"""Functions of ibis' plans, where they deviate from the specification.

ibis-substrait 4.0.1 with ibis 9.5 wrote the plans in the comments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import Argument, EnumArgument, Expression
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.types import FP64, INTEGER_RANGES, Decimal, Type
from substrait_dsl.proto.construction import URN, cast_to, scalar_call

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.producers import ScalarReader

_EXACT = (*INTEGER_RANGES, Decimal)
"""The numeric types that are no floats."""


def _divide(decoder: Decoder, arguments: tuple[Argument, ...], declared: Type | None) -> Expression | None:
    """Read ``a / 2`` as a float division; ``a // 2`` is not written."""
    match arguments:
        case (Expression() as x, Expression() as y) if isinstance(declared, FP64) and isinstance(x.type, _EXACT):
            return scalar_call(decoder, "arithmetic", "divide", cast_to_float(x), cast_to_float(y))
        case _:
            return None


_FROM_ONE = ("MONTH", "DAY", "DAY_OF_YEAR", "QUARTER", "ISO_WEEK")
"""The date parts with an argument for the first number, 0 or 1; ibis counts from 1."""


def _extract(decoder: Decoder, arguments: tuple[Argument, ...], declared: Type | None) -> Expression | None:
    """Read ``t.day.month()``, which omits the argument for the first number."""
    match arguments:
        case (EnumArgument(word) as component, Expression() as value) if word in _FROM_ONE:
            found = scalar_call(decoder, "datetime", "extract", component, EnumArgument("ONE"), value)
            return found if declared is None else cast_to(found, declared)
        case _:
            return None


def cast_to_float(value: Expression) -> Expression:
    """Return a number as a float."""
    return cast_to(value, FP64())


SCALAR_FUNCTIONS: Mapping[str, ScalarReader] = {"divide": _divide, "extract": _extract}
"""The readers of ibis' calls, by function name."""


def type_of_computation(name: str, argument: Type, declared: Type | None) -> Type | None:
    """Return the type that an aggregate function is computed in: a mean of integers is a float."""
    return FP64() if name == "avg" and isinstance(declared, FP64) and type(argument) in INTEGER_RANGES else None


_DECIMAL_COUNTS, _COUNTS = (f"{URN}{extension}" for extension in ("aggregate_decimal_output", "aggregate_generic"))

FUNCTIONS_MEANT: Mapping[FunctionId, FunctionId] = {
    FunctionId(_DECIMAL_COUNTS, key): FunctionId(_COUNTS, key) for key in ("count:any", "count:")
}
"""The functions that ibis confuses: it takes the first extension with a ``count``, and declares the other's i64."""
