"""What is installed beside the library, and the command line where its output is cut off."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module, metadata
from pathlib import Path

import pytest

from substrait_dsl import proto
from substrait_dsl.catalog import standard, standard_catalog
from substrait_dsl.errors import CatalogError, UnsupportedError
from substrait_dsl.proto.installed_versions import find_version

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


@pytest.mark.parametrize("version", ["0.85.0", "0.107.0", "1.106.0"])
def test_messages_of_another_version(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proto, "find_version", lambda name: version)
    with pytest.raises(UnsupportedError, match=f"substrait-protobuf 0.106, but {version} is installed") as caught:
        proto.require_messages()
    assert caught.value.hint == 'pip install "substrait>=0.37,<0.38"'


def test_messages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proto, "find_version", lambda name: None)
    with pytest.raises(UnsupportedError, match="the package substrait-protobuf is not installed"):
        proto.require_messages()


@pytest.mark.parametrize("name", ["substrait_protobuf", "substrait_extensions", "substrait_dsl", "attrs", "pyarrow"])
def test_versions_are_those_of_the_metadata(name: str) -> None:
    assert find_version(name) == metadata.version(name)


def test_the_version_of_what_is_installed_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first on the path counts, a longer name is another's, and a folder that is not there is passed over."""
    for name in ("first/some_thing_more-9.0", "first/some_thing-1.2.3+local", "second/some_thing-2.0"):
        (tmp_path / f"{name}.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path / each) for each in ("nowhere", "first", "second")])
    assert find_version("some_thing") == "1.2.3+local"


def test_the_version_of_what_is_installed_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an archive, and as older installers did: the standard library knows them."""
    facts = "Metadata-Version: 2.1\nName: {}\nVersion: {}\n"
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("packed_thing-3.1.dist-info/METADATA", facts.format("packed-thing", "3.1"))
    (tmp_path / "old_thing.egg-info").write_text(facts.format("old-thing", "0.9"), encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "packed.zip")])
    assert find_version("packed_thing") == "3.1"
    assert find_version("old_thing") == "0.9"
    assert find_version("no_such_thing") is None


def test_extension_files_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standard, "PACKAGE", "no_such_package.extensions")
    with pytest.raises(CatalogError, match="the package substrait-extensions is not installed"):
        standard.standard_extensions()
    monkeypatch.setattr(standard, "PACKAGE", "substrait_extensions.no_such_folder")
    with pytest.raises(CatalogError, match="the package substrait-extensions is not installed"):
        standard.standard_extensions()


def test_extension_files_in_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a job has them that ships its packages as one file."""
    (installed,) = import_module(standard.PACKAGE).__path__
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.mkdir("packed_extensions")
        for file in Path(installed).iterdir():
            if file.is_file():
                archive.write(file, f"packed_extensions/extensions/{file.name}")
    monkeypatch.syspath_prepend(tmp_path / "packed.zip")
    monkeypatch.setattr(standard, "PACKAGE", "packed_extensions.extensions")
    assert [each.urn for each in standard.standard_extensions()] == list(standard_catalog().urns)


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
