"""What is written for Sail otherwise than for Spark; `test_sail_rows.py` runs it, and the canary of each guard."""

from __future__ import annotations

import pytest

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import literal_to_sql
from substrait_dsl.spark.expressions.sql_text import to_sql
from substrait_dsl.spark.sail.engine import SAIL
from substrait_dsl.spark.sail.guards import GUARDS
from substrait_dsl.spark.session.engines import write_for
from tests.spark.evaluation import call, column, scope

LEAST = [
    (-128, t.I8(), "CAST('-128' AS TINYINT)", "-128Y"),
    (-(2**15), t.I16(), "CAST('-32768' AS SMALLINT)", "-32768S"),
    (-(2**63), t.I64(), "CAST('-9223372036854775808' AS BIGINT)", "-9223372036854775808L"),
]
SUMS = [
    (t.I8(), "CAST((CAST(a AS BIGINT) + CAST(b AS BIGINT)) AS TINYINT)"),
    (t.I32(), "CAST((CAST(a AS BIGINT) + CAST(b AS BIGINT)) AS INT)"),
    (t.I64(), "CAST((CAST(a AS DECIMAL(38,0)) + CAST(b AS DECIMAL(38,0))) AS BIGINT)"),
]


@pytest.mark.parametrize(("value", "type_", "on_sail", "on_spark"), LEAST)
def test_a_negative_integer_is_a_cast_of_its_digits(value: int, type_: t.Type, on_sail: str, on_spark: str) -> None:
    with write_for(SAIL):
        assert literal_to_sql(Literal(value, type_)) == on_sail
    assert literal_to_sql(Literal(value, type_)) == on_spark


@pytest.mark.parametrize(("type_", "text"), SUMS)
def test_a_sum_is_computed_with_more_bits_and_cast(type_: t.Type, text: str) -> None:
    added = call("add", column(0, type_), column(1, type_))
    with write_for(SAIL):
        assert to_sql(added, scope("a", "b")) == text
    assert to_sql(added, scope("a", "b")) == "(a + b)"


@pytest.mark.parametrize("name", ["asinh", "acosh", "log1p"])
def test_what_loses_digits_is_refused(name: str) -> None:
    with write_for(SAIL), pytest.raises(UnsupportedError, match=f"Sail cannot run the function {name} exactly"):
        to_sql(call(name, column(0, t.FP64())), scope("a"))


@pytest.mark.parametrize(("java", "rust"), [(r"$1\1", "${1}1"), ("$2x", "${2}x"), (r"a\9b", "a9b")])
def test_groups_stand_in_braces(java: str, rust: str) -> None:
    assert SAIL.replacement(java) == rust


def test_each_guard_has_a_name_of_its_own() -> None:
    assert len({guard.name for guard in GUARDS}) == len(GUARDS)
