"""Plans read from messages: what stands around and between their relations."""

from __future__ import annotations

import pytest
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import FunctionId, literal
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.plan import AlgebraPlan, ParameterBinding, Root, Subtree
from substrait_dsl.errors import PlanFormatError, TypeMismatchError
from substrait_dsl.proto.declarations import NO_URN
from substrait_dsl.proto.plan import decode_plan, encode_plan
from tests.proto.decoders import decoder_of
from tests.proto.plans import T, call, col, encoded, equal, i64, message, plan_of, table
from tests.proto.whole_plans import HINT, changed, read
from tests.support import refused

MEANING = AnyMessage("type.example/acme.Meaning")
ASKED = ex.DynamicParameter(t.I64(), 3)


@pytest.mark.parametrize(
    "plan",
    [
        AlgebraPlan((Root(T, ("x", "y", "z")),)),
        plan_of(T, table("u", k=t.I8())),
        AlgebraPlan((Subtree(table("u", k=t.I8())), Root.of(T))),
        AlgebraPlan((Root.of(T),), expected_type_urls=("type.example/acme.Hint", "type.example/b")),
        AlgebraPlan(
            (Root.of(r.Project(T, (ASKED, ex.DynamicParameter(t.Date(nullable=True), 0)), ("x", "y"))),),
            parameter_bindings=(ParameterBinding(3, i64(5)), ParameterBinding(0, literal(None, t.Date(nullable=True)))),
        ),
        AlgebraPlan((Root.of(T),), evaluation_mode="per_record"),
        AlgebraPlan((Root.of(T),), advanced_extensions=AdvancedExtension((HINT, MEANING), MEANING)),
        AlgebraPlan((Root.of(T),), advanced_extensions=AdvancedExtension()),
        AlgebraPlan((Root.of(T),), type_aliases=(t.I64(), t.List(t.I64()), t.Date())),
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
    plan = AlgebraPlan((Subtree(shared), Root.of(r.Filter(shared, equal(col(T, 0), i64(2))))))
    assert read(encode_plan(plan)) == plan


# --- what is missing or not as it should be


def of_two_types() -> Plan:
    """A plan that gives parameter 3 two types."""
    plan = encoded(r.Project(T, (ASKED, ex.DynamicParameter(t.String(), 4)), ("x", "y")))
    plan.relations[0].root.input.project.expressions[1].dynamic_parameter.parameter_reference = 3
    return plan


@pytest.mark.parametrize(
    ("plan", "told", "path"),
    [
        (changed("", "execution_behavior"), "once per plan", "execution_behavior"),
        (changed("", "version"), "does not set its version", "version"),
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
    with refused(PlanFormatError, "does not set its version", "(and 1 more such findings)"):
        decode_plan(changed("", "version", "execution_behavior"), strict=True)


def test_a_plan_without_roots_returns_nothing() -> None:
    plan = encoded(T)
    rel = plan.relations[0].root.input
    del plan.relations[:]
    plan.relations.add().rel.CopyFrom(rel)
    read, findings = decode_plan(plan)
    assert read == AlgebraPlan((Subtree(T),))
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
            "does not set its kind",
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


@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("a", "b", "c", "d")])
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


def test_bound_parameters_stand_for_their_values() -> None:
    asked, free = ex.DynamicParameter(t.I64(nullable=True), 1), ex.DynamicParameter(t.I64(), 2)
    rel = r.Project(T, (asked, free), ("x", "y"))
    plan = AlgebraPlan((Root.of(rel),), parameter_bindings=(ParameterBinding(1, i64(5)),))
    (root,) = plan.with_parameters_bound().roots
    assert root.input == r.Project(T, (literal(5, t.I64(nullable=True)), free), ("x", "y"))
    for wrong, said in ((literal(5, t.I32()), "i32"), (literal(None, t.I64(nullable=True)), "i64?")):
        with refused(TypeMismatchError, "parameter 2 is i64", said):
            AlgebraPlan((Root.of(rel),), parameter_bindings=(ParameterBinding(2, wrong),))


def test_a_parameter_has_one_type() -> None:
    rel = r.Project(T, (ASKED, ex.DynamicParameter(t.String(), 3)), ("x", "y"))
    said = "parameter 3 is i64 in one expression and string in another"
    with refused(TypeMismatchError, said):
        plan_of(rel)
    with refused(TypeMismatchError, said):
        AlgebraPlan((Root.of(rel),), parameter_bindings=(ParameterBinding(3, i64(5)),))
    with refused(TypeMismatchError, "Plan", said):
        sd.Plan(sd.Relation(rel))
    with refused(TypeMismatchError, "ExtendedExpression", said):
        sd.ExtendedExpression({"a": sd.I64}, x=sd.parameter(3, sd.I64), y=sd.parameter(3, sd.String))
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


@pytest.mark.parametrize(
    ("urn", "key", "near"),
    [
        ("extension:io.substrat:functions_comparison", "equal:any_any", True),
        ("extension:io.substrait.functions_comparison", "equal", True),
        ("extension:io.substrat:functions_comparison", "same:any_any", False),  # none of the specification
        ("extension:com.acme:functions_comparison", "equal:any_any", False),
        ("extension:acme:f", "equal:any_any", False),
    ],
)
def test_a_misspelt_extension_of_a_function_of_the_specification_is_told(urn: str, key: str, near: bool) -> None:
    plan = plan_of(r.Filter(T, call(key, col(T, 0), col(T, 0), urn=urn)))
    got, findings = decode_plan(encode_plan(plan))
    assert got == plan
    told = (
        f'no extension "{urn}" is known, but "extension:io.substrait:functions_comparison" is, and there is a "equal"'
    )
    assert [finding.message.startswith(told) for finding in findings] == [True] * near


def test_a_finding_says_which_type_is_used() -> None:
    plan = encoded(r.Filter(T, equal(col(T, 0), i64(1))))
    declared = plan.relations[0].root.input.filter.condition.scalar_function.output_type
    declared.CopyFrom(message(Type, "bool { nullability: NULLABILITY_NULLABLE }"))
    got, findings = decode_plan(plan)
    assert got == plan_of(r.Filter(T, equal(col(T, 0), i64(1))))
    assert [str(finding) for finding in findings] == [
        "equal:any_any is declared to give boolean?; by its definition it gives boolean, which is used "
        "(at relations[0].root.input.filter.condition.scalar_function) [harmless: call-nullability]"
    ]


def test_a_binding_that_nothing_uses_is_told() -> None:
    plan = AlgebraPlan((Root.of(r.Project(T, (ASKED,), ("x",))),), parameter_bindings=(ParameterBinding(3, i64(5)),))
    sent = encode_plan(plan)
    sent.MergeFrom(message(Plan, "parameter_bindings { parameter_anchor: 4 value { i64: 6 } }"))
    got, findings = decode_plan(sent)
    assert got.parameter_bindings == (*plan.parameter_bindings, ParameterBinding(4, i64(6)))
    assert [str(finding) for finding in findings] == [
        "parameter 4 is bound, but no expression uses it; kept (at parameter_bindings[1]) [harmless: binding-unused]"
    ]
