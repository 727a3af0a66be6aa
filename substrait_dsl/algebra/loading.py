"""Names of a package that are loaded when a program first uses one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def load_when_used(names: dict[str, Any], modules: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package: it loads the module that has a name.

    Args:
        names: the globals of the package, to which the names are added.
        modules: modules of the package, each with the names that it has.
    """
    package = names["__name__"]
    homes = {name: module for module, its_names in modules.items() for name in its_names}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = names[name] = getattr(import_module(f"{package}.{homes[name]}"), name)
        return value

    return load
