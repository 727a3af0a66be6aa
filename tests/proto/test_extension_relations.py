"""Relations of others as messages written by hand from algebra.proto, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.properties import OrderKey, Properties, partitioned
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.extensions import decode_any
from substrait_dsl.proto.plan import decode_plan
from substrait_dsl.proto.private_extensions import choices_in, message_of
from tests.proto.plans import T, col, encoded, encoded_relation, i64, message, table
from tests.proto.reading import changed, refused_at, rel_comes_back, root
from tests.strategies import types
from tests.support import refused

DETAIL = AnyMessage("acme/Relation", b"\1")
DETAIL_TEXT = 'detail { type_url: "acme/Relation" value: "\\001" }'
SHAPES = "extension:acme:shapes"
POINT = t.UserDefined(SHAPES, "point", (t.I64(),), nullable=True)
SCHEMA = NamedStruct.of({"p": POINT, "q": t.List(t.Struct.of({"x": t.I8(), "y": t.String(nullable=True)}))})
DECLARED = Properties((OrderKey((0,), "clustered"),), partitioned((0,)))

LEAF = r.ExtensionLeaf(DETAIL, SCHEMA, DECLARED)
SINGLE = r.ExtensionSingle(DETAIL, SCHEMA, input=T)
MULTI = r.ExtensionMulti(DETAIL, SCHEMA, relations=(T, table("u", a=t.I64()), T))
LISTS = table("lists", id=t.I64(), xs=t.List(t.I64(), nullable=True))


@pytest.mark.parametrize(
    ("rel", "kind"),
    [(LEAF, "extension_leaf"), (SINGLE, "extension_single"), (MULTI, "extension_multi")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_message_of_others_stands_beside_the_inputs(rel: r.Rel, kind: str) -> None:
    sent = encoded_relation(rel)
    assert sent.WhichOneof("rel_type") == kind
    body = getattr(sent, kind)
    assert body.detail == message(pb.ExtensionLeafRel, DETAIL_TEXT).detail
    inputs = [] if kind == "extension_leaf" else [body.input] if kind == "extension_single" else list(body.inputs)
    assert inputs == [encoded_relation(child) for child in rel.inputs]
    rel_comes_back(rel)
    got, _ = root(encoded(rel))
    assert (got.schema, got.properties) == (rel.schema, rel.properties)
    assert str(got.schema) == str(SCHEMA)


def test_the_schema_is_said_beside() -> None:
    (beside,) = encoded_relation(LEAF).extension_leaf.common.advanced_extension.optimization
    assert choices_in(decode_any(beside)) == {
        "schema": {
            "names": ["p", "q", "x", "y"],
            "types": ["u!point<i64>?", "list<struct<i8, string?>>"],
            "urns": {"point": SHAPES},
        },
        "output_properties": {
            "ordering": [{"field": [0], "direction": "clustered"}],
            "distribution": {"kind": "partitioned", "fields": [[0]]},
        },
    }


@settings(max_examples=60)
@given(st.lists(types(max_depth=2, unbound=False), max_size=3))
def test_any_schema_comes_back(kinds: list[t.Type]) -> None:
    schema = NamedStruct.of([(f"c{number}", type_) for number, type_ in enumerate(kinds)])
    rel_comes_back(r.ExtensionLeaf(DETAIL, schema))


def test_relations_of_others_may_be_deep_and_stand_under_anything() -> None:
    rel: r.Rel = T
    for _ in range(120):
        rel = r.ExtensionSingle(DETAIL, T.schema, input=r.Emit(r.Filter(rel, literal(True, t.Boolean())), (2, 1, 0)))
    rel_comes_back(r.Project(rel, (col(rel, 0), i64(1)), ("x", "y")))


def test_types_of_one_name_of_two_extensions_are_refused() -> None:
    other = t.UserDefined("extension:other:shapes", "point", ())
    with pytest.raises(UnsupportedError, match=r'two types called "point"'):
        encoded(r.ExtensionLeaf(DETAIL, NamedStruct.of({"p": POINT, "q": other})))


def test_a_relation_of_others_whose_columns_nobody_says_is_refused_by_name() -> None:
    for rel, kind in ((LEAF, "extension_leaf"), (SINGLE, "extension_single"), (MULTI, "extension_multi")):
        with refused_at("", UnsupportedError, '"acme/Relation"'):
            decode_plan(changed(rel, lambda sent: getattr(sent, kind).common.ClearField("advanced_extension")))  # noqa: B023
    inside = r.Filter(LEAF, ex.literal(True, t.Boolean()))
    with refused_at("filter.input", UnsupportedError, '"acme/Relation"'):
        decode_plan(
            changed(inside, lambda sent: sent.filter.input.extension_leaf.common.ClearField("advanced_extension"))
        )


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"names": ["a"], "types": ["i63"], "urns": {}},
        {"names": ["a"], "types": ["u!point"], "urns": {}},
        {"names": ["a", "b"], "types": ["i64"], "urns": {}},
        {"names": ["a"], "types": [7], "urns": {}},
        {"names": 7, "types": ["i64"], "urns": {}},
    ],
    ids=str,
)
def test_a_schema_that_makes_no_sense_is_refused(schema: Any) -> None:
    def change(sent: Any) -> None:
        (beside,) = sent.extension_leaf.common.advanced_extension.optimization
        beside.value = message_of({"schema": schema}).value

    with refused_at("", PlanFormatError):
        decode_plan(changed(LEAF, change))


@pytest.mark.parametrize("said", [{"capture": "slow"}, {"capture": "merging"}, {"capture": "simple", "more": 1}, {}])
def test_a_capture_that_makes_no_sense_is_refused(said: dict[str, Any]) -> None:
    def change(sent: Any) -> None:
        sent.extension_single.detail.value = message_of(said).value

    with refused_at("", PlanFormatError, "cannot be understood"):
        decode_plan(changed(r.SimpleCapture(T), change))


def test_an_unnest_is_an_extension_of_ours() -> None:
    rel = r.Unnest(LISTS, 1)
    sent = encoded_relation(rel).extension_single
    assert sent.input == encoded_relation(LISTS)
    assert choices_in(decode_any(sent.detail)) == {"unnest": 1}
    rel_comes_back(r.Project(rel, (col(rel, 2),), ("x",)))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"unnest": "xs"}, "cannot be understood"),
        ({"unnest": True}, "cannot be understood"),
        ({"unnest": 1, "more": 1}, "cannot be understood"),
        ({"unnest": 0.5}, "cannot be understood"),
        ({"unnest": 2}, "the input has 2 columns"),
        ({"unnest": 0}, 'column "id" is i64'),
    ],
    ids=str,
)
def test_an_unnest_that_makes_no_sense_is_refused(said: dict[str, Any], why: str) -> None:
    def change(sent: Any) -> None:
        sent.extension_single.detail.value = message_of(said).value

    with refused_at("", PlanFormatError, why):
        decode_plan(changed(r.Unnest(LISTS, 1), change))


def test_a_catalogue_may_know_what_a_relation_of_others_puts_out() -> None:
    """The relation then comes with those columns; the plan says nothing of them."""
    plan = encoded(LEAF)
    plan.relations[0].root.input.extension_leaf.common.ClearField("advanced_extension")
    del plan.relations[0].root.names[:]
    plan.relations[0].root.names.extend(["a", "b"])
    catalog = standard_catalog().with_relation("acme/Relation", {"a": t.I64(), "b": "string?"})
    read, findings = decode_plan(plan, catalog)
    assert str(read.roots[0].input.schema) == "a: i64, b: string?"
    assert not findings
    with refused(UnsupportedError, "acme/Relation", "with_relation"):
        decode_plan(plan)
