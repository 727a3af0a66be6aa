"""Schemas to and from Arrow: exact both ways, or refused by name."""

from __future__ import annotations

import subprocess
import sys

import attrs
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.arrow import from_arrow, to_arrow, type_from_arrow, type_to_arrow
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError, SchemaError, SubstraitDslError, UnsupportedError

UNSIGNED = "extension:io.substrait:unsigned_integers"

EQUAL = [
    (t.Boolean(), pa.bool_()),
    (t.I8(), pa.int8()),
    (t.I16(), pa.int16()),
    (t.I32(), pa.int32()),
    (t.I64(), pa.int64()),
    (t.FP32(), pa.float32()),
    (t.FP64(), pa.float64()),
    (t.String(), pa.string()),
    (t.Binary(), pa.binary()),
    (t.Date(), pa.date32()),
    (t.UUID(), pa.uuid()),
    (t.FixedBinary(5), pa.binary(5)),
    (t.FixedBinary(16), pa.binary(16)),
    (t.Decimal(15, 2), pa.decimal128(15, 2)),
    (t.Decimal(38, 38), pa.decimal128(38, 38)),
    (t.PrecisionTime(0), pa.time32("s")),
    (t.PrecisionTime(3), pa.time32("ms")),
    (t.PrecisionTime(6), pa.time64("us")),
    (t.PrecisionTime(9), pa.time64("ns")),
    (t.PrecisionTimestamp(0), pa.timestamp("s")),
    (t.PrecisionTimestamp(6), pa.timestamp("us")),
    (t.PrecisionTimestampTZ(3), pa.timestamp("ms", "UTC")),
    (t.PrecisionTimestampTZ(9), pa.timestamp("ns", "UTC")),
    (t.IntervalDay(6), pa.duration("us")),
    (t.IntervalCompound(9), pa.month_day_nano_interval()),
    (t.UserDefined(UNSIGNED, "u8"), pa.uint8()),
    (t.UserDefined(UNSIGNED, "u16"), pa.uint16()),
    (t.UserDefined(UNSIGNED, "u32"), pa.uint32()),
    (t.UserDefined(UNSIGNED, "u64"), pa.uint64()),
    (t.List(t.I8()), pa.list_(pa.field("item", pa.int8(), nullable=False))),
    (t.Map(t.String(), t.I8(nullable=True)), pa.map_(pa.string(), pa.int8())),
    (t.Struct.of({"a": t.I8()}), pa.struct([pa.field("a", pa.int8(), nullable=False)])),
]


@pytest.mark.parametrize(("type_", "arrow"), EQUAL, ids=lambda value: str(value))
def test_equal_types(type_: t.Type, arrow: pa.DataType) -> None:
    assert type_to_arrow(type_) == arrow
    assert type_from_arrow(arrow, nullable=False) == type_
    assert type_from_arrow(arrow, nullable=True) == type_.as_nullable()


@pytest.mark.parametrize(
    ("arrow", "type_"),
    [
        (pa.large_string(), t.String()),
        (pa.string_view(), t.String()),
        (pa.large_binary(), t.Binary()),
        (pa.binary_view(), t.Binary()),
        (pa.dictionary(pa.int32(), pa.large_string()), t.String()),
        (pa.run_end_encoded(pa.int32(), pa.decimal128(5, 1)), t.Decimal(5, 1)),
        (pa.date64(), t.Date()),
        (pa.decimal32(9, 2), t.Decimal(9, 2)),
        (pa.decimal64(18, 2), t.Decimal(18, 2)),
        (pa.decimal256(38, 2), t.Decimal(38, 2)),
        (pa.timestamp("us", "Europe/Berlin"), t.PrecisionTimestampTZ(6)),
        (pa.large_list(pa.int8()), t.List(t.I8(nullable=True))),
        (pa.list_(pa.int8(), 3), t.List(t.I8(nullable=True))),
        (pa.list_view(pa.int8()), t.List(t.I8(nullable=True))),
        (pa.large_list_view(pa.int8()), t.List(t.I8(nullable=True))),
    ],
    ids=str,
)
def test_other_layouts_of_the_same_values(arrow: pa.DataType, type_: t.Type) -> None:
    assert type_from_arrow(arrow, nullable=False) == type_


@pytest.mark.parametrize(
    ("type_", "storage"),
    [
        (t.VarChar(3), pa.string()),
        (t.FixedChar(3), pa.string()),
        (t.IntervalYear(), pa.month_day_nano_interval()),
        (t.IntervalCompound(2), pa.month_day_nano_interval()),
    ],
    ids=str,
)
def test_types_that_arrow_lacks_are_named_in_the_metadata(type_: t.Type, storage: pa.DataType) -> None:
    field = to_arrow(NamedStruct.of({"a": type_.as_nullable()})).field("a")
    assert (field.type, field.nullable, field.metadata) == (storage, True, {b"substrait:type": str(type_).encode()})


def test_types_that_arrow_has_need_no_metadata() -> None:
    schema = NamedStruct.of((str(position), type_) for position, (type_, _) in enumerate(EQUAL))
    assert [field.metadata for field in to_arrow(schema)] == [None] * len(EQUAL)


def test_nullability_and_names_at_every_level() -> None:
    arrow = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False),
            pa.field(
                "lines",
                pa.list_(
                    pa.field(
                        "item",
                        pa.struct([pa.field("sku", pa.string()), pa.field("n", pa.int32(), nullable=False)]),
                        nullable=False,
                    )
                ),
            ),
            pa.field("tags", pa.map_(pa.string(), pa.field("value", pa.string(), nullable=False)), nullable=False),
        ]
    )
    schema = from_arrow(arrow)
    assert str(schema) == ("id: i64, lines: list<struct<string?, i32>>?, tags: map<string, string>")
    assert schema.depth_first_names() == ("id", "lines", "sku", "n", "tags")
    assert to_arrow(schema) == arrow


def test_an_unnamed_struct_gets_its_positions_as_names() -> None:
    assert type_to_arrow(t.Struct((t.I8(), t.I8()))).names == ["0", "1"]


def test_duplicate_column_names_stay() -> None:
    schema = NamedStruct.of([("a", t.I8()), ("a", t.String())])
    assert from_arrow(to_arrow(schema)) == schema


@pytest.mark.usefixtures("duckdb")
def test_duckdb_result_schema() -> None:
    import duckdb

    with duckdb.connect() as connection:
        arrow = connection.sql(
            """SELECT 1::TINYINT AS a, 1.5::DECIMAL(15,2) AS b, DATE '2020-01-01' AS c, TIMESTAMP_MS '2020-01-01' AS d,
            [1::BIGINT] AS e, {'x': 'y', 'z': true} AS f, MAP {'k': 1.0::REAL} AS g, 1::UINTEGER AS h,
            TIME '10:00:00' AS i, 'a'::BLOB AS j, 'a'::ENUM('a', 'b') AS k"""
        ).to_arrow_table()
    assert [str(type_) for type_ in from_arrow(arrow.schema).types] == [
        "i8?",
        "decimal<15,2>?",
        "date?",
        "precision_timestamp<3>?",
        "list<i64?>?",
        "struct<string?, boolean?>?",
        "map<string, fp32?>?",
        "u!u32?",
        "precision_time<6>?",
        "binary?",
        "string?",
    ]


class Exporter:
    """Something that is no pyarrow object but speaks the C data interface."""

    def __init__(self, inner: pa.Schema | pa.DataType) -> None:
        self.inner = inner

    def __arrow_c_schema__(self) -> object:
        return self.inner.__arrow_c_schema__()


def test_any_exporter_of_the_c_data_interface() -> None:
    schema = NamedStruct.of({"a": t.VarChar(3), "b": t.List(t.VarChar(4, nullable=True)), "c": t.UUID()})
    assert from_arrow(Exporter(to_arrow(schema))) == schema


@pytest.mark.parametrize("value", [Exporter(pa.int8()), {"a": pa.int8()}, None])
def test_what_is_no_schema_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgumentError, match=r"expected a pyarrow\.Schema"):
        from_arrow(value)  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize(
    ("type_", "message", "hint"),
    [
        (t.PrecisionTimestamp(4), "precision_timestamp<4> has no", "nearest is precision_timestamp<6>"),
        (t.PrecisionTimestampTZ(12), "precision_timestamp_tz<12> has no", "nearest is precision_timestamp_tz<9>"),
        (t.PrecisionTime(1), "precision_time<1> has no", "nearest is precision_time<3>"),
        (t.IntervalDay(7), "interval_day<7> has no", "nearest is interval_day<9>"),
        (t.IntervalCompound(10), "interval_compound<10> has no", "nearest is interval_compound<9>"),
        (t.Map(t.I8(nullable=True), t.I8()), "map<i8?, i8> has no", "use map<i8, i8>"),
        (t.UserDefined("extension:x:y", "point"), "u!point has no", "cast it"),
        (t.Func((t.I8(),), t.I8()), "func<i8 -> i8> has no", "argument"),
        (t.Unbound(), "unbound has no", "give the column a type"),
    ],
    ids=lambda value: str(value),
)
def test_types_without_storage_are_refused_by_name(type_: t.Type, message: str, hint: str) -> None:
    schema = NamedStruct.of({"a": t.Struct.of({"b": t.List(type_)})})
    with pytest.raises(UnsupportedError) as caught:
        to_arrow(schema)
    assert message in caught.value.message
    assert caught.value.path == "a.b[]"
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    "arrow",
    [
        pa.null(),
        pa.float16(),
        pa.decimal256(39, 2),
        pa.decimal128(5, -2),
        pa.binary(0),
        pa.json_(),
        pa.bool8(),
        pa.opaque(pa.int8(), "a", "b"),
    ],
    ids=str,
)
def test_arrow_types_without_equal_are_refused_by_name(arrow: pa.DataType) -> None:
    with pytest.raises(UnsupportedError) as caught:
        from_arrow(pa.schema([pa.field("m", pa.map_(pa.string(), arrow))]))
    assert str(arrow) in caught.value.message
    assert caught.value.path == "m[value]"


def test_metadata_that_contradicts_the_storage_is_refused() -> None:
    stale = to_arrow(NamedStruct.of({"a": t.VarChar(3)})).field("a").with_type(pa.int64())
    with pytest.raises(SchemaError, match=r"declares varchar<3>, the storage holds i64 \(at a\)"):
        from_arrow(pa.schema([stale]))


@pytest.mark.parametrize("storage", [pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_metadata_holds_for_every_layout_of_its_storage(storage: pa.DataType) -> None:
    field = pa.field("a", storage, metadata={"substrait:type": "varchar<3>"})
    assert from_arrow(pa.schema([field])).types == (t.VarChar(3, nullable=True),)


def test_the_field_settles_nullability_not_the_metadata() -> None:
    field = pa.field("a", pa.string(), nullable=False, metadata={"substrait:type": "varchar<3>?"})
    assert from_arrow(pa.schema([field])).types == (t.VarChar(3),)


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({b"substrait:type": b"varchr<3>"}, PlanFormatError),
        ({b"substrait:type": b"\xff"}, SchemaError),
        ({b"substrait:variation": b"dict"}, SchemaError),
    ],
)
def test_metadata_that_cannot_be_read(metadata: dict[bytes, bytes], error: type[SubstraitDslError]) -> None:
    with pytest.raises(error) as caught:
        from_arrow(pa.schema([pa.field("a", pa.string(), metadata=metadata)]))
    assert caught.value.path == "a"


def test_importing_the_module_loads_no_pyarrow() -> None:
    code = "import sys, substrait_dsl.arrow; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_pyarrow_the_error_says_what_to_install() -> None:
    code = """
import sys
sys.modules["pyarrow"] = None
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.arrow import to_arrow
from substrait_dsl.errors import UnsupportedError
try:
    to_arrow(NamedStruct(()))
except UnsupportedError as error:
    sys.exit(0 if "pip install" in error.hint else 1)
sys.exit(2)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def leaf_types() -> st.SearchStrategy[t.Type]:
    """Every type without types inside that Arrow can store."""
    lengths = st.integers(1, t.MAX_LENGTH)
    units = st.sampled_from([0, 3, 6, 9])
    simple = [t.Boolean, t.I8, t.I16, t.I32, t.I64, t.FP32, t.FP64, t.String, t.Binary, t.Date, t.IntervalYear, t.UUID]
    return st.one_of(
        st.sampled_from([kind() for kind in simple]),
        st.one_of([st.builds(kind, lengths) for kind in t.LENGTH_TYPES]),
        st.one_of([st.builds(kind, units) for kind in t.PRECISION_TYPES if kind is not t.IntervalCompound]),
        st.builds(t.IntervalCompound, st.integers(0, 9)),
        st.integers(1, 38).flatmap(lambda digits: st.builds(t.Decimal, st.just(digits), st.integers(0, digits))),
        st.sampled_from(["u8", "u16", "u32", "u64"]).map(lambda name: t.UserDefined(UNSIGNED, name)),
    )


def struct_of(fields: list[tuple[str, t.Type]]) -> t.Type:
    return t.Struct(tuple(type_ for _, type_ in fields), tuple(name for name, _ in fields))


def dressed(kinds: st.SearchStrategy[t.Type]) -> st.SearchStrategy[t.Type]:
    """The types with any nullability, and some of them with a variation."""
    variations = st.none() | st.just(t.TypeVariation("extension:x:y", "dict"))
    return st.builds(
        lambda kind, nullable, variation: attrs.evolve(kind, nullable=nullable, variation=variation),
        kinds,
        st.booleans(),
        variations,
    )


def nested(inner: st.SearchStrategy[t.Type]) -> st.SearchStrategy[t.Type]:
    fields = st.lists(st.tuples(st.text(max_size=3), inner), max_size=3)
    keys = inner.map(lambda type_: type_.as_required())
    return dressed(st.one_of(st.builds(t.List, inner), st.builds(t.Map, keys, inner), fields.map(struct_of)))


SCHEMAS = st.lists(
    st.tuples(st.text(max_size=3), st.recursive(dressed(leaf_types()), nested, max_leaves=6)), max_size=4
).map(NamedStruct.of)


@given(SCHEMAS)
def test_what_is_written_is_read_back(schema: NamedStruct) -> None:
    back = from_arrow(to_arrow(schema))
    assert back == schema
    assert back.depth_first_names() == schema.depth_first_names()
