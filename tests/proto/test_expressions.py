"""Expressions as messages, against messages written by hand from algebra.proto."""

from __future__ import annotations

import pytest
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from tests.proto.plans import T, add, call, col, encoded, encoded_expression, encoded_relation, i64, message, table

R = "nullability: NULLABILITY_REQUIRED"
N = "nullability: NULLABILITY_NULLABLE"
A = "selection { direct_reference { struct_field { field: 0 } } root_reference {} }"
B = "selection { direct_reference { struct_field { field: 1 } } root_reference {} }"
S = "selection { direct_reference { struct_field { field: 2 } } root_reference {} }"

a, b, s = (col(T, position) for position in range(3))
INNER = t.Struct.of({"x": t.List(t.Map(t.String(), t.Struct((t.I8(), t.I16()))))})
NESTED = table("n", v=INNER)


def access(base: ex.Expression, *segments: ex.Segment) -> ex.Expression:
    for segment in segments:
        base = ex.FieldAccess(base, segment)
    return base


EXPRESSIONS: dict[str, tuple[ex.Expression, str]] = {
    "the first column": (a, A),
    "another column": (b, B),
    "a literal": (i64(5), "literal { i64: 5 }"),
    "a call": (
        add(a, i64(1)),
        f"scalar_function {{ function_reference: 1 arguments {{ value {{ {A} }} }} "
        f"arguments {{ value {{ literal {{ i64: 1 }} }} }} output_type {{ i64 {{ {R} }} }} }}",
    ),
    "a call with all kinds of arguments and options": (
        ex.ScalarFunction(
            ex.FunctionId("extension:a:b", "f:req_any_any"),
            (ex.EnumArgument("YEAR"), ex.TypeArgument(t.I8()), a),
            t.I64(nullable=True),
            (ex.FunctionOption("overflow", ("ERROR", "SATURATE")),),
        ),
        f'scalar_function {{ function_reference: 1 arguments {{ enum: "YEAR" }} '
        f"arguments {{ type {{ i8 {{ {R} }} }} }} arguments {{ value {{ {A} }} }} output_type {{ i64 {{ {N} }} }} "
        'options { name: "overflow" preference: "ERROR" preference: "SATURATE" } }',
    ),
    "a cast": (
        ex.Cast(a, t.I8(), "throw"),
        f"cast {{ type {{ i8 {{ {R} }} }} input {{ {A} }} failure_behavior: FAILURE_BEHAVIOR_THROW_EXCEPTION }}",
    ),
    "a cast that may fail": (
        ex.Cast(a, t.I8(nullable=True), "return_null"),
        f"cast {{ type {{ i8 {{ {N} }} }} input {{ {A} }} failure_behavior: FAILURE_BEHAVIOR_RETURN_NULL }}",
    ),
    "an if": (
        ex.IfThen((ex.IfClause(literal(True, t.Boolean()), a),), i64(0)),
        f"if_then {{ ifs {{ if {{ literal {{ boolean: true }} }} then {{ {A} }} }} else {{ literal {{ i64: 0 }} }} }}",
    ),
    "a switch": (
        ex.Switch(a, (ex.SwitchCase(i64(1), s),), literal("", t.String())),
        f"switch_expression {{ match {{ {A} }} ifs {{ if {{ i64: 1 }} then {{ {S} }} }} "
        f'else {{ literal {{ string: "" }} }} }}',
    ),
    "one of": (
        ex.SingularOrList(a, (i64(1), b)),
        f"singular_or_list {{ value {{ {A} }} options {{ literal {{ i64: 1 }} }} options {{ {B} }} }}",
    ),
    "several of": (
        ex.MultiOrList((a, s), (ex.OrListRecord((i64(1), s)),)),
        f"multi_or_list {{ value {{ {A} }} value {{ {S} }} "
        f"options {{ fields {{ literal {{ i64: 1 }} }} fields {{ {S} }} }} }}",
    ),
}


@pytest.mark.parametrize(("expression", "text"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_every_expression_has_the_message_of_algebra_proto(expression: ex.Expression, text: str) -> None:
    assert encoded_expression(expression) == message(pb.Expression, text)


def test_accesses_to_a_column_are_one_reference() -> None:
    segments = (ex.StructField(0), ex.ListElement(-1), ex.MapKey(literal("k", t.String())), ex.StructField(1))
    sent = encoded_relation(r.Project(NESTED, (access(col(NESTED, 0), *segments),), ("x",))).project.expressions[0]
    assert sent == message(
        pb.Expression,
        """
        selection {
          direct_reference { struct_field { field: 0
            child { struct_field { field: 0
              child { list_element { offset: -1
                child { map_key { map_key { string: "k" }
                  child { struct_field { field: 1 } } } } } } } } } }
          root_reference {}
        }
        """,
    )


def test_accesses_to_a_value_have_the_value_as_root() -> None:
    value = ex.Cast(col(NESTED, 0), INNER, "throw")
    expression = access(value, ex.StructField(0), ex.ListElement(2))
    sent = encoded_relation(r.Project(NESTED, (expression,), ("x",))).project.expressions[0].selection
    assert sent.expression.WhichOneof("rex_type") == "cast"
    assert sent.direct_reference == message(
        pb.Expression.ReferenceSegment, "struct_field { field: 0 child { list_element { offset: 2 } } }"
    )


def test_subqueries() -> None:
    one = r.Emit(T, (0,))
    read = encoded_relation(one)
    scalar = encoded_expression(ex.ScalarSubquery(one)).subquery
    assert scalar.scalar.input == read
    within = encoded_expression(ex.InPredicate((a,), one)).subquery.in_predicate
    assert within.haystack == read
    assert list(within.needles) == [message(pb.Expression, A)]
    for op, number in {"exists": 1, "unique": 2}.items():
        predicate = encoded_expression(ex.SetPredicate(op, one)).subquery.set_predicate  # type: ignore[arg-type]  # a word
        assert predicate.tuples == read
        assert predicate.predicate_op == number


@pytest.mark.parametrize(("comparison", "number"), [("eq", 1), ("ne", 2), ("lt", 3), ("gt", 4), ("le", 5), ("ge", 6)])
@pytest.mark.parametrize(("reduction", "reduction_number"), [("any", 1), ("all", 2)])
def test_set_comparisons(
    comparison: ex.ComparisonOp, number: int, reduction: ex.ReductionOp, reduction_number: int
) -> None:
    one = r.Emit(T, (0,))
    sent = encoded_expression(ex.SetComparison(reduction, comparison, a, one)).subquery.set_comparison
    assert (sent.reduction_op, sent.comparison_op) == (reduction_number, number)
    assert sent.left == message(pb.Expression, A)
    assert sent.right == encoded_relation(one)


def test_functions_are_declared_in_the_order_of_first_use_and_numbered_from_one() -> None:
    less = call("lt:any_any", a, a)
    plan = encoded(r.Project(T, (add(a, a), less, add(a, i64(1))), ("x", "y", "z")))
    assert [(urn.extension_urn_anchor, urn.urn) for urn in plan.extension_urns] == [
        (1, "extension:io.substrait:functions_arithmetic"),
        (2, "extension:io.substrait:functions_comparison"),
    ]
    functions = [extension.extension_function for extension in plan.extensions]
    assert [(f.extension_urn_reference, f.function_anchor, f.name) for f in functions] == [
        (1, 1, "add:i64_i64"),
        (2, 2, "lt:any_any"),
    ]
    expressions = plan.relations[0].root.input.project.expressions
    assert [expression.scalar_function.function_reference for expression in expressions] == [1, 2, 1]
