"""Arrow files on Spark: values in every layout, and what is refused."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import ExecutionError, SchemaError
from tests.spark.column_files import stored
from tests.spark.rows import collected, counted
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

I32, I64 = pa.int32(), pa.int64()


def test_arrow_files_with_columns_that_spark_does_not_take(tmp_path: Path, spark: SparkSession) -> None:
    late = pa.array([1577836800000000001], pa.timestamp("ns"))
    one = stored(tmp_path / "1.arrow", i=[1], u=pa.nulls(1), t=late, n=pa.array([[late[0]]]))
    two = stored(tmp_path / "2.arrow", other=["x"], i=[2])
    assert counted(sd.read_files([one, two], {"i": "i64?"}, format="arrow"), spark) == Counter([(1,), (2,)])
    no_columns = rl.Read(NamedStruct(()), rl.LocalFiles((rl.FileItem(str(two), rl.Arrow()),)))
    assert sd.Relation(no_columns).execute(spark).count() == 1
    for declared, said in [
        ({"t": "precision_timestamp<6>?"}, 'column "t" is timestamp[ns], declared precision_timestamp<6>'),
        ({"n": "list<precision_timestamp<6>?>?"}, 'column "n" is list<item: timestamp[ns]>'),
        ({"u": "string?"}, 'column "u" is null, declared string?'),
    ]:
        with refused(SchemaError, "execute", f"1.arrow does not fit the declared schema: {said}", "table.cast(schema)"):
            sd.read_files(one, declared, format="arrow").execute(spark)


EPOCH = dt.date(1970, 1, 1)
VIEWS = pa.array(["x", None, "y"], pa.string_view())
RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3], I32), pa.array(["x", None], pa.string_view()))
ENDS = pa.array([0, 2, 2, 3], I32)
NO_SECOND = pa.array([False, True, False])
BACKWARDS = pa.ListViewArray.from_arrays(pa.array([1, 0, 0], I32), pa.array([2, 0, 1], I32), VIEWS, mask=NO_SECOND)
LAYOUTS: dict[str, tuple[Any, list[Any]]] = {
    "string_view": (VIEWS, ["x", None, "y"]),
    "binary_view": (pa.array([b"x", None, b""], pa.binary_view()), [b"x", None, b""]),
    "date64": (pa.array([0, None, -86_400_000], I64).view(pa.date64()), [EPOCH, None, EPOCH - dt.timedelta(1)]),
    "uint8": (pa.array([255, None, 0], pa.uint8()), [255, None, 0]),
    "uint16": (pa.array([65535, None, 0], pa.uint16()), [65535, None, 0]),
    "uint32": (pa.array([2**32 - 1, None, 0], pa.uint32()), [2**32 - 1, None, 0]),
    "uint64": (pa.array([2**64 - 1, None, 0], pa.uint64()), [2**64 - 1, None, 0]),
    "runs": (RUNS, ["x", None, None]),
    "dictionary": (
        pa.DictionaryArray.from_arrays(pa.array([1, 1, 0]), pa.array(["x", "y"], VIEWS.type)),
        ["y", "y", "x"],
    ),
    "list": (pa.ListArray.from_arrays(ENDS, VIEWS, mask=NO_SECOND), [["x", None], None, ["y"]]),
    "list_view": (BACKWARDS, [[None, "y"], None, ["x"]]),
    "large_list_view": (pa.array([[1, None], None, []], pa.large_list_view(I64)), [[1, None], None, []]),
    "list of runs": (pa.ListArray.from_arrays(ENDS, RUNS), [["x", None], [], [None]]),
    "pairs": (pa.array([[1, 2], None, [3, 4]], pa.list_(pa.uint32(), 2)), [[1, 2], None, [3, 4]]),
    "struct": (pa.StructArray.from_arrays([VIEWS, RUNS], ["v", "r"], mask=NO_SECOND), [("x", "x"), None, ("y", None)]),
    "map": (
        pa.MapArray.from_arrays(ENDS, pa.array([7, 8, 9], pa.uint8()), VIEWS, mask=NO_SECOND),
        [{7: "x", 8: None}, None, {9: "y"}],
    ),
}


def test_arrow_files_of_every_layout(tmp_path: Path, spark: SparkSession) -> None:
    """The schema of the file is what is declared; the values are the same in whatever layout they lie there."""
    columns: dict[str, Any] = {name: values for name, (values, _) in LAYOUTS.items()}
    path = stored(tmp_path / "x.arrow", **columns)
    read = sd.read_files(path, pa.table(columns).schema, format="arrow")
    assert collected(read, spark) == list(zip(*(values for _, values in LAYOUTS.values()), strict=True))
    plain, coded = stored(tmp_path / "1.arrow", s=["y"], l=[["z"]]), stored(tmp_path / "2.arrow", s=RUNS, l=BACKWARDS)
    dictionary = stored(
        tmp_path / "3.arrow", s=pa.array(["x"]).dictionary_encode(), l=pa.array([[]], pa.list_(VIEWS.type))
    )
    both = sd.read_files([plain, coded, dictionary], {"s": "string?", "l": "list<string?>?"}, format="arrow")
    rows = [("y", ["z"]), ("x", [None, "y"]), (None, None), (None, ["x"]), ("x", [])]
    assert collected(both, spark) == rows


def test_a_date_in_milliseconds_is_a_whole_day(tmp_path: Path, spark: SparkSession) -> None:
    moments = pa.array([86_400_001, None], I64).view(pa.date64())
    path = stored(
        tmp_path / "x.arrow", d=moments, l=pa.ListArray.from_arrays(pa.array([0, 2], I32), moments).take([0, 0])
    )
    for column, kind in (("d", "date?"), ("l", "list<date?>?")):
        with refused(ExecutionError, "execute", f'x.arrow: column "{column}"', "would lose data: 86400001"):
            sd.read_files(path, {column: kind}, format="arrow").execute(spark)


def test_arrow_streams_are_no_files(tmp_path: Path, spark: SparkSession) -> None:
    table = pa.table({"a": pa.array([1, 2], I64)})
    with pa.ipc.new_stream(tmp_path / "s", table.schema) as stream:
        stream.write_table(table)
    (tmp_path / "garbage").write_bytes(b"garbage" * 100)
    for name, has_hint in (("s", True), ("garbage", False)):
        with pytest.raises(ExecutionError, match="Not an Arrow file") as error:
            sd.read_files(tmp_path / name, table.schema, format="arrow").execute(spark)
        assert ("is a stream" in (error.value.hint or "")) == has_hint
