"""Extended expressions: what their message says, and that any comes back from it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from substrait.extended_expression_pb2 import ExtendedExpression as Message
from substrait.type_inference import infer_extended_expression_schema

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.anchors import canonical_extended
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extended import ExtendedExpression
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.settings import OuterReferences
from substrait_dsl.errors import (
    LiteralError,
    UnsupportedError,
)
from substrait_dsl.proto.extended import (
    encode_extended_expression,
    extended_from_bytes,
    extended_from_json,
)
from substrait_dsl.proto.plan import to_bytes, to_json
from substrait_dsl.proto.shallow_plans import MAX_NESTING
from tests.proto.extended import EXISTS, HINT, a, b, extended, p
from tests.proto.plans import ARITHMETIC, T, add, col, equal, gt, i64, message, nesting, outer
from tests.proto.plans import total as sum_of
from tests.support import refused
from tests.trees.expressions import Row, expressions
from tests.trees.relations import relations
from tests.trees.values import kinds


def comes_back(sent: ExtendedExpression, outer_references: OuterReferences = "rel_reference") -> None:
    """Assert that it is the same, and written the same, after it went through bytes; and nothing is found in it."""
    data = to_bytes(encode_extended_expression(sent, outer_references=outer_references))
    got, findings = extended_from_bytes(data)
    assert findings == ()
    assert canonical_extended(got) == canonical_extended(sent)
    assert got.schema.types == sent.schema.types
    assert to_bytes(encode_extended_expression(got, outer_references=outer_references)) == data


# --- the message


def test_the_message_says_what_the_specification_asks_for() -> None:
    sent = encode_extended_expression(extended(add(a, i64(1)), sum_of(b), p))
    assert sent.version.minor_number > 100
    assert sent.version.producer.startswith("substrait_dsl")
    sent.ClearField("version")
    column = "selection { root_reference {} direct_reference { struct_field %s } }"
    required = "nullability: NULLABILITY_REQUIRED"
    assert sent == message(
        Message,
        f"""
        extension_urns {{ extension_urn_anchor: 1 urn: "{ARITHMETIC}" }}
        extensions {{ extension_function {{ extension_urn_reference: 1 function_anchor: 1 name: "add:i64_i64" }} }}
        extensions {{ extension_function {{ extension_urn_reference: 1 function_anchor: 2 name: "sum:i64" }} }}
        referred_expr {{
          expression {{ scalar_function {{
            function_reference: 1 output_type {{ i64 {{ {required} }} }}
            arguments {{ value {{ {column % "{}"} }} }} arguments {{ value {{ literal {{ i64: 1 }} }} }} }} }}
          output_names: "c0"
        }}
        referred_expr {{
          measure {{
            function_reference: 2 output_type {{ i64 {{ nullability: NULLABILITY_NULLABLE }} }}
            phase: AGGREGATION_PHASE_INITIAL_TO_RESULT invocation: AGGREGATION_INVOCATION_ALL
            arguments {{ value {{ {column % "{ field: 1 }"} }} }} }}
          output_names: "c1"
        }}
        referred_expr {{
          expression {{ {column % "{ field: 2 }"} }}
          output_names: "c2" output_names: "x" output_names: "y"
        }}
        base_schema {{
          names: "a" names: "b" names: "p" names: "x" names: "y"
          struct {{ {required}
            types {{ i64 {{ {required} }} }}
            types {{ i64 {{ nullability: NULLABILITY_NULLABLE }} }}
            types {{ struct {{ {required} types {{ i8 {{ {required} }} }} types {{ i8 {{ {required} }} }} }} }}
          }}
        }}
        """,
    )


def test_another_library_derives_the_same_types() -> None:
    ours = sd.ExtendedExpression({"a": sd.I64, "b": "i64?"}, x=lambda r: r.a + r.b, y=lambda r: r.a > 3, z=sd.lit("z"))
    theirs: Any = infer_extended_expression_schema(ours.to_proto())
    own = sd.read_named("t", {field.name: field.type for field in ours.schema}).schema.to_proto()
    assert theirs.types == own.struct.types


# --- there and back again

DEEP = ex.SetPredicate("exists", r.Filter(T, ex.SetPredicate("exists", r.Filter(T, equal(a, outer(7, 0, t.I64()))))))
NUMBERED = r.Filter(
    T, ex.SetPredicate("exists", r.Filter(T, equal(outer(8, 0, t.I64()), outer(7, 0, t.I64())))), anchor=8
)

KINDS: dict[str, ExtendedExpression] = {
    "a column": extended(a),
    "a struct": extended(p, p),
    "a constant over no columns": extended(i64(5), base=NamedStruct(())),
    "measures": extended(
        sum_of(a),
        ex.AggregateFunction(
            ex.FunctionId("extension:a:b", "f:i64"),
            (a,),
            t.I64(),
            sorts=(ex.SortKey(b, "desc_nulls_last"),),
            invocation="distinct",
        ),
    ),
    "a subquery": extended(ex.SetPredicate("exists", T)),
    "a correlated subquery": extended(gt(a, i64(1)), EXISTS, anchor=7),
    "a subquery in a subquery": extended(DEEP, anchor=7),
    "rows inside and outside": extended(ex.SetPredicate("exists", NUMBERED), anchor=7),
    "a correlated measure": extended(
        ex.AggregateFunction(ex.FunctionId("extension:a:b", "f:bool"), (EXISTS,), t.I64()), anchor=7
    ),
    "extensions": extended(
        a, expected_type_urls=(HINT.type_url,), advanced_extensions=AdvancedExtension((HINT,), HINT)
    ),
    "an anchor that nothing refers to": extended(a, anchor=3),
}


@pytest.mark.parametrize("outer_references", ["rel_reference", "steps_out"])
@pytest.mark.parametrize("sent", KINDS.values(), ids=KINDS)
def test_every_kind_comes_back(sent: ExtendedExpression, outer_references: OuterReferences) -> None:
    comes_back(sent, outer_references)


def test_the_row_has_no_number_and_is_counted_out_to() -> None:
    sent = encode_extended_expression(KINDS["rows inside and outside"])
    inner = sent.referred_expr[0].expression.subquery.set_predicate.tuples.filter.condition.subquery.set_predicate
    inside, outside = (
        argument.value.selection.outer_reference for argument in inner.tuples.filter.condition.scalar_function.arguments
    )
    assert inside.WhichOneof("outer_reference_type") == "rel_reference"
    assert outside.steps_out == 2


def rows(subqueries: bool) -> Any:
    """Rows that random expressions can be about, with what is inside and around."""

    def inputs(around: Any) -> Any:
        return relations(around, 1)

    return st.lists(kinds, min_size=1, max_size=3).map(
        lambda types: Row(tuple(types), relations=inputs if subqueries else None, anchor=10**6 if subqueries else None)
    )


@st.composite
def trees(draw: Any, subqueries: bool) -> ExtendedExpression:
    row = draw(rows(subqueries))
    nodes = [draw(expressions(draw(kinds), row)) for _ in range(draw(st.integers(1, 2)))]
    if draw(st.booleans()):
        nodes.append(ex.AggregateFunction(ex.FunctionId("extension:a:b", "f:any"), (nodes[0],), t.I64()))
    base = NamedStruct.of([(f"b{number}", kind) for number, kind in enumerate(row.types)])
    return extended(*nodes, base=base, anchor=row.anchor)


many = settings(max_examples=150, suppress_health_check=list(HealthCheck))


@many
@given(trees(subqueries=True))
def test_any_expressions_come_back_from_bytes(sent: ExtendedExpression) -> None:
    comes_back(sent)


@many
@given(trees(subqueries=False))
def test_any_expressions_come_back_from_json(sent: ExtendedExpression) -> None:
    got, findings = extended_from_json(to_json(encode_extended_expression(sent)))
    assert (got, findings) == (sent, ())


def test_they_are_equal_whatever_the_number_of_the_row() -> None:
    other = ex.SetPredicate("exists", r.Filter(T, equal(col(T, 0), outer(3, 1, t.I64(nullable=True)))))
    assert extended(EXISTS, anchor=7) != extended(other, anchor=3)
    assert canonical_extended(extended(EXISTS, anchor=7)) == canonical_extended(extended(other, anchor=3))
    assert canonical_extended(extended(a, anchor=7)) == extended(a)


# --- depth


@pytest.mark.parametrize("terms", [10, 30, 31, 32, 33, 34, 5000])
def test_expressions_of_any_depth_come_back(terms: int) -> None:
    one: ex.Expression = a
    other: ex.Expression = a
    for number in range(terms):
        one, other = add(one, i64(number)), add(other, i64(number))
    sent = extended(one, sum_of(other))
    assert nesting(encode_extended_expression(sent)) <= MAX_NESTING
    comes_back(sent)


def test_what_would_stand_apart_is_refused() -> None:
    rel: r.Rel = T
    for _ in range(60):
        rel = r.Filter(rel, literal(True, t.Boolean()))
    for tuples in (rel, r.Read(T.schema, r.NamedTable(("t",)), shared=True)):
        with refused(UnsupportedError, "ReferenceRel", "hint: write a plan"):
            encode_extended_expression(extended(ex.SetPredicate("exists", tuples)))


def test_types_that_no_parser_reads_are_refused() -> None:
    type_: t.Type = t.I64()
    for _ in range(14):
        type_ = t.List(type_)
    comes_back(extended(i64(1), base=NamedStruct.of({"x": type_})))
    comes_back(extended(ex.FieldReference(0, type_), base=NamedStruct.of({"x": type_})))
    for _ in range(40):
        type_ = t.List(type_)
    with refused(UnsupportedError, "nested too deeply"):
        encode_extended_expression(extended(i64(1), base=NamedStruct.of({"x": type_})))
    with refused(UnsupportedError, "nests too deeply"):
        encode_extended_expression(extended(literal(None, type_.as_nullable())))


def test_a_text_that_is_no_unicode_is_refused() -> None:
    with refused(LiteralError, "Unicode"):
        encode_extended_expression(extended(literal("\ud800", t.String())))
