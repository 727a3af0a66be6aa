"""The pipelines of everyday work on Spark, against PySpark's forms of the same: from the first verb to the last row.

Run from the repository's root: ``python -m benchmarks.everyday [--rows 300000] [--repeats 9] [months moved ...]``.
The pipelines are those of ``examples/everyday``, PySpark's forms those with the same rows in ``tests/everyday_forms``.
All rows are computed, and none is kept. The forms take turns; the ratios are those of the medians and of the least
times by the clock, and of Java's and Python's time of the processors, which other programs disturb less. "Building" is
what a form takes until Spark knows its plan. For a pipeline that is slower the operators of both plans are counted.
"""

from __future__ import annotations

import argparse
import inspect
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyspark.sql.functions as classic_functions
from pyspark.sql import DataFrame, SparkSession, Window

import substrait_dsl as sd
from benchmarks.measure import in_turns, processor_ms
from benchmarks.tpch import MEMORY, java_process, print_operators
from examples.everyday import schemas
from examples.everyday.pipelines import PIPELINES
from substrait_dsl.spark.session.local import local_session
from tests.everyday_forms import pyspark_forms

WARM = 3
"""How often each form runs before it is measured: what is generated for it Java compiles after a while."""
SLOWER = 1.1
SECONDS = "timestampadd(SECOND, pmod(xxhash64(id, {seed}), {most}), TIMESTAMP_NTZ '2024-01-01 00:00:00')"
DAY = "date_add(DATE '2024-01-01', CAST(pmod(xxhash64(id, {seed}), {most}) AS INT))"
CENTS = "CAST(CAST(pmod(xxhash64(id, {seed}), 1000000) AS DECIMAL(9, 0)) / 100 AS DECIMAL(9, 2))"

TABLES: dict[str, tuple[type[sd.Schema], float, dict[str, str]]] = {
    # the schema, the part of the rows that a table has, and its columns by the number of the row
    "clicks": (
        schemas.Click,
        1,
        {
            "user": "pmod(xxhash64(id), {rows} div 50)",
            "at": SECONDS.format(seed=1, most=86_400 * 7),
            "page": "concat('/', id % 5)",
        },
    ),
    "orders": (
        schemas.Order,
        2,
        {
            "id": "id",
            "customer": "pmod(xxhash64(id), {rows} div 20)",
            "day": DAY.format(seed=1, most=700),
            "region": "element_at(array(NULL, 'east', 'west', 'north'), CAST(id % 4 AS INT) + 1)",
            "status": "element_at(array('open', 'paid', 'returned'), CAST(id % 3 AS INT) + 1)",
            "amount": f"if(id % 9 = 4, NULL, {CENTS.format(seed=2)})",
        },
    ),
    "profiles": (
        schemas.Profile,
        1,
        {
            "customer": "pmod(xxhash64(id), {rows} div 5)",
            "updated": SECONDS.format(seed=1, most=86_400 * 300),
            "name": "concat('name ', id)",
            "email": "if(id % 5 = 0, NULL, concat(id, '@shop.example'))",
        },
    ),
    "baskets": (
        schemas.Basket,
        1,
        {
            "id": "id",
            "address": "named_struct('city', concat('city ', id % 50), 'zip', if(id % 4 = 0, string(id), NULL))",
            "items": "transform(slice(array(0, 1, 2, 3), 1, CAST(id % 5 AS INT)), m -> named_struct('sku',"
            f" concat('sku', (id + m) % 50), 'pieces', m + 1, 'price', {CENTS.format(seed=1)}))",
        },
    ),
    "requests": (
        schemas.Request,
        1,
        {
            "path": "concat('/', pmod(xxhash64(id), 300))",
            "milliseconds": "if(id % 10 = 9, NULL, CAST(pmod(xxhash64(id, 1), 5000) AS INT))",
        },
    ),
    "trades": (
        schemas.Trade,
        0.02,
        {"id": "id", "symbol": "concat('S', pmod(xxhash64(id), 200))", "at": SECONDS.format(seed=1, most=86_400)},
    ),
    "quotes": (
        schemas.Quote,
        0.05,
        {
            "symbol": "concat('S', pmod(xxhash64(id), 200))",
            "at": SECONDS.format(seed=1, most=86_400),
            "price": CENTS.format(seed=2),
        },
    ),
    "homes": (
        schemas.Home,
        1,
        {
            "customer": "id div 2",
            "city": "concat('city ', pmod(xxhash64(id), 50))",
            "since": "date_add(DATE '2020-01-01', CAST(id % 2 * 500 AS INT))",
            "until": "if(id % 2 = 0, date_add(DATE '2020-01-01', 500), NULL)",
        },
    ),
    "moves": (
        schemas.Move,
        0.2,
        {"customer": "id * 3", "city": "concat('city ', pmod(xxhash64(id), 5))", "day": DAY.format(seed=1, most=300)},
    ),
}
SIGNUPS: dict[str, str] = {
    "id": "CASE WHEN id % 50 = 0 THEN NULL WHEN id % 51 = 0 THEN 'x' ELSE CAST(id div 2 AS STRING) END",
    "email": "if(id % 7 = 0, NULL, concat(' User', id div 2, '@Shop.Example '))",
    "day": f"if(id % 11 = 0, 'soon', date_format({DAY.format(seed=1, most=700)}, 'dd/MM/yyyy'))",
    "credit": f"if(id % 13 = 0, 'many', CAST({CENTS.format(seed=2)} AS STRING))",
}
SALES: dict[str, str] = {
    "id": "id",
    "amount": f"if(id % 7 = 6, NULL, {CENTS.format(seed=1)})",
    "day": "date_add(DATE '2024-01-01', CAST(id % 4 AS INT))",
    "region": "element_at(array('east', 'west', 'north'), CAST(id % 3 AS INT) + 1)",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pipelines", nargs="*", default=list(PIPELINES))
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    vars(pyspark_forms).update(f=classic_functions, Window=Window)  # the tests run them in a session of a client
    with tempfile.TemporaryDirectory() as directory:
        os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--driver-memory {MEMORY} pyspark-shell")
        spark = local_session("everyday")
        make_tables(spark, Path(directory), options.rows)
        ratios = [compare(spark, Path(directory), name, options.repeats) for name in options.pipelines]
        print()
        for number, what in enumerate(("medians", "least times", "medians of the processors' time")):
            found = [ratio[number] for ratio in ratios]
            print(
                f"ratios of the {what}: geometric mean {statistics.geometric_mean(found):.3f}, "
                f"from {min(found):.3f} to {max(found):.3f}"
            )
        spark.stop()


def make_tables(spark: SparkSession, folder: Path, rows: int) -> None:
    """Write the tables as Parquet files and register them, and write the files that pipelines read."""

    def table(columns: dict[str, str], part: float) -> DataFrame:
        texts = (f"{text.format(rows=rows)} AS {name}" for name, text in columns.items())
        return spark.range(int(rows * part)).selectExpr(*texts)

    for name, (_, part, columns) in TABLES.items():
        table(columns, part).write.parquet(str(folder / name))
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)
    table(SALES, 2).coalesce(1).write.partitionBy("day", "region").parquet(str(folder / "sales"))
    table(SIGNUPS, 0.3).coalesce(1).write.csv(str(folder / "lines"), header=True)
    (written,) = (folder / "lines").glob("*.csv")
    written.rename(folder / "signups.csv")


def forms(spark: SparkSession, folder: Path, name: str) -> dict[str, Callable[[], DataFrame]]:
    """A pipeline in both forms."""
    ours, theirs = PIPELINES[name], getattr(pyspark_forms, name)
    fixed: dict[str, Any] = {"folder": folder, "spark": spark}

    def inputs(form: Callable[..., Any], read: Callable[[str], Any]) -> list[Any]:
        return [fixed[each] if each in fixed else read(each) for each in inspect.signature(form).parameters]

    def with_schema(table: str) -> sd.Relation[Any]:
        return sd.read_named(table, TABLES[table][0])

    return {
        "ours": lambda: ours(*inputs(ours, with_schema)).execute(spark),
        "PySpark": lambda: theirs(*inputs(theirs, spark.table)),
    }


def compare(spark: SparkSession, folder: Path, name: str, repeats: int) -> tuple[float, ...]:
    """Measure a pipeline both ways and print a line.

    Returns the ratios of the medians, of the least times, and of the processors' time.
    """
    process = java_process(spark)

    def run(form: Callable[[], DataFrame]) -> tuple[float, float, float]:
        worked, start = processor_ms(process) + processor_ms(os.getpid()), time.perf_counter()
        frame = form()
        built = time.perf_counter()
        frame.write.format("noop").mode("overwrite").save()
        end = time.perf_counter()
        worked = processor_ms(process) + processor_ms(os.getpid()) - worked
        return (end - start) * 1000, worked, (built - start) * 1000

    both = forms(spark, folder, name)
    runs = {which: partial(run, form) for which, form in both.items()}
    in_turns(runs, WARM)
    times = in_turns(runs, repeats)
    clock, work, built = ({which: [one[n] for one in times[which]] for which in both} for n in range(3))
    medians = {which: statistics.median(clock[which]) for which in both}
    ratios = (
        medians["ours"] / medians["PySpark"],
        min(clock["ours"]) / min(clock["PySpark"]),
        statistics.median(work["ours"]) / statistics.median(work["PySpark"]),
    )
    print(
        f"{name:<18} ours {medians['ours']:6.0f} ms, PySpark {medians['PySpark']:6.0f} ms, ratio {ratios[0]:5.2f};"
        f" least {min(clock['ours']):6.0f} and {min(clock['PySpark']):6.0f} ms, ratio {ratios[1]:5.2f};"
        f" processors {ratios[2]:5.2f}; building {statistics.median(built['ours']):4.0f} and"
        f" {statistics.median(built['PySpark']):4.0f} ms",
        flush=True,
    )
    if min(ratios) > SLOWER:
        print_operators(spark, *(form() for form in both.values()))
    return ratios


if __name__ == "__main__":
    main()
