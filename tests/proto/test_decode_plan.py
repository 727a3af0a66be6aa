"""Plans read from messages, bytes, JSON and files: what stands around and between their relations."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.anchors import canonical, canonical_plan
from substrait_dsl.algebra.expressions import FunctionId, literal
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.plan import AlgebraPlan, ParameterBinding, Root
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError, TypeMismatchError, UnsupportedError
from substrait_dsl.proto.declarations import NO_URN
from substrait_dsl.proto.paths import path_of
from substrait_dsl.proto.plan import decode_plan, encode_plan
from substrait_dsl.proto.versions import installed_version
from tests.proto.decoders import decoder_of
from tests.proto.plans import COMPARISON, T, call, col, encoded, equal, i64, message, outer, plan_of, table
from tests.support import refused

HINT = AnyMessage("type.example/acme.Hint", b"\x08\x01")
MEANING = AnyMessage("type.example/acme.Meaning")
ASKED = ex.DynamicParameter(t.I64(), 3)


def read(message: Plan) -> AlgebraPlan:
    return decode_plan(Plan.FromString(message.SerializeToString()))[0]


def same(left: AlgebraPlan, right: AlgebraPlan) -> bool:
    return canonical_plan(left) == canonical_plan(right)


# --- what a plan says beside its relations


@pytest.mark.parametrize(
    "plan",
    [
        AlgebraPlan((Root(T, ("x", "y", "z")),)),
        plan_of(T, table("u", k=t.I8())),
        AlgebraPlan((Root.of(T),), subtrees=(table("u", k=t.I8()),)),
        AlgebraPlan((Root.of(T),), expected_type_urls=("type.example/acme.Hint", "type.example/b")),
        AlgebraPlan(
            (Root.of(r.Project(T, (ASKED, ex.DynamicParameter(t.Date(nullable=True), 0)), ("x", "y"))),),
            parameter_bindings=(ParameterBinding(3, i64(5)), ParameterBinding(0, literal(None, t.Date(nullable=True)))),
        ),
        AlgebraPlan((Root.of(T),), evaluation_mode="per_record"),
        AlgebraPlan((Root.of(T),), advanced_extensions=AdvancedExtension((HINT, MEANING), MEANING)),
        AlgebraPlan((Root.of(T),), advanced_extensions=AdvancedExtension()),
    ],
)
def test_all_that_a_plan_says_comes_back(plan: AlgebraPlan) -> None:
    sent = encode_plan(plan)
    assert decode_plan(Plan.FromString(sent.SerializeToString()), strict=True) == (plan, ())
    assert encode_plan(read(sent)) == sent


def test_a_subtree_that_a_root_uses_too_is_still_there() -> None:
    shared = r.Filter(T, equal(col(T, 0), i64(1)))
    for _ in range(60):  # so deep that it is written once, apart
        shared = r.Filter(shared, equal(col(T, 0), i64(1)))
    plan = AlgebraPlan((Root.of(r.Filter(shared, equal(col(T, 0), i64(2)))),), subtrees=(shared,))
    assert read(encode_plan(plan)) == plan


def test_the_version_and_the_producer_of_a_plan_are_told_but_are_no_part_of_it() -> None:
    sent = encoded(T)
    sent.version.major_number, sent.version.minor_number, sent.version.patch_number = 0, 85, 2
    sent.version.producer, sent.version.git_hash = "acme", "a" * 40
    plan = sd.Plan.from_proto(sent)
    assert str(plan.version) == "0.85.2"
    assert plan.producer == "acme"
    assert plan.version is not None
    assert plan.version.git_hash == "a" * 40
    assert plan == sd.Plan(sd.Relation(T))
    built = sd.Plan(sd.Relation(T))
    assert built.version is None
    assert built.producer is None


# --- what is missing or not as it should be


def changed(text: str, *clear: str) -> Plan:
    """The plan that reads `T`, without some fields and with others."""
    plan = encoded(T)
    for field in clear:
        plan.ClearField(field)  # type: ignore[arg-type]  # the name of a field
    plan.MergeFrom(message(Plan, text))
    return plan


def of_two_types() -> Plan:
    """A plan that gives parameter 3 two types."""
    plan = encoded(r.Project(T, (ASKED, ex.DynamicParameter(t.String(), 4)), ("x", "y")))
    plan.relations[0].root.input.project.expressions[1].dynamic_parameter.parameter_reference = 3
    return plan


@pytest.mark.parametrize(
    ("plan", "told", "path"),
    [
        (changed("", "execution_behavior"), "once per plan", "execution_behavior"),
        (changed("", "version"), "which version", "version"),
        (
            changed('extensions { extension_function { function_anchor: 9 name: "add" } }'),
            "does not say which extension",
            "extensions[0].extension_function",
        ),
        (
            changed(
                f'extensions {{ extension_type {{ type_anchor: 9 name: "p" extension_urn_reference: {NO_URN} }} }}'
            ),
            "does not say which extension",
            "extensions[0].extension_type",
        ),
    ],
)
def test_findings_say_what_was_read_how_and_where(plan: Plan, told: str, path: str) -> None:
    read, (finding,) = decode_plan(plan)
    assert read == plan_of(T)
    assert told in finding.message
    assert finding.path == path
    with refused(PlanFormatError, told, path):
        decode_plan(plan, strict=True)


def test_a_strict_reader_says_how_much_more_it_found() -> None:
    with refused(PlanFormatError, "which version", "(and 1 more such findings)"):
        decode_plan(changed("", "version", "execution_behavior"), strict=True)


def test_a_plan_without_roots_returns_nothing() -> None:
    plan = encoded(T)
    rel = plan.relations[0].root.input
    del plan.relations[:]
    plan.relations.add().rel.CopyFrom(rel)
    read, findings = decode_plan(plan)
    assert read == AlgebraPlan((), subtrees=(T,))
    assert [finding.message for finding in findings] == ["no relation of the plan is a root: the plan returns nothing"]


FUNCTION = 'extensions { extension_function { function_anchor: 9 name: "%s" extension_urn_reference: %d } }'


@pytest.mark.parametrize(
    ("plan", "said", "path"),
    [
        (changed("", "relations"), "has no relations", ""),
        (changed("relations {}"), "a tree of the plan has no relation", "relations[1]"),
        (changed("extensions {}"), "declares nothing", "extensions[0]"),
        (changed(FUNCTION % ("", 0)), "has no name", "extensions[0].extension_function"),
        (changed(FUNCTION % ("add", 5)), "extension URN 5, which it does not", "extensions[0].extension_function"),
        (changed("extension_urns { extension_urn_anchor: 1 }"), "is empty", "extension_urns[0]"),
        (
            changed('extension_urns { urn: "a" } extension_urns { urn: "b" }'),
            "extension URN 0 twice",
            "extension_urns[1]",
        ),
        (
            changed(FUNCTION % ("add", 0) + FUNCTION % ("subtract", 0)),
            "function 9 twice",
            "extensions[1].extension_function",
        ),
        (
            changed('extensions { extension_type_variation { name: "v" } }'),
            "type variation 0",
            "extensions[0].extension_type_variation",
        ),
        (
            changed("type_aliases { type {} }"),
            "does not say which one it is",
            "type_aliases[0].type",
        ),
        (
            changed("parameter_bindings { value { i8: 300 } }"),
            "300 does not fit i8",
            "parameter_bindings[0].value",
        ),
        (changed("parameter_bindings {}"), "a literal has no value", "parameter_bindings[0].value"),
        (
            changed("parameter_bindings { value { i8: 1 } } parameter_bindings { value { i8: 1 } }"),
            "parameter 0 is bound twice",
            "",
        ),
        (
            of_two_types(),
            "parameter 3 is i64 in one expression and string in another",
            "relations[0].root.input.project.expressions[1]",
        ),
        (changed("execution_behavior { variable_eval_mode: 9 }"), "variable_eval_mode is 9", "execution_behavior"),
    ],
)
def test_a_plan_that_breaks_a_rule_is_refused_with_the_place(plan: Plan, said: str, path: str) -> None:
    with pytest.raises(PlanFormatError) as caught:
        decode_plan(plan)
    assert said in caught.value.message
    assert caught.value.path == path


@pytest.mark.parametrize("names", [(), ("a", "b"), ("a", "b", "c", "d")])
def test_the_names_of_a_root_must_fit(names: tuple[str, ...]) -> None:
    sent = encoded(T)
    sent.relations[0].root.names[:] = names
    with refused(PlanFormatError, f"{len(names)} names", "3 fields", "relations[0].root"):
        decode_plan(sent)


def test_declarations_that_say_the_same_twice_or_are_not_used_are_fine() -> None:
    add = 'extensions { extension_function { function_anchor: 9 extension_urn_reference: 1 name: "add" } }'
    declared = message(Plan, 'extension_urns { extension_urn_anchor: 1 urn: "extension:a:b" }' * 2 + add * 2)
    assert decoder_of(declared).functions == {9: FunctionId("extension:a:b", "add")}


def test_zero_is_a_number_like_others() -> None:
    """Of an extension, a function and a type, as 0 is what an unset number is."""
    rel = r.Project(
        T, (equal(col(T, 0), i64(1)), literal(None, t.UserDefined("extension:a:b", "p", nullable=True))), ("x", "y")
    )
    sent = encoded(rel)
    function, kind = sent.extensions
    sent.extension_urns[0].extension_urn_anchor = 0
    function.extension_function.extension_urn_reference = function.extension_function.function_anchor = 0
    kind.extension_type.type_anchor = 0
    call, null = sent.relations[0].root.input.project.expressions
    call.scalar_function.function_reference = 0
    null.literal.null.user_defined.type_reference = 0
    assert read(sent) == plan_of(rel)


def test_a_function_without_an_extension_stays_one() -> None:
    unknown = ex.ScalarFunction(FunctionId("", "acme_score"), (col(T, 0),), t.FP64())
    sent = encoded(r.Project(T, (unknown,), ("x",)))
    assert sent.extensions[0].extension_function.extension_urn_reference == NO_URN
    assert not sent.extension_urns
    (project,) = [node for node in walk(read(sent).roots[0].input) if isinstance(node, r.Project)]
    assert project.expressions == (unknown,)


KNOWN = f"version {'.'.join(map(str, installed_version()))} is known here"
NEWER_JSON = '// from elsewhere\n{"version": {"minorNumber": 400, "patchNumber": 1, "new": 1}, "namedLambdas": []}'


def test_a_plan_of_a_newer_version_that_breaks_a_rule_says_so() -> None:
    newer = changed("version { minor_number: 400 patch_number: 0 } relations {}")
    with refused(PlanFormatError, "no relation", f"the plan is of version 0.400.0 of the specification, and {KNOWN}"):
        sd.Plan.from_proto(newer)
    said = f"the plan is of version 0.400.1 of the specification, and {KNOWN}"
    with refused(PlanFormatError, "namedLambdas", "0.107", said):
        sd.Plan.from_json(NEWER_JSON)
    older = changed("version { minor_number: 99 } relations {}")
    with pytest.raises(PlanFormatError) as caught:
        sd.Plan.from_proto(older)
    assert caught.value.hint is None


def test_a_plan_of_a_newer_version_that_can_be_read_is_read() -> None:
    newer = changed("version { minor_number: 400 }")
    assert read(newer) == plan_of(T)
    assert str(sd.Plan.from_proto(newer).version) == "0.400.0"


def test_a_plan_that_no_parser_reads_still_says_its_version() -> None:
    """Whatever else is wrong: `PlanVersion` reads the version alone."""
    deep = Plan.FromString(changed("version { minor_number: 400 }").SerializeToString())
    rel = deep.relations.add().rel
    for _ in range(60):
        rel = rel.filter.input
    rel.read.SetInParent()
    said = f"the plan is of version 0.400.0 of the specification, and {KNOWN}; they are cut short"
    with refused(PlanFormatError, "no Substrait plan", said):
        sd.Plan.from_bytes(deep.SerializeToString())


@pytest.mark.parametrize("further", ["", "relations {}"])
def test_a_plan_of_another_major_version_is_refused(further: str) -> None:
    """Its fields may mean anything, so that nothing else in it is looked at."""
    other = changed(f"version {{ major_number: 1 minor_number: 2 }} {further}")
    said = f"the plan is of version 1.2.0 of the specification, and {KNOWN}"
    for attempt in (
        lambda: sd.Plan.from_proto(other),
        lambda: sd.Plan.from_bytes(other.SerializeToString() + b"\x98\xe2\x09\x01"),  # and an unknown field
        lambda: sd.Plan.from_json(json_format.MessageToJson(other)),
        lambda: decode_plan(other),
    ):
        with pytest.raises(PlanFormatError) as caught:
            attempt()
        assert caught.value.message == said
        assert caught.value.path == "version"


# --- trees that refer to each other


def reference(ordinal: int) -> str:
    return f"reference {{ subtree_ordinal: {ordinal} }}"


def cross(left: int, right: int) -> str:
    return f"cross {{ left {{ {reference(left)} }} right {{ {reference(right)} }} }}"


def trees(*rels: str, names: int) -> Plan:
    """A plan of a root that is the last of these relations, of the relations before it, and of the read of `T`, first.

    Relation 0 is the read, so the others are numbered from 1.
    """
    plan = encoded(T)
    first = plan.relations[0].root.input
    del plan.relations[:]
    plan.relations.add().rel.CopyFrom(first)
    for rel in rels:
        plan.relations.add().MergeFrom(message(type(plan.relations[0]), f"rel {{ {rel} }}"))
    last = plan.relations[-1]
    root = last.rel
    last.root.input.CopyFrom(root)
    last.root.names.extend("c" * names)
    return plan


def test_a_tree_that_is_referred_to_twice_is_one_relation() -> None:
    (root,) = read(trees(cross(0, 0), names=6)).roots
    assert isinstance(root.input, r.Cross)
    assert root.input == r.Cross(T, T)
    assert root.input.left is root.input.right
    assert root.input.left.shared


def test_a_relation_that_a_plan_holds_once_is_held_once_again() -> None:
    once = sd.shared(pipeline())
    plan = sd.Plan(once.join(once, on=lambda left, right: left.who == right.who))
    assert len(plan.to_proto().relations) == 2
    assert sd.Plan.from_bytes(plan.to_bytes()).to_bytes() == plan.to_bytes()


def test_trees_may_refer_to_later_ones_and_to_roots() -> None:
    plan = trees(cross(2, 0), reference(0), reference(1), names=6)
    assert [root.input for root in read(plan).roots] == [r.Cross(T, T)]
    plan.relations.add().root.MergeFrom(message(type(plan.relations[0].root), f"input {{ {reference(3)} }}"))
    plan.relations[-1].root.names.extend("abcdef")
    assert [root.names for root in read(plan).roots] == [tuple("cccccc"), tuple("abcdef")]


@pytest.mark.parametrize(
    ("rels", "said"),
    [
        ((reference(1),), "in a circle: 1 -> 1"),
        ((reference(2), reference(1)), "in a circle"),
        ((reference(7),), "no relation 7 to refer to: the plan has 2"),
        ((reference(-1),), "no relation -1 to refer to"),
    ],
)
def test_references_that_lead_nowhere_are_refused(rels: tuple[str, ...], said: str) -> None:
    with refused(PlanFormatError, said):
        read(trees(*rels, names=3))


def test_a_plan_of_one_tree_has_nothing_to_refer_to() -> None:
    plan = message(Plan, f"relations {{ root {{ input {{ {reference(0)} }} }} }}")
    with refused(PlanFormatError, "no relation 0 to refer to", "relations[0].root.input"):
        decode_plan(plan)


def test_a_chain_of_thousands_of_trees_is_read() -> None:
    count = 3000
    forward = [reference(number + 2) for number in range(count)]
    (root,) = read(trees(*forward, reference(0), names=3)).roots
    assert root.input == T


def correlated(anchor: int, ordinal: int) -> str:
    """A filter over `T`, whose row has a number, with a subquery of a tree."""
    return (
        f"filter {{ common {{ rel_anchor: {anchor} direct {{}} }} input {{ {reference(0)} }} "
        f"condition {{ subquery {{ set_predicate {{ predicate_op: PREDICATE_OP_EXISTS "
        f"tuples {{ {reference(ordinal)} }} }} }} }} }}"
    )


def about_outer(anchor: int, ordinal: int) -> str:
    """A filter over a tree that compares with the first column of an outer row."""
    field = "direct_reference { struct_field {} }"
    return (
        f"filter {{ common {{ direct {{}} }} input {{ {reference(ordinal)} }} condition {{ scalar_function {{ "
        f"function_reference: 1 output_type {{ bool {{ nullability: NULLABILITY_REQUIRED }} }} "
        f"arguments {{ value {{ selection {{ {field} root_reference {{}} }} }} }} "
        f"arguments {{ value {{ selection {{ {field} outer_reference {{ rel_reference: {anchor} }} }} }} }} }} }} }}"
    )


EQUAL = f"""
    extension_urns {{ extension_urn_anchor: 1 urn: "{COMPARISON}" }}
    extensions {{ extension_function {{ extension_urn_reference: 1 function_anchor: 1 name: "equal:any_any" }} }}
"""


def about(rel: Rel, anchor: int) -> Rel:
    return r.Filter(rel, equal(col(T, 0), outer(anchor, 0, t.I64())))


def hosted(subquery: Rel, anchor: int) -> Rel:
    return r.Filter(T, ex.SetPredicate("exists", subquery), anchor=anchor)


def test_a_tree_that_refers_to_an_outer_row_is_read_where_it_stands() -> None:
    plan = trees(about_outer(5, 0), correlated(5, 1), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    (root,) = read(plan).roots
    assert canonical(root.input) == canonical(hosted(about(T, 77), 77))


def test_a_tree_that_refers_to_an_outer_row_that_is_not_there_is_refused() -> None:
    plan = trees(about_outer(5, 0), correlated(6, 1), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    with refused(PlanFormatError, "5"):
        read(plan)


def test_thousands_of_trees_that_refer_to_an_outer_row_are_read() -> None:
    count = 2000
    chain = [about_outer(5, number) for number in range(count)]
    plan = trees(*chain, correlated(5, count), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    (root,) = read(plan).roots
    expected: Rel = T
    for _ in range(count):
        expected = about(expected, 9)
    assert canonical(root.input) == canonical(hosted(expected, 9))


def test_correlated_trees_that_mean_more_and_more_relations_are_refused() -> None:
    # each is read twice in each of the places where the one after it is read: 2 ** 40 times in all
    chain = [about_outer(5, 0)]
    for number in range(1, 40):
        half = (
            f"filter {{ input {{ {reference(0)} }} condition {{ subquery {{ set_predicate {{ predicate_op: "
            f"PREDICATE_OP_EXISTS tuples {{ {reference(number)} }} }} }} }} }}"
        )
        chain.append(f"set {{ op: SET_OP_UNION_ALL inputs {{ {half} }} inputs {{ {half} }} }}")
    plan = trees(*chain, correlated(5, 40), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    with refused(UnsupportedError, "in more than 10000 places"):
        read(plan)


def test_subqueries_in_each_other_by_the_thousand_are_refused() -> None:
    chain = [about_outer(5, 0), *(correlated(10 + number, number) for number in range(1, 2000))]
    plan = trees(*chain, correlated(5, 2000), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    with refused(PlanFormatError, "nested too deeply"):
        read(plan)


# --- anchors


def anchored(first: int, second: int) -> Rel:
    """A subquery in a subquery: the inner one refers to both of the rows around it."""
    both = about(about(T, first), second)
    inner = r.Filter(about(T, first), ex.SetPredicate("exists", both), anchor=second)
    return r.Filter(T, ex.SetPredicate("exists", inner), anchor=first)


def test_plans_are_equal_whatever_the_numbers_of_their_rows() -> None:
    rels = [anchored(1, 2), anchored(2, 1), anchored(9, 4)]
    assert len({canonical(rel) for rel in rels}) == 1
    assert len({sd.Plan(sd.Relation(rel)) for rel in rels}) == 1
    assert rels[0] != rels[1]


def test_a_row_that_nothing_refers_to_needs_no_number() -> None:
    assert canonical(r.Filter(T, equal(col(T, 0), i64(1)), anchor=3)) == r.Filter(T, equal(col(T, 0), i64(1)))
    assert canonical(T) is T


def test_rows_that_are_told_apart_stay_apart() -> None:
    both = r.Filter(about(T, 1), ex.SetPredicate("exists", about(T, 1)), anchor=2)
    other = r.Filter(about(T, 1), ex.SetPredicate("exists", about(T, 2)), anchor=2)
    of_first, of_second = hosted(both, 1), hosted(other, 1)
    assert canonical(of_first) != canonical(of_second)


def test_a_correlated_relation_is_the_same_alone_and_inside_another() -> None:
    once = hosted(about(T, 1), 1)
    again = hosted(about(T, 2), 2)
    assert canonical(r.Cross(once, once)) == canonical(r.Cross(once, again))


# --- the objects that people have


def pipeline() -> Any:
    orders = sd.read_named("orders", {"key": sd.I64, "total": "decimal<15,2>?", "who": sd.I64})
    people = sd.read_named("people", {"key": sd.I64, "address": t.Struct.of({"city": t.String()})})
    known: Any = orders.filter(lambda o: sd.exists(people.filter(lambda p: p.key == o.who)))
    return known.project(more=lambda o: f.add(o.key, 1)).aggregate("who", sum=lambda o: f.sum(o.total))


def test_a_plan_comes_back_from_all_its_forms(tmp_path: Path) -> None:
    plan = pipeline().to_plan()
    binary, text, other = tmp_path / "plan.pb", tmp_path / "plan.json", tmp_path / "plan.txt"
    plan.save(binary)
    plan.save(text)
    other.write_bytes(b"\xef\xbb\xbf\n" + plan.to_json().encode())
    for read in (
        sd.Plan.load(binary),
        sd.Plan.load(str(text)),
        sd.Plan.load(other),
        sd.Plan.from_bytes(plan.to_bytes(), strict=True),
        sd.Plan.from_json(plan.to_json()),
        sd.Plan.from_proto(plan.to_proto()),
    ):
        assert read == plan
        assert hash(read) == hash(plan)
        assert read.findings == ()
        assert [root.columns for root in read.roots] == [("who", "sum")]
    assert plan != sd.Plan(sd.Relation(T))


def test_the_roots_of_a_plan_have_the_names_it_gives_them() -> None:
    nested = table("n", p=t.Struct.of({"x": t.I8()}), q=t.I8())
    plan = encoded(nested)
    plan.relations[0].root.names[:] = ["one", "inside", "two"]
    read = sd.Plan.from_proto(plan)
    (root,) = read.roots
    assert root.columns == ("one", "two")
    assert read.to_proto().relations[0].root.names == ["one", "inside", "two"]
    assert "one" in str(read)


def test_a_plan_is_built_with_what_it_says_beside_its_relations() -> None:
    extension = AdvancedExtension((HINT,))
    plan = sd.Plan(
        pipeline().select(sd.parameter(1, sd.I64), sd.parameter(2, "string?")),
        expected_type_urls=[HINT.type_url],
        parameter_bindings={1: 5, 2: sd.null(sd.String)},
        evaluation_mode="per_record",
        advanced_extensions=extension,
    )
    read = sd.Plan.from_bytes(plan.to_bytes())
    assert read == plan
    assert read.expected_type_urls == (HINT.type_url,)
    assert read.parameter_bindings == {1: i64(5), 2: literal(None, t.String(nullable=True))}
    assert read.evaluation_mode == "per_record"
    assert read.advanced_extensions == extension
    with refused(UnsupportedError, "acme.Hint"):  # JSON has to know the fields of a message
        plan.to_json()


def test_bound_parameters_stand_for_their_values() -> None:
    asked, free = ex.DynamicParameter(t.I64(nullable=True), 1), ex.DynamicParameter(t.I64(), 2)
    rel = r.Project(T, (asked, free), ("x", "y"))
    (root,) = AlgebraPlan((Root.of(rel),), parameter_bindings=(ParameterBinding(1, i64(5)),)).bound_roots()
    assert root.input == r.Project(T, (literal(5, t.I64(nullable=True)), free), ("x", "y"))
    for wrong, said in ((literal(5, t.I32()), "i32"), (literal(None, t.I64(nullable=True)), "i64?")):
        with refused(TypeMismatchError, "parameter 2 is i64", said):
            AlgebraPlan((Root.of(rel),), parameter_bindings=(ParameterBinding(2, wrong),))


def test_a_parameter_has_one_type() -> None:
    rel = r.Project(T, (ASKED, ex.DynamicParameter(t.String(), 3)), ("x", "y"))
    said = "parameter 3 is i64 in one expression and string in another"
    with refused(TypeMismatchError, said):
        encode_plan(plan_of(rel))
    with refused(TypeMismatchError, said):
        AlgebraPlan((Root.of(rel),), parameter_bindings=(ParameterBinding(3, i64(5)),))
    with refused(TypeMismatchError, "to_proto", said):
        sd.Plan(sd.Relation(rel)).to_proto()
    # A value that is not NULL can stand for both of these.
    both = plan_of(r.Project(T, (ASKED, ex.DynamicParameter(t.I64(nullable=True), 3)), ("x", "y")))
    assert read(encode_plan(both)) == both


def test_an_extension_that_the_specification_does_not_have_is_told() -> None:
    lst = call("lst:i64", col(T, 0), urn="extension:io.substrait:functions_lst")
    theirs = call("lst:i64", col(T, 0), urn="extension:com.acme:functions_lst")
    plan = plan_of(r.Filter(r.Filter(T, lst), theirs))
    got, findings = decode_plan(encode_plan(plan))
    assert got == plan
    (finding,) = findings
    assert 'no extension "extension:io.substrait:functions_lst"' in finding.message
    assert 'did you mean "extension:io.substrait:functions_list"?' in finding.message
    assert finding.path.startswith("extension_urns[")


def test_a_finding_says_which_type_is_used() -> None:
    plan = encoded(r.Filter(T, equal(col(T, 0), i64(1))))
    declared = plan.relations[0].root.input.filter.condition.scalar_function.output_type
    declared.CopyFrom(message(Type, "bool { nullability: NULLABILITY_NULLABLE }"))
    got, findings = decode_plan(plan)
    assert got == plan_of(r.Filter(T, equal(col(T, 0), i64(1))))
    assert [str(finding) for finding in findings] == [
        "equal:any_any is declared to give boolean?; by its definition it gives boolean, which is used "
        "(at relations[0].root.input.filter.condition.scalar_function)"
    ]


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("NULLABILITY_REQUIERD", 'did you mean "NULLABILITY_REQUIRED"?'),
        ("no", '"NULLABILITY_UNSPECIFIED", "NULLABILITY_NULLABLE", "NULLABILITY_REQUIRED"'),
    ],
)
def test_a_name_that_an_enum_does_not_have_is_refused_with_those_it_has(written: str, hint: str) -> None:
    text = sd.Plan(sd.Relation(T)).to_json().replace("NULLABILITY_REQUIRED", written)
    with refused(PlanFormatError, f'not "{written}"', hint):
        sd.Plan.from_json(text)


def test_a_binding_that_nothing_uses_is_told() -> None:
    plan = AlgebraPlan((Root.of(r.Project(T, (ASKED,), ("x",))),), parameter_bindings=(ParameterBinding(3, i64(5)),))
    sent = encode_plan(plan)
    sent.MergeFrom(message(Plan, "parameter_bindings { parameter_anchor: 4 value { i64: 6 } }"))
    got, findings = decode_plan(sent)
    assert got.parameter_bindings == (*plan.parameter_bindings, ParameterBinding(4, i64(6)))
    assert [str(finding) for finding in findings] == [
        "parameter 4 is bound, but no expression uses it; kept (at parameter_bindings[1])"
    ]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"expected_type_urls": "type.example/a"}, "expected_type_urls"),
        ({"parameter_bindings": {-1: 5}}, "the number of a parameter"),
        ({"parameter_bindings": {"x": 5}}, "the number of a parameter"),
        ({"parameter_bindings": {1: 5}}, "parameter 1: no expression of the plan uses this parameter"),
        ({"parameter_bindings": {1: sd.lit(1) + 2}}, "write lit(value, type)"),
        ({"evaluation_mode": "per_row"}, "per_record"),
    ],
)
def test_what_a_plan_cannot_say_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(sd.SubstraitDslError, match="Plan") as caught:
        sd.Plan(pipeline(), **wrong)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("read", "argument"),
    [
        (sd.Plan.from_bytes, "text"),
        (sd.Plan.from_json, b"bytes"),
        (sd.Plan.from_proto, b"bytes"),
        (sd.Plan.from_proto, Plan().version),
    ],
)
def test_what_is_no_plan_at_all_is_refused(read: Any, argument: object) -> None:
    with refused(InvalidArgumentError, "expected"):
        read(argument)


def test_the_other_kind_of_message_is_told() -> None:
    plan = pipeline().to_plan()
    extended = sd.ExtendedExpression({"a": sd.I64}, "a")
    for cls, other, hint in (  # each with the other one
        (sd.Plan, extended, "this is an extended expression: read it with ExtendedExpression.load"),
        (sd.ExtendedExpression, plan, "this is a plan: read it with Plan.load"),
    ):
        with refused(PlanFormatError, "from_bytes", hint):
            cls.from_bytes(other.to_bytes())
        with refused(PlanFormatError, "from_json", hint):
            cls.from_json(other.to_json())
    with pytest.raises(PlanFormatError) as caught:  # neither of them
        sd.Plan.from_bytes(b"")
    assert "ExtendedExpression" not in str(caught.value)


def test_a_file_that_is_no_plan_is_refused_by_the_verb(tmp_path: Path) -> None:
    path = tmp_path / "plan"
    path.write_bytes(b'{"\xff"}')
    with refused(PlanFormatError, f"load, {path}: ", "no UTF-8"):
        sd.Plan.load(path)
    path.write_bytes(b'{"relations": 3}')
    with refused(PlanFormatError, "load"):
        sd.Plan.load(path)
    path.write_bytes(b"\x00\x01\x02")
    with refused(PlanFormatError, "load"):
        sd.Plan.load(path)
    with pytest.raises(FileNotFoundError):
        sd.Plan.load(tmp_path / "none")


# --- hostile input

BYTES = pipeline().to_plan().to_bytes()


def survives(data: bytes) -> None:
    try:
        plan = sd.Plan.from_bytes(data)
    except (PlanFormatError, UnsupportedError):
        return
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan


def test_a_plan_that_breaks_off_is_refused_or_read() -> None:
    for length in range(0, len(BYTES), 7):
        survives(BYTES[:length])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(BYTES) - 1), st.integers(0, 255)), min_size=1, max_size=3))
def test_a_plan_with_wrong_bytes_is_refused_or_read(wrong: list[tuple[int, int]]) -> None:
    data = bytearray(BYTES)
    for position, byte in wrong:
        data[position] = byte
    survives(bytes(data))


def _values(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON document."""
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [path, *(found for key, value in inner for found in _values(value, (*path, key)))]


DOCUMENT = pipeline().to_plan().to_json()
PATHS = _values(json.loads(DOCUMENT))[1:]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PATHS), st.sampled_from([None, 0, -1, 2**31, "x", "", [], {}, [{}], True]))
def test_a_plan_with_a_wrong_value_is_refused_or_read(path: tuple[Any, ...], value: object) -> None:
    document = json.loads(DOCUMENT)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with contextlib.suppress(PlanFormatError, UnsupportedError):
        sd.Plan.from_json(json.dumps(document))


# --- paths


def test_every_message_has_a_path_by_which_it_is_found() -> None:
    plan = pipeline().to_plan().to_proto()

    def walked(message: Any, path: str) -> None:
        assert path_of(plan, message) == path.removeprefix(".")
        for field, value in message.ListFields():
            if field.message_type is not None:
                for number, inner in enumerate(value if field.is_repeated else [value]):
                    walked(inner, f"{path}.{field.name}" + (f"[{number}]" if field.is_repeated else ""))

    walked(plan, "")


def test_a_message_that_is_missing_has_the_path_where_it_should_stand() -> None:
    plan = encoded(r.Filter(T, equal(col(T, 0), i64(1))))
    body = plan.relations[0].root.input.filter
    body.ClearField("condition")
    assert path_of(plan, body.condition) == "relations[0].root.input.filter.condition"
    assert path_of(plan, body.condition.literal) == "relations[0].root.input.filter.condition.literal"
    assert path_of(plan, Plan()) == ""


def test_nodes_are_rebuilt_only_where_an_anchor_changes() -> None:
    rel = r.Cross(T, hosted(about(T, 5), 5))
    found: list[Node] = list(walk(canonical(rel)))
    assert any(node is T for node in found)
