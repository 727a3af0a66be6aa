"""What the plugin's answers depend on: its own code, the rules and verbs that it calls, the extension files."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_PARTS = ("algebra", "catalog", "fluent", "mypy_plugin")
"""The subpackages that an answer can follow from."""


@cache
def digest() -> str:
    """A digest of every file that an answer can follow from, without importing any of them."""
    package = Path(__file__).parent.parent
    files = [file for part in _PARTS for file in sorted((package / part).rglob("*.py"))]
    files += [package / "errors.py", package / "functions.py"]
    extensions = find_spec("substrait_extensions.extensions")
    for place in (extensions.submodule_search_locations or ()) if extensions else ():
        files += sorted(Path(place).glob("*.yaml"))
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()
