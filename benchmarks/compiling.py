"""How long it takes to compile a plan for Spark: `execute`, without asking for a row.

Run from the repository's root: ``python -m benchmarks.compiling [--session connect] [--repeats 7] [--steps 10 100]``.
Compared are chains of the same steps written by hand with the DataFrame API: with Column objects, as most do, and with
expressions in text. In each form the schema is asked for in the end: before that, Spark Connect has analysed nothing.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import attrs
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as spark_f

import substrait_dsl as sd
from benchmarks.measure import in_turns, processor_ms
from benchmarks.tpch import java_process
from substrait_dsl import functions as f
from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.local import drop_views, local_session
from tests.spark.connect_server import connect_session

ROUND = 10
"""After so many steps an aggregate or a join stands in place of a filter or a computed column, in turn."""

T = sd.read_named("compiling_t", {"k": sd.I64, "a": sd.I64, "b": sd.I64})
KEYS = sd.read_named("compiling_keys", {"j": sd.I64})
GOALS = {"classic": "3 ms a step, 1000 steps under 4 s", "connect": "1 ms of the client's processor a step"}

MEBI = 2**20
PARTS = ("clock", "python", "java")
WARM = 300
"""About how many steps each form compiles before it is measured, so that Java is warm."""

Compile = Callable[[], DataFrame]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--session", choices=list(GOALS), default="classic")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--steps", type=int, nargs="+", default=[10, 100, 1000])
    options = parser.parse_args()
    with _session(options.session) as spark:
        columns = ["id AS k", "id AS a", "id AS b"]
        spark.range(100).selectExpr(*columns).createOrReplaceTempView("compiling_t")
        spark.range(10).selectExpr("id AS j").createOrReplaceTempView("compiling_keys")
        print(f"{options.session} session; goal: {GOALS[options.session]}")
        for steps in options.steps:
            compare(spark, steps, options.repeats)


@contextmanager
def _session(kind: str) -> Iterator[SparkSession]:
    if kind == "connect":
        with connect_session() as session:
            yield session
    else:
        session = local_session("compiling")
        yield session
        session.stop()


def step_kinds(steps: int) -> Iterator[tuple[int, str]]:
    """What each step of a chain is."""
    for number in range(1, steps + 1):
        if number % ROUND == 0:
            yield number, "join" if number % (2 * ROUND) else "aggregate"
        else:
            yield number, "filter" if number % 2 else "compute"


def relation(steps: int) -> sd.Relation:
    """A chain in this library."""
    made: sd.Relation = T
    for number, kind in step_kinds(steps):
        match kind:
            case "filter":
                made = made.filter(sd.col("a") > -number)
            case "compute":
                made = made.with_columns(b=sd.col("b") + number)
            case "aggregate":
                made = made.group_by("k").agg(a=f.max(sd.col("a")), b=f.max(sd.col("b")))
            case _:
                made = made.join(KEYS, on=lambda l, r: l.k == r.j, how="left_semi")
    return made


def with_columns(spark: SparkSession, steps: int) -> DataFrame:
    """The same by hand, with Column objects."""
    col = spark_f.col
    made, keys = spark.table("compiling_t"), spark.table("compiling_keys")
    for number, kind in step_kinds(steps):
        match kind:
            case "filter":
                made = made.filter(col("a") > -number)
            case "compute":
                made = made.withColumn("b", col("b") + number)
            case "aggregate":
                made = made.groupBy("k").agg(spark_f.max("a").alias("a"), spark_f.max("b").alias("b"))
            case _:
                made = made.join(keys, col("k") == col("j"), "left_semi")
    return made


def with_text(spark: SparkSession, steps: int) -> DataFrame:
    """The same by hand, with expressions in text."""
    made, keys = spark.table("compiling_t"), spark.table("compiling_keys")
    for number, kind in step_kinds(steps):
        match kind:
            case "filter":
                made = made.filter(f"a > {-number}")
            case "compute":
                made = made.selectExpr("k", "a", f"b + {number} AS b")
            case "aggregate":
                made = made.groupBy("k").agg(spark_f.expr("max(a) AS a"), spark_f.expr("max(b) AS b"))
            case _:
                made = made.join(keys, spark_f.expr("k = j"), "left_semi")
    return made


@attrs.frozen
class Times:
    """What one compilation took, in milliseconds: by the clock, and of the processors for Python and for Java."""

    clock: float
    python: float
    java: float


def compare(spark: SparkSession, steps: int, repeats: int) -> None:
    """Measure a chain in every form and print a line for each."""
    built = relation(steps)
    forms: dict[str, Compile] = {
        "substrait_dsl": lambda: built.execute(spark),
        "by hand, columns": partial(with_columns, spark, steps),
        "by hand, text": partial(with_text, spark, steps),
    }
    java = None if is_remote(spark) else java_process(spark)
    print(f"\n{steps} steps")
    compiled = {}
    for name, run in forms.items():
        try:
            for _ in range(max(1, WARM // steps)):
                timed(run, java)
        except (PySparkException, RecursionError) as error:
            print(f"  {name:<17} fails: {str(error).partition(chr(10))[0][:100]}")
        else:
            compiled[name] = partial(timed, run, java)
    for name, times in in_turns(compiled, repeats).items():
        parts = {part: [getattr(one, part) / steps for one in times] for part in (PARTS if java else PARTS[:2])}
        told = (f"{part} {statistics.median(each):5.2f} (least {min(each):5.2f})" for part, each in parts.items())
        whole = statistics.median(one.clock for one in times)
        print(f"  {name:<17} {whole:6.0f} ms; ms a step: {', '.join(told)}; peak {python_peak(forms[name]):5.2f} MiB")
        if java is not None:
            print(f"  {'':<17} in Java, the DataFrame holds {java_held(spark, forms[name]):.0f} MiB")
        drop_views(spark)


def timed(run: Compile, java: int | None) -> Times:
    """Compile, until Spark has analysed everything; `java` is the process that does, if it is on this machine."""
    gc.collect()
    worked = processor_ms(java) if java else 0.0
    clock, python = time.perf_counter(), time.process_time()
    _ = run().schema  # a client of Spark Connect asks for it only now
    done = processor_ms(java) if java else 0.0
    return Times((time.perf_counter() - clock) * 1000, (time.process_time() - python) * 1000, done - worked)


def python_peak(run: Compile) -> float:
    """The most memory that Python objects take at a time while a DataFrame is compiled, in MiB."""
    gc.collect()
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / MEBI


def java_held(spark: SparkSession, run: Compile) -> float:
    """How much a compiled DataFrame takes in Java, in MiB."""
    java: Any = spark._jvm
    runtime = java.java.lang.Runtime.getRuntime()

    def used() -> float:
        gc.collect()  # what Python lets go of, Java can
        runtime.gc()
        return float(runtime.totalMemory() - runtime.freeMemory())

    before = used()
    frame = run()
    held = used() - before
    del frame
    return held / MEBI


if __name__ == "__main__":
    main()
