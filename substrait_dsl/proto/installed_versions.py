"""Versions of installed distributions.

``importlib.metadata`` says the same, but it loads the modules of the standard library for mail, archives and sockets,
which would be a tenth of the time in which a program imports the library and writes its first plan.
"""

from __future__ import annotations

import os
import sys


def find_version(distribution: str) -> str | None:
    """Find the version of an installed distribution.

    It is in the name of the folder that installers write, such as ``substrait_protobuf-0.106.0.dist-info``, as
    https://packaging.python.org/en/latest/specifications/recording-installed-packages/ has it. Of several folders the
    first on `sys.path` counts, and of distributions that are not in a folder, ``importlib.metadata`` knows.

    Args:
        distribution: The name, in lower case, with ``_`` between its words.

    Returns:
        The version, or None if the distribution is not installed.
    """
    for place in sys.path:
        for name in _names_in(place or "."):
            if name.startswith(f"{distribution}-") and name.endswith(".dist-info"):
                return name.removeprefix(f"{distribution}-").removesuffix(".dist-info")
    from importlib import metadata  # for the few that are installed otherwise, or not at all

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # it may be an archive, or not be there
        return []
