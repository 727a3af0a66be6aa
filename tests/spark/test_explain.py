"""Spark's plan below the library's own: every mode of Spark's, and where the names in it come from."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, InvalidArgumentError, InvalidChoiceError
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = sd.read_virtual([(1, 2), (2, 3)], {"k": "i64", "v": "i64"})
BEST = T.filter(lambda r: r.v > 1).group_by("k").agg(total=lambda r: f.sum(r.v)).sort("total")

HEADINGS: dict[Any, list[str]] = {
    None: ["== Physical Plan =="],
    "simple": ["== Physical Plan =="],
    "extended": ["== Parsed Logical Plan ==", "== Optimized Logical Plan ==", "== Physical Plan =="],
    "codegen": ["WholeStageCodegen subtrees"],
    "cost": ["== Optimized Logical Plan ==", "Statistics(sizeInBytes="],
    "formatted": ["== Physical Plan ==", "(1) "],
}
"""What Spark's documentation of ``DataFrame.explain`` promises of each mode."""


@pytest.mark.parametrize("mode", HEADINGS)
def test_each_mode_of_sparks(mode: Any, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    text = BEST.explain(spark, mode)
    assert text.startswith(f"{BEST.explain()}\n\n--- on Spark\n")
    for heading in HEADINGS[mode]:
        assert heading in text
    assert capsys.readouterr().out == ""
    assert BEST.explain(spark, mode, properties=True).startswith(BEST.explain(properties=True))


def test_names_are_led_back_to_columns(spark: SparkSession) -> None:
    _, plan = BEST.explain(spark).split("--- on Spark\n")
    shown, names = plan.split("--- where Spark's names come from\n")
    lines = dict(line.split("  ", 1) for line in names.splitlines())
    assert set(lines) <= {word for word in shown.replace("#", " ").replace("[", " ").split() if word.startswith("__s")}
    assert "aggregate by k -> total: i64? = sum(v)" in lines.values()


def test_a_plan_explains_each_root(spark: SparkSession) -> None:
    plan = sd.Plan(BEST, T)
    text = plan.explain(spark, "formatted")
    assert text.startswith(f"{plan}\n\n--- root 0 on Spark\n")
    assert "--- root 1 on Spark\n" in text
    assert plan.explain() == str(plan)


def test_nothing_runs_and_what_is_cached_stays(spark: SparkSession) -> None:
    failing = sd.read_named("for_explain", {"k": "i64", "v": "i64"}).project(q=lambda r: f.divide(r.v, r.v - r.v))
    T.exchange(sd.round_robin()).execute(spark).createOrReplaceTempView("for_explain")
    assert "div" in failing.explain(spark, "extended")
    with refused(ExecutionError, "explain: division by zero in 1 / 0 (step: project -> q: i64 = 1 / 0)"):
        T.project(q=lambda r: f.divide(sd.lit(1), 0)).explain(spark)  # which Spark computes when it plans
    frame = T.execute(spark).cache()
    frame.count()
    assert frame.storageLevel.useMemory
    T.explain(spark)
    assert "InMemoryTableScan" in T.explain(spark)
    frame.unpersist()


def test_what_other_threads_print_is_not_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from substrait_dsl.spark.session.explain import spark_plan

    class Frame:
        """Prints as a DataFrame does, while another thread prints, too."""

        def explain(self, mode: str) -> None:
            other = threading.Thread(target=print, args=("other",))
            other.start()
            other.join()
            assert sys.stdout.isatty() in (True, False)  # it is the stream that was there in all else
            print(f"== {mode} ==\n")

    printed: list[str] = []
    monkeypatch.setattr(sys.stdout, "write", printed.append, raising=False)
    frame: Any = Frame()
    assert spark_plan(frame, "simple") == "== simple =="
    assert "".join(printed) == "other\n"


def test_wrong_arguments(spark: SparkSession) -> None:
    wrong: Any = T.explain
    with refused(InvalidChoiceError, "explain", "unknown mode 'formated'", '"simple"', 'did you mean "formatted"?'):
        wrong(spark, "formated")
    with refused(InvalidChoiceError, "explain", "unknown mode 'physical'", 'write "simple"'):
        wrong(spark, mode="physical")
    with refused(InvalidArgumentError, "explain", "needs a session", 'explain(spark, mode="cost")'):
        wrong(mode="cost")
    with refused(InvalidArgumentError, "explain", "got 'extended'", 'explain(spark, mode="extended")'):
        wrong("extended")
    with refused(InvalidArgumentError, "explain", "expected a SparkSession, got 5"):
        wrong(5)
    with refused(ExecutionError, "explain", "there is no table"):
        sd.read_named("nowhere", {"a": "i64"}).explain(spark)
