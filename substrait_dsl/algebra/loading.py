"""Names of a package that are loaded when a program first uses one of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def load_when_used(package: str, names: dict[str, Any]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package: it loads the names of the package's module ``union``.

    Args:
        package: the name of the package.
        names: those that it has so far, to which the others are added.
    """

    def load(name: str) -> Any:
        union = import_module(f"{package}.union")
        if name not in union.__all__:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        names.update({each: getattr(union, each) for each in union.__all__})
        return names[name]

    return load
