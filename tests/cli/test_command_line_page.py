"""The page on the command line: its examples print what it says, and it has all commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from substrait_dsl.cli import commands, main

PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")


def test_the_examples_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    [program] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(program, {})
    [console] = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    examples = re.findall(r"^\$ substrait-dsl (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE)
    assert len(examples) == 5
    for command, output in examples:
        main(shlex.split(command))
        assert capsys.readouterr().out == output


def test_all_commands_are_there() -> None:
    assert set(re.findall(r"^\| `(\w+)", PAGE, re.MULTILINE)) == set(commands.commands)
