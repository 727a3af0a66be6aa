"""Set operations by name: columns of the others in the order of the first; names in another order; names that lack."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.relations import Set
from substrait_dsl.algebra.rules import SET_OPS, SetOp
from substrait_dsl.errors import InvalidArgumentError, SchemaError, SignatureError, TypeMismatchError
from tests.support import columns, refused, table

ONE = table("name: string, town: string?, age: i32")
OTHER = table("town: string, age: i32, name: string", "u")
VERBS = ("union_all", "union", "intersect", "subtract")


@pytest.mark.parametrize("op", SET_OPS)
def test_columns_are_brought_into_the_order_of_the_first(op: SetOp) -> None:
    by_hand = ONE.set_op(op, OTHER.select("name", "town", "age"))
    assert ONE.set_op(op, OTHER, by_name=True).to_plan() == by_hand.to_plan()
    several = ONE.set_op(op, OTHER, ONE, OTHER, by_name=True)
    assert [rel.schema.names for rel in several._rel.relations] == [("name", "town", "age")] * 4


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_matches_by_name(verb: str) -> None:
    by_hand = getattr(ONE, verb)(OTHER.select("name", "town", "age"))
    assert getattr(ONE, verb)(OTHER, by_name=True).to_plan() == by_hand.to_plan()


@pytest.mark.usefixtures("duckdb")
def test_rows_are_those_of_duckdb() -> None:
    from duckdb import connect

    one = sd.read_virtual([("ann", "Oslo"), ("bob", "Rome")], {"name": "string", "town": "string"})
    other = sd.read_virtual([("Rome", "bob"), ("Lima", "dan")], {"town": "string", "name": "string"})
    expected = {
        "union_all": "FROM one UNION ALL BY NAME FROM other",
        "union": "FROM one UNION BY NAME FROM other",
        "intersect": "FROM one INTERSECT SELECT name, town FROM other",
        "subtract": "FROM one EXCEPT SELECT name, town FROM other",
    }
    with connect() as connection:
        connection.register("one", one.to_arrow())
        connection.register("other", other.to_arrow())
        for verb, sql in expected.items():
            found = Counter(map(tuple, getattr(one, verb)(other, by_name=True).collect()))
            assert found == Counter(connection.execute(sql).fetchall()), verb


@pytest.mark.parametrize("verb", VERBS)
def test_the_same_names_in_another_order_are_refused(verb: str) -> None:
    with pytest.raises(SchemaError) as caught:
        getattr(ONE, verb)(ONE, OTHER)
    assert str(caught.value).startswith(
        f'{verb}: the columns of input 3 have the names of input 1 in another order: "town", "age", "name" instead of '
        '"name", "town", "age"'
    )
    assert 'by_name=True matches them by name, select("name", "town", "age") of input 3' in str(caught.value.hint)


def test_plans_of_others_are_read_whatever_their_names_are() -> None:
    """The check is that of the verb: the nodes of a plan are matched by position, as the specification says."""
    tables = (table("a: i64, b: i64"), table("b: i64, a: i64", "u"))
    plan = sd.Relation(Set(tuple(each._rel for each in tables), "union_all")).to_plan()
    assert sd.Plan.from_bytes(plan.to_bytes()).roots[0].columns == ("a", "b")


def test_other_names_are_matched_by_position_as_ever() -> None:
    assert columns(table("a: i64, b: i64").union_all(table("b: i64, c: i64"))) == "a: i64, b: i64"
    twice = table("a: i64").cross(table("a: i64"))
    assert columns(twice.union_all(twice)) == "a: i64, a: i64"


SAID: list[tuple[Any, type[Exception], tuple[str, ...]]] = [
    (
        lambda: ONE.union_all(OTHER.rename(town="twon"), by_name=True),
        SchemaError,
        (
            'columns are matched by name, but input 2 lacks "town" and has "twon", which input 1 lacks',
            'rename({"twon": "town"}) of input 2',
        ),
    ),
    (
        lambda: ONE.union_all(ONE, OTHER.drop("age"), by_name=True),
        SchemaError,
        ('input 3 lacks "age"', 'with_columns(**{"age": null("i32")}) of input 3'),
    ),
    (
        lambda: ONE.drop("age").union_all(OTHER, by_name=True),
        SchemaError,
        ('input 2 has "age", which input 1 lacks', 'drop("age") of input 2'),
    ),
    (
        lambda: ONE.union_all(OTHER.cross(table("age: i32")), by_name=True),
        SchemaError,
        ('input 2 has "age" twice', "rename or drop"),
    ),
    (
        lambda: ONE.union_all(OTHER.with_columns(age=sd.lit("5")), by_name=True),
        TypeMismatchError,
        ("column 2 is age: i32 in input 1 but age: string in input 2",),
    ),
    (lambda: ONE.union_all(OTHER, by_name="yes"), InvalidArgumentError, ("union_all: by_name is True or False",)),
    (lambda: ONE.union_all(OTHER, allowMissingColumns=True), SignatureError, ("by_name=True", "null(")),
    (lambda: ONE.union(OTHER, all=True), SignatureError, ("union_all(...) for all rows",)),
]


@pytest.mark.parametrize(("call", "error", "said"), SAID)
def test_inputs_that_do_not_fit(call: Any, error: Any, said: tuple[str, ...]) -> None:
    with refused(error, *said):
        call()


def test_what_the_hints_say_works() -> None:
    expected = "name: string, town: string?, age: i32"
    assert columns(ONE.union_all(OTHER.rename(town="twon").rename({"twon": "town"}), by_name=True)) == expected
    lacking = OTHER.drop("age").with_columns(age=sd.null("i32"))
    assert columns(ONE.union_all(lacking, by_name=True)) == "name: string, town: string?, age: i32?"
    assert columns(ONE.union_all(OTHER.select("name", "town", "age"))) == expected
