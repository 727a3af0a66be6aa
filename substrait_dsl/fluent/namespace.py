"""Functions by name: what ``substrait_dsl.functions`` offers, and what a user's own catalogue offers alike."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from types import NoneType
from typing import Any

from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog import Catalog, Function, Given, Overload, standard_catalog
from substrait_dsl.errors import FunctionNotFoundError, naming, require, suggestion
from substrait_dsl.fluent.calls import FunctionCall, Measure, WindowFunction, scalar
from substrait_dsl.fluent.choices import require_catalog
from substrait_dsl.fluent.guidance import FUNCTIONS


class UnknownFunctionError(FunctionNotFoundError, AttributeError):
    """There is no function of that name."""


class CatalogFunction:
    """A function: all its overloads, in all extensions it stands in."""

    def __init__(self, name: str, declared: Sequence[Function], urn: str | None, catalog: Catalog) -> None:
        self.__name__ = self.__qualname__ = python_name(name)
        self.__doc__ = documentation(declared)
        self.name = name
        self.kind = declared[0].kind
        self._urn = urn
        self._catalog = catalog

    def __call__(self, *arguments: object, **options: str | Sequence[str]) -> Any:
        """Call the function.

        Gives an expression; for an aggregate function a `Measure`, which stands in `Relation.aggregate`; for a window
        function a `WindowFunction`. Raises `FunctionNotFoundError` for arguments that no overload takes,
        `InvalidChoiceError` for an unknown option.
        """
        if self.kind == "scalar":
            return scalar(self.name, arguments, options, urn=self._urn, catalog=self._catalog)
        call = FunctionCall(self.kind, self.name, arguments, options, self._urn, self._catalog)
        return Measure(call) if self.kind == "aggregate" else WindowFunction(call)

    def resolve(self, arguments: Sequence[Given]) -> tuple[Overload, Type]:
        """The overload for these arguments, and the type of its result. Raises `FunctionNotFoundError`."""
        found = self._catalog.resolve(self.kind, self.name, arguments, urn=self._urn)
        return found.overload, found.output_type

    def __repr__(self) -> str:
        return f"<{self.kind} function {self.name}>"


class Functions:
    """The functions of a catalogue as attributes: ``my = Functions(catalog.with_extension("my.yaml")); my.shout(x)``.

    Args:
        catalog: the functions; by default the specification's own.
        urn: the one extension to take them from, where several have a function of one name.
    """

    def __init__(self, catalog: Catalog | None = None, urn: str | None = None) -> None:
        with naming("Functions"):
            require_catalog(catalog)
            require(urn, (str, NoneType), "the URN of an extension is a str or None")
        self._catalog = catalog or standard_catalog()
        self._urn = urn

    def __getattr__(self, name: str) -> CatalogFunction:
        if name.startswith("__"):
            raise AttributeError(name)
        written = name.removesuffix("_") if keyword.iskeyword(name.removesuffix("_")) else name
        try:
            declared = self._catalog.named(written, urn=self._urn)
        except FunctionNotFoundError as error:
            habit = FUNCTIONS.get(name)
            hint = f"write {habit}" if habit else error.hint or suggestion(name, dir(self))
            raise UnknownFunctionError(error.message, hint=hint) from None
        function = CatalogFunction(written, declared, self._urn, self._catalog)
        self.__dict__[name] = function
        return function

    def __dir__(self) -> list[str]:
        extensions = self._catalog.extensions
        chosen = extensions.values() if self._urn is None else (extensions[self._urn],)
        return sorted({python_name(name) for extension in chosen for name in extension.functions})


def python_name(name: str) -> str:
    """What a function is called in Python."""
    return f"{name}_" if keyword.iskeyword(name) else name


def documentation(declared: Sequence[Function]) -> str:
    """What the extensions say of a function, and its overloads."""
    parts: list[str] = []
    for function in declared:
        if function.description:
            parts.append(function.description.strip())
        parts.append("\n".join(f"    {overload}" for overload in function.overloads))
        parts.append(f"Specification: {function.urn}")
    return "\n\n".join(dict.fromkeys(parts))
