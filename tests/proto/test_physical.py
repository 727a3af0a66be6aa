"""Physical relations that are no joins as messages written by hand from algebra.proto, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.common import Common, Hint, Stats
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.properties import OrderKey, Properties
from substrait_dsl.errors import PlanFormatError, SubstraitDslError
from substrait_dsl.proto.plan import decode_plan
from substrait_dsl.proto.private_extensions import choices_in, message_of
from substrait_dsl.proto.shallow_plans import MAX_NESTING
from tests.proto.plans import (
    ARITHMETIC,
    T,
    add,
    bare,
    col,
    count_rows,
    encoded,
    encoded_relation,
    field,
    i64,
    message,
    nesting,
    selection,
    table,
)
from tests.proto.reading import Change, changed, found, refused_at, rel_comes_back, root

DIRECT = "common { direct {} }"
TRUE = literal(True, t.Boolean())
IS_TRUE = "literal { boolean: true }"


# --- exchanges

LISTS = table("l", n=t.I32(), m=t.List(t.I32()))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (r.Scatter((col(LISTS, 1), col(LISTS, 0))), f"fields {{ {field(1)} }} fields {{ {field(0)} }}"),
        (r.SingleBucket(col(LISTS, 0)), f"expression {{ {selection(0)} }}"),
        (r.MultiBucket(col(LISTS, 1), constrained=True), f"expression {{ {selection(1)} }} constrained_to_count: true"),
        (r.MultiBucket(col(LISTS, 1)), f"expression {{ {selection(1)} }}"),
        (r.RoundRobin(exact=True), "exact: true"),
        (r.RoundRobin(), ""),
        (r.Broadcast(), ""),
    ],
    ids=["scatter", "single", "constrained", "multi", "exact", "round robin", "broadcast"],
)
def test_exchanges(kind: r.ExchangeKind, text: str) -> None:
    fields = {
        r.Scatter: "scatter_by_fields",
        r.SingleBucket: "single_target",
        r.MultiBucket: "multi_target",
        r.RoundRobin: "round_robin",
        r.Broadcast: "broadcast",
    }
    targets = (r.ExchangeTarget("file:///a", (0, 2)), r.ExchangeTarget(AnyMessage("acme/Node", b"\1")))
    rel = r.Exchange(LISTS, kind, 3, targets)
    assert bare(rel) == message(
        pb.ExchangeRel,
        f'{DIRECT} partition_count: 3 targets {{ uri: "file:///a" partition_id: 0 partition_id: 2 }} '
        f'targets {{ extended {{ type_url: "acme/Node" value: "\\001" }} }} {fields[type(kind)]} {{ {text} }}',
    )
    rel_comes_back(rel)


def test_a_single_bucket_is_constrained_in_a_message_of_ours() -> None:
    """Spec decision 10: the specification has the promise for both kinds of buckets, the message only for several."""
    rel = r.Exchange(LISTS, r.SingleBucket(col(LISTS, 0), constrained=True), 3)
    sent = encoded_relation(rel).exchange
    (ours,) = sent.common.advanced_extension.optimization
    assert choices_in(AnyMessage(ours.type_url, ours.value)) == {"constrained_to_count": True}
    rel_comes_back(rel)

    def say(value: object) -> Change:
        said = message_of({"constrained_to_count": value})
        return lambda m: setattr(m.exchange.common.advanced_extension.optimization[0], "value", said.value)

    assert root(changed(rel, say(False)))[0] == r.Exchange(LISTS, r.SingleBucket(col(LISTS, 0)), 3)
    with refused_at("", PlanFormatError, "constrained_to_count", "3"):
        decode_plan(changed(rel, say(3)))


def test_an_exchange_without_a_partition_count() -> None:
    rel = r.Exchange(LISTS, r.Broadcast())
    assert bare(rel) == message(pb.ExchangeRel, f"{DIRECT} broadcast {{}}")
    rel_comes_back(rel)


@pytest.mark.parametrize(
    "rel", [r.SimpleCapture(T), r.MergingCapture(T), r.MergingCapture(T, blocking=True)], ids=["simple", "merging", "b"]
)
def test_captures_are_extensions_of_ours(rel: r.Rel) -> None:
    sent = encoded_relation(rel).extension_single
    assert sent.input == encoded_relation(T)
    assert sent.detail.type_url == "type.googleapis.com/google.protobuf.Struct"
    rel_comes_back(rel)


# --- top-n, windows, expands


@pytest.mark.parametrize(("mode", "number"), [("rows_only", 1), ("with_ties", 2)])
def test_a_top_n_says_its_mode(mode: r.FetchMode, number: int) -> None:
    key = ex.SortKey(col(T, 1), "desc_nulls_last")
    rel = r.TopN(T, (key,), i64(5), i64(0), mode)
    assert bare(rel) == message(
        pb.TopNRel,
        f"{DIRECT} sorts {{ expr {{ {selection(1)} }} direction: SORT_DIRECTION_DESC_NULLS_LAST }} "
        f"offset {{ literal {{ i64: 0 }} }} count {{ literal {{ i64: 5 }} }} mode: {number}",
    )
    rel_comes_back(rel)
    rel_comes_back(r.TopN(T, (key,), None))
    unsaid = r.TopN(T, (key,), i64(5))
    assert found(unsaid, lambda sent: sent.top_n.ClearField("mode"), "rows_only", path="top_n") == unsaid


def test_a_sort_key_may_be_a_function_that_compares() -> None:
    key = ex.SortKey(col(T, 2), ex.FunctionId("extension:acme:f", "compare:str_str"))
    sent: Any = bare(r.Sort(T, (key,)))
    assert sent.sorts[0] == message(pb.SortField, f"expr {{ {selection(2)} }} comparison_function_reference: 1")
    rel_comes_back(r.Sort(T, (key,)))


RANK = ex.WindowCall(ex.FunctionId(ARITHMETIC, "rank:"), (), t.I64(nullable=True))
WINDOW_SORT = (ex.SortKey(col(T, 0), "asc_nulls_last"),)


def test_a_window_has_its_functions_partitions_and_sorts() -> None:
    rel = r.Window(T, (RANK,), (col(T, 2),), WINDOW_SORT, ("rank",))
    assert bare(rel) == message(
        pb.ConsistentPartitionWindowRel,
        f"{DIRECT} partition_expressions {{ {selection(2)} }} "
        f"sorts {{ expr {{ {selection(0)} }} direction: SORT_DIRECTION_ASC_NULLS_LAST }} "
        "window_functions { function_reference: 1 output_type { i64 { nullability: NULLABILITY_NULLABLE } } "
        "phase: AGGREGATION_PHASE_INITIAL_TO_RESULT invocation: AGGREGATION_INVOCATION_ALL "
        "lower_bound { unbounded {} } upper_bound { unbounded {} } bounds_type: BOUNDS_TYPE_ROWS }",
    )
    rel_comes_back(rel)
    got, _ = root(encoded(rel))
    assert got.schema.names == ("a", "b", "s", "rank")


@pytest.mark.parametrize("method", r.WINDOW_METHODS)
def test_how_a_window_is_done_comes_back(method: r.WindowMethod) -> None:
    rel = r.Window(T, (RANK,), (), WINDOW_SORT, ("rank",), method)
    rel_comes_back(rel)
    got, _ = root(encoded(rel))
    assert isinstance(got, r.Window)
    assert got.method == method


SWITCHING = r.SwitchingField((col(T, 0), literal(None, t.I64(nullable=True))))


def test_an_expand_has_switching_and_consistent_fields() -> None:
    rel = r.Expand(T, (SWITCHING, *(r.ConsistentField(col(T, p)) for p in (1, 2))), ("a", "b", "s", "index"))
    assert bare(rel) == message(
        pb.ExpandRel,
        f"{DIRECT} fields {{ switching_field {{ duplicates {{ {selection(0)} }} duplicates {{ literal {{ null {{ "
        "i64 { nullability: NULLABILITY_NULLABLE } } } } } } "
        f"fields {{ consistent_field {{ {selection(1)} }} }} fields {{ consistent_field {{ {selection(2)} }} }}",
    )
    rel_comes_back(rel)


def test_an_expand_of_fewer_fields_than_columns_emits_its_own_only() -> None:
    """Whether a reader puts out the other columns, too, or not: these columns are the same."""
    rel = r.Expand(T, (SWITCHING,), ("a", "index"))
    sent = encoded_relation(rel).expand
    assert [kind.WhichOneof("field_type") for kind in sent.fields] == ["switching_field", *["consistent_field"] * 2]
    assert list(sent.common.emit.output_mapping) == [0, 3]
    for other in (rel, r.Emit(rel, (1, 0)), r.Emit(rel, (0, 1)), r.Emit(rel, ())):
        rel_comes_back(other)


def test_an_expand_must_leave_out_what_is_said_to_be_left_out() -> None:
    rel = r.Expand(T, (SWITCHING,), ("a", "index"))
    for mapping in ([0, 1], [0, 3, 2]):
        plan = encoded(rel)
        plan.relations[0].root.input.expand.common.emit.output_mapping[:] = mapping
        with refused_at("", PlanFormatError, "left out"):
            decode_plan(plan)
    with refused_at("", PlanFormatError, "left out"):
        decode_plan(changed(rel, lambda sent: sent.expand.common.direct.SetInParent()))


def test_a_project_of_no_expressions_over_an_expand_of_fewer_fields() -> None:
    rel = r.Expand(T, (SWITCHING,), ("a", "index"))
    emitted = r.Emit(r.Project(rel, (i64(1),), ("x",)), (1, 0))
    got = found(emitted, lambda sent: sent.project.ClearField("expressions"), "no expressions", path="project")
    assert got == r.Emit(rel, (1, 0))


def test_columns_beyond_the_fields_of_an_expand_are_put_out_as_they_are() -> None:
    rel = r.Expand(T, tuple(r.ConsistentField(col(T, p)) for p in range(3)), ("a", "b", "s", "index"))
    said = "has 1 fields, its input 3 columns", "the columns beyond them as they are", "only the fields and that number"
    got = found(rel, lambda sent: sent.expand.fields.__delitem__(slice(1, None)), *said, path="expand")
    assert got == rel


def test_a_switching_field_of_fewer_duplicates_is_filled_up_with_null() -> None:
    short = r.SwitchingField((col(T, 2),))
    rel = r.Expand(T, (SWITCHING, short, r.ConsistentField(col(T, 1))), ("a", "s", "b", "index"))
    filled = r.SwitchingField((col(T, 2), literal(None, t.String(nullable=True))))
    assert rel == r.Expand(T, (SWITCHING, filled, r.ConsistentField(col(T, 1))), ("a", "s", "b", "index"))
    assert [str(type_) for type_ in rel.schema.types] == ["i64?", "string?", "i64?", "i32"]
    rel_comes_back(rel)


@pytest.mark.parametrize("method", r.AGGREGATE_METHODS)
def test_how_an_aggregate_is_done_comes_back(method: r.AggregateMethod) -> None:
    rel = r.Aggregate(T, (col(T, 2),), ((0,),), (ex.Measure(count_rows()),), ("s", "n"), method)
    rel_comes_back(rel)
    got, _ = root(encoded(rel))
    assert isinstance(got, r.Aggregate)
    assert got.method == method


# --- the limit of 100 nested messages


def deep(terms: int, type_: t.Type) -> ex.Expression:
    """A sum of so many terms, as a value of some type."""
    total: ex.Expression = col(T, 0)
    for number in range(terms):
        total = add(total, i64(number))
    return ex.Cast(total, type_, "throw")


FOREIGN = ex.FunctionId("extension:acme:f", "position:i64")
HINT = Common(Hint(Stats(1, 1, AdvancedExtension((AnyMessage("acme/A"),)))))
WITH_PARTS: dict[str, Callable[[int], r.Rel]] = {
    "bucket": lambda n: r.Exchange(T, r.SingleBucket(deep(n, t.I32()))),
    "expand": lambda n: r.Expand(
        T, (r.SwitchingField((deep(n, t.I64()),)), *[r.ConsistentField(deep(n, t.I64()))] * 2), tuple("abci")
    ),
    "window": lambda n: r.Window(
        T,
        (
            attrs.evolve(
                RANK, function=FOREIGN, arguments=(deep(n, t.I64()),), lower=ex.Bound("preceding", deep(n, t.I64()))
            ),
        ),
        (deep(n, t.I64()),),
        (ex.SortKey(deep(n, t.I64()), "clustered"),),
        ("r",),
    ),
    "update": lambda n: r.Update(
        r.NamedTable(("x",)),
        T.schema,
        ex.Cast(deep(n, t.I64()), t.Boolean(), "throw"),
        (r.Transformation(0, deep(n, t.I64())),),
    ),
    "residual": lambda n: r.HashJoin(T, T, "inner", (r.JoinKey(col(T, 0), col(T, 0)),), deep(n, t.Boolean())),
    "hint": lambda n: r.Filter(T, TRUE, common=HINT),
    "capture": lambda n: r.MergingCapture(T),
    "properties": lambda n: attrs.evolve(T, declared=Properties((OrderKey((0,), "clustered"),))),
}


@pytest.mark.parametrize("make", WITH_PARTS.values(), ids=WITH_PARTS)
@pytest.mark.parametrize("steps", [0, 30, 45])
def test_parts_of_relations_stay_within_the_limit(make: Callable[[int], r.Rel], steps: int) -> None:
    for terms in range(24, 36, 2):  # whatever is left of the limit at the place of the cut
        rel = make(terms)
        for _ in range(steps):
            rel = r.Filter(rel, TRUE)
        assert nesting(encoded(rel)) <= MAX_NESTING
        rel_comes_back(rel)


@pytest.mark.parametrize("depth", [10, 30, 40])
def test_keys_may_be_fields_of_deep_structs(depth: int) -> None:
    type_: t.Type = t.I64()
    for _ in range(depth):
        type_ = t.Struct((type_,))
    rows = table("p", p=type_)
    key: ex.Expression = col(rows, 0)
    for _ in range(depth):
        key = ex.FieldAccess(key, ex.StructField(0))
    for rel in (r.HashJoin(rows, rows, "inner", (r.JoinKey(key, key),)), r.Exchange(rows, r.Scatter((key,)))):
        assert nesting(encoded(rel)) <= MAX_NESTING
        rel_comes_back(rel)


# --- what is refused


@pytest.mark.parametrize(
    ("rel", "change", "path", "error", "said"),
    [
        (
            r.Exchange(T, r.Broadcast()),
            lambda s: s.exchange.ClearField("broadcast"),
            "",
            PlanFormatError,
            "does not set its exchange_kind",
        ),
        (
            r.Exchange(T, r.Broadcast(), None, (r.ExchangeTarget("a"),)),
            lambda s: s.exchange.targets[0].ClearField("uri"),
            "exchange.targets[0]",
            PlanFormatError,
            "uri or extended",
        ),
        (r.Exchange(T, r.Broadcast()), lambda s: setattr(s.exchange, "partition_count", -1), "", PlanFormatError, "-1"),
        (
            r.Expand(T, tuple(r.ConsistentField(col(T, p)) for p in range(3)), ("a", "b", "s", "i")),
            lambda s: s.expand.fields[1].ClearField("consistent_field"),
            "expand.fields[1]",
            PlanFormatError,
            "switching_field or consistent_field",
        ),
        (
            r.TopN(T, WINDOW_SORT, i64(1)),
            lambda s: s.top_n.ClearField("sorts"),
            "",
            PlanFormatError,
            "at least one key",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_path(
    rel: r.Rel, change: Change, path: str, error: type[SubstraitDslError], said: str
) -> None:
    with refused_at(path, error, said):
        decode_plan(changed(rel, change))
