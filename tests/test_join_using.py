"""Joins by columns of the same name, of which one is put out: columns, rows as DuckDB's ``USING`` has them, errors."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.algebra.relations import Join
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES
from substrait_dsl.errors import (
    AmbiguousFieldError,
    InvalidArgumentError,
    SchemaError,
    SignatureError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import columns, refused, table

L = table("a: i64, k: i64, b: string?")
R = table("k: i64, y: date?", "r")
BOTH = "a: i64, k: i64, b: string?, y: date?"

COLUMNS: dict[str, str] = {
    # one k, at the place of the left one; a row of an outer join has a k of one side at least
    "inner": "a: i64, k: i64, b: string?, y: date?",
    "outer": "a: i64?, k: i64, b: string?, y: date?",
    "left": "a: i64, k: i64, b: string?, y: date?",
    "right": "a: i64?, k: i64, b: string?, y: date?",
    "left_single": "a: i64, k: i64, b: string?, y: date?",
    "right_single": "a: i64?, k: i64, b: string?, y: date?",
    # as with on=
    "left_semi": "a: i64, k: i64, b: string?",
    "left_anti": "a: i64, k: i64, b: string?",
    "right_semi": "k: i64, y: date?",
    "right_anti": "k: i64, y: date?",
    "left_mark": "a: i64, k: i64, b: string?, mark: boolean?",
    "right_mark": "k: i64, y: date?, mark: boolean?",
}


@pytest.mark.parametrize("how", JOIN_TYPES)
def test_a_key_is_put_out_once(how: Any) -> None:
    assert columns(L.join(R, using="k", how=how)) == COLUMNS[how]
    assert columns(L.join(R, using=["k"], how=how)) == COLUMNS[how]


@pytest.mark.parametrize("how", LATERAL_JOIN_TYPES)
def test_a_lateral_join_puts_it_out_once_too(how: Any) -> None:
    assert columns(L.lateral_join(lambda row: R.filter(lambda r: r.k > row.a), using="k", how=how)) == COLUMNS[how]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("i64", "i64", "i64"), ("i64?", "i64", "i64?"), ("i64", "i64?", "i64?"), ("i64?", "i64?", "i64?")],
)
def test_a_key_of_an_outer_join_is_required_where_both_are(left: str, right: str, expected: str) -> None:
    one, other = table(f"k: {left}, x: i32"), table(f"y: i32, k: {right}", "r")
    assert columns(one.join(other, using="k", how="outer")) == f"k: {expected}, x: i32?, y: i32?"


def test_several_keys_stand_where_the_left_ones_do() -> None:
    other = table("c: i32, b: string?, k: i64", "r")
    assert columns(L.join(other, using=("k", "b"))) == "a: i64, k: i64, b: string?, c: i32"
    assert columns(L.join(other, using=["b"]).drop(4)) == "a: i64, k: i64, b: string?, c: i32"


def test_the_condition_is_that_of_the_names() -> None:
    inner = L.join(R, using="k")._rel.input
    assert isinstance(inner, Join)
    assert inner.condition == L.join(R, on="k")._rel.condition
    assert L.join(R, using="k", how="left_semi").to_plan() == L.join(R, on="k", how="left_semi").to_plan()


# --- rows ---

KEYS = st.one_of(st.none(), st.integers(0, 3))
ROWS = st.lists(st.tuples(KEYS, KEYS, st.integers(0, 9)), max_size=8)
SQL: dict[str, str] = {
    "inner": "SELECT x, k, j, y FROM l JOIN r USING (k, j)",
    "left": "SELECT x, k, j, y FROM l LEFT JOIN r USING (k, j)",
    "right": "SELECT x, k, j, y FROM l RIGHT JOIN r USING (k, j)",
    "outer": "SELECT x, k, j, y FROM l FULL JOIN r USING (k, j)",
    "left_semi": "SELECT x, k, j FROM l SEMI JOIN r USING (k, j)",
    "left_anti": "SELECT x, k, j FROM l ANTI JOIN r USING (k, j)",
}


def duckdb_rows(sql: str, **tables: pa.Table) -> Counter[tuple[Any, ...]]:
    from duckdb import connect

    with connect() as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        return Counter(connection.execute(sql).fetchall())


@pytest.mark.usefixtures("duckdb")
@settings(max_examples=8)
@given(ROWS, ROWS)
def test_rows_are_those_of_duckdb(left: list[Any], right: list[Any]) -> None:
    """Of nullable keys, with repetitions and NULLs."""
    one = sd.read_virtual([(x, k, j) for k, j, x in left], {"x": "i64", "k": "i64?", "j": "i64?"})
    other = sd.read_virtual(right, {"k": "i64?", "j": "i64?", "y": "i64"})
    tables = {"l": one.to_arrow(), "r": other.to_arrow()}
    for how, sql in SQL.items():
        found = Counter(tuple(row) for row in one.join(other, using=["k", "j"], how=how).collect())  # type: ignore[arg-type]
        assert found == duckdb_rows(sql, **tables), how


def test_a_filter_after_the_join_sees_the_key_that_is_put_out() -> None:
    """3 is a key of the left side only, 5 of the right one; 2 of both."""
    one = sd.read_virtual([(2,), (3,)], {"k": "i64"})
    other = sd.read_virtual([(2, "x"), (5, "y")], {"k": "i64", "v": "string"})
    for how, expected in (("outer", {3, 5}), ("left", {3}), ("right", {5}), ("inner", set()), ("left_anti", {3})):
        found = one.join(other, using="k", how=how, post_filter=lambda r: r.k > 2).collect()  # type: ignore[arg-type]
        assert {row.k for row in found} == expected, how
    with refused(TypeMismatchError, "join, post_filter", "boolean", "i64"):
        one.join(other, using="k", post_filter=lambda r: r.k)


# --- refusals ---

SAID: list[tuple[Any, type[Exception], tuple[str, ...]]] = [
    (lambda: L.join(R), InvalidArgumentError, ("join: expected on=", "using=", 'write using="x"')),
    (lambda: L.join(R, "k", using="k"), InvalidArgumentError, ("join: expected on= or using=, not both", "filter(")),
    (lambda: L.join(R, True, using="k"), InvalidArgumentError, ("join: expected on= or using=, not both",)),
    (lambda: L.lateral_join(lambda _: R, "k", using="k"), InvalidArgumentError, ("lateral_join: ", "not both")),
    (lambda: L.join(R, using="kk"), UnknownFieldError, ("join, using: on the left side", '"kk"', 'mean "k"?')),
    (lambda: L.join(R, using="a"), UnknownFieldError, ("join, using: on the right side", '"a"', "lambda l, r:")),
    (lambda: L.join(R, using="y"), UnknownFieldError, ("join, using: on the left side", '"y"', "lambda l, r:")),
    (lambda: L.join(R, using=["k", "k"]), InvalidArgumentError, ('join, using: the column "k" stands twice',)),
    (lambda: L.join(R, using=[]), InvalidArgumentError, ("join, using: expected at least one column",)),
    (lambda: L.join(R, using=[("a", "k")]), InvalidArgumentError, ("got ('a', 'k')", "lambda l, r: l.x == r.y")),
    (lambda: L.join(R, using={"a": "k"}), InvalidArgumentError, ("got {'a': 'k'}", "lambda l, r: l.x == r.y")),
    (lambda: L.join(R, using=lambda l, r: l.k == r.k), InvalidArgumentError, ("join, using: ", "is for on=")),
    (lambda: L.join(R, using=sd.col("k")), InvalidArgumentError, ("join, using: ", "is for on=")),
    (
        lambda: L.join(table("k: i32", "r"), using="k"),
        TypeMismatchError,
        ('join, using: column "k" is i64 on the left side and i32 on the right', "right side before: with_columns(k="),
    ),
    (lambda: L.join(L.cross(R), using="k"), AmbiguousFieldError, ('join, using: column "k" is ambiguous',)),
    (lambda: L.join(R, using="k", how="left_mark", mark="b"), SchemaError, ('"b" already',)),
    (lambda: L.hash_join(R, "k", using="k"), SignatureError, ('hash_join: there is no argument "using"', "drop(")),
    (lambda: L.nested_loop_join(R, using="k"), SignatureError, ('nested_loop_join: there is no argument "using"',)),
    # habits of pandas and Polars
    (lambda: L.join(R, left_on="k", right_on="k"), SignatureError, ('"left_on", "right_on"', 'using="x"')),
    (
        lambda: L.join(R, on=("a", "y")),
        UnknownFieldError,
        ("on the right side", "lambda l, r: l.x == r.y"),
    ),
    (lambda: L.join(R, on=[("a", "k")]), InvalidArgumentError, ("got ('a', 'k')", "lambda l, r: l.x == r.y")),
    (lambda: L.join(R, on={"a": "k"}), InvalidArgumentError, ("lambda l, r: l.x == r.y",)),
]


@pytest.mark.parametrize(("call", "error", "said"), SAID)
def test_joins_that_are_refused(call: Any, error: Any, said: tuple[str, ...]) -> None:
    with refused(error, *said):
        call()


def test_what_the_hints_say_works() -> None:
    """A key that stands twice, as the error writes it; types that differ, cast as the error writes it."""
    with pytest.raises(AmbiguousFieldError) as ambiguous:
        L.join(R, on="k").select("k")
    assert 'join(..., using="k") leaves one of a key' in str(ambiguous.value.hint)
    assert columns(L.join(R, using="k").select("k")) == "k: i64"
    narrow = table("k: i32, z: i32", "r")
    with pytest.raises(TypeMismatchError) as differs:
        narrow.join(L, using="k")
    assert differs.value.hint == 'cast the one of the left side before: with_columns(k=col("k").cast("i64"))'
    assert (
        columns(narrow.with_columns(k=sd.col("k").cast("i64")).join(L, using="k"))
        == "k: i64, z: i32, a: i64, b: string?"
    )
    wide = L.with_columns(k=sd.col("k").cast("i64"))
    with refused(TypeMismatchError, 'cast the one of the right side before: with_columns(k=col("k").cast("i64"))'):
        wide.join(narrow, using="k")
    assert columns(wide.join(narrow.with_columns(k=sd.col("k").cast("i64")), using="k").select("k")) == "k: i64"
    both = 'with_columns(k=col("k").cast("fp64")) of the left side, with_columns(k=col("k").cast("fp64")) of the right'
    floats = table("k: fp32", "s")
    with refused(TypeMismatchError, f"cast both before: {both}"):
        narrow.join(floats, using="k")
    left, right = (each.with_columns(k=sd.col("k").cast("fp64")) for each in (narrow, floats))
    assert columns(left.join(right, using="k").select("k")) == "k: fp64"
    with pytest.raises(SignatureError) as physical:
        L.hash_join(R, "k", using="k")
    assert "drop(...)" in str(physical.value.hint)
    assert columns(L.hash_join(R, "k").drop(3)) == BOTH
