"""Construction of the expressions that a producer means: calls of the specification's functions, and casts.

They go through the catalogue and the constructors, which derive their types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import (
    Argument,
    Cast,
    Expression,
    FunctionOption,
    Literal,
    ScalarFunction,
    literal,
)
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog.call_arguments import describe_argument

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder

URN = "extension:io.substrait:functions_"
"""The prefix of the URNs of the extensions."""


def scalar_call(decoder: Decoder, extension: str, name: str, *arguments: Argument, **options: str) -> ScalarFunction:
    """Call a scalar function of the specification.

    Args:
        decoder: the state of decoding, whose catalogue has the function.
        extension: what follows `URN` in the URN of its extension.
        name: the name of the function.
        arguments: what it is called with; one overload takes exactly these.
        options: a value for each option that matters.

    Raises:
        FunctionNotFoundError: no overload takes such arguments.
    """
    types = tuple(map(describe_argument, arguments))
    found = decoder.catalog.resolve("scalar", name, types, urn=f"{URN}{extension}")
    chosen = tuple(FunctionOption(option, (value,)) for option, value in options.items())
    return ScalarFunction(found.overload.function, arguments, found.output_type, chosen)


def cast_to(value: Expression, target: Type) -> Expression:
    """Cast a value to a type, nullable if the value is; an integer literal is converted."""
    wanted = target.with_nullability(value.type.nullable)
    if value.type == wanted:
        return value
    if isinstance(value, Literal) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return literal(value.value, wanted)
    return Cast(value, wanted)
