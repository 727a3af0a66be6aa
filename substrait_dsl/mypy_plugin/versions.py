"""The versions of mypy that the plugin is tested with. The interface for plugins may change with each minor version."""

from __future__ import annotations

import re
import sys

from substrait_dsl.installation import install_line

OLDEST, NEWEST = (2, 2), (2, 4)
"""The tested range of minor versions, which the extra ``mypy`` of the package has, too.

Versions before 2.2 report no errors inside of comprehensions; those before 1.19 refuse the codes of plugins in a
configuration file.
"""


def require_tested(version: str) -> None:
    """Refuse an older version of mypy, which is known not to work. Print a warning for a newer one, which may work."""
    found = re.match(r"(\d+)\.(\d+)", version)
    minor = (int(found[1]), int(found[2])) if found else NEWEST
    if OLDEST <= minor <= NEWEST:
        return
    oldest, newest = (".".join(map(str, bound)) for bound in (OLDEST, NEWEST))
    text = f"the plugin is tested with mypy {oldest} to {newest}, and this is {version}"
    if minor < OLDEST:
        raise ImportError(f"{text}; {install_line('mypy')}")
    print(f"substrait_dsl.mypy_plugin: {text}", file=sys.stderr)
