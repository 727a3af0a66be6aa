"""Typed columns of delimited text on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.test_typed_text import WRONG, misfits_are_named
from tests.typed_texts import rows_are_right

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_values_are_those_of_pythons_parsers(tmp_path: Path, spark: SparkSession) -> None:
    rows_are_right(tmp_path, spark, 11, 300)


@pytest.mark.parametrize(("type_", "text", "said"), WRONG)
def test_texts_that_are_no_values_are_named(
    type_: str, text: str, said: str, tmp_path: Path, spark: SparkSession
) -> None:
    misfits_are_named(tmp_path, spark, type_, text, said)
