"""Types as other languages and libraries write them get an error that says what to write here."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow
import pyspark.sql.types
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.type_syntax import PARAMETER_NAMES
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.hints import words
from tests.support import table

T = table("id: i64")


TYPES: list[tuple[object, str]] = [
    ("int", '"i32"'),
    ("Integer", '"i32"'),
    ("bigint?", '"i64?"'),
    ("double", '"fp64"'),
    ("double precision", '"fp64"'),
    ("text", '"string"'),
    ("varchar(10)", '"varchar<10>"'),
    ("character varying(10)", '"varchar<10>"'),
    ("numeric(10, 2)", '"decimal<10, 2>"'),
    ("numeric", '"decimal<precision,scale>"'),
    ("timestamp(3)", '"precision_timestamp<3>"'),
    ("timestamptz", '"precision_timestamp_tz<6>"'),
    ("map<text, array<int>>", '"map<string, list<i32>>"'),
    ("Datetime(time_unit='us', time_zone=None)", '"precision_timestamp<6>"'),  # Polars
    ("timestamp[us]", '"precision_timestamp<6>"'),  # Arrow
    ("DecimalType(10,2)", '"decimal<10,2>"'),  # PySpark
    ("TimestampType()", '"precision_timestamp_tz<6>"'),
    ("Utf8", '"string"'),
    ("strin", '"string"'),
    ("i64 null", '"i64?"'),
    ("int NOT NULL", '"i32"'),
    ("decimal(10,2) null", '"decimal<10,2>?"'),
    ("Optional[i64]", '"i64?"'),
    ("Nullable[str]", '"string?"'),
    (int, "I64"),
    (float, "FP64"),
    (Decimal, "Decimal(precision, scale)"),
    (dt.datetime, "PrecisionTimestamp(6)"),
    (list[int], "List[...]"),
    (int | None, "Nullable[I64]"),
    (list[int] | None, "Nullable[List[...]]"),
    (sd.I64 | None, "Nullable[I64]"),
    (pyspark.sql.types.LongType, '"i64"'),
    (pyspark.sql.types.StringType(), '"string"'),
    (pyarrow.float64(), '"fp64"'),
]


@pytest.mark.parametrize(("given", "meant"), TYPES, ids=str)
def test_types_of_other_languages(given: Any, meant: str) -> None:
    with pytest.raises(SubstraitDslError) as caught:
        T.c.id.cast(given)
    assert caught.value.hint == f"did you mean {meant}?"


def test_types_that_nobody_knows_get_no_advice() -> None:
    for given in ("foo", "struct<a int>", set, 5, object()):
        with pytest.raises(SubstraitDslError) as caught:
            T.c.id.cast(given)
        assert caught.value.hint is None


def test_the_words_for_types_name_what_exists() -> None:
    assert set(words("type").values()) <= {*PARAMETER_NAMES, "struct"}
    for written in words("python-type").values():
        assert hasattr(sd, written.partition("(")[0].partition("[")[0]), written
