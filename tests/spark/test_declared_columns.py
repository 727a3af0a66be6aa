"""Each declared column has a column of the table, the view or the file to itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import SchemaError
from tests.spark.rows import collected

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = pa.table({"a": pa.array([1], pa.int32()), "b": pa.array([2], pa.int32())})


def table(folder: Path, spark: SparkSession) -> Any:
    spark.sql("DROP TABLE IF EXISTS declared_columns")
    spark.sql("CREATE TABLE declared_columns USING parquet AS SELECT 1 AS a, 2 AS b")
    return lambda schema: sd.read_named("declared_columns", schema)


def view(folder: Path, spark: SparkSession) -> Any:
    spark.sql("SELECT 1 AS a, 2 AS b").createOrReplaceTempView("declared_view")
    return lambda schema: sd.read_named("declared_view", schema)


def parquet(folder: Path, spark: SparkSession) -> Any:
    pq.write_table(ROWS, folder / "x.parquet")
    return lambda schema: sd.read_files(folder / "x.parquet", schema)


def orc(folder: Path, spark: SparkSession) -> Any:
    po.write_table(ROWS, folder / "x.orc")
    return lambda schema: sd.read_files(folder / "x.orc", schema, format="orc")


def arrow(folder: Path, spark: SparkSession) -> Any:
    with pa.ipc.new_file(folder / "x.arrow", ROWS.schema) as file:
        file.write_table(ROWS)
    return lambda schema: sd.read_files(folder / "x.arrow", schema, format="arrow")


def two_files(folder: Path, spark: SparkSession) -> Any:
    for name, rows in (("x", ROWS), ("y", ROWS.slice(1))):
        pq.write_table(rows, folder / f"{name}.parquet")
    return lambda schema: sd.read_files([folder / "x.parquet", folder / "y.parquet"], schema)


SOURCES: list[Callable[[Path, SparkSession], Any]] = [table, view, parquet, orc, arrow, two_files]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("names", [("a", "A"), ("A", "a"), ("a", "a"), ("b", "a", "B")])
def test_a_column_is_not_read_as_two(source: Any, names: tuple[str, ...], tmp_path: Path, spark: SparkSession) -> None:
    read = source(tmp_path, spark)
    relation: Any = read({f"c{number}": "i32?" for number in range(len(names))})
    declared = relation._rel.base_schema.with_names(names)  # the same name twice, only plans have
    twice: Any = sd.Relation(attrs.evolve(relation._rel, base_schema=declared))
    with pytest.raises(SchemaError, match=r'it has one column "[ab]", declared "\w" and "\w"'):
        twice.execute(spark)
    assert collected(read({"B": "i32?", "a": "i32?"}), spark) == [(2, 1)]


def test_a_column_of_folders_is_not_read_as_two(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "k=1").mkdir()
    (tmp_path / "k=1" / "x.csv").write_text("5\n")
    kind = sd.DelimitedText(",", null_value="")
    read: Any = lambda schema: sd.read_files(tmp_path, schema, format=kind, kind="folder")  # noqa: E731
    assert collected(read({"k": "string?", "v": "string?"}), spark) == [("1", "5")]
    with pytest.raises(SchemaError, match='named after one column "k", declared'):
        read({"k": "string?", "v": "string?", "K": "string?"}).execute(spark)


@pytest.mark.parametrize("declared", ["nstruct<a: i32?, A: i32?>?", "nstruct<a: i32?, a: i32?>?"])
@pytest.mark.parametrize("stored", ["named_struct('a', 1)", "named_struct('a', 1, 'b', 2)"])
def test_a_field_of_a_struct_is_not_read_as_two(declared: str, stored: str, spark: SparkSession) -> None:
    spark.sql(f"SELECT {stored} AS s").createOrReplaceTempView("declared_struct")
    with pytest.raises(SchemaError, match='column "s" is struct'):
        sd.read_named("declared_struct", {"s": declared}).execute(spark)
