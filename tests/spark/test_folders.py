"""Columns that stand in the names of folders: their types, what Spark reads of them, and what is refused."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SchemaError
from tests.spark.column_files import stored
from tests.spark.rows import counted
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_columns_in_the_names_of_folders(tmp_path: Path, spark: SparkSession) -> None:
    for day in (1, 2):
        stored(tmp_path / "t" / f"day={day}" / "x.parquet", a=[10 * day])
    declared = {"a": "i64?", "day": "i32?"}
    read = sd.read_files(tmp_path / "t", declared, kind="folder")
    assert counted(read, spark) == Counter([(10, 1), (20, 2)])
    twice = sd.read_files([tmp_path / "t", tmp_path / "t"], declared, kind="folder")
    assert counted(twice, spark) == Counter([(10, 1), (20, 2)] * 2)
    stored(tmp_path / "u" / "day=3" / "x.parquet", a=[30])
    several = sd.read_files([tmp_path / "t", tmp_path / "u"], declared, kind="folder")
    assert counted(several, spark) == Counter([(10, 1), (20, 2), (30, 3)])
    overlapping = sd.read_files([tmp_path / "t", tmp_path / "t" / "day=1"], {"a": "i64?"}, kind="folder")
    assert counted(overlapping, spark) == Counter([(10,), (20,), (10,)])


FOLDERS: list[tuple[str, list[str], list[Any]]] = [
    ("string?", ["01234", "00042"], ["01234", "00042"]),
    ("string?", ["2024-01-01", "__HIVE_DEFAULT_PARTITION__"], ["2024-01-01", None]),
    ("i64?", ["1", "02"], [1, 2]),
    ("i16?", ["-7"], [-7]),
    ("decimal<9,2>?", ["1.10", "3"], [Decimal("1.10"), Decimal("3.00")]),
    ("boolean?", ["true", "false"], [True, False]),
    ("fp32?", ["1.5", "1e3"], [1.5, 1000.0]),
    ("varchar<3>?", ["001"], ["001"]),
    ("precision_timestamp<0>?", ["2024-01-01 10%3A00%3A00"], [dt.datetime(2024, 1, 1, 10)]),
    ("precision_timestamp<3>?", ["2024-01-01"], [dt.datetime(2024, 1, 1)]),
    ("precision_timestamp<6>?", ["2024-01-01 10%3A00%3A00"], [dt.datetime(2024, 1, 1, 10)]),
]
"""Types, names of folders, values. Of the names Spark makes integers, dates, doubles, texts or points in time."""


@pytest.mark.parametrize(("kind", "names", "wanted"), FOLDERS, ids=[f"{kind} {names[0]}" for kind, names, _ in FOLDERS])
def test_columns_in_the_names_of_folders_have_the_declared_type(
    kind: str, names: list[str], wanted: list[Any], tmp_path: Path, spark: SparkSession
) -> None:
    for number, name in enumerate(names):
        stored(tmp_path / "t" / f"`k={name}" / "x.parquet", a=[number])
    read = sd.read_files(tmp_path / "t", {"a": "i64?", "`k": kind}, kind="folder")
    assert counted(read, spark) == Counter(enumerate(wanted))
    assert counted(read.filter(sd.col("`k") == wanted[0]), spark) == Counter([(0, wanted[0])])


def test_names_of_folders_that_do_not_fit_the_declared_type(tmp_path: Path, spark: SparkSession) -> None:
    for name in ("1", "300", "x"):
        stored(tmp_path / "t" / f"k={name}" / "x.parquet", a=[1])
    read = sd.read_files(tmp_path / "t", {"a": "i64?", "k": "i8?"}, kind="folder")
    with refused(ExecutionError, "collect", "the folder k=", 'does not fit column "k", declared i8?'):
        read.collect(spark)
    stored(tmp_path / "d" / "k=1.100" / "x.parquet", a=[1])
    amounts = sd.read_files(tmp_path / "d", {"a": "i64?", "k": "decimal<9,2>?"}, kind="folder")
    assert counted(amounts, spark) == Counter([(1, Decimal("1.10"))])
    stored(tmp_path / "d" / "k=1.105" / "x.parquet", a=[1])
    with refused(ExecutionError, "collect", "the folder k=1.105 does not fit", "declared decimal<9,2>?"):
        amounts.collect(spark)
    with pytest.raises(SchemaError, match='column "k" is string, declared'):
        sd.read_files(tmp_path / "t", {"a": "i64?", "k": "list<i64>?"}, kind="folder").execute(spark)
    one_day = sd.read_files(tmp_path / "t" / "k=*" / "*.parquet", {"a": "i64?", "k": "string?"}, kind="glob")
    with refused(SchemaError, 'no column "k"', 'kind="folder"'):
        one_day.execute(spark)


def test_delimited_text_in_folders_that_are_named_after_columns(tmp_path: Path, spark: SparkSession) -> None:
    for name, text in (("k=01", "1,x\n2,\n"), ("k=__HIVE_DEFAULT_PARTITION__", "3,y\n"), ("k=a%2Fb", "4,z\n")):
        (tmp_path / "t" / name).mkdir(parents=True)
        (tmp_path / "t" / name / "x.csv").write_text(text)
    text_format = sd.DelimitedText(null_value="")
    for place in range(3):
        names = ["id", "v"]
        names.insert(place, "K")
        read = sd.read_files(tmp_path / "t", dict.fromkeys(names, "string?"), format=text_format, kind="folder")
        rows = [("1", "x", "01"), ("2", None, "01"), ("3", "y", None), ("4", "z", "a/b")]
        assert counted(read.select("id", "v", "K"), spark) == Counter(rows)
        assert counted(read.filter(sd.col("K") == "01").select("id"), spark) == Counter([("1",), ("2",)])
    broken = sd.read_files(tmp_path / "t", dict.fromkeys(names, "string?"), format=text_format, kind="folder")
    without = sd.read_files(tmp_path / "t", {"id": "string?", "v": "string?"}, format=text_format, kind="folder")
    assert counted(without.select("id"), spark) == Counter([("1",), ("2",), ("3",), ("4",)])
    (tmp_path / "t" / "k=%C3%A9").mkdir()
    (tmp_path / "t" / "k=%C3%A9" / "x.csv").write_text("5,w\n")
    with refused(SchemaError, 'the value of its column "k", %C3%A9, is percent-encoded byte by byte'):
        broken.execute(spark)
    (tmp_path / "t" / "loose.csv").write_text("6,v\n")
    with refused(SchemaError, "does not read the file", "loose.csv"):
        without.execute(spark)


def test_names_of_folders_that_spark_takes_apart(tmp_path: Path, spark: SparkSession) -> None:
    """Other writers escape the bytes of UTF-8, Spark takes each for a character, and escapes those of ASCII only."""
    for name in ("plain%2Fslash", "é"):
        stored(tmp_path / "t" / f"k={name}" / "x.parquet", a=[1])
    read = sd.read_files(tmp_path / "t", {"a": "i64?", "k": "string?"}, kind="folder")
    assert counted(read, spark) == Counter([(1, "plain/slash"), (1, "é")])
    stored(tmp_path / "t" / "k=%C3%A9" / "x.parquet", a=[2])
    with pytest.raises(SchemaError, match=r'the value of its column "k", %C3%A9, is percent-encoded byte by byte'):
        read.execute(spark)
    assert counted(sd.read_files(tmp_path / "t", {"a": "i64?"}, kind="folder"), spark) == Counter([(1,), (1,), (2,)])


def test_folders_named_after_columns_that_hide_something(tmp_path: Path, spark: SparkSession) -> None:
    for day in (1, 2):
        stored(tmp_path / "t" / f"day={day}" / "x.parquet", a=[10 * day], day=pa.array([day + 6], pa.int32()))
    declared = {"a": "i64?", "day": "i32?"}
    both = sd.read_files(tmp_path / "t", declared, kind="folder")
    with pytest.raises(SchemaError, match='column "day" stands in the name of a folder, too'):
        both.execute(spark)
    assert counted(sd.read_files(tmp_path / "t", {"a": "i64?"}, kind="folder"), spark) == Counter([(10,), (20,)])
    by_file = sd.read_files(tmp_path / "t" / "*" / "*.parquet", declared, kind="glob")
    assert counted(by_file, spark) == Counter([(10, 7), (20, 8)])
    stored(tmp_path / "t" / "y.parquet", a=[30])
    with pytest.raises(SchemaError, match=r"does not read the file .*y\.parquet"):
        sd.read_files(tmp_path / "t", {"a": "i64?"}, kind="folder").execute(spark)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_deeper_than_folders_named_after_columns(kind: Any, tmp_path: Path, spark: SparkSession) -> None:
    for number, folder in enumerate((tmp_path / "k=1", tmp_path / "k=1" / "old")):
        if kind == "parquet":
            stored(folder / "x.parquet", a=[str(number)])
        else:
            folder.mkdir(parents=True)
            (folder / "x.csv").write_text(f"a\n{number}\n")
    columns = {"a": "string?", "k": "i32?"} if kind == "parquet" else {"a": "string", "k": "string"}
    read = sd.read_files(tmp_path, columns, kind="folder", format=kind)
    with refused(SchemaError, "execute", "k=1/old/x.", "not named after a column", "union_all"):
        read.execute(spark)
