"""Types and schemas read from messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from substrait import type_pb2 as pb
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError, SchemaError, UnsupportedError
from substrait_dsl.proto.declarations import Declarations
from substrait_dsl.proto.producers import DATAFUSION
from substrait_dsl.proto.types import (
    TYPE_FIELDS,
    decode_named_struct,
    decode_type,
    encode_named_struct,
    encode_type,
)
from tests.proto.decoders import decoder_of
from tests.proto.plans import message
from tests.proto.test_types import MESSAGES, N, R
from tests.strategies import types
from tests.support import refused

DECLARED = """
    extension_urns { extension_urn_anchor: 7 urn: "extension:a:b" }
    extensions { extension_type { extension_urn_reference: 7 type_anchor: 1 name: "point" } }
    extensions { extension_type_variation { extension_urn_reference: 7 type_variation_anchor: 1 name: "dict4" } }
    type_aliases {
      type_alias_anchor: 4
      type { list { type { alias { type_alias_reference: 9 nullability: NULLABILITY_NULLABLE } }
             nullability: NULLABILITY_REQUIRED } }
    }
    type_aliases {
      type_alias_anchor: 9
      type { varchar { length: 3 type_variation_reference: 1 nullability: NULLABILITY_REQUIRED } }
    }
"""


def read(text: str, declared: str = DECLARED) -> t.Type:
    return decode_type(decoder_of(message(Plan, declared)), message(pb.Type, text))


@pytest.mark.parametrize(("type_", "text"), MESSAGES, ids=str)
def test_every_message_of_type_proto_is_its_type(type_: t.Type, text: str) -> None:
    assert read(text) == type_


@given(types())
def test_any_type_is_read_as_it_was_written(type_: t.Type) -> None:
    plan, sent = Plan(), pb.Type()
    encode_type(Declarations(plan, 99), type_, sent)
    decoder = decoder_of(Plan.FromString(plan.SerializeToString()))
    assert decode_type(decoder, pb.Type.FromString(sent.SerializeToString())) == type_
    assert not len(decoder.reports)


def test_every_kind_of_type_is_read() -> None:
    fields = {field.name for field in pb.Type.DESCRIPTOR.oneofs_by_name["kind"].fields}
    assert fields == {*TYPE_FIELDS.values(), "alias"}


def test_an_alias_is_the_type_it_stands_for_with_the_nullability_of_the_place() -> None:
    short = t.VarChar(3, variation=t.TypeVariation("extension:a:b", "dict4"))
    assert read("alias { type_alias_reference: 9 nullability: NULLABILITY_REQUIRED }") == short
    assert read("alias { type_alias_reference: 4 nullability: NULLABILITY_NULLABLE }") == t.List(
        short.as_nullable(), nullable=True
    )


@pytest.mark.parametrize(
    ("text", "type_", "told"),
    [
        ("i64 {}", t.I64(nullable=True), "neither NULLABLE nor REQUIRED"),
        (f"interval_day {{ {R} }}", t.IntervalDay(6), "no precision"),
        (f"list {{ type {{ i8 {{}} }} {R} }}", t.List(t.I8(nullable=True)), "neither NULLABLE nor REQUIRED"),
    ],
)
def test_what_older_producers_leave_out_is_read_with_a_finding(text: str, type_: t.Type, told: str) -> None:
    decoder = decoder_of()
    assert decode_type(decoder, message(pb.Type, text)) == type_
    (report,) = decoder.reports
    assert told in report.text


@pytest.mark.parametrize(
    ("text", "type_", "said"),
    [
        (f"string {{ type_variation_reference: 2 {R} }}", t.String(), ("variation 2, of string", "View", "for string")),
        (f"i64 {{ type_variation_reference: 1 {R} }}", t.I64(), ("variation 1, of i64", "unsigned", "for i64 itself")),
        (f"fp64 {{ type_variation_reference: 9 {R} }}", t.FP64(), ("variation 9, of fp64: taken for fp64 itself",)),
    ],
)
def test_a_variation_that_is_not_declared_is_left_out_and_told_once(text: str, type_: t.Type, said: tuple[str]) -> None:
    decoder = decoder_of(message(Plan, ""))
    decoder.producer = DATAFUSION
    read = decode_type(decoder, message(pb.Type, f"struct {{ types {{ {text} }} types {{ {text} }} {R} }}"))
    assert read == t.Struct((type_, type_))
    (report,) = decoder.reports
    assert all(part in report.text for part in said)


MONEY = """%YAML 1.2
---
urn: extension:com.acme:money
types:
  - name: money
    parameters:
      - {name: digits, type: integer, min: 1, max: 9}
      - {name: currency, type: enumeration, options: [EUR, USD], optional: true}
"""


@pytest.mark.parametrize(
    ("name", "parameters", "problem"),
    [
        ("money", "type_parameters { integer: 2 }", ""),
        ("money", 'type_parameters { integer: 9 } type_parameters { enum: "EUR" }', ""),
        ("money", "type_parameters { integer: 2 } type_parameters { null {} }", ""),
        (
            "moneyx",
            "type_parameters { integer: 2 }",
            '"extension:com.acme:money" has no type "moneyx" (did you mean "money"?)',
        ),
        ("money", "", "has 0 parameters; the type takes 1 to 2"),
        ("money", "type_parameters { integer: 2 } " * 3, "has 3 parameters"),
        ("money", "type_parameters { integer: 10 }", "parameter digits of u!money<10> is at most 9, got 10"),
        ("money", "type_parameters { integer: 0 }", "is at least 1, got 0"),
        ("money", "type_parameters { boolean: true }", "parameter digits of u!money<true> is of the kind integer"),
        ("money", "type_parameters { null {} }", "is null, but the type needs it"),
        ("money", 'type_parameters { integer: 2 } type_parameters { enum: "GBP" }', 'is one of "EUR", "USD", got'),
        ("money", 'type_parameters { integer: 2 } type_parameters { string: "EUR" }', "is of the kind enumeration"),
    ],
)
def test_user_defined_types_of_known_extensions_are_checked(name: str, parameters: str, problem: str) -> None:
    plan = message(
        Plan,
        f"""extension_urns {{ extension_urn_anchor: 1 urn: "extension:com.acme:money" }}
        extensions {{ extension_type {{ extension_urn_reference: 1 type_anchor: 1 name: "{name}" }} }}
        version {{ minor_number: 99 }} execution_behavior {{ variable_eval_mode: VARIABLE_EVALUATION_MODE_PER_PLAN }}
        relations {{ root {{ names: "m" input {{ read {{ named_table {{ names: "t" }} base_schema {{ names: "m"
          struct {{ {R} types {{ user_defined {{ type_reference: 1 {parameters} {R} }} }} }} }} }} }} }} }}""",
    )
    catalog = sd.standard_catalog().with_extension(MONEY)
    found = sd.Plan.from_proto(plan, catalog=catalog).findings
    assert [problem in finding.message for finding in found] == ([True] if problem else [])
    assert sd.Plan.from_proto(plan).findings == ()  # an extension that is not known may declare anything
    if problem:
        with refused(PlanFormatError, problem):
            sd.Plan.from_proto(plan, catalog=catalog, strict=True)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("", PlanFormatError, "does not set its kind"),
        (f"list {{ {R} }}", PlanFormatError, "does not set its kind"),
        ("i64 { nullability: 7 }", PlanFormatError, "no nullability with the number 7"),
        (f"decimal {{ precision: 39 scale: 2 {R} }}", InvalidArgumentError, "1 to 38"),
        (f"decimal {{ precision: 3 scale: 4 {R} }}", InvalidArgumentError, "must not exceed its precision"),
        (f"varchar {{ {R} }}", InvalidArgumentError, "length of VarChar"),
        (f"precision_time {{ precision: 13 {R} }}", InvalidArgumentError, "0 to 12"),
        (f"user_defined {{ type_reference: 2 {R} }}", PlanFormatError, "type 2, which it does not declare"),
        (f"alias {{ type_alias_reference: 2 {R} }}", PlanFormatError, "type alias 2, which it does not declare"),
        (f"user_defined {{ type_reference: 1 type_parameters {{}} {R} }}", PlanFormatError, "has no value"),
    ],
)
def test_what_is_no_type_is_refused(text: str, error: type[sd.SubstraitDslError], said: str) -> None:
    with refused(error, said):
        read(text)


def test_a_refused_type_is_remembered_by_the_message_furthest_in() -> None:
    kind = message(pb.Type, f"map {{ key {{ i8 {{ {R} }} }} value {{ list {{ type {{}} {R} }} }} {R} }}")
    decoder = decoder_of()
    with refused(PlanFormatError, "does not set its kind"):
        decode_type(decoder, kind)
    assert decoder.error_source is kind.map.value.list.type


# --- type aliases


def aliases(*types: str) -> str:
    return " ".join(
        f"type_aliases {{ type_alias_anchor: {number} type {{ {kind} }} }}" for number, kind in enumerate(types)
    )


def alias(number: int) -> str:
    return f"alias {{ type_alias_reference: {number} {R} }}"


def listed(number: int) -> str:
    return f"list {{ type {{ {alias(number)} }} {R} }}"


def test_aliases_in_a_circle_are_refused() -> None:
    with refused(PlanFormatError, "in a circle"):
        read(alias(0), aliases(listed(1), listed(0)))


def test_aliases_that_double_each_time_are_refused() -> None:
    pairs = [f"struct {{ types {{ {alias(n)} }} types {{ {alias(n)} }} {R} }}" for n in range(40)]
    with refused(UnsupportedError, "too large"):
        read(alias(40), aliases(f"i8 {{ {R} }}", *pairs))


def test_a_chain_of_thousands_of_aliases_is_refused() -> None:
    # the last one first, so that each is made of one that comes later
    chain = [*(listed(number + 1) for number in range(3000)), f"i8 {{ {R} }}"]
    with refused(UnsupportedError, "nested too deeply"):
        read(alias(0), aliases(*chain))


def test_an_alias_declared_twice_must_stand_for_the_same() -> None:
    one = f"type_aliases {{ type_alias_anchor: 3 type {{ i8 {{ {R} }} }} }}"
    assert read(alias(3), one + one) == t.I8()
    with refused(PlanFormatError, "type alias 3 twice"):
        read(alias(3), one + one.replace("i8", "i16"))


def test_an_alias_stands_for_a_concrete_type() -> None:
    with refused(PlanFormatError, "concrete type"):
        read(alias(0), aliases("unbound {}"))
    decoder = decoder_of(message(Plan, aliases(f"i8 {{ {R} }}", alias(0))))
    assert decoder.alias(1) == t.I8()
    assert [report.text for report in decoder.reports] == [
        "a type alias is just another alias; read as what that stands for"
    ]


# --- schemas

NESTED = NamedStruct.of(
    {
        "a": t.List(t.Struct.of({"b": t.String(), "c": t.I64()})),
        "d": t.I8(nullable=True),
        "e": t.Map(t.Struct.of({"f": t.I8()}), t.Struct.of({"g": t.I8(), "h": t.Struct(())})),
    }
)


def test_the_names_of_a_schema_go_to_the_structs_inside_depth_first() -> None:
    sent = pb.NamedStruct()
    encode_named_struct(Declarations(Plan(), 99), NESTED, sent)
    assert list(sent.names) == ["a", "b", "c", "d", "e", "f", "g", "h"]
    read = decode_named_struct(decoder_of(), sent)
    assert read == NESTED
    assert read.depth_first_names() == NESTED.depth_first_names()  # names of structs are no part of their types


@pytest.mark.parametrize("names", [1, 3])
def test_a_schema_with_too_few_or_too_many_names_is_refused(names: int) -> None:
    said = 'names: "x" ' * names
    sent = message(pb.NamedStruct, f"{said} struct {{ {R} types {{ struct {{ {R} types {{ i8 {{ {R} }} }} }} }} }}")
    with refused(SchemaError, f"{names} names", "2 fields"):
        decode_named_struct(decoder_of(), sent)


@pytest.mark.parametrize("nullability", ["", N])
def test_the_struct_of_a_schema_counts_as_required(nullability: str) -> None:
    decoder = decoder_of()
    sent = message(pb.NamedStruct, f'names: "x" struct {{ {nullability} types {{ i8 {{ {R} }} }} }}')
    assert decode_named_struct(decoder, sent) == NamedStruct.of({"x": t.I8()})
    assert [report.text for report in decoder.reports] == ["the struct of a schema is not REQUIRED: read as required"]


def test_a_schema_is_a_message_by_itself() -> None:
    schema = sd.read_named("t", {"x": t.I8(), "s": t.Struct.of({"y": t.Date(nullable=True)})}).schema
    assert schema.to_proto() == message(
        pb.NamedStruct,
        f'names: "x" names: "s" names: "y" struct {{ {R} types {{ i8 {{ {R} }} }} '
        f"types {{ struct {{ {R} types {{ date {{ {N} }} }} }} }} }}",
    )


def test_a_schema_by_itself_declares_nothing_and_is_not_too_deep() -> None:
    point = t.UserDefined("extension:a:b", "point")
    with refused(UnsupportedError, "of an extension"):
        sd.RelationSchema(NamedStruct.of({"x": point})).to_proto()
    type_: t.Type = t.I8()
    for _ in range(45):
        type_ = t.List(type_)
    data = sd.RelationSchema(NamedStruct.of({"x": type_})).to_proto().SerializeToString()
    assert pb.NamedStruct.FromString(data).names == ["x"]
    with refused(UnsupportedError, "too deeply"):
        sd.RelationSchema(NamedStruct.of({"x": t.List(type_)})).to_proto()
