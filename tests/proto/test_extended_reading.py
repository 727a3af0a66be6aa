"""Extended expressions that others write: what is refused and where, and those of other versions."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from google.protobuf import json_format, text_format
from substrait.extended_expression_pb2 import ExtendedExpression as Message

import substrait_dsl as sd
from substrait_dsl.algebra.extended import ExpressionReference, ExtendedExpression
from substrait_dsl.errors import (
    PlanFormatError,
    SchemaError,
)
from substrait_dsl.proto.extended import (
    decode_extended_expression,
    encode_extended_expression,
)
from substrait_dsl.proto.legacy_schema import old_class
from tests.proto.extended import BASE, EXISTS, a, extended, p
from tests.proto.plans import COMPARISON, gt, i64
from tests.support import refused

# --- what is refused, and where


def changed(text: str = "", *cleared: str, of: ExtendedExpression | None = None) -> Message:
    """A message that says this in addition, without some of its fields."""
    sent = encode_extended_expression(extended(gt(a, i64(1))) if of is None else of)
    for field in cleared:
        sent.ClearField(field)  # type: ignore[arg-type]  # any field of the message
    return Message.FromString(text_format.Merge(text, sent).SerializeToString())


COLUMN = "expression { selection { root_reference {} direct_reference { struct_field { field: %d } } } }"
OUTER = """expression { subquery { set_predicate { predicate_op: PREDICATE_OP_EXISTS tuples { filter {
  input { %s } condition { selection {
    direct_reference { struct_field {} } outer_reference { %s } } } } } } } } output_names: "x" """
READ = 'read { base_schema { struct { nullability: NULLABILITY_REQUIRED } } named_table { names: "t" } }'
WITHIN = "referred_expr[1].expression.subquery.set_predicate.tuples.filter"


@pytest.mark.parametrize(
    ("sent", "said", "path"),
    [
        (changed("", "referred_expr"), "has no expressions", ""),
        (changed("referred_expr {}"), "expression or measure", "referred_expr[1]"),
        (changed("referred_expr { expression {} }"), "an expression is missing", "referred_expr[1].expression"),
        (changed(f"referred_expr {{ {COLUMN % 3} }}"), "no column 3", "referred_expr[1].expression"),
        (changed(f"referred_expr {{ {COLUMN % 0} }}"), "0 names, but its column has 1 fields", "referred_expr[1]"),
        (changed(f'referred_expr {{ {COLUMN % 2} output_names: "p" }}'), "1 names, but its", "referred_expr[1]"),
        (changed("referred_expr { measure {} }"), "function 0", "referred_expr[1].measure"),
        (changed('base_schema { names: "x" }'), "6 names, but its types have 5", "base_schema"),
        (changed("extensions {}"), "declares nothing", "extensions[1]"),
        (
            changed("referred_expr { expression { detached_expression_ordinal: 0 } }"),
            "no detached expression 0",
            "referred_expr[1].expression",
        ),
        (
            changed(
                "referred_expr { expression { detached_expression_ordinal: 0 } }"
                "detached_expressions { detached_expression_ordinal: 0 }"
            ),
            "refers to itself",
            "referred_expr[1].expression",
        ),
        (
            changed(f"referred_expr {{ {OUTER % (READ, 'rel_reference: 1')} }}"),
            "rel_reference 1",
            f"{WITHIN}.condition",
        ),
        (changed(f"referred_expr {{ {OUTER % (READ, 'steps_out: 2')} }}"), "steps_out is 2", f"{WITHIN}.condition"),
        (
            changed(f"referred_expr {{ {OUTER % ('reference {}', 'steps_out: 1')} }}"),
            "no relation 0 to refer to",
            f"{WITHIN}.input",
        ),
    ],
)
def test_what_breaks_a_rule_is_refused_with_the_place(sent: Message, said: str, path: str) -> None:
    with pytest.raises(PlanFormatError) as caught:
        decode_extended_expression(sent)
    assert said in caught.value.message
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("sent", "told", "path"),
    [
        (changed("", "version"), "the extended expression does not set its version", "version"),
        (changed("", "base_schema", of=extended(i64(1))), "there is no base_schema", ""),
        (
            changed("base_schema { struct { nullability: NULLABILITY_UNSPECIFIED } }"),
            "is not REQUIRED",
            "base_schema.struct",
        ),
    ],
)
def test_findings_say_what_was_read_how_and_where(sent: Message, told: str, path: str) -> None:
    if "REQUIRED" in told:
        sent.base_schema.struct.ClearField("nullability")
    _, (finding,) = decode_extended_expression(sent)
    assert told in finding.message
    assert finding.path == path
    with refused(PlanFormatError, told):
        decode_extended_expression(sent, strict=True)


def test_what_the_algebra_refuses() -> None:
    with refused(SchemaError, "at least one expression"):
        ExtendedExpression(BASE, ())
    with refused(SchemaError, "1 names, but its column has 3 fields"):
        ExpressionReference(p, ("p",))
    for anchor in (None, 6):
        with refused(SchemaError, "does not stand inside that relation"):
            extended(EXISTS, anchor=anchor)


# --- of other versions


def old(text: str, version: int = 44) -> Any:
    """An extended expression that holds what the messages of then could."""
    made: Any = old_class(Message)()
    made.version.minor_number = version
    return text_format.Parse(text, made)


OLD = """
  extension_uris { extension_uri_anchor: 1 uri: "/functions_comparison.yaml" }
  extensions { extension_function { extension_uri_reference: 1 function_anchor: 5 name: "gt:any_any" } }
  base_schema { names: "a"
    struct { nullability: NULLABILITY_REQUIRED types { i64 { nullability: NULLABILITY_REQUIRED } } } }
  referred_expr { output_names: "big" expression { scalar_function {
    function_reference: 5 output_type { bool { nullability: NULLABILITY_REQUIRED } }
    args { selection { root_reference {} direct_reference { struct_field {} } } }
    args { literal { i64: 3 } } } } }
"""


def test_old_ones_mean_what_they_meant() -> None:
    then = old(OLD)
    expected = sd.ExtendedExpression({"a": sd.I64}, big=lambda r: r.a > 3)
    assert expected.to_proto().extension_urns[0].urn == COMPARISON
    for read in (
        sd.ExtendedExpression.from_bytes(then.SerializeToString()),
        sd.ExtendedExpression.from_json(json_format.MessageToJson(then)),
    ):
        assert read == expected
        assert str(read.version) == "0.44.0"


def test_what_arrow_writes_is_read() -> None:
    pa, pc = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.compute")
    substrait = importlib.import_module("pyarrow.substrait")
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    values = [pc.field("a") + pc.field("b"), pc.field("a") > 3]
    read = sd.ExtendedExpression.from_bytes(bytes(substrait.serialize_expressions(values, ["total", "big"], schema)))
    assert [str(field) for field in read.schema] == ["total: i64?", "big: boolean?"]
    assert [str(field) for field in read.base_schema] == ["a: i64?", "b: i64?"]
    assert read.producer is not None
    assert read.producer.startswith("Acero")


def test_a_newer_one_that_cannot_be_read_says_so() -> None:
    newer = "the extended expression is of version 0.900.0 of the specification, and this library knows version 0.106.0"
    with refused(PlanFormatError, "has no expressions", newer):
        sd.ExtendedExpression.from_proto(changed("version { minor_number: 900 }", "referred_expr"))
    with refused(PlanFormatError, "detachedRels", newer):
        sd.ExtendedExpression.from_json('{"version": {"minorNumber": 900}, "detachedRels": []}')
    with refused(PlanFormatError, "the extended expression is of version 1.106.0", "(at version)"):
        sd.ExtendedExpression.from_proto(changed("version { major_number: 1 }"))
