"""The extension files of the specification, read a function at a time.

Reading all files takes tens of milliseconds, and a program calls a handful of functions. So the files are scanned for
the lines where functions are declared, which takes a millisecond, and only the text of a function that is used is
parsed. This relies on the layout of the specification's files (entries are indented by two spaces); a user's file is
parsed completely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from substrait_dsl.algebra.functions import FunctionId
from substrait_dsl.catalog.entries import Entry, TypeTexts, read_yaml
from substrait_dsl.catalog.load import FUNCTION_SECTIONS, read_function, read_header
from substrait_dsl.catalog.records import Extension, Function, Kind
from substrait_dsl.errors import CatalogError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SECTION = re.compile(r"^(\w+):", re.MULTILINE)
_FUNCTION = re.compile(r"""^  -\s+name: *["']?(\w+)["']? *$""", re.MULTILINE)

MESSAGES = ("0", "106")
"""The version of the specification's messages and extension files that the library is written for."""

PACKAGE = "substrait_extensions.extensions"
"""Where they are."""

INSTALL = 'pip install "substrait>=0.37,<0.38"'
"""The command that installs them."""

OWN_URNS = "extension:io.substrait:"
"""How the URNs of the specification's own extensions begin."""

PREFERRED_ORDER = ("functions_aggregate_generic", "functions_aggregate_decimal_output")
"""Files that declare the same signatures: the one whose overloads are taken first, then the other."""


def is_specified(function: FunctionId) -> bool:
    """Return whether a function is from an extension of the specification."""
    return function.urn.startswith(OWN_URNS)


def standard_extensions() -> tuple[Extension, ...]:
    """Return the extensions of the installed specification, in the order in which their overloads are preferred."""
    found = {
        file.name.removesuffix(".yaml"): file.read_text(encoding="utf-8")
        for file in _folder().iterdir()
        if file.name.endswith(".yaml") and not file.name.endswith("schema.yaml")
    }
    return tuple(_read_lazily(found[stem], f"{stem}.yaml") for stem in sorted(found, key=_preference))


def _folder() -> Path | Traversable:
    """Return the folder of the extension files."""
    try:
        spec = find_spec(PACKAGE)
    except ModuleNotFoundError:  # there is no package around it either
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise CatalogError("the package substrait-extensions is not installed", hint=INSTALL)
    folder = Path(spec.submodule_search_locations[0])
    if folder.is_dir():
        return folder
    from importlib.resources import files  # for an archive: what loads it takes longer than to read all the files

    return files(PACKAGE)


def _preference(stem: str) -> tuple[str, int]:
    """Alphabetical order, with the second of the preferred files directly behind the first."""
    first, second = PREFERRED_ORDER
    return (first, 1) if stem == second else (stem, 0)


def _read_lazily(text: str, source: str) -> Extension:
    sections = dict(_slices(_SECTION, text, 0, len(text)))
    header = "".join(text[start:end] for name, (start, end) in sections.items() if name not in FUNCTION_SECTIONS)
    extension, texts = read_header(Entry.of(read_yaml(header, source), source), source, {})
    places: dict[str, list[tuple[Kind, str]]] = {}
    for section, kind in FUNCTION_SECTIONS.items():
        for name, (start, end) in _slices(_FUNCTION, text, *sections.get(section, (0, 0))):
            places.setdefault(name, []).append((kind, text[start:end]))
    functions = _LazyFunctions(places, extension.urn, source, texts)
    return Extension(
        extension.urn, functions, extension.types, extension.variations, extension.dependencies, extension.description
    )


def _slices(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the names that a pattern finds, with the stretch of text up to the next one."""
    found = list(pattern.finditer(text, start, end))
    starts = [match.start() for match in found]
    for match, stop in zip(found, [*starts[1:], end], strict=False):
        yield match[1], (match.start(), stop)


class _LazyFunctions(Mapping[str, tuple[Function, ...]]):
    """The functions of a file by name, each parsed when it is first asked for."""

    def __init__(self, places: Mapping[str, list[tuple[Kind, str]]], urn: str, source: str, texts: TypeTexts) -> None:
        self._places = places
        self._urn = urn
        self._source = source
        self._texts = texts
        self._read: dict[str, tuple[Function, ...]] = {}

    def __getitem__(self, name: str) -> tuple[Function, ...]:
        if name not in self._read:
            self._read[name] = tuple(self._parse(kind, text) for kind, text in self._places[name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _parse(self, kind: Kind, text: str) -> Function:
        entry, *_ = Entry.of({"functions": read_yaml(text, self._source)}, self._source).entries("functions")
        return read_function(kind, entry, self._source, self._urn, self._texts)
