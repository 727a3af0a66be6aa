"""User-defined types in Parquet files: a class that a file names is never loaded.

A Parquet file that Spark wrote has a key with its columns in Spark's types. For a user-defined type it names a Java
class, which Spark instantiates when it looks at the file, and a Python class, whose module pyspark imports when the
schema is requested. Anyone can write such a key. So files on this machine are checked before Spark looks at them, and
Spark's answer for others is checked before pyspark makes classes of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from substrait_dsl.errors import UnsupportedError, quote
from substrait_dsl.spark.sources.paths import local_paths

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import FileItem

KEY = "org.apache.spark.sql.parquet.row.metadata"
"""The key of a Parquet file with its columns in Spark's types."""

_CLASSES_OF_SPARK = frozenset(
    f"org.apache.spark.{library}.linalg.{name}UDT" for library in ("ml", "mllib") for name in ("Vector", "Matrix")
)
"""Spark's own user-defined types."""

_WITHOUT_CLASS = "write the file anew without that key, with pyarrow: table.replace_schema_metadata(None)"


def require_known_classes(files: Iterable[FileItem], found: Iterable[str] = ()) -> None:
    """Raise `UnsupportedError` for a Parquet file on this machine whose key names a class that is not Spark's own.

    Args:
        files: what is read.
        found: the URIs of the files that Spark finds there, which only it knows of a pattern.
    """
    here = [path for item in files for path in local_paths(item)]
    here += [unquote(parts.path) for parts in map(urlsplit, found) if parts.scheme == "file"]
    for path in dict.fromkeys(_paths_below(here)):
        classes = _classes_in_key(path) - _CLASSES_OF_SPARK
        if classes:
            raise UnsupportedError(
                f"the file {path} names the class {quote(sorted(classes))} for a column of a user-defined type, "
                f"in its key {KEY}: a file does not choose what code is loaded",
                hint=_WITHOUT_CLASS,
            )


def _paths_below(paths: Iterable[str]) -> Iterator[str]:
    """Return all files below some paths, summary files included."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, _, names in os.walk(path):
            yield from (os.path.join(folder, name) for name in sorted(names))


def _classes_in_key(path: str) -> set[str]:
    """Return the classes of user-defined types in the key of a Parquet file; none for another file."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        key = (parquet.read_metadata(path).metadata or {}).get(KEY.encode())
    except (OSError, pa.ArrowException):
        return set()  # Spark reports the mistake
    return set() if key is None else _classes_in(key)


def _classes_in(text: bytes) -> set[str]:
    """Return the classes in the text of a key: of each object in it that has one, and "?" for invalid JSON."""
    found: set[str] = set()

    def look_at(pairs: list[tuple[str, Any]]) -> None:
        # Of a name that is there twice, every value counts: which one Java takes is not known here.
        if any(name == "type" and value == "udt" for name, value in pairs):
            found.update(str(value) for name, value in pairs if name in ("class", "pyClass"))
            if not any(name == "class" for name, _ in pairs):
                found.add("?")

    if not text.lstrip().startswith(b"{"):
        return found  # as Spark wrote it before it was JSON, without classes
    try:
        json.loads(text, object_pairs_hook=look_at)
    except (ValueError, RecursionError):
        found.add("?")
    return {name for name in found if not name.startswith("pyspark.")}


_is_guarded: ContextVar[bool] = ContextVar("_is_guarded", default=False)
_MAKER = "fromJson"
"""The method of pyspark that makes a user-defined type from JSON."""


@contextmanager
def refuse_classes_of_files(what: str) -> Iterator[None]:
    """Refuse Python classes that files name, while the columns of files are requested.

    Raises:
        UnsupportedError: a column is of a type that is written in Python, whose name and pickle come from the file.
    """
    _guard_user_types()
    token = _is_guarded.set(True)
    try:
        yield
    except Exception as error:
        errors = (error, error.__cause__, error.__context__)  # pyspark raises another one in its place
        chosen = next((each for each in errors if isinstance(each, _ClassOfFileError)), None)
        if chosen is None:
            raise
        raise UnsupportedError(
            f"{what} finds a column of a user-defined type that is written in Python, and the file names its class, "
            f"{quote([str(chosen)])}: a file does not choose what code is loaded",
            hint=_WITHOUT_CLASS,
        ) from error
    finally:
        _is_guarded.reset(token)


class _ClassOfFileError(Exception):
    """A file names a Python class for a user-defined type."""


@cache
def _guard_user_types() -> None:
    """Wrap pyspark's method for user-defined types with a check, which is active inside of the guard only."""
    from pyspark.sql.types import UserDefinedType

    unguarded = UserDefinedType.fromJson

    def from_json(cls: type[UserDefinedType], json: dict[str, Any]) -> UserDefinedType:
        # Of a type that is written in Java, the Python class is named by Java, not by the file.
        if _is_guarded.get() and json.get("serializedClass") is not None:
            raise _ClassOfFileError(str(json.get("pyClass")))
        return unguarded(json)

    setattr(UserDefinedType, _MAKER, classmethod(from_json))
