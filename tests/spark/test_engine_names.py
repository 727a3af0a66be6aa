"""The name of the engine in refusals of what Spark and Sail share: a user is told of the engine that is used."""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.everyday.aggregates import percentile
from substrait_dsl.spark.sail.engine import SAIL
from substrait_dsl.spark.session.engines import ENGINE, SPARK, Engine, write_for
from tests.spark.rows import values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

f: Any = functions
ROOM = Path(sd.__file__).parent / "spark"
SHARED = (
    *((ROOM / folder).rglob("*.py") for folder in ("expressions", "relations", "sources")),
    (ROOM / name for name in ("execute.py", "lowering.py", "preflight.py")),
)
OF_SPARK = (
    "a client of Spark Connect",
    "characters of Spark SQL",
    "the Spark type ",
    "Spark's DDL has no type for ",
    "Spark runs it",
    "Spark cannot skip ",  # header lines, of which Sail reads none
    "which Spark takes for the end of a line",
)
"""What is said of Spark itself, its SQL and its types, whatever engine is used."""

T = values({"m": "precision_timestamp<6>", "s": "string"}, (dt.datetime(2024, 1, 2, 3, 4, 5, 678901), "a"))
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a cast": (
        lambda: T.select(c=lambda t: t.m.cast("precision_timestamp<3>")),
        " cannot cast precision_timestamp<6> to precision_timestamp<3> exactly",
    ),
    "an occurrence": (
        lambda: T.select(c=lambda t: f.regexp_replace(t.s, "a", "b", 1, 3)),
        " can replace the first match of a pattern or all, not occurrence 3",
    ),
    "an option": (
        lambda: T.select(c=lambda t: f.starts_with(t.s, "x", case_sensitivity="CASE_INSENSITIVE_ASCII")),
        " cannot run starts_with with the option case_sensitivity",
    ),
    "a type": (lambda: values({"i": "precision_timestamp<7>?"}, (None,)), " keeps 6 digits after the second"),
    "a percentile": (
        lambda: T.aggregate(p=lambda t: percentile(sd.lit("1.5").cast("decimal<5,2>"), 0.12345678)),
        " cannot compute the percentile 0.12345678 of decimals",
    ),
}


def _refusals(tree: ast.AST) -> Iterator[str]:
    """The texts that calls of `UnsupportedError` hold."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "UnsupportedError":
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def test_refusals_that_engines_share_name_the_current_one() -> None:
    texts = [text for files in SHARED for path in files for text in _refusals(ast.parse(path.read_text()))]
    assert any(" cannot cast " in text for text in texts)
    assert [text for text in texts if "Spark" in text and not any(words in text for words in OF_SPARK)] == []


@pytest.mark.parametrize("engine", [SPARK, SAIL], ids=["spark", "sail"])
@pytest.mark.parametrize("case", REFUSED)
def test_a_check_names_the_engine(case: str, engine: Engine) -> None:
    relation, words = REFUSED[case]
    why = str(relation().check(engine.name.lower()))
    assert f"{engine.name}{words}" in why
    (other,) = {SPARK.name, SAIL.name} - {engine.name}
    assert other not in why


def test_a_refusal_has_the_name_of_the_engine() -> None:
    with pytest.raises(UnsupportedError, match=r"^Sail cannot") as caught, write_for(SAIL):
        raise UnsupportedError(f"{ENGINE} cannot")
    assert caught.value.engine == "Sail"
    assert UnsupportedError("a text").engine is None


@pytest.mark.parametrize("case", REFUSED)
def test_an_execution_on_sail_names_it(case: str, sail: SparkSession) -> None:
    relation, words = REFUSED[case]
    with pytest.raises(UnsupportedError) as caught:
        relation().execute(sail)
    assert f"Sail{words}" in str(caught.value)
    assert "Spark" not in str(caught.value)
    assert caught.value.engine == "Sail"


@pytest.mark.parametrize("case", REFUSED)
def test_an_execution_on_spark_names_it(case: str, spark: SparkSession) -> None:
    relation, words = REFUSED[case]
    with pytest.raises(UnsupportedError) as caught:
        relation().execute(spark)
    assert f"Spark{words}" in str(caught.value)
    assert caught.value.engine == "Spark"
