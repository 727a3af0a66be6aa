"""The pipelines of `examples/everyday`: the rows of PySpark's and of Polars' forms, and texts that are not longer."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import substrait_dsl as sd
from examples.everyday import pipelines
from examples.everyday.data import tables, write_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMS = Path(__file__).parent / "everyday_forms"
NAMES = sorted(pipelines.PIPELINES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that pipelines read."""
    made = tmp_path_factory.mktemp("everyday")
    write_files(made)
    return made


def run(pipeline: Callable[..., Any], given: Callable[[str], Any]) -> Any:
    """What a pipeline makes of its inputs, which its parameters name."""
    return pipeline(*(given(name) for name in inspect.signature(pipeline).parameters))


def counted(rows: Any) -> Counter[tuple[Any, ...]]:
    """Rows in any order, floats to nine digits: engines may interpolate in another order of operations."""
    return Counter(tuple(round(value, 9) if isinstance(value, float) else value for value in row) for row in rows)


def require_rows(name: str, folder: Path, columns: list[str], rows: list[Any]) -> None:
    """Require that a pipeline has these columns and rows on the embedded engine."""
    pipeline, frames = pipelines.PIPELINES[name], tables()
    given = {table: sd.read_named(table, frame.schema) for table, frame in frames.items()} | {"folder": folder}
    relation = run(pipeline, given.__getitem__)
    reads_files = "folder" in inspect.signature(pipeline).parameters
    assert list(relation.columns) == columns
    assert counted(relation.collect(tables=None if reads_files else frames)) == counted(rows)
    assert len(rows) > 0


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_pyspark(name: str, folder: Path, sail: SparkSession) -> None:
    from tests.everyday_forms import pyspark_forms  # takes a while, and needs a client of Spark Connect

    others: dict[str, Any] = {"folder": folder, "spark": sail}
    frame = run(getattr(pyspark_forms, name), lambda each: others.get(each) or sail.createDataFrame(tables()[each]))
    require_rows(name, folder, frame.columns, frame.collect())


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_polars(name: str, folder: Path, sail: SparkSession) -> None:
    from tests.everyday_forms import polars_forms

    frame = run(getattr(polars_forms, name), lambda each: folder if each == "folder" else pl.DataFrame(tables()[each]))
    require_rows(name, folder, frame.columns, frame.rows())


def test_rows_that_have_an_order_come_in_it(sail: SparkSession) -> None:
    frames = tables()
    rows = pipelines.months(sd.read_named("orders", frames["orders"].schema)).collect(tables=frames)
    assert [row[0].month for row in rows] == [1, 2, 3, 4, 5]


def lengths(path: str | Path) -> dict[str, int]:
    """How many characters the body of each function has, without blanks and docstrings."""
    found = {}
    for node in ast.parse(Path(path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            found[node.name] = sum(len("".join(ast.unparse(statement).split())) for statement in body)
    return found


def test_texts_are_not_longer_than_those_of_pyspark() -> None:
    ours, theirs = lengths(pipelines.__file__), lengths(FORMS / "pyspark_forms.py")
    assert set(ours) == set(theirs) == set(lengths(FORMS / "polars_forms.py")) == set(NAMES)
    assert sum(ours.values()) <= 1.1 * sum(theirs.values())
    assert {name: (ours[name], theirs[name]) for name in NAMES if ours[name] > 1.5 * theirs[name]} == {}
