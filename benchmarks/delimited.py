"""How fast delimited text is read on Spark: ours against Spark's own reader, which checks less.

Files of 600,000 records of five columns: plain, with quotes around two of them, and with delimiters in quotes in a
tenth of the records. All columns, and one of them. Runs take turns; the time of the processor is that of Java.

Run from the repository's root: ``python -m benchmarks.delimited``.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import substrait_dsl as sd

NAMES = ("id", "name", "day", "amount", "town")
TOWNS = ("Berlin", "S\xe3o Paulo", "New York")


def records(count: int, inside: str) -> Iterator[tuple[str, ...]]:
    """Records of an export; a tenth of the names have this text inside."""
    drawn = random.Random(1)
    for number in range(count):
        name = f"{drawn.choice(('ann', 'bob smith', 'cem'))}{inside if number % 10 == 0 else ''}{number % 977}"
        day = f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}"
        yield str(number), name, day, f"{number * 7 % 100000 / 100:.2f}", drawn.choice(TOWNS)


def files(folder: Path, count: int) -> dict[str, Path]:
    """The files, by what is in them."""

    def quoted(record: tuple[str, ...], positions: tuple[int, ...]) -> list[str]:
        return [f'"{text}"' if number in positions or "," in text else text for number, text in enumerate(record)]

    kinds: dict[str, tuple[str, tuple[int, ...]]] = {"plain": ("", ()), "quoted": ("", (1, 4)), "mixed": (", ", ())}
    found = {}
    for kind, (inside, positions) in kinds.items():
        found[kind] = folder / f"{kind}.csv"
        lines = [",".join(NAMES), *(",".join(quoted(record, positions)) for record in records(count, inside))]
        found[kind].write_text("\n".join(lines) + "\n")
    return found


@contextmanager
def session(cores: int) -> Iterator[Any]:
    """A session of Spark, which is stopped afterwards."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{cores}]")
    for key, value in (("spark.ui.enabled", "false"), ("spark.ui.showConsoleProgress", "false")):
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def timed(run: Callable[[], Any], java: int) -> tuple[float, float]:
    """Seconds of the clock, and of Java's processor, to read all rows of a DataFrame."""
    before, start = processor_time(java), time.perf_counter()
    run().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start, processor_time(java) - before


def processor_time(process: int) -> float:
    """Seconds of the processor that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def compare(spark: Any, path: Path, columns: tuple[str, ...], repeats: int) -> tuple[float, float]:
    """Ratios of the medians, ours to Spark's: of the clock and of the processor."""
    schema = dict.fromkeys(NAMES, "string")
    own = sd.read_files(path, schema, format="csv").select(*columns)
    declared = ", ".join(f"{name} string" for name in NAMES)
    runs: dict[str, Callable[[], Any]] = {
        "ours": lambda: own.execute(spark),
        "spark": lambda: spark.read.csv(str(path), schema=declared, header=True).select(*columns),
    }
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for number in range(repeats + 2):
        for name, run in runs.items():
            taken = timed(run, java)
            if number > 1:  # Java is warm
                times[name].append(taken)
    medians = {name: [statistics.median(each) for each in zip(*taken, strict=True)] for name, taken in times.items()}
    return medians["ours"][0] / medians["spark"][0], medians["ours"][1] / medians["spark"][1]


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=600_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--cores", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, session(given.cores) as spark:
        for kind, path in files(Path(folder), given.rows).items():
            for columns in (NAMES, ("day",)):
                clock, processor = compare(spark, path, columns, given.repeats)
                print(f"{kind}, {len(columns)} of 5 columns: clock {clock:.2f}, processor {processor:.2f}", flush=True)


if __name__ == "__main__":
    main()
