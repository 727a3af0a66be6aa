"""Sail reads the files that Spark reads, or the read is refused: it is told each of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, InvalidArgumentError, SchemaError, UnsupportedError
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IDS = {"id": "i64?"}
FILES = (
    "a.parquet",
    "part-0",
    "_hidden.parquet",
    ".hidden.parquet",
    "[a].parquet",
    "{a,b}.parquet",
    "b 100%41.parquet",
)
"""Each has its number, from 1 on; the next stand in folders."""
INSIDE = ("inside/c.parquet", "days/day=1/d.parquet", "inside/below/e.parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for number, name in enumerate((*FILES, *INSIDE), start=1):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": pa.array([number], pa.int64())}), folder / name)
    (folder / "empty").mkdir()
    return folder


def ids(read: sd.Relation[Any], sail: SparkSession) -> list[int]:
    return sorted(row[0] for row in read.collect(sail))


def paths_of(folder: Path, names: Sequence[str]) -> list[str]:
    return [str(folder / name) for name in names]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.parquet", [1, 5, 6, 7]),
        ("{a,part}*", [1, 2]),
        ("[a].parquet", [1]),
        ("?.parquet", [1]),
        ("*/c*", [8]),
        ("inside/*.parquet", [8]),
    ],
)
def test_a_pattern_finds_what_lies_there_and_nothing_below(
    pattern: str, found: list[int], folder: Path, sail: SparkSession
) -> None:
    assert ids(sd.read_files(str(folder / pattern), IDS, kind="glob"), sail) == found


def test_names_with_characters_of_patterns_and_of_uris(folder: Path, sail: SparkSession) -> None:
    for number, name in enumerate(FILES, start=1):
        if name[0] not in "_.":
            uri = (folder / name).as_uri()
            assert ids(sd.read_files(uri, IDS), sail) == [number]


def test_several_files_and_folders_named_after_columns(folder: Path, sail: SparkSession) -> None:
    assert ids(sd.read_files(paths_of(folder, ("a.parquet", "a.parquet", "part-0")), IDS), sail) == [1, 1, 2]
    days = sd.read_files(str(folder / "days"), {**IDS, "day": "i32?"}, kind="folder")
    assert days.collect(sail) == [(9, 1)]


def test_what_is_not_there(folder: Path, sail: SparkSession) -> None:
    """Sail passes over a file that is not there, beside others and alone."""
    for names in (("none.parquet",), ("a.parquet", "none.parquet")):
        with refused(ExecutionError, "there is nothing to read", "none.parquet"):
            sd.read_files(paths_of(folder, names), IDS).collect(sail)
    with refused(ExecutionError, "there is nothing to read", "none*.parquet"):
        sd.read_files(str(folder / "none*.parquet"), IDS, kind="glob").collect(sail)
    with refused(ExecutionError, "finds no files with columns"):
        sd.read_files(str(folder / "empty"), IDS, kind="folder").collect(sail)


def test_the_faults_are_there(folder: Path, sail: SparkSession) -> None:
    """Fails when Sail lists files as Spark does: then it need not be told each."""
    both = sail.read.format("parquet").load(paths_of(folder, ("a.parquet", "none.parquet")))
    assert [row[0] for row in both.collect()] == [1]
    below = sail.read.format("parquet").load(str(folder / "inside" / "*.parquet"))
    assert {row[0] for row in below.collect()} == {8, 10}


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda folder: sd.read_files(str(folder / "*"), IDS, kind="glob"), "no folders by a pattern"),
        (lambda folder: sd.read_files("s3://bucket/*.parquet", IDS, kind="glob"), "read others by a pattern"),
        (lambda folder: sd.read_files(["s3://bucket/a", "s3://bucket/b"], IDS), "that are not there"),
        (lambda folder: sd.read_files("a.orc", IDS, format="orc"), "Sail reads no ORC"),
    ],
)
def test_what_is_refused(read: Any, said: str, folder: Path, sail: SparkSession) -> None:
    with refused(UnsupportedError, said):
        read(folder).execute(sail)


@pytest.mark.parametrize(("bits", "kind"), [(8, "i16"), (16, "i32"), (32, "i64"), (64, "decimal<20,0>")])
def test_unsigned_integers(bits: int, kind: str, sail: SparkSession, tmp_path: Path) -> None:
    """They are those of the next larger type, as on Spark, and never those of a signed one of as many bits."""
    path = str(tmp_path / "unsigned.parquet")
    largest, arrow = 2**bits - 1, getattr(pa, f"uint{bits}")()
    pq.write_table(pa.table({"c": pa.array([0, largest], arrow)}), path)
    for declared in (kind, f"u!u{bits}"):
        assert [int(row[0]) for row in sd.read_files(path, {"c": declared}).collect(sail)] == [0, largest]
    at_least = sd.read_files(path, {"c": kind}).filter(lambda r: r.c > 1)
    assert [int(row[0]) for row in at_least.collect(sail)] == [largest]
    with refused(SchemaError, 'column "c" is'):
        sd.read_files(path, {"c": f"i{bits}"}).collect(sail)
    sail.read.parquet(path).createOrReplaceTempView("unsigned_integers")
    with refused(ExecutionError, f"the value {largest} cannot be cast"):
        sd.read_named("unsigned_integers", {"c": f"i{bits}"}).collect(sail)
    pq.write_table(pa.table({"c": pa.array([[largest]], pa.list_(arrow))}), path)
    with refused(UnsupportedError, "unsigned integers for signed ones", "through Arrow"):
        sd.read_files(path, {"c": f"list<i{bits}?>?"}).collect(sail)


@pytest.mark.parametrize(
    ("kind", "value", "declared"),
    [
        (pa.timestamp("ns"), dt.datetime(2024, 1, 2, 3, 4, 5, 6), "precision_timestamp<6>?"),
        (pa.list_(pa.timestamp("ms")), [dt.datetime(2024, 1, 2)], "list<precision_timestamp<3>?>?"),
        (pa.dictionary(pa.int32(), pa.string()), "a", "string?"),
        (pa.decimal64(5, 2), Decimal("1.50"), "decimal?<5,2>"),
        (pa.date64(), dt.date(1582, 10, 10), "date?"),
    ],
)
def test_types_of_files_that_are_read_through_arrow(
    kind: pa.DataType, value: Any, declared: str, sail: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"c": pa.array([value], kind)}), path)
    for columns in ({"c": declared}, {"d": declared}):
        with refused(UnsupportedError, "which Sail does not read", "through Arrow"):
            sd.read_files(str(path), columns).collect(sail)
    assert sd.read_named("t", {"c": declared}).collect(sail, tables={"t": path}) == [(value,)]


@pytest.mark.parametrize(
    ("kind", "values"), [("string", ["1", "2"]), ("i32", [1, 2]), ("decimal", [Decimal(1), Decimal(2)])]
)
def test_the_folder_that_stands_for_null(kind: str, values: list[Any], sail: SparkSession, tmp_path: Path) -> None:
    for number, name in enumerate(("1", "2", "__HIVE_DEFAULT_PARTITION__")):
        (tmp_path / f"part={name}").mkdir()
        pq.write_table(pa.table({"id": [number]}), tmp_path / f"part={name}" / "a.parquet")
    nullable = "decimal?<5,0>" if kind == "decimal" else f"{kind}?"
    read = sd.read_files(str(tmp_path), {**IDS, "part": nullable}, kind="folder").sort("id")
    assert read.collect(sail) == [(0, values[0]), (1, values[1]), (2, None)]
    assert read.filter(lambda r: r.part.is_null()).select("id").collect(sail) == [(2,)]


@pytest.mark.parametrize(
    ("folder", "type_", "value"),
    [
        ("2024-05-01", "date", dt.date(2024, 5, 1)),
        ("2024-05-01 10%3A00%3A00", "date", None),
        ("1.50", "decimal<5,2>", Decimal("1.50")),
        ("1e1", "decimal<5,2>", None),
    ],
)
def test_dates_and_decimals_in_names_of_folders(
    folder: str, type_: str, value: Any, sail: SparkSession, tmp_path: Path
) -> None:
    """A time of day and an exponent, which Sail reads otherwise than Spark, are an error and no value."""
    (tmp_path / f"part={folder}").mkdir()
    pq.write_table(pa.table({"id": [1]}), tmp_path / f"part={folder}" / "a.parquet")
    read = sd.read_files(str(tmp_path), {**IDS, "part": type_}, kind="folder")
    if value is None:
        with refused(ExecutionError, f'does not fit column "part", declared {type_}'):
            read.collect(sail)
    else:
        assert read.filter(lambda r: r.part == value).collect(sail) == [(1, value)]


def test_times_in_96_bits(sail: SparkSession, tmp_path: Path) -> None:
    """As Spark writes them: they are points in time."""
    path = str(tmp_path / "t.parquet")
    days = [dt.datetime(2024, 1, 2, 3, 4, 5, 678901), dt.datetime(1500, 1, 1), dt.datetime(9999, 12, 31)]
    table = pa.table({"at": pa.array(days, pa.timestamp("us"))})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    found = sd.read_files(path, {"at": "precision_timestamp_tz<6>?"}).to_arrow(sail)
    assert [at.replace(tzinfo=None) for at in found.column(0).to_pylist()] == days
    with refused(SchemaError, 'column "at" is timestamp'):
        sd.read_files(path, {"at": "precision_timestamp<6>?"}).collect(sail)


def test_a_file_without_a_byte_is_no_parquet(sail: SparkSession, tmp_path: Path) -> None:
    """It is not passed over, beside others neither; the hint is followed by both of its ways."""
    empty, other = tmp_path / "empty.parquet", tmp_path / "other.parquet"
    empty.touch()
    pq.write_table(pa.table({"id": pa.array([1], pa.int64())}), other)
    for files in (empty, [other, empty]):
        with refused(
            ExecutionError, f"the file {empty} is empty (0 bytes), and no Parquet file", "write it anew, or leave"
        ):
            sd.read_files(files, IDS).collect(sail)
    with refused(ExecutionError, "empty.parquet is empty (0 bytes)"):
        sd.read_files(str(tmp_path / "*.parquet"), IDS, kind="glob").collect(sail)
    with refused(ExecutionError, 'table "t": the file', "empty (0 bytes), neither a Parquet nor an Arrow file"):
        sd.read_named("t", IDS).collect(sail, tables={"t": empty})
    with refused(InvalidArgumentError, "empty.parquet' is empty (0 bytes): it has no columns"):
        sd.schema_of(empty)
    assert sd.read_files([other], IDS).collect(sail) == [(1,)]
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), empty)
    assert sd.read_files([other, empty], IDS).collect(sail) == [(1,)]
    assert sd.read_files(empty, IDS).collect(sail) == []


def test_broken_files_and_files_that_differ(sail: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("no file of that kind")
    with refused(ExecutionError, "a.parquet", "finds a broken file"):
        sd.read_files(str(tmp_path / "a.parquet"), IDS).collect(sail)
    for name, kind in (("a", pa.int64()), ("b", pa.int32())):
        pq.write_table(pa.table({"id": pa.array([1], kind)}), tmp_path / f"{name}.parquet")
    with refused(SchemaError, 'finds column "id" of', "Int32", "Int64", "union_all"):
        sd.read_files(str(tmp_path), IDS, kind="folder").collect(sail)


def test_the_path_of_a_table_that_looks_like_a_uri(
    sail: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"id": [7]}), tmp_path / "at 12:00.parquet")
    assert sd.read_named("t", IDS).collect(sail, tables={"t": "at 12:00.parquet"}) == [(7,)]
