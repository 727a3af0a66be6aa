"""Hints, extensions, and what no field of a relation holds: as messages written by hand, and back."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.common import COMPUTATION_TYPES, Common, Computation, Hint, Stats
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.properties import SINGLETON, OrderKey, Properties, partitioned
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError
from substrait_dsl.proto.plan import decode_plan, from_bytes, to_bytes
from substrait_dsl.proto.private_extensions import choices_in, message_of
from tests.proto.plans import T, col, count_rows, encoded, encoded_relation, i64, message, plan_of, table
from tests.proto.reading import changed, comes_back, found, refused_at, rel_comes_back, root

TRUE = ex.literal(True, t.Boolean())
ADVICE = AnyMessage("acme/Advice", b"\1")
LAW = AnyMessage("acme/Law", b"\2")
BOTH = AdvancedExtension((ADVICE,), LAW)
BOTH_TEXT = (
    'advanced_extension { optimization { type_url: "acme/Advice" value: "\\001" } '
    'enhancement { type_url: "acme/Law" value: "\\002" } }'
)
KEY = ex.SortKey(col(T, 0), "clustered")
MEASURE = ex.Measure(count_rows())


def choices(rel: r.Rel) -> dict[str, Any]:
    """What a relation says in a message of ours, read with nothing but protobuf."""
    sent = encoded_relation(rel)
    body = getattr(sent, sent.WhichOneof("rel_type") or "")
    ours = Struct()
    assert body.common.advanced_extension.optimization[-1].Unpack(ours)
    (key,) = ours
    assert key == "substrait_dsl"
    said: dict[str, Any] = json_format.MessageToDict(ours)[key]
    return said


def test_a_hint_has_the_fields_of_algebra_proto() -> None:
    hint = Hint(
        Stats(1000, 24.5, BOTH),
        BOTH,
        "orders",
        ("a", "b", "s"),
        (Computation(1, "hashtable", BOTH),),
        (Computation(2, "bloom_filter"), Computation(3, "unknown")),
        BOTH,
    )
    rel = r.Filter(T, TRUE, common=Common(hint, BOTH, BOTH))
    assert encoded_relation(rel).filter.common == message(
        pb.RelCommon,
        f"direct {{}} {BOTH_TEXT} hint {{ stats {{ row_count: 1000 record_size: 24.5 {BOTH_TEXT} }} "
        f'constraint {{ {BOTH_TEXT} }} alias: "orders" output_names: "a" output_names: "b" output_names: "s" '
        f"saved_computations {{ computation_id: 1 type: COMPUTATION_TYPE_HASHTABLE {BOTH_TEXT} }} "
        "loaded_computations { computation_id_reference: 2 type: COMPUTATION_TYPE_BLOOM_FILTER } "
        f"loaded_computations {{ computation_id_reference: 3 type: COMPUTATION_TYPE_UNKNOWN }} {BOTH_TEXT} }}",
    )
    assert encoded_relation(rel).filter.advanced_extension == message(pb.FilterRel, BOTH_TEXT).advanced_extension
    rel_comes_back(rel)


def test_a_hint_stands_in_the_relation_that_it_is_of_also_below_an_emit() -> None:
    rel = r.Emit(r.Filter(T, TRUE, common=Common(Hint(alias="f"))), (2, 0))
    common = encoded_relation(rel).filter.common
    assert (common.hint.alias, list(common.emit.output_mapping)) == ("f", [2, 0])
    rel_comes_back(rel)


ONES: list[r.Rel] = [
    T,
    r.Filter(T, TRUE),
    r.Sort(T, (KEY,)),
    r.Fetch(T),
    r.TopN(T, (KEY,), i64(1)),
    r.Project(T, (i64(1),), ("x",)),
    r.Aggregate(T, (), (), (MEASURE,), ("n",), "hash"),
    r.Join(T, T, "inner", TRUE),
    r.LateralJoin(T, T, "inner", TRUE),
    r.HashJoin(T, T, "inner", (r.JoinKey(col(T, 0), col(T, 0)),)),
    r.MergeJoin(T, T, "inner", (r.JoinKey(col(T, 0), col(T, 0)),)),
    r.NestedLoopJoin(T, T, "inner"),
    r.Cross(T, T),
    r.Set((T, T), "union_all"),
    r.Exchange(T, r.Broadcast()),
    r.Expand(T, tuple(r.ConsistentField(col(T, p)) for p in range(3)), ("a", "b", "s", "i")),
    r.Write(T, r.NamedObject(("x",)), T.schema, "insert"),
    r.Update(r.NamedTable(("x",)), T.schema, TRUE, (r.Transformation(0, i64(1)),)),
    r.Ddl(r.NamedObject(("x",)), "table", "drop"),
]


@pytest.mark.parametrize("rel", ONES, ids=lambda rel: type(rel).__name__)
def test_every_relation_carries_hints_and_extensions(rel: Rel) -> None:
    rel_comes_back(attrs.evolve(rel, common=Common(Hint(alias="x"), BOTH, AdvancedExtension((ADVICE,)))))


@pytest.mark.parametrize(
    "rel", [r.SimpleCapture(T), r.ExtensionLeaf(ADVICE, T.schema)], ids=lambda rel: type(rel).__name__
)
def test_a_relation_whose_message_has_no_extension_of_its_own(rel: Rel) -> None:
    rel_comes_back(attrs.evolve(rel, common=Common(Hint(alias="x"), BOTH)))
    with pytest.raises(InvalidArgumentError, match="has no advanced_extension of its own"):
        attrs.evolve(rel, common=Common(own_extension=BOTH))


anys = st.builds(AnyMessage, st.sampled_from(["acme/A", "acme/B"]), st.binary(max_size=3))
extensions = st.builds(AdvancedExtension, st.lists(anys, max_size=2).map(tuple), st.none() | anys)
maybe = st.none() | extensions
numbers = st.none() | st.floats(0, allow_nan=False)
computations = st.lists(
    st.builds(Computation, st.integers(0, 2**31 - 1), st.sampled_from(COMPUTATION_TYPES), maybe), max_size=2
).map(tuple)
hints = st.builds(
    Hint,
    st.none() | st.builds(Stats, numbers, numbers, maybe),
    maybe,
    st.none() | st.text(min_size=1, max_size=3),
    st.lists(st.text(max_size=3), max_size=3).map(tuple),
    computations,
    computations,
    maybe,
)


@settings(max_examples=60)
@given(st.builds(Common, st.none() | hints, maybe, maybe))
def test_any_hint_and_extension_comes_back(common: Common) -> None:
    rel_comes_back(r.Filter(T, TRUE, common=common))


def test_a_computation_of_no_type_is_one_that_is_unknown() -> None:
    rel = r.Filter(T, TRUE, common=Common(Hint(saved=(Computation(4, "hashtable"),))))
    got = found(
        rel,
        lambda sent: sent.filter.common.hint.saved_computations[0].ClearField("type"),
        "unknown",
        path="filter.common.hint.saved_computations[0]",
    )
    assert got.common == Common(Hint(saved=(Computation(4, "unknown"),)))


@pytest.mark.parametrize("name", ["row_count", "record_size"])
def test_a_hint_that_cannot_be_is_ignored(name: str) -> None:
    """As all hints may be; the rest of the plan stands."""
    rel = r.Filter(T, TRUE, common=Common(Hint(Stats(5, 5), alias="f"), BOTH))
    got = found(
        rel,
        lambda sent: setattr(sent.filter.common.hint.stats, name, -1),
        f"the {name} of a hint must not be negative",
        "dropped",
        path="filter.common.hint",
    )
    assert got == r.Filter(T, TRUE, common=Common(None, BOTH))


def test_nothing_said_is_nothing() -> None:
    assert r.Filter(T, TRUE, common=Common()) == r.Filter(T, TRUE)
    assert Stats(0, 0) == Stats()
    with pytest.raises(InvalidArgumentError, match="must not be negative"):
        Stats(-1)


# --- what has no field


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (
            Properties((OrderKey((0,), "asc_nulls_first"),)),
            {"ordering": [{"field": [0], "direction": "asc_nulls_first"}]},
        ),
        (
            Properties((OrderKey((2,), ex.FunctionId("extension:a:b", "f:any")),), SINGLETON),
            {
                "ordering": [{"field": [2], "direction": {"urn": "extension:a:b", "key": "f:any"}}],
                "distribution": {"kind": "singleton", "fields": []},
            },
        ),
        (Properties((), partitioned((1,), (0,))), {"distribution": {"kind": "partitioned", "fields": [[0], [1]]}}),
    ],
    ids=["ordering", "custom", "distribution"],
)
def test_output_properties_of_a_read(declared: Properties, said: dict[str, Any]) -> None:
    rel = r.Read(T.schema, r.NamedTable(("t",)), declared=declared, name_values=(("owner", "me"), ("owner", "you")))
    ours = choices_in(AnyMessage(*_last_optimization(rel)))
    assert ours == {"output_properties": said, "name_values": [["owner", "me"], ["owner", "you"]]}
    rel_comes_back(rel)
    got, _ = root(encoded(rel))
    assert got.properties == declared


def _last_optimization(rel: r.Rel) -> tuple[str, bytes]:
    found = encoded_relation(rel).read.common.advanced_extension.optimization[-1]
    return found.type_url, found.value


def test_methods_are_said_under_one_key() -> None:
    assert choices(r.Aggregate(T, (), (), (MEASURE,), ("n",), "streaming")) == {"aggregate_method": "streaming"}
    plain = encoded_relation(r.Aggregate(T, (), (), (MEASURE,), ("n",))).aggregate.common
    assert not plain.HasField("advanced_extension")


def test_ours_stand_beside_the_messages_of_others() -> None:
    rel = r.Aggregate(T, (), (), (MEASURE,), ("n",), "hash", common=Common(extension=BOTH))
    sent = encoded_relation(rel).aggregate.common.advanced_extension
    assert sorted(message.type_url for message in sent.optimization) == [
        "acme/Advice",
        "type.googleapis.com/google.protobuf.Struct",
    ]
    rel_comes_back(rel)


def test_a_struct_of_others_is_theirs() -> None:
    cases: list[Any] = [{"other": 1}, {"substrait_dsl": 1}, {"substrait_dsl": {}, "other": 1}]
    for theirs in cases:
        struct = Struct()
        struct.update(theirs)
        optimization = AnyMessage("type.googleapis.com/google.protobuf.Struct", struct.SerializeToString())
        rel_comes_back(r.Filter(T, TRUE, common=Common(extension=AdvancedExtension((optimization,)))))
    damaged = AnyMessage("type.googleapis.com/google.protobuf.Struct", b"\xff\xff")
    rel_comes_back(r.Filter(T, TRUE, common=Common(extension=AdvancedExtension((damaged,)))))


def say(kind: str, said: dict[str, Any]) -> Any:
    """A change that puts a message of ours into a relation."""

    def change(sent: Any) -> None:
        ours = message_of(said)
        getattr(sent, kind).common.advanced_extension.optimization.add(type_url=ours.type_url, value=ours.value)

    return change


def test_what_a_newer_version_says_is_told() -> None:
    got = found(r.Filter(T, TRUE), say("filter", {"speed": 1}), "speed", path="filter.common")
    assert got == r.Filter(T, TRUE)


@pytest.mark.parametrize(
    "said",
    [
        {"output_properties": 1},
        {"output_properties": {"ordering": [{"field": [0]}]}},
        {"output_properties": {"ordering": [{"field": [0], "direction": "up"}]}},
        {"output_properties": {"ordering": [{"field": [0.5], "direction": "clustered"}]}},
        {"output_properties": {"ordering": [{"field": [9], "direction": "clustered"}]}},
        {"output_properties": {"distribution": {"kind": "partitioned", "fields": []}}},
        {"output_properties": {"distribution": {"kind": "all", "fields": []}}},
        {"name_values": [["a"]]},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(said: dict[str, Any]) -> None:
    with refused_at("", PlanFormatError):
        decode_plan(changed(T, say("read", said)))
    with refused_at("", PlanFormatError, "fast"):
        aggregate = r.Aggregate(T, (), (), (MEASURE,), ("n",))
        decode_plan(changed(aggregate, say("aggregate", {"aggregate_method": "fast"})))


# --- reads


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        (r.IcebergTable("s3://m.json"), 'iceberg_table { direct { metadata_uri: "s3://m.json" } }'),
        (
            r.IcebergTable("s3://m.json", snapshot_id="7"),
            'iceberg_table { direct { metadata_uri: "s3://m.json" snapshot_id: "7" } }',
        ),
        (
            r.IcebergTable("s3://m.json", snapshot_timestamp=0),
            'iceberg_table { direct { metadata_uri: "s3://m.json" snapshot_timestamp: 0 } }',
        ),
        (r.ExtensionTable(LAW), 'extension_table { detail { type_url: "acme/Law" value: "\\002" } }'),
        (r.NamedTable(("t",), BOTH), f'named_table {{ names: "t" {BOTH_TEXT} }}'),
        (
            r.LocalFiles((r.FileItem("x", r.ExtensionFormat(LAW)),), BOTH),
            'local_files { items { uri_path: "x" extension { type_url: "acme/Law" value: "\\002" } } '
            f"{BOTH_TEXT} }}",
        ),
    ],
    ids=["iceberg", "snapshot", "timestamp", "extension", "named", "files"],
)
def test_reads_of_others(definition: r.ReadDefinition, text: str) -> None:
    rel = r.Read(T.schema, definition)
    sent = encoded_relation(rel).read
    for field in ("common", "base_schema"):
        sent.ClearField(field)
    assert sent == message(pb.ReadRel, text)
    rel_comes_back(rel)


# --- relations that stand once


def test_a_shared_relation_is_written_once_before_those_that_use_it() -> None:
    shared = r.Filter(T, TRUE, shared=True)
    plan = encoded(r.Set((shared, r.Sort(shared, (KEY,)), shared), "union_all"))
    assert [tree.WhichOneof("rel_type") for tree in plan.relations] == ["rel", "root"]
    assert plan.relations[0].rel == encoded_relation(r.Filter(T, TRUE))
    first, second, third = plan.relations[1].root.input.set.inputs
    for reference in (first, second.sort.input, third):
        assert reference == message(pb.Rel, "reference { subtree_ordinal: 0 }")
    got, findings = from_bytes(to_bytes(plan))
    assert findings == ()
    again = got.roots[0].input.inputs
    assert again[0] is again[2]
    assert again[0].shared
    comes_back(got)


def test_a_shared_relation_under_an_emit_is_written_once_with_it() -> None:
    emitted = r.Emit(r.Filter(T, TRUE, shared=True), (1, 0))
    plan = encoded(r.Cross(emitted, emitted))
    assert len(plan.relations) == 2
    assert list(plan.relations[0].rel.filter.common.emit.output_mapping) == [1, 0]
    comes_back(plan_of(r.Cross(emitted, emitted)))


def test_roots_may_share_a_relation() -> None:
    shared = r.Filter(T, TRUE, shared=True)
    plan = AlgebraPlan((*plan_of(shared).roots, *plan_of(r.Fetch(shared)).roots))
    comes_back(plan)


def test_a_correlated_relation_may_be_shared() -> None:
    u = table("u", k=t.I64())
    outer = ex.FieldReference(0, t.I64(), ex.OuterReference(1))
    shared = r.Filter(u, ex.SingularOrList(outer, (col(u, 0),)), shared=True)
    condition = ex.SetPredicate("exists", r.Set((shared, shared), "union_all"))
    rel_comes_back(r.Filter(T, condition, anchor=1))
