"""Reads of files, which engines refuse that take tables: the hint is followed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

import substrait_dsl as sd
from substrait_dsl.errors import SchemaError, UnsupportedError
from tests.support import refused

if TYPE_CHECKING:
    from datafusion import SessionContext

COLUMNS = {"id": "i64?", "name": "string?"}
ROWS = [(1, "ann"), (2, None)]


def _write(path: Path) -> Path:
    pq.write_table(pa.table({"id": [1, 2], "name": ["ann", None]}), path)
    return path


def test_files_are_tables_of_the_execution(tmp_path: Path, context: SessionContext) -> None:
    path = _write(tmp_path / "t.parquet")
    said = 'read_named("t", schema) reads a table, and tables={"t": ...} of an execution takes '
    with refused(
        UnsupportedError, "a read of files cannot be lowered", f"{said}the path of a Parquet or an Arrow file"
    ):
        sd.read_files(path, COLUMNS).collect(context)
    named = sd.read_named("t", COLUMNS)
    assert sorted(named.collect(context, tables={"t": str(path)})) == ROWS

    (tmp_path / "t.csv").write_text("id,name\n1,ann\n2,\n")
    texts = sd.read_files(tmp_path / "t.csv", {"id": "string", "name": "string"}, format="csv")
    with refused(UnsupportedError, "a read of files", f"{said}the table that to_arrow() of the read makes"):
        texts.collect(context)
    table = sd.read_csv(tmp_path / "t.csv", COLUMNS).to_arrow()
    assert sorted(named.collect(context, tables={"t": table})) == ROWS


def test_columns_of_other_types_are_declared_as_they_are(tmp_path: Path) -> None:
    path = _write(tmp_path / "t.parquet")
    hint = (
        'which schema_of(path) shows where it is on this machine, and cast them: with_columns(x=col("x").cast("i32"))'
    )
    with refused(SchemaError, 'column "id" is bigint, declared i32? (int)', hint):
        sd.read_files(path, {"id": "i32?"}).collect()
    assert "id: sd.Nullable[sd.I64]" in str(sd.schema_of(path))
    read = sd.read_files(path, {"id": "i64?"}).with_columns(id=sd.col("id").cast("i32"))
    assert str(read.schema) == "0  id  i32?"
    assert sorted(read.collect()) == [(1,), (2,)]
