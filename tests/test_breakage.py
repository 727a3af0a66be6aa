"""What somebody once broke: each case was accepted, lost, or ended in an error that is not ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf import json_format

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    PlanFormatError,
    SchemaError,
    SubstraitDslError,
    UnsupportedError,
)
from tests.support import columns, f, refused, table

T = table("a: i64, b: i64?")


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: table("l: list<i64>").project(x=lambda r: r.l[2**31]), InvalidArgumentError, "32 bits"),
        (
            lambda: sd.read_iceberg("s3://x/m.json", {"a": sd.I64}, snapshot_timestamp=2**63),
            InvalidArgumentError,
            "64 bits",
        ),
        (lambda: sd.DelimitedText(header_lines_to_skip=-1), InvalidArgumentError, "header_lines_to_skip .* from 0"),
        (
            lambda: sd.read_named("t", {"a": sd.I64}, distribution=sd.Distribution("partitioned", frozenset({()}))),
            SchemaError,
            "to fields",
        ),
        (
            lambda: sd.read_named("t", {"a": sd.I64}, ordering=[sd.OrderKey((0,), "upwards")]),  # type: ignore[arg-type]
            InvalidChoiceError,
            "upwards",
        ),
        (
            lambda: sd.read_virtual([(f.row_number().over(order_by=[]),)], {"n": "i64?"}),
            InvalidArgumentError,
            "a row has no input",
        ),
    ],
)
def test_refused_by_name(make: Callable[[], Any], error: type[SubstraitDslError], said: str) -> None:
    with pytest.raises(error, match=said):
        make()


def test_the_parameters_of_a_lambda_are_no_columns_of_a_constant_row() -> None:
    made: Any = sd.read_virtual([(f.transform(sd.lit([1, 2]), lambda x: x + 1),)], {"l": "list<i64>"})
    assert columns(made) == "l: list<i64>"


def test_a_field_in_both_spellings_is_refused() -> None:
    said = json.loads(T.fetch(5).to_plan().to_json())
    fetch = said["relations"][0]["root"]["input"]["fetch"]
    fetch["count_expr"] = {"literal": {"i64": "1"}}
    with refused(PlanFormatError, "count_expr", "countExpr", "relations[0].root.input.fetch"):
        sd.Plan.from_json(json.dumps(said))


def test_a_variation_of_the_row_of_a_schema_is_not_lost() -> None:
    plan = T.to_plan().to_proto()
    plan.relations[0].root.input.read.base_schema.struct.type_variation_reference = 3
    with refused(UnsupportedError, "variation", "base_schema.struct"):
        sd.Plan.from_json(json_format.MessageToJson(plan))


def test_a_count_does_not_depend_on_the_row_through_a_subquery() -> None:
    inner = T.aggregate(n=f.count())._rel
    of_the_row = ex.FieldReference(0, sd.I64(), ex.OuterReference(1))
    one = rl.Emit(rl.Project(inner, (of_the_row,), ("x",)), (1,))
    with refused(InvalidArgumentError, "must not depend on a row"):
        rl.Fetch(T._rel, ex.ScalarSubquery(one), anchor=1)


@pytest.mark.parametrize("column", ["a", "c"])
def test_a_subquery_in_the_condition_of_a_lateral_join_comes_back(column: str) -> None:
    """The number of a lateral join stands for its left row: a field beyond it would be out of range for others."""
    left, right, third = table("a: i64"), table("b: i64, c: i64"), table("x: i64")
    joined = left.lateral_join(
        lambda row: right.filter(lambda r: r.b == row.a),
        on=lambda l, r: sd.exists(third.filter(lambda x: x.x == (l.a if column == "a" else r.c))),
    )
    assert sd.Plan.from_bytes(joined.to_plan().to_bytes()) == joined.to_plan()
