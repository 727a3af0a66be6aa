"""Types to and from Spark SQL, without a session: PySpark's types are plain Python."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as s
from pyspark.sql.pandas.types import from_arrow_schema

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.arrow import to_arrow
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError
from substrait_dsl.spark.expressions.types import from_spark, spark_sql_type, to_spark, type_from_spark, type_to_spark

EQUAL = [
    (t.Boolean(), s.BooleanType(), "BOOLEAN"),
    (t.I8(), s.ByteType(), "TINYINT"),
    (t.I16(), s.ShortType(), "SMALLINT"),
    (t.I32(), s.IntegerType(), "INT"),
    (t.I64(), s.LongType(), "BIGINT"),
    (t.FP32(), s.FloatType(), "FLOAT"),
    (t.FP64(), s.DoubleType(), "DOUBLE"),
    (t.String(), s.StringType(), "STRING"),
    (t.Binary(), s.BinaryType(), "BINARY"),
    (t.Date(), s.DateType(), "DATE"),
    (t.Decimal(15, 2), s.DecimalType(15, 2), "DECIMAL(15,2)"),
    (t.Decimal(38, 38), s.DecimalType(38, 38), "DECIMAL(38,38)"),
    (t.PrecisionTime(0), s.TimeType(0), "TIME(0)"),
    (t.PrecisionTime(6), s.TimeType(6), "TIME(6)"),
    (t.PrecisionTimestamp(6), s.TimestampNTZType(), "TIMESTAMP_NTZ"),
    (t.PrecisionTimestampTZ(6), s.TimestampType(), "TIMESTAMP_LTZ"),
    (t.IntervalYear(), s.YearMonthIntervalType(), "INTERVAL YEAR TO MONTH"),
    (t.IntervalDay(6), s.DayTimeIntervalType(), "INTERVAL DAY TO SECOND"),
    (t.List(t.I8()), s.ArrayType(s.ByteType(), containsNull=False), "ARRAY<TINYINT>"),
    (t.List(t.I8(nullable=True)), s.ArrayType(s.ByteType()), "ARRAY<TINYINT>"),
    (t.Map(t.String(), t.I8()), s.MapType(s.StringType(), s.ByteType(), False), "MAP<STRING, TINYINT>"),
    (t.Map(t.String(), t.I8(nullable=True)), s.MapType(s.StringType(), s.ByteType()), "MAP<STRING, TINYINT>"),
    (
        t.Struct.of({"a": t.I64(), "b": t.String(nullable=True)}),
        s.StructType([s.StructField("a", s.LongType(), False), s.StructField("b", s.StringType())]),
        "STRUCT<f0: BIGINT, f1: STRING>",
    ),
]


@pytest.mark.parametrize(("type_", "spark", "sql"), EQUAL, ids=lambda value: str(value))
def test_equal_types(type_: t.Type, spark: s.DataType, sql: str) -> None:
    assert type_to_spark(type_) == spark
    assert type_from_spark(spark, nullable=False) == type_
    assert type_from_spark(spark, nullable=True) == type_.as_nullable()
    assert spark_sql_type(type_) == spark_sql_type(type_.as_nullable()) == sql


@pytest.mark.parametrize(
    ("type_", "spark", "sql"),
    [
        (t.PrecisionTimestamp(0), s.TimestampNTZType(), "TIMESTAMP_NTZ"),
        (t.PrecisionTimestampTZ(3), s.TimestampType(), "TIMESTAMP_LTZ"),
        (t.IntervalDay(0), s.DayTimeIntervalType(), "INTERVAL DAY TO SECOND"),
        (t.VarChar(3), s.StringType(), "STRING"),
        (t.FixedChar(3), s.StringType(), "STRING"),
        (t.FixedBinary(3), s.BinaryType(), "BINARY"),
        (t.UUID(), s.StringType(), "STRING"),
        (t.UserDefined(t.UNSIGNED_URN, "u8"), s.ShortType(), "SMALLINT"),
        (t.UserDefined(t.UNSIGNED_URN, "u16"), s.IntegerType(), "INT"),
        (t.UserDefined(t.UNSIGNED_URN, "u32"), s.LongType(), "BIGINT"),
        (t.UserDefined(t.UNSIGNED_URN, "u64"), s.DecimalType(20, 0), "DECIMAL(20,0)"),
        (t.Map(t.I8(nullable=True), t.I8()), s.MapType(s.ByteType(), s.ByteType(), False), "MAP<TINYINT, TINYINT>"),
    ],
    ids=str,
)
def test_types_whose_values_fit_another(type_: t.Type, spark: s.DataType, sql: str) -> None:
    assert type_to_spark(type_) == spark
    assert spark_sql_type(type_) == sql


def test_char_and_varchar_keep_their_length_when_read() -> None:
    assert type_from_spark(s.CharType(3), nullable=False) == t.FixedChar(3)
    assert type_from_spark(s.VarcharType(7), nullable=True) == t.VarChar(7, nullable=True)


def test_nullability_and_names_at_every_level() -> None:
    line = s.StructType([s.StructField("sku", s.StringType()), s.StructField("n", s.IntegerType(), nullable=False)])
    spark = s.StructType(
        [
            s.StructField("id", s.LongType(), nullable=False),
            s.StructField("lines", s.ArrayType(line, containsNull=False)),
            s.StructField("tags", s.MapType(s.StringType(), s.StringType(), False), nullable=False),
        ]
    )
    schema = from_spark(spark)
    assert str(schema) == "id: i64, lines: list<struct<string?, i32>>?, tags: map<string, string>"
    assert schema.depth_first_names() == ("id", "lines", "sku", "n", "tags")
    assert to_spark(schema) == spark


def test_an_unnamed_struct_gets_its_positions_as_names() -> None:
    made = type_to_spark(t.Struct((t.I8(), t.I8())))
    assert isinstance(made, s.StructType)
    assert made.names == ["0", "1"]


def test_names_from_the_user_never_get_into_sql_text() -> None:
    evil = t.List(t.Struct.of({"a> , b: INT": t.Struct.of({"`": t.I8()})}))
    assert spark_sql_type(evil) == "ARRAY<STRUCT<f0: STRUCT<f0: TINYINT>>>"


@pytest.mark.parametrize(
    ("type_", "message", "hint"),
    [
        (t.PrecisionTimestamp(7), "no type for precision_timestamp<7>", "cast it to precision_timestamp<6>"),
        (t.PrecisionTimestampTZ(12), "no type for precision_timestamp_tz<12>", "cast it to precision_timestamp_tz<6>"),
        (t.PrecisionTime(9), "no type for precision_time<9>", "cast it to precision_time<6>"),
        (t.IntervalDay(9), "no type for interval_day<9>", "cast it to interval_day<6>"),
        (t.IntervalCompound(6), "no type for interval_compound<6>", "interval_year"),
        (t.UserDefined("extension:mine:f", "u64"), "no type for u!u64", "only unsigned integers"),
        (t.Func((t.I8(),), t.I8()), "no type for func<i8 -> i8>", "argument"),
        (t.Unbound(), "no type for unbound", "give the column a type"),
        (t.I8(variation=t.TypeVariation("extension:x:y", "tiny")), '"tiny" of extension:x:y', "without the variation"),
        (t.Map(t.I8(variation=t.TypeVariation("extension:x:y", "tiny")), t.I8()), '"tiny"', "without the variation"),
    ],
    ids=lambda value: str(value),
)
def test_types_that_spark_cannot_hold_are_refused_by_name(type_: t.Type, message: str, hint: str) -> None:
    schema = NamedStruct.of({"a": t.Struct.of({"b": t.List(type_)})})
    with pytest.raises(UnsupportedError) as caught:
        to_spark(schema)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")
    assert (caught.value.path or "").startswith("a.b[]")
    with pytest.raises(UnsupportedError):
        spark_sql_type(t.List(type_))


def test_maps_cannot_be_keys_in_spark() -> None:
    type_ = t.Map(t.List(t.Map(t.I8(), t.I8())), t.I8())
    with pytest.raises(UnsupportedError, match=r"keys of a Spark map .*list<map<i8, i8>> \(at m\[key\]\)"):
        to_spark(NamedStruct.of({"m": type_}))
    with pytest.raises(UnsupportedError, match="keys of a Spark map"):
        spark_sql_type(type_)


@pytest.mark.parametrize(
    ("spark", "name"),
    [
        (s.NullType(), "void"),
        (s.CalendarIntervalType(), "interval"),
        (s.VariantType(), "variant"),
        (s.StringType("UTF8_LCASE"), "string collate UTF8_LCASE"),
        (s.DayTimeIntervalType(0, 1), "interval day to hour"),
        (s.YearMonthIntervalType(0, 0), "interval year"),
        (s.TimeType(9), "time(9)"),
        (s.DecimalType(10, -2), "decimal(10,-2)"),
        (s.DecimalType(39, 0), "decimal(39,0)"),
    ],
    ids=str,
)
def test_spark_types_without_equal_are_refused_by_name(spark: s.DataType, name: str) -> None:
    schema = s.StructType([s.StructField("m", s.MapType(s.StringType(), spark))])
    with pytest.raises(UnsupportedError) as caught:
        from_spark(schema)
    assert f"the Spark type {name} has no" in caught.value.message
    assert caught.value.path == "m[value]"


def test_what_is_no_schema_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"expected a pyspark\.sql\.types\.StructType, got ArrayType"):
        from_spark(s.ArrayType(s.LongType()))  # type: ignore[arg-type]  # the mistake under test


def test_importing_the_module_loads_no_pyspark() -> None:
    code = "import sys, substrait_dsl.spark.expressions.types; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def nested(inner: st.SearchStrategy[t.Type]) -> st.SearchStrategy[t.Type]:
    fields = st.lists(st.tuples(st.text("abc", min_size=1, max_size=3), inner), min_size=1, max_size=3)
    keys = st.sampled_from([t.String(), t.I64(), t.Date()])
    structs = fields.map(lambda pairs: t.Struct(tuple(k for _, k in pairs), tuple(n for n, _ in pairs)))
    return with_nullability(st.one_of(st.builds(t.List, inner), st.builds(t.Map, keys, inner), structs))


def with_nullability(kinds: st.SearchStrategy[t.Type]) -> st.SearchStrategy[t.Type]:
    return st.builds(lambda kind, nullable: kind.with_nullability(nullable), kinds, st.booleans())


LEAVES = [type_ for type_, _, _ in EQUAL if not isinstance(type_, t.List | t.Map | t.Struct)]
TYPES = st.recursive(with_nullability(st.sampled_from(LEAVES)), nested, max_leaves=6)


@given(st.lists(st.tuples(st.text(max_size=3), TYPES), max_size=4).map(NamedStruct.of))
def test_what_is_written_is_read_back(schema: NamedStruct) -> None:
    back = from_spark(to_spark(schema))
    assert back == schema
    assert back.depth_first_names() == schema.depth_first_names()


@given(TYPES)
def test_sql_text_is_the_one_that_pyspark_writes(type_: t.Type) -> None:
    ours = spark_sql_type(type_).lower().replace(": ", ":").replace(", ", ",")
    # But for what TIMESTAMP means, which is a setting of the session.
    assert ours.replace("timestamp_ltz", "timestamp") == type_to_spark(positional(type_)).simpleString()


def positional(type_: t.Type) -> t.Type:
    """The type with every struct field called f0, f1, ..."""
    match type_:
        case t.Struct(types=types):
            names = tuple(f"f{position}" for position in range(len(types)))
            return t.Struct(tuple(positional(inner) for inner in types), names)
        case t.List(element=element):
            return t.List(positional(element))
        case t.Map(key=key, value=value):
            return t.Map(positional(key), positional(value))
        case _:
            return type_


@pytest.mark.parametrize(
    "type_",
    [type_ for type_ in LEAVES if not isinstance(type_, t.PrecisionTime | t.IntervalYear)]
    + [t.List(t.I8(nullable=True), nullable=True), t.Struct.of({"a": t.VarChar(3), "b": t.Date(nullable=True)})],
    ids=str,
)
def test_pyspark_reads_our_arrow_schema_as_our_spark_schema(type_: t.Type) -> None:
    schema = NamedStruct.of({"a": type_})
    assert from_arrow_schema(pa.schema(to_arrow(schema)), prefer_timestamp_ntz=True) == to_spark(schema)
