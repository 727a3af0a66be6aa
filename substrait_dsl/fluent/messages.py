"""What people attach to relations and plans for others to read."""

from __future__ import annotations

from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.errors import InvalidArgumentError


def require_extension(given: object, what: str) -> None:
    """Raise `InvalidArgumentError` for what is neither None nor an `AdvancedExtension`."""
    if given is not None and not isinstance(given, AdvancedExtension):
        raise InvalidArgumentError(
            f"{what} is an AdvancedExtension",
            got=given,
            hint="write AdvancedExtension(optimizations=(...), enhancement=...)",
        )
