"""The notebooks of the examples run, and show what is stored in them."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.notebooks import FILES, run, shown_texts


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_notebook_runs_and_shows_what_is_stored_in_it(file: Path, tmp_path: Path) -> None:
    stored = list(shown_texts(nbformat.read(file, as_version=4)))
    assert list(shown_texts(run(file, tmp_path))) == stored
    assert sum(bool(text) for _, text in stored) >= 5


def test_there_are_notebooks() -> None:
    assert len(FILES) == 3
