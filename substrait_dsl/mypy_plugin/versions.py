"""The versions of mypy that the plugin works with. What plugins use of mypy may change with each minor version."""

from __future__ import annotations

import re
import sys

from substrait_dsl.installation import install_line

OLDEST, NEWEST = (2, 2), (2, 4)
"""The tested range of minor versions; the extra ``mypy`` of the package says it, too.

Versions before 2.2 are silent about mistakes inside of comprehensions; those before 1.19 refuse the codes of plugins in
a configuration file.
"""


def require_tested(version: str) -> None:
    """Refuse an older version of mypy, which is known not to do, and say so of a newer one, which may do."""
    found = re.match(r"(\d+)\.(\d+)", version)
    minor = (int(found[1]), int(found[2])) if found else NEWEST
    if OLDEST <= minor <= NEWEST:
        return
    oldest, newest = (".".join(map(str, bound)) for bound in (OLDEST, NEWEST))
    text = f"the plugin is tested with mypy {oldest} to {newest}, and this is {version}"
    if minor < OLDEST:
        raise ImportError(f"{text}; {install_line('mypy')}")
    print(f"substrait_dsl.mypy_plugin: {text}", file=sys.stderr)
