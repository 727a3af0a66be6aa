"""Types and values as deep as there may be, and deeper: what makes a deeper one refuses it, by name.

The limit is one of this library's own (`MAX_LEVELS`); what is deeper than a schema in a plan may be, is in no message.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import pyarrow as pa
import pytest
from pyspark.sql import types as spark_types
from substrait import algebra_pb2 as pb

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import natural_type
from substrait_dsl.algebra.types import MAX_LEVELS
from substrait_dsl.errors import InvalidArgumentError, LiteralError, PlanFormatError, UnsupportedError
from substrait_dsl.spark.expressions.types import from_spark, type_to_spark
from tests.support import f, refused, table

FAR = 3000
"""So deep that nothing which recurses comes to the end."""

WRAP: dict[str, Callable[[t.Type], t.Type]] = {
    "struct": lambda inner: t.Struct((inner,)),
    "struct with names": lambda inner: t.Struct((t.I8(), inner), ("a", "b")),
    "list": lambda inner: t.List(inner, nullable=True),
    "map": lambda inner: t.Map(t.String(), inner),
    "map of keys": lambda inner: t.Map(inner, t.I8()),
    "func": lambda inner: t.Func((t.I64(),), inner),
    "func of parameters": lambda inner: t.Func((t.I8(), inner), t.I64()),
    "user-defined": lambda inner: t.UserDefined("extension:a:b", "u", (1, inner)),
}


def nested(wrap: Callable[[Any], Any], levels: int, innermost: Any = None) -> Any:
    """Something in so many others."""
    made = t.I64() if innermost is None else innermost
    for _ in range(levels):
        made = wrap(made)
    return made


@pytest.mark.parametrize("name", WRAP)
def test_a_type_has_so_many_levels_and_no_more(name: str) -> None:
    kind = nested(WRAP[name], MAX_LEVELS - 1)
    assert kind.levels == MAX_LEVELS
    assert kind.with_nullability(not kind.nullable).levels == MAX_LEVELS
    word = name.split()[0]
    expected = f"a {'user-defined type' if word == 'user-defined' else word} would be nested too deeply"
    with refused(InvalidArgumentError, expected, f"with {MAX_LEVELS + 1} types: {MAX_LEVELS} types inside each other"):
        WRAP[name](kind)
    for levels in (MAX_LEVELS, FAR):
        with refused(InvalidArgumentError, "are the most"):
            nested(WRAP[name], levels)


@pytest.mark.parametrize("name", WRAP)
def test_what_is_as_deep_as_may_be_is_a_type_like_any_other(name: str) -> None:
    kind, other = (nested(WRAP[name], MAX_LEVELS - 1) for _ in range(2))
    assert kind == other
    assert hash(kind) == hash(other)
    assert str(kind) == str(other)
    assert len(repr(kind)) > MAX_LEVELS
    assert pickle.loads(pickle.dumps(kind)) == kind
    relation = sd.read_named("t", {"a": kind})
    plan = sd.Plan(relation.filter(lambda r: r.a.is_not_null()), relation)
    assert str(plan)
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert sd.lit(None, kind.as_nullable()) is not None
    with refused(UnsupportedError, "nests too deeply"):
        plan.to_bytes()


def test_the_levels_of_a_type_are_those_of_its_deepest_part() -> None:
    low, deep = nested(t.List, 3), nested(t.List, 7)
    assert t.I64().levels == 1
    assert t.Decimal(5, 2).levels == 1
    assert t.Struct(()).levels == 2 - 1
    assert (low.levels, deep.levels) == (4, 8)
    for type_ in (
        t.Struct((deep, low)),
        t.Map(low, deep),
        t.Map(deep, low),
        t.Func((deep,), low),
        t.Func((low,), deep),
        t.UserDefined("extension:a:b", "u", ("x", low, deep, None)),
    ):
        assert type_.levels == 9
    assert attrs.evolve(t.Map(low, deep), value=low).levels == 5
    shared = nested(lambda inner: t.Struct((inner, inner)), 40)  # 2 ** 40 types, written out
    assert shared.levels == 41


MAKE: dict[str, Callable[[Any], object]] = {
    "": lambda value: sd.lit(value),
    "coalesce: ": lambda value: f.coalesce(value, value),
    "filter: ": lambda value: table("a: i64").filter(lambda r: r.a == value),
    'select, column "x": ': lambda value: table("a: i64").select(
        x=lambda r: sd.when(r.a > 1).then(value).otherwise(value)
    ),
}
"""Calls that find the type of a value, by what their errors begin with."""

VALUES: dict[str, Callable[[Any], Any]] = {
    "list": lambda value: [value],
    "tuple": lambda value: (value,),
    "dict": lambda value: {"k": value},
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_has_so_many_levels_and_no_more(name: str) -> None:
    value = nested(VALUES[name], MAX_LEVELS - 1, 1)
    type_ = natural_type(value)
    assert type_.levels == MAX_LEVELS
    assert str(sd.lit(value))
    relation = sd.read_virtual([(value,)], {"a": type_})
    assert str(relation)
    assert pickle.loads(pickle.dumps(relation.to_plan())) == relation.to_plan()
    for levels in (MAX_LEVELS, FAR):
        deeper = nested(VALUES[name], levels, 1)
        for verb, make in MAKE.items():
            with refused(InvalidArgumentError, verb, "nested too deeply: 128 types inside each other are the"):
                make(deeper)
        with refused(LiteralError, "read_virtual: row 0"):
            sd.read_virtual([(deeper,)], {"a": type_})


@pytest.mark.parametrize("text", ["list<{}>", "struct<{}>", "map<i64, {}>", "func<i64 -> {}>", "nstruct<a: {}>"])
def test_a_text_of_a_type(text: str) -> None:
    before, after = text.split("{}")
    assert sd.parse_type(before * (MAX_LEVELS - 1) + "i8" + after * (MAX_LEVELS - 1)).levels == MAX_LEVELS
    for levels in (MAX_LEVELS, FAR):
        deeper = before * levels + "i8" + after * levels
        with refused(PlanFormatError, "deep"):
            sd.parse_type(deeper)
        with refused(PlanFormatError, 'read_named, column "a"', "deep"):
            sd.read_named("t", {"a": deeper})


@pytest.mark.parametrize("verb", ["struct_of", "list_of", "map_of"])
def test_an_expression_of_a_type(verb: str) -> None:
    make: dict[str, Callable[[Any], Any]] = {
        "struct_of": lambda value: sd.struct_of(a=value),
        "list_of": lambda value: sd.list_of(value),
        "map_of": lambda value: sd.map_of({1: value}),
    }
    relation: Any = table("a: i64")
    deep = relation.select(x=lambda r: nested(make[verb], MAX_LEVELS - 1, r.a))
    assert next(iter(deep.schema)).type.levels == MAX_LEVELS
    read = sd.Plan.from_bytes(deep.to_plan().to_bytes())
    assert read == deep.to_plan()
    with refused(InvalidArgumentError, f"{verb}: a ", "would be nested too deeply"):
        relation.select(x=lambda r: nested(make[verb], FAR, r.a))
    with refused(InvalidArgumentError, f"{verb}: a ", "would be nested too deeply"):
        deep.select(x=lambda r: make[verb](r.x))


def test_a_plan_whose_expressions_make_a_deeper_type() -> None:
    """No message of it is deep: each expression refers to the one before, apart."""
    message = table("a: i64").select(x=lambda r: nested(lambda value: sd.list_of(value), 60, r.a)).to_plan().to_proto()
    tree = message.relations[0]
    for levels in (20, FAR):
        for _ in range(levels):
            before = len(tree.detached_expressions) - 1
            tree.detached_expressions.add().nested.list.values.add().detached_expression_ordinal = before
        (value,) = tree.root.input.project.expressions
        value.CopyFrom(pb.Expression(detached_expression_ordinal=len(tree.detached_expressions) - 1))
        if levels == 20:
            assert sd.Plan.from_bytes(message.SerializeToString()) is not None
    with refused(PlanFormatError, "from_bytes: a list would be nested too deeply", "detached_expressions["):
        sd.Plan.from_bytes(message.SerializeToString())


def test_messages_that_are_too_deep_for_parsers() -> None:
    plan = sd.read_named("t", {"a": "list<i64>"}).to_plan()
    for levels in (MAX_LEVELS, FAR):
        written = json.loads(plan.to_json())
        read = written["relations"][0]["root"]["input"]["read"]
        text = json.dumps(written).replace(
            json.dumps(read["baseSchema"]["struct"]["types"][0]),
            '{"list": {"nullability": "NULLABILITY_REQUIRED", "type": ' * levels
            + '{"i64": {"nullability": "NULLABILITY_REQUIRED"}}'
            + "}}" * levels,
        )
        with refused(PlanFormatError, "from_json", "deep"):
            sd.Plan.from_json(text)
        inner = b""
        for _ in range(levels):  # Type.list and List.type, each with its length
            inner = _field(27, _field(1, inner))
        schema = _field(1, b"a") + _field(2, _field(1, inner))
        rel = _field(1, _field(2, schema))
        with refused(PlanFormatError, "from_bytes"):
            sd.Plan.from_bytes(_field(3, _field(2, _field(1, rel) + _field(2, b"a"))))


def _field(number: int, data: bytes) -> bytes:
    """A field of a message that holds a message or a text, as protobuf writes it."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])


def test_types_of_others() -> None:
    """Of Arrow and of Spark: as deep as there may be they become types, and deeper ones are refused."""
    kind = nested(lambda inner: pa.list_(pa.field("item", inner, nullable=False)), MAX_LEVELS - 1, pa.int64())
    assert next(iter(sd.read_named("t", pa.schema([("a", kind)])).schema)).type.levels == MAX_LEVELS
    for levels in (MAX_LEVELS, FAR):
        with refused(UnsupportedError, "nested too deeply"):
            sd.read_named("t", pa.schema([("a", nested(pa.list_, levels, pa.int64()))]))
    deep = type_to_spark(nested(t.List, MAX_LEVELS - 1))
    schema = spark_types.StructType([spark_types.StructField("a", deep)])
    assert from_spark(schema).types[0].levels == MAX_LEVELS
    for levels in (MAX_LEVELS, 400):  # pyspark itself has no schema that is much deeper
        kind = nested(spark_types.ArrayType, levels, spark_types.LongType())
        with refused(UnsupportedError, "nested too deeply"):
            from_spark(spark_types.StructType([spark_types.StructField("a", kind)]))
