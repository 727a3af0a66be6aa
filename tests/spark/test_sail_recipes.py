"""The page of recipes on the embedded engine: the same rows, or refused where the page says so, and nowhere else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from substrait_dsl.errors import UnsupportedError
from tests.spark.test_recipes import PAGE, RECIPES, require_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALONE = re.compile(r"\bOn\s+Spark\s+alone:\s+the\s+embedded\s+engine\s+refuses\s")
"""What the page says of such a recipe, between its program and what stands before."""


def before(program: str) -> str:
    """What the page says of a program: the text since its heading, or since the rows of the program before."""
    text, _, _ = PAGE.partition(program)
    start = max(found.end() for found in re.finditer(r"^## .*\n|^```\n", text, re.MULTILINE))
    return text[start:]


def test_a_recipe_is_refused_where_the_page_says_so(sail: SparkSession, datafusion: None) -> None:
    told, refused = [], []
    for number, (program, shown) in enumerate(RECIPES):
        if ALONE.search(before(program)):
            told.append(number)
        try:
            require_rows(program, shown, sail)
        except UnsupportedError:
            refused.append(number)
    assert refused == told
    assert len(told) == len(ALONE.findall(PAGE))


def test_a_program_is_found_once() -> None:
    assert all(PAGE.count(program) == 1 for program, _ in RECIPES)
