"""Schemas from what people have: classes of Python, frames and schemas of other libraries, DDL and JSON; and back."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import re
import sys
import typing
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, ClassVar, NamedTuple, TypedDict
from typing import Literal as L

import attrs
import pandas as pd
import polars as pl
import pyarrow as pa
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError, SchemaError, SubstraitDslError, UnsupportedError
from substrait_dsl.fluent.python_schemas import PYTHON_TYPES
from tests.strategies import types
from tests.support import columns, refused


class Size(enum.StrEnum):
    SMALL = "S"


class Rank(enum.IntEnum):
    FIRST = 1


class Color(enum.Enum):
    RED = (255, 0, 0)


Key = typing.NewType("Key", int)


@dataclasses.dataclass
class Place:
    city: str
    zip: str | None = None


@dataclasses.dataclass
class Order:
    limit: ClassVar[int] = 3
    key: Key
    amount: float
    price: Annotated[decimal.Decimal, sd.Decimal(15, 2)]
    paid: bool
    day: dt.date
    at: dt.datetime
    time: dt.time
    took: dt.timedelta
    id: uuid.UUID
    raw: bytes
    tags: list[str | None]
    prices: Mapping[str, int] | None
    place: Place
    places: Sequence[Place]
    size: Size
    rank: Rank
    state: L["open", "closed"]
    level: L[1, 2, None]
    small: Annotated[int, sd.I32]
    own: sd.Nullable[sd.VarChar[L[3]]]


def test_a_dataclass_declares_columns_by_types_of_python_and_of_the_library() -> None:
    assert columns(sd.read_named("t", Order)) == (
        "key: i64, amount: fp64, price: decimal<15,2>, paid: boolean, day: date, at: precision_timestamp<6>, "
        "time: precision_time<6>, took: interval_day<6>, id: uuid, raw: binary, tags: list<string?>, "
        "prices: map<string, i64>?, place: struct<string, string?>, places: list<struct<string, string?>>, "
        "size: string, rank: i64, state: string, level: i64?, small: i32, own: varchar<3>?"
    )
    names = sd.read_named("t", Order).schema.struct.depth_first_names()
    assert names[names.index("place") :][:3] == ("place", "city", "zip")


def test_values_of_the_classes_of_python_fit_their_types() -> None:
    values = {
        bool: True, int: 2**63 - 1, float: 0.1, str: "x", bytes: b"x", dt.date: dt.date(2024, 1, 1),
        dt.time: dt.time(1, 2, 3, 4), dt.timedelta: dt.timedelta(microseconds=1), uuid.UUID: uuid.UUID(int=1),
        dt.datetime: dt.datetime(2024, 1, 1, 2, 3, 4, 5),
    }  # fmt: skip
    assert values.keys() == PYTHON_TYPES.keys()
    for class_, value in values.items():
        made = dataclasses.make_dataclass("Made", [("x", class_)])
        assert sd.read_virtual([(value,)], made).schema["x"] == PYTHON_TYPES[class_]


PAGE = (Path(__file__).parent.parent / "docs" / "schemas.md").read_text(encoding="utf-8")


def test_the_page_has_the_type_of_each_class_and_its_example_runs() -> None:
    rows = [line.split("|")[1:3] for line in PAGE.splitlines() if line.startswith("| `")]
    said = {
        name: type_
        for names, types_ in rows
        for name, type_ in zip(re.findall(r"`(.+?)`", names), re.findall(r"`(.+?)`", types_), strict=False)
    }
    for class_, type_ in PYTHON_TYPES.items():
        name = class_.__name__ if class_.__module__ == "builtins" else f"{class_.__module__}.{class_.__name__}"
        assert said[name] == str(type_), name
    page = ModuleType("page")  # in which annotations are looked up
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "page", page)
        exec(PAGE.partition("```python\n")[2].partition("```")[0], vars(page))
        assert columns(page.orders) == "key: i64, price: decimal<15,2>, comment: string?"


class Typed(TypedDict):
    key: typing.Required[int]
    comment: str | None


class TypedMore(Typed):
    day: dt.date


class Named(NamedTuple):
    key: int
    comment: str | None = None


@attrs.frozen
class Attrs:
    key: int
    comment: str | None


class Model(pydantic.BaseModel):
    key: pydantic.PositiveInt
    comment: str | None = pydantic.Field(default=None, max_length=3)


class Money(Model):
    price: decimal.Decimal = pydantic.Field(max_digits=15, decimal_places=2)
    other: Annotated[decimal.Decimal, sd.Decimal(9, 3)]
    at: pydantic.AwareDatetime
    local: pydantic.NaiveDatetime | None
    place: Place
    model: Model


@pytest.mark.parametrize("class_", [Typed, Named, Attrs, Model])
def test_other_classes_of_python_declare_columns(class_: Any) -> None:
    assert columns(sd.read_named("t", class_)) == "key: i64, comment: string?"


def test_classes_that_extend_others() -> None:
    assert columns(sd.read_named("t", TypedMore)) == "key: i64, comment: string?, day: date"
    assert columns(sd.read_named("t", Money)) == (
        "key: i64, comment: string?, price: decimal<15,2>, other: decimal<9,3>, at: precision_timestamp_tz<6>, "
        "local: precision_timestamp<6>?, place: struct<string, string?>, model: struct<i64, string?>"
    )


def test_the_values_of_a_model_are_rows() -> None:
    rows = [Model(key=1, comment="x"), Model(key=2)]
    read = sd.read_virtual([each.model_dump() for each in rows], Model)
    assert read._rel == sd.read_virtual([(1, "x"), (2, None)], {"key": "i64", "comment": "string?"})._rel


@dataclasses.dataclass
class Tree:
    children: list[Tree]


class Lacking(TypedDict, total=False):
    key: int


NO_COLUMNS: list[tuple[Any, tuple[str, ...]]] = [
    (decimal.Decimal, ("digits", "write Annotated[decimal.Decimal, Decimal(15, 2)]")),
    (int | str, ("one type", "int, str")),
    (L[1, "a"], ("one type",)),
    (Color, ("Color are no texts and no numbers", "StrEnum")),
    (set[int], ("set", "write list[...]")),
    (tuple[int, str], ("tuple", "NamedTuple")),
    (list, ("list", "the type of its elements")),
    (dict, ("dict", "keys and values")),
    (Any, ("Any", "write the type")),
    (object, ("object", "write the type")),
    (complex, ("complex", "two columns")),
    (sd.Decimal, ("Decimal needs its parameters",)),
    (sd.List[int], ("int is no Substrait type", "I64")),
    (pd.DataFrame, ("DataFrame is no Substrait type",)),
]


@pytest.mark.parametrize(("annotation", "said"), NO_COLUMNS, ids=str)
def test_an_annotation_without_a_counterpart_is_refused_by_name(annotation: Any, said: tuple[str, ...]) -> None:
    made = dataclasses.make_dataclass("Made", [("x", annotation)])
    with refused(InvalidArgumentError, "read_named", 'column "x"', *said):
        sd.read_named("t", made)
    outer = dataclasses.make_dataclass("Outer", [("inner", made)])
    with refused(InvalidArgumentError, "read_named", 'column "inner.x"', *said):
        sd.read_named("t", outer)


def test_the_hint_for_a_decimal_works() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        sd.read_named("t", dataclasses.make_dataclass("Made", [("x", decimal.Decimal)]))
    written = str(caught.value.hint).removeprefix("write ").removesuffix(", of the type of this library")
    annotation = eval(written, {"Annotated": Annotated, "decimal": decimal, "Decimal": sd.Decimal})
    assert columns(sd.read_named("t", dataclasses.make_dataclass("Made", [("x", annotation)]))) == "x: decimal<15,2>"


def test_classes_that_declare_no_columns() -> None:
    with refused(SchemaError, 'column "children"', "Tree holds itself"):
        sd.read_named("t", Tree)
    with refused(InvalidArgumentError, 'column "key"', "may be missing", "write a type | None"):
        sd.read_named("t", Lacking)
    with refused(SchemaError, "Later: the annotation Unknown is not known"):
        sd.read_named("t", dataclasses.make_dataclass("Later", [("x", "Unknown")]))
    with refused(SchemaError, "at least one column"):
        sd.read_named("t", dataclasses.make_dataclass("Empty", []))
    with refused(InvalidArgumentError, "cannot read columns", "give its class: Place"):
        sd.read_named("t", Place("x"))  # type: ignore[call-overload]
    none: Any
    for none in (Color, int, test_the_hint_for_a_decimal_works):
        with refused(InvalidArgumentError, "cannot read columns", "dataclass"):
            sd.read_named("t", none)


# Arrow


class Lazy:
    """What a lazy frame of narwhals has."""

    def collect_schema(self) -> object:
        class Types(dict[str, object]):
            def to_arrow(self) -> pa.Schema:
                return pa.schema({"a": pa.int64()})

        return Types(a="Int64")


class Stream:
    """What exports rows, and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table({"a": [1]}).__arrow_c_stream__(requested_schema)


EXPORTED: dict[str, Any] = {
    "pyarrow table": lambda: pa.table({"a": [1]}),
    "pyarrow batch": lambda: pa.RecordBatch.from_pylist([{"a": 1}]),
    "pyarrow reader": lambda: pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), []),
    "pyarrow schema": lambda: pa.schema({"a": pa.int64()}),
    "polars frame": lambda: pl.DataFrame({"a": [1]}),
    "polars lazy frame": lambda: pl.LazyFrame({"a": [1]}),
    "polars schema": lambda: pl.Schema({"a": pl.Int64}),
    "pandas": lambda: pd.DataFrame({"a": [1]}, index=["x"]),
    "lazy": Lazy,
    "types": lambda: Lazy().collect_schema(),
    "stream": Stream,
}


@pytest.mark.parametrize("made", EXPORTED.values(), ids=EXPORTED)
def test_whatever_exports_arrow_data_declares_columns(made: Any) -> None:
    assert columns(sd.read_named("t", made())) == "a: i64?"


@pytest.mark.usefixtures("duckdb")
def test_a_relation_of_duckdb_declares_columns() -> None:
    from duckdb import connect

    with connect() as connection:
        assert columns(sd.read_named("t", connection.sql("select 1::bigint as a"))) == "a: i64?"


@pytest.mark.usefixtures("datafusion")
def test_a_frame_of_datafusion_declares_columns() -> None:
    from datafusion import SessionContext

    assert columns(sd.read_named("t", SessionContext().sql("select nullif(1, 2) as a"))) == "a: i64?"


def test_a_reader_has_its_rows_left() -> None:
    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), [pa.RecordBatch.from_pylist([{"a": 1}])])
    assert columns(sd.read_named("t", reader)) == "a: i64?"
    assert reader.read_all().num_rows == 1


def test_a_lazy_frame_is_not_computed_for_its_columns() -> None:
    def fail(frame: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError("computed")

    frame = pl.LazyFrame({"a": [1]}).map_batches(fail, schema={"a": pl.Int64})
    assert columns(sd.read_named("t", frame)) == "a: i64?"


def test_types_of_frames_without_a_counterpart_are_refused_by_name() -> None:
    with refused(UnsupportedError, "null", "(at n)"):
        sd.read_named("t", pl.DataFrame({"n": [None]}))
    with refused(InvalidArgumentError, "a DataFrame of pandas", "column"):
        sd.read_named("t", pd.DataFrame({"x": [1, "a"]}))


def test_other_declarations() -> None:
    wanted = sd.read_named("t", {"a": "i64", "b": "string?"})
    for schema in ([("a", "i64"), ("b", sd.Nullable[sd.String])], wanted, wanted.schema):
        assert sd.read_named("t", schema)._rel == wanted._rel
    with refused(SchemaError, "names each column once"):
        sd.read_named("t", [("a", "i64"), ("a", "i64")])


# DDL and JSON

DDL = [
    (
        "id bigint not null, name STRING COMMENT 'it''s', price decimal(10, 2), tags array<string>",
        "id: i64, name: string?, price: decimal<10,2>?, tags: list<string?>?",
    ),
    ("struct<key:bigint,m:map<string,int>>", "key: i64?, m: map<string, i32?>?"),
    (
        "a tinyint, b short, c integer, d long, e float, f real, g double, h boolean, i binary, j date",
        "a: i8?, b: i16?, c: i32?, d: i64?, e: fp32?, f: fp32?, g: fp64?, h: boolean?, i: binary?, j: date?",
    ),
    (
        "a timestamp, b timestamp_ltz, c timestamp_ntz, d time(3), e interval day to second, f interval year to month",
        "a: precision_timestamp_tz<6>?, b: precision_timestamp_tz<6>?, c: precision_timestamp<6>?, "
        "d: precision_time<3>?, e: interval_day<6>?, f: interval_year?",
    ),
    (
        "a varchar(3), b char(2), c decimal, d numeric(5)",
        "a: varchar<3>?, b: fixedchar<2>?, c: decimal<10,0>?, d: decimal<5,0>?",
    ),
    ("`a b``c` int, s struct<x: int not null, y: array<int>>", "a b`c: i32?, s: struct<i32, list<i32?>?>?"),
]


@pytest.mark.parametrize(("text", "said"), DDL)
def test_ddl_declares_columns_as_spark_reads_it(text: str, said: str) -> None:
    assert columns(sd.read_named("t", text)) == said


NO_DDL: list[tuple[str, type[SubstraitDslError], tuple[str, ...]]] = [
    ("id i64", SchemaError, ("at character 4", "expected a type", '"i64"', "Spark has it as BIGINT", '{"x": "i64"}')),
    ("id uuid", SchemaError, ("expected a type", 'a dict takes the types of Substrait: {"x": "uuid"}')),
    ("id text", SchemaError, ("expected a type of Spark", '"text"')),
    ("id bigint primary key", SchemaError, ("at character 11", "NOT NULL or COMMENT", "primary key")),
    ("id bigint,", SchemaError, ("the name of a column", "the end")),
    ("id array<int", SchemaError, ('expected ">"', "the end")),
    ("id varchar", SchemaError, ("a length in parentheses",)),
    ("id decimal(x)", SchemaError, ("expected a number",)),
    ("id string collate unicode_ci", SchemaError, ("collations",)),
    ("id bigint; drop", SchemaError, ("at character 10",)),
    ("id int, id int", SchemaError, ("names each column once",)),
    ("id decimal(50,2)", UnsupportedError, ("decimal(50,2) has no Substrait type", "1 to 38")),
    ("id array<variant>", UnsupportedError, ("VARIANT", "(at id[])")),
    ("id interval day", UnsupportedError, ("INTERVAL DAY ", "INTERVAL DAY TO SECOND")),
    ("orders", InvalidArgumentError, ("cannot read columns from 'orders'", "DDL")),
    ("", InvalidArgumentError, ("cannot read columns",)),
    ('{"a": "i64"', SchemaError, ("no JSON",)),
    ('{"a": 1}', SchemaError, ("text of a type", 'write {"id": "i64"')),
    ('{"a": "i64", "a": "i32"}', SchemaError, ("twice", '"a"')),
    ('{"a": "i63"}', PlanFormatError, ('column "a"', "i63")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "error", "said"), NO_DDL)
def test_a_text_that_declares_no_columns(text: str, error: type[SubstraitDslError], said: tuple[str, ...]) -> None:
    with refused(error, "read_named", *said):
        sd.read_named("t", text)


def test_ddl_that_is_nested_deeply_is_refused() -> None:
    for levels in (200, 20_000):
        with refused(UnsupportedError, "nested too deeply"):
            sd.read_named("t", f"a {'array<' * levels}int{'>' * levels}")


def named(types_: Sequence[t.Type]) -> NamedStruct:
    """Columns of some types, in which each field of a struct has a name."""
    count = len(types_) + sum(1 for type_ in types_ for _ in t.struct_names(type_))
    return NamedStruct.from_types(types_, [f"f{number}" for number in range(count)])


SCHEMAS = st.lists(types(unbound=False, functions=False, user_defined=False), min_size=1, max_size=3).map(named)


@settings(max_examples=40)
@given(SCHEMAS)
def test_what_becomes_a_text_or_a_schema_of_arrow_comes_back(struct: NamedStruct) -> None:
    schema = sd.read_named("t", struct).schema
    forms: list[Any] = [schema.to_ddl, schema.to_json, schema.to_dict, lambda: pa.schema(schema)]
    for form in forms:
        try:
            written = form()
        except UnsupportedError:
            continue
        read = sd.read_named("t", written).schema
        assert (read, read.struct.depth_first_names()) == (schema, struct.depth_first_names())


def test_schemas_go_out() -> None:
    schema = sd.read_named("t", "id bigint not null, s struct<x: int, y: array<string>>").schema
    assert schema.to_ddl() == "id BIGINT NOT NULL, s STRUCT<x: INT, y: ARRAY<STRING>>"
    assert schema.to_dict() == {"id": "i64", "s": "nstruct<x: i32?, y: list<string?>?>?"}
    assert json.loads(schema.to_json(indent=2)) == schema.to_dict()
    assert pa.schema(schema) == schema.to_arrow()
    assert pl.Schema(schema)["s"] == pl.Struct({"x": pl.Int32, "y": pl.List(pl.String)})
    names: dict[str, Any] = {"sd": sd}
    exec(schema.to_source("Rows"), names)
    assert sd.read_named("t", names["Rows"]).schema == schema


def test_a_schema_class_goes_out() -> None:
    class Orders(sd.Schema):
        key: sd.I64
        comment: sd.Nullable[sd.String]

    wanted = pa.schema([pa.field("key", pa.int64(), nullable=False), pa.field("comment", pa.string())])
    assert pa.schema(Orders) == wanted
    assert pa.schema(sd.read_named("t", Orders).c) == wanted
    assert sd.schema_of(Orders).to_ddl() == "key BIGINT NOT NULL, comment STRING"
    assert str(sd.schema_of(Orders)) == "class Orders(sd.Schema):\n    key: sd.I64\n    comment: sd.Nullable[sd.String]"


def test_what_cannot_be_written_is_refused_by_name() -> None:
    def schema(type_: Any) -> sd.RelationSchema:
        return sd.read_named("t", {"x": type_}).schema

    for type_, said in (
        ("list<i64>", "list<i64?>"),
        ("map<string, i64>", "map<string, i64?>"),
        ("precision_timestamp<3>", "precision_timestamp<6>"),
        ("struct<i64>", "names"),
        ("uuid", "to_spark()"),
    ):
        with refused(UnsupportedError, f"no type for {type_}", "(at x)", said):
            schema(type_).to_ddl()
    with refused(UnsupportedError, 'column "x"', "does not say all", "to_source"):
        schema(sd.UserDefined("extension:acme:x", "point")).to_json()
    twice = sd.read_named("t", {"a": "i64"})
    with refused(SchemaError, '"a"', "rename or drop"):
        twice.cross(twice).schema.to_dict()
    with refused(sd.errors.InvalidChoiceError, "unknown dialect 'mysql'", '"spark"'):
        schema("i64").to_ddl("mysql")  # type: ignore[arg-type]  # on purpose
