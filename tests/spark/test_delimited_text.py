"""Delimited text on Spark: records by the rules of the specification, or an error that names the line."""

from __future__ import annotations

import gzip
from collections import Counter
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from substrait_dsl.spark.sources import delimited_text
from substrait_dsl.spark.sources.text_lines import LINE
from tests.spark.delimited_texts import (
    BROKEN,
    BROKEN_BREAKS,
    ENCODED,
    QUOTED_BREAKS,
    TEXTS,
    TOO_LONG,
    encoded_file,
    lines_above_are_skipped,
    text_file,
)
from tests.spark.rows import collected, counted
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(params=[delimited_text.FEW, 0], ids=["split", "parsed"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read records of few fields, of which most are split, also as those of many, which are parsed."""
    monkeypatch.setattr(delimited_text, "FEW", request.param)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("text", "options", "wanted"), TEXTS)
def test_delimited_text(
    text: str, options: dict[str, Any], wanted: list[Any], tmp_path: Path, spark: SparkSession
) -> None:
    assert counted(text_file(tmp_path / "t.csv", text, **options), spark) == Counter(wanted)


def test_records_of_empty_fields_between_tabs(tmp_path: Path, spark: SparkSession) -> None:
    """Spark's reader of CSV, by which headers in compressed files are counted, skips them."""
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress("x\ty\n\t\né\tb\n \n\t".encode()))
    form = sd.DelimitedText(field_delimiter="\t", header_lines_to_skip=1)
    read = sd.read_files(tmp_path / "t.tsv.gz", {"x": "string", "y": "string"}, format=form)
    assert counted(read, spark) == Counter({("", ""): 2, ("é", "b"): 1})
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"\t\nx\ty\n\t\n"))
    with refused(UnsupportedError, "the header of", "has no names, but separators alone"):
        sd.read_files(tmp_path / "t.tsv.gz", {"x": "string", "y": "string"}, format=form, header="skip").collect(spark)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("text", "escape"), BROKEN)
def test_text_that_breaks_the_rules(text: str, escape: str, tmp_path: Path, spark: SparkSession) -> None:
    """A record of another length is an error, and so are quotes that are open or escaped otherwise, used or not."""
    read = text_file(tmp_path / "t.csv", text, escape=escape)
    for used in (read, read.select("x"), read.aggregate(n=f.count()), read.filter(lambda r: r.x == "z").select("x")):
        with refused(ExecutionError, "(step: read files delimited text", "a record is a line that has a field for"):
            used.collect(spark)


@pytest.mark.parametrize("text", TOO_LONG)
def test_fields_that_are_too_long(text: str, tmp_path: Path, spark: SparkSession) -> None:
    with refused(ExecutionError, "(step: read files delimited text"):
        text_file(tmp_path / "t.csv", text, max_line_size=3).collect(spark)
    assert len(text_file(tmp_path / "t.csv", text, max_line_size=4).collect(spark)) == 1


def test_records_of_many_quoted_fields(tmp_path: Path, spark: SparkSession) -> None:
    """A pattern finds what stands behind quotes, in a loop: Java has no stack for a call for each."""
    names = [f"c{number}" for number in range(300)]
    (tmp_path / "t.csv").write_text(",".join('"x"" ,"' for _ in names) + "\n")
    read = sd.read_files(tmp_path / "t.csv", dict.fromkeys(names, "string"), format=sd.DelimitedText())
    assert collected(read.select("c0", "c299"), spark) == [('x" ,', 'x" ,')]
    with refused(ExecutionError, "a record is a line that has a field for"):
        text_file(tmp_path / "t.csv", ",".join(['"x"'] * 20_000) + "\n").collect(spark)


def test_code_of_a_query_is_compiled_once(tmp_path: Path, spark: SparkSession) -> None:
    """Code that names what is new in each query is compiled each time, which takes longer than to read a small file."""
    read = text_file(tmp_path / "t.csv", 'a,b\n"c","d"\n"e,f",g\n')
    wanted = Counter([("a", "b"), ("c", "d"), ("e,f", "g")])
    assert counted(read, spark) == wanted
    java: Any = spark._jvm
    compiled = java.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()
    before = compiled.getCount()
    assert before
    assert counted(read, spark) == wanted
    assert compiled.getCount() == before


def test_text_beside_quotes_that_spark_would_drop(tmp_path: Path, spark: SparkSession) -> None:
    """Its parser has U+0000 for no character before a quote; a line without one has it."""
    with refused(ExecutionError, "U+0000 in a line with quotes", "(step: read files"):
        text_file(tmp_path / "t.csv", '"a\0""",b\n').collect(spark)
    assert collected(text_file(tmp_path / "t.csv", '"a",b\na\0,\n'), spark) == [("a", "b"), ("a\0", "")]


def test_headers_name_the_columns(tmp_path: Path, spark: SparkSession) -> None:
    """Fields are taken by position, so names in another order would be wrong rows; other names may be meant."""
    both = {"id": "string", "name": "string"}

    def read(text: str | bytes, header: Literal["check", "skip"] = "check", name: str = "t.csv") -> Any:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return sd.read_files(tmp_path / name, both, format="csv", header=header)

    for header in ("id,name", '\ufeff"id","name"', " ID ,Name\r", "\n \nid,name"):
        assert collected(read(f"{header}\n1,ann\n"), spark) == [("1", "ann")]
    assert collected(read(""), spark) == collected(read("\n"), spark) == []
    # a line that is equal to the header is a record, as it is where files were put together
    for text in ("id,name\nid,name\n1,ann", "id,name\r1,ann\rid,name", "id,name\n1,ann\nid,name"):
        assert counted(read(text), spark) == Counter([("1", "ann"), ("id", "name")])
    assert collected(read(gzip.compress(b"id,name\nid,name"), name="t.csv.gz"), spark) == [("id", "name")]
    swapped: list[Literal["check", "skip"]] = ["check", "skip"]
    for rule in swapped:
        with refused(SchemaError, "t.csv has the columns in another order", '"name", "id", declared "id", "name"'):
            read("name,id\nann,1\n", rule).collect(spark)
    for text, said in (
        ("id,nam\n1,ann\n", 'column 2 is "nam" in the header of .*t.csv, and declared "name"'),
        ("name,town\n1,ann\n", 'column 1 is "name" .* declared "id"; "name" is declared'),
        ("id,name,town\n", "has 3 names, .* for 2 declared columns"),
        ('id,"name\n', "the header of .*t.csv is no record"),
    ):
        with pytest.raises(SchemaError, match=said):
            read(text).execute(spark)
    with pytest.raises(SchemaError, match=r"t\.csv\.gz"):
        read(gzip.compress(b"id,nam\n"), name="t.csv.gz").execute(spark)
    assert collected(read("key,called\n1,ann\n", "skip"), spark) == [("1", "ann")]
    assert "header 'skip'" in str(read("", "skip"))
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "1.csv").write_text("id,name\n1,ann\n")
    (tmp_path / "all" / "2.csv").write_text("ID,NAME\n2,bob\nid,name\n")
    every = sd.read_files(tmp_path / "all", both, format="csv", kind="folder")
    assert counted(every, spark) == Counter([("1", "ann"), ("2", "bob"), ("id", "name")])
    (tmp_path / "all" / "3.csv").write_text("name,id\nann,1\n")
    with pytest.raises(SchemaError, match=r"3\.csv"):
        every.execute(spark)


@pytest.mark.parametrize(("text", "options", "wanted"), QUOTED_BREAKS)
def test_line_breaks_in_quotes(
    text: str, options: dict[str, Any], wanted: list[Any], tmp_path: Path, spark: SparkSession
) -> None:
    read = text_file(tmp_path / "t.csv", text, line_breaks="in_quotes", **options)
    assert counted(read, spark) == Counter(wanted)
    assert collected(read.aggregate(n=f.count()), spark) == [(len(wanted),)]


@pytest.mark.parametrize(("text", "escape"), BROKEN_BREAKS)
def test_line_breaks_elsewhere(text: str, escape: str, tmp_path: Path, spark: SparkSession) -> None:
    read = text_file(tmp_path / "t.csv", text, line_breaks="in_quotes", escape=escape)
    for used in (read, read.select("x"), read.aggregate(n=f.count())):
        with refused(ExecutionError, "(step: read files delimited text"):
            used.collect(spark)
    with refused(ExecutionError, "(step: read files delimited text"):
        text_file(tmp_path / "t.csv", text, escape=escape).collect(spark)


@pytest.mark.parametrize(("encoding", "name"), ENCODED)
def test_encodings(encoding: str, name: str, tmp_path: Path, spark: SparkSession) -> None:
    """Python writes the file. Each character of an encoding of bytes is read."""
    wanted = encoded_file(tmp_path / "t.csv", encoding)
    read = sd.read_files(tmp_path / "t.csv", {"x": "string", "y": "string"}, format="csv", encoding=name)
    assert counted(read, spark) == Counter(wanted)


def test_the_session_names_no_column_of_a_line(tmp_path: Path, spark: SparkSession) -> None:
    """By the names of a line's parts Spark would return malformed records, and reserve words that they might be."""
    (tmp_path / "t.csv").write_text('x,"a,b"\n')
    read = sd.read_files(tmp_path / "t.csv", {"a": "string", "b": "string"}, format=sd.DelimitedText())
    (tmp_path / "u.csv").write_text('x,y\na,"b\n')
    broken = sd.read_files(tmp_path / "u.csv", {"a": "string", "b": "string"}, format=sd.DelimitedText())
    malformed, reserved = "spark.sql.columnNameOfCorruptRecord", "spark.sql.ansi.enforceReservedKeywords"
    for key, value in ((malformed, "field0"), (malformed, "behind_fields"), (reserved, "true")):
        spark.conf.set(key, value)
        try:
            assert collected(read, spark) == [("x", "a,b")]
            with refused(ExecutionError, "a quote is still open at the end"):
                broken.collect(spark)
        finally:
            spark.conf.unset(key)


def test_names_and_quotes_that_text_cannot_have(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "substrait_dsl_split=1").mkdir()
    (tmp_path / "substrait_dsl_split=1" / "t.csv").write_text("x\n")
    columns = {"a": "string", "Substrait_DSL_split": "string"}
    with refused(UnsupportedError, "cannot have the names", "Substrait_DSL_split"):
        sd.read_files(tmp_path, columns, format=sd.DelimitedText(), kind="folder").collect(spark)
    with refused(UnsupportedError, r"the quote of delimited text is '\t', which is white space in Spark"):
        text_file(tmp_path / "t.csv", "a,b\n", quote="\t").collect(spark)


def test_a_header_that_is_not_utf8(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "t.csv").write_bytes(b"caf\xe9,y\nx,y\n")
    with refused(ExecutionError, "bytes that are not UTF-8, in ", "t.csv", 'encoding="windows-1252"'):
        sd.read_csv(tmp_path / "t.csv", {"caf\xe9": "string", "y": "string"}).collect(spark)
    read = sd.read_csv(tmp_path / "t.csv", {"caf\xe9": "string", "y": "string"}, encoding="windows-1252")
    assert collected(read, spark) == [("x", "y")]  # as the hint says
    (tmp_path / "t.csv").write_bytes(b"cafe,y\nx,\xe9\n")
    with refused(SchemaError, "the header of"):
        sd.read_csv(tmp_path / "t.csv", {"x": "string", "y": "string"}).collect(spark)
    with refused(ExecutionError, "bytes that are not UTF-8 (step"):
        sd.read_csv(tmp_path / "t.csv", {"cafe": "string", "y": "string"}).collect(spark)


def test_what_is_no_text_of_an_encoding(tmp_path: Path, spark: SparkSession) -> None:
    both = {"x": "string", "y": "string"}
    (tmp_path / "t.csv").write_bytes(b"x,y\n\x81,b\n")
    with refused(ExecutionError, "U+FFFD", "(step: read files"):
        sd.read_files(tmp_path / "t.csv", both, format="csv", encoding="cp1252").collect(spark)
    (tmp_path / "t.csv").write_bytes("x,y\na,b\n".encode("utf-16-le"))
    with refused(ExecutionError, "which order its bytes have", 'encoding="utf-16le"'):
        sd.read_files(tmp_path / "t.csv", both, format="csv", encoding="utf-16").collect(spark)
    (tmp_path / "t.csv").write_bytes('x,y\na,"b\nc"\n'.encode("utf-16"))
    with refused(ExecutionError, "open at the end of a line"):
        sd.read_files(tmp_path / "t.csv", both, format="csv", encoding="utf-16").collect(spark)
    (tmp_path / "t.csv").write_text('"x,y\na,b\nc,d\n')
    with refused(ExecutionError, "the header of", "is no record"):
        sd.read_files(tmp_path / "t.csv", both, format="csv", line_breaks="in_quotes", header="skip").collect(spark)
    for early in ("x,y\ra,b\r", " \nx,y\na,b\n"):
        (tmp_path / "t.csv").write_text(early)
        with refused(UnsupportedError, "is not the first line of a file on this machine"):
            sd.read_files(tmp_path / "t.csv", both, format="csv", line_breaks="in_quotes").collect(spark)
    (tmp_path / "t.csv").write_text('"a\n",b\rc,d\n')
    with refused(ExecutionError, "open at the end of a line"):
        text = sd.DelimitedText()
        sd.read_files(tmp_path / "t.csv", both, format=text, line_breaks="in_quotes").collect(spark)
    (tmp_path / "t.csv").write_text("x,y\na,b\f")
    with refused(UnsupportedError, "ends with a form feed"):
        sd.read_files(tmp_path / "t.csv", both, format="csv", line_breaks="in_quotes").collect(spark)


def test_a_record_that_ends_as_its_delimiter_begins(tmp_path: Path, spark: SparkSession) -> None:
    read = text_file(tmp_path / "t.csv", "a||b|\n", field_delimiter="||")
    for used in (read, read.select("x"), read.aggregate(n=f.count())):
        with refused(ExecutionError, "collect", "ends as its delimiter begins", "(step: read files"):
            used.collect(spark)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"field_delimiter": ""}, "empty field_delimiter"),
        ({"field_delimiter": "\n"}, "field_delimiter of delimited text .* ends lines"),
        ({"field_delimiter": "\\", "escape": "\\"}, "contains its escape"),
        ({"quote": ","}, "contains its quote"),
        ({"field_delimiter": '"|'}, "contains its quote"),
        ({"quote": '""'}, "quote of delimited text .* one character"),
        ({"escape": "\U0001f600"}, "escape of delimited text .* one character"),
    ],
)
def test_text_that_spark_cannot_take_apart(
    options: dict[str, Any], said: str, tmp_path: Path, spark: SparkSession
) -> None:
    with pytest.raises(UnsupportedError, match=said):
        text_file(tmp_path / "t.csv", "", **options).execute(spark)


def test_several_header_lines(tmp_path: Path, spark: SparkSession) -> None:
    lines_above_are_skipped(tmp_path, spark)
    (tmp_path / "again.csv").write_text("# of May\nid\n1\n# of May\n")  # Spark's reader of lines does not count them
    again = sd.read_csv(tmp_path / "again.csv", {"id": "string"}, header=2)
    with refused(UnsupportedError, "Spark cannot skip 2 header lines here", "no other line of these is equal"):
        again.collect(spark)
    assert [tuple(row) for row in again.collect()] == [("1",), ("# of May",)]  # as the hint says
    with refused(UnsupportedError, "Spark cannot skip 2 header lines here", "UTF-8"):
        sd.read_csv(tmp_path / "again.csv", {"id": "string"}, header=2, encoding="latin-1").collect(spark)


def test_no_line_is_split_that_is_not_utf8(spark: SparkSession) -> None:
    """Two bytes of any value, and three and four about the borders of what UTF-8 has."""
    starts = b"\x2d\x80\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff"
    others = b"\x2d\x7f\x80\x8f\x90\x9f\xa0\xbd\xbf\xc2"
    sequences = [*product(range(256), repeat=2)]
    sequences += [(start, *more) for many in (2, 3) for start in starts for more in product(others, repeat=many)]
    lines = [b"a" + bytes(each) + b",b" for each in sequences if ord(",") not in each]
    frame = spark.createDataFrame(pa.table({"bytes": pa.array(lines, pa.binary())}))
    text = sd.DelimitedText(quote="")
    fields = frame.selectExpr("bytes", f"CAST(bytes AS STRING) AS {LINE}").selectExpr(
        "bytes", LINE, f"{delimited_text._split(text, 2)} AS {delimited_text._SPLIT}"
    )
    split = {bytes(row[0]) for row in fields.where(f"NOT ({delimited_text._has_other_fields(text, 2)})").collect()}
    assert split == set(filter(is_utf8, lines))


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.usefixtures("few")
def test_text_that_is_not_utf8(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "latin.csv").write_bytes("x,y\ncafé,x\n".encode("latin-1"))
    columns = {"a": "string", "b": "string", "day": "string"}
    read = sd.read_files(tmp_path, columns, format=sd.DelimitedText(), kind="folder")
    folders_alone = sd.read_files(tmp_path, {"day": "string"}, format=sd.DelimitedText(), kind="folder")
    for relation in (read, read.select("day"), read.select("b"), folders_alone):
        with pytest.raises(ExecutionError, match="bytes that are not UTF-8"):
            relation.collect(spark)
    (tmp_path / "utf8.csv").write_bytes("café,𝄞\n".encode())
    fine = sd.read_files(tmp_path / "utf8.csv", {"a": "string", "b": "string"}, format=sd.DelimitedText())
    assert collected(fine, spark) == [("café", "𝄞")]
