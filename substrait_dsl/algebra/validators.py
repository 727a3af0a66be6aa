"""Validators of attrs for the fields of types, messages and formats, which raise the library's errors.

They are for classes that users instantiate. The nodes of the algebra are checked by the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any

import attrs

from substrait_dsl.errors import InvalidArgumentError

Validator = Callable[[Any, "attrs.Attribute[Any]", Any], None]


def refusal(instance: object, field: str, expected: str, value: object) -> InvalidArgumentError:
    """Return the error for a value that a field of an instance cannot have."""
    return InvalidArgumentError(f"{field} of {type(instance).__name__} must be {expected}", got=value)


def one(expected: str, *classes: type) -> Validator:
    """A validator for an object of these classes: ``one("a text", str)``."""

    def check(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if not isinstance(value, classes):
            raise refusal(instance, attribute.name, expected, value)

    return check


def several(expected: str, *classes: type) -> Validator:
    """A validator for a tuple of objects of these classes: ``several("a tuple of texts", str)``."""

    def check(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if not isinstance(value, tuple):
            raise refusal(instance, attribute.name, expected, value)
        for part in value:
            if not isinstance(part, classes):
                raise refusal(instance, attribute.name, expected, value)

    return check


def between(low: int, high: int) -> Validator:
    """A validator for an integer in a closed range."""

    def check(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if type(value) is not int or not low <= value <= high:
            raise refusal(instance, attribute.name, f"an integer from {low} to {high}", value)

    return check


TEXT = one("a text", str)
TEXT_OR_NONE = one("a text or None", str, NoneType)
