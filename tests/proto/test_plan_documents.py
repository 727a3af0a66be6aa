"""Plans as the objects that people have: from messages, bytes, JSON and files, and back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    PlanFormatError,
    TypeMismatchError,
    UnsupportedError,
)
from tests.proto.plans import T, encoded, i64, table
from tests.proto.whole_plans import HINT, pipeline
from tests.support import refused


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
        type_aliases=[sd.I64, "string?", sd.List(sd.Date())],
    )
    read = sd.Plan.from_bytes(plan.to_bytes())
    assert read == plan
    assert read.type_aliases == (t.I64(), t.String(), t.List(t.Date()))
    assert read.expected_type_urls == (HINT.type_url,)
    assert read.parameter_bindings == {1: i64(5), 2: literal(None, t.String(nullable=True))}
    assert read.evaluation_mode == "per_record"
    assert read.advanced_extensions == extension
    with refused(UnsupportedError, "acme.Hint"):  # JSON has to know the fields of a message
        plan.to_json()


def test_a_plan_goes_on_with_what_it_says_beside_its_relations() -> None:
    extension = AdvancedExtension((HINT,))
    plan = sd.Plan(
        pipeline().select(sd.parameter(1, sd.I64)),
        expected_type_urls=[HINT.type_url],
        parameter_bindings={1: 5},
        evaluation_mode="per_record",
        advanced_extensions=extension,
        type_aliases=[sd.I64],
    )
    read = sd.Plan.from_bytes(plan.to_bytes())
    assert read.with_roots(*read.roots) == plan

    (root,) = read.roots
    more: Any = root.select(one=sd.parameter(1, sd.I64), two=sd.parameter(2, sd.I8))
    gone_on = read.with_roots(more, root, parameter_bindings={2: 7})
    assert gone_on == sd.Plan(
        more,
        root,
        expected_type_urls=[HINT.type_url],
        parameter_bindings={1: 5, 2: 7},
        evaluation_mode="per_record",
        advanced_extensions=extension,
        type_aliases=[sd.I64],
    )
    assert sd.Plan.from_bytes(gone_on.to_bytes()) == gone_on
    assert (read.version is None, gone_on.version, gone_on.findings) == (False, None, ())
    assert gone_on.with_roots(more, parameter_bindings={1: 6}).parameter_bindings == {
        1: i64(6),
        2: literal(7, t.I8()),
    }
    assert gone_on.with_roots(sd.Relation(T)).parameter_bindings == gone_on.parameter_bindings  # used or not

    with refused(TypeMismatchError, "with_roots", "parameter 1 is i8, but it is bound to a value of type i64"):
        read.with_roots(sd.Relation(T).select(one=sd.parameter(1, sd.I8)))
    with refused(InvalidArgumentError, "with_roots, parameter 3: no expression of the plan uses this parameter"):
        read.with_roots(root, parameter_bindings={3: 7})
    with refused(InvalidArgumentError, "with_roots: expected at least one relation"):
        read.with_roots()


def test_the_changes_of_subtrees_are_left_out_on_purpose_only() -> None:
    read, change = sd.Relation(T), sd.subtree(sd.Relation(T).write("u"))
    plan = sd.Plan(read, change, read)
    assert plan.with_roots(*plan.trees) == plan
    assert plan.with_roots(read, change) == sd.Plan(read, change)
    assert plan.with_roots(read, sd.subtree(read.limit(1))) == sd.Plan(read, sd.subtree(read.limit(1)))
    with refused(InvalidArgumentError, "with_roots: the plan has a subtree with a write, which would be left out"):
        plan.with_roots(*plan.roots)
    inside = sd.Plan(read, sd.subtree(read.union_all(sd.Relation(T).write("u", output="modified_records"))))
    with refused(InvalidArgumentError, "with_roots", "a write"):
        inside.with_roots(read)
    without = sd.Plan(read, sd.subtree(read.limit(1)))
    assert without.with_roots(read) == sd.Plan(read)


def test_a_root_carries_what_its_plan_says_of_itself() -> None:
    asked: Any = sd.Relation(T).select(one=sd.parameter(1, sd.I64), now=sd.current_timestamp())
    enhancement = AdvancedExtension(enhancement=HINT)
    plan = sd.Plan(asked, parameter_bindings={1: 5}, evaluation_mode="per_record", advanced_extensions=enhancement)
    (root,) = plan.roots
    for alone in (root.to_plan(), sd.Plan(root), sd.Plan(root.filter(lambda r: r.one > 1))):
        assert alone.evaluation_mode == "per_record"
        assert alone.parameter_bindings == {1: i64(5)}
        assert alone.advanced_extensions == enhancement
    assert root.to_plan() == plan
    assert sd.Plan(root.select("now")).parameter_bindings == {}  # no expression uses it any more
    assert sd.Plan(root, parameter_bindings={1: 6}).parameter_bindings == {1: i64(6)}
    assert sd.Plan(root, evaluation_mode="per_plan").evaluation_mode == "per_plan"
    # The root of a plan that says something else is one of that.
    (other,) = plan.with_roots(root.limit(1), parameter_bindings={1: 6}).roots
    assert other.to_plan().parameter_bindings == {1: i64(6)}
    with refused(InvalidArgumentError, "Plan", "bind parameter 1 to different values", "parameter_bindings={1: ...}"):
        sd.Plan(root, other)
    assert sd.Plan(root, other, parameter_bindings={1: 7}).parameter_bindings == {1: i64(7)}
    (plain,) = sd.Plan(asked, parameter_bindings={1: 5}).roots
    with refused(InvalidArgumentError, "Plan", "once", "for each record", "evaluation_mode="):
        sd.Plan(root, plain)
    with refused(InvalidArgumentError, "Plan", "enhancement that others lack"):
        sd.Plan(root, plain, evaluation_mode="per_plan")


def _read(plan: sd.Plan) -> sd.Plan:
    return sd.Plan.from_bytes(plan.to_bytes())


@pytest.mark.parametrize("kept", [lambda plan: plan, _read], ids=["built", "read"])
@pytest.mark.parametrize("said", ["per_plan", None])
def test_roots_of_plans_that_evaluate_variables_otherwise_do_not_meet(
    kept: Callable[[sd.Plan], sd.Plan], said: Any
) -> None:
    now: Any = sd.Relation(T).select("a", now=sd.current_timestamp())
    (once,) = kept(sd.Plan(now, evaluation_mode=said)).roots
    (each,) = kept(sd.Plan(now, evaluation_mode="per_record")).roots
    met: list[Callable[[], sd.Plan]] = [
        lambda: sd.Plan(once, each),
        lambda: sd.Plan(each, sd.subtree(once)),
        lambda: once.union_all(each).to_plan(),
        lambda: each.filter(lambda r: sd.exists(once.filter(lambda i: i.a == r.a))).to_plan(),
        lambda: sd.Plan(sd.shared(once).limit(1), each),
        lambda: sd.Plan(each, *sd.Plan(sd.shared(now)).roots),
    ]
    for combine in met:
        with refused(InvalidArgumentError, "per_plan", "per_record", "evaluation_mode="):
            combine()
    assert sd.Plan(once, each, evaluation_mode="per_plan").evaluation_mode == "per_plan"
    assert sd.Plan(once, evaluation_mode="per_record").evaluation_mode == "per_record"
    assert sd.Plan(once, now, once.limit(1)).evaluation_mode == "per_plan"
    # Rows that depend on no variable mean the same in both, and what never was in a plan follows the others.
    (plain,) = kept(sd.Plan(sd.Relation(T))).roots
    assert sd.Plan(plain, each, now).evaluation_mode == "per_record"


def test_what_is_no_tree_is_refused() -> None:
    for wrong in (5, [sd.Relation(T)], sd.Relation(T).to_plan()):
        with refused(InvalidArgumentError, "Plan: expected relations"):
            sd.Plan(wrong)  # type: ignore[arg-type]
        with refused(InvalidArgumentError, "subtree: expected a relation"):
            sd.subtree(wrong)  # type: ignore[arg-type]
    with refused(InvalidChoiceError, "Plan", "evaluation mode", "per_plan"):
        sd.Plan(sd.Relation(T), evaluation_mode="once")  # type: ignore[arg-type]


def test_the_bindings_of_a_plan_are_for_reading() -> None:
    bindings: Any = sd.Plan(pipeline().select(sd.parameter(1, sd.I64)), parameter_bindings={1: 5}).parameter_bindings
    with pytest.raises(TypeError, match="does not support item assignment"):
        bindings[1] = i64(6)
    assert not hasattr(bindings, "update")


def test_what_is_given_instead_of_bytes_or_text_is_cut_short() -> None:
    plan = sd.Plan(sd.Relation(T))
    text, data, long = plan.to_json(), plan.to_bytes(), 1_000_000
    wrong: list[tuple[Any, Any, str]] = [
        (sd.Plan.from_bytes, text + " " * long, "read JSON with from_json, a file with load"),
        (sd.Plan.from_json, data * 10_000, "the binary form is read with from_bytes"),
        (sd.Plan.from_proto, data * 10_000, "read bytes with from_bytes"),
        (sd.Plan.from_proto, text + " " * long, "read JSON with from_json"),
        (sd.ExtendedExpression.from_bytes, text + " " * long, "read JSON with from_json, a file with load"),
    ]
    for read, given, hint in wrong:
        with pytest.raises(InvalidArgumentError, match=f"expected .*\n.*{hint}") as caught:
            read(given)
        assert len(str(caught.value)) < 300
    for written in (text.encode(), text.encode("utf-8-sig"), b"// a comment\n" + text.encode()):
        with refused(PlanFormatError, "no Substrait plan", "they look like JSON", "from_json"):
            sd.Plan.from_bytes(written)


def test_json_may_begin_with_a_byte_order_mark() -> None:
    plan = sd.Plan(sd.Relation(T))
    for text in ("\ufeff" + plan.to_json(), "\ufeff// a comment\n" + plan.to_json()):
        assert sd.Plan.from_json(text) == plan
    extended = sd.ExtendedExpression({"a": sd.I64}, x=lambda row: row.a + 1)
    assert sd.ExtendedExpression.from_json("\ufeff" + extended.to_json()) == extended


def test_types_of_protobuf_itself_are_known_in_json_whatever_was_imported() -> None:
    program = """
import substrait_dsl as sd
for said in (
    '{"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "isBHJ=0"}',
    '{"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1.5s"}',
    '{"@type": "type.googleapis.com/google.protobuf.Struct", "value": {"a": [1, null]}}',
):
    text = sd.Plan(sd.read_named("t", {"a": sd.I64})).to_json()
    text = text.replace('"direct": {}', '"direct": {}, "advancedExtension": {"optimization": [%s]}' % said)
    plan = sd.Plan.from_json(text)
    assert said[:60] in " ".join(sd.Plan.from_bytes(plan.to_bytes()).to_json().split()).replace("{ ", "{"), plan
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", ["plan.json", "plan.JSON", "plan.Json"])
def test_the_name_of_a_file_says_json_in_any_case(tmp_path: Path, name: str) -> None:
    plan = pipeline().to_plan()
    plan.save(tmp_path / name)
    assert sd.Plan.from_json((tmp_path / name).read_text(encoding="utf-8")) == plan


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


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"expected_type_urls": "type.example/a"}, "expected_type_urls"),
        ({"parameter_bindings": {-1: 5}}, "the number of a parameter"),
        ({"parameter_bindings": {"x": 5}}, "the number of a parameter"),
        ({"parameter_bindings": {1: 5}}, "parameter 1: no expression of the plan uses this parameter"),
        ({"parameter_bindings": {1: sd.lit(1) + 2}}, "write lit(value, type)"),
        ({"evaluation_mode": "per_row"}, "per_record"),
        ({"type_aliases": "i64"}, "type_aliases are several types"),
        ({"type_aliases": [int]}, "did you mean I64"),
        ({"type_aliases": ["i64", sd.I64]}, "i64 has two aliases"),
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


def test_outer_references_by_counting_subqueries(tmp_path: Path) -> None:
    inner = sd.read_named("u", {"k": "i64"})
    correlated = sd.read_named("t", {"a": "i64"}).filter(lambda t: sd.exists(inner.filter(lambda u: u.k == t.a)))
    plan = correlated.to_plan()
    counted = plan.to_proto(outer_references="steps_out")
    condition = counted.relations[0].root.input.filter.condition.subquery.set_predicate.tuples.filter.condition
    outer = condition.scalar_function.arguments[1].value.selection
    assert outer.outer_reference.steps_out == 1
    assert counted != plan.to_proto() == plan.to_proto(outer_references="rel_reference")
    assert plan.to_bytes(outer_references="steps_out") == counted.SerializeToString(deterministic=True)
    for name in ("plan.json", "plan.bin"):
        plan.save(tmp_path / name, outer_references="steps_out")
        assert "steps_out" in str(sd.Plan.load(tmp_path / name).to_proto(outer_references="steps_out"))
        assert sd.Plan.load(tmp_path / name) == plan
    with refused(InvalidChoiceError, "to_proto", "outer_references", "'steps'", '"steps_out"'):
        plan.to_bytes(outer_references="steps")  # type: ignore[arg-type]
