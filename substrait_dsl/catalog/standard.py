"""The extension files of the specification, of which a function's declaration is read when it is first asked for.

To parse all files takes a tenth of a second, and to import PyYAML half as long as protobuf. So what they
hold stands in `parsed_extensions.json`, too, which ``python -m tests.catalog.parsed_extensions`` writes. The installed
files have the last word: one that differs from the one that was parsed, by its checksum, is parsed when it is needed.
"""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import attrs

from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.catalog.entries import Entry, TypeTexts, read_yaml
from substrait_dsl.catalog.load import FUNCTION_SECTIONS, read_function, read_header
from substrait_dsl.catalog.records import Extension, Function, Kind
from substrait_dsl.errors import CatalogError

PARSED = "parsed_extensions.json"
"""A file beside this module: the documents of the extension files by name, with the checksums of these files."""

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
    files, parsed = extension_files(), parsed_documents()
    return tuple(
        _read_lazily(_document(name, files[name], parsed.get(name)), name) for name in sorted(files, key=_preference)
    )


def extension_files() -> dict[str, bytes]:
    """Read the installed extension files; returns their contents by name.

    Raises:
        CatalogError: If the package that has them is not installed.
    """
    try:
        spec = find_spec(PACKAGE)
    except ModuleNotFoundError:  # there is no package around it either
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise CatalogError("the package substrait-extensions is not installed", hint=INSTALL)
    folder = spec.submodule_search_locations[0]
    if os.path.isdir(folder):
        return {name: _content(os.path.join(folder, name)) for name in os.listdir(folder) if _is_extension_file(name)}
    from importlib.resources import files  # for an archive: what loads it takes longer than to read all the files

    return {file.name: file.read_bytes() for file in files(PACKAGE).iterdir() if _is_extension_file(file.name)}


def parsed_documents() -> Mapping[str, Mapping[str, Any]]:
    """Return the parsed documents of extension files by name, each with the checksum of its file."""
    import json  # not at the top: importing the library must not cost what only a first function call needs

    loader: Any = __spec__.loader  # it reads archives, too
    content: bytes = loader.get_data(os.path.join(os.path.dirname(__file__), PARSED))
    parsed: Mapping[str, Mapping[str, Any]] = json.loads(content)
    return parsed


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _is_extension_file(name: str) -> bool:
    return name.endswith(".yaml") and not name.endswith("schema.yaml")


def _preference(name: str) -> tuple[str, int]:
    """Alphabetical order, with the second of the preferred files directly behind the first."""
    first, second = PREFERRED_ORDER
    stem = name.removesuffix(".yaml")
    return (first, 1) if stem == second else (stem, 0)


def _document(name: str, content: bytes, parsed: Mapping[str, Any] | None) -> object:
    """Return the document of a file: the one that was parsed ahead, if it was parsed from this very content."""
    if parsed is not None and parsed["crc32"] == crc32(content):
        return parsed["document"]
    return read_yaml(content.decode("utf-8"), name)


def _read_lazily(document: object, source: str) -> Extension:
    file = Entry.of(document, source)
    header, texts = read_header(file, source, {})
    functions: _Entries = {}
    for section, kind in FUNCTION_SECTIONS.items():
        for entry in file.entries(section):
            functions.setdefault(entry.require_text("name"), []).append((kind, entry))
    return attrs.evolve(header, functions=_LazyFunctions(functions, header.urn, source, texts))


_Entries = dict[str, list[tuple[Kind, Entry]]]
"""The entries of functions by name, each with the kind of function that its section lists."""


class _LazyFunctions(Mapping[str, tuple[Function, ...]]):
    """The functions of a file by name, each read when it is first asked for."""

    def __init__(
        self, entries: Mapping[str, list[tuple[Kind, Entry]]], urn: str, source: str, texts: TypeTexts
    ) -> None:
        self._entries = entries
        self._urn = urn
        self._source = source
        self._texts = texts
        self._read: dict[str, tuple[Function, ...]] = {}

    def __getitem__(self, name: str) -> tuple[Function, ...]:
        if name not in self._read:
            self._read[name] = tuple(
                read_function(kind, entry, self._source, self._urn, self._texts) for kind, entry in self._entries[name]
            )
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
