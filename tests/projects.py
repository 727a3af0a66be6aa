"""Projects in a directory of their own, as their owners check them: with mypy and the plugin, from the command line."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

SETTINGS = """
[mypy]
strict = True
plugins = substrait_dsl.mypy_plugin
[mypy-substrait.*]
follow_untyped_imports = True
[mypy-pyarrow.*]
ignore_missing_imports = True
"""
"""mypy's daemon, started from a cache, objects to libraries that import what has no types, hence the last two lines."""

LIBRARY = """
import dataclasses, datetime, decimal, typing
import substrait_dsl as sd
from substrait_dsl import functions as f
"""
"""What fills a cache with the library, and with no project."""


class Project:
    """A directory with programs. Each file that changes gets a later time: mypy looks at whole seconds.

    Args:
        path: the directory, which is not there yet.
        cache: a cache of mypy's that it begins with; without one mypy checks the library first, which takes 14 s.
    """

    def __init__(self, path: Path, cache: Path | None = None) -> None:
        self.path = path
        self._texts: dict[str, str] = {}
        self._seconds = itertools.count(int(time.time()) - 10_000)
        path.mkdir()
        self.write({"mypy.ini": SETTINGS})
        if cache is not None:
            shutil.copytree(cache, path / ".mypy_cache")

    def write(self, texts: Mapping[str, str]) -> None:
        for name, text in texts.items():
            if self._texts.get(name) != text:
                (self.path / name).write_text(text, encoding="utf-8")
                os.utime(self.path / name, (moment := next(self._seconds), moment))
        self._texts.update(texts)

    def run(self, program: str, *arguments: str) -> str:
        """What a Python program says, here."""
        command = [sys.executable, "-m", program, *arguments]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=600, check=False)
        said = done.stdout + done.stderr
        assert done.returncode in (0, 1, 2), said
        assert "INTERNAL ERROR" not in said, said
        return said

    def checked(self, *arguments: str, program: str = "mypy") -> list[str]:
        """What mypy says, in the order of lines: without a cache modules may be checked in another order."""
        said = self.run(program, *arguments).splitlines()
        return sorted(line for line in said if not line.startswith(("Found ", "Success: ", "Daemon ")))
