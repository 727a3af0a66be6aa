"""How many inputs every relation has, and whether it has an output: the first two rows of its table."""

from __future__ import annotations

import typing

import pytest

from substrait_dsl.algebra import relations as r
from tests.nodes import DETAIL, TRUE, asc, col, i64, leaf, measure, window_sum

INPUT = leaf("a: i64, list: list<i32>")
A = col(INPUT, "a")
KEY = r.JoinKey(A, A)
TOTAL = measure(A)
WINDOW = window_sum(A)

ROWS: dict[str, tuple[r.Rel, int, int]] = {
    # a relation, "Inputs" and "Outputs"
    "read": (INPUT, 0, 1),
    "filter": (r.Filter(INPUT, TRUE), 1, 1),
    "sort": (r.Sort(INPUT, (asc(A),)), 1, 1),
    "project": (r.Project(INPUT, (A,), ("x",)), 1, 1),
    "cross": (r.Cross(INPUT, INPUT), 2, 1),
    "join": (r.Join(INPUT, INPUT, "inner", TRUE), 2, 1),
    "set": (r.Set((INPUT, INPUT, INPUT), "union_all"), 3, 1),  # "2 or more"
    "fetch": (r.Fetch(INPUT, i64(1)), 1, 1),
    "aggregate": (r.Aggregate(INPUT, (A,), ((0,),), (), ("a",)), 1, 1),
    "write": (r.Write(INPUT, r.NamedObject(("t",)), INPUT.schema, "insert", "modified_records"), 1, 1),
    "update": (r.Update(r.NamedTable(("t",)), INPUT.schema, TRUE, (r.Transformation(0, A),)), 0, 1),
    "ddl": (r.Ddl(r.NamedObject(("t",)), "table", "drop"), 0, 0),  # spec decision 46
    "hash join": (r.HashJoin(INPUT, INPUT, "inner", (KEY,)), 2, 1),
    "nested loop join": (r.NestedLoopJoin(INPUT, INPUT, "inner"), 2, 1),
    "merge join": (r.MergeJoin(INPUT, INPUT, "inner", (KEY,)), 2, 1),
    "exchange": (r.Exchange(INPUT, r.Broadcast()), 1, 1),
    "merging capture": (r.MergingCapture(INPUT), 1, 1),
    "simple capture": (r.SimpleCapture(INPUT), 1, 1),
    "top n": (r.TopN(INPUT, (asc(A),), i64(1)), 1, 1),
    "hash aggregate": (r.Aggregate(INPUT, (A,), ((0,),), (TOTAL,), ("a", "n"), "hash"), 1, 1),
    "streaming aggregate": (r.Aggregate(INPUT, (A,), ((0,),), (TOTAL,), ("a", "n"), "streaming"), 1, 1),
    "window": (r.Window(INPUT, (WINDOW,), (A,), (), ("n",)), 1, 1),
    "hashing window": (r.Window(INPUT, (WINDOW,), (A,), (), ("n",), "hashing"), 1, 1),
    "streaming window": (r.Window(INPUT, (WINDOW,), (A,), (), ("n",), "streaming"), 1, 1),
    "expand": (r.Expand(INPUT, (r.ConsistentField(A),), ("a", "i")), 1, 1),
    # the specification has no such table for these
    "unnest": (r.Unnest(INPUT, 1), 1, 1),
    "emit": (r.Emit(INPUT, (1, 0)), 1, 1),
    "lateral join": (r.LateralJoin(INPUT, INPUT, "inner", TRUE, anchor=1), 2, 1),
    "extension leaf": (r.ExtensionLeaf(DETAIL, INPUT.schema), 0, 1),
    "extension single": (r.ExtensionSingle(DETAIL, INPUT.schema, input=INPUT), 1, 1),
    "extension multi": (r.ExtensionMulti(DETAIL, INPUT.schema, relations=(INPUT, INPUT)), 2, 1),
}


@pytest.mark.parametrize(("rel", "inputs", "outputs"), ROWS.values(), ids=ROWS)
def test_inputs_and_outputs(rel: r.Rel, inputs: int, outputs: int) -> None:
    """Specification: a relation without an output has "zero rows of a schema with zero fields"."""
    assert rel.inputs == (INPUT,) * inputs
    assert bool(rel.schema.fields) == bool(outputs)


def test_every_kind_of_relation_is_here() -> None:
    here = {type(rel) for rel, _, _ in ROWS.values()}
    assert [kind.__name__ for kind in typing.get_args(r.AnyRelation) if kind not in here] == []
