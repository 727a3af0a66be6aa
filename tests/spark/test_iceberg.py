"""Iceberg tables by their metadata file, made by pyiceberg: snapshots by id and by time, deletes, renamed columns."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from tests.spark.rows import counted
from tests.support import refused

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table
    from pyspark.sql import SparkSession

ROWS = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]})
SCHEMA = {"id": "i64?", "name": "string?"}
FIRST = Counter([(1, "a"), (2, None), (3, "c")])


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("test", uri="sqlite://", warehouse=tmp_path.as_uri())
    catalog.create_namespace("db")
    return catalog


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Three rows; then a fourth; then the first is deleted, and a column gets another name."""
    table = catalog.create_table("db.t", ROWS.schema)
    table.append(ROWS)
    table.append(pa.table({"id": [4], "name": ["d"]}))
    table.delete("id = 1")
    with table.update_schema() as update:
        update.rename_column("name", "title")
    return table


def test_the_current_snapshot(table: Table, spark: SparkSession) -> None:
    read = sd.read_iceberg(table.metadata_location, {"id": "i64?", "title": "string?"})
    assert counted(read, spark) == Counter([(2, None), (3, "c"), (4, "d")])
    titles = sd.read_iceberg(table.metadata_location, {"TITLE": "string?"}, filter=sd.col("TITLE") > "c")
    assert counted(titles, spark) == Counter([("d",)])


def test_older_snapshots_have_the_columns_of_their_time(table: Table, spark: SparkSession) -> None:
    first, second = table.snapshots()[:2]
    read = sd.read_iceberg(table.metadata_location, SCHEMA, snapshot_id=first.snapshot_id)
    assert counted(read, spark) == FIRST
    for microseconds, rows in [
        (first.timestamp_ms * 1000, FIRST),
        (second.timestamp_ms * 1000 - 1, FIRST),
        (second.timestamp_ms * 1000, FIRST + Counter([(4, "d")])),
    ]:
        assert counted(sd.read_iceberg(table.metadata_location, SCHEMA, snapshot_timestamp=microseconds), spark) == rows
    moment = dt.datetime.fromtimestamp(second.timestamp_ms / 1000, dt.UTC)
    assert counted(
        sd.read_iceberg(table.metadata_location, SCHEMA, snapshot_timestamp=moment), spark
    ) == FIRST + Counter([(4, "d")])


def test_a_metadata_file_may_have_any_name(table: Table, tmp_path: Path, spark: SparkSession) -> None:
    other = tmp_path / "a table.json"
    other.write_text(Path(table.metadata_location.removeprefix("file://")).read_text())
    assert counted(sd.read_iceberg(other, {"id": "i64?"}), spark) == Counter([(2,), (3,), (4,)])


def test_a_table_without_snapshots_has_no_rows(catalog: Catalog, spark: SparkSession) -> None:
    table = catalog.create_table("db.empty", ROWS.schema)
    assert counted(sd.read_iceberg(table.metadata_location, SCHEMA), spark) == Counter()


def test_nanoseconds_are_refused(catalog: Catalog, tmp_path: Path, spark: SparkSession) -> None:
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, MapType, NestedField, StructType, TimestampType, TimestamptzType

    nested = StructType(NestedField(4, "x", MapType(5, LongType(), 6, TimestamptzType())))
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "t", TimestampType()), NestedField(3, "s", nested))
    written = Path(catalog.create_table("db.t", schema).metadata_location.removeprefix("file://")).read_text()
    # The third version of the format alone has nanoseconds, and pyiceberg does not write it.
    for old, new in [("timestamp", "timestamp_ns"), ("timestamptz", "timestamptz_ns")]:
        written = written.replace(f'"{old}"', f'"{new}"')
    where = tmp_path / "nanoseconds.metadata.json"
    where.write_text(written.replace('"format-version":2', '"format-version":3,"next-row-id":0'))
    struct = sd.Struct((sd.Map(sd.I64(), sd.PrecisionTimestampTZ(6, nullable=True)),), ("x",), nullable=True)
    columns: list[tuple[str, sd.Type]] = [("t", sd.PrecisionTimestamp(6, nullable=True)), ("s", struct)]
    for name, type_ in columns:
        with refused(UnsupportedError, "execute", f'"{name}"', "no nanoseconds"):
            sd.read_iceberg(where, {"id": "i64?", name: type_}).execute(spark)
    assert counted(sd.read_iceberg(where, {"id": "i64?"}), spark) == Counter()


def test_what_is_not_there_is_named(table: Table, tmp_path: Path, spark: SparkSession) -> None:
    where = table.metadata_location
    number = str(table.snapshots()[0].snapshot_id)
    with pytest.raises(ExecutionError, match=f'has no snapshot "17"; it has .*{number}'):
        sd.read_iceberg(where, SCHEMA, snapshot_id=17).execute(spark)
    with pytest.raises(ExecutionError, match=r"no snapshot of 1970-01-01T00:00:01\+00:00 or before"):
        sd.read_iceberg(where, SCHEMA, snapshot_timestamp=1_000_000).execute(spark)
    with pytest.raises(SchemaError, match='no column "nam"'):
        sd.read_iceberg(where, {"nam": "string?"}).execute(spark)
    with pytest.raises(SchemaError, match='it has one column "id", declared "id" and "ID"'):
        sd.read_iceberg(where, {"id": "i64?", "ID": "i64?"}).execute(spark)
    with pytest.raises(SchemaError, match='column "id" is bigint, declared string'):
        sd.read_iceberg(where, {"id": "string?"}).execute(spark)
    with pytest.raises(ExecutionError, match=r"cannot read the metadata file .*nothing"):
        sd.read_iceberg(tmp_path / "nothing.json", SCHEMA).execute(spark)
    (tmp_path / "other.json").write_text("{}")
    with refused(ExecutionError, "execute", "cannot read the metadata file", "format-version"):
        sd.read_iceberg(tmp_path / "other.json", SCHEMA).execute(spark)
    (tmp_path / "other.metadata.json").write_text("{}")
    with pytest.raises(ExecutionError, match=r"cannot read the metadata file .*other.*format-version"):
        sd.read_iceberg(tmp_path / "other.metadata.json", SCHEMA).execute(spark)


@pytest.mark.parametrize(
    "kind", ["variant", {"type": "list", "element-id": 9, "element": "variant", "element-required": False}]
)
def test_a_type_that_pyiceberg_does_not_know(
    kind: object, catalog: Catalog, tmp_path: Path, spark: SparkSession
) -> None:
    table = catalog.create_table("db.typed", ROWS.schema)
    written = json.loads(Path(table.metadata_location.removeprefix("file://")).read_text())
    written["schemas"][0]["fields"].append({"id": 8, "name": "w", "type": kind, "required": False})
    path = tmp_path / "typed.metadata.json"
    path.write_text(json.dumps({**written, "format-version": 3, "next-row-id": 0, "last-column-id": 9}))
    with pytest.raises(
        UnsupportedError, match=r"typed\.metadata\.json, which has a column of the type variant"
    ) as refused:
        sd.read_iceberg(path, {"id": "i64?"}).execute(spark)
    assert "by its name" in (refused.value.hint or "")
