"""Contracts in pytest: each module with contracts is a test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from substrait_dsl.contracts import Contracts
from tests.support import environment_without_options

PIPELINES = """
import substrait_dsl as sd
orders = sd.read_named("orders", {"id": "i64", "price": "fp64?", "day": "date"})
ids = orders.select("id")
"""
OTHERS = PIPELINES.replace('"id")', '"id", "price")')


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose pipelines fulfil their contracts, with one test of its own."""
    monkeypatch.chdir(tmp_path)
    for module in ("shop", "stock"):
        (tmp_path / f"{module}.py").write_text(PIPELINES)
    Contracts.of_modules(["shop", "stock"]).save("contracts.json")
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n")
    configure(tmp_path)
    return tmp_path


def configure(project: Path, *lines: str) -> None:
    (project / "pytest.ini").write_text("\n".join(["[pytest]", "substrait_contracts = contracts.json", *lines]))


def run(project: Path, *arguments: str, folder: str = ".") -> str:
    """Run pytest in a folder of a project, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "substrait_dsl.pytest_plugin", "-p", "no:cacheprovider", *arguments],
        cwd=project / folder,
        env=environment_without_options(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout + done.stderr


def test_each_module_with_contracts_is_a_test(project: Path) -> None:
    printed = run(project, "-v")
    assert "contracts.json::shop PASSED" in printed
    assert "contracts.json::stock PASSED" in printed
    assert "3 passed" in printed


def test_a_broken_contract_fails_and_shows_the_columns(project: Path) -> None:
    (project / "shop.py").write_text(OTHERS)
    printed = run(project, "-n", "2")
    assert "1 failed, 2 passed" in printed
    assert "contracts of shop _" in printed
    assert "shop.ids\n  + price: fp64?\nif that is meant, write: substrait-dsl contract write shop\n" in printed
    assert "pytest_plugin.py" not in printed


def test_changes_of_columns_that_are_allowed(project: Path) -> None:
    (project / "shop.py").write_text(OTHERS)
    configure(project, "substrait_contracts_allow = added tightened")
    assert "3 passed" in run(project)


def test_a_pipeline_without_a_contract_fails(project: Path) -> None:
    (project / "shop.py").write_text(PIPELINES + 'more = orders.select("price")\n')
    assert "shop.more: has no contract" in run(project)


def test_a_module_that_cannot_be_imported_is_named(project: Path) -> None:
    (project / "shop.py").unlink()
    printed = run(project)
    assert "1 failed, 2 passed" in printed
    assert "shop" in printed.partition("contracts of shop _")[2].splitlines()[1]


def test_other_tests_may_be_chosen(project: Path) -> None:
    assert "1 passed" in run(project, "test_own.py")
    assert "2 passed" in run(project, "contracts.json")


def test_without_the_setting_no_file_is_collected(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\n")
    assert "1 passed" in run(project)


@pytest.mark.parametrize(
    ("content", "words"),
    [("[1]", "contracts.json holds no contracts"), (None, "substrait_contracts: there is no file ")],
    ids=["no contracts", "no file"],
)
def test_a_file_without_contracts_is_an_error(project: Path, content: str | None, words: str) -> None:
    if content is None:
        (project / "contracts.json").unlink()
    else:
        (project / "contracts.json").write_text(content)
    printed = run(project)
    assert words in printed
    assert "Traceback" not in printed


def test_an_unknown_change_of_columns_is_refused(project: Path) -> None:
    configure(project, "substrait_contracts_allow = add")
    printed = run(project)
    assert "substrait_contracts_allow: unknown change of a column 'add'" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        (".ci/contracts.json", []),
        ("build/contracts.json", []),
        ("sub/../contracts.json", []),
        ("contracts.json", ["addopts = --ignore-glob=*.json"]),
        ("contracts.json", ["addopts = test_own.py"]),
        ("contracts.json", ["testpaths = sub"]),
    ],
)
def test_contracts_are_tested_wherever_their_file_lies(project: Path, file: str, lines: list[str]) -> None:
    (project / "shop.py").write_text(OTHERS)
    (project / file).parent.mkdir(exist_ok=True, parents=True)
    (project / "sub").mkdir(exist_ok=True)
    (project / "contracts.json").rename(project / file)
    (project / "pytest.ini").write_text("\n".join(["[pytest]", f"substrait_contracts = {file}", *lines]))
    assert "1 failed, " in run(project)
    assert "1 failed, " in run(project, "-n", "2")


def test_modules_are_those_of_the_root_folder(project: Path) -> None:
    (project / "sub").mkdir()
    assert "2 passed" in run(project, folder="sub")


@pytest.mark.parametrize("setting", ['["contracts.json"]', "true"])
def test_the_setting_is_one_path(project: Path, setting: str) -> None:
    (project / "pytest.ini").unlink()
    (project / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\nsubstrait_contracts = {setting}\n")
    printed = run(project)
    assert "substrait_contracts" in printed
    assert "INTERNALERROR" not in printed


def test_names_of_modules_send_nothing_to_a_terminal(project: Path) -> None:
    (project / "contracts.json").write_text('{"shop\\u001b[31m.ids": {"id": "i64"}}')
    printed = run(project)
    assert "\x1b[31m" not in printed
    assert "contracts of shop\\x1b[31m" in printed
