"""TPC-H on Spark: the fluent queries against the same SQL text, from the first verb to the last row.

Run from the repository's root: ``python -m benchmarks.tpch [--scale 0.1] [--repeats 7] [q01 q05 ...]``.
For each query both forms take turns; the ratio is that of the medians. The time to compile (everything before rows
are asked for) is reported apart, and for a query that is slower the operators of both physical plans are counted.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from examples.tpch import data
from examples.tpch.queries import QUERIES
from substrait_dsl.spark.session import local_session

SQL = Path(data.__file__).parent / "sql"
SLOWER = 1.05
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
        spark = local_session("tpch")
        data.register_in_spark(spark, Path(directory))
        for name in options.queries:  # warm: file listings, and the classes that all queries run
            for run in forms(spark, name).values():
                run().collect()
        ratios = [compare(spark, name, options.repeats) for name in options.queries]
        print(f"\ngeometric mean of the ratios: {statistics.geometric_mean(ratios):.3f}, largest: {max(ratios):.3f}")
        spark.stop()


def forms(spark: SparkSession, name: str) -> dict[str, Callable[[], DataFrame]]:
    """A query in both forms."""
    text = (SQL / f"{name}.sql").read_text(encoding="utf-8")
    return {"fluent": lambda: QUERIES[name]().execute(spark), "sql": lambda: spark.sql(text)}


def compare(spark: SparkSession, name: str, repeats: int) -> float:
    """Measure one query both ways and print a line; the ratio of the medians."""
    runs = forms(spark, name)
    total: dict[str, list[float]] = {which: [] for which in runs}
    compiling: dict[str, list[float]] = {which: [] for which in runs}
    for run in runs.values():  # warm: code generation
        run().collect()
        run().collect()
    order = list(runs.items())
    for _ in range(repeats):
        order.reverse()  # neither form always runs in the other's wake
        for which, run in order:
            start = time.perf_counter()
            frame = run()
            compiled = time.perf_counter()
            frame.collect()
            total[which].append(time.perf_counter() - start)
            compiling[which].append(compiled - start)
    median = {which: statistics.median(times) for which, times in total.items()}
    compiled_ms = {which: statistics.median(times) * 1000 for which, times in compiling.items()}
    ratio = median["fluent"] / median["sql"]
    print(
        f"{name}  fluent {median['fluent'] * 1000:7.0f} ms  sql {median['sql'] * 1000:7.0f} ms  ratio {ratio:5.2f}"
        f"   (compiling: {compiled_ms['fluent']:5.0f} ms, {compiled_ms['sql']:5.0f} ms)"
    )
    if ratio > SLOWER:
        mine, theirs = (operators(spark, run()) for run in runs.values())
        for operator in OPERATORS:
            if mine[operator] != theirs[operator]:
                print(f"       {operator}: {mine[operator]} instead of {theirs[operator]}")
    return ratio


def operators(spark: SparkSession, frame: DataFrame) -> Counter[str]:
    """How often each operator stands in the physical plan before it runs."""
    frame.createOrReplaceTempView("__explained")
    rows = spark.sql("EXPLAIN SELECT * FROM __explained").collect()
    spark.catalog.dropTempView("__explained")
    words = [line.lstrip(" :+-*()0123456789").split("(")[0].split(" ")[0] for line in str(rows[0][0]).splitlines()]
    return Counter(words)


if __name__ == "__main__":
    main()
