"""How far a job is: asked for, a line on the standard error; never for short jobs."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

import substrait_dsl as sd
from substrait_dsl.spark.diagnostics import progress
from substrait_dsl.spark.session.connect import is_remote
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = sd.read_virtual([(n,) for n in range(3000)], {"n": "i64"})
SLOW = ROWS.cross(ROWS.rename(n="m")).aggregate(x=lambda r: f.max((r.n * r.m) % 7919))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_slow_job_shows_how_far_it_is(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with SLOW.running(spark, progress=True) as frame:
        if not is_remote(spark):
            assert frame.collect()[0].x == 7918
        else:  # a server tells every two seconds
            for _ in range(40):
                frame.collect()
                if "tasks" in terminal.getvalue():
                    break
    shown = terminal.getvalue().split("\r")
    assert shown[0] == ""
    assert all(line.startswith("Spark: ") and " tasks in " in line for line in shown[1:-2])
    assert len(shown) > 3
    assert shown[-1] == ""  # and the line is taken away
    assert shown[-2].strip() == ""


def test_nothing_is_shown_unless_asked(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    SLOW.collect(spark)
    ROWS.limit(1).collect(spark, progress=True)  # which takes no time
    assert terminal.getvalue() == ""


def test_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    terminal, file = Terminal(), io.StringIO()
    meters = [progress.Meter(terminal), progress.Meter(file)]
    for seconds, stages, running in (
        (0.4, {1: (0, 4)}, 2),  # too early
        (1.2, {1: (3, 4), 2: (0, 10)}, 2),
        (1.3, {1: (4, 4), 2: (0, 10)}, 2),  # too soon after the last
        (12.0, {2: (5, 10)}, 1),  # stage 1 is over
        (30.0, {3: (0, 1)}, 1),
    ):
        now[0] = seconds
        for meter in meters:
            meter.show(stages, running)
    for meter in meters:
        meter.clear()
    lines = [
        "Spark: 3 of 14 tasks in 2 stages, 2 running, 1 s",
        "Spark: 9 of 14 tasks in 2 stages, 1 running, 12 s",
        "Spark: 14 of 15 tasks in 3 stages, 1 running, 30 s",
    ]
    assert file.getvalue().splitlines() == lines
    assert [line.rstrip() for line in terminal.getvalue().split("\r")] == ["", *lines, "", ""]
