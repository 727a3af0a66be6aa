"""`schema_of`: the columns of files, to paste; and `from_arrow`: rows of frames, in the plan."""

from __future__ import annotations

import datetime as dt
import gzip
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl.arrow.values import literals_table
from substrait_dsl.cli import main
from substrait_dsl.errors import (
    ExecutionError,
    InvalidArgumentError,
    InvalidChoiceError,
    LiteralError,
    SchemaError,
    UnsupportedError,
)
from tests.support import columns, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = pa.table(
    {"key": pa.array([1], pa.int64()), "tags": pa.array([["x"]], pa.list_(pa.string()))},
    schema=pa.schema([pa.field("key", pa.int64(), nullable=False), pa.field("tags", pa.list_(pa.string()))]),
)
CLASS = "class LakeOrders(sd.Schema):\n    key: sd.I64\n    tags: sd.Nullable[sd.List[sd.Nullable[sd.String]]]"


def write_arrow(path: Path, make: Callable[..., Any]) -> None:
    with pa.OSFile(str(path), "wb") as sink, make(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)


WRITTEN: dict[str, Callable[[Path], None]] = {
    "lake_orders.parquet": lambda path: pq.write_table(TABLE, path),
    "lake-orders.arrow": lambda path: write_arrow(path, pa.ipc.new_file),
    "Lake Orders.arrows": lambda path: write_arrow(path, pa.ipc.new_stream),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_shows_its_columns_as_a_class_to_paste(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITTEN[name](path)
    for source in (path, str(path), path.as_uri()):
        schema = sd.schema_of(source)
        assert schema == sd.read_named("t", TABLE).schema
        assert str(schema) == repr(schema) == CLASS
    names: dict[str, Any] = {"sd": sd}
    exec(CLASS, names)
    assert sd.read_named("t", names["LakeOrders"]).schema == schema


def test_an_orc_file_says_its_types(tmp_path: Path) -> None:
    path = tmp_path / "1st.orc"
    pyarrow.orc.write_table(pa.table({"key": [1]}), path)
    assert str(sd.schema_of(path)) == "class Columns1st(sd.Schema):\n    key: sd.Nullable[sd.I64]"


def test_delimited_text_has_texts_by_the_names_of_its_header(tmp_path: Path) -> None:
    path, packed = tmp_path / "a.csv", tmp_path / "a.tsv.gz"
    path.write_text('\ufeffkey,"the, name"\n1,x\n', encoding="utf-8")
    packed.write_bytes(gzip.compress(b"key\tname\n1\tx\n"))
    assert columns(sd.read_named("t", sd.schema_of(path))) == "key: string?, the, name: string?"
    assert str(sd.schema_of(path)) == "A = {\n    'key': 'string?',\n    'the, name': 'string?',\n}"
    assert columns(sd.read_named("t", sd.schema_of(packed))) == "key: string?, name: string?"
    form = sd.DelimitedText(field_delimiter=";", quote="'", escape="\\", header_lines_to_skip=2, null_value="")
    (tmp_path / "b.txt").write_text("# a comment\n'a;\\'b';c\n1;2\n", encoding="utf-8")
    assert sd.schema_of(tmp_path / "b.txt", format=form).to_dict() == {"a;'b": "string?", "c": "string?"}
    with refused(SchemaError, "no header", "header_lines_to_skip=1"):
        sd.schema_of(path, format=sd.DelimitedText())
    (tmp_path / "c.csv").write_text("a,a\n", encoding="utf-8")
    with refused(SchemaError, "c.csv", '"a"', "twice"):
        sd.schema_of(tmp_path / "c.csv")


def test_empty_fields_are_what_the_schema_of_the_file_says(tmp_path: Path, sail: SparkSession) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,\n"",x\n', encoding="utf-8")
    names: dict[str, Any] = {"sd": sd}
    exec(str(sd.schema_of(path)), names)
    assert sd.read_csv(path, names["A"]).collect() == [("1", None), (None, "x")]
    form = sd.DelimitedText(header_lines_to_skip=1)
    assert sd.schema_of(path, format=form).to_dict() == {"a": "string", "b": "string"}
    assert sd.read_csv(path, sd.schema_of(path, format=form), null_value=None).collect() == [("1", ""), ("", "x")]


def test_json_lines_have_the_types_that_pyarrow_infers(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"key": 1, "tags": ["x"]}\n{"key": 2.5, "place": {"city": "Oslo"}}\n', encoding="utf-8")
    wanted = {"key": "fp64?", "tags": "list<string?>?", "place": "nstruct<city: string?>?"}
    assert sd.schema_of(path).to_dict() == sd.schema_of(path, format="json").to_dict() == wanted
    path.write_text('{"key": null}\n', encoding="utf-8")
    with refused(UnsupportedError, "null", "(at key)"):
        sd.schema_of(path)


def test_what_is_no_file_with_a_schema(tmp_path: Path) -> None:
    with refused(ExecutionError, "schema_of", "there is no file", "none.parquet"):
        sd.schema_of(tmp_path / "none.parquet")
    pq.write_table(TABLE, tmp_path / "part-0.parquet")
    with pytest.raises(ExecutionError) as caught:
        sd.schema_of(tmp_path)
    assert sd.schema_of(eval(str(caught.value.hint).removeprefix("give one of its files, such as "))) == sd.schema_of(
        TABLE
    )
    (tmp_path / "notes.txt").write_text("x\n", encoding="utf-8")
    with refused(InvalidArgumentError, "no Parquet, ORC or Arrow file", 'format="csv"'):
        sd.schema_of(tmp_path / "notes.txt")
    assert sd.schema_of(tmp_path / "notes.txt", format="csv").names == ("x",)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    with refused(ExecutionError, "cannot read", "broken.parquet"):
        sd.schema_of(tmp_path / "broken.parquet")
    with refused(InvalidChoiceError, "unknown format 'xml'", '"json"'):
        sd.schema_of(tmp_path / "notes.txt", format="xml")  # type: ignore[arg-type]
    with refused(InvalidArgumentError, "only a file has a format"):
        sd.schema_of(TABLE, format="csv")


def test_the_home_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    pq.write_table(TABLE, tmp_path / "lake_orders.parquet")
    assert str(sd.schema_of("~/lake_orders.parquet")) == CLASS


def test_read_files_without_a_schema_says_how_to_see_it(tmp_path: Path) -> None:
    path = tmp_path / "lake_orders.parquet"
    pq.write_table(TABLE, path)
    with pytest.raises(InvalidArgumentError) as caught:
        sd.read_files(path)  # type: ignore[call-overload]
    assert "schema_of(path) shows the columns of a file as a class" in str(caught.value.hint)
    assert str(sd.schema_of(path)) == CLASS


def test_the_command_prints_the_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lake_orders.parquet"
    pq.write_table(TABLE, path)
    assert main(["schema", str(path)]) == 0
    assert capsys.readouterr().out == f"{CLASS}\n"
    (tmp_path / "a.txt").write_text("key,name\n", encoding="utf-8")
    assert main(["schema", "--format", "csv", str(tmp_path / "a.txt")]) == 0
    assert capsys.readouterr().out == "class A(sd.Schema):\n    key: sd.String\n    name: sd.String\n"
    assert main(["schema", str(tmp_path / "none.parquet")]) == 1
    assert "substrait-dsl: schema_of: there is no file" in capsys.readouterr().err


# Rows of frames


EVERY_TYPE: dict[str, Any] = {
    "boolean?": True, "i8?": -128, "i64?": 2**63 - 1, "u!u64?": 2**64 - 1, "fp32?": 0.5, "fp64?": float("inf"),
    "decimal<38,2>?": Decimal("1.20"), "string?": "x", "varchar<3>?": "xyz", "fixedchar<1>?": "x", "binary?": b"",
    "fixedbinary<2>?": b"xy", "uuid?": uuid.UUID(int=5), "date?": dt.date(2024, 1, 31),
    "precision_time<0>?": dt.time(1, 2, 3), "precision_time<9>?": dt.time(1, 2, 3, 4),
    "precision_timestamp<9>?": pd.Timestamp("1969-12-31 23:59:59.123456789"),
    "precision_timestamp_tz<3>?": dt.datetime(2024, 1, 31, tzinfo=dt.UTC),
    "interval_day<6>?": dt.timedelta(days=-1, seconds=5, microseconds=7), "interval_year?": sd.YearMonths(-1, -2),
    "interval_compound<9>?": sd.Compound(sd.YearMonths(1, 2), sd.DaySeconds(3, 4, 5)),
    "list<i64?>?": [1, None], "map<string, list<i32>?>?": {"a": [1], "b": None, "c": []},
    "nstruct<x: i64, y: nstruct<z: date?>?>?": {"x": 1, "y": {"z": None}},
    "list<nstruct<x: i64>?>?": [{"x": 1}, None],
}  # fmt: skip
"""A value of each type that Arrow has, and of some inside of others."""


def test_values_of_every_type_come_back_from_arrow() -> None:
    schema = {f"c{number}": type_ for number, type_ in enumerate(EVERY_TYPE)}
    row = tuple(EVERY_TYPE.values())
    rel = sd.read_virtual([row, (None,) * len(row), row], schema)
    read: Any = rel._rel
    rows = [record.fields for record in read.definition.rows]
    table = literals_table(rows, rel.schema.struct)
    assert sd.from_arrow(table)._rel == rel._rel
    assert sd.from_arrow(table.slice(1))._rel == sd.read_virtual([(None,) * len(row), row], schema)._rel
    assert sd.from_arrow(table.slice(0, 0))._rel == sd.read_virtual([], schema)._rel


def test_frames_become_rows_of_the_plan() -> None:
    frame = {
        "a": [1, None], "d": [Decimal("1.20"), None], "t": [dt.datetime(2024, 1, 31, 1, 2, 3, 4), None],
        "s": [{"x": [1, None]}, None],
    }  # fmt: skip
    wanted = sd.read_virtual(
        [(1, Decimal("1.20"), dt.datetime(2024, 1, 31, 1, 2, 3, 4), {"x": [1, None]}), (None, None, None, None)],
        {
            "a": "i64?", "d": "decimal<5,2>?", "t": "precision_timestamp<6>?", "s": "nstruct<x: list<i64?>?>?",
        },
    )  # fmt: skip
    polars = pl.DataFrame(frame, schema_overrides={"d": pl.Decimal(5, 2)})
    assert sd.from_arrow(polars)._rel == wanted._rel
    assert sd.from_arrow(polars.to_arrow())._rel == wanted._rel
    assert sd.from_arrow(polars.to_arrow().to_reader())._rel == wanted._rel
    assert sd.from_arrow(pd.DataFrame({"a": [1, 2]}, index=["x", "y"]))._rel == (
        sd.read_virtual([(1,), (2,)], {"a": "i64?"})._rel
    )


def test_layouts_are_no_types() -> None:
    values = pa.table(
        {
            "a": pa.array(["x", "y", "x"]).dictionary_encode(),
            "b": pa.array([[1], [], None], pa.large_list(pa.int64())),
            "c": pa.array(["x", None, "y"], pa.string_view()),
            "d": pa.array([dt.datetime(2024, 1, 1)] * 3, pa.timestamp("us", "Europe/Oslo")),
        }
    ).slice(1)
    assert sd.from_arrow(values)._rel == (
        sd.read_virtual(
            [
                ("y", [], None, dt.datetime(2024, 1, 1, tzinfo=dt.UTC)),
                ("x", None, "y", dt.datetime(2024, 1, 1, tzinfo=dt.UTC)),
            ],
            {"a": "string?", "b": "list<i64?>?", "c": "string?", "d": "precision_timestamp_tz<6>?"},
        )._rel
    )


def test_more_rows_than_a_plan_should_hold_are_refused_with_the_way_out() -> None:
    frame = pa.table({"a": list(range(11))})
    with pytest.raises(InvalidArgumentError) as caught:
        sd.from_arrow(frame, most_rows=10)
    assert "11 rows" in caught.value.message
    read = str(caught.value.hint).partition(", and collect")[0].replace('"name"', '"t"')
    assert eval(read, {"read_named": sd.read_named, "frame": frame}).schema == sd.from_arrow(frame, most_rows=11).schema
    with refused(InvalidArgumentError, "10001 rows", "the most is 10000"):
        sd.from_arrow(pa.table({"a": list(range(10_001))}))


def test_what_makes_no_rows_is_refused() -> None:
    cases: list[tuple[Any, str]] = [
        ("x.parquet", "read_files(path, schema_of(path))"),
        ([(1,)], "read_virtual(rows, schema)"),
        (pl.LazyFrame({"a": [1]}), "frame.collect()"),
        (pl.DataFrame, "expected a table"),
        (3, "expected a table"),
    ]
    for value, said in cases:
        with refused(InvalidArgumentError, "from_arrow", said):
            sd.from_arrow(value)
    required = pa.schema([pa.field("a", pa.int64(), nullable=False)])
    with refused(InvalidArgumentError, "from_arrow", 'column "a" is required, but it is NULL'):
        sd.from_arrow(pa.Table.from_arrays([pa.array([1, None])], schema=required))
    with refused(LiteralError, "from_arrow", 'column "a"', "the years 1000 to 9999"):
        sd.from_arrow(pa.table({"a": [dt.date(900, 1, 1)]}))
    with refused(UnsupportedError, "from_arrow", "null", "(at a)"):
        sd.from_arrow(pa.table({"a": pa.nulls(1)}))
