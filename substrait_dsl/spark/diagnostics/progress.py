"""How far a job is, as a line on the standard error that is written anew while the job runs.

It counts the tasks of all stages that the application is running, as Spark's own progress bar does, which only a
terminal beside Spark's own process shows.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from substrait_dsl.spark.session.connect import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = 1.0
"""A job that takes fewer seconds shows nothing."""
EVERY = 0.5
"""After how many seconds a line is written anew."""
SELDOM = 10.0
"""After how many seconds there is another line where lines stay: in a file."""


@contextmanager
def progress(spark: SparkSession) -> Iterator[None]:
    """Show how far jobs are that run inside, on a classic session or a client of Spark Connect."""
    meter = Meter(sys.stderr)
    try:
        with _asked(spark, meter) if is_remote(spark) else _watched(spark, meter):
            yield
    finally:
        meter.clear()


@contextmanager
def _asked(spark: SparkSession, meter: Meter) -> Iterator[None]:
    """A client of Spark Connect is told by the server."""

    def handler(stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        counts = {stage.stage_id: (stage.num_completed_tasks, stage.num_tasks) for stage in stages or ()}
        meter.show(counts, inflight_tasks)

    spark.registerProgressHandler(handler)  # type: ignore[arg-type]  # pyspark wants a class, and calls any function
    try:
        yield
    finally:
        spark.removeProgressHandler(handler)  # type: ignore[arg-type]


@contextmanager
def _watched(spark: SparkSession, meter: Meter) -> Iterator[None]:
    """A classic session is asked again and again, in a thread beside the job."""
    tracker = spark.sparkContext.statusTracker()
    stop = threading.Event()

    def watch() -> None:
        with suppress(Exception):  # a session that ends says so where the job runs
            while not stop.wait(EVERY):
                stages = filter(None, map(tracker.getStageInfo, tracker.getActiveStageIds()))
                known = {stage.stageId: stage for stage in stages}
                counts = {number: (stage.numCompletedTasks, stage.numTasks) for number, stage in known.items()}
                meter.show(counts, sum(stage.numActiveTasks for stage in known.values()))

    thread = threading.Thread(target=watch, name="substrait-dsl progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Meter:
    """A line that says how many tasks are done."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        # A notebook's streams are no terminal, but a carriage return begins the line anew there, too.
        self._in_place = stream.isatty() or type(stream).__module__.startswith("ipykernel.")
        self._start = time.monotonic()
        self._last = -SELDOM
        self._width = 0
        self._stages: dict[int, tuple[int, int]] = {}

    def show(self, stages: Mapping[int, tuple[int, int]], running: int) -> None:
        """Write the line, if it is time to.

        Args:
            stages: of each stage that runs, by its number, how many tasks are done, and how many there are.
            running: how many tasks are running.
        """
        over = {number: (tasks, tasks) for number, (_, tasks) in self._stages.items()}
        self._stages = {**over, **stages}
        seconds = time.monotonic() - self._start
        if not self._stages or seconds < max(FIRST, self._last + (EVERY if self._in_place else SELDOM)):
            return
        self._last = seconds
        done, tasks = (sum(counts) for counts in zip(*self._stages.values(), strict=True))
        text = f"Spark: {done} of {tasks} tasks in {len(self._stages)} stages, {running} running, {seconds:.0f} s"
        self._write(f"\r{text:<{self._width}}" if self._in_place else f"{text}\n")
        self._width = len(text)

    def clear(self) -> None:
        """Take the line away, where it can be."""
        if self._in_place and self._width:
            self._write(f"\r{'':<{self._width}}\r")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
