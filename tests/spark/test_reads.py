"""Reads on Spark: named tables and how they may fail to fit, virtual tables, files of each format."""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from tests.spark.rows import collected, counted, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> str:
    spark.sql("SELECT 1L AS id, 'Ada' AS `first name`, 36 AS age").createOrReplaceTempView("people")
    return "people"


def test_columns_are_read_by_name(people: str, spark: SparkSession) -> None:
    read = sd.read_named(people, {"age": "i32", "id": "i64"})
    assert collected(read, spark) == [(36, 1)]
    odd = sd.read_named(people, {"first name": "string"})
    assert collected(odd.filter(lambda r: r["first name"] == "Ada"), spark) == [("Ada",)]


def test_a_missing_table_is_named_with_near_misses(people: str, spark: SparkSession) -> None:
    with pytest.raises(ExecutionError, match='there is no table "peple"') as refused:
        sd.read_named("peple", {"id": "i64"}).execute(spark)
    assert refused.value.hint == 'did you mean "people"?'
    with pytest.raises(ExecutionError, match=r'there is no table "nowhere\.people"'):
        sd.read_named(("nowhere", "people"), {"id": "i64"}).execute(spark)


def test_every_column_that_does_not_fit_is_told(people: str, spark: SparkSession) -> None:
    declared = {"id": "i32", "firstname": "string", "age": "string?", "height": "i64"}
    with pytest.raises(SchemaError) as refused:
        sd.read_named(people, declared).execute(spark)
    text = str(refused.value)
    assert 'table "people" does not fit the declared schema' in text
    assert 'column "id" is bigint, declared i32 (int)' in text
    assert 'no column "firstname"' in text
    assert 'column "age" is int, declared string? (string)' in text
    assert 'no column "height"' in text
    assert 'did you mean "first name"?' in text


@pytest.mark.parametrize("column", ["b", "__s0"])  # the second is what the library could call a column of its own
def test_several_tables_are_looked_up_at_once(column: str, spark: SparkSession) -> None:
    spark.sql("SELECT 1L AS k, 'x' AS a, 0.5D AS unused").createOrReplaceTempView("first_of_three")
    spark.sql(f"SELECT 2 AS `{column}`, 1L AS K").createOrReplaceTempView("second_of_three")
    spark.sql("SELECT DATE'2024-02-29' AS day, 1L AS k").createOrReplaceTempView("third_of_three")
    first = sd.read_named("first_of_three", {"a": "string", "k": "i64"})
    second = sd.read_named("second_of_three", {"k": "i64", column: "i32"})
    third = sd.read_named("third_of_three", {"k": "i64", "day": "date"})
    wide = first.join(second, lambda f, s: f[1] == s[0]).join(third, lambda f, t: f[1] == t[0])
    assert collected(wide, spark) == [("x", 1, 1, 2, 1, dt.date(2024, 2, 29))]
    wrong = sd.read_named("third_of_three", {"k": "i64", "day": "string"})
    with pytest.raises(SchemaError, match=r'table "third_of_three" .* column "day" is date, declared string'):
        first.cross(second).cross(wrong).execute(spark)


def test_a_table_in_a_catalog(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.sql("SELECT 1L AS x").write.parquet(path)
    spark.sql("CREATE DATABASE IF NOT EXISTS shop")
    spark.sql(f"CREATE TABLE shop.things USING parquet LOCATION '{path}'")
    try:
        for names in (("shop", "things"), ("spark_catalog", "shop", "things")):
            assert collected(sd.read_named(names, {"x": "i64"}), spark) == [(1,)]
    finally:
        spark.sql("DROP DATABASE shop CASCADE")


def test_structs_of_tables_are_addressed_by_position(spark: SparkSession) -> None:
    spark.sql("SELECT named_struct('a b', 1L, 'c', 'x') AS s").createOrReplaceTempView("with_struct")
    read = sd.read_named("with_struct", {"s": sd.Struct.of({"a b": sd.I64(), "c": sd.String()})})
    assert collected(read.select(v=lambda r: r.s["c"], w=lambda r: r.s["a b"]), spark) == [("x", 1)]
    assert collected(read, spark)[0][0].asDict() == {"a b": 1, "c": "x"}
    other = sd.read_named("with_struct", {"s": sd.Struct.of({"a": sd.I64(), "c": sd.String()})})
    with pytest.raises(SchemaError, match='column "s" is struct'):
        other.execute(spark)


def test_filters_and_masks(spark: SparkSession) -> None:
    spark.sql("SELECT * FROM VALUES (1L, 'x'), (2L, 'y'), (3L, NULL) AS t(a, b)").createOrReplaceTempView("masked")
    named = sd.read_named("masked", {"a": "i64", "b": "string?"}, filter=lambda r: r.a > 1, columns=["b"])
    assert counted(named, spark) == Counter([("y",), (None,)])
    helped = sd.read_named("masked", {"a": "i64", "b": "string?"}, best_effort_filter=lambda r: r.a > 1)
    assert counted(helped.filter(lambda r: r.a > 1), spark) == Counter([(2, "y"), (3, None)])


def test_a_mask_of_a_struct(spark: SparkSession) -> None:
    inner = sd.Struct.of({"x": sd.I64(), "y": sd.String()})
    schema = NamedStruct.of({"s": sd.Struct.of({"i": inner, "z": sd.Boolean()}, nullable=True)})
    record = values({"s": schema.fields[0].type}, (((1, "one"), True),), (None,))._rel
    only_y = rl.StructMask((rl.MaskItem(1),))
    z_and_y = rl.StructMask((rl.MaskItem(1), rl.MaskItem(0, only_y)))
    mask = rl.StructMask((rl.MaskItem(0, z_and_y),))
    masked = sd.Relation(rl.Read(schema, record.definition, projection=mask))
    found = [row.s and row.s.asDict(recursive=True) for row in masked.execute(spark).collect()]
    assert found == [{"z": True, "i": {"y": "one"}}, None]


def test_virtual_tables_of_expressions(spark: SparkSession) -> None:
    computed = values({"x": "i64", "y": "string?"}, (sd.lit(1) + 1, None), (3, "a"))
    assert counted(computed, spark) == Counter([(2, None), (3, "a")])
    months = values({"m": "interval_year"}, (sd.YearMonths(1, 2),)).execute(spark)
    assert months.selectExpr("CAST(m AS STRING)").head() == ("INTERVAL '1-2' YEAR TO MONTH",)


def test_virtual_tables_without_rows_or_columns(spark: SparkSession) -> None:
    assert collected(values({"x": "i64", "m": "interval_year"}).select("x"), spark) == []
    assert values({"x": "i64"}, (1,), (2,)).emit([]).execute(spark).count() == 2
    no_columns = rl.Read(NamedStruct(()), rl.VirtualTable((rl.Record(()), rl.Record(()))))
    assert sd.Relation(no_columns).execute(spark).count() == 2


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


def text_file(path: Path, text: str, **options: Any) -> Any:
    path.write_text(text)
    null_value = options.get("null_value")
    kind = "string" if null_value is None else "string?"
    return sd.read_files(path, {"x": kind, "y": kind}, format=sd.DelimitedText(**options))


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        ("a,b\n,\n", {}, [("a", "b"), ("", "")]),
        ("h,i\na,b\n", {"header_lines_to_skip": 1}, [("a", "b")]),
        ("a|b\n|c\n", {"field_delimiter": "|", "null_value": ""}, [("a", "b"), (None, "c")]),
        ("NA,b\n,NA\n", {"null_value": "NA"}, [(None, "b"), ("", None)]),
        ("'a,b','it\\'s'\n", {"quote": "'"}, [("a,b", "it's")]),
        ('"say ""hi""",b\n', {"escape": '"'}, [('say "hi"', "b")]),
    ],
)
def test_delimited_text(
    text: str, options: dict[str, Any], wanted: list[Any], tmp_path: Path, spark: SparkSession
) -> None:
    assert counted(text_file(tmp_path / "t.csv", text, **options), spark) == Counter(wanted)


def test_text_that_breaks_the_rules(tmp_path: Path, spark: SparkSession) -> None:
    with pytest.raises(Exception, match="MALFORMED"):
        collected(text_file(tmp_path / "t.csv", "a,b,c\n"), spark)
    with pytest.raises(UnsupportedError, match="2 header lines"):
        text_file(tmp_path / "t.csv", "", header_lines_to_skip=2).execute(spark)


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


def test_files_of_several_formats_in_one_read(tmp_path: Path, spark: SparkSession) -> None:
    write("parquet", tmp_path / "p", spark)
    write("orc", tmp_path / "o", spark)
    items = (rl.FileItem(f"file://{tmp_path}/p", rl.Parquet()), rl.FileItem(f"file://{tmp_path}/o", rl.Orc()))
    schema = NamedStruct.of({"a": sd.I64(), "b": sd.String(nullable=True)})
    read = rl.Read(schema, rl.LocalFiles(items))
    assert counted(sd.Relation(read), spark) == Counter([(1, "x"), (2, None)] * 2)
