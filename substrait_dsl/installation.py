"""How the library was installed, and the command that installs an extra of it, for hints."""

from __future__ import annotations

import shlex
from urllib.parse import unquote, urlsplit

NAME = "substrait-dsl"
"""The name of the distribution."""


def install_line(extra: str, *packages: str) -> str:
    """Write the line that installs an extra of the library, from where the library itself was installed.

    Args:
        extra: the extra.
        packages: requirements of other packages that belong to it.

    Returns:
        ``pip install`` with the folder, the file or the repository that the library came from (PEP 610); with its name,
        if that was an index, or is not known any more.
    """
    return " ".join(("pip install", *map(_argument, (_requirement(extra), *packages))))


def _argument(requirement: str) -> str:
    """Return a requirement as a word of a shell's.

    In double quotes, which all of them know, if they mean nothing in it.
    """
    return shlex.quote(requirement) if any(sign in requirement for sign in '"$`\\') else f'"{requirement}"'


def _requirement(extra: str) -> str:
    import json
    from importlib.metadata import PackageNotFoundError, distribution  # which takes long, and is for hints alone
    from pathlib import Path

    named = f"{NAME}[{extra}]"
    try:
        found = json.loads(distribution(NAME).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return named
    url = str(found.get("url", ""))
    if "vcs_info" in found:
        commit = found["vcs_info"].get("commit_id")
        return f"{named} @ {found['vcs_info'].get('vcs')}+{url}" + (f"@{commit}" if commit else "")
    if url.startswith("file:") and Path(path := unquote(urlsplit(url).path)).exists():
        return f"{path}[{extra}]"
    return named
