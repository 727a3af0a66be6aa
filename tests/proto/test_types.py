"""Types as messages, against the fields that type.proto gives them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from substrait import type_pb2 as pb
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError
from substrait_dsl.proto.declarations import Declarations
from substrait_dsl.proto.plan import decode_plan, encode_plan
from substrait_dsl.proto.types import encode_named_struct, encode_type
from tests.proto.plans import message, table
from tests.strategies import URNS, types
from tests.support import refused

R = "nullability: NULLABILITY_REQUIRED"
N = "nullability: NULLABILITY_NULLABLE"


def encoded_type(type_: t.Type, plan: Plan | None = None) -> pb.Type:
    target = pb.Type()
    encode_type(Declarations(Plan() if plan is None else plan, 99), type_, target)
    return pb.Type.FromString(target.SerializeToString())


MESSAGES: list[tuple[t.Type, str]] = [
    (t.Boolean(), f"bool {{ {R} }}"),
    (t.I8(nullable=True), f"i8 {{ {N} }}"),
    (t.I16(), f"i16 {{ {R} }}"),
    (t.I32(), f"i32 {{ {R} }}"),
    (t.I64(nullable=True), f"i64 {{ {N} }}"),
    (t.FP32(), f"fp32 {{ {R} }}"),
    (t.FP64(), f"fp64 {{ {R} }}"),
    (t.String(), f"string {{ {R} }}"),
    (t.Binary(), f"binary {{ {R} }}"),
    (t.Date(), f"date {{ {R} }}"),
    (t.IntervalYear(), f"interval_year {{ {R} }}"),
    (t.IntervalDay(0), f"interval_day {{ precision: 0 {R} }}"),  # precision is optional, and must be there
    (t.IntervalCompound(9), f"interval_compound {{ precision: 9 {R} }}"),
    (t.UUID(), f"uuid {{ {R} }}"),
    (t.FixedChar(3), f"fixed_char {{ length: 3 {R} }}"),
    (t.VarChar(2147483647), f"varchar {{ length: 2147483647 {R} }}"),
    (t.FixedBinary(16), f"fixed_binary {{ length: 16 {R} }}"),
    (t.Decimal(15, 2, nullable=True), f"decimal {{ precision: 15 scale: 2 {N} }}"),
    (t.PrecisionTime(3), f"precision_time {{ precision: 3 {R} }}"),
    (t.PrecisionTimestamp(6), f"precision_timestamp {{ precision: 6 {R} }}"),
    (t.PrecisionTimestampTZ(12), f"precision_timestamp_tz {{ precision: 12 {R} }}"),
    (t.Struct(()), f"struct {{ {R} }}"),
    (
        t.Struct((t.I8(), t.List(t.String(nullable=True), nullable=True))),
        f"struct {{ types {{ i8 {{ {R} }} }} types {{ list {{ type {{ string {{ {N} }} }} {N} }} }} {R} }}",
    ),
    (t.Map(t.I32(), t.Date()), f"map {{ key {{ i32 {{ {R} }} }} value {{ date {{ {R} }} }} {R} }}"),
    (
        t.Func((t.I32(), t.I64()), t.Boolean(nullable=True)),
        f"func {{ parameter_types {{ i32 {{ {R} }} }} parameter_types {{ i64 {{ {R} }} }} "
        f"return_type {{ bool {{ {N} }} }} {R} }}",
    ),
    (t.Unbound(), "unbound {}"),
    (
        t.String(variation=t.TypeVariation("extension:a:b", "dict4")),
        f"string {{ type_variation_reference: 1 {R} }}",
    ),
    (
        t.UserDefined("extension:a:b", "point", (None, t.I8(), True, -7, t.EnumParameter("XY"), "text")),
        f"user_defined {{ type_reference: 1 {R} type_parameters {{ null {{}} }} "
        f"type_parameters {{ data_type {{ i8 {{ {R} }} }} }} type_parameters {{ boolean: true }} "
        'type_parameters { integer: -7 } type_parameters { enum: "XY" } type_parameters { string: "text" } }',
    ),
]
"""Types, and what type.proto writes for each."""


@pytest.mark.parametrize(("type_", "text"), MESSAGES, ids=str)
def test_every_type_has_the_message_of_type_proto(type_: t.Type, text: str) -> None:
    assert encoded_type(type_) == message(pb.Type, text)


def test_a_precision_of_zero_days_is_present() -> None:
    assert encoded_type(t.IntervalDay(0)).interval_day.HasField("precision")


def test_types_and_variations_are_declared_once_each_from_one() -> None:
    plan = Plan()
    declarations = Declarations(plan, 99)
    dict4 = t.TypeVariation("extension:a:variations", "dict4")
    kinds = [
        t.UserDefined("extension:a:shapes", "point"),
        t.UserDefined("extension:a:shapes", "line"),
        t.String(variation=dict4),
        t.UserDefined("extension:a:shapes", "point", (1,), variation=dict4),
    ]
    for type_ in kinds:
        encode_type(declarations, type_, pb.Type())
    assert plan == message(
        Plan,
        """
        extension_urns { extension_urn_anchor: 1 urn: "extension:a:shapes" }
        extension_urns { extension_urn_anchor: 2 urn: "extension:a:variations" }
        extensions { extension_type { extension_urn_reference: 1 type_anchor: 1 name: "point" } }
        extensions { extension_type { extension_urn_reference: 1 type_anchor: 2 name: "line" } }
        extensions {
          extension_type_variation { extension_urn_reference: 2 type_variation_anchor: 1 name: "dict4" }
        }
        """,
    )


def test_a_schema_lists_names_depth_first_with_map_keys_before_values() -> None:
    # the example of `NamedStruct` in type.proto, with a map of structs added
    schema = NamedStruct.of(
        {
            "a": t.List(t.Struct.of({"b": t.String(), "c": t.I64()})),
            "d": t.I8(nullable=True),
            "e": t.Map(t.Struct.of({"f": t.I8()}), t.Struct.of({"g": t.I8()})),
        }
    )
    target = pb.NamedStruct()
    encode_named_struct(Declarations(Plan(), 99), schema, target)
    assert list(target.names) == ["a", "b", "c", "d", "e", "f", "g"]
    assert target.struct.nullability == pb.Type.NULLABILITY_REQUIRED
    assert [kind.WhichOneof("kind") for kind in target.struct.types] == ["list", "i8", "map"]


# --- a reader of types, written from type.proto alone: a field, the class, and the names of its numbers

READERS: dict[str, tuple[type[t.Type], tuple[str, ...]]] = {
    "bool": (t.Boolean, ()),
    "i8": (t.I8, ()),
    "i16": (t.I16, ()),
    "i32": (t.I32, ()),
    "i64": (t.I64, ()),
    "fp32": (t.FP32, ()),
    "fp64": (t.FP64, ()),
    "string": (t.String, ()),
    "binary": (t.Binary, ()),
    "date": (t.Date, ()),
    "interval_year": (t.IntervalYear, ()),
    "uuid": (t.UUID, ()),
    "interval_day": (t.IntervalDay, ("precision",)),
    "interval_compound": (t.IntervalCompound, ("precision",)),
    "precision_time": (t.PrecisionTime, ("precision",)),
    "precision_timestamp": (t.PrecisionTimestamp, ("precision",)),
    "precision_timestamp_tz": (t.PrecisionTimestampTZ, ("precision",)),
    "fixed_char": (t.FixedChar, ("length",)),
    "varchar": (t.VarChar, ("length",)),
    "fixed_binary": (t.FixedBinary, ("length",)),
    "decimal": (t.Decimal, ("precision", "scale")),
}


def read_type(source: pb.Type, plan: Plan) -> t.Type:
    field = source.WhichOneof("kind")
    assert field is not None
    body: Any = getattr(source, field)
    if field == "unbound":
        return t.Unbound()
    common: dict[str, Any] = {"nullable": body.nullability == pb.Type.NULLABILITY_NULLABLE}
    if field != "func" and body.type_variation_reference:
        common["variation"] = t.TypeVariation(*_declared(plan, "type_variation", body.type_variation_reference))
    if field in READERS:
        kind, numbers = READERS[field]
        return kind(*(getattr(body, number) for number in numbers), **common)
    match field:
        case "struct":
            return t.Struct(tuple(read_type(inner, plan) for inner in body.types), **common)
        case "list":
            return t.List(read_type(body.type, plan), **common)
        case "map":
            return t.Map(read_type(body.key, plan), read_type(body.value, plan), **common)
        case "func":
            inputs = tuple(read_type(inner, plan) for inner in body.parameter_types)
            return t.Func(inputs, read_type(body.return_type, plan), **common)
    parameters = tuple(_parameter(parameter, plan) for parameter in body.type_parameters)
    return t.UserDefined(*_declared(plan, "type", body.type_reference), parameters, **common)


def _declared(plan: Plan, what: str, anchor: int) -> tuple[str, str]:
    urns = {urn.extension_urn_anchor: urn.urn for urn in plan.extension_urns}
    for extension in plan.extensions:
        if extension.WhichOneof("mapping_type") == f"extension_{what}":
            declaration = getattr(extension, f"extension_{what}")
            if getattr(declaration, f"{what}_anchor") == anchor:
                return urns[declaration.extension_urn_reference], declaration.name
    raise AssertionError(f"no {what} {anchor}")


def _parameter(source: pb.Type.Parameter, plan: Plan) -> Any:
    match source.WhichOneof("parameter"):
        case "null":
            return None
        case "data_type":
            return read_type(source.data_type, plan)
        case "enum":
            return t.EnumParameter(source.enum)
        case field:
            return getattr(source, str(field))


@given(types())
def test_any_type_can_be_read_back(type_: t.Type) -> None:
    plan = Plan()
    assert read_type(encoded_type(type_, plan), plan) == type_
    assert {urn.urn for urn in plan.extension_urns} <= set(URNS.values())


# --- aliases


def with_aliases(*kinds: t.Type) -> AlgebraPlan:
    return AlgebraPlan((Root.of(table("t", a=POINTS, b=t.List(POINTS, nullable=True))),), type_aliases=kinds)


POINT = t.UserDefined("extension:a:b", "point", (3,))
POINTS = t.Struct((t.I64(), t.List(POINT), t.I64(nullable=True)))


def test_a_type_that_has_an_alias_is_written_by_its_number() -> None:
    plan = encode_plan(with_aliases(t.I64(nullable=True), POINTS, t.List(POINTS)))
    point = f"user_defined {{ type_reference: 1 type_parameters {{ integer: 3 }} {R} }}"
    assert (
        plan.type_aliases
        == message(
            Plan,
            f"""
        type_aliases {{ type_alias_anchor: 1 type {{ i64 {{ {R} }} }} }}
        type_aliases {{ type_alias_anchor: 2 type {{ struct {{ {R}
          types {{ alias {{ type_alias_reference: 1 {R} }} }}
          types {{ list {{ {R} type {{ {point} }} }} }}
          types {{ alias {{ type_alias_reference: 1 {N} }} }}
        }} }} }}
        type_aliases {{ type_alias_anchor: 3 type {{ list {{ {R}
          type {{ alias {{ type_alias_reference: 2 {R} }} }}
        }} }} }}
        """,
        ).type_aliases
    )
    assert plan.relations[0].root.input.read.base_schema.struct == message(
        pb.Type.Struct,
        f"""
        types {{ alias {{ type_alias_reference: 2 {R} }} }} types {{ alias {{ type_alias_reference: 3 {N} }} }} {R}
        """,
    )


@given(types(), types())
def test_types_come_back_by_their_aliases(type_: t.Type, other: t.Type) -> None:
    aliases = dict.fromkeys(each.as_required() for each in (t.List(type_), type_, t.I64()))
    aliases.pop(t.Unbound(), None)
    rel = table("t", a=type_, b=other, c=t.Struct((other, type_)))
    plan = AlgebraPlan((Root.of(rel),), type_aliases=tuple(aliases))
    data = encode_plan(plan).SerializeToString()
    got, _ = decode_plan(Plan.FromString(data), strict=True)
    assert got == plan
    assert got.roots[0].input.schema == rel.schema
    assert encode_plan(got).SerializeToString() == data


def test_aliases_are_of_different_concrete_types() -> None:
    assert with_aliases(t.I64(nullable=True)) == with_aliases(t.I64()) != with_aliases()
    with refused(InvalidArgumentError, "i64 has two aliases"):
        with_aliases(t.I64(nullable=True), POINT, t.I64())
    with refused(InvalidArgumentError, "concrete type"):
        with_aliases(t.Unbound())


def test_an_alias_is_not_too_deep() -> None:
    """It stands in Plan and TypeAlias, and parsers read 100 messages inside each other."""

    def nested(levels: int, *, user_defined: bool) -> AlgebraPlan:
        type_: t.Type = t.I8()
        for _ in range(levels):
            type_ = t.UserDefined("extension:a:b", "box", (type_,)) if user_defined else t.List(type_)
        return with_aliases(type_)

    for levels, user_defined in ((44, False), (31, True)):
        plan = nested(levels, user_defined=user_defined)
        assert decode_plan(Plan.FromString(encode_plan(plan).SerializeToString()), strict=True)[0] == plan
        with refused(UnsupportedError, "too deeply"):
            encode_plan(nested(levels + 1, user_defined=user_defined))
