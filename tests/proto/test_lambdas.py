"""Lambdas as messages, against messages written by hand from algebra.proto, and read back from them."""

from __future__ import annotations

import pytest
from substrait import algebra_pb2 as pb
from substrait import type_pb2
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import parameter
from substrait_dsl.algebra.node import Node
from substrait_dsl.errors import (
    InvalidArgumentError,
    PlanFormatError,
    SubstraitDslError,
    TypeMismatchError,
    UnknownFieldError,
)
from substrait_dsl.proto.plan import decode_plan, encode_plan, to_bytes
from tests.proto.plans import T, add, call, col, encoded_expression, gt, i64, message, plan_of, table
from tests.proto.reading import Change, changed, found, refused_at, rel_comes_back, root
from tests.proto.test_depth import readable
from tests.support import refused

R = "nullability: NULLABILITY_REQUIRED"
N = "nullability: NULLABILITY_NULLABLE"
REQUIRED = type_pb2.Type.NULLABILITY_REQUIRED
NULLABLE = type_pb2.Type.NULLABILITY_NULLABLE
LISTS = "extension:io.substrait:functions_list"
I64, MAYBE, TEXT = t.I64(), t.I64(nullable=True), t.String()
U = table("u", k=I64)
L = table("l", values=t.List(I64), nested=t.List(t.List(I64)))
PATH = "project.expressions[0]"

a, b, s = (col(T, position) for position in range(3))
X = parameter(0, 0, I64)
"""The first parameter of the innermost lambda."""


def projected(expression: ex.Expression, rel: r.Rel = T, anchor: int | None = None) -> r.Rel:
    return r.Project(rel, (expression,), ("x",), anchor=anchor)


def called(body: ex.Expression, argument: ex.Expression = a) -> ex.LambdaInvocation:
    """A lambda of one i64, called."""
    return ex.LambdaInvocation(ex.Lambda((I64,), body), (argument,))


def lengthened(expression: ex.Expression, terms: int) -> ex.Expression:
    for number in range(terms):
        expression = add(expression, i64(number))
    return expression


def test_a_lambda_has_the_message_of_algebra_proto() -> None:
    function = ex.Lambda((I64, t.String(nullable=True)), parameter(0, 1, t.String(nullable=True)))
    assert encoded_expression(function) == message(
        pb.Expression,
        f"""
        lambda {{
          parameters {{ types {{ i64 {{ {R} }} }} types {{ string {{ {N} }} }} {R} }}
          body {{ selection {{
            direct_reference {{ struct_field {{ field: 1 }} }}
            lambda_parameter_reference {{ steps_out: 0 }}
          }} }}
        }}
        """,
    )


def test_an_invocation_has_the_message_of_algebra_proto() -> None:
    inner = ex.LambdaInvocation(ex.Lambda((), parameter(1, 0, I64)), ())
    assert encoded_expression(called(inner)) == message(
        pb.Expression,
        f"""
        lambda_invocation {{
          lambda {{
            parameters {{ types {{ i64 {{ {R} }} }} {R} }}
            body {{ lambda_invocation {{
              lambda {{
                parameters {{ {R} }}
                body {{ selection {{
                  direct_reference {{ struct_field {{ field: 0 }} }}
                  lambda_parameter_reference {{ steps_out: 1 }}
                }} }}
              }}
              arguments {{}}
            }} }}
          }}
          arguments {{ fields {{
            selection {{ direct_reference {{ struct_field {{ field: 0 }} }} root_reference {{}} }}
          }} }}
        }}
        """,
    )


POINT = t.Struct((I64, I64))
LAMBDAS: dict[str, ex.Expression] = {
    "of a parameter": called(X),
    "of no parameters": ex.LambdaInvocation(ex.Lambda((), i64(1)), ()),
    "of the row around it": called(add(X, b)),
    "in a lambda": called(add(called(add(X, parameter(1, 0, I64)), X), X)),
    "beside a lambda": add(called(X), ex.LambdaInvocation(ex.Lambda((TEXT, I64), parameter(0, 1, I64)), (s, a))),
    "that gives a lambda": called(ex.Lambda((TEXT,), parameter(1, 0, I64))),
    "of a part of a parameter": ex.LambdaInvocation(
        ex.Lambda((POINT,), ex.FieldAccess(parameter(0, 0, POINT), ex.StructField(1))), (ex.NestedStruct((a, a)),)
    ),
    "an argument of nobody's function": call(
        "apply:func", ex.Lambda((TEXT,), parameter(0, 0, TEXT)), type_=TEXT, urn="extension:a:b"
    ),
}


@pytest.mark.parametrize("expression", LAMBDAS.values(), ids=LAMBDAS)
def test_lambdas_come_back(expression: ex.Expression) -> None:
    rel_comes_back(projected(expression))


TRUE_IF_BIG = ex.Cast(gt(X, i64(3)), t.Boolean(nullable=True))
DOUBLED = call("transform:list_func", col(L, 0), ex.Lambda((I64,), add(X, X)), type_=t.List(I64), urn=LISTS)
FUNCTIONS = {
    "transform": DOUBLED,
    "filter": call("filter:list_func", col(L, 0), ex.Lambda((I64,), TRUE_IF_BIG), type_=t.List(I64), urn=LISTS),
    "any_match": call(
        "any_match:list_func", col(L, 0), ex.Lambda((I64,), TRUE_IF_BIG), type_=t.Boolean(nullable=True), urn=LISTS
    ),
    "all_match": call(
        "all_match:list_func", col(L, 0), ex.Lambda((I64,), TRUE_IF_BIG), type_=t.Boolean(nullable=True), urn=LISTS
    ),
    "transform in transform": call(
        "transform:list_func",
        col(L, 1),
        ex.Lambda(
            (t.List(I64),),
            call(
                "transform:list_func",
                parameter(0, 0, t.List(I64)),
                ex.Lambda((I64,), call("f:any", parameter(1, 0, t.List(I64)), X, type_=TEXT, urn="extension:a:b")),
                type_=t.List(TEXT),
                urn=LISTS,
            ),
        ),
        type_=t.List(t.List(TEXT)),
        urn=LISTS,
    ),
}


@pytest.mark.parametrize("expression", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_of_lambdas_come_back(expression: ex.Expression) -> None:
    rel_comes_back(projected(expression, L))


def test_the_type_of_a_function_of_a_lambda_is_derived() -> None:
    """Transform gives a list of what the lambda gives."""

    def other(rel: pb.Rel) -> None:
        rel.project.expressions[0].scalar_function.output_type.list.type.string.nullability = REQUIRED

    with refused_at(PATH, PlanFormatError, "transform", "list<string>", "list<i64>"):
        decode_plan(changed(projected(DOUBLED, L), other))


# --- at any depth


@pytest.mark.parametrize("terms", [10, 40, 100, 1000])
def test_bodies_and_arguments_of_any_depth_come_back(terms: int) -> None:
    """What stands apart in a body still means the parameters of its lambda."""
    deep = called(lengthened(add(X, b), terms), lengthened(a, terms))
    rel_comes_back(projected(deep))
    readable(encode_plan(plan_of(projected(deep))))
    rel_comes_back(projected(ex.Lambda((I64,), lengthened(X, terms))))


@pytest.mark.parametrize("lambdas", [10, 30, 100])
def test_lambdas_in_lambdas_come_back(lambdas: int) -> None:
    expression: ex.Expression = add(X, b)
    for _ in range(lambdas):
        expression = lengthened(called(expression, X), 3)
    rel_comes_back(projected(called(expression)))
    readable(encode_plan(plan_of(projected(called(expression)))))


def test_lambdas_deep_in_lambdas_deep_in_lambdas_come_back() -> None:
    expression: ex.Expression = X
    for _ in range(12):
        expression = lengthened(called(lengthened(expression, 100), X), 100)
    rel_comes_back(projected(called(expression)))


def test_one_body_in_two_lambdas_is_read_with_the_parameters_of_each() -> None:
    inside = lengthened(X, 56)
    plan = Plan.FromString(to_bytes(encode_plan(plan_of(projected(add(called(inside), called(inside)))))))
    tree = plan.relations[0]
    sum_ = tree.root.input.project.expressions[0].scalar_function
    second = sum_.arguments[1].value.lambda_invocation
    getattr(second, "lambda").parameters.types[0].i64.nullability = NULLABLE
    second.arguments.fields[0].selection.direct_reference.struct_field.field = 1
    ordinal = len(tree.detached_expressions)
    tree.detached_expressions.add().CopyFrom(getattr(sum_.arguments[0].value.lambda_invocation, "lambda").body)
    for argument in sum_.arguments:
        getattr(argument.value.lambda_invocation, "lambda").body.detached_expression_ordinal = ordinal
    got, findings = root(plan)
    assert isinstance(got, r.Project)
    (added,) = got.expressions
    assert isinstance(added, ex.ScalarFunction)
    first, other = added.arguments
    assert isinstance(first, ex.LambdaInvocation)
    assert isinstance(other, ex.LambdaInvocation)
    assert (first.type, other.type) == (I64, MAYBE)
    assert first == called(inside)
    assert findings  # the sums are declared i64, but some are i64? now


def circle(plan: Plan, *, apart: int) -> Plan:
    """A plan whose detached expression is a lambda around itself."""
    tree = plan.relations[0]
    tree.root.input.project.expressions[0].detached_expression_ordinal = apart
    getattr(tree.detached_expressions.add(), "lambda").body.detached_expression_ordinal = 0
    return plan


@pytest.mark.parametrize(
    ("ordinal", "said"), [(0, "refers to itself"), (1, "there is no detached expression 1: the tree has 1")]
)
def test_lambdas_apart_that_lead_nowhere_are_refused(ordinal: int, said: str) -> None:
    with refused_at(PATH, PlanFormatError, said):
        decode_plan(circle(changed(projected(a), lambda m: None), apart=ordinal))


def test_lambdas_apart_that_double_at_each_step_are_refused() -> None:
    """40 entries, each a comparison of two lambdas around the next, would be 2**40 lambdas."""
    plan = changed(projected(a), lambda m: None)
    tree = plan.relations[0]
    tree.root.input.project.expressions[0].detached_expression_ordinal = 0
    for step in range(1, 41):
        test = tree.detached_expressions.add().singular_or_list
        for side in (test.value, test.options.add()):
            getattr(side.lambda_invocation, "lambda").body.detached_expression_ordinal = step
    tree.detached_expressions.add().literal.boolean = True
    with pytest.raises(SubstraitDslError, match="read again and again"):
        decode_plan(plan)


def test_a_thousand_lambdas_in_each_other_are_checked_in_passing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lambda does not look at its body again: each node has remembered what it refers to."""
    looked = 0
    children = Node.children

    def counted(node: Node) -> tuple[Node, ...]:
        nonlocal looked
        looked += 1
        return children(node)

    monkeypatch.setattr(Node, "children", counted)
    expression: ex.Expression = add(parameter(999, 0, I64), X)
    for _ in range(999):
        expression = called(add(expression, X), X)
    assert looked == 0
    assert {use.steps_out for use in expression.flags.parameter_uses} == {0}
    assert not called(expression).flags.parameter_uses
    with refused(TypeMismatchError, "parameter 0 of the lambda is string, not i64"):
        ex.Lambda((TEXT,), expression)


# --- what cannot be


def test_a_body_refers_to_the_parameters_that_there_are() -> None:
    with refused(UnknownFieldError, "there is no parameter 1: the lambda has 1"):
        ex.Lambda((I64,), add(i64(1), parameter(0, 1, I64)))
    with refused(TypeMismatchError, "parameter 0 of the lambda is i64, not i64?"):
        ex.Lambda((I64,), ex.Lambda((), parameter(1, 0, MAYBE)))
    with refused(TypeMismatchError, "parameters of the lambda", "struct<i64>", "struct<i64?>"):
        mask = ex.StructMask((ex.MaskItem(0),))
        ex.Lambda((I64,), ex.MaskedReference(ex.Row(t.Struct((MAYBE,)), ex.LambdaParameter()), mask))
    with refused(InvalidArgumentError, "steps_out", "-1"):
        parameter(-1, 0, I64)


def body(rel: pb.Rel) -> pb.Expression:
    """The body of the lambda that is called."""
    found: pb.Expression = getattr(rel.project.expressions[0].lambda_invocation, "lambda").body
    return found


BODY = f"{PATH}.lambda_invocation.lambda.body"
BAD: dict[str, tuple[Change, str, str]] = {
    "a lambda too far out": (
        lambda m: setattr(body(m).selection.lambda_parameter_reference, "steps_out", 1),
        BODY,
        "1 lambdas out (steps_out), but 1 stand around it",
    ),
    "a parameter too many": (
        lambda m: setattr(body(m).selection.direct_reference.struct_field, "field", 1),
        BODY,
        "there is no column 1",
    ),
    "no body": (lambda m: body(m).Clear(), BODY, "missing"),
    "no lambda": (
        lambda m: m.project.expressions[0].lambda_invocation.ClearField("lambda"),
        PATH,
        "must hold the lambda",
    ),
    "an argument too few": (
        lambda m: m.project.expressions[0].lambda_invocation.ClearField("arguments"),
        PATH,
        "takes 1 arguments, got 0",
    ),
    "an argument of another type": (
        lambda m: setattr(
            m.project.expressions[0].lambda_invocation.arguments.fields[0].selection.direct_reference.struct_field,
            "field",
            2,
        ),
        PATH,
        "argument 0 of the lambda must be i64, this is string",
    ),
    "a variation of the parameters": (
        lambda m: setattr(
            getattr(m.project.expressions[0].lambda_invocation, "lambda").parameters, "type_variation_reference", 1
        ),
        PATH,
        "without a type variation",
    ),
    "a parameter outside": (
        lambda m: m.project.expressions[0].CopyFrom(pb.Expression(selection=body(m).selection)),
        PATH,
        "0 lambdas out (steps_out), but 0 stand around it",
    ),
}


@pytest.mark.parametrize(("change", "path", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_where_it_stands(change: Change, path: str, said: str) -> None:
    with refused_at(path, PlanFormatError, said):
        decode_plan(changed(projected(called(X)), change))


def test_parameters_that_are_no_required_struct_are_taken_for_one() -> None:
    def unsaid(rel: pb.Rel) -> None:
        getattr(rel.project.expressions[0].lambda_invocation, "lambda").parameters.nullability = 0

    got = found(projected(called(X)), unsaid, "REQUIRED", path=f"{PATH}.lambda_invocation.lambda")
    assert got == projected(called(X))
