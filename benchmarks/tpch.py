"""TPC-H on Spark: the fluent queries against the same SQL text, from the first verb to the last row.

Run from the repository's root: ``python -m benchmarks.tpch [--scale 0.1] [--repeats 7] [q01 q05 ...]``.
For each query the forms take turns; told are the ratio of the medians and, since what else the machine does only adds
to a time, that of the least times. Each form takes two turns, so that Java comes to know the code of both equally well:
all runs of both turns make the ratio, and how far the SQL text's two turns are from each other tells what a ratio on
this machine can tell. The time to compile (everything before rows are asked for) is reported apart, and for a query
that is slower the operators of both physical plans are counted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from benchmarks.measure import in_turns
from examples.tpch import data
from examples.tpch.queries import QUERIES
from substrait_dsl.spark.session.local import local_session

SQL = Path(data.__file__).parent / "sql"
SLOWER = 1.05
WARM = 5
"""How often each turn of a query runs before it is measured: what is generated for it Java compiles after a while."""
FLUENT, SQL_TEXT, AGAIN = "fluent", "sql", " again"
MEMORY = "4g"
"""What Java may use for objects. With Spark's default, 1g, so much time goes to collecting garbage that little else can
be told."""
OPERATORS = (
    "BroadcastHashJoin",
    "SortMergeJoin",
    "ShuffledHashJoin",
    "BroadcastNestedLoopJoin",
    "CartesianProduct",
    "BroadcastExchange",
    "Exchange",
    "HashAggregate",
    "Sort",
    "FileScan",
    "Window",
    "Subquery",
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="*", default=list(QUERIES))
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        data.generate(Path(directory), options.scale)
        os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--driver-memory {MEMORY} pyspark-shell")
        spark = local_session("tpch")
        data.register_in_spark(spark, Path(directory))
        for name in options.queries:  # warm: file listings, and the classes that all queries run
            for run in forms(spark, name).values():
                run().collect()
        ratios = [compare(spark, name, options.repeats) for name in options.queries]
        print()
        for number, (what, clock) in enumerate(product(("fluent to sql", "sql to itself"), ("medians", "least times"))):
            found = [ratio[number] for ratio in ratios]
            print(
                f"{what}, ratios of the {clock}: geometric mean {statistics.geometric_mean(found):.3f}, from "
                f"{min(found):.3f} to {max(found):.3f}"
            )
        spark.stop()


def forms(spark: SparkSession, name: str) -> dict[str, Callable[[], DataFrame]]:
    """A query in both forms."""
    text = (SQL / f"{name}.sql").read_text(encoding="utf-8")
    return {FLUENT: lambda: QUERIES[name]().execute(spark), SQL_TEXT: lambda: spark.sql(text)}


def compare(spark: SparkSession, name: str, repeats: int) -> tuple[float, ...]:
    """Measure one query and print a line.

    The ratios of the fluent query to the SQL text, of the medians and of the least times; and of the text's two turns.
    """
    runs = forms(spark, name)
    turns = runs | {which + AGAIN: run for which, run in runs.items()}
    for _ in range(WARM):
        for run in turns.values():
            run().collect()
    times = in_turns({which: partial(_timed, run) for which, run in turns.items()}, repeats)
    total = {which: [total for _, total in turn] for which, turn in times.items()}
    compiling = {which: statistics.median(compiled for compiled, _ in times[which]) for which in runs}
    both = {which: total[which] + total[which + AGAIN] for which in runs}
    ratios = tuple(
        clock(mine) / clock(other)
        for mine, other in ((both[FLUENT], both[SQL_TEXT]), (total[SQL_TEXT + AGAIN], total[SQL_TEXT]))
        for clock in (statistics.median, min)
    )
    medians = {which: statistics.median(each) for which, each in both.items()}
    print(
        f"{name}  fluent {medians[FLUENT]:7.0f} ms  sql {medians[SQL_TEXT]:7.0f} ms  ratio {ratios[0]:5.2f}"
        f", of the least {ratios[1]:5.2f}; sql to itself {ratios[2]:5.2f}, {ratios[3]:5.2f}"
        f"   (compiling: {compiling[FLUENT]:5.0f} ms, {compiling[SQL_TEXT]:5.0f} ms)",
        flush=True,
    )
    if ratios[0] > SLOWER:
        print_operators(spark, runs[FLUENT](), runs[SQL_TEXT]())
    return ratios


def _timed(run: Callable[[], DataFrame]) -> tuple[float, float]:
    """The milliseconds until a query is compiled, and until all rows are there."""
    start = time.perf_counter()
    frame = run()
    compiled = time.perf_counter()
    frame.collect()
    return (compiled - start) * 1000, (time.perf_counter() - start) * 1000


def java_process(spark: SparkSession) -> int:
    """The number of the process that a classic session runs in."""
    java: Any = spark._jvm
    return int(java.java.lang.ProcessHandle.current().pid())


def print_operators(spark: SparkSession, mine: DataFrame, theirs: DataFrame) -> None:
    """Print how the operators of two physical plans differ, which no noise changes."""
    ours, others = operators(spark, mine), operators(spark, theirs)
    for operator in OPERATORS:
        if ours[operator] != others[operator]:
            print(f"       {operator}: {ours[operator]} instead of {others[operator]}")


def operators(spark: SparkSession, frame: DataFrame) -> Counter[str]:
    """How often each operator stands in the physical plan before it runs."""
    frame.createOrReplaceTempView("__explained")
    rows = spark.sql("EXPLAIN SELECT * FROM __explained").collect()
    spark.catalog.dropTempView("__explained")
    words = [line.lstrip(" :+-*()0123456789").split("(")[0].split(" ")[0] for line in str(rows[0][0]).splitlines()]
    return Counter(words)


if __name__ == "__main__":
    main()
