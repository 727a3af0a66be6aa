"""A progress bar: the progress of jobs as a line on the standard error, updated while they run.

It counts the tasks of all running stages of the application, as Spark's own progress bar does, which is only shown in a
terminal of Spark's own process.
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
"""The seconds until the first line: a shorter job shows none."""
EVERY = 0.5
"""The seconds between updates of the line."""
SELDOM = 10.0
"""The seconds between lines in a file, where lines stay."""


@contextmanager
def progress(spark: SparkSession) -> Iterator[None]:
    """Show the progress of the jobs in a block, on a classic session or a client of Spark Connect."""
    meter = Meter(sys.stderr)
    try:
        with _show_from_server(spark, meter) if is_remote(spark) else _show_by_polling(spark, meter):
            yield
    finally:
        meter.clear()


@contextmanager
def _show_from_server(spark: SparkSession, meter: Meter) -> Iterator[None]:
    """Show progress on a client of Spark Connect, which gets it from the server."""

    def handler(stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        counts = {stage.stage_id: (stage.num_completed_tasks, stage.num_tasks) for stage in stages or ()}
        meter.show(counts, inflight_tasks)

    spark.registerProgressHandler(handler)  # type: ignore[arg-type]  # pyspark wants a class, and calls any function
    try:
        yield
    finally:
        spark.removeProgressHandler(handler)  # type: ignore[arg-type]


@contextmanager
def _show_by_polling(spark: SparkSession, meter: Meter) -> Iterator[None]:
    """Show progress on a classic session, which a thread polls."""
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
    """The line with the number of finished tasks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        # A notebook's streams are no terminal, but a carriage return starts the line again there, too.
        self._in_place = stream.isatty() or type(stream).__module__.startswith("ipykernel.")
        self._start = time.monotonic()
        self._last = -SELDOM
        self._width = 0
        self._stages: dict[int, tuple[int, int]] = {}

    def show(self, stages: Mapping[int, tuple[int, int]], running: int) -> None:
        """Write the line, if it is due.

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
        """Remove the line, where that is possible."""
        if self._in_place and self._width:
            self._write(f"\r{'':<{self._width}}\r")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
