"""Function options as messages of ``algebra.proto``.

Specification: ``FunctionOption`` and https://substrait.io/expressions/scalar_functions/#options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.expressions import FunctionId, FunctionOption
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.catalog.function_requirements import known_overload
from substrait_dsl.errors import InvalidChoiceError

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder


def encode_options(options: tuple[FunctionOption, ...], messages: Any) -> None:
    """Write the options of a call."""
    for option in options:
        message: pb.FunctionOption = messages.add()
        message.name = option.name
        message.preference.extend(option.preferences)


def decode_options(decoder: Decoder, messages: Any, function: FunctionId) -> tuple[FunctionOption, ...]:
    """Read the options of a call, spelled as in its extension, or unchanged if the catalogue lacks them.

    An unknown option or preference of a known function is kept and reported: the consumer has to refuse it, if it does
    not know it either.
    """
    if not messages:
        return ()
    overload = known_overload(decoder.catalog, function)
    options: list[FunctionOption] = []
    for message in messages:
        with decoder.part(message):
            name, preferences = message.name, tuple(message.preference)
            if overload is not None:
                try:
                    name, preferences = overload.option_values(name, preferences)
                except InvalidChoiceError as error:
                    decoder.report(FindingCode.OPTION_UNKNOWN, f"{error.message}; kept unchanged", message)
            options.append(FunctionOption(name, preferences))
    return tuple(options)
