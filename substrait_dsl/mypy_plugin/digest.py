"""What the plugin's answers depend on: the library's own code, which it calls, its hints, and the extension files."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path


def find_files() -> list[Path]:
    """Every file that an answer can follow from, found without importing any of them."""
    library = Path(__file__).parent.parent
    found = [*sorted(library.rglob("*.py")), *sorted(library.glob("hints/*.toml"))]
    extensions = find_spec("substrait_extensions")  # to ask for a package inside of it would import it
    for place in (extensions.submodule_search_locations or ()) if extensions else ():
        found += sorted(Path(place, "extensions").glob("*.yaml"))
    return found


@cache
def compute_digest() -> str:
    """A digest of all these files."""
    found = hashlib.sha256()
    for path in find_files():
        with open(path, "rb", buffering=0) as file:  # each run of mypy waits for these some hundred files
            found.update(file.readall())
    return found.hexdigest()
