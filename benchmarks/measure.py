"""Timing for the benchmarks: what is compared runs interleaved, in one process or in fresh ones.

Medians count; for what only computes, the least time of the processor.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

CALLS_A_TURN = 10

Run = Callable[[], object]
T = TypeVar("T")


def medians(runs: Mapping[str, Run], repeats: int) -> dict[str, float]:
    """The median time of each run in milliseconds.

    The runs take turns, ten calls a turn, so that they share what else goes on but not each other's cold caches.
    """
    return {name: statistics.median(values) for name, values in _times(runs, repeats, time.perf_counter).items()}


def least(runs: Mapping[str, Run], repeats: int) -> dict[str, float]:
    """The least time of the processor that each run takes, in milliseconds; the runs take turns as for `medians`.

    For runs that do nothing but compute: whatever is above the least comes from what else the machine does.
    """
    return {name: min(values) for name, values in _times(runs, repeats, time.process_time).items()}


def _times(runs: Mapping[str, Run], repeats: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()  # warm
    gc.disable()
    try:
        for _ in range(repeats):
            for name, run in runs.items():
                for _ in range(CALLS_A_TURN):
                    start = clock()
                    run()
                    times[name].append((clock() - start) * 1000)
    finally:
        gc.enable()
    return times


def in_turns(runs: Mapping[str, Callable[[], T]], repeats: int) -> dict[str, list[T]]:
    """What each run gives, time after time.

    The runs take turns, and their order is reversed from turn to turn: none always runs in another's wake.
    """
    given: dict[str, list[T]] = {name: [] for name in runs}
    order = list(runs.items())
    for _ in range(repeats):
        order.reverse()
        for name, run in order:
            given[name].append(run())
    return given


def processor_ms(process: int) -> float:
    """How long processors have worked for a process up to now, in milliseconds, from what Linux tells."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def fresh(programs: Mapping[str, str], repeats: int) -> dict[str, float]:
    """The median of the milliseconds that each program prints, each time in a process of its own, taking turns."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(repeats):
        for name, program in programs.items():
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
            times[name].append(float(done.stdout.split()[-1]))
    return {name: statistics.median(values) for name, values in times.items()}


def show(title: str, rows: Mapping[str, float], unit: str = "ms") -> None:
    """Print a block of results."""
    print(f"\n{title}")
    for name, value in rows.items():
        print(f"  {name:<58} {value:10.3f} {unit}")
