"""The line that installs an extra: from where the library itself was installed, by its direct URL (PEP 610)."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from substrait_dsl.installation import install_line


class Distribution:
    """An installed distribution that has the record of a direct URL, or none."""

    def __init__(self, direct_url: str | None) -> None:
        self.direct_url = direct_url

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.direct_url


def installed(monkeypatch: pytest.MonkeyPatch, direct_url: object) -> None:
    text = None if direct_url is None else json.dumps(direct_url)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Distribution(text))


def words(line: str) -> list[str]:
    """The words of a line, as a shell reads it."""
    assert line.startswith("pip install ")
    return shlex.split(line)[2:]


@pytest.mark.parametrize("name", ["clone", "my clone", "a$b", 'a"b', "it's", "ünï", "a%20b"])
@pytest.mark.parametrize("info", [{"dir_info": {"editable": True}}, {"dir_info": {}}, {"archive_info": {}}])
def test_from_a_folder_or_a_file(
    name: str, info: dict[str, object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    installed(monkeypatch, {"url": folder.as_uri(), **info})
    assert words(install_line("local")) == [f"{folder}[local]"]
    folder.rmdir()
    assert words(install_line("local")) == ["substrait-dsl[local]"]


def test_from_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, None)
    assert words(install_line("connect", "pysail>=0.7.2,<0.8")) == ["substrait-dsl[connect]", "pysail>=0.7.2,<0.8"]
    assert install_line("local") == 'pip install "substrait-dsl[local]"'


def test_from_a_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    vcs = {"vcs": "git", "commit_id": "0123abc"}
    installed(monkeypatch, {"url": "https://git.example/substrait-dsl.git", "vcs_info": vcs})
    (word,) = words(install_line("mypy"))
    requirement = Requirement(word)
    assert (requirement.name, requirement.extras) == ("substrait-dsl", {"mypy"})
    assert requirement.url == "git+https://git.example/substrait-dsl.git@0123abc"


def test_without_its_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Distribution:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert words(install_line("java")) == ["substrait-dsl[java]"]


def test_this_one_was_installed_from_a_folder_with_the_extra() -> None:
    (word,) = words(install_line("local"))
    folder = Path(word.removesuffix("[local]"))
    assert "local = [" in (folder / "pyproject.toml").read_text(encoding="utf-8")


def test_a_program_that_needs_no_hint_does_not_load_what_makes_it() -> None:
    program = """
import sys
import substrait_dsl as sd
sd.read_named("t", {"a": "i64"}).filter(lambda r: r.a > 1).to_plan().to_bytes()
print("importlib.metadata" in sys.modules, "substrait_dsl.installation" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False False\n"
