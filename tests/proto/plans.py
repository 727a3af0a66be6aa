"""Small plans to encode, and messages written as text to compare them with."""

from __future__ import annotations

from typing import TypeVar

from google.protobuf import text_format
from google.protobuf.message import Message
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.settings import OuterReferences
from substrait_dsl.proto.plan import encode_plan

ARITHMETIC = "extension:io.substrait:functions_arithmetic"
BOOLEAN = "extension:io.substrait:functions_boolean"
COMPARISON = "extension:io.substrait:functions_comparison"
GENERIC = "extension:io.substrait:functions_aggregate_generic"

M = TypeVar("M", bound=Message)


def table(name: str, **columns: t.Type) -> r.Read:
    return r.Read(NamedStruct.of(columns), r.NamedTable((name,)))


T = table("t", a=t.I64(), b=t.I64(nullable=True), s=t.String())


def col(rel: r.Rel, position: int) -> ex.FieldReference:
    return ex.FieldReference(position, rel.schema.fields[position].type)


def outer(anchor: int, position: int, type_: t.Type) -> ex.FieldReference:
    return ex.FieldReference(position, type_, ex.OuterReference(anchor))


def i64(value: int | None) -> ex.Literal:
    return literal(value, t.I64(nullable=value is None))


def call(name: str, *arguments: ex.Argument, type_: t.Type | None = None, urn: str = COMPARISON) -> ex.ScalarFunction:
    return ex.ScalarFunction(ex.FunctionId(urn, name), arguments, type_ or t.Boolean())


def equal(left: ex.Expression, right: ex.Expression) -> ex.ScalarFunction:
    return call("equal:any_any", left, right, type_=t.Boolean(nullable=left.type.nullable or right.type.nullable))


def gt(left: ex.Expression, right: ex.Expression) -> ex.ScalarFunction:
    return call("gt:any_any", left, right, type_=t.Boolean(nullable=left.type.nullable or right.type.nullable))


def add(left: ex.Expression, right: ex.Expression) -> ex.ScalarFunction:
    type_ = t.I64(nullable=left.type.nullable or right.type.nullable)
    return call("add:i64_i64", left, right, type_=type_, urn=ARITHMETIC)


def total(argument: ex.Expression) -> ex.AggregateFunction:
    return ex.AggregateFunction(ex.FunctionId(ARITHMETIC, "sum:i64"), (argument,), t.I64(nullable=True))


def count_rows() -> ex.AggregateFunction:
    return ex.AggregateFunction(ex.FunctionId(GENERIC, "count:"), (), t.I64())


def plan_of(*rels: r.Rel) -> AlgebraPlan:
    return AlgebraPlan(tuple(Root.of(rel) for rel in rels))


def encoded(rel: r.Rel, outer_references: OuterReferences = "rel_reference") -> Plan:
    return encode_plan(plan_of(rel), outer_references=outer_references)


def encoded_relation(rel: r.Rel) -> pb.Rel:
    """The relation as a message; what is read from bytes is what counts."""
    return Plan.FromString(encoded(rel).SerializeToString()).relations[-1].root.input


def encoded_expression(expression: ex.Expression) -> pb.Expression:
    """The expression as a message, from a project over `T`."""
    return encoded_relation(r.Project(T, (expression,), ("x",))).project.expressions[0]


def field(position: int) -> str:
    """A reference to a column, as the text of a ``FieldReference``."""
    return f"direct_reference {{ struct_field {{ field: {position} }} }} root_reference {{}}"


def selection(position: int) -> str:
    """A reference to a column, as the text of an expression."""
    return f"selection {{ {field(position)} }}"


def message(kind: type[M], text: str) -> M:
    """The message that a text says, in protobuf's text form."""
    return text_format.Parse(text, kind())


def nesting(root: Message) -> int:
    """How many levels below a message its deepest message stands."""
    deepest = 0
    stack: list[tuple[Message, int]] = [(root, 0)]
    while stack:
        current, level = stack.pop()
        deepest = max(deepest, level)
        for field, value in current.ListFields():
            if field.message_type is not None:
                stack.extend((child, level + 1) for child in (value if field.is_repeated else [value]))
    return deepest


def bare(rel: r.Rel) -> Message:
    """The message of a relation's kind without its inputs, which have to stand where they belong."""
    sent = encoded_relation(rel)
    kind = sent.WhichOneof("rel_type")
    assert kind is not None
    body: Message = getattr(sent, kind)
    fields = ("input",) if len(rel.inputs) == 1 else ("left", "right")
    for field, child in zip(fields, rel.inputs, strict=False):
        assert getattr(body, field) == encoded_relation(child)
        body.ClearField(field)
    return body
