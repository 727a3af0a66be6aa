"""What an expression prints as before it meets a row."""

from __future__ import annotations

from typing import Any

import pytest

import substrait_dsl as sd
from tests.support import f, table

T = table("id: i64, q: i32")


class OnlyId(sd.Schema):
    id: sd.I64


SHOWN: list[tuple[object, str]] = [
    (sd.col("x") > 3, "x > 3"),
    ((sd.col("x") + 1) * 2, "(x + 1) * 2"),
    (T.c.id * 2 > 5, "id * 2 > 5: boolean"),
    (T.c.id + sd.col("x"), "id + x"),
    (sd.col("x").cast(sd.I32), "cast(x as i32): i32"),
    (sd.col("x").is_in([1, 2]), "is_in(x, 1, 2)"),
    (sd.when(sd.col("x") > 3).then(1).otherwise(None), "if_then(x > 3, 1, None)"),
    (f.upper(sd.col("first name")), 'upper("first name")'),
    (f.sum(sd.col("x")).over(order_by="day"), "sum(x, day)"),
    (OnlyId.id, "id"),
    (sd.lit(5), "5: i64"),
]


@pytest.mark.parametrize(("expression", "text"), SHOWN, ids=[text for _, text in SHOWN])
def test_an_expression_shows_what_it_is_before_it_meets_a_row(expression: object, text: str) -> None:
    assert repr(expression) == f"Expr({text})"


def test_an_expression_of_two_rows_shows_both() -> None:
    seen: list[str] = []

    def condition(r: Any) -> Any:
        seen.append(repr(r.q > sd.col("id")))
        return r.q > 1

    T.filter(condition)
    assert seen == ["Expr(q > id)"]


def test_a_shared_expression_is_shown_in_part() -> None:
    shared = sd.col("x")
    for _ in range(100):
        shared = shared + shared
    assert len(repr(shared)) < 2000
