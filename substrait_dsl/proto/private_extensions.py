"""Properties without a field in the specification, written as a private extension.

Some operators and properties are documented but have no message (spec decision 10). They are written as the message
that they refine, with a private message beside it, which other consumers may ignore: a ``google.protobuf.Struct`` with
one key, ``substrait_dsl``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from google.protobuf.message import DecodeError
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.properties import (
    SINGLETON,
    Distribution,
    FieldPath,
    OrderKey,
    Properties,
    SortDirection,
    partitioned,
)
from substrait_dsl.errors import PlanFormatError, SubstraitDslError, shorten
from substrait_dsl.proto.enums import SORT_DIRECTION
from substrait_dsl.proto.extensions import decode_any, encode_any

T = TypeVar("T")

Choices = Mapping[str, Any]
"""JSON values by name."""

STRUCT_URL = "type.googleapis.com/google.protobuf.Struct"
OWN_KEY = "substrait_dsl"


def message_of(choices: Choices) -> AnyMessage:
    """Return the choices as a message; equal ones are equal bytes."""
    from google.protobuf.struct_pb2 import Struct  # few plans have choices

    struct = Struct()
    struct.update({OWN_KEY: choices})
    return AnyMessage(STRUCT_URL, struct.SerializeToString(deterministic=True))


def choices_in(message: AnyMessage) -> Choices | None:
    """Return the choices in a message; None for another message."""
    if message.type_url != STRUCT_URL:
        return None
    from google.protobuf import json_format  # not needed for writing
    from google.protobuf.struct_pb2 import Struct

    struct = Struct()
    try:
        struct.ParseFromString(message.value)
        values = json_format.MessageToDict(struct)
    except (DecodeError, json_format.Error, ValueError):  # ValueError: a number that JSON has not
        return None
    choices = values.get(OWN_KEY)
    return choices if len(values) == 1 and isinstance(choices, dict) else None


def encode_choices(choices: Choices, common: pb.RelCommon) -> None:
    """Write choices into the ``RelCommon`` of a relation, if there are any."""
    if choices:
        encode_any(message_of(choices), common.advanced_extension.optimization.add())


def decode_choices(common: pb.RelCommon) -> Choices:
    """Read the choices of a relation; none by default."""
    found: dict[str, Any] = {}
    if common.HasField("advanced_extension"):
        for optimization in common.advanced_extension.optimization:
            found |= choices_in(decode_any(optimization)) or {}
    return found


def without_choices(extension: AdvancedExtension) -> AdvancedExtension | None:
    """Return the extension messages of others; None if there are only our choices."""
    foreign = tuple(message for message in extension.optimizations if choices_in(message) is None)
    if len(foreign) == len(extension.optimizations):
        return extension
    return AdvancedExtension(foreign, extension.enhancement) if foreign or extension.enhancement is not None else None


def read_choice(name: str, choices: Choices, read: Callable[[Any], T], default: T) -> T:
    """Return the value of one choice.

    Args:
        name: what the choice is called.
        choices: those of the relation.
        read: makes a value of the algebra of one that JSON has; it may fail in any way.
        default: what holds without that choice.

    Raises:
        PlanFormatError: for a value that makes no sense; or the error of a rule that the value breaks.
    """
    if name not in choices:
        return default
    try:
        return read(choices[name])
    except SubstraitDslError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        value = shorten(repr(choices[name]))
        raise PlanFormatError(f"the {name} of a relation cannot be understood: {value}") from error


def boolean_value(value: object) -> bool:
    """Return a boolean of JSON. Raises `ValueError` for other values."""
    if not isinstance(value, bool):
        raise ValueError(value)
    return value


def integer_value(number: float) -> int:
    """Return an integer of JSON. Raises `ValueError` for a number with a fraction."""
    if number != int(number):
        raise ValueError(number)
    return int(number)


# --- properties


def properties_choice(properties: Properties) -> Choices:
    """Return the declared ordering and distribution of a relation, under ``output_properties``."""
    choices: dict[str, Any] = {}
    if properties.ordering:
        choices["ordering"] = [
            {"field": list(key.field), "direction": _direction_choice(key.direction)} for key in properties.ordering
        ]
    if properties.distribution is not None:
        fields = sorted(properties.distribution.fields)
        choices["distribution"] = {"kind": properties.distribution.kind, "fields": [list(field) for field in fields]}
    return {"output_properties": choices} if choices else {}


def _direction_choice(direction: str | FunctionId) -> Any:
    return {"urn": direction.urn, "key": direction.key} if isinstance(direction, FunctionId) else direction


def declared_properties(choices: Choices) -> Properties:
    """Return the declared ordering and distribution of a relation."""
    return read_choice("output_properties", choices, _read_properties, Properties())


def _read_properties(choices: Any) -> Properties:
    ordering = tuple(
        OrderKey(_read_path(key["field"]), _read_direction(key["direction"])) for key in choices.get("ordering", ())
    )
    distribution: Distribution | None = None
    if "distribution" in choices:
        fields = map(_read_path, choices["distribution"]["fields"])
        distribution = {"singleton": SINGLETON, "partitioned": partitioned(*fields)}[choices["distribution"]["kind"]]
    return Properties(ordering, distribution)


_DIRECTIONS: dict[str, SortDirection] = {direction: direction for direction in SORT_DIRECTION}


def _read_path(positions: Any) -> FieldPath:
    return tuple(map(integer_value, positions))


def _read_direction(direction: Any) -> SortDirection | FunctionId:
    if isinstance(direction, str):
        return _DIRECTIONS[direction]
    return FunctionId(str(direction["urn"]), str(direction["key"]))
