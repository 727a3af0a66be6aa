"""Names that hide others: who writes Python has said which variable or table is meant, and no other takes its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import SchemaError
from substrait_dsl.partiql import (
    Bindings,
    Tuple,
    Values,
    bag,
    bind,
    data_text,
    list_of,
    parse_bindings,
    parse_value,
    scan,
    struct,
    table,
)
from tests.support import refused

ROWS = sd.read_virtual([(1,), (2,)], {"id": "i64"})
FOO = table("Foo", ROWS)


@pytest.mark.parametrize(
    "hide",
    [
        lambda: scan(FOO, as_="Foo").cross_join(scan(FOO, as_="g")),
        lambda: scan([0], as_="Foo").cross_join(scan(FOO, as_="g")),
        lambda: scan([0], as_="Foo").cross_join(lambda t: scan(FOO, as_="g")),
        lambda: scan([0], as_="Foo").join(scan([0], as_="g"), on=lambda t: t.g.is_in(FOO)),
        lambda: scan([0], as_="Foo").filter(FOO.is_null()),
        lambda: scan([0], as_="Foo").map_values(lambda t: struct(a=t.Foo, b=FOO)),
        lambda: scan([0], as_="x", at="Foo").map_let(y=lambda t: FOO),
        lambda: scan([0], as_="Foo").group_by({"k": FOO}),
        lambda: scan([0], as_="Foo").order_by(lambda t: FOO),
        lambda: scan([0], as_="Foo").pivot(lambda t: t.Foo, FOO),
    ],
)
def test_a_variable_does_not_take_the_place_of_a_table(hide: Callable[[], object]) -> None:
    with refused(SchemaError, 'the table "Foo" is hidden by the variable "Foo" of the tuples that have'):
        hide()


def test_a_table_beside_a_variable_of_its_name() -> None:
    """It is not hidden where the variable is not seen."""
    rows = scan(FOO, as_="Foo").filter(lambda t: t.Foo.id > 1).cross_join(lambda t: scan(t.Foo.id, as_="x"))
    assert data_text(rows.map_values(lambda t: t.x).evaluate()) == "<< 2 >>"
    assert len(scan([0], as_="g").cross_join(scan(FOO, as_="Foo")).evaluate()) == 2
    unused = bind(parse_bindings("(scan (id A) a)"), {"A": [7], "Foo": [8]})
    made = scan([1], as_="Foo").map_values(lambda t: struct(x=t.Foo, y=unused.map_values(lambda u: u.a)))
    assert data_text(made.evaluate()) == "[{ x: 1, y: [7] }]"


def above(outer: str, inner: str) -> Values:
    """For each number those that are greater."""
    return scan([1, 2], as_=outer).map_values(
        lambda t: scan([1, 2], as_=inner).filter(lambda u: u[inner] > t[outer]).map_values(lambda u: u[inner])
    )


def test_a_variable_does_not_take_the_place_of_one_further_out() -> None:
    assert above("a", "b").evaluate() == ((2,), ())
    with refused(
        SchemaError,
        'filter: the variable "a" of the tuple that has "a" is hidden by the variable "a" of the tuple inside',
    ):
        above("a", "a")
    with refused(SchemaError, 'cross_join: the variable "a"', '"a", "i"', "give one of them another name"):
        scan([1], as_="a").cross_join(lambda t: scan([2], as_="a", at="i").cross_join(scan(list_of(t.a), as_="x")))


def test_a_variable_of_a_name_that_is_there_further_out() -> None:
    """Nothing is hidden where the one further out is not meant."""
    own = scan([1, 2], as_="a").map_values(lambda t: scan([3], as_="a").map_values(lambda u: u.a))
    assert own.evaluate() == ((3,), (3,))
    source = scan([1, 2], as_="a").map_values(lambda t: scan(list_of(t.a), as_="a").map_values(lambda u: u.a + 1))
    assert source.evaluate() == ((2,), (3,))
    around = scan([1, 2], as_="a").map_values(
        lambda t: scan(bag([3]), as_="b").map_let(c=lambda u: u.b + t.a).map_values(lambda u: u.c - t.a)
    )
    assert around.evaluate() == (bag([3]), bag([3]))


def test_a_variable_that_leaves_its_lambda() -> None:
    kept: list[Values] = []

    def condition(row: Tuple) -> Values:
        kept.append(row.b)
        return row.b == 1

    scan([1], as_="b").filter(condition)
    for use in (
        lambda: scan([1], as_="c").filter(kept[0] == 1),
        lambda: scan([1], as_="b").map_values(lambda t: t.b + kept[0]),
        lambda: scan(kept[0], as_="c"),
    ):
        with refused(SchemaError, 'the variable "b" is of a tuple that another lambda got', "only inside the lambda"):
            use()


def test_a_tuple_without_a_lambda() -> None:
    """Its variables are those of whatever has these names."""
    rows: Bindings = scan([1, 2], as_="a")
    assert len(rows.filter(Tuple(rows)["a"] > 1).evaluate()) == 1


def test_values_of_one_name_are_the_same_ones() -> None:
    def named(value: object) -> Values:
        return bind(parse_value("(id x)"), {"x": value})

    for one, other in ((1, True), (0.0, -0.0), (1, 1.0), ([1], [1.0])):
        with refused(SchemaError, 'the name "x" stands for two tables'):
            list_of(named(one), named(other))
    nan = float("nan")
    assert data_text(list_of(named(nan), named(nan)).evaluate()) == "[nan, nan]"
    assert data_text(list_of(named({"a": 1}), named({"a": 1})).evaluate()) == "[{ a: 1 }, { a: 1 }]"
