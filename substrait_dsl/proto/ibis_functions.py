"""Functions as plans of ibis mean them, where they mean something else than the specification's.

ibis-substrait 4.0.1 with ibis 9.5 wrote the plans that the comments speak of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import Argument, EnumArgument, Expression
from substrait_dsl.algebra.functions import FunctionId
from substrait_dsl.algebra.types import FP64, INTEGER_RANGES, Decimal, Type
from substrait_dsl.proto.construction import URN, cast_to, scalar_call

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.producers import ScalarReader

_EXACT = (*INTEGER_RANGES, Decimal)
"""The numbers that are no floats."""


def _divide(decoder: Decoder, arguments: tuple[Argument, ...], declared: Type | None) -> Expression | None:
    """``a / 2`` is a float, whatever numbers are divided; ``a // 2`` is not written."""
    match arguments:
        case (Expression() as x, Expression() as y) if isinstance(declared, FP64) and isinstance(x.type, _EXACT):
            return scalar_call(decoder, "arithmetic", "divide", cast_to_float(x), cast_to_float(y))
        case _:
            return None


_FROM_ONE = ("MONTH", "DAY", "DAY_OF_YEAR", "QUARTER", "ISO_WEEK")
"""The components of a date that the specification counts from 0 or from 1, as an argument says; ibis from 1."""


def _extract(decoder: Decoder, arguments: tuple[Argument, ...], declared: Type | None) -> Expression | None:
    """``t.day.month()`` is written without the argument that says from where months are counted."""
    match arguments:
        case (EnumArgument(word) as component, Expression() as value) if word in _FROM_ONE:
            found = scalar_call(decoder, "datetime", "extract", component, EnumArgument("ONE"), value)
            return found if declared is None else cast_to(found, declared)
        case _:
            return None


def cast_to_float(value: Expression) -> Expression:
    """A number as a float."""
    return cast_to(value, FP64())


SCALAR_FUNCTIONS: Mapping[str, ScalarReader] = {"divide": _divide, "extract": _extract}
"""How the calls are read that ibis writes under these names."""


def type_of_computation(name: str, argument: Type, declared: Type | None) -> Type | None:
    """The type of the numbers that an aggregate function is computed from: a mean of integers is one of floats."""
    return FP64() if name == "avg" and isinstance(declared, FP64) and type(argument) in INTEGER_RANGES else None


_DECIMAL_COUNTS, _COUNTS = (f"{URN}{extension}" for extension in ("aggregate_decimal_output", "aggregate_generic"))

FUNCTIONS_MEANT: Mapping[FunctionId, FunctionId] = {
    FunctionId(_DECIMAL_COUNTS, key): FunctionId(_COUNTS, key) for key in ("count:any", "count:")
}
"""The functions that ibis names where it means others: it takes the first extension that has a ``count``, and declares
that it gives an i64, as the other one does."""
