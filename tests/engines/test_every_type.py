"""A value of every type comes back from an engine as it went, as Arrow and as rows, or its type is refused by name."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.consumers.rows import python_rows
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.testing import rows_table
from tests.test_complete_tables import NO_VALUES, TYPES, names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEVEN = uuid.UUID(int=7)
NAIVE = dt.datetime(2020, 2, 29, 1, 2, 3, 456789)
NOON = NAIVE.replace(tzinfo=dt.UTC)

VALUES: Mapping[str, Any] = {
    "boolean": True,
    "i8": -128,
    "i16": 300,
    "i32": 2**31 - 1,
    "i64": -(2**63),
    "fp32": 0.5,
    "fp64": 0.1,
    "string": "é",
    "varchar<3>": "abc",
    "fixedchar<2>": "ab",
    "binary": b"\0\xff",
    "fixedbinary<2>": b"ab",
    "decimal<38,10>": Decimal("1234567890123456789012345678.0123456789"),
    "date": dt.date(1000, 1, 1),
    "precision_timestamp<6>": NAIVE,
    "precision_timestamp_tz<6>": NOON,
    "precision_time<6>": dt.time(23, 59, 59, 999999),
    "interval_day<6>": dt.timedelta(days=-1, microseconds=5),
    "uuid": SEVEN,
    "u!u64": 2**64 - 1,
    "list<uuid?>": [SEVEN, None],
    "map<uuid, precision_timestamp_tz<6>>": {SEVEN: NOON},
    "struct<uuid, list<interval_day<6>>>": (SEVEN, [dt.timedelta(days=1)]),
}
REFUSED: Mapping[str, Any] = {
    "interval_year": sd.YearMonths(1, 2),
    "interval_compound<6>": sd.Compound(sd.YearMonths(1, 2), sd.DaySeconds(3, 4, 5)),
}

IN_ARROW: Mapping[str, Any] = {
    "map<uuid, precision_timestamp_tz<6>>": [(SEVEN, NOON)],
    "struct<uuid, list<interval_day<6>>>": {"0": SEVEN, "1": [dt.timedelta(days=1)]},
}
"""Values that pyarrow has in another form."""

IN_ROWS: Mapping[str, Any] = {
    "precision_timestamp_tz<6>": NAIVE,  # in the session's zone, UTC
    "uuid": str(SEVEN),
    "list<uuid?>": [str(SEVEN), None],
    "map<uuid, precision_timestamp_tz<6>>": {str(SEVEN): NAIVE},
    "struct<uuid, list<interval_day<6>>>": (str(SEVEN), [dt.timedelta(days=1)]),
}
"""Values that rows of PySpark have in another form."""


def one(text: str, value: Any) -> sd.Relation[Any]:
    """A relation of one column: the value, and NULL."""
    return sd.read_virtual([(value,), (None,)], {"v": f"{text}?"})


def test_every_type_is_here() -> None:
    here = {type(sd.parse_type(text)) for text in [*VALUES, *REFUSED]}
    assert names(here) == names(TYPES - NO_VALUES)


@pytest.mark.parametrize("text", VALUES)
def test_a_value_comes_back_as_arrow(text: str, sail: SparkSession) -> None:
    relation = one(text, VALUES[text])
    found = relation.to_arrow(sail)
    assert found.schema == relation.schema.to_arrow()
    assert found.column("v").to_pylist() == [IN_ARROW.get(text, VALUES[text]), None]


@pytest.mark.parametrize("text", VALUES)
def test_a_value_comes_back_in_rows(text: str, sail: SparkSession) -> None:
    found = one(text, VALUES[text]).collect(sail)
    assert [row.v for row in found] == [IN_ROWS.get(text, VALUES[text]), None]


@pytest.mark.parametrize("text", VALUES)
def test_rows_of_other_engines_have_the_same_values(text: str) -> None:
    schema = sd.read_named("t", {"v": f"{text}?"}).schema.struct
    table = rows_table([(VALUES[text],), (None,)], schema)
    assert [row.v for row in python_rows(table, schema, is_local=False)] == [IN_ROWS.get(text, VALUES[text]), None]


@pytest.mark.parametrize("text", REFUSED)
def test_other_types_are_refused_by_name(text: str, sail: SparkSession) -> None:
    for run in (sd.Relation.collect, sd.Relation.to_arrow):
        with pytest.raises(UnsupportedError, match=text):
            run(one(text, REFUSED[text]), sail)
