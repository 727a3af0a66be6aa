"""The joins of `test_null_keys` on Sail, whose optimizer is that of DataFusion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from tests.engines.test_null_keys import CONDITIONS, FILTERS, LEFT, RIGHT, ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = {
    "l": pa.Table.from_pylist([{"h": None}, {"h": 1}], LEFT.schema.to_arrow()),
    "r": pa.Table.from_pylist([{"k": None, "g": None}, {"k": 1, "g": 1}, {"k": None, "g": 5}], RIGHT.schema.to_arrow()),
}


def rows_of(sail: SparkSession, relation: sd.Relation[Any]) -> list[str]:
    named = {each: TABLES[each] for each in ("l", "r")}
    return sorted(repr(tuple(row)) for row in relation.collect(sail, tables=named))


@pytest.mark.parametrize("how", ["left_semi", "outer"])
@pytest.mark.parametrize("name", ["both bounds", "no inequality", "not distinct, negated"])
def test_null_matches_by_that_condition_alone(sail: SparkSession, name: str, how: Any) -> None:
    assert rows_of(sail, LEFT.join(RIGHT, CONDITIONS[name], how)) == sorted(map(repr, ROWS[how]))


@pytest.mark.parametrize("where", ["above an inner join", "above a left join", "above a product"])
def test_null_matches_no_filter(sail: SparkSession, where: str) -> None:
    make, rows = FILTERS[where]
    assert rows_of(sail, make()) == sorted(map(repr, rows))
