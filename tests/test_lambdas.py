"""Lambdas: Python functions traced into the plan, for functions that take functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import (
    ROOT,
    Cast,
    Expression,
    FieldReference,
    Lambda,
    LambdaInvocation,
    LambdaParameter,
    Literal,
    OuterReference,
    ScalarFunction,
    parameter,
)
from substrait_dsl.algebra.node import Node, walk
from substrait_dsl.algebra.types import Func
from substrait_dsl.errors import (
    FunctionNotFoundError,
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    UnsupportedError,
)
from tests.catalog.cases import Argument, Case, Nested, Parameter, Value, read_all
from tests.catalog.cases import Lambda as Written
from tests.support import columns, computed, f, refused, table, type_of

ROW = "k: i64, x: i32, y: i32?, s: string, xs: list<i32>, ys: list<i32?>?, xss: list<list<i32>>, p: struct<i32, string>"
T = table(ROW)

dsl: Any = sd
"""The library. Anything to a type checker: tests call it wrongly on purpose."""

Make = Callable[[Any], Any]


def references(node: Node) -> list[FieldReference]:
    return [each for each in walk(node) if isinstance(each, FieldReference)]


def function_of(make: Make) -> Lambda:
    """The lambda that is the second argument of a call."""
    call = computed(make, ROW)
    assert isinstance(call, ScalarFunction)
    function = call.arguments[1]
    assert isinstance(function, Lambda)
    return function


# --- the specification's own cases ---


def written(argument: Argument, parameters: dict[str, Any]) -> Any:
    """An argument of a case, as a person would write it."""
    match argument:
        case Value(value=None, type=type_):
            return sd.null(type_)
        case Value(type=type_, value=value):
            return sd.lit(value, type_)
        case Parameter(name):
            return parameters[name]
        case Nested(function, arguments):
            return getattr(f, function)(*(written(each, parameters) for each in arguments))
        case Written(names, body):
            if len(names) == 1:
                return lambda x: written(body, {names[0]: x})
            raise AssertionError("no case has a lambda of several parameters")
    raise AssertionError(argument)


def is_about_functions(case: Case) -> bool:
    return any(isinstance(each, Written) or isinstance(getattr(each, "type", None), Func) for each in case.arguments)


CASES = 27
"""How many there are in the specification; they are told apart by number, as it takes a second to read them."""


@cache
def cases() -> list[Case]:
    return [case for case in read_all() if is_about_functions(case)]


def test_there_are_cases() -> None:
    assert len(cases()) == CASES
    assert {case.function for case in cases()} == {"transform", "filter", "any_match", "all_match"}


@pytest.mark.parametrize("number", range(CASES))
def test_cases_of_the_specification(number: int) -> None:
    case = cases()[number]
    assert isinstance(case.expected, Value)
    call = getattr(f, case.function)(*(written(each, {}) for each in case.arguments))
    assert table("a: i64").project(result=call).schema["result"] == case.expected.type


# --- types ---

TYPES: list[tuple[Make, str]] = [
    (lambda r: f.transform(r.xs, lambda x: x + 1), "list<i32>"),
    (lambda r: f.transform(r.ys, lambda x: x + 1), "list<i32?>?"),
    (lambda r: f.transform(r.xs, lambda x: x.cast(sd.String)), "list<string>"),
    (lambda r: f.transform(r.xs, lambda x: 7), "list<i64>"),
    (lambda r: f.transform(r.xs, lambda x: "text"), "list<string>"),
    (lambda r: f.transform([1, 2], lambda x: x * 2), "list<i64>"),
    (lambda r: f.transform(r.xs, f.negate), "list<i32>"),
    (lambda r: f.transform(f.filter(r.xs, lambda x: x > 1), lambda x: x > 2), "list<boolean>"),
    (lambda r: f.transform(r.xss, f.cardinality), "list<i64>"),
    (lambda r: f.transform(r.xss, lambda xs: f.transform(xs, lambda x: sd.struct_of(x=x))), "list<list<struct<i32>>>"),
    (lambda r: f.filter(r.ys, lambda x: x.is_not_null()), "list<i32?>?"),
    (lambda r: f.any_match(r.xs, lambda x: x > 1), "boolean?"),
    (lambda r: f.all_match(r.ys, lambda x: x > 1), "boolean?"),
    (lambda r: f.transform(r.xs, sd.lambda_({"x": sd.I32}, lambda x: x * 2)), "list<i32>"),
    (lambda r: f.any_match(r.xs, sd.lambda_({"x": sd.I32}, lambda x: x > 2)), "boolean?"),
]


@pytest.mark.parametrize(("make", "kind"), TYPES)
def test_types(make: Make, kind: str) -> None:
    assert type_of(make, ROW) == kind


def test_the_body_is_traced_once_with_typed_parameters() -> None:
    calls: list[Any] = []

    def double(x: Any) -> Any:
        calls.append(x)
        return x * 2

    function = function_of(lambda r: f.transform(r.xs, double))
    assert len(calls) == 1
    assert function.parameters == (sd.I32(),)
    body = function.body
    assert isinstance(body, ScalarFunction)
    assert body.arguments == (parameter(0, 0, sd.I32()), Literal(2, sd.I32()))


def test_a_loop_variable_is_the_one_of_its_turn() -> None:
    """Python functions see variables late; the body is traced where it is written."""
    made = {f"c{n}": f.transform(sd.col("xs"), lambda x: x + n) for n in (1, 2)}  # noqa: B023  # that is the point
    first, second = T.project(**made)._rel.expressions
    assert Literal(1, sd.I32()) in walk(first)
    assert Literal(2, sd.I32()) in walk(second)


def test_a_predicate_gives_what_its_caller_wants() -> None:
    """The files declare ``func<any1 -> boolean?>``, and inner nullability must match."""
    never_null = function_of(lambda r: f.filter(r.xs, lambda x: x > 1))
    assert str(never_null.type) == "func<i32 -> boolean?>"
    assert isinstance(never_null.body, Cast)
    maybe_null = function_of(lambda r: f.filter(r.ys, lambda x: x > 1))
    assert str(maybe_null.type) == "func<i32? -> boolean?>"
    assert isinstance(maybe_null.body, ScalarFunction)


# --- what a body sees ---


def test_parameters_of_nested_lambdas_count_the_steps_out() -> None:
    node = computed(
        lambda r: f.transform(r.xss, lambda xs: f.transform(xs, lambda x: x + xs[0] + f.cardinality(xs).cast(sd.I32))),
        ROW,
    )
    outer = next(each for each in walk(node) if isinstance(each, Lambda))
    inner = next(each for each in walk(outer.body) if isinstance(each, Lambda))
    assert {reference.root for reference in references(inner.body)} == {LambdaParameter(0), LambdaParameter(1)}
    steps = {str(reference.type): reference.root for reference in references(inner.body)}
    assert steps == {"i32": LambdaParameter(0), "list<i32>": LambdaParameter(1)}


def test_what_is_made_outside_of_a_lambda_moves_inwards() -> None:
    """The same expression, used in the lambda that it was made in and in one inside of that."""

    def inner(xs: Any) -> Any:
        size = f.cardinality(xs)
        return sd.struct_of(size=size, sizes=f.transform(xs, lambda x: size))

    node = computed(lambda r: f.transform(r.xss, inner), ROW)
    roots = [each.root for each in references(node) if isinstance(each.root, LambdaParameter)]
    # cardinality(xs) and transform(xs, ...), which share one reference, and size inside
    assert sorted(root.steps_out for root in roots) == [0, 1]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_steps_out_at_any_depth(used: list[int]) -> None:
    """Lambda n of a chain uses the parameter of lambda ``used[n]``, if that is around it, else its own."""
    seen: list[Any] = []
    wanted: list[int] = []

    def nest(depth: int) -> Callable[[Any], Any]:
        def body(x: Any) -> Any:
            seen.append(x)
            target = min(used[depth], depth)
            wanted.append(depth - target)
            rest = sd.lit(True) if depth + 1 == len(used) else f.any_match(sd.col("xs"), nest(depth + 1))
            own = seen[target] > 0
            del seen[depth + 1 :]
            return own & rest

        return body

    node: Any = computed(lambda r: f.any_match(r.xs, nest(0)), ROW)
    found = []
    for _ in used:
        node = node.arguments[1].body
        node = node.input if isinstance(node, Cast) else node
        comparison, *rest = node.arguments
        found.append(references(comparison)[0].root)
        node = rest[0]
    assert found == [LambdaParameter(steps) for steps in wanted]


def test_a_body_may_use_columns_of_the_row() -> None:
    by_row = function_of(lambda r: f.transform(r.xs, lambda x: x + r.y))
    by_name = function_of(lambda r: f.transform(r.xs, lambda x: x + sd.col("y")))
    assert by_row == by_name
    assert {reference.root for reference in references(by_row.body)} == {LambdaParameter(0), ROOT}
    assert str(by_row.type) == "func<i32 -> i32?>"
    assert columns(T.select(n=f.transform(T.c.xs, lambda x: x + T.c.x))) == "n: list<i32>"


def test_columns_of_an_outer_row_stay_correlated() -> None:
    """References to an outer row go through a lambda; those to its parameters are not touched."""
    inner = table("i: i64, zs: list<i32>")
    host = T.filter(lambda r: sd.exists(inner.filter(lambda q: f.any_match(q.zs, lambda z: z == r.x))))._rel
    roots = {reference.root for reference in references(host)}
    assert roots == {ROOT, LambdaParameter(0), OuterReference(host.anchor)}
    moved = T.filter(lambda r: sd.exists(inner.filter(f.any_match(r.xs, lambda x: x > 1))))._rel
    roots = {reference.root for reference in references(moved)}
    assert roots == {LambdaParameter(0), OuterReference(moved.anchor)}
    both = T.filter(lambda r: sd.exists(inner.filter(lambda q: f.any_match(r.xs, lambda x: x > q.zs[0]))))._rel
    places = {(reference.position, reference.root) for reference in references(both)}
    assert places == {(4, OuterReference(both.anchor)), (0, LambdaParameter(0)), (1, ROOT)}


def test_constants_only() -> None:
    assert columns(T.select(n=f.transform([1, 2, 3], lambda x: x + 1))) == "n: list<i64>"


# --- declared lambdas ---


def test_a_declared_lambda_is_called_with_values() -> None:
    weighted = sd.lambda_({"value": sd.I32, "weight": "i32?"}, lambda value, weight: value * weight)
    node = computed(lambda r: weighted(r.x, r.y), ROW)
    assert isinstance(node, LambdaInvocation)
    assert str(node.function.type) == "func<(i32, i32?) -> i32?>"
    assert str(node.type) == "i32?"
    assert repr(weighted) == "lambda(value: i32, weight: i32?)"
    constant: Any = computed(lambda r: weighted(1, None), ROW)
    assert constant.arguments == (Literal(1, sd.I32()), Literal(None, sd.I32(nullable=True)))


def test_a_required_argument_may_stand_for_a_nullable_one() -> None:
    node: Any = computed(lambda r: sd.lambda_({"v": "i32?"}, lambda v: v.is_null())(r.x), ROW)
    assert [str(argument.type) for argument in node.arguments] == ["i32?"]
    assert isinstance(node.arguments[0], Cast)


def test_a_declared_lambda_waits_for_its_row() -> None:
    plus = sd.lambda_({"v": sd.I32}, lambda v: v + sd.col("x"))
    assert columns(T.select(n=plus(sd.col("x")))) == "n: i32"
    with refused(UnknownFieldError, "select", '"x"'):
        table("a: i32").select(n=plus(sd.col("a")))


# --- functions of one's own ---

FUNCTIONS = """
urn: extension:com.example:lists
scalar_functions:
  - name: fold
    impls:
      - args:
          - {name: input, value: list<any1>}
          - {name: start, value: any2}
          - {name: merge, value: "func<(any2, any1) -> any2>"}
          - {name: finish, value: "func<any2 -> any3>"}
        return: any3
  - name: keyed
    impls:
      - args: [{name: input, value: list<any1>}, {name: of, value: func<any1 -> any2>}]
        return: map<any2, any1>
      - args: [{name: input, value: "map<any1, any2>"}, {name: of, value: "func<(any1, any2) -> any3>"}]
        return: map<any3, any2>
aggregate_functions:
  - name: best
    impls:
      - args: [{name: input, value: any1}, {name: of, value: func<any1 -> fp64>}]
        nullability: DECLARED_OUTPUT
        return: any1?
"""
own: Any = sd.Functions(sd.standard_catalog().with_extension(FUNCTIONS))


def test_types_follow_from_the_other_arguments_and_from_lambdas_before() -> None:
    assert type_of(lambda r: own.fold(r.xs, r.s, lambda text, x: text, lambda text: f.char_length(text)), ROW) == "i64"
    with refused(FunctionNotFoundError, "fold(list<i32>, string, func<(string, i32) -> i32>"):
        computed(lambda r: own.fold(r.xs, r.s, lambda text, x: x, lambda text: text), ROW)


def test_the_overload_follows_from_the_parameters() -> None:
    assert type_of(lambda r: own.keyed(r.xs, lambda x: x.cast(sd.String)), ROW) == "map<string, i32>"
    assert type_of(lambda r: own.keyed(sd.map_of({r.s: r.x}), lambda k, v: v), ROW) == "map<i32, i32>"


def test_an_aggregate_function_may_take_a_function() -> None:
    best = T.aggregate("k", best=lambda r: own.best(r.x, lambda x: x.cast(sd.FP64)))
    assert columns(best) == "k: i64, best: i32?"
    assert columns(T.select(n=own.best(sd.col("x"), lambda x: x.cast(sd.FP64)).over(order_by="k"))) == "n: i32?"


# --- mistakes ---

MISTAKES: dict[str, tuple[Make, type[sd.SubstraitDslError], tuple[str, ...]]] = {
    "parameters": (
        lambda r: f.transform(r.xs, lambda x, y: x),
        InvalidArgumentError,
        ("transform calls its function with 1 argument", "lambda(x, y)"),
    ),
    "no function belongs there": (
        lambda r: f.abs(len),
        InvalidArgumentError,
        ("abs takes expressions and values, not the function",),
    ),
    "a function of the catalogue that is not called": (
        lambda r: f.abs(f.cardinality),
        InvalidArgumentError,
        ("abs takes expressions and values", "call it: cardinality(...)"),
    ),
    "a name for a list": (lambda r: f.transform("xs", lambda x: x), FunctionNotFoundError, ("a column is col('xs')",)),
    "no list": (lambda r: f.transform(r.x, lambda x: x), FunctionNotFoundError, ("transform(i32, lambda(x))", "list<")),
    "a mistake in the body": (
        lambda r: f.transform(r.xs, lambda x: x + "a"),
        FunctionNotFoundError,
        ("add(i32, 'a')", "an int, not a str"),
    ),
    "a predicate that is none": (
        lambda r: f.filter(r.xs, lambda x: x),
        FunctionNotFoundError,
        ("filter(list<i32>, func<i32 -> i32>)",),
    ),
    "nothing returned": (
        lambda r: f.transform(r.xs, lambda x: None),
        InvalidArgumentError,
        ("what a lambda returns is None", "a lambda must return something"),
    ),
    "a function returned": (
        lambda r: f.transform(r.xs, lambda x: lambda y: x),
        InvalidArgumentError,
        ("a lambda returned a function",),
    ),
    "an aggregate returned": (
        lambda r: f.transform(r.xs, lambda x: f.sum(x)),
        TypeMismatchError,
        ("what a lambda returns is an expression", "sum is an aggregate function"),
    ),
    "an if": (
        lambda r: f.transform(r.xs, lambda x: x if x > 1 else -x),
        TypeMismatchError,
        ("no truth value", "when(...)"),
    ),
    "a parameter in a subquery": (
        lambda r: f.any_match(r.xs, lambda x: sd.exists(table("a: i32").filter(lambda q: q.a == x))),
        UnsupportedError,
        ("filter", 'the parameter "x" of a lambda is used in a subquery inside the lambda', "not supported"),
    ),
    "an unknown column": (
        lambda r: f.transform(r.xs, lambda x: x + sd.col("xx")),
        UnknownFieldError,
        ('"xx"',),
    ),
    "arguments": (
        lambda r: sd.lambda_({"a": sd.I32}, lambda a: a)(r.x, r.x),
        SchemaError,
        ("lambda(a: i32) takes 1 argument, got 2",),
    ),
    "an argument's type": (
        lambda r: sd.lambda_({"a": sd.I32}, lambda a: a)(r.k),
        TypeMismatchError,
        ("must be i32", "i64", "cast it to i32"),
    ),
    "a nullable argument": (
        lambda r: sd.lambda_({"a": sd.I32}, lambda a: a)(r.y),
        TypeMismatchError,
        ("must be i32", "i32?"),
    ),
    "an argument's value": (
        lambda r: sd.lambda_({"a": sd.I8}, lambda a: a)(300),
        TypeMismatchError,
        ('argument "a"', "300 does not fit i8"),
    ),
    "other parameters than declared": (
        lambda r: sd.lambda_({"a": sd.I8, "b": sd.I8}, lambda a: a),
        InvalidArgumentError,
        ("lambda_", "lambda(a) does not take 2 arguments"),
    ),
    "no types": (lambda r: dsl.lambda_(sd.I8, lambda a: a), InvalidArgumentError, ("a dict of types by parameter",)),
    "no body": (lambda r: dsl.lambda_({"a": sd.I8}, 5), InvalidArgumentError, ("a function of 1 argument", "5")),
    "declared with other types": (
        lambda r: f.transform(r.xs, sd.lambda_({"a": sd.I8}, lambda a: a)),
        FunctionNotFoundError,
        ("transform(list<i32>, func<i8 -> i8>)",),
    ),
}


@pytest.mark.parametrize(("make", "error", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(make: Make, error: type[sd.SubstraitDslError], said: tuple[str, ...]) -> None:
    with refused(error, *said):
        computed(make, ROW)


def test_a_lambda_is_no_column() -> None:
    double = sd.lambda_({"x": sd.I32}, lambda x: x * 2)
    with refused(InvalidArgumentError, "select", "takes values, got a row", "function(r.x)"):
        T.select(n=double)


def test_a_parameter_does_not_leave_its_lambda() -> None:
    kept: list[Any] = []

    def leak(x: Any) -> Any:
        kept.append(x)
        return x

    computed(lambda r: f.transform(r.xs, leak), ROW)
    with refused(SchemaError, "select", 'the parameter "x" of a lambda is used outside of it'):
        T.select(n=kept[0])


def test_a_mistake_is_an_error_where_it_is_written() -> None:
    """Where the types are known at once, the call itself raises, not the verb that takes the column."""
    raised: list[str] = []

    def column(r: Any) -> Expression:
        try:
            return f.transform(r.xs, lambda x: x + r.k.cast(sd.String))  # type: ignore[no-any-return]  # `f` is anything
        except FunctionNotFoundError as error:
            raised.append(error.message)
            raise

    with refused(FunctionNotFoundError, "add(i32, string)"):
        T.select(n=column)
    assert len(raised) == 1
