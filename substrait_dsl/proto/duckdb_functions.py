"""Functions of DuckDB's plans up to 1.1.3, where they deviate from the specification.

DuckDB 1.1.3, with its extension for Substrait, wrote the plans in the comments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import Argument, Cast, Expression, Literal
from substrait_dsl.algebra.types import FP64, INTEGER_RANGES, Decimal, Type
from substrait_dsl.errors import UnsupportedError

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.producers import ScalarReader


def _not_equal(decoder: Decoder, arguments: tuple[Argument, ...], declared: Type | None) -> Expression | None:
    """Refuse a not_equal of a string literal: ``s NOT LIKE 'x%'`` and ``s <> 'x%'`` are written alike."""
    for argument in arguments:
        while isinstance(argument, Cast):
            argument = argument.input
        text = argument.value if isinstance(argument, Literal) else None
        if isinstance(text, str) and ("%" in text or "_" in text):
            raise UnsupportedError(
                f"not_equal with {text!r} may be NOT LIKE in a plan of DuckDB, which writes both alike",
                hint="have it written as NOT (... LIKE ...), or by a later version",
            )
    return None


SCALAR_FUNCTIONS: Mapping[str, ScalarReader] = {"not_equal": _not_equal}
"""The readers of DuckDB's calls, by function name."""


def type_of_computation(name: str, argument: Type, declared: Type | None) -> Type | None:
    """Return the type that an aggregate function is computed in; None for that of its argument.

    The sum of integers is an integer of 128 bits, written as sum:i64 of decimal(38, 0); averages are fp64.
    """
    if name == "sum" and isinstance(declared, Decimal) and type(argument) in INTEGER_RANGES:
        return Decimal(declared.precision, 0)
    if name == "avg" and isinstance(declared, FP64) and type(argument) in (*INTEGER_RANGES, Decimal):
        return FP64()
    return None
