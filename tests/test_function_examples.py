"""Examples of functions run on the embedded engine, and stand in the documentation of the function that they call."""

from __future__ import annotations

import datetime as dt
import decimal
import doctest
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.fluent.function_examples import EXAMPLES
from substrait_dsl.fluent.namespace import python_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES: dict[str, Any] = {"sd": sd, "f": f, "dt": dt, "decimal": decimal}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_gives_the_rows_that_it_shows(name: str, sail: SparkSession) -> None:
    text = inspect.getdoc(getattr(f, python_name(name)))
    assert text is not None
    example = doctest.DocTestParser().get_doctest(text, dict(NAMES), name, name, 0)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(example, out=report.append)
    assert result == (0, len(example.examples)), "".join(report)
    assert any(f"f.{python_name(name)}(" in each.source for each in example.examples)
    assert example.examples[-1].want


def test_a_function_of_another_extension_has_no_example_of_its_namesake(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(
        "urn: extension:com.acme:own\nscalar_functions:\n  - name: lower\n    impls:\n"
        "      - args: [{value: i64}]\n        return: i64\n"
    )
    own = sd.Functions(sd.standard_catalog().with_extension(file), urn="extension:com.acme:own")
    assert ">>>" not in (inspect.getdoc(own.lower) or "")
