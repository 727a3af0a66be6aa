"""What a plan needs of the system that takes it, in the words of the specification."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from decimal import Decimal
from importlib import resources
from typing import Any

import pytest
import yaml
from google.protobuf.descriptor import Descriptor
from substrait import algebra_pb2 as pb
from substrait import type_pb2

import substrait_dsl as sd
from substrait_dsl.algebra import requirements as words
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.proto.plan import encode_plan
from substrait_dsl.proto.requirements import FIELD_WORDS, FORM_FIELDS, LITERAL_WORDS, requirements_of
from substrait_dsl.proto.versions import installed_version
from tests.proto.plans import plan_of
from tests.relations.test_inputs import ROWS
from tests.support import f, table

ARITHMETIC = "extension:io.substrait:functions_arithmetic"
COMPARISON = "extension:io.substrait:functions_comparison"
SCAN = "type.googleapis.com/acme.Scan"


def needs(relation: Any) -> list[str]:
    """What the plan of a relation needs, but for its version, in the order in which it stands there."""
    return [str(each) for each in relation.to_plan().requirements() if each.kind != "version"]


# --- the words


def schema_of_dialects() -> Any:
    file = resources.files("substrait_extensions") / "dialects" / "dialect_schema.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("key", "what", "known"),
    [
        ("supported_relations", "relation", words.RELATION_WORDS),
        ("supported_expressions", "expression", words.EXPRESSION_WORDS),
    ],
)
def test_words_and_forms_are_those_of_dialect_files(key: str, what: str, known: dict[str, Any]) -> None:
    schema = schema_of_dialects()
    (plain, *objects) = schema["properties"][key]["items"]["oneOf"]
    defined = [schema["definitions"][each["$ref"].rpartition("/")[2]]["properties"] for each in objects]
    found: dict[str, tuple[str, set[str]] | None] = dict.fromkeys(plain["enum"])
    for properties in defined:
        forms = {name: each for name, each in properties.items() if name not in (what, "metadata")}
        found[properties[what]["const"]] = next(((name, allowed(schema, each)) for name, each in forms.items()), None)
    assert {word: forms and (forms.key, set(forms.words)) for word, forms in known.items()} == found


def allowed(schema: Any, definition: Any) -> set[str]:
    """The words that a list in a dialect file may have; none if it may have any."""
    if "$ref" in definition:
        definition = schema["definitions"][definition["$ref"].rpartition("/")[2]]
    items = definition["items"]
    (choices,) = items.get("oneOf", [items])
    return set(choices.get("enum", ()))


def test_types_and_their_limits_are_those_of_dialect_files() -> None:
    schema = schema_of_dialects()
    (plain, *objects) = schema["properties"]["supported_types"]["items"]["oneOf"]
    defined = [schema["definitions"][each["$ref"].rpartition("/")[2]]["properties"] for each in objects]
    limits = {
        each["type"]["const"]: {name.removeprefix("max_") for name in each if name.startswith("max_")}
        for each in defined
    }
    assert limits.pop(words.USER_DEFINED) == set()
    assert {word: set(numbers) for word, numbers in words.TYPE_WORDS.items()} == limits
    assert set(plain["enum"]) == limits.keys()


def fields(descriptor: Descriptor, alternatives: str) -> set[str]:
    return {field.name for field in descriptor.oneofs_by_name[alternatives].fields}


def test_every_field_of_a_message_has_a_word() -> None:
    relations = fields(pb.Rel.DESCRIPTOR, "rel_type")
    assert {FIELD_WORDS.get(field, field.upper()) for field in relations} == words.RELATION_WORDS.keys()
    expressions = fields(pb.Expression.DESCRIPTOR, "rex_type")
    known = words.EXPRESSION_WORDS.keys() | {words.DETACHED}
    assert {FIELD_WORDS.get(field, field.upper()) for field in expressions} == known
    types = fields(type_pb2.Type.DESCRIPTOR, "kind") - {"user_defined", "alias"}
    assert {field.upper() for field in types} == words.TYPE_WORDS.keys()
    literals = fields(pb.Expression.Literal.DESCRIPTOR, "literal_type") - {"user_defined", "null"}
    assert {LITERAL_WORDS.get(field, field.upper()) for field in literals} <= words.TYPE_WORDS.keys()


def test_every_relation_with_forms_says_which() -> None:
    for name, rel in ((name, rel) for name, (rel, _, _) in ROWS.items()):
        plan = encode_plan(plan_of(rel)) if rel.schema.fields else encode_plan(sd.Plan(sd.Relation(rel))._algebra)
        for each in requirements_of(plan):
            if each.kind == "relation":
                forms = words.RELATION_WORDS[each.name]
                assert bool(each.form) is (forms is not None), (name, each)
                assert forms is None or not forms.words or each.form in forms.words, (name, each)
    assert FORM_FIELDS


# --- what a plan needs


def test_each_thing_once_with_its_first_path() -> None:
    rows = table("a: i64, b: i64?")
    found = rows.filter(lambda r: r.a > 1).select(x=lambda r: r.a + 1).to_plan().requirements()
    read = "relations[0].root.input.project.input.filter.input.read"
    assert [(str(each), each.path) for each in found if each.kind in ("relation", "type")] == [
        ("relation PROJECT", "relations[0].root.input"),
        ("relation FILTER", "relations[0].root.input.project.input"),
        ("relation READ, NAMED_TABLE", "relations[0].root.input.project.input.filter.input"),
        ("type I64", f"{read}.base_schema.struct.types[0]"),
        ("type BOOL", "relations[0].root.input.project.input.filter.condition.scalar_function.output_type"),
    ]
    assert {str(each) for each in found} >= {
        "version {}.{}.{}".format(*installed_version()),
        "expression SCALAR_FUNCTION",
        "expression SELECTION",
        "expression LITERAL",
        f"scalar function gt:any_any of {COMPARISON}",
        f"scalar function add:i64_i64 of {ARITHMETIC}",
    }
    assert len(found) == 11


def test_the_path_leads_to_what_is_needed() -> None:
    rows = table("a: i64, s: string")
    plan = rows.join(rows.rename(a="c", s="d"), lambda l, r: l.a == r.c, how="left_semi").sort("s").to_plan()
    for each in plan.requirements():
        assert each.path
        message: Any = plan.to_proto()
        for step in each.path.split("."):
            name, _, position = step.partition("[")
            message = getattr(message, name)
            message = message[int(position.rstrip("]"))] if position else message
        if each.kind == "relation":
            field = message.WhichOneof("rel_type")
            assert field.upper() == each.name


LITERALS: dict[str, tuple[Callable[[], Any], str]] = {
    "varchar": (lambda: sd.lit("abc", sd.VarChar(7)), "type VARCHAR, length 7"),
    "fixed char": (lambda: sd.lit("abc", sd.FixedChar(3)), "type FIXED_CHAR, length 3"),
    "fixed binary": (lambda: sd.lit(b"ab", sd.FixedBinary(2)), "type FIXED_BINARY, length 2"),
    "decimal": (lambda: sd.lit(Decimal("1.5"), sd.Decimal(9, 4)), "type DECIMAL, precision 9, scale 4"),
    "null": (lambda: sd.null(sd.Decimal(8, 1)), "type DECIMAL, precision 8, scale 1"),
    "timestamp": (
        lambda: sd.lit(dt.datetime(2020, 1, 1), sd.PrecisionTimestamp(3)),
        "type PRECISION_TIMESTAMP, precision 3",
    ),
    "boolean": (lambda: sd.lit(True), "type BOOL"),
    "months": (lambda: sd.lit(sd.YearMonths(1, 2), sd.IntervalYear()), "type INTERVAL_YEAR"),
    "list": (lambda: sd.lit([], sd.List(sd.I8())), "type LIST"),
    "uuid": (lambda: sd.lit(uuid.UUID(int=0), sd.UUID()), "type UUID"),
}


@pytest.mark.parametrize(("literal", "need"), LITERALS.values(), ids=LITERALS)
def test_the_types_of_literals(literal: Callable[[], Any], need: str) -> None:
    assert need in needs(table("a: i64").select(x=literal()))


FORMS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "join": (lambda r: r.join(r.rename(a="b"), lambda l, r: l.a == r.b, how="left_anti"), "relation JOIN, LEFT_ANTI"),
    "set": (lambda r: r.set_op("minus_primary_all", r), "relation SET, MINUS_PRIMARY_ALL"),
    "cast": (lambda r: r.select(x=lambda r: r.a.cast("i32", on_failure="return_null")), "expression CAST, RETURN_NULL"),
    "subquery": (lambda r: r.filter(sd.exists(r)), "expression SUBQUERY, SET_PREDICATE"),
    "nested": (lambda r: r.select(x=lambda r: sd.struct_of(y=r.a)), "expression NESTED, STRUCT"),
    "variable": (lambda r: r.select(x=sd.current_date()), "expression EXECUTION_CONTEXT_VARIABLE, CURRENT_DATE"),
    "write": (lambda r: r.write("u"), "relation WRITE, NAMED_TABLE"),
    "exchange": (lambda r: r.exchange(sd.broadcast()), "relation EXCHANGE, BROADCAST"),
    "values": (lambda r: sd.read_virtual([(1,)], {"a": "i64"}), "relation READ, VIRTUAL_TABLE"),
    "expand": (lambda r: r.expand(a=sd.col("a")), "relation EXPAND, CONSISTENT_FIELD"),
    "shared": (lambda r: sd.shared(r).cross(sd.shared(r).rename(a="b")), "relation REFERENCE"),
    "extension": (lambda r: sd.extension_leaf(AnyMessage(SCAN, b""), {"a": "i64"}), f"relation EXTENSION_LEAF, {SCAN}"),
}


@pytest.mark.parametrize(("made", "need"), FORMS.values(), ids=FORMS)
def test_the_forms_of_relations_and_expressions(made: Callable[[Any], Any], need: str) -> None:
    assert need in needs(made(table("a: i64")))


def test_functions_by_what_they_are_used_as() -> None:
    rows = table("a: i64, b: i64")
    assert f"aggregate function sum:i64 of {ARITHMETIC}" in needs(rows.aggregate(x=lambda r: f.sum(r.a)))
    window = rows.with_columns(x=lambda r: f.sum(r.a).over(partition_by=[r.b]))
    assert f"window function sum:i64 of {ARITHMETIC}" in needs(window)
    option = rows.select(x=lambda r: f.add(r.a, r.b, overflow=["ERROR", "SATURATE"]))
    assert f"scalar function add:i64_i64 of {ARITHMETIC}, overflow=ERROR|SATURATE" in needs(option)


def test_what_may_be_ignored_is_not_needed() -> None:
    hinted = table("a: i64").with_extension(common=sd.AdvancedExtension((AnyMessage("x/acme.Faster", b""),)))
    assert not [each for each in needs(hinted.hint(row_count=5)) if each.startswith("message")]
    enhanced = table("a: i64").with_extension(common=sd.AdvancedExtension(enhancement=AnyMessage("x/acme.Other", b"")))
    assert [each for each in needs(enhanced) if each.startswith("message")] == ["message x/acme.Other"]


def test_types_and_variations_of_extensions() -> None:
    point = sd.UserDefined("extension:acme:geo", "point")
    curved = sd.I64(variation=sd.TypeVariation("extension:acme:geo", "curved"))
    rows = sd.read_named("t", {"p": point, "c": curved})
    assert needs(rows)[1:] == [
        "type point of extension:acme:geo, USER_DEFINED",
        "type I64",
        "type variation curved of extension:acme:geo",
    ]


def test_variables_say_how_often_they_are_evaluated() -> None:
    rows = table("a: i64")
    plan = sd.Plan(rows.select(x=sd.current_date()), evaluation_mode="per_record")
    assert "evaluation mode PER_RECORD" in map(str, plan.requirements())
    constant = sd.Plan(rows, evaluation_mode="per_record")  # nothing in it is evaluated
    assert not [each for each in constant.requirements() if each.kind == "evaluation mode"]


def test_extended_expressions_need_things_too() -> None:
    extended = sd.ExtendedExpression({"a": "i64"}, x=lambda r: r.a + 1)
    found = [str(each) for each in extended.requirements()]
    assert f"scalar function add:i64_i64 of {ARITHMETIC}" in found
    assert not [each for each in found if each.startswith("relation")]
