"""Mark and single joins on Spark, against Spark's own semi and outer joins of the same tables, written by hand.

Run from the repository's root: ``python -m benchmarks.joins [--scale 0.1] [--repeats 9] [left_mark left_single ...]``.
The tables are those of TPC-H with a NULL in every hundredth key, and every order has one line that is its first. All
rows are computed, and none is kept. The forms take turns; the ratios are those of the medians, of the time by the clock
and of Java's time of the processors, which other programs disturb less. It is done once with Spark free to send small
tables to all tasks, and once as for large tables, without; the operators of both physical plans are counted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as spark_f

import substrait_dsl as sd
from benchmarks.measure import in_turns, processor_ms
from benchmarks.tpch import java_process, print_operators
from examples.tpch import data
from examples.tpch.schemas import Amount
from substrait_dsl.spark.session.local import local_session

WARM = 8
"""How often each form runs before it is measured: what is generated for it Java compiles after a while."""
THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"


class Orders(sd.Schema):
    """Some columns of the orders, which may all be NULL."""

    o_orderkey: sd.Nullable[sd.I64]
    o_custkey: sd.Nullable[sd.I64]
    o_totalprice: sd.Nullable[Amount]
    o_orderdate: sd.Nullable[sd.Date]


class Lines(sd.Schema):
    """The same of their lines."""

    l_orderkey: sd.Nullable[sd.I64]
    l_linenumber: sd.Nullable[sd.I32]
    l_quantity: sd.Nullable[Amount]
    l_extendedprice: sd.Nullable[Amount]


ORDERS = sd.read_named("joined_orders", Orders)
LINES = sd.read_named("joined_lines", Lines)
FIRST = LINES.filter(lambda line: line.l_linenumber == 1)


def relations() -> dict[str, sd.Relation[Any]]:
    """The joins; those with a goal come first."""
    return {
        "left_mark": ORDERS.join(LINES, _same, "left_mark"),
        "left_single": ORDERS.join(FIRST, _same, "left_single"),
        "left_single, lines": LINES.join(ORDERS, lambda l, o: l.l_orderkey == o.o_orderkey, "left_single"),
        "right_mark": ORDERS.join(LINES, _same, "right_mark"),
        "right_single": ORDERS.join(LINES, _same, "right_single"),
        "left_mark, hash": ORDERS.hash_join(LINES, [("o_orderkey", "l_orderkey")], "left_mark"),
        "left_single, hash": ORDERS.hash_join(FIRST, [("o_orderkey", "l_orderkey")], "left_single"),
    }


def _same(left: Any, right: Any) -> Any:
    return left.o_orderkey == right.l_orderkey


def by_hand(name: str, spark: SparkSession) -> DataFrame:
    """Spark's own join in place of one of ours."""
    orders, lines = spark.table("joined_orders"), spark.table("joined_lines")
    same = spark_f.col("o_orderkey") == spark_f.col("l_orderkey")
    match name.partition(",")[0], name:
        case "left_mark", _:
            return orders.join(lines, same, "left_semi")
        case "right_mark", _:
            return lines.join(orders, same, "left_semi")
        case _, "left_single, lines":
            return lines.join(orders, same, "left")
        case "right_single", _:
            return orders.join(lines, same, "right")
        case _:
            return orders.join(lines.filter(spark_f.col("l_linenumber") == 1), same, "left")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("joins", nargs="*", default=list(relations()))
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        spark = local_session("joins")
        _make_tables(Path(directory), options.scale, spark)
        for threshold, words in ((spark.conf.get(THRESHOLD), "small tables are sent to all tasks"), ("-1", "none is")):
            spark.conf.set(THRESHOLD, str(threshold))
            print(f"\n{words}")
            for name in options.joins:
                compare(spark, name, options.repeats)
        spark.stop()


def _make_tables(folder: Path, scale: float, spark: SparkSession) -> None:
    data.generate(folder, scale)
    for name, key, other in (("orders", "o_orderkey", "o_custkey"), ("lineitem", "l_orderkey", "l_suppkey")):
        relation = ORDERS if name == "orders" else LINES
        rows = spark.read.parquet(str(folder / f"{name}.parquet"))
        rows = rows.withColumn(key, spark_f.expr(f"if({other} % 100 = 0, NULL, {key})")).select(*relation.columns)
        rows.write.parquet(str(folder / f"{name}_with_nulls"))
        view = "joined_orders" if name == "orders" else "joined_lines"
        spark.read.parquet(str(folder / f"{name}_with_nulls")).createOrReplaceTempView(view)


def compare(spark: SparkSession, name: str, repeats: int) -> None:
    """Measure a join both ways and print the medians, the leasts and their ratios, and the operators."""
    relation = relations()[name]
    forms: dict[str, Callable[[], DataFrame]] = {
        "ours": lambda: relation.execute(spark),
        "by hand": partial(by_hand, name, spark),
    }
    process = java_process(spark)

    def run(form: Callable[[], DataFrame]) -> tuple[float, float]:
        worked, start = processor_ms(process), time.perf_counter()
        form().write.format("noop").mode("overwrite").save()
        return (time.perf_counter() - start) * 1000, processor_ms(process) - worked

    runs = {which: partial(run, form) for which, form in forms.items()}
    in_turns(runs, WARM)
    times = in_turns(runs, repeats)
    for number, clock in enumerate(("clock", "processors")):
        mine, theirs = ([one[number] for one in times[which]] for which in forms)
        print(
            f"{name:<18} {clock:<10} {median(mine):6.0f} ms, by hand {median(theirs):6.0f} ms,"
            f" ratio {median(mine) / median(theirs):5.2f};"
            f" least {min(mine):6.0f} and {min(theirs):6.0f} ms, ratio {min(mine) / min(theirs):5.2f}"
        )
    print_operators(spark, *(form() for form in forms.values()))


if __name__ == "__main__":
    main()
