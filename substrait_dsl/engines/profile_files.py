"""Profile files: their paths, their text, and the check of their words against the specification."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from substrait_dsl.catalog.catalog import standard_catalog
from substrait_dsl.errors import CatalogError, nearest, quote, suggestion

ENDINGS = (".yaml", ".yml")
"""The endings of the names of profiles."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PART = re.compile(r"[a-z]+\d*")


def has_ending(name: str) -> bool:
    """Whether a name ends like that of a profile."""
    return name.lower().endswith(ENDINGS)


def require_no_url(engine: str | Path) -> None:
    """Raise `CatalogError` for a URL: nothing is fetched."""
    if isinstance(engine, str) and _URL.match(engine):
        raise CatalogError(
            f"a profile is a file of this machine, got the URL {engine}", hint="fetch it, and give the path of the file"
        )


def profile_text(path: Path) -> str:
    """Return the text of a profile or a dialect. Raises `CatalogError` as `file_bytes`, and for other than UTF-8."""
    data = file_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise CatalogError(f"cannot read {path}: it is no text in UTF-8 (byte 0x{byte:02x} at {error.start})") from None


def file_bytes(path: Path) -> bytes:
    """Return the bytes of a profile or dialect file.

    Raises:
        CatalogError: there is no such file, with the nearest one, or it cannot be read.
    """
    try:
        is_folder, is_other = path.is_dir(), path.exists() and not path.is_file()
        data = b"" if is_folder or is_other else path.read_bytes()
    except FileNotFoundError:
        raise CatalogError(f"cannot read {path}: there is no such file", hint=_missing_hint(path)) from None
    except OSError as error:
        raise CatalogError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:  # a path with a zero in it is no value
        raise CatalogError(f"cannot read {str(path)!r}: {error}") from error
    if is_folder:
        raise CatalogError(f"cannot read {path}: it is a folder", hint=_file_hint(path))
    if is_other:  # what is written to a pipe cannot be read twice
        raise CatalogError(f"cannot read {path}: it is no regular file")
    return data


def file_hint(engine: str) -> str | None:
    """Return a hint for the name of a file in place of an engine; None where there is no such file."""
    try:
        path = Path(engine)
        if engine and path.is_dir():
            return _file_hint(path)
        if engine and path.is_file():
            return f"the name of a profile ends in {' or '.join(ENDINGS)}, which that of the file {engine} does not"
        found = [f"{engine}{ending}" for ending in ENDINGS if engine and Path(f"{engine}{ending}").is_file()]
    except (OSError, ValueError):
        return None
    return f'write "{found[0]}" for the file' if found else None


def _file_hint(folder: Path) -> str | None:
    found = sorted(each.name for each in folder.iterdir() if has_ending(each.name))
    return f"give the path of a file in it: {quote(found, limit=5)}" if found else None


def _missing_hint(path: Path) -> str | None:
    if str(path).startswith("~"):
        return "~ is no folder here: write Path(...).expanduser()"
    folder = path.parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    near = nearest(path.name, (each.name for each in folder.iterdir() if each.is_file()))
    return None if near is None else f'did you mean "{folder / near}"?'


# --- words


def require_known_functions(functions: Iterable[tuple[str, str, str]], source: str) -> None:
    """Raise `CatalogError` for an unknown function of an extension of the specification.

    Args:
        functions: kinds, URNs, and names with signatures. A signature that the extension does not have is one of
            another version, if it is made of types.
        source: what to call the file.
    """
    catalog = standard_catalog()
    for function_type, urn, key in sorted(functions):
        if urn not in catalog.urns:
            if urn.startswith("extension:io.substrait:") or ":" not in urn:
                raise CatalogError(
                    f'{source}, dependencies: the specification has no extension "{urn}"',
                    hint=suggestion(urn, catalog.urns),
                )
            continue
        name, _, signature = key.partition(":")
        known = catalog.extensions[urn].functions
        where = f"{source}, supported_{function_type.replace(' ', '_')}s"
        if name not in known:
            raise CatalogError(f'{where}: "{urn}" has no function "{name}"', hint=suggestion(name, known))
        keys = [overload.key for function in known[name] for overload in function.overloads]
        if key not in keys and not set(signature.split("_")) <= _type_words():
            signatures = [each.partition(":")[2] for each in keys]
            raise CatalogError(
                f'{where}: {name} has no signature "{signature}"; expected {quote(signatures, limit=8)}',
                hint=suggestion(signature, signatures),
            )


@cache
def _type_words() -> set[str]:
    """Return the parts of signatures: the short names of types, and ``any`` and ``req``."""
    keys = (overload.key.partition(":")[2] for overload in standard_catalog().overloads())
    return {part for key in keys for part in key.split("_") if _PART.fullmatch(part)}


def require_known_options(options: Mapping[str, tuple[str, ...]], where: str) -> None:
    """Raise `CatalogError` for an option, or a value of one, that no function of the specification has.

    Args:
        options: values by the names of options, alone or behind a function or an extension: ``abs.overflow``.
        where: what to call the mapping.
    """
    known, names = _known_options()
    for written, values in options.items():
        owner, _, name = written.rpartition(".")
        if owner and owner not in names:
            raise CatalogError(
                f'{where}: there is no function and no extension "{owner}"', hint=suggestion(owner, names)
            )
        if name not in known:
            raise CatalogError(f'{where}: no function has an option "{name}"', hint=suggestion(name, known))
        for value in values:
            if value not in known[name]:
                raise CatalogError(
                    f'{where}, {written}: there is no value "{value}"; expected {quote(sorted(known[name]))}',
                    hint=suggestion(value, known[name]),
                )


@cache
def _known_options() -> tuple[Mapping[str, set[str]], set[str]]:
    """Return the values of options by name, and the names of functions and extensions, of the specification."""
    known: dict[str, set[str]] = {}
    names: set[str] = set()
    for extension in standard_catalog().extensions.values():
        names.add(extension.urn.rpartition("functions_")[2])
        for overload in extension.overloads():
            names.add(overload.key.partition(":")[0])
            for option in overload.options:
                known.setdefault(option.name.lower(), set()).update(value.upper() for value in option.values)
    return known, names
