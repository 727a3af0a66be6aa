"""Plans that the builders of substrait-python write: what is read of them, and how each liberty is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from substrait.algebra_pb2 import DdlRel, JoinRel, WriteRel
from substrait.builders import extended_expression as write
from substrait.builders import plan as build
from substrait.builders import type as kinds
from substrait.extension_registry import ExtensionRegistry
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.plan import decode_plan, encode_plan, from_bytes, to_bytes
from tests.support import refused

COMPARISON, ARITHMETIC = (f"extension:io.substrait:functions_{name}" for name in ("comparison", "arithmetic"))
REQUIRED = kinds.i64(nullable=False)
SCHEMA = kinds.named_struct(["a", "b", "c"], kinds.struct([REQUIRED, kinds.i64(), kinds.string()], nullable=False))
T = build.read_named_table("t", SCHEMA)
Made = Callable[[ExtensionRegistry], Plan]


@pytest.fixture(scope="module")
def registry() -> ExtensionRegistry:
    return ExtensionRegistry(load_default_extensions=True)


def over_one() -> Any:
    return write.scalar_function(COMPARISON, "gt", [write.column("a"), write.literal(1, REQUIRED)])


CHANGES: dict[str, tuple[Made, int, list[str]]] = {
    "ctas": (build.write_named_table("x", T), 0, []),
    "insert": (
        build.write_named_table("x", T, op=WriteRel.WRITE_OP_INSERT, output_mode=WriteRel.OUTPUT_MODE_NO_OUTPUT),
        0,
        [],
    ),
    "insert that gives its rows": (
        build.write_named_table("x", T, op=WriteRel.WRITE_OP_INSERT, output_mode=WriteRel.OUTPUT_MODE_MODIFIED_RECORDS),
        3,
        ["a", "b", "c"],
    ),
    "update": (build.update("x", SCHEMA, [(1, write.literal(1, kinds.i64()))], over_one()), 1, []),
    "create": (build.ddl("x", DdlRel.DDL_OBJECT_TABLE, DdlRel.DDL_OP_CREATE, SCHEMA), 0, []),
    "create view": (build.ddl("x", DdlRel.DDL_OBJECT_VIEW, DdlRel.DDL_OP_CREATE, SCHEMA, view_definition=T), 0, []),
    "drop": (build.ddl("x", DdlRel.DDL_OBJECT_TABLE, DdlRel.DDL_OP_DROP), 0, []),
}
"""Changes of tables, with the number of columns that each puts out by the specification, and their names if given."""


@pytest.mark.parametrize(("made", "columns", "names"), CHANGES.values(), ids=CHANGES)
def test_a_change_may_name_the_columns_of_its_table(
    registry: ExtensionRegistry, made: Made, columns: int, names: list[str]
) -> None:
    sent = made(registry)
    plan, findings = decode_plan(sent)
    (root,) = plan.roots
    assert len(root.input.schema) == len(root.names) == columns
    assert not names or list(root.names) == names
    surplus = len(sent.relations[-1].root.names) > columns
    told = f"a root has 3 names, but its relation, a change, puts out {columns} fields: left out"
    assert [finding.path for finding in findings if finding.message == told] == ["relations[0].root"] * surplus
    assert from_bytes(to_bytes(encode_plan(plan))) == (plan, ())
    if findings:
        with pytest.raises(PlanFormatError):
            decode_plan(sent, strict=True)


def test_an_update_that_does_not_say_which_rows_is_refused(registry: ExtensionRegistry) -> None:
    sent = build.update("x", SCHEMA, [(1, write.literal(1, kinds.i64()))])(registry)
    said = "an update has no condition"
    with refused(PlanFormatError, said, "the literal true", "relations[0].root.input.update.condition"):
        decode_plan(sent)


def test_a_root_may_leave_out_the_name_of_the_grouping_set(registry: ExtensionRegistry) -> None:
    total = write.aggregate_function(ARITHMETIC, "sum", [write.column("b")], alias="s")
    columns = [write.column("c"), write.column("a")]
    sent = build.aggregate(T, columns, [total], grouping_sets=[[0], [0, 1], []])(registry)
    plan, findings = decode_plan(sent)
    (root,) = plan.roots
    assert root.names == ("c", "a", "s", "grouping_set")
    assert [str(type_) for type_ in root.input.schema.types] == ["string?", "i64?", "i64?", "i32"]
    assert any("no name for the number of the grouping set" in finding.message for finding in findings)


def test_a_lateral_join_without_a_condition_matches_all_rows(registry: ExtensionRegistry) -> None:
    other = build.read_named_table("u", kinds.named_struct(["k"], kinds.struct([REQUIRED], nullable=False)))

    def matching(left: Any) -> Any:
        return build.filter(other, write.scalar_function(COMPARISON, "equal", [write.column("k"), left.column("a")]))

    how: Any = JoinRel.JOIN_TYPE_LEFT
    sent = build.lateral_join(T, matching, how)(registry)
    plan, findings = decode_plan(sent)
    join = plan.roots[0].input
    assert isinstance(join, r.LateralJoin)
    assert isinstance(join.condition, Literal)
    assert join.condition.value is True
    assert [finding.path for finding in findings if "has no expression" in finding.message] == [
        "relations[0].root.input.lateral_join"
    ]
    assert from_bytes(to_bytes(encode_plan(plan)))[1] == ()
