"""Construction of the expressions that a producer means: calls of the specification's functions, and casts.

They go through the catalogue and the constructors, which derive their types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog.described_arguments import describe_argument

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder

Arguments = tuple[ex.Argument, ...]
Reader = Callable[["Decoder", Arguments, Type | None], ex.Expression | None]
"""Reads a call, given its arguments and the type that it declares; None where it follows the specification."""

URN = "extension:io.substrait:functions_"
"""The prefix of the URNs of the extensions."""


def scalar_call(
    decoder: Decoder, extension: str, name: str, *arguments: ex.Argument, **options: str
) -> ex.ScalarFunction:
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
    chosen = tuple(ex.FunctionOption(option, (value,)) for option, value in options.items())
    return ex.ScalarFunction(found.overload.function, arguments, found.output_type, chosen)


def cast_to(value: ex.Expression, target: Type) -> ex.Expression:
    """Cast a value to a type, nullable if the value is; an integer literal is converted."""
    wanted = target.with_nullability(value.type.nullable)
    if value.type == wanted:
        return value
    if isinstance(value, ex.Literal) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return ex.literal(value.value, wanted)
    return ex.Cast(value, wanted)


def cast_as_declared(value: ex.Expression, declared: Type | None) -> ex.Expression:
    """Cast a value to the type that its call declares, if it declares one."""
    return value if declared is None else cast_to(value, declared)
