"""Runs tests against a broken library: in a process of its own, forked from one that has loaded everything else."""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any, Literal

import attrs
import pytest

from tests.coverage_rows import ROOT
from tests.mutations import corruption
from tests.mutations.breaks import CORRUPTING, FIELD_NAME, Break
from tests.mutations.corruption import NAME, corrupt_field, corrupted
from tests.mutations.places import file_of

Outcome = Literal["caught", "missed", "crashed", "no tests", "no effect"]
"""Whether a test failed; none did; a module of tests could not even be loaded; there were none without Spark; or the
edit never changed a value."""

LIBRARY = "substrait_dsl"
LOADED_BEFORE = (
    "attrs", "google.protobuf.json_format", "hypothesis.strategies", "pyarrow.parquet", "yaml",
    "substrait.plan_pb2", "substrait.extended_expression_pb2", "substrait_extensions",
)  # fmt: skip
"""What takes long to load, and is not broken."""

SECONDS = 30
"""How much of a processor's time the tests of a row may take: a break may loop for ever."""
MEMORY = 4 << 30
OPTIONS = (
    "-x", "-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib",
    "-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning",
)  # fmt: skip
_NO_EFFECT = 20
_OUTCOMES: dict[int, Outcome] = {0: "missed", 1: "caught", 5: "no tests", _NO_EFFECT: "no effect"}


class _Plugin:
    """Leaves out tests that start Spark, which take too long to be run for each break; sees what fails before it runs.

    A module of tests makes relations and plans while it is loaded: where the library refuses one of them, or an
    assertion fails, the tests have failed.
    """

    def __init__(self) -> None:
        self.has_failed = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        told = str(report.longrepr) if report.failed else ""
        self.has_failed |= "E   substrait_dsl.errors." in told or "E   AssertionError" in told

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if "spark" not in getattr(item, "fixturenames", ())]


@attrs.define
class _BrokenModule(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):  # type: ignore[misc]  # untyped bases
    """Finds and loads one module with an edit."""

    edit: Break

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name != self.edit.module:
            return None
        file = file_of(name)
        assert file is not None
        packages = [str(file.parent)] if file.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, file, loader=self, submodule_search_locations=packages)

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.edit.tree(), str(file_of(fullname)), "exec", dont_inherit=True)

    def get_filename(self, name: str | None = None) -> str:
        return str(file_of(self.edit.module))

    def exec_module(self, module: ModuleType) -> None:
        vars(module)[NAME], vars(module)[FIELD_NAME] = corrupted, corrupt_field
        exec(self.get_code(module.__name__), vars(module))


def load_the_rest() -> None:
    """Load what no break concerns, so that the processes that are forked have it."""
    for name in LOADED_BEFORE:
        importlib.import_module(name)
    assert LIBRARY not in sys.modules


def run(tests: Sequence[str], edit: Break | None) -> Outcome:
    """Run tests with an edit, or as everything is."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = _run_here(tests, edit)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):  # it took too long, or too much
        return "caught" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM) else "crashed"
    return _OUTCOMES.get(os.WEXITSTATUS(status), "crashed")


def _run_here(tests: Sequence[str], edit: Break | None) -> int:
    if edit is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 10))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        signal.alarm(20 * SECONDS)
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    sys.setrecursionlimit(1000)
    if edit is not None:
        sys.meta_path.insert(0, _BrokenModule(edit))
    with contextlib.suppress(SystemExit):
        plugin = _Plugin()
        code = int(pytest.main([*OPTIONS, *tests], [plugin]))
        if plugin.has_failed:
            return int(pytest.ExitCode.TESTS_FAILED)
        is_harmless = edit is not None and bool(CORRUPTING.match(edit.operator)) and corruption.changes == 0
        return _NO_EFFECT if code == 0 and is_harmless else code
    return 3
