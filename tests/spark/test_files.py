"""Reads of files on Spark: each format, what is refused, files that differ, slices."""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from substrait_dsl.spark.sources.files import read_files
from tests.spark.column_files import stored
from tests.spark.rows import collected, counted
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


TABLE = pa.table({"a": pa.array([1, 2], pa.int64()), "b": ["x", None]})
SCHEMA = {"b": "string?", "a": "i64"}


def write(format: str, path: Path, spark: SparkSession) -> None:
    if format == "arrow":
        pyarrow.feather.write_feather(TABLE, path, compression="uncompressed")
    elif format == "parquet":
        pyarrow.parquet.write_table(TABLE, path)
    else:
        from pyarrow import orc

        orc.write_table(TABLE, path)


@pytest.mark.parametrize("format", ["parquet", "orc", "arrow"])
def test_files_of_each_format(format: Any, tmp_path: Path, spark: SparkSession) -> None:
    one, two = tmp_path / "one[1].data", tmp_path / "two.data"
    write(format, one, spark)
    write(format, two, spark)
    rows = Counter([("x", 1), (None, 2)])
    assert counted(sd.read_files(one, SCHEMA, format=format), spark) == rows
    assert counted(sd.read_files(tmp_path, SCHEMA, format=format, kind="folder"), spark) == rows + rows
    assert counted(sd.read_files(f"{tmp_path}/t*.data", SCHEMA, format=format, kind="glob"), spark) == rows
    twice = sd.read_files([two, two, one], SCHEMA, format=format, kind="file")
    assert counted(twice, spark) == rows + rows + rows
    with pytest.raises(SchemaError, match='column "a" is bigint, declared string'):
        sd.read_files(two, {"a": "string"}, format=format).execute(spark)
    with pytest.raises(SchemaError, match='no column "c"'):
        sd.read_files(two, {"c": "string?"}, format=format).execute(spark)
    with pytest.raises(ExecutionError, match=r"nothing\.here"):
        sd.read_files(tmp_path / "nothing.here", SCHEMA, format=format).execute(spark)


def test_times_of_arrow_files_without_a_zone_and_files_without_rows(tmp_path: Path, spark: SparkSession) -> None:
    moment = dt.datetime(2024, 5, 1, 12)
    for name, moments in (("one", [moment]), ("none", [])):
        pyarrow.feather.write_feather(pa.table({"t": pa.array(moments, pa.timestamp("us"))}), tmp_path / name)
        read = sd.read_files(tmp_path / name, {"t": "precision_timestamp<6>?"}, format="arrow")
        assert collected(read, spark) == [(each,) for each in moments]


def test_a_filter_reaches_the_file(tmp_path: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    write("parquet", tmp_path / "t", spark)
    read = sd.read_files(tmp_path / "t", SCHEMA)
    read.filter(lambda r: r.a > 1).filter(lambda r: r.b == "x").select("b").execute(spark).explain()
    plan = capsys.readouterr().out
    assert "GreaterThan(a,1)" in plan
    assert "EqualTo(b,x)" in plan
    spark.read.parquet(str(tmp_path / "t")).createOrReplaceTempView("stored")
    sd.read_named("stored", SCHEMA).filter(lambda r: r.a > 1).execute(spark).explain()
    assert "GreaterThan(a,1)" in capsys.readouterr().out


def test_what_spark_cannot_read_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    with pytest.raises(UnsupportedError, match="DWRF"):
        sd.read_files(tmp_path / "x", {"a": "i64"}, format="dwrf").execute(spark)
    for part, said in [
        (rl.FileItem("x", rl.Orc(), start=10, length=5), "a part of a file, from a byte on, but of Parquet"),
        (rl.FileItem("x", rl.Parquet(), start=10), "has no length"),
    ]:
        with pytest.raises(UnsupportedError, match=said):
            sliced(part).execute(spark)
    with pytest.raises(ExecutionError, match="nothing-here"):
        sliced(rl.FileItem(f"{tmp_path}/nothing-here", rl.Parquet(), length=5)).execute(spark)


@pytest.mark.parametrize("format", ["parquet", "orc", "arrow"])
def test_every_file_has_the_declared_columns(format: Any, tmp_path: Path, spark: SparkSession) -> None:
    one = stored(tmp_path / "all" / f"1.{format}", i=[1], s=["x"])
    two = stored(tmp_path / "all" / f"2.{format}", S=["y"], d=[2.5])
    shared = {"s": "string?"}
    listings: list[tuple[list[Path], Any]] = [([one, two], "file"), ([two, one], "file"), ([one.parent], "folder")]
    for paths, kind in listings:
        assert counted(sd.read_files(paths, shared, format=format, kind=kind), spark) == Counter([("x",), ("y",)])
        for column, kinds, path in (("i", "i64?", two), ("d", "fp64?", one)):
            read = sd.read_files(paths, {"s": "string?", column: kinds}, format=format, kind=kind)
            with pytest.raises(SchemaError, match=f'{path.name} does not fit .* has no column "{column}"'):
                read.execute(spark)


def test_files_of_orc_that_have_positions_for_names(tmp_path: Path, spark: SparkSession) -> None:
    named = stored(tmp_path / "named.orc", a=[1], b=["x"], c=[3])
    placed = stored(tmp_path / "placed.orc", _col0=[10], _col1=["y"])
    read = sd.read_files([named, placed], {"b": "string?", "a": "i64?"}, format="orc")
    assert counted(read, spark) == Counter([("x", 1), ("y", 10)])
    with pytest.raises(SchemaError, match=r'placed.orc does not fit .* has no column "c"'):
        sd.read_files([named, placed], {"a": "i64?", "c": "i64?"}, format="orc").execute(spark)
    other = stored(tmp_path / "other.orc", _col0=["z"], _col1=["y"])
    with pytest.raises(SchemaError, match=r'other.orc does not fit .* column "a" is string'):
        sd.read_files([named, other], {"a": "i64?"}, format="orc").execute(spark)
    first, second = (tmp_path / "places" / name for name in ("first.orc", "second.orc"))
    stored(first, _col0=[1], _col1=[10])
    stored(second, _col1=[30], _col0=[3])
    with pytest.raises(SchemaError, match=r'the columns "_col.", "_col.*by position'):
        sd.read_files([first, second], {"_col0": "i64?", "_col1": "i64?"}, format="orc").execute(spark)


I8, I16, I32, I64 = pa.int8(), pa.int16(), pa.int32(), pa.int64()
OTHER_TYPES: dict[str, tuple[Any, Any, str]] = {
    "a text for a number": (pa.array([1]), pa.array(["abc"]), "i64?"),
    "a wider number": (pa.array([1], I8), pa.array([300], I16), "i8?"),
    "no sign": (pa.array([1], I8), pa.array([255], pa.uint8()), "i8?"),
    "a fraction": (pa.array([1]), pa.array([1.5]), "i64?"),
    "a decimal": (pa.array([1], I32), pa.array([Decimal("1.25")], pa.decimal128(5, 2)), "i32?"),
    "other digits": (
        pa.array([Decimal("1.25")], pa.decimal128(5, 2)),
        pa.array([Decimal("9.2355")], pa.decimal128(8, 4)),
        "decimal<5,2>?",
    ),
    "a day": (pa.array([1], I32), pa.array([dt.date(2020, 1, 1)]), "i32?"),
    "a number for a day": (pa.array([dt.date(2020, 1, 1)]), pa.array([18000], I32), "date?"),
    "bytes": (pa.array(["x"]), pa.array([b"\xff"]), "string?"),
    "inside a struct": (pa.array([{"x": 1}]), pa.array([{"x": "abc"}]), "struct<i64?>?"),
    "less in a struct": (pa.array([{"x": 1, "y": 2}]), pa.array([{"x": 1}]), "struct<i64?, i64?>?"),
    "inside a list": (pa.array([[1]], pa.list_(I8)), pa.array([[300]], pa.list_(I16)), "list<i8?>?"),
    "inside a large list": (pa.array([[1]], pa.large_list(I8)), pa.array([[300]], pa.large_list(I16)), "list<i8?>?"),
    "inside a map": (
        pa.array([[("k", 1)]], pa.map_(pa.string(), I64)),
        pa.array([[("k", 1.5)]], pa.map_(pa.string(), pa.float64())),
        "map<string, i64?>?",
    ),
}


@pytest.mark.parametrize("format", ["parquet", "orc"])
@pytest.mark.parametrize(("first", "second", "kind"), OTHER_TYPES.values(), ids=OTHER_TYPES)
def test_every_file_has_the_declared_types(
    first: Any, second: Any, kind: str, format: Any, tmp_path: Path, spark: SparkSession
) -> None:
    if format == "orc" and pa.types.is_unsigned_integer(second.type):
        second = second.cast(I16)  # ORC has no others
    paths = [stored(tmp_path / f"{number}.{format}", a=values) for number, values in enumerate((first, second))]
    for listed in (paths, paths[::-1]):
        with pytest.raises(SchemaError, match=r'column "a" is'):
            sd.read_files(listed, {"a": kind}, format=format).execute(spark)


def test_all_that_does_not_fit_a_file_is_told(tmp_path: Path, spark: SparkSession) -> None:
    one = stored(tmp_path / "1.parquet", a=[1], b=["x"], c=[1])
    two = stored(tmp_path / "2.parquet", a=["x"], b=[b"x"])
    with pytest.raises(SchemaError, match=r'no column "c".*column "a" is string.*column "b" is binary'):
        sd.read_files([one, two], {"a": "i64?", "b": "string?", "c": "i64?"}).execute(spark)


def test_types_whose_values_the_declared_one_holds(tmp_path: Path, spark: SparkSession) -> None:
    one = stored(tmp_path / "1.parquet", a=pa.array([1], I64), s=pa.array(["x"]), t=pa.array(["x"]))
    coded = pa.array(["y"]).dictionary_encode()
    two = stored(tmp_path / "2.parquet", a=pa.array([2], I32), s=coded, t=pa.array([1]))  # nobody asks for t
    read = sd.read_files([one, two], {"a": "i64?", "s": "string?"})
    assert counted(read, spark) == Counter([(1, "x"), (2, "y")])
    nested = [stored(tmp_path / f"{name}.parquet", n=[[{name: 1, "b": 2}]]) for name in "aA"]
    within = sd.read_files(nested, {"n": "list<struct<i64?, i64?>?>?"}).select(b=lambda r: r.n[0][1])
    assert collected(within, spark) == [(2,), (2,)]


NOTHING: dict[str, tuple[Any, Any, str]] = {
    "texts": (pa.array(["x"]), pa.nulls(1), "string?"),
    "lists": (pa.array([["x"]]), pa.nulls(1), "list<string?>?"),  # Spark's slower reader has an empty list for NULL
    "inside a list": (pa.array([["x"]]), pa.array([[None]], pa.list_(pa.null())), "list<string?>?"),
    "inside a struct": (
        pa.array([{"i": 1, "x": "x"}]),
        pa.array([{"i": 1, "x": None}], pa.struct({"i": pa.int64(), "x": pa.null()})),
        "struct<i64?, string?>?",
    ),
    "numbers, if Spark looks there first": (pa.array([1]), pa.nulls(1), "i64?"),
}


@pytest.mark.parametrize(("some", "nothing", "kind"), NOTHING.values(), ids=NOTHING)
def test_a_parquet_file_with_nothing_but_nulls_is_named(
    some: Any, nothing: Any, kind: str, tmp_path: Path, spark: SparkSession
) -> None:
    """Writers who know no type, such as pandas, write Parquet's type Null, which Spark takes for numbers."""

    def without_type(path: Path) -> AbstractContextManager[None]:
        return refused(SchemaError, "execute", f"{path} does not fit", 'column "note"', "type Null", "to_parquet(path)")

    for first, second in ((some, nothing), (nothing, some)):
        folder = tmp_path / ("first" if first is nothing else "second")
        paths = [stored(folder / "a.parquet", a=[1], note=first), stored(folder / "b.parquet", a=[1], note=second)]
        read = sd.read_files(folder, {"a": "i64?", "note": kind}, kind="folder")
        path = paths[first is some]
        with nullcontext() if first is some and kind == "i64?" else without_type(path):
            assert counted(read, spark) == Counter([(1, 1), (1, None)])
        with without_type(path):
            sd.read_files(path, {"note": kind}).execute(spark)
        with pytest.raises(SchemaError) as other:  # what is declared is not in any file
            sd.read_files(paths, {"note": "fp32?"}).execute(spark)
        assert "type Null" not in str(other.value)


def test_what_to_do_about_a_file_with_nothing_but_nulls(tmp_path: Path, spark: SparkSession) -> None:
    texts, nothing = pd.DataFrame({"note": ["x"], "n": [1]}), pd.DataFrame({"note": [None], "n": [None]})
    texts.to_parquet(tmp_path / "a.parquet")
    nothing.to_parquet(tmp_path / "b.parquet")
    one = sd.read_files(tmp_path / "a.parquet", {"note": "string?", "n": "i64?"})
    other = sd.read_files(tmp_path / "b.parquet", {"note": "i32?", "n": "i32?"})
    typed = other.select(note=lambda r: r.note.cast(sd.String), n=lambda r: r.n.cast(sd.I64))
    assert counted(one.union_all(typed), spark) == Counter([("x", 1), (None, None)])
    nothing.astype({"note": "string"}).to_parquet(tmp_path / "b.parquet")
    both = sd.read_files(tmp_path, {"note": "string?", "n": "i64?"}, kind="folder")
    assert counted(both, spark) == Counter([("x", 1), (None, None)])


@pytest.fixture(scope="module")
def by_spark(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """What pyarrow reads of a file that Spark wrote, with the key that Spark has in it."""
    path = tmp_path_factory.mktemp("by_spark") / "t"
    moment, digits = "TIMESTAMP_NTZ'2024-01-01 10:00:00'", "CAST(1.25 AS DECIMAL(3,2))"
    row = f"SELECT 7S AS v, 'x' AS s, {moment} AS t, {digits} AS d, array(named_struct('a', 7S)) AS n"
    spark.sql(row).coalesce(1).write.parquet(str(path))
    return pyarrow.parquet.read_table(next(path.glob("*.parquet")))


def with_column(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, column)


REWRITTEN: dict[str, tuple[Callable[[pa.Table], pa.Table], str, str, str]] = {
    "of another type": (lambda t: with_column(t, "v", pa.array([70000], I32)), "v", "i16?", "is int32.* smallint, as"),
    "other digits": (
        lambda t: with_column(t, "d", pa.array([Decimal("9.5")], pa.decimal128(5, 1))),
        "d",
        "decimal<3,2>?",
        r"is decimal128\(5, 1\)",
    ),
    "a zone": (
        lambda t: with_column(t, "t", pa.array([dt.datetime(2024, 1, 1)], pa.timestamp("us", "UTC"))),
        "t",
        "precision_timestamp<6>?",
        "is timestamp.*UTC",
    ),
    "inside a list of structs": (
        lambda t: with_column(t, "n", pa.array([[{"a": 70000}]], pa.list_(pa.struct({"a": I32})))),
        "n",
        "list<struct<i16?>?>?",
        'column "n" is list',
    ),
    "dropped": (lambda t: t.drop_columns(["s"]), "s", "string?", 'has no column "s"'),
    "added": (
        lambda t: t.append_column("w", pa.array([1])),
        "w",
        "i64?",
        'does not see its column "w", .*row.metadata',
    ),
}


@pytest.mark.parametrize(("change", "column", "kind", "said"), REWRITTEN.values(), ids=REWRITTEN)
@pytest.mark.parametrize("listed", ["file", "glob", "folder"])
def test_a_file_of_sparks_that_another_writer_has_changed(
    change: Any, column: str, kind: str, said: str, listed: Any, by_spark: pa.Table, tmp_path: Path, spark: SparkSession
) -> None:
    """The key that Spark wrote is still there, and Spark believes it instead of the file's own columns."""
    path = tmp_path / "a" / "x.parquet"
    path.parent.mkdir()
    pyarrow.parquet.write_table(change(by_spark), path)
    where = {"file": path, "glob": path.parent / "*.parquet", "folder": path.parent}[listed]
    read = sd.read_files(where, {column: kind}, kind=listed)
    with pytest.raises(SchemaError, match=rf"x\.parquet does not fit .*{said}") as error:
        read.execute(spark)
    other = "s" if column == "v" else "v"
    rest = sd.read_files(where, {other: "string?" if other == "s" else "i16?"}, kind=listed)
    assert collected(rest, spark) == [("x",) if other == "s" else (7,)]
    if column == "s":
        assert error.value.hint == "declare columns that the files have"
    else:
        assert "replace_schema_metadata" in (error.value.hint or "")
        pyarrow.parquet.write_table(change(by_spark).replace_schema_metadata(None), path)
        with pytest.raises(SchemaError, match=f'column "{column}" is') if column != "w" else nullcontext():
            read.execute(spark)


def test_a_column_that_files_lack(tmp_path: Path, spark: SparkSession) -> None:
    for name, columns in {"x": {"id": [1], "other": [2]}, "y": {"id": [3]}}.items():
        stored(tmp_path / "t" / f"{name}.parquet", **columns)
    for column, hint in {"other": "read such files apart", "customer": "declare columns that the files have"}.items():
        read = sd.read_files(tmp_path / "t", {column: "i64?"}, kind="folder")
        with refused(SchemaError, "execute", f'it has no column "{column}"', hint):
            read.execute(spark)


def test_a_folder_is_no_file(tmp_path: Path, spark: SparkSession) -> None:
    stored(tmp_path / "t" / "x.parquet", a=[1])
    with refused(UnsupportedError, "is a folder", 'write kind="folder"'):
        sd.read_files(tmp_path / "t", {"a": "i64?"}, kind="file").execute(spark)


def test_columns_that_spark_takes_for_properties_of_java(tmp_path: Path, spark: SparkSession) -> None:
    path = stored(tmp_path / "x.parquet", **{"${user.dir}": [1], "${env:HOME}": [2], "$ {x}": [3]})
    with pytest.raises(UnsupportedError, match=r'the column "\$\{user.dir\}"'):
        sd.read_files(path, {"${user.dir}": "i64?"}).execute(spark)
    assert collected(sd.read_files(path, {"${env:HOME}": "i64?", "$ {x}": "i64?"}), spark) == [(2, 3)]
    nested = stored(tmp_path / "nested.parquet", s=[{"${user.dir}": 1, "x": 2}], t=[{"x": 3}])
    with pytest.raises(UnsupportedError, match=r'the column "s" with a field named "\$\{user.dir\}"'):
        sd.read_files(nested, {"s": "struct<i64?, i64?>?"}).execute(spark)
    assert collected(sd.read_files(nested, {"t": "struct<i64?>?"}), spark) == [((3,),)]


def test_parquet_files_that_spark_refuses(tmp_path: Path, spark: SparkSession) -> None:
    late = pa.array([1577836800000000001], pa.timestamp("ns"))
    nanoseconds = sd.read_files(stored(tmp_path / "ns.parquet", i=[1], t=late), {"i": "i64?"})
    with pytest.raises(UnsupportedError, match=r"ns\.parquet.* the Parquet type .*NANOS") as error:
        nanoseconds.execute(spark)
    assert "nanosAsLong" in (error.value.hint or "")
    both = sd.read_files(stored(tmp_path / "both.parquet", a=[1], A=[2]), {"A": "i64?"})
    with pytest.raises(SchemaError, match=r"both\.parquet.* several columns `a`"):
        both.execute(spark)
    spark.conf.set("spark.sql.caseSensitive", "true")
    spark.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true")  # what the hints say
    try:
        assert collected(both, spark) == [(2,)]
        assert collected(nanoseconds, spark) == [(1,)]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
        spark.conf.unset("spark.sql.legacy.parquet.nanosAsLong")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ExecutionError, match=r"empty.* finds no files"):
        sd.read_files(tmp_path / "empty", {"a": "i64?"}).execute(spark)


def sliced(*parts: rl.FileItem) -> sd.Relation[Any]:
    return sd.Relation(rl.Read(NamedStruct.of({"a": sd.I64()}), rl.LocalFiles(parts)))


def test_slices_of_parquet_files_are_complete_and_disjoint(tmp_path: Path, spark: SparkSession) -> None:
    """A row group belongs to the slice that has its midpoint, wherever the file is cut."""
    path = tmp_path / "numbers.parquet"
    numbers = pyarrow.table({"a": list(range(1000)), "b": ["text"] * 1000})
    pyarrow.parquet.write_table(numbers, path, row_group_size=300)
    size = path.stat().st_size
    groups = [range(300), range(300, 600), range(600, 900), range(900, 1000)]
    for cuts in ([0, size // 2, size], [0, 5, size // 3, size // 3 + 1, 3 * size // 4, size]):
        parts = [
            rl.FileItem(path.as_uri(), rl.Parquet(), start=start, length=end - start)
            for start, end in itertools.pairwise(cuts)
        ]
        read = [sorted(row.a for row in sliced(part).execute(spark).collect()) for part in parts]
        assert sorted(number for rows in read for number in rows) == list(range(1000))
        for rows in read:  # no group is torn
            assert all(set(group) <= set(rows) or set(group).isdisjoint(rows) for group in groups)
    whole = rl.FileItem(str(path), rl.Parquet())
    first = rl.FileItem(str(path), rl.Parquet(), length=size // 2)
    both = sliced(first, whole, first).execute(spark).collect()
    assert len(both) == 1000 + 2 * len(sliced(first).execute(spark).collect())


def test_a_slice_of_a_file_that_hides_the_numbers_of_rows(tmp_path: Path, spark: SparkSession) -> None:
    path = stored(tmp_path / "x.parquet", a=[1, 2], _metadata=[{"row_index": 7}, {"row_index": 8}])
    whole = rl.FileItem(str(path), rl.Parquet())
    assert counted(sliced(whole), spark) == Counter([(1,), (2,)])
    with pytest.raises(UnsupportedError, match="a part of a file with a column called _metadata"):
        sliced(rl.FileItem(str(path), rl.Parquet(), length=path.stat().st_size)).execute(spark)


def test_files_of_several_formats_in_one_read(tmp_path: Path, spark: SparkSession) -> None:
    write("parquet", tmp_path / "p", spark)
    write("orc", tmp_path / "o", spark)
    items = (rl.FileItem(f"file://{tmp_path}/p", rl.Parquet()), rl.FileItem(f"file://{tmp_path}/o", rl.Orc()))
    schema = NamedStruct.of({"a": sd.I64(), "b": sd.String(nullable=True)})
    read = rl.Read(schema, rl.LocalFiles(items))
    assert counted(sd.Relation(read), spark) == Counter([(1, "x"), (2, None)] * 2)
    more = stored(tmp_path / "more.parquet", other=[1.5], B=["y"], a=[3])
    third = rl.Read(schema, rl.LocalFiles((*items, rl.FileItem(str(more), rl.Parquet()))))
    assert counted(sd.Relation(third), spark) == Counter([(1, "x"), (2, None)] * 2 + [(3, "y")])


def test_files_are_looked_up_once_however_often_they_are_read(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a plan that was read from its bytes, too, where each read is one by itself."""
    pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2, 3]}), tmp_path / "t.parquet")
    read = sd.read_files(tmp_path / "t.parquet", {"a": "i64?"})
    below = read.filter(lambda r: r.a < 3).select(b=lambda r: r.a)
    joined = read.join(below, on=lambda x, y: x.a == y.b, how="left").union_all(read.cross(read))
    looked_up = Mock(side_effect=read_files)
    monkeypatch.setattr("substrait_dsl.spark.sources.reads.read_files", looked_up)
    (found,) = sd.Plan.from_bytes(joined.to_plan().to_bytes()).roots
    pairs = [(1, 1), (2, 2), (3, None), *itertools.product((1, 2, 3), repeat=2)]
    assert counted(found, spark) == Counter(pairs)
    assert looked_up.call_count == 1
