"""The page about engines: its examples run as they stand there, and its tables are what profiles and lowering say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.engines.page import PAGE, written

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(TEXT, {}, PAGE.name, str(PAGE), 0)
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example).failed == 0


def test_the_tables_are_what_the_profiles_say() -> None:
    assert written(TEXT) == TEXT, "run: python -m tests.engines.page"
