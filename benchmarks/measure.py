"""Timing for the benchmarks: what is compared runs interleaved, in one process or in fresh ones, and medians count."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

CALLS_A_TURN = 10

Run = Callable[[], object]


def medians(runs: Mapping[str, Run], repeats: int) -> dict[str, float]:
    """The median time of each run in milliseconds.

    The runs take turns, ten calls a turn, so that they share what else goes on but not each other's cold caches.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()  # warm
    gc.disable()
    try:
        for _ in range(repeats):
            for name, run in runs.items():
                for _ in range(CALLS_A_TURN):
                    start = time.perf_counter()
                    run()
                    times[name].append((time.perf_counter() - start) * 1000)
    finally:
        gc.enable()
    return {name: statistics.median(values) for name, values in times.items()}


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
