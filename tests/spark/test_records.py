"""Tables and views of records that are text: their rows do not depend on what a plan does with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.session.explain import spark_plan
from tests.spark.rows import collected, counted
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JSON = '{"id":1,"v":1,"v":2}\n{"id":2,"v":2}\n{"id":3,"v":"x"}\n{"id":4,"s":"\\u12"}\n{"id":10,"v":2'
"""Two values of one name, a text for a number, and records that are cut off."""
CSV = "1,2\n2,x\n3\n4,2,5\n"
XML = "<r><ROW><id>1</id><v>2</v></ROW><ROW><id>2</id><v>x</v></ROW><ROW><id>3</id></ROW></r>"

V = "v BIGINT"
BROKEN = "v BIGINT, _corrupt_record STRING"
TABLES: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "json": ("json", JSON, V, {}),
    "json without what is broken": ("json", JSON, V, {"mode": "DROPMALFORMED"}),
    "json with what is broken": ("json", JSON, BROKEN, {}),
    "csv": ("csv", CSV, V, {}),
    "csv without what is broken": ("csv", CSV, V, {"Mode": "dropmalformed"}),
    "csv with what is broken": ("csv", CSV, BROKEN, {"header": "false"}),
    "csv with what is called bad": ("csv", CSV, "v BIGINT, bad STRING", {"columnNameOfCorruptRecord": "bad"}),
    "xml without what is broken": ("xml", XML, V, {"rowTag": "ROW", "mode": "DROPMALFORMED"}),
}


@contextmanager
def there(
    kind: str, text: str, columns: str, options: dict[str, str], path: Path, spark: SparkSession
) -> Iterator[Any]:
    """Such a table, a view of it, and a view of its files."""
    path.mkdir()
    (path / "t").write_text(text)
    schema = f"id BIGINT, {columns}"
    written = ", ".join(f"'{key}' '{value}'" for key, value in {**options, "path": str(path)}.items())
    spark.sql(f"CREATE TABLE records ({schema}) USING {kind} OPTIONS ({written})")
    spark.sql("CREATE TEMPORARY VIEW records_view AS SELECT * FROM records")
    spark.read.format(kind).schema(schema).options(**options).load(str(path)).createTempView("records_files")
    try:
        yield ("records", "records_view", "records_files")
    finally:
        spark.catalog.dropTempView("records_view")
        spark.catalog.dropTempView("records_files")
        spark.sql("DROP TABLE records")


@pytest.mark.parametrize(("kind", "text", "columns", "options"), TABLES.values(), ids=TABLES)
def test_the_rows_do_not_depend_on_the_plan(
    kind: str, text: str, columns: str, options: dict[str, str], tmp_path: Path, spark: SparkSession
) -> None:
    last = columns.split()[-2]
    declared = {"id": "i64?", "v": "i64?"} | ({} if last == "v" else {last: "string?"})
    with there(kind, text, columns, options, tmp_path / "t", spark) as names:
        for name in names:
            require_same(sd.read_named(name, declared), [tuple(row) for row in spark.table(name).collect()], spark)


def require_same(read: Any, whole: list[Any], spark: SparkSession) -> None:
    """That parts of what is read are the parts of the whole."""
    last = read.schema.names[-1]
    assert counted(read, spark) == Counter(whole)
    assert counted(read.select("id"), spark) == Counter(row[:1] for row in whole)
    assert counted(read.select(last), spark) == Counter(row[-1:] for row in whole)
    assert collected(read.aggregate(n=f.count()), spark) == [(len(whole),)]
    assert counted(read.filter(lambda r: r.v == 2).select("id"), spark) == Counter(r[:1] for r in whole if r[1] == 2)
    assert counted(read.filter(lambda r: r.v.is_null()), spark) == Counter(row for row in whole if row[1] is None)
    fine = read.filter(lambda r: sd.col(last).is_null()).select("id")
    assert counted(fine, spark) == Counter(row[:1] for row in whole if row[-1] is None)
    inside = read.filter(lambda r: r.v.is_in(read.filter(lambda o: o.v > 1).select("v"))).select("id")
    assert counted(inside, spark) == Counter(row[:1] for row in whole if row[1] == 2)


def test_an_error_of_a_table_does_not_depend_on_the_plan(tmp_path: Path, spark: SparkSession) -> None:
    with there("csv", CSV, V, {"mode": "FAILFAST"}, tmp_path / "t", spark) as names:
        for name in names:
            read = sd.read_named(name, {"id": "i64?", "v": "i64?"})
            for used in (read.select("id"), read.aggregate(n=f.count()), read.filter(lambda r: r.id == 1)):
                with pytest.raises(ExecutionError, match=r"Malformed|error while reading file"):
                    used.collect(spark)


def test_filters_reach_the_readers_that_take_values_for_what_they_are(tmp_path: Path, spark: SparkSession) -> None:
    read = sd.read_named("records", {"id": "i64?"}).filter(lambda r: r.id > 1)
    with there("csv", CSV, V, {"sep": ","}, tmp_path / "csv", spark):
        plan = spark_plan(read.execute(spark), "simple")
        assert "GreaterThan(id,1)" in plan
        assert "ReadSchema: struct<id:bigint>" in plan
    spark.sql(
        f"CREATE TABLE records (id BIGINT, day INT) USING json PARTITIONED BY (day) LOCATION '{tmp_path / 'day'}'"
    )
    try:
        spark.sql("INSERT INTO records VALUES (1, 1), (2, 2)")
        on_day = sd.read_named("records", {"id": "i64?", "day": "i32?"}).filter(lambda r: (r.day == 2) & (r.id == 2))
        assert collected(on_day, spark) == [(2, 2)]
        plan = spark_plan(on_day.execute(spark), "simple")
        assert "(day" in plan.partition("PartitionFilters: ")[2].partition("]")[0]
        assert "EqualTo(id,2)" not in plan
        spark.conf.set("spark.sql.json.filterPushdown.enabled", "false")
        assert "transform(array(id" not in spark_plan(on_day.execute(spark), "simple")
        assert collected(on_day, spark) == [(2, 2)]
    finally:
        spark.conf.unset("spark.sql.json.filterPushdown.enabled")
        spark.sql("DROP TABLE records")


@pytest.mark.parametrize("other", ["records_none", "records_two"])
def test_many_tables_of_which_some_are_text(other: str, tmp_path: Path, spark: SparkSession) -> None:
    """They are looked up at once, also where one that has no rows hides the others."""
    spark.sql("SELECT 1L AS k WHERE false").createOrReplaceTempView("records_none")
    spark.sql("SELECT 2L AS k").createOrReplaceTempView("records_two")
    with there("json", JSON, V, {}, tmp_path / "t", spark) as names:
        read = sd.read_named(names[0], {"id": "i64?", "v": "i64?"}).filter(lambda r: r.v == 2)
        two = sd.read_named("records_two", {"k": "i64"})
        looked_at = sd.read_named(other, {"k": "i64"})
        wide = read.join(two, lambda r, t: r.v == t.k).select("id")
        joined = wide.join(looked_at, lambda w, o: w.id <= o.k, "left").select("id")
        assert counted(joined, spark) == Counter([(1,), (2,)])
