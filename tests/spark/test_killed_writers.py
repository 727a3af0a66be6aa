"""Writers that are killed, in a process of their own, while Spark computes their rows; then the same is written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("java")

COLUMNS = {"id": "string", "part": "string"}
OLD = [(str(number), "old") for number in range(3)]
TASKS = 400
"""How many tasks the killed writers have, of which each takes a while: none ends before all have begun."""
PROJECT = Path(__file__).parents[2]
MAX_SECONDS = 300
"""How long the tasks may take on a machine that is busy."""
WHEN = 3
"""How many of their tasks are done when the writers are killed."""
FORMATS: dict[str, Any] = {
    "parquet": "parquet",
    "orc": "orc",
    "csv": sd.DelimitedText(field_delimiter=",", quote='"', escape='"'),
}
TARGETS = (
    "parquet files",
    "orc partitioned files",
    "csv files",
    "csv new files",
    "parquet replaced files",
    "orc table",
    "parquet partitioned table",
)
PROGRAM = """
import sys, threading
from pathlib import Path
from substrait_dsl.spark.session.local import SETTINGS, local_session
from tests.spark.test_killed_writers import TARGETS, make, slow_rows, write

# All of them run at once, and their tasks do little but sleep.
SETTINGS |= {"spark.master": f"local[{2 * len(TARGETS)}]", "spark.scheduler.mode": "FAIR"}
spark = local_session()
folder = Path(sys.argv[1])
for target in TARGETS:
    make(target, folder, spark)
rows = slow_rows(spark)
print("made", flush=True)

def run(target):
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", target)
    write(target, folder, rows, spark)

for target in TARGETS:
    threading.Thread(target=run, args=(target,)).start()
"""


def slow_rows(spark: SparkSession) -> Any:
    sleep = "CAST(reflect('java.lang.Thread', 'sleep', 300L) IS NULL AS STRING)"
    values = spark.range(100, 100 + TASKS, 1, TASKS).selectExpr(  # each row in a task of its own
        "CAST(id AS STRING) AS id", f"replace({sleep}, 'false', concat('p', id % 2)) AS part"
    )
    values.createOrReplaceTempView("slow_rows")
    return sd.read_named("slow_rows", COLUMNS)


NEW = [(str(number), f"p{number % 2}") for number in range(100, 140)]


def parts(target: str, folder: Path) -> tuple[str, str, Path]:
    """The format of a target, what it is, and its folder."""
    form, _, place = target.partition(" ")
    return form, place, folder / target.replace(" ", "_")


def name(target: str) -> str:
    return f"killed_{target.replace(' ', '_')}"


def files_target(target: str, folder: Path) -> Any:
    form, place, path = parts(target, folder)
    return sd.files_target(f"{path}/{{part}}" if "partitioned" in place else path, FORMATS[form])


def define(target: str, folder: Path, spark: SparkSession) -> None:
    """Have the catalog of a session know a table."""
    form, place, path = parts(target, folder)
    partitions = "PARTITIONED BY (part)" if "partitioned" in place else ""
    spark.sql(f"CREATE TABLE {name(target)} (id STRING, part STRING) USING {form} {partitions} LOCATION '{path}'")
    if partitions and path.exists():
        spark.sql(f"ALTER TABLE {name(target)} RECOVER PARTITIONS")


def make(target: str, folder: Path, spark: SparkSession) -> None:
    """Make a target with the old rows, unless it is to be new."""
    old = sd.read_virtual(OLD, COLUMNS)
    if "new" in target:
        return
    if "table" in target:
        define(target, folder, spark)
        old.write(name(target)).execute(spark)
    else:
        old.write(files_target(target, folder), "ctas").execute(spark)


def write(target: str, folder: Path, rows: Any, spark: SparkSession) -> None:
    """Write rows to a target as its name says."""
    mode: Any = "replace_if_exists" if "replaced" in target else "error_if_exists"
    is_made = "new" in target or "replaced" in target
    where = name(target) if "table" in target else files_target(target, folder)
    rows.write(where, *(["ctas"] if is_made else []), **({"create_mode": mode} if is_made else {})).execute(spark)


def done(folder: Path) -> Iterator[int]:
    """Of each writer, how many tasks are done."""
    for pattern in ("*/_substrait_dsl/*/rows", "_substrait_dsl/*/rows"):
        for staged in folder.glob(pattern):
            yield len(list(staged.glob("_temporary/0/task_*")))


def read(target: str, folder: Path, spark: SparkSession) -> Counter[Any]:
    form, place, path = parts(target, folder)
    relation: Any = (
        sd.read_named(name(target), COLUMNS)
        if "table" in place
        else sd.read_files(path, COLUMNS, format=FORMATS[form], kind="folder")
    )
    return Counter(map(tuple, relation.collect(spark)))


def test_what_killed_writers_left_is_nobody_elses(tmp_path: Path, spark: SparkSession) -> None:
    """All are killed in one process, once some tasks of each are done; then each is written by this session."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SPARK_")}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True, cwd=PROJECT
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "made\n"
            end = time.monotonic() + MAX_SECONDS
            while sum(count >= WHEN for count in done(tmp_path)) < len(TARGETS):
                assert time.monotonic() < end, sorted(done(tmp_path))
                time.sleep(0.02)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    again = sd.read_virtual(NEW, COLUMNS)
    for target in TARGETS:
        if "table" in target:
            define(target, tmp_path, spark)
        if "new" not in target:
            assert read(target, tmp_path, spark) == Counter(OLD), target
        write(target, tmp_path, again, spark)
        kept = [] if "new" in target or "replaced" in target else OLD
        assert read(target, tmp_path, spark) == Counter([*kept, *NEW]), target
        if "table" in target:
            spark.sql(f"DROP TABLE {name(target)}")
