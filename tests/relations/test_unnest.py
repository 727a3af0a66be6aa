"""Unnest: which columns it has, and what it refuses (what becomes of order and distribution: test_properties.py)."""

from __future__ import annotations

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import relations as r
from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    SubstraitDslError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.nodes import leaf, text
from tests.support import table

INPUT = leaf("id: i64, names: list<string?>?, pairs: list<struct<i8, i8>>")
ROWS = table("id: i64, names: list<string?>?")


def test_the_output_has_the_columns_of_the_input_then_the_element_and_its_offset() -> None:
    """The offset is that of a list element reference, from 0; of no list there is no row, so it is required."""
    names = "id: i64, names: list<string?>?, pairs: list<struct<i8, i8>>"
    assert text(r.Unnest(INPUT, 1)) == f"{names}, element: string?, offset: i64"
    assert text(r.Unnest(INPUT, 2, ("pair", "n"))) == f"{names}, pair: struct<i8, i8>, n: i64"


def test_it_is_told_apart_by_its_column_and_not_by_names() -> None:
    assert r.Unnest(INPUT, 1) == r.Unnest(INPUT, 1, ("name", "n")) != r.Unnest(INPUT, 2)


def test_the_verb_takes_a_column_or_an_expression() -> None:
    found = ROWS.unnest("names", element="name")
    assert text(found._rel) == "id: i64, names: list<string?>?, name: string?, offset: i64"
    for same in (1, sd.col("names"), lambda row: row.names):
        assert ROWS.unnest(same, element="name")._rel == found._rel
    computed = ROWS.unnest(lambda row: sd.list_of(row.id, 5), element="x", offset="place")
    assert text(computed._rel) == "id: i64, names: list<string?>?, x: i64, place: i64"


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: r.Unnest(INPUT, 0), TypeMismatchError, 'only lists have elements, column "id" is i64'),
        (lambda: r.Unnest(INPUT, 3), InvalidArgumentError, "the input has 3 columns"),
        (lambda: ROWS.unnest("id"), TypeMismatchError, "unnest: only lists have elements, this is i64"),
        (lambda: ROWS.unnest("name"), UnknownFieldError, 'did you mean "names"?'),
        (lambda: ROWS.unnest("names", element="id"), SchemaError, 'there is a column "id" already'),
        (lambda: ROWS.unnest("names", element="offset"), SchemaError, 'two columns would be called "offset"'),
        (lambda: ROWS.unnest("names", offset=None), InvalidArgumentError, "the name of a column is a str, got None"),
        (lambda: ROWS.unnest(lambda row: None), InvalidArgumentError, "a list is None"),
    ],
)
def test_mistakes(call: object, error: type[SubstraitDslError], said: str) -> None:
    with pytest.raises(error) as caught:
        call()  # type: ignore[operator]
    assert said in f"{caught.value}; {caught.value.hint}"
