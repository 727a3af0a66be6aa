"""What the command line does with terminals, closed streams and interrupts; most runs are a process of their own."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import substrait_dsl as sd
from substrait_dsl.cli import main
from tests.cli.test_plan_commands import run_program

CLEAR = "\x1b[2J"
"""It clears a terminal that obeys it."""
NAME = f"y{CLEAR}\nrows: all\x9b2J\u202e"


@pytest.fixture
def odd(tmp_path: Path) -> str:
    path = tmp_path / "odd.plan"
    source = sd.read_named(f"t{CLEAR}", {NAME: "i64", "s": sd.Struct.of({f"f{CLEAR}": sd.I64()})})
    source.filter(lambda t: t[0] > 5).to_plan().save(path)
    return str(path)


@pytest.fixture
def plain(tmp_path: Path) -> str:
    sd.read_named("t", {"id": "i64"}).to_plan().save(tmp_path / "plain.plan")
    return str(tmp_path / "plain.plan")


def run_on_terminal(arguments: list[str]) -> tuple[int, str]:
    """Run a command whose output and errors go to one terminal; the exit status, and what the terminal got."""
    main_end, other_end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "substrait_dsl", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=other_end,
        stderr=other_end,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "TERM": "dumb"},
    ) as process:
        os.close(other_end)
        content = b""
        while select.select([main_end], [], [], 60)[0]:
            try:
                part = os.read(main_end, 65536)
            except OSError:  # Linux says so where the other end is closed
                break
            if not part:
                break
            content += part
        status = process.wait(60)
    os.close(main_end)
    return status, content.decode().replace("\r\n", "\n")


def is_harmless(text: str) -> bool:
    return text.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "command",
    ["explain", "explain --json", "validate", "check --engine duckdb", "lineage", "lineage --json", "accesses",
     "digest", "schema --plan", "schema --plan --as ddl", "schema --plan --as json"],
)  # fmt: skip
def test_a_terminal_gets_no_control_characters(command: str, odd: str) -> None:
    _, text = run_on_terminal([*command.split(), odd])
    assert text
    assert is_harmless(text)
    if "--json" in command:
        json.loads(text)


@pytest.mark.parametrize(("form", "part"), [("sql", r"`t\x1b[2J`"), ("json", '"version"')])
def test_a_plan_in_another_form_on_a_terminal(form: str, part: str, tmp_path: Path) -> None:
    sd.read_named(f"t{CLEAR}", {NAME: "i64"}).to_plan().save(tmp_path / "x.plan")
    status, text = run_on_terminal(["convert", "--to", form, str(tmp_path / "x.plan"), "-"])
    assert (status, part in text, is_harmless(text)) == (0, True, True)


def test_the_binary_form_is_not_for_a_terminal(plain: str) -> None:
    status, text = run_on_terminal(["convert", plain, "-"])
    assert (status, "the binary form is not for a terminal" in text) == (2, True)


def test_a_page_is_not_for_a_terminal(plain: str) -> None:
    status, text = run_on_terminal(["view", plain])
    assert (status, "the page is not for a terminal: name a file with -o" in text) == (2, True)


@pytest.mark.parametrize("arguments", [["explain", f"none{CLEAR}"], ["sql", "select 1", "--table", f"t{CLEAR}"]])
def test_errors_on_a_terminal(arguments: list[str]) -> None:
    status, text = run_on_terminal(arguments)
    assert status in (1, 2)
    assert r"\x1b[2J" in text
    assert is_harmless(text)


def test_names_begin_no_line_of_their_own(odd: str, plain: str) -> None:
    """A pipe, too: who reads the lines takes them for those of the library."""
    for arguments in (["lineage", odd], ["diff", plain, odd], ["explain", f"none{CLEAR}\nx"]):
        done = run_program(arguments)
        text = (done.stdout + done.stderr).decode()
        assert r"\x1b[2J" in text
        assert is_harmless(text)
        assert "rows: all" not in text.splitlines()


def test_json_is_json_in_any_encoding(tmp_path: Path) -> None:
    sd.read_named("größe", {"é": "i64"}).to_plan().save(tmp_path / "x.plan")
    for encoding in ("ascii", "utf-8"):
        done = run_program(["lineage", "--json", str(tmp_path / "x.plan")], env={"PYTHONIOENCODING": encoding})
        [found] = json.loads(done.stdout)
        assert found["columns"][0]["name"] == "é"
    assert "é".encode() in done.stdout


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("explain - <&-", "Bad file descriptor: the standard input"),
        ("explain {} >&-", "Bad file descriptor: the standard output"),
        ("convert {} - >&-", "Bad file descriptor: the standard output"),
        ("--help >&-", "Bad file descriptor: the standard output"),
        ("explain {} >/dev/full", "No space left on device"),
    ],
)
def test_streams_that_are_closed_or_full(command: str, words: str, plain: str) -> None:
    line = f"{sys.executable} -m substrait_dsl {command.format(plain)}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"substrait-dsl: {words}\n")


def test_a_command_that_prints_nothing_needs_no_output(plain: str, tmp_path: Path) -> None:
    line = f"{sys.executable} -m substrait_dsl convert {plain} {tmp_path / 'x.json'} >&- 2>&-"
    assert subprocess.run(["bash", "-c", line]).returncode == 0
    assert json.loads((tmp_path / "x.json").read_text())["relations"]


class InterruptedInput(io.BytesIO):
    """An input while which is read the user presses Ctrl-C."""

    def read(self, size: int | None = -1, /) -> bytes:
        signal.raise_signal(signal.SIGINT)
        return super().read(size)


def test_an_interrupt_ends_it_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(InterruptedInput()))
    assert main(["explain", "-"]) == 130
    assert capsys.readouterr() == ("", "")
