"""Checks of extension messages that are attached to relations and plans."""

from __future__ import annotations

from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.errors import InvalidArgumentError


def require_extension(value: object, what: str) -> None:
    """Raise `InvalidArgumentError` for what is neither None nor an `AdvancedExtension`."""
    if value is not None and not isinstance(value, AdvancedExtension):
        raise InvalidArgumentError(
            f"{what} is an AdvancedExtension",
            got=value,
            hint="write AdvancedExtension(optimizations=(...), enhancement=...)",
        )
