"""What is installed beside the library, and the command line where its output is cut off."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

from substrait_dsl import proto
from substrait_dsl.catalog import standard
from substrait_dsl.errors import CatalogError, UnsupportedError

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


@pytest.mark.parametrize("version", ["0.85.0", "0.107.0", "1.106.0"])
def test_messages_of_another_version(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: version)
    with pytest.raises(UnsupportedError, match=f"substrait-protobuf 0.106, but {version} is installed") as caught:
        proto.require_messages()
    assert caught.value.hint == 'pip install "substrait>=0.37,<0.38"'


def test_messages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(UnsupportedError, match="the package substrait-protobuf is not installed"):
        proto.require_messages()


def test_extension_files_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> ModuleType:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(standard, "files", missing)
    with pytest.raises(CatalogError, match="the package substrait-extensions is not installed"):
        standard.standard_extensions()


def test_what_to_install_is_what_the_project_requires() -> None:
    required = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    (substrait,) = [each for each in required if each.startswith("substrait")]
    assert f'pip install "{substrait}"' == standard.INSTALL
    assert tuple(metadata.version("substrait-protobuf").split(".")[:2]) == standard.MESSAGES
    assert tuple(metadata.version("substrait-extensions").split(".")[:2]) == standard.MESSAGES


def test_output_that_nobody_reads_to_its_end() -> None:
    """As with ``| head -1``."""
    command = [sys.executable, "-m", "substrait_dsl.cli", "demo", "--no-rows"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()  # before it writes anything
    assert program.stderr.read() == b""
    assert program.wait(timeout=60) == 0
    program.stderr.close()
