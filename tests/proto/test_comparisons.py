"""What sorts and joins compare by: the functions, the orders and the types, when read as when built."""

from __future__ import annotations

import pytest
from substrait import algebra_pb2 as pb

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import FunctionNotFoundError, PlanFormatError, SchemaError, TypeMismatchError
from substrait_dsl.proto.plan import decode_plan
from tests.proto.plans import ARITHMETIC, COMPARISON, T, col, table
from tests.proto.reading import changed, refused_at, rel_comes_back, root
from tests.support import f, refused
from tests.support import table as fluent_table

a, b = col(T, 0), col(T, 1)
OF_NOBODY = "extension:a:b"
ADD = "add:i64_i64"
EQUAL = ex.FunctionId(COMPARISON, "equal:any_any")
TEXTS = table("texts", x=t.I64(), y=t.String(nullable=True), z=t.Unbound())


def sorted_by(function: ex.FunctionId, position: int = 0) -> r.Rel:
    return r.Sort(TEXTS, (ex.SortKey(col(TEXTS, 0), "clustered"), ex.SortKey(col(TEXTS, position), function)))


def joined_by(function: ex.FunctionId, left: int = 0, right: int = 0) -> r.Rel:
    return r.HashJoin(TEXTS, TEXTS, "inner", (r.JoinKey(col(TEXTS, left), col(TEXTS, right), function),))


SORT, JOIN = "sort.sorts[1]", "hash_join.keys[0]"


@pytest.mark.parametrize(
    "rel",
    [
        sorted_by(ex.FunctionId(ARITHMETIC, ADD)),
        joined_by(EQUAL),
        joined_by(EQUAL, 1, 1),
        *(sorted_by(ex.FunctionId(urn, "collate:str_str")) for urn in (OF_NOBODY, "")),
        *(joined_by(ex.FunctionId(urn, "like:str"), 0, 1) for urn in (OF_NOBODY, "")),
        sorted_by(ex.FunctionId(ARITHMETIC, ADD), 2),  # of a type that is not known yet
    ],
)
def test_functions_that_compare_are_kept(rel: r.Rel) -> None:
    got, findings = root(changed(rel, lambda m: None))
    assert got == rel
    assert all("is kept as it is" in told or "does not say which extension" in told for told, _ in findings)


@pytest.mark.parametrize(
    ("rel", "path", "said"),
    [
        (sorted_by(EQUAL), SORT, ("gives an integer", "gives boolean")),
        (sorted_by(ex.FunctionId(ARITHMETIC, ADD), 1), SORT, (ADD, "does not take (string?, string?)")),
        (sorted_by(ex.FunctionId(ARITHMETIC, "negate:i64")), SORT, ("negate:i64", "does not take (i64, i64)")),
        (sorted_by(ex.FunctionId(ARITHMETIC, "sum:i64")), SORT, ("sum:i64", "scalar", "aggregate")),
        (joined_by(ex.FunctionId(ARITHMETIC, ADD)), JOIN, ("gives a boolean", "-> i64")),
        (joined_by(EQUAL, 0, 1), JOIN, ("equal:any_any", "does not take (i64, string?)")),
        (joined_by(ex.FunctionId(COMPARISON, "is_null:any")), JOIN, ("is_null:any", "does not take")),
    ],
)
def test_functions_that_do_not_compare_such_values_are_refused(rel: r.Rel, path: str, said: tuple[str, ...]) -> None:
    with refused_at(path, PlanFormatError, *said):
        decode_plan(changed(rel, lambda m: None))


def test_a_function_that_compares_is_found_by_its_name() -> None:
    for rel, path in ((sorted_by(ex.FunctionId("", "add")), SORT), (joined_by(ex.FunctionId("", "equal")), JOIN)):
        got, (_, (told, place)) = root(changed(rel, lambda m: None))
        assert "is a name only; read as" in told
        assert place.startswith(path)
        assert got in (sorted_by(ex.FunctionId(ARITHMETIC, ADD)), joined_by(EQUAL))
    with refused_at(SORT, PlanFormatError, "gives an integer"):
        decode_plan(changed(sorted_by(ex.FunctionId("", "equal")), lambda m: None))


def test_functions_that_compare_are_checked_when_they_are_built() -> None:
    rows = fluent_table("x: i64, y: string?")
    with refused(TypeMismatchError, "sort", "gives an integer"):
        rows.sort(sd.compared("x", f.equal))
    with refused(FunctionNotFoundError, "sort", "no overload takes add(string?, string?)"):
        rows.sort(sd.compared("y", f.add))
    with refused(TypeMismatchError, "hash_join", "gives a boolean"):
        rows.hash_join(rows, sd.join_key("x", "x", f.add))
    with refused(FunctionNotFoundError, "hash_join", "no overload takes equal(i64, string?)"):
        rows.hash_join(rows, sd.join_key("x", "y", f.equal))


# --- orders that can be merged


def test_inputs_that_are_only_clustered_cannot_be_merged() -> None:
    said = "must be sorted by its keys, but it is only clustered by them"
    in_order = r.Sort(T, (ex.SortKey(a, "asc_nulls_last"), ex.SortKey(b, "clustered")))
    clustered = r.Sort(T, (ex.SortKey(a, "clustered"),))
    keys = (r.JoinKey(a, a),)
    for left, right, side in ((clustered, clustered, "left"), (T, clustered, "right"), (clustered, T, "left")):
        with refused(SchemaError, f"the {side} input of a merge join", said):
            r.MergeJoin(left, right, "inner", keys)
    rel_comes_back(r.MergeJoin(in_order, in_order, "inner", keys))  # what follows the keys does not count
    rows = fluent_table("a: i64")
    with refused(SchemaError, "merge_join", said):
        rows.sort(sd.clustered("a")).merge_join(rows, "a")

    def cluster(rel: pb.Rel) -> None:
        for side in (rel.merge_join.left, rel.merge_join.right):
            side.sort.sorts[0].direction = pb.SortField.SORT_DIRECTION_CLUSTERED

    with refused_at("", PlanFormatError, said):
        decode_plan(changed(r.MergeJoin(in_order, in_order, "inner", keys), cluster))


# --- types that are not known yet


def test_join_keys_may_have_a_type_that_is_not_known_yet() -> None:
    """``unbound`` "may be used where a concrete type would normally appear in partially bound plans"."""
    rows = fluent_table("k: unbound, a: i64")
    for joined in (rows.hash_join(rows, "k"), rows.merge_join(rows, "k"), rows.join(rows, on="k")):
        plan = joined.to_plan()
        assert sd.Plan.from_bytes(plan.to_bytes(), strict=True) == plan
    with refused(TypeMismatchError, "hash_join", "unbound and i64"):
        rows.hash_join(rows, [("k", "a")])
