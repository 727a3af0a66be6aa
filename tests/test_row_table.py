"""The rows of `collect`: a list, which notebooks show as a table."""

from __future__ import annotations

import copy
import pickle
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.fluent.collected import Rows
from substrait_dsl.render.row_table import MAX_CHARACTERS, MAX_COLUMNS, MAX_ROWS, rows_html
from tests.test_html import HOSTILE, Page


def cells(page: str) -> list[list[str]]:
    """The texts of the cells of each row of the table."""
    rows: list[list[str]] = []
    found = Page(page)
    texts = iter(found.texts)
    next(texts)  # how many there are
    for tag, _ in found.elements:
        if tag == "tr":
            rows.append([])
        elif tag in ("th", "td"):
            rows[-1].append(next(texts))
    return rows


def test_rows_that_were_collected_are_a_list_and_a_table(datafusion: None) -> None:
    from datafusion import SessionContext

    table = sd.read_virtual([(1, "x"), (2, None)], {"id": "i64", "a name": "string?"})
    rows = table.collect(SessionContext())
    assert rows == [(1, "x"), (2, None)]
    assert repr(rows).startswith("[Row(id=1, ")
    page = rows._repr_html_()  # type: ignore[attr-defined]  # a checker knows a list
    assert Page(page).texts[0] == "2 rows, 2 columns"
    assert cells(page) == [["id", '"a name"'], ["1", "x"], ["2", "NULL"]]


def test_what_is_made_of_rows_is_a_list() -> None:
    rows = Rows([(1,), (2,)], ("n",))
    for other in (pickle.loads(pickle.dumps(rows)), copy.copy(rows), [*rows], rows[:1], sorted(rows)):
        assert type(other) is list
    assert pickle.loads(pickle.dumps(rows)) == [(1,), (2,)]


def test_null_looks_otherwise_than_a_text() -> None:
    null, text = (Page(rows_html(["a"], [(value,)])).elements for value in (None, "NULL"))
    assert len(null) == len(text) + 1


@pytest.mark.parametrize(("count", "size"), [(0, "0 rows, 1 column"), (1, "1 row, 1 column")])
def test_few_rows(count: int, size: str) -> None:
    page = rows_html(["a"], [(1,)] * count)
    assert Page(page).texts[0] == size
    assert cells(page) == [["a"], *[["1"]] * count]


def test_many_rows_columns_and_characters_are_cut() -> None:
    names = [f"c{number}" for number in range(MAX_COLUMNS + 1)]
    page = rows_html(names, [["x" * 1000] * len(names)] * 2000)
    assert Page(page).texts[0] == f"2,000 rows, {len(names)} columns; the first 60 rows; the first 40 columns"
    assert len(cells(page)) == MAX_ROWS + 1
    assert {len(row) for row in cells(page)} == {MAX_COLUMNS}
    assert cells(page)[1][0] == "x" * MAX_CHARACTERS + "..."


def test_numbers_stand_to_the_right() -> None:
    values = [1, 1.5, Decimal("1.50"), True, "1", None, [1]]
    found = re.findall("<td([^>]*)>", rows_html([str(number) for number in range(len(values))], [values]))
    assert [bool(each) for each in found] == [True, True, True, False, False, False, False]


@given(HOSTILE, st.one_of(HOSTILE, st.binary(), st.floats(), st.lists(HOSTILE)))
def test_names_and_values_are_text(name: str, value: object) -> None:
    hostile = rows_html([name], [(value,)])
    assert Page(hostile).elements == Page(rows_html(["x"], [(1.0 if isinstance(value, float) else "x",)])).elements
    assert hostile.replace("\n", "").isprintable()
