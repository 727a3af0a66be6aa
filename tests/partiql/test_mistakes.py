"""Mistakes of those who write expressions in Python: each an error that says what to write instead."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from functools import partial
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import partiql as pq
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    SchemaError,
    SubstraitDslError,
    TypeMismatchError,
)
from substrait_dsl.partiql.operations import FUNCTIONS
from tests.partiql.evaluating import data
from tests.support import refused

FOO: Any = pq.table("Foo", sd.read_named("Foo", {"id": "i64", "name": "string?", "m": "i64?"}))
ROWS: Any = pq.scan(FOO, as_="f")
OTHER: Any = pq.scan([1, 2], as_="x")
PQ: Any = pq

MISTAKES: dict[str, tuple[Callable[[], object], type[SubstraitDslError], tuple[str, ...]]] = {
    "iterating over a value": (lambda: list(FOO), TypeMismatchError, ("no sequence", "collect(spark) or evaluate")),
    "unpacking": (lambda: [*ROWS.map_values(lambda t: t.f)], TypeMismatchError, ("no sequence",)),
    "iterating over bindings": (lambda: list(ROWS), TypeMismatchError, ("no sequence",)),
    "in": (lambda: 1 in FOO, TypeMismatchError, ("no container", "x.is_in(collection)")),
    "no parameter": (lambda: ROWS.map_values(lambda: 1), InvalidArgumentError, ("map_values: lambda()", "one binding")),
    "two parameters": (
        lambda: ROWS.join(OTHER, on=lambda f, x: f.f.id == x.x),
        InvalidArgumentError,
        ("join: lambda(f, x) does not take one binding tuple", "lambda t: t.a == t.b sees the variables of both"),
    ),
    "lateral": (lambda: ROWS.cross_join(lambda: OTHER), InvalidArgumentError, ("cross_join: lambda() does not take",)),
    "a text as a condition": (
        lambda: ROWS.filter("f.id = 3"),
        InvalidArgumentError,
        ("filter: a condition is a lambda", "'f.id = 3'", "lambda t: t.f", "lit('f.id = 3')"),
    ),
    "a text as a key": (lambda: ROWS.order_by("id"), InvalidArgumentError, ("order_by: a key is a lambda", "'id'")),
    "a text in desc": (lambda: ROWS.order_by(pq.desc("id")), InvalidArgumentError, ("order_by: a key is a lambda",)),
    "keys": (lambda: ROWS.group_by(["k"]), InvalidArgumentError, ("group_by: the keys are a dict", "got ['k']")),
    "measures": (
        lambda: ROWS.group_by({}, "n"),
        InvalidArgumentError,
        ("group_by: the measures are a dict", "got 'n'"),
    ),
    "attributes": (lambda: PQ.struct([1]), InvalidArgumentError, ("struct: attributes are a dict", "got [1]")),
    "an aggregate as a value": (
        lambda: ROWS.map_values(lambda t: pq.avg(t.f.id)),
        TypeMismatchError,
        ("map_values: expected a value, got the aggregate avg", "group_by(measures="),
    ),
    "a sort key in a lambda": (
        lambda: ROWS.order_by(lambda t: pq.desc(t.f.id)),
        TypeMismatchError,
        ("order_by: expected a value, got a sort key", "desc(lambda t: ...)"),
    ),
    "a value in a list": (
        lambda: ROWS.filter(lambda t: t.f.id.is_in([t.f.m])),
        InvalidArgumentError,
        ("got Values(", "list_of, bag_of and struct"),
    ),
    "a verb of bindings": (
        lambda: FOO.filter(lambda t: t.id == 1),
        TypeMismatchError,
        ('a value has no method "filter"', 'scan(x, as_="f").filter(..)'),
    ),
    "a verb after map_values": (
        lambda: ROWS.map_values(lambda t: t.f).order_by(lambda t: t.id),
        TypeMismatchError,
        ('no method "order_by"', "scan makes them of a value"),
    ),
    "a method of others": (
        lambda: ROWS.filter(lambda t: t.f.id.between(1, 5)),
        TypeMismatchError,
        ('filter: a value has no method "between"', "write (low <= x) & (x <= high)"),
    ),
    "a method that is a function": (
        lambda: ROWS.map_values(lambda t: t.f.name.upper()),
        TypeMismatchError,
        ('no method "upper"', 'write call("upper", x)'),
    ),
    "a method, misspelt": (lambda: FOO.is_nul(), TypeMismatchError, ('no method "is_nul"', 'did you mean "is_null"?')),
    "a call of a value": (lambda: pq.lit(1)(), TypeMismatchError, ("(lit 1) is a value, which is not called",)),  # type: ignore[operator]
    "a text to join on": (
        lambda: ROWS.join(OTHER, on="id"),
        InvalidArgumentError,
        ("join: a condition is a lambda", "lit('id')"),
    ),
    "how, where the condition is": (lambda: ROWS.join(OTHER, "left"), InvalidArgumentError, ("join: a condition",)),
    "a condition that Python has made a bool": (
        lambda: ROWS.filter(False),
        InvalidArgumentError,
        ("filter: a condition is a lambda", "got False", 'lambda t: t.f.x == "open"', "lit(False)"),
    ),
    "a condition of which no tuple decides": (
        lambda: ROWS.filter(lambda t: t.f.id is None),
        InvalidArgumentError,
        ("filter: a condition is", "but the lambda returned False", "t.f.x.is_null()", "lit(False)"),
    ),
    "a lambda that returns nothing": (
        lambda: ROWS.filter(lambda t: None),
        InvalidArgumentError,
        ("filter: a condition is", "but the lambda returned None, which no tuple decides"),
    ),
    "a join of which no pair decides": (
        lambda: ROWS.join(OTHER, lambda t: True, "left"),
        InvalidArgumentError,
        ("join: a condition is", "but the lambda returned True", "lit(True)"),
    ),
    "a join on a bool": (lambda: ROWS.join(OTHER, on=True), InvalidArgumentError, ("join: a condition", "lit(True)")),
    "a text as a key of groups": (lambda: ROWS.group_by({"k": "id"}), InvalidArgumentError, ('group_by: the key "k"',)),
    "count of all": (
        lambda: ROWS.group_by({}, {"n": pq.count("*")}),
        InvalidArgumentError,
        ('what the aggregate "n" is of', "count(1) counts the tuples"),
    ),
    "a text for each": (lambda: ROWS.map_values("id"), InvalidArgumentError, ("map_values: ", "lambda t: t.f")),
    "a text in pivot": (lambda: ROWS.pivot("k", lambda t: t.f.id), InvalidArgumentError, ("pivot: the name of each",)),
    "a tuple as a value": (
        lambda: ROWS.map_values(lambda t: t),
        TypeMismatchError,
        ("map_values: expected a value, got a binding tuple", "struct(f=t.f)"),
    ),
    "a tuple in a struct": (lambda: ROWS.map_values(lambda t: pq.struct(a=t)), TypeMismatchError, ("binding tuple",)),
    "an expression of relations": (
        lambda: ROWS.filter(sd.col("id") == 1),
        TypeMismatchError,
        ("filter: expected a value of the algebra", "lambda t: t.f.name"),
    ),
    "a key of relations": (lambda: ROWS.order_by(sd.desc("id")), TypeMismatchError, ("order_by: ", "of relations")),
    "limit": (lambda: ROWS.limit(-1), InvalidArgumentError, ("limit: expected a number of tuples, 0 or more, got -1",)),
    "limit, a text": (lambda: ROWS.limit("1"), InvalidArgumentError, ("limit: expected a number", "got '1'")),
    "offset": (lambda: ROWS.offset(True), InvalidArgumentError, ("offset: expected a number of tuples", "got True")),
    "an attribute twice": (
        lambda: pq.struct({"a": 1}, a=2),
        SchemaError,
        ('struct: the attribute "a" is given twice',),
    ),
    "the name of an attribute": (lambda: PQ.struct({1: 2}), InvalidArgumentError, ("struct: the name", "got 1")),
    "bind of a text": (lambda: PQ.bind("(id x)", {}), InvalidArgumentError, ("bind", "'(id x)'", "parse(text)")),
    "tables of bind": (lambda: PQ.bind(pq.Id("x"), [1]), InvalidArgumentError, ("bind: the tables are a dict", "[1]")),
    "function": (lambda: pq.call("median", FOO), InvalidChoiceError, ("'median'", *FUNCTIONS)),
    "render of bindings": (lambda: PQ.render(ROWS), TypeMismatchError, ("render: expected a node", "query.expression")),
    "render of a text": (lambda: PQ.render("(id x)"), TypeMismatchError, ("render: expected a node", "parse(text)")),
    "walk": (lambda: PQ.walk(ROWS), TypeMismatchError, ("walk: expected a node", "query.expression")),
    "transform": (lambda: PQ.transform(FOO, str), TypeMismatchError, ("transform: expected a node",)),
    "a bag of a dict": (
        lambda: PQ.bag({"a": 1}),
        InvalidArgumentError,
        ("bag: the elements of a bag are a list, got {'a': 1}", "[{'a': 1}] is a list of it"),
    ),
    "a bag of a text": (lambda: PQ.bag("ab"), InvalidArgumentError, ("bag: the elements of a bag", "got 'ab'")),
    "a bag of a set": (lambda: PQ.bag({1}), InvalidArgumentError, ("bag: the elements of a bag", "got {1}")),
    "a bag of a number": (lambda: PQ.bag(5), InvalidArgumentError, ("bag: the elements of a bag", "got 5")),
    "a Bag of a number": (lambda: PQ.lit(PQ.Bag(5)), InvalidArgumentError, ("the elements of a Bag", "got 5")),
    "a Struct of a number": (lambda: PQ.lit(PQ.Struct(5)), InvalidArgumentError, ("pairs of a name", "got 5")),
    "a Struct of numbers": (lambda: PQ.Struct((5,)), InvalidArgumentError, ("a pair of a name and a value, got 5",)),
    "record ids": (lambda: PQ.Table([1], 5), InvalidArgumentError, ("the record ids of a table are a list, got 5",)),
    "a binding tuple of numbers": (lambda: PQ.BindingTuple([1]), InvalidArgumentError, ("a pair of a name", "got 1")),
    "a binding tuple of a set": (
        lambda: PQ.BindingTuple((("a", {1}),)),
        InvalidArgumentError,
        ("a value is None", "got {1}"),
    ),
    "binding tuples": (lambda: PQ.BindingsData("bag", 5), InvalidArgumentError, ("a tuple of BindingTuples, got 5",)),
    "the kind of bindings": (lambda: PQ.BindingsData("x", ()), InvalidChoiceError, ("'x'", '"bag", "list"')),
    "the name of a key": (lambda: ROWS.group_by({5: 1}), InvalidArgumentError, ("group_by: the variables of keys",)),
    "no key": (lambda: ROWS.order_by(), InvalidArgumentError, ("order_by: it has no key",)),
    "no struct": (lambda: pq.struct_concat(), InvalidArgumentError, ("struct_concat: expected at least one struct",)),
    "a constant that is no value": (lambda: PQ.dynamic({1}), InvalidArgumentError, ("dynamic: a value is None",)),
}


@pytest.mark.parametrize(("make", "error", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(make: Callable[[], object], error: type[SubstraitDslError], said: tuple[str, ...]) -> None:
    with refused(error, *said):
        make()


def test_what_a_lambda_raises_itself_is_left_alone() -> None:
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        ROWS.map_values(lambda t: [] - {})  # type: ignore[operator]
    assert not isinstance(caught.value, SubstraitDslError)


def test_operators_with_the_constant_on_the_left() -> None:
    of = pq.lit(4)
    assert (8 / of).evaluate() == 2
    assert (10 % of).evaluate() == 2
    assert (True & (of == 4)).evaluate() is True
    assert (False | (of == 3)).evaluate() is False
    assert abs(-of).evaluate() == 4


class Count(IntEnum):
    THREE = 3


class Word(StrEnum):
    A = "a"


class Other(str, Enum):  # noqa: UP042  # whose text is not its value
    A = "a"


class Real(float):
    """As numpy's: written like a call."""

    def __repr__(self) -> str:
        return f"Real({float(self)})"


class Moment(dt.datetime):
    """As pandas' ``Timestamp``: with more digits than a datetime."""

    nanosecond = 0

    def __eq__(self, other: object) -> bool:
        return self.nanosecond == 0 and super().__eq__(other)

    __hash__ = dt.datetime.__hash__


class Amount(Decimal):
    pass


class Day(dt.date):
    pass


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (Count.THREE, 3),
        (Word.A, "a"),
        (Other.A, "a"),
        (Real(1.5), 1.5),
        (Amount("1.50"), Decimal("1.50")),
        (Day(2024, 2, 29), dt.date(2024, 2, 29)),
        (Moment(2024, 2, 29, 12, 30, 0, 1), dt.datetime(2024, 2, 29, 12, 30, 0, 1)),
        (Moment(2024, 2, 29, tzinfo=dt.UTC), dt.datetime(2024, 2, 29, tzinfo=dt.UTC)),
    ],
)
def test_values_of_other_classes_become_those_of_python(given: Any, plain: Any) -> None:
    """They are printed, read back, compared and told apart as the values that they are."""
    literal = pq.Lit(given)
    assert type(literal.value) is type(plain)
    assert literal == pq.Lit(plain)
    assert pq.parse(pq.render(literal)) == literal
    assert (pq.lit(plain) <= given).evaluate() is True
    assert pq.lit({Other.A: given}).evaluate() == data(f"{{ a: {pq.data_text(plain)} }}")


def test_a_moment_that_no_datetime_holds_is_refused() -> None:
    moment = Moment(2024, 2, 29)
    moment.nanosecond = 1
    with refused(InvalidArgumentError, "is no datetime of Python's"):
        pq.lit([moment])


def of_no_tuple(given: pq.Values, row: pq.Tuple) -> pq.Values:
    return given


def test_constants_of_the_algebra_are_conditions() -> None:
    rows = pq.scan(pq.bag([{"x": 1}]), as_="f")
    kept = {True: "<< <{ f: { x: 1 } }> >>", False: "<< >>", None: "<< >>"}
    for constant, expected in kept.items():
        given: pq.Values = pq.lit(constant)
        assert pq.data_text(rows.filter(given).evaluate()) == expected
        assert rows.filter(partial(of_no_tuple, given)).expression == rows.filter(given).expression
    assert rows.map_values(lambda t: True).evaluate() == rows.map_values(pq.lit(True)).evaluate()
