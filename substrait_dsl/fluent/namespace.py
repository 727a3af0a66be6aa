"""Namespaces of functions: ``substrait_dsl.functions``, and the same for a user's own catalogue."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Sequence
from functools import partial
from types import NoneType
from typing import Any

from substrait_dsl.algebra.pickling import Immutable
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog import CallArgument, Catalog, Function, Overload, standard_catalog
from substrait_dsl.catalog.standard import OWN_URNS
from substrait_dsl.errors import (
    FunctionNotFoundError,
    InvalidArgumentError,
    UnknownFunctionError,
    error_context,
    require,
    suggestion,
)
from substrait_dsl.fluent.calls import FunctionCall, Measure, WindowFunction, scalar
from substrait_dsl.fluent.choices import require_catalog
from substrait_dsl.tracebacks import end_tracebacks_at_caller


class CatalogFunction(Immutable):
    """A function: all its overloads, in all extensions it stands in."""

    def __init__(self, name: str, declared: Sequence[Function], urn: str | None, catalog: Catalog) -> None:
        self.__name__ = self.__qualname__ = python_name(name)
        self.__doc__ = documentation(declared)
        self.__signature__ = _signature(declared)
        self.name = name
        self.kind = declared[0].kind
        self._declared = declared
        self._urn = urn
        self._catalog = catalog

    @end_tracebacks_at_caller
    def __call__(self, *arguments: object, **options: str | Sequence[str]) -> Any:
        """Call the function.

        Args:
            arguments: the arguments, in their order; they have no names.
            options: the function's options by name, each with a word, or several in order of preference.

        Gives an expression; for an aggregate function a `Measure`, which stands in `Relation.aggregate`; for a window
        function a `WindowFunction`. Raises `FunctionNotFoundError` for arguments that no overload takes,
        `InvalidChoiceError` for an unknown option, `InvalidArgumentError` for an argument that is given by name, and
        for arguments whose result would have a type that its extension does not declare so.
        """
        for name, value in options.items():
            self._require_no_argument(name, value)
        if self.kind == "scalar":
            return scalar(self.name, arguments, options, urn=self._urn, catalog=self._catalog)
        call = FunctionCall(self.kind, self.name, arguments, options, self._urn, self._catalog)
        return Measure(call) if self.kind == "aggregate" else WindowFunction(call)

    def _require_no_argument(self, name: str, value: object) -> None:
        """Raise `InvalidArgumentError` for the name of an argument, here or elsewhere, where those of options stand."""
        overloads = [overload for function in self._declared for overload in function.overloads]
        if any(option.name.lower() == name.lower() for overload in overloads for option in overload.options):
            return
        meant = next((overload for overload in overloads if overload.argument_position(name) is not None), None)
        if meant is None and name != "distinct" and not isinstance(value, str | Sequence):  # of an option it is a word
            meant = max(overloads, key=lambda overload: len(overload.arguments))
        if meant is not None:
            names = ", ".join(argument.name or "..." for argument in meant.arguments)
            raise InvalidArgumentError(
                f'{self.name} takes its arguments by position, "{name}" is given by name',
                names=[name],
                hint=f"write {self.__name__}({names})",
            )

    def resolve(self, arguments: Sequence[CallArgument]) -> tuple[Overload, Type]:
        """Return the overload for these arguments, and the type of its result. Raises as `Catalog.resolve` does."""
        found = self._catalog.resolve(self.kind, self.name, arguments, urn=self._urn)
        return found.overload, found.output_type

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (Functions(self._catalog, self._urn), self.__name__)

    def __repr__(self) -> str:
        return f"<{self.kind} function {self.name}>"


class Functions(Immutable):
    """The functions of a catalogue as attributes: ``my = Functions(catalog.with_extension("my.yaml")); my.shout(x)``.

    Args:
        catalog: the functions; by default the specification's own.
        urn: the one extension to take them from, where several have a function of one name.

    Raises `FunctionNotFoundError` if the catalogue has no extension of that URN, with the nearest one.

    Specification: https://substrait.io/extensions/.

    Example:
        >>> texts = sd.Functions(urn="extension:io.substrait:functions_string")
        >>> print(customers.select(loud=lambda c: texts.upper(c.name)).schema)
        0  loud  string
    """

    def __init__(self, catalog: Catalog | None = None, urn: str | None = None) -> None:
        with error_context(verb="Functions"):
            require_catalog(catalog)
            require(urn, (str, NoneType), "the URN of an extension is a str or None")
            self._catalog = catalog or standard_catalog()
            self._catalog.chosen(urn)
        self._urn = urn

    def _hint_for(self, name: str, error: FunctionNotFoundError) -> str | None:
        """Return the hint for an unknown function: what to write, or what the catalogue has."""
        from substrait_dsl.fluent.name_hints import function_hint

        return function_hint(name) or error.hint or suggestion(name, dir(self))

    @end_tracebacks_at_caller
    def __getattr__(self, name: str) -> CatalogFunction:
        if name.startswith("__"):
            raise AttributeError(name)
        written = name.removesuffix("_") if keyword.iskeyword(name.removesuffix("_")) else name
        try:
            declared = self._catalog.named(written, urn=self._urn)
        except FunctionNotFoundError as error:
            raise UnknownFunctionError(
                error.text, names=error.names, hint=partial(self._hint_for, name, error)
            ) from None
        function = CatalogFunction(written, declared, self._urn, self._catalog)
        self.__dict__[name] = function
        return function

    def __reduce__(self) -> tuple[Any, ...]:
        return Functions, (self._catalog, self._urn)

    def __dir__(self) -> list[str]:
        chosen = self._catalog.chosen(self._urn)
        return sorted({python_name(name) for extension in chosen for name in extension.functions})


def python_name(name: str) -> str:
    """Return the name of a function in Python."""
    return f"{name}_" if keyword.iskeyword(name) else name


def documentation(declared: Sequence[Function]) -> str:
    """Return the documentation of a function: the extensions' description, its overloads, and an example."""
    from substrait_dsl.fluent.function_examples import EXAMPLES  # a plan may do without functions

    parts: list[str] = []
    for function in declared:
        if function.description:
            parts.append(function.description.strip())
        parts.append("\n".join(f"    {overload}" for overload in function.overloads))
        parts += _described_options(function)
        parts.append(f"Specification: {function.urn}")
    if declared[0].urn.startswith(OWN_URNS) and declared[0].name in EXAMPLES:
        parts.append("\n".join(("Example:", *(f"    {line}" for line in EXAMPLES[declared[0].name].splitlines()))))
    return "\n\n".join(dict.fromkeys(parts))


def _options(declared: Sequence[Function]) -> dict[str, dict[tuple[str, ...], list[Overload]]]:
    """Return the options of functions by name; for each list of values, the overloads that have it."""
    found: dict[str, dict[tuple[str, ...], list[Overload]]] = {}
    for function in declared:
        for overload in function.overloads:
            for option in overload.options:
                found.setdefault(option.name, {}).setdefault(option.values, []).append(overload)
    return found


def _signature(declared: Sequence[Function]) -> inspect.Signature:
    """Return the signature that `inspect` and editors show: arguments have no names, options nothing else."""
    names = [name for name in _options(declared) if name.isidentifier() and not keyword.iskeyword(name)]
    options = (inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=...) for name in names)
    return inspect.Signature([inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL), *options])


def _described_options(function: Function) -> list[str]:
    """Describe the options of a function and how they are passed, if it has any."""
    options = _options([function])
    lines: list[str] = []
    for name, choices in options.items():
        for values, overloads in choices.items():
            only = "" if len(overloads) == len(function.overloads) else f" (of {_keys(overloads)})"
            lines.append(f"    {name}: {', '.join(values)}{only}")
    if not lines:
        return []
    name, choices = next(iter(options.items()))
    called = f"{python_name(function.name)}(..., {name}="
    first = f'"{next(iter(choices))[0]}"'
    heading = f"Options, by name, each a word or several in order of preference: ``{called}{first})``"
    return [f"{heading}\n\n" + "\n".join(lines)]


def _keys(overloads: Sequence[Overload]) -> str:
    return ", ".join(overload.key for overload in overloads)
