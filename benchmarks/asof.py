"""As-of joins on Spark, against the union and window that one writes by hand, and against Spark's own join.

Run from the repository's root: ``python -m benchmarks.asof [--left 20000] [--right 50000] [--keys 200] [--repeats 9]``.
Trades get the last quote of their symbol that is not later. All rows are computed, and none is kept; the forms take
turns. Spark's own (``DataFrame._joinAsOf``, private, for pandas on Spark) compares all pairs, and runs with ``--own``:
a tenth of the rows takes it a minute. With ``--alone`` ours runs once, and the most memory that Java had is printed:

    python -m benchmarks.asof --left 2000000 --right 5000000 --alone
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as spark_f

import substrait_dsl as sd
from benchmarks.measure import in_turns, processor_ms
from benchmarks.tpch import MEMORY, java_process
from examples.everyday.schemas import Time
from substrait_dsl.spark.session.local import local_session

WARM = 2
"""How often each form runs before it is measured: what is generated for it Java compiles after a while."""
SECONDS = "timestampadd(SECOND, pmod(xxhash64(id, {seed}), 2592000), TIMESTAMP_NTZ '2024-01-01 00:00:00')"
SYMBOL = "concat('S', pmod(xxhash64(id, {seed}), {keys}))"


class Trade(sd.Schema):
    """What is bought, and when."""

    id: sd.I64
    symbol: sd.Nullable[sd.String]
    at: sd.Nullable[Time]


class Quote(sd.Schema):
    """What it costs from when on."""

    symbol: sd.Nullable[sd.String]
    at: sd.Nullable[Time]
    price: sd.Nullable[sd.I64]


TRADES = sd.read_named("asof_trades", Trade)
QUOTES = sd.read_named("asof_quotes", Quote)

Forms = dict[str, Callable[[], DataFrame]]


def forms(spark: SparkSession, with_own: bool) -> dict[str, Forms]:
    """The joins, each in its forms; the first is ours."""
    trades, quotes = spark.table("asof_trades"), spark.table("asof_quotes")
    own = partial(trades._joinAsOf, quotes, "at", "at", on="symbol", how="left")
    hour = spark_f.expr("INTERVAL 1 HOUR")
    near: dict[str, Any] = {"direction": "nearest", "tolerance": dt.timedelta(hours=1)}
    joins: dict[str, Forms] = {
        "backward": {
            "ours": lambda: TRADES.asof_join(QUOTES, "at", by="symbol").execute(spark),
            "by hand": lambda: by_hand(trades, quotes),
            "Spark's own": lambda: own(direction="backward"),
        },
        "nearest, within an hour": {
            "ours": lambda: TRADES.asof_join(QUOTES, "at", by="symbol", **near).execute(spark),
            "Spark's own": lambda: own(direction="nearest", tolerance=hour),
        },
    }
    if not with_own:
        for each in joins.values():
            del each["Spark's own"]
    return joins


def by_hand(trades: DataFrame, quotes: DataFrame) -> DataFrame:
    """The last quote so far, of trades and quotes as rows of one table."""
    known = quotes.withColumn("is_trade", spark_f.lit(0))
    rows = trades.withColumn("is_trade", spark_f.lit(1)).unionByName(known, allowMissingColumns=True)
    so_far = Window.partitionBy("symbol").orderBy("at", "is_trade").rowsBetween(Window.unboundedPreceding, 0)
    priced = rows.withColumn("price", spark_f.last("price", ignorenulls=True).over(so_far))
    return priced.where("is_trade = 1").drop("is_trade")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, least in (("left", 20_000), ("right", 50_000), ("keys", 200), ("repeats", 9)):
        parser.add_argument(f"--{name}", type=int, default=least)
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--driver-memory {MEMORY} pyspark-shell")
    with tempfile.TemporaryDirectory() as directory:
        spark = local_session("asof")
        _make_tables(spark, Path(directory), options.left, options.right, options.keys)
        for name, each in forms(spark, options.own).items():
            if options.alone:
                clock, worked = (taken / 1000 for taken in _run(spark, each["ours"]))
                print(f"{name:<24} {clock:.1f} s, processors {worked:.1f} s, {_peak(spark):.1f} GB", flush=True)
            else:
                compare(spark, name, each, options.repeats)
        spark.stop()


def _make_tables(spark: SparkSession, folder: Path, left: int, right: int, keys: int) -> None:
    def column(text: str, seed: int, name: str) -> str:
        return f"{text.format(seed=seed, keys=keys)} AS {name}"

    tables = {
        "asof_trades": (left, ["id", column(SYMBOL, 1, "symbol"), column(SECONDS, 2, "at")]),
        "asof_quotes": (right, [column(SYMBOL, 3, "symbol"), column(SECONDS, 4, "at"), "id AS price"]),
    }
    for name, (rows, columns) in tables.items():
        spark.range(rows).selectExpr(*columns).write.parquet(str(folder / name))
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)


def compare(spark: SparkSession, name: str, each: Forms, repeats: int) -> None:
    """Measure a join and print the medians and the leasts of each form, of the clock and the processors."""
    runs = {which: partial(_run, spark, form) for which, form in each.items()}
    in_turns(runs, WARM)
    times = in_turns(runs, repeats)
    for number, clock in enumerate(("clock", "processors")):
        ours = [one[number] for one in times["ours"]]
        for which in runs:
            taken = [one[number] for one in times[which]]
            print(
                f"{name:<24} {which:<12} {clock:<10} {median(taken):6.0f} ms, least {min(taken):6.0f} ms;"
                f" ours takes {median(ours) / median(taken):5.2f} and {min(ours) / min(taken):5.2f} times that",
                flush=True,
            )


def _run(spark: SparkSession, form: Callable[[], DataFrame]) -> tuple[float, float]:
    """The milliseconds of the clock and of Java's processors, from the first verb to the last row."""
    process = java_process(spark)
    worked, start = processor_ms(process), time.perf_counter()
    form().write.format("noop").mode("overwrite").save()
    return (time.perf_counter() - start) * 1000, processor_ms(process) - worked


def _peak(spark: SparkSession) -> float:
    """The most memory that Java has had, in GB."""
    lines = Path(f"/proc/{java_process(spark)}/status").read_text(encoding="utf-8").splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return int(peak) * 1024 / 1e9


if __name__ == "__main__":
    main()
