"""How long it takes to lower and to check a plan for an engine, against the time that encoding it takes.

Run from the repository's root: ``python -m benchmarks.lowering [--engine datafusion] [--repeats 9]``. Each plan is
built anew for each measurement, so that nothing is known of it; the least time of the processor counts.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from functools import partial

import substrait_dsl as sd
from benchmarks.compiling import relation
from examples.tpch.queries import QUERIES
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.engines.check import check_plan
from substrait_dsl.engines.lowering.plan import try_to_lower
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.proto.plan import encode_plan, to_bytes

STEPS = (10, 100, 250, 500, 1000)
GOAL = "lowering and checking take at most 3 times as long as encoding, whatever the number of steps"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="datafusion")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    profile = load_profile(options.engine)
    ways: dict[str, Callable[[AlgebraPlan], object]] = {
        "encode": lambda plan: to_bytes(encode_plan(plan)),
        "lower": lambda plan: try_to_lower(plan, profile),
        "lower and check": lambda plan: check_plan(plan, profile),
    }
    plans: dict[str, Callable[[], sd.Relation]] = {**QUERIES, **{f"{n} steps": partial(relation, n) for n in STEPS}}
    print(f"{profile}; goal: {GOAL}")
    ratios = []
    for name, make in plans.items():
        times = {way: least(make, run, options.repeats) for way, run in ways.items()}
        ratio = times["lower and check"] / times["encode"]
        ratios.append(ratio)
        shown = ", ".join(f"{way} {milliseconds:.2f} ms" for way, milliseconds in times.items())
        print(f"  {name:<10} {shown}; {ratio:.1f} times")
    print(f"  median {statistics.median(ratios):.1f} times")


def least(make: Callable[[], sd.Relation], run: Callable[[AlgebraPlan], object], repeats: int) -> float:
    """The least time of the processor that a plan takes, in milliseconds."""
    times = []
    for _ in range(repeats):
        plan = make().to_plan()._algebra
        gc.collect()
        start = time.process_time()
        run(plan)
        times.append(time.process_time() - start)
    return min(times) * 1000


if __name__ == "__main__":
    main()
