"""Programs that try to have their checker run something: it runs nothing, reads nothing of theirs, and comes to an end.

mypy runs in a process that hears Python's audit events. By hand, any number of programs:
``python -m tests.test_typing_escapes SEED COUNT``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.projects import Project
from tests.typing_escapes import CANARY, programs

COUNT = 200
"""How many attempts a run of mypy checks."""

LISTENING = """
import sys

RUNNING = ("os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.kill",
           "subprocess.", "socket.", "shutil.", "ctypes.", "webbrowser.", "urllib.", "ftplib.", "smtplib.",
           "code.__new__", "builtins.input", "pickle.", "gc.get", "sys.settrace", "sys.setprofile", "pty.")
WATCHED = ("secret", "PWNED", "canary")
seen = []


def hear(event, arguments):
    if event.startswith(RUNNING):
        seen.append(f"{event} {arguments!r:.300}")
    if event == "os.remove" and not str(arguments[0]).startswith("cache"):
        seen.append(f"remove {arguments[0]}")
    if event == "import" and str(arguments[0]).startswith("canary"):
        seen.append(f"import {arguments[0]}")
    if event == "open" and any(word in str(arguments[0]) for word in WATCHED):
        name, mode, flags = arguments
        if not str(name).endswith(("canary.py", ".json", ".ff")) or "w" in (mode or "") and str(name).endswith(".py"):
            seen.append(f"open {arguments!r}")


sys.addaudithook(hear)
from mypy import api

said, errors, status = api.run(sys.argv[1:])
print(said[-2000:], errors, sep="\\n")
print("STATUS", status)
print(*map("EVENT {}".format, seen), sep="\\n")
"""
"""mypy itself reads the program's modules, as text, and its caches."""


def attempted(seed: str, count: int, path: Path, cache: Path | None) -> list[str]:
    """What happens while mypy checks so many attempts; nothing should."""
    project = Project(path / "project")
    if cache is not None:
        shutil.copytree(cache, project.path / "cache")
    project.write({"attempts.py": programs(seed, count), "canary.py": CANARY, "secret.yaml": "%YAML 1.2\n"})
    (path / "listening.py").write_text(LISTENING, encoding="utf-8")
    command = [sys.executable, str(path / "listening.py"), "--show-traceback", "--cache-dir", "cache", "attempts.py"]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, timeout=120 + count, check=False)
    assert "STATUS 1" in done.stdout.splitlines(), done.stdout[-3000:] + done.stderr[-3000:]
    events = [line for line in done.stdout.splitlines() if line.startswith("EVENT ")]
    return events + [str(file) for file in project.path.rglob("*PWNED*")]


@pytest.mark.parametrize("seed", ["s9"])
def test_no_program_has_its_checker_run_anything(seed: str, library_cache: Path, tmp_path: Path) -> None:
    assert attempted(seed, COUNT, tmp_path, library_cache) == []


def main(seed: str, count: str) -> int:
    """Print what happens while mypy checks so many attempts."""
    with tempfile.TemporaryDirectory() as path:
        found = attempted(seed, int(count), Path(path), None)
    print(*found, f"{len(found)} of {count}", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
