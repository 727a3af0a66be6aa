"""The page of recipes: its programs give the rows that it shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")

BLOCK = re.compile(
    r"(?P<first><!-- every program -->\n)?```python\n(?P<program>.*?)```\n(?:```text\n(?P<rows>.*?)```)?", re.DOTALL
)
[BEGINNING] = [found["program"] for found in BLOCK.finditer(PAGE) if found["first"]]
RECIPES = [(found["program"], found["rows"]) for found in BLOCK.finditer(PAGE) if not found["first"]]


def require_rows(program: str, shown: str, session: SparkSession) -> None:
    """Run a program of the page, which gives the rows that the page shows."""
    names: dict[str, Any] = {}
    exec(BEGINNING + program, names)  # a page of the repository
    result = names["result"]
    rows = [" ".join(map(str, row)) for row in result.collect(session)]
    in_order = result.properties.ordering != ()
    assert rows == shown.splitlines() if in_order else sorted(rows) == sorted(shown.splitlines()), program


def test_recipes_give_what_the_page_shows(spark: SparkSession, datafusion: None) -> None:
    for program, shown in RECIPES:
        require_rows(program, shown, spark)
