"""What a newcomer waits for: from the start of a process to the first rows, on the embedded engine and on local Spark.

Run from the repository's root: ``python -m benchmarks.embedded [--repeats 5] [--local PYTHON] [--spark PYTHON]``. The
two take turns, each time in a process of its own; the ratios are those of the medians. Each may run in an environment
of its own, which has the extra ``local`` or ``spark``; then the sizes of these are told, too. Linux alone: memory is
what it says, the most of each process, of Python and of Java.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.measure import in_turns
from substrait_dsl.spark.session.servers import EngineName

FURTHER = 30
"""How many small queries a process runs behind the first."""

WHAT: Mapping[str, str] = {
    "first": "from the start of the process to the first rows of the demonstration, s",
    "then": "a further small query (filter, group, sort, limit), ms",
    "memory": "memory, MB",
}

PROGRAM = f"""
import json, os, statistics, sys, time
from pathlib import Path
import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.demo import pipeline
from substrait_dsl.spark.session.local import local_session

def most_memory():
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) == os.getsid(0):
                told = (folder / "status").read_text()
                total += sum(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmHWM"))
        except OSError:  # it has ended
            pass
    return total / 1024

session = local_session(engine=sys.argv[1])
relation = pipeline()
assert len(relation.collect(session)) == 7
found = {{"first": time.time() - float(sys.argv[2])}}
rows = sd.read_virtual([(1, 3), (2, 5), (1, 4), (3, 9)], {{"k": "i64", "v": "i64"}})
small = rows.filter(lambda r: r.v > 3).group_by("k").agg(total=lambda r: f.sum(r.v)).sort("k").limit(2)
times = []
for _ in range({FURTHER}):
    start = time.perf_counter()
    assert small.collect(session) == [(1, 4), (2, 5)]
    times.append((time.perf_counter() - start) * 1000)
found.update(then=statistics.median(times), memory=most_memory())
print(json.dumps(found))
"""


def run(engine: EngineName, python: str) -> dict[str, float]:
    """What one process takes."""
    command = [python, "-c", PROGRAM, engine, str(time.time())]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    if done.returncode != 0:
        raise RuntimeError(f"{engine} ended with {done.returncode}: {done.stderr}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def size(python: str) -> float:
    """The size of what is installed in an environment, in MB, without pip."""
    program = "import sysconfig; print(sysconfig.get_path('purelib'))"
    folder = Path(subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip())
    own = ("pip", "setuptools")
    files = (file for file in folder.rglob("*") if file.relative_to(folder).parts[0] not in own and file.is_file())
    return sum(file.stat().st_size for file in files) / 1e6


def measure(pythons: Mapping[EngineName, str], repeats: int) -> None:
    """Print the medians of both engines, and their ratios."""
    runs: dict[str, Callable[[], dict[str, float]]] = {
        engine: partial(run, engine, python) for engine, python in pythons.items()
    }
    found = in_turns(runs, repeats)
    rows = {
        what: {engine: median(each[key] for each in found[engine]) for engine in found} for key, what in WHAT.items()
    }
    if len(set(pythons.values())) > 1:
        rows["what is installed, MB"] = {engine: size(python) for engine, python in pythons.items()}
    print(f"{'':<72}{'sail':>10}{'spark':>10}{'ratio':>8}")
    for what, each in rows.items():
        print(f"{what:<72}{each['sail']:>10.1f}{each['spark']:>10.1f}{each['sail'] / each['spark']:>8.3f}")


def main() -> None:
    """Measure, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--local", default=sys.executable, help="a Python with the extra local")
    parser.add_argument("--spark", default=sys.executable, help="a Python with the extra spark")
    options = parser.parse_args()
    measure({"sail": options.local, "spark": options.spark}, options.repeats)


if __name__ == "__main__":
    main()
