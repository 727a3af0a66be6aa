"""TPC-H on Spark: the fluent queries against the same SQL text, from the first verb to the last row.

Run from the repository's root: ``python -m benchmarks.tpch [--scale 0.1] [--repeats 7] [q01 q05 ...]``.
For each query the forms take turns; told are the ratio of the medians and, since what else the machine does only adds
to a time, that of the least times. The SQL text takes two turns, as if it were two forms: how far the ratio of these is
from 1 tells what a ratio on this machine can tell. The time to compile (everything before rows are asked for) is
reported apart, and for a query that is slower the operators of both physical plans are counted.
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
from substrait_dsl.spark.session import local_session

SQL = Path(data.__file__).parent / "sql"
SLOWER = 1.05
WARM = 5
"""How often each form of a query runs before it is measured: what is generated for it Java compiles after a while."""
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
        for number, (what, clock) in enumerate(product(("fluent", "sql again"), ("medians", "least times"))):
            found = [ratio[number] for ratio in ratios]
            print(
                f"{what} to sql, ratios of the {clock}: geometric mean {statistics.geometric_mean(found):.3f}, from "
                f"{min(found):.3f} to {max(found):.3f}"
            )
        spark.stop()


def forms(spark: SparkSession, name: str) -> dict[str, Callable[[], DataFrame]]:
    """A query in both forms, the second of them twice."""
    text = (SQL / f"{name}.sql").read_text(encoding="utf-8")
    return {
        "fluent": lambda: QUERIES[name]().execute(spark),
        "sql": lambda: spark.sql(text),
        "sql again": lambda: spark.sql(text),
    }


def compare(spark: SparkSession, name: str, repeats: int) -> tuple[float, ...]:
    """Measure one query and print a line.

    The ratios to the SQL text: of the fluent query, of the medians and of the least times; and of the text once more.
    """
    runs = forms(spark, name)
    for _ in range(WARM):
        for run in runs.values():
            run().collect()
    times = in_turns({which: partial(_timed, run) for which, run in runs.items()}, repeats)
    total = {which: statistics.median(total for _, total in both) for which, both in times.items()}
    compiling = {which: statistics.median(compiled for compiled, _ in both) for which, both in times.items()}
    least = {which: min(total for _, total in both) for which, both in times.items()}
    ratios = tuple(each[which] / each["sql"] for which in ("fluent", "sql again") for each in (total, least))
    print(
        f"{name}  fluent {total['fluent']:7.0f} ms  sql {total['sql']:7.0f} ms  ratio {ratios[0]:5.2f}"
        f", of the least {ratios[1]:5.2f}; sql again {ratios[2]:5.2f}, {ratios[3]:5.2f}"
        f"   (compiling: {compiling['fluent']:5.0f} ms, {compiling['sql']:5.0f} ms)",
        flush=True,
    )
    if ratios[0] > SLOWER:
        print_operators(spark, runs["fluent"](), runs["sql"]())
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
