"""Structs and maps on Sail: a field of what is NULL is NULL, and what is required inside stays so."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import ExecutionError
from substrait_dsl.testing import assert_same_rows, rows_table
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACE = pa.struct([("city", pa.string()), ("zip", pa.int32()), ("at", pa.struct([("x", pa.int64())]))])
DECLARED = sd.Struct.of(
    {
        "city": sd.String(nullable=True),
        "zip": sd.I32(nullable=True),
        "at": sd.Struct.of({"x": sd.I64(nullable=True)}, nullable=True),
    },
    nullable=True,
)
OSLO: dict[str, Any] = {"city": "Oslo", "zip": 1, "at": {"x": 7}}
ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "place": pa.array([OSLO, None, OSLO | {"at": None}], PLACE),
        "places": pa.array([[OSLO], [None, OSLO], None], pa.list_(PLACE)),
        "named": pa.array([[("a", OSLO)], [("a", None)], []], pa.map_(pa.string(), PLACE)),
    }
)
SCHEMA = {
    "id": sd.I64(nullable=True),
    "place": DECLARED,
    "places": sd.List(DECLARED, nullable=True),
    "named": sd.Map(sd.String(), DECLARED, nullable=True),
}
GIVEN = sd.read_named("given", SCHEMA)
DAY = dt.date(1582, 10, 10)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (lambda r: r.place["city"], ["Oslo", None, "Oslo"]),
        (lambda r: r.place["zip"] + 1, [2, None, 2]),
        (lambda r: r.place["city"].is_null(), [False, True, False]),
        (lambda r: f.coalesce(r.place["city"], "?"), ["Oslo", "?", "Oslo"]),
        (lambda r: r.place["at"]["x"], [7, None, None]),
        (lambda r: r.place["at"].is_null(), [False, True, True]),
        (lambda r: r.places[0]["city"], ["Oslo", None, None]),
        (lambda r: r.places[0]["at"]["x"], [7, None, None]),
        (lambda r: f.transform(r.places, lambda p: p["zip"]), [[1], [None, 1], None]),
        (lambda r: r.named["a"]["zip"], [1, None, None]),
        (lambda r: sd.when(r.id > 0).then(r.place).otherwise(None)["zip"], [1, None, 1]),
    ],
)
def test_fields(column: Any, values: list[object], sail: SparkSession) -> None:
    found = GIVEN.select("id", value=column).sort("id").collect(sail, tables={"given": ROWS})
    assert [value for _, value in found] == values


def test_fields_as_keys_arguments_and_conditions(sail: SparkSession) -> None:
    groups = GIVEN.group_by(zip=lambda r: r.place["zip"]).agg(n=f.count(), zips=lambda r: f.count(r.place["zip"]))
    assert groups.sort("zip").collect(sail, tables={"given": ROWS}) == [(None, 1, 0), (1, 2, 2)]
    missing = GIVEN.filter(lambda r: r.place["city"].is_null()).select("id")
    assert missing.collect(sail, tables={"given": ROWS}) == [(2,)]
    elements = GIVEN.unnest("places").select("id", city=lambda r: r.element["city"])
    assert elements.sort("id", "city").collect(sail, tables={"given": ROWS}) == [(1, "Oslo"), (2, None), (2, "Oslo")]


def test_required_fields_of_a_file_and_rows_of_a_plan(sail: SparkSession, tmp_path: Path) -> None:
    kind = pa.struct([pa.field("zip", pa.int32(), nullable=False)])
    table = pa.table({"id": pa.array([1, 2], pa.int64()), "place": pa.array([{"zip": 1}, None], kind)})
    pq.write_table(table, tmp_path / "places.parquet")
    schema = {"id": sd.I64(nullable=True), "place": sd.Struct.of({"zip": sd.I32()}, nullable=True)}
    read = sd.read_files(str(tmp_path / "places.parquet"), schema)
    virtual = sd.read_virtual([(1, (1,)), (2, None)], schema)
    for rows in (read, virtual):
        assert rows.select("id", z=lambda r: r.place["zip"]).sort("id").collect(sail) == [(1, 1), (2, None)]


def test_required_fields_of_null_as_arrow(sail: SparkSession) -> None:
    schema = {"id": sd.I64, "place": sd.Struct.of({"zip": sd.I32()}, nullable=True)}
    table = sd.read_virtual([(1, (1,)), (2, None)], schema).to_arrow(sail)
    assert table.to_pylist() == [{"id": 1, "place": {"zip": 1}}, {"id": 2, "place": None}]
    assert not table.schema.field("place").type.field(0).nullable


def test_maps_of_required_values(sail: SparkSession) -> None:
    who = pa.table({"who": ["ann"]}, schema=pa.schema([pa.field("who", pa.string(), nullable=False)]))
    maps = sd.read_named("given", {"who": "string"}).select(
        of_texts=lambda r: sd.map_of({"k": r.who}), of_lists=lambda r: sd.map_of({"k": sd.list_of(r.who)})
    )
    assert maps.collect(sail, tables={"given": who}) == [({"k": "ann"}, {"k": ["ann"]})]
    assert [field.nullable for field in maps.execute(sail, tables={"given": who}).schema] == [False, False]


REQUIRED: dict[str, tuple[t.Type, Any]] = {
    "bytes": (t.Binary(), b"\0"),
    "bytes of a length": (t.FixedBinary(2), b"ab"),
    "a truth value": (t.Boolean(), False),
    "a truth value in a struct": (t.Struct((t.Boolean(), t.I32(nullable=True)), nullable=True), (False, None)),
    "bytes in a struct": (t.Struct((t.Binary(),), nullable=True), (b"",)),
    "structs in a list": (t.List(t.Struct((t.I64(), t.Binary()))), [(1, b"")]),
    "structs in a map": (t.Map(t.I8(), t.Struct((t.String(), t.I8(nullable=True)))), {1: ("a", None)}),
    "optional structs in a map": (t.Map(t.Date(), t.Struct((t.I8(nullable=True),), nullable=True)), {DAY: (1,)}),
}


@pytest.mark.parametrize("case", REQUIRED)
def test_required_values_of_each_source(case: str, sail: SparkSession, tmp_path: Path) -> None:
    """A required value is itself, also where NULL may stand beside it, and whatever it is read from."""
    type_, value = REQUIRED[case]
    schema = {"k": t.I64(), "c": type_}
    named, rows = sd.read_named("t", schema), [(1, value), (2, value)]
    table = rows_table(rows, named.schema.struct)
    pq.write_table(table, tmp_path / "t.parquet")
    for read in (sd.read_virtual(rows, schema), sd.read_files(str(tmp_path / "t.parquet"), schema), named):
        tables = {"t": table} if read is named else None
        assert_same_rows(read, rows, tables=tables, session=sail)
        chosen = read.select(c=lambda r: sd.when(r.k > 1).then(r.c).otherwise(None))
        assert_same_rows(chosen, [(None,), (value,)], tables=tables, session=sail)


@pytest.mark.parametrize("kind", ["binary", "fixedbinary<2>", "boolean"])
def test_a_required_value_that_is_null(kind: str, sail: SparkSession) -> None:
    absent = rows_table([(None,)], sd.read_named("t", {"c": f"{kind}?"}).schema.struct)
    with refused(ExecutionError, 'column "c" is required, but it is NULL'):
        sd.read_named("t", {"c": kind}).collect(sail, tables={"t": absent})
    given = sd.read_virtual([(None,)], {"c": f"{kind}?"}).select(c=lambda r: r.c.assert_not_null())
    with refused(ExecutionError, "NULL"):
        given.collect(sail)
