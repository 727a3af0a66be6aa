"""The catalogue: all functions and types that extensions declare, and overload resolution."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from substrait_dsl.algebra.pickling import Immutable
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import Type, TypeVariation
from substrait_dsl.catalog import casts, resolution_errors, widening
from substrait_dsl.catalog.call_arguments import CallArgument, stands_for_equals
from substrait_dsl.catalog.load import read_extension
from substrait_dsl.catalog.records import KINDS, Extension, Function, Kind, Overload
from substrait_dsl.catalog.resolve import Resolution, choose, output_type
from substrait_dsl.catalog.standard import standard_extensions
from substrait_dsl.catalog.user_types import problem_in
from substrait_dsl.errors import (
    CatalogError,
    FunctionNotFoundError,
    InvalidArgumentError,
    InvalidChoiceError,
    error_context,
    require,
    suggestion,
)

T = TypeVar("T")

MEMORY = 10_000
"""How many resolutions a catalogue remembers."""

Kinds = Kind | Sequence[Kind] | None
"""One kind of function, several, or None for any."""

_NO_OPTIONS: Mapping[str, Sequence[str]] = {}
_NO_RELATIONS: Mapping[str, NamedStruct] = {}


class Catalog(Immutable):
    """An immutable set of extensions. `standard_catalog` gives the one that everybody has.

    Specification: https://substrait.io/extensions/.

    Example:
        >>> "extension:io.substrait:functions_string" in sd.standard_catalog().urns
        True
    """

    def __init__(self, extensions: Sequence[Extension], relations: Mapping[str, NamedStruct] = _NO_RELATIONS) -> None:
        if not isinstance(extensions, list | tuple) or not all(isinstance(each, Extension) for each in extensions):
            raise InvalidArgumentError(
                f"a catalogue is made of extensions, got {extensions!r}",
                hint="standard_catalog().with_extension(...) has one more",
            )
        require(relations, Mapping, "the relations of a catalogue are a dict of columns by type URL")
        self.relations = relations
        """The functions that derive the output of extension relations, by the type URL of their message."""
        self._extensions: dict[str, Extension] = {extension.urn: extension for extension in extensions}
        self.separate: frozenset[TypeVariation] = frozenset(
            declared.variation
            for extension in extensions
            for declared in extension.variations.values()
            if declared.separate
        )
        """The type variations that functions of the parent type do not take."""
        self._resolved: dict[object, Resolution] = {}
        self._widened: dict[object, list[Type | None] | None] = {}

    @property
    def extensions(self) -> Mapping[str, Extension]:
        """The extensions by URN, in the order in which their overloads are preferred."""
        return self._extensions

    @property
    def urns(self) -> tuple[str, ...]:
        """The URNs of all extensions."""
        return tuple(self._extensions)

    def with_extension(self, extension: str | os.PathLike[str]) -> Catalog:
        """Add a user's extension behind the ones that are there, in a new catalogue.

        Args:
            extension: the path of a YAML file, or (a string of several lines) the YAML text itself.

        Raises:
            CatalogError: the file cannot be read or breaks the rules of extension files, depends on an extension
                that is not in the catalogue, or has the URN of another one that is.

        Specification: https://substrait.io/extensions/.

        Example:
            >>> shout = '''
            ... urn: extension:com.acme:texts
            ... scalar_functions:
            ...   - name: shout
            ...     impls: [{args: [{name: x, value: string}], return: string}]
            ... '''
            >>> my = sd.Functions(sd.standard_catalog().with_extension(shout))
            >>> print(customers.select(loud=lambda c: my.shout(c.name)).schema)
            0  loud  string
        """
        with error_context(verb="with_extension"):
            text, source = _text_of(extension)
        added = read_extension(text, source, self._extensions)
        present = self._extensions.get(added.urn)
        if present == added:
            return self
        if present is not None:
            raise CatalogError(f'{source} declares the URN "{added.urn}", which another extension of the catalogue has')
        return Catalog((*self._extensions.values(), added), self.relations)

    def with_relation(self, type_url: str, columns: Mapping[str, Type | str]) -> Catalog:
        """Declare the output of an extension relation, in a new catalogue.

        A plan does not say that of an ``ExtensionLeafRel``, ``ExtensionSingleRel`` or ``ExtensionMultiRel``: with this,
        a plan that has such a relation can be read.

        Args:
            type_url: The type URL of the relation's message, such as ``type.googleapis.com/acme.Scan``.
            columns: Their names and types, these as instances (``I64()``) or as text (``"string?"``).

        Raises:
            PlanFormatError: If the text of a type cannot be understood.
            InvalidArgumentError: If a type is not as its extension declares it.

        Specification: ``ExtensionLeafRel``, ``ExtensionSingleRel``, ``ExtensionMultiRel``.

        Example:
            >>> catalog = sd.standard_catalog().with_relation("type.acme.com/Scan", {"id": "i64"})
            >>> list(catalog.relations)
            ['type.acme.com/Scan']
        """
        with error_context(verb="with_relation"):
            require(type_url, str, "the type URL of a message is a str")
            require(columns, Mapping, "the columns are a dict of types by name")
            urns = self.type_urns()
            types: dict[str, Type] = {}
            for name, kind in columns.items():
                require(name, str, "the name of a column is a str")
                require(kind, (Type, str), f'the type of column "{name}" is a type, or its text')
                types[name] = parse_type(kind, urns=urns) if isinstance(kind, str) else kind
                problem = problem_in(self._extensions, types[name])
                if problem is not None:
                    raise InvalidArgumentError(f'column "{name}": {problem}')
        return Catalog(tuple(self._extensions.values()), {**self.relations, type_url: NamedStruct.of(types)})

    # --- copying

    def __reduce__(self) -> tuple[Any, ...]:
        standard = standard_catalog()
        if self is standard:
            return standard_catalog, ()
        known = standard.extensions
        parts = [each.urn if known.get(each.urn) is each else each for each in self._extensions.values()]
        return _catalog, (parts, dict(self.relations))

    # --- looking up

    def type_urns(self) -> dict[str, str]:
        """Map each name of a user-defined type or variation to its URN, as `parse_type` wants it; the first wins.

        Specification: https://substrait.io/extensions/.

        Example:
            >>> sd.standard_catalog().type_urns()["geometry"]
            'extension:io.substrait:functions_geometry'
        """
        urns: dict[str, str] = {}
        for extension in self._extensions.values():
            for name in (*extension.types, *extension.variations):
                urns.setdefault(name, extension.urn)
        return urns

    def chosen(self, urn: str | None) -> tuple[Extension, ...]:
        """Find the extension of a URN, or all of them.

        Args:
            urn: the URN; None for all.

        Raises:
            FunctionNotFoundError: there is none of that URN, with the nearest one.

        Specification: https://substrait.io/extensions/.

        Example:
            >>> [extension.urn for extension in sd.standard_catalog().chosen("extension:io.substrait:functions_set")]
            ['extension:io.substrait:functions_set']
        """
        if urn is None:
            return tuple(self._extensions.values())
        require(urn, str, "the URN of an extension is a str")
        if urn not in self._extensions:
            raise resolution_errors.unknown_extension(urn, self.urns)
        return (self._extensions[urn],)

    def functions(self, kind: Kinds = None) -> Iterator[Function]:
        """List the functions, in the order of the files; those of one name in several files come once for each.

        Args:
            kind: scalar, aggregate or window, several, or None for all.

        Specification: https://substrait.io/extensions/.

        Example:
            >>> "sum" in {function.name for function in sd.standard_catalog().functions("aggregate")}
            True
        """
        kinds = _kinds(kind)
        for extension in self._extensions.values():
            for functions in extension.functions.values():
                yield from (function for function in functions if function.kind in kinds)

    def by_name(self, kind: Kinds = None) -> dict[str, list[Function]]:
        """Group the functions by name, names in alphabetical order.

        Args:
            kind: scalar, aggregate or window, several, or None for all.

        Specification: https://substrait.io/extensions/.

        Example:
            >>> "sum" in sd.standard_catalog().by_name("aggregate")
            True
        """
        grouped: dict[str, list[Function]] = {}
        for function in self.functions(kind):
            grouped.setdefault(function.name, []).append(function)
        return dict(sorted(grouped.items()))

    def overloads(self) -> Iterator[Overload]:
        """List every overload of every extension.

        Specification: https://substrait.io/extensions/.

        Example:
            >>> "sum:i64" in {overload.key for overload in sd.standard_catalog().overloads()}
            True
        """
        for extension in self._extensions.values():
            yield from extension.overloads()

    def named(self, name: str, kind: Kinds = None, urn: str | None = None) -> tuple[Function, ...]:
        """Find the functions of a name, in the order in which their overloads are preferred.

        Args:
            name: the name.
            kind: scalar, aggregate or window, several, or None for all.
            urn: the extension to look in; all of them if None.

        Raises:
            FunctionNotFoundError: there is none, with the nearest name; or no extension of that URN.

        Specification: https://substrait.io/extensions/.

        Example:
            >>> [function.kind for function in sd.standard_catalog().named("row_number")]
            ['window']
        """
        require(name, str, "the name of a function is a str")
        kinds = _kinds(kind)
        extensions = self.chosen(urn)
        found = [function for each in extensions if name in each.functions for function in each.functions[name]]
        of_kind = tuple(function for function in found if function.kind in kinds)
        if not of_kind:
            raise resolution_errors.unknown_function(
                name,
                kinds,
                lambda: (known for each in extensions for known in each.functions),
                sorted({function.kind for function in found}),
            )
        return of_kind

    def overload(self, urn: str, key: str) -> Overload:
        """Find the overload that a plan's function declaration names: ``add:i64_i64`` of an extension.

        Args:
            urn: the extension.
            key: the name and the short names of the argument types.

        Raises:
            FunctionNotFoundError: the extension or the signature is unknown, with the nearest one.

        Specification: ``SimpleExtensionDeclaration.ExtensionFunction``.

        Example:
            >>> sd.standard_catalog().overload("extension:io.substrait:functions_arithmetic", "add:i64_i64").key
            'add:i64_i64'
        """
        require(urn, str, "the URN of an extension is a str")
        require(key, str, "the signature of a function is a str")
        name = key.partition(":")[0]
        overloads = [each for function in self.named(name, urn=urn) for each in function.overloads]
        for overload in overloads:
            if overload.key == key:
                return overload
        keys = [overload.key for overload in overloads]
        raise FunctionNotFoundError(
            f'"{urn}" has no function with the signature "{key}"; those of {name} are {", ".join(keys)}',
            hint=lambda: suggestion(key, keys),
        )

    # --- resolving

    def resolve(
        self,
        kind: Kinds,
        name: str,
        arguments: Sequence[CallArgument],
        *,
        options: Mapping[str, Sequence[str]] = _NO_OPTIONS,
        urn: str | None = None,
    ) -> Resolution:
        """Resolve a call to its overload, the types of its arguments, and its output type.

        Args:
            kind: The kind of function wanted, several, or None for any.
            name: The function's name.
            arguments: What is known of each argument.
            options: For each function option, the acceptable values in order of preference, in any case.
            urn: The extension to look in; all of them if None.

        Raises:
            FunctionNotFoundError: If there is no such function, or no overload takes the arguments.
            InvalidChoiceError: For an unknown option or option value.
            InvalidArgumentError: If an argument must be a literal (or a constant) and is not; for an option twice; if
                the output type does not exist, or is not as its extension declares it.
        """
        resolution = self._resolve(kind, name, tuple(arguments), urn)
        if not options:
            return resolution
        spelled = resolution.overload.resolve_options((name, tuple(values)) for name, values in options.items())
        return Resolution(resolution.overload, resolution.argument_types, resolution.output_type, spelled)

    def possible_cast(
        self, kind: Kinds, name: str, arguments: Sequence[CallArgument], urn: str | None = None
    ) -> str | None:
        """Say in words which cast of one argument makes a call fit that `resolve` refuses. It may lose something.

        None for a call of many arguments, each of which would be tried with the types of all others.

        Args:
            kind: the kind of function wanted, several, or None for any.
            name: the function's name.
            arguments: what is known of each argument.
            urn: the extension to look in; all of them if None.
        """
        if len(arguments) > resolution_errors.MAX_ARGUMENTS:
            return None
        try:
            functions = self.named(name, kind, urn)
        except FunctionNotFoundError:
            return None
        return casts.possible_cast(arguments, [each for function in functions for each in function.overloads])

    def widen(
        self, kind: Kinds, name: str, arguments: Sequence[CallArgument], urn: str | None = None
    ) -> list[Type | None] | None:
        """Find the casts of numbers, which lose no value, that make a call fit that `resolve` refuses.

        Args:
            kind: the kind of function wanted, several, or None for any.
            name: the function's name.
            arguments: what is known of each argument.
            urn: the extension to look in; all of them if None.

        Returns:
            For each argument the type that it is cast to, None if it stays; None if there are no such casts, or if an
            overload takes the arguments as they are.
        """
        if not any(map(widening.is_number, arguments)):
            return None
        call = (kind if isinstance(kind, str) else _kinds(kind), name, tuple(arguments), urn)
        is_remembered = all(map(stands_for_equals, arguments))
        if is_remembered and call in self._widened:
            return self._widened[call]
        try:
            functions = self.named(name, kind, urn)
        except FunctionNotFoundError:
            return None
        overloads = [each for function in functions for each in function.overloads]
        fits = choose(overloads, arguments, self.separate) is not None
        types = None if fits else widening.widen(name, arguments, overloads)
        if is_remembered:
            _remember(self._widened, call, types)
        return types

    def _resolve(self, kind: Kinds, name: str, arguments: tuple[CallArgument, ...], urn: str | None) -> Resolution:
        call = (kind if isinstance(kind, str) else _kinds(kind), name, arguments, urn)
        is_remembered = all(map(stands_for_equals, arguments))
        known = self._resolved.get(call) if is_remembered else None
        if known is not None:
            return known
        overloads = [each for function in self.named(name, kind, urn) for each in function.overloads]
        found = choose(overloads, arguments, self.separate)
        if found is None:
            raise resolution_errors.no_overload(name, arguments, overloads)
        resolution = Resolution(found.overload, found.arguments, output_type(found, arguments))
        problem = problem_in(self._extensions, resolution.output_type)
        if problem is not None:
            raise InvalidArgumentError(f"{name} of these arguments would give {resolution.output_type}, but {problem}")
        if is_remembered:
            _remember(self._resolved, call, resolution)
        return resolution


@cache
def standard_catalog() -> Catalog:
    """Return the catalogue of the installed specification's extensions.

    What a function declares is read when it is called.
    """
    return Catalog(standard_extensions())


def _catalog(parts: Sequence[Extension | str], relations: Mapping[str, NamedStruct]) -> Catalog:
    """Return the catalogue of extensions, of which the specification's own are given by their URNs."""
    known = standard_catalog().extensions
    return Catalog([known[each] if isinstance(each, str) else each for each in parts], relations)


def _remember(results: dict[object, T], call: object, result: T) -> None:
    """Store the result for a call; where there are too many, all are forgotten first."""
    if len(results) >= MEMORY:
        results.clear()
    results[call] = result


def _kinds(kind: Kinds) -> tuple[Kind, ...]:
    if kind is None:
        return KINDS
    kinds = (kind,) if isinstance(kind, str) else kind
    if not isinstance(kinds, list | tuple) or not all(each in KINDS for each in kinds):
        raise InvalidChoiceError.of_word("kind of function", kind, KINDS)
    return tuple(kinds)


def _text_of(extension: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the text of an extension, and what to call it in messages."""
    if isinstance(extension, str) and "\n" in extension:
        return extension, "extension text"
    require(extension, (str, os.PathLike), "an extension is the path of a YAML file, or its text")
    try:
        with open(extension, encoding="utf-8") as file:
            return file.read(), os.path.basename(extension)
    except (OSError, ValueError) as error:  # no such file, no name of a file, no text
        raise CatalogError(f"cannot read the extension file {os.fspath(extension)}: {error}") from error
