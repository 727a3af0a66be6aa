"""A digest of what the plugin's answers depend on: the code of the library, its hints, and the extension files."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_LIBRARY = Path(__file__).parent.parent


def find_files() -> list[Path]:
    """Return every file that an answer may depend on, without importing any of them."""
    paths = [*sorted(_LIBRARY.rglob("*.py")), *sorted(_LIBRARY.glob("hints/*.toml"))]
    extensions = find_spec("substrait_extensions")  # to ask for a package inside of it would import it
    for folder in (extensions.submodule_search_locations or ()) if extensions else ():
        paths += sorted(Path(folder, "extensions").glob("*.yaml"))
    return paths


@cache
def compute_digest() -> str:
    """Return a digest of all these files."""
    result = hashlib.sha256()
    for path in find_files():
        with open(path, "rb", buffering=0) as file:  # each run of mypy waits for these some hundred files
            result.update(file.readall())
    return result.hexdigest()


def compute_digest_of_metadata(path: str) -> str | None:
    """Return a digest of a module with classes of Python whose columns have metadata, which mypy forgets; else None.

    What mypy knows of such a module is the same when only the metadata change, and yet what uses it is to be checked.
    """
    if "site-packages" in path or path.endswith(".pyi") or os.path.abspath(path).startswith(f"{_LIBRARY}{os.sep}"):
        return None
    try:
        with open(path, "rb", buffering=0) as file:
            text = file.readall()
    except OSError:
        return None
    has_metadata = b"max_digits" in text or (b"Annotated" in text and b"substrait" in text)
    return hashlib.sha256(text).hexdigest() if has_metadata else None
