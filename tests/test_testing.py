"""Helpers for tests of pipelines: what they let through, and what they say of the rest."""

from __future__ import annotations

import datetime as dt
import doctest
import re
import subprocess
import sys
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl import testing
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import (
    InvalidArgumentError,
    LiteralError,
    SchemaError,
    SubstraitDslError,
    UnknownFieldError,
)
from substrait_dsl.testing import assert_same_rows, assert_schema, rows_table
from tests.support import environment_without_options, f, refused


class Point(NamedTuple):
    x: int
    y: int


class Other(NamedTuple):
    z: int


ORDERS = sd.read_named("orders", {"id": "i64", "price": "decimal<10,2>?", "note": "string?"})
PAGE = Path(__file__).parents[1] / "docs" / "testing.md"

SAME: dict[str, tuple[Any, Any]] = {
    "nothing": ([], []),
    "another order": ([(1, "a"), (2, None)], [(2, None), (1, "a")]),
    "as often": ([(1,), (1,), (2,)], [(1,), (2,), (1,)]),
    "NaN": ([(float("nan"),)], [(float("nan"),)]),
    "decimals": ([(Decimal("1.50"),)], [(Decimal("1.5"),)]),
    "lists and maps": ([([1, None], {"a": [1]})], [([1, None], {"a": [1]})]),
    "dicts": ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}]),
    "a table": ([(1, "x")], pa.table({"id": [1], "s": ["x"]})),
    "tables": (pa.table({"id": [1]}), pa.table({"id": [1]})),
    "columns of one name": (pa.table([[1], [2]], names=["a", "a"]), [(1, 2)]),
    "the zeros": ([(0.0,)], [(-0.0,)]),
    "values of numpy": ([(1, True, 0.5, [1, 2])], [(np.int64(1), np.True_, np.float32(0.5), np.array([1, 2]))]),
    "keys that are no number": ([({float("nan"): 1},)], [({float("nan"): 1},)]),
    "a map of a table": ([({"k": 1},)], pa.table({"m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))})),
    "named tuples": ([Point(1, 2)], [{"y": 2, "x": 1}]),
}


@pytest.mark.parametrize("case", SAME)
def test_rows_that_are_the_same(case: str) -> None:
    assert_same_rows(*SAME[case])


DIFFERENT: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "a value": (
        [(1, "a"), (2, "b")],
        [(1, "a"), (2, "c")],
        ("1 missing, 1 unexpected, 1 the same", "missing: (2, 'c')", "unexpected: (2, 'b')", "[(1, 'a'), (2, 'b')]"),
    ),
    "too often": ([(1,), (1,)], [(1,)], ("0 missing, 1 unexpected, 1 the same", "unexpected: (1,)")),
    "not at all": ([], [(1,)], ("1 missing, 0 unexpected, 0 the same", "write:\n[]")),
    "NULL": ([(None,)], [(0,)], ("missing: (0,)", "unexpected: (None,)")),
    "a float for a whole number": ([(1,)], [(1.0,)], ("missing: (1.0,)",)),
    "True for one": ([(1,)], [(True,)], ("missing: (True,)",)),
    "a text for a number": ([(1,)], [("1",)], ("missing: ('1',)",)),
    "a list in another order": ([([1, 2],)], [([2, 1],)], ("missing: ([2, 1],)",)),
    "True of numpy for one": ([(1,)], [(np.True_,)], ("missing: (np.True_,)",)),
    "a decimal for a whole number": ([(1,)], [(Decimal(1),)], ("missing: (Decimal('1'),)",)),
    "a float for a decimal": ([(Decimal("0.5"),)], [(0.5,)], ("missing: (0.5,)",)),
    "a tuple for a list": ([([1],)], [((1,),)], ("missing: ((1,),)",)),
    "a day for a time": ([(dt.datetime(2024, 1, 1),)], [(dt.date(2024, 1, 1),)], ("1 missing",)),
    "bytes for a text": ([("a",)], [(b"a",)], ("missing: (b'a',)",)),
    "a key twice": ([({nan: 1, float("nan"): 1},)], [({nan: 1},)], ("1 missing",)),
    "columns in another order": (
        pa.table({"a": [1], "b": [2]}),
        pa.table({"b": [1], "a": [2]}),
        ("columns: a, b\n  expected: b, a",),
    ),
    "columns of no rows": (pa.table({"a": [1]})[:0], pa.table({"b": [1]})[:0], ("columns: a\n  expected: b",)),
    "named tuples of other names": (pa.table({"y": [1], "x": [2]}), [Point(1, 2)], ("expected: x, y",)),
    "many": ([(n,) for n in range(50)], [], ("50 unexpected", "unexpected: 30 more", "...]  # 50 rows")),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_rows_that_are_not(case: str) -> None:
    actual, expected, words = DIFFERENT[case]
    with pytest.raises(AssertionError) as caught:
        assert_same_rows(actual, expected)
    for part in words:
        assert part in str(caught.value)


def test_the_order_counts_if_it_is_said() -> None:
    assert_same_rows([(1,), (2,)], [(1,), (2,)], ordered=True)
    with pytest.raises(AssertionError, match=r"in another order\n  row 0: \(1,\), expected \(2,\)"):
        assert_same_rows([(1,), (2,)], [(2,), (1,)], ordered=True)


def test_the_line_to_write_passes() -> None:
    actual = [(1, dt.date(2024, 1, 2), Decimal("1.5"), [None, "a"], {"k": (1, b"x")})]
    with pytest.raises(AssertionError) as caught:
        assert_same_rows(actual, [])
    line = str(caught.value).splitlines()[-1]
    assert_same_rows(actual, eval(line, {"datetime": dt, "Decimal": Decimal}))


def test_a_relation_is_run() -> None:
    given = {"orders": [(1, Decimal("2.50"), "a"), {"id": 2}, {"id": 3, "price": 7}]}
    dear = ORDERS.filter(lambda o: o.price > 2).select("id", "price")
    assert_same_rows(dear, [{"price": 7, "id": 3}, (1, Decimal("2.5"))], tables=given)
    assert_same_rows(dear, ORDERS.filter(lambda o: o.price >= Decimal("2.01")).select("id", "price"), tables=given)
    assert_same_rows(ORDERS.aggregate(n=f.count()), [(3,)], tables=given)
    with pytest.raises(AssertionError, match="columns: id, price"):
        assert_same_rows(dear, [], tables=given)


def test_expected_values_are_those_of_the_columns() -> None:
    """What Python has several values for: whole numbers for floats, dicts for structs, zones, uuids."""
    kinds = {"x": "fp64", "small": "fp32", "at": "precision_timestamp_tz<6>", "u": "uuid", "s": "struct<i64?, string?>"}
    read = sd.read_named("t", kinds)
    at = dt.datetime(2024, 1, 2, 3, tzinfo=dt.UTC)
    key = UUID(int=5)
    tables = {"t": [(1.0, 0.5, at, key, (1, None))]}
    assert_same_rows(read, [(1, 0.5, at, key, {"0": 1})], tables=tables)
    assert_same_rows(
        read, [(1.0, 0.5, at.astimezone(dt.timezone(dt.timedelta(hours=9))), str(key), (1, None))], tables=tables
    )


NESTED = sd.read_virtual(
    [(["a", "b"], ("a", "b"), {"k": 1}, 2.0**53, inf, Decimal(1), 1)],
    {"l": "list<string>", "s": "struct<string, string>", "m": "map<string, i64>", "x": "fp64", "y": "fp32",
     "d": "decimal<5,2>", "n": "i64"},
)  # fmt: skip
ROW = (["a", "b"], ("a", "b"), {"k": 1}, 2**53, inf, 1, 1)


@pytest.mark.parametrize(
    ("column", "value"),
    [("l", "ab"), ("l", {"a": 1, "b": 2}), ("l", b"ab"), ("l", ["a"]), ("l", ["b", "a"]), ("l", 5),
     ("s", "ab"), ("s", ("a",)), ("s", ("a", "b", "c")), ("s", {"0": "a"}), ("s", 5), ("m", [("k", 1)]), ("m", {}),
     ("m", {"k": True}), ("x", 2**53 + 1), ("x", 10**400), ("x", True), ("y", 1e300), ("y", 10**40),
     ("d", True), ("d", 1.0), ("d", "1.00"), ("n", Decimal(1)), ("n", 1.0), ("n", True), ("n", None)],
)  # fmt: skip
def test_what_is_none_of_a_column_differs(column: str, value: Any) -> None:
    """Though Python takes it apart, or converts it, to what is there."""
    assert_same_rows(NESTED, [ROW])
    assert_same_rows(NESTED, NESTED.to_arrow())
    wanted = dict(zip(NESTED.columns, ROW, strict=True)) | {column: value}
    with pytest.raises(AssertionError, match="1 missing, 1 unexpected"):
        assert_same_rows(NESTED, [wanted])


def test_tables_of_one_relation_and_of_the_other() -> None:
    one, other = (sd.read_named(name, {"a": "i64"}) for name in ("one", "other"))
    rows = {"one": [(1,)], "other": [(2,)]}
    assert_same_rows(one, other.select(a=lambda o: o.a - 1), tables=rows)
    with pytest.raises(AssertionError, match="1 missing"):
        assert_same_rows(one, other, tables=rows)
    with refused(InvalidArgumentError, 'table "othr", which the plan does not read'):
        assert_same_rows(one, other, tables={"one": [], "othr": []})


def test_rows_are_held_to_a_relation_as_a_relation_to_rows() -> None:
    at = dt.datetime(2024, 1, 2, 3, tzinfo=dt.UTC)
    given = pa.table({"at": pa.array([at], pa.timestamp("us", "Asia/Tokyo")), "x": [1]})
    assert_same_rows(given, sd.read_virtual([(at, 1.0)], {"at": "precision_timestamp_tz<6>", "x": "fp64"}))


def test_rows_become_exactly_the_declared_columns() -> None:
    kinds = {
        "i": "i8?", "d": "decimal<38,10>?", "s": "varchar<3>?", "t": "precision_time<3>?",
        "at": "precision_timestamp<0>?",
        "v": "interval_day<6>?", "y": "interval_year?", "u": "uuid?", "n": "u!u64?", "l": "list<struct<i64>?>?",
        "m": "map<string, date?>?",
    }  # fmt: skip
    schema = sd.read_named("t", kinds).schema
    row = (
        -128, Decimal("0.5"), "abc", dt.time(1, 2, 3, 4000), dt.datetime(2024, 1, 1), dt.timedelta(days=-1, seconds=5),
        sd.YearMonths(1, 2), UUID(int=1), 2**64 - 1, [(1,), None], {"k": dt.date(2024, 1, 1)},
    )  # fmt: skip
    table = rows_table([row, {}], schema.struct)
    assert table.schema.equals(schema.to_arrow(), check_metadata=True)
    table.validate(full=True)
    first, second = table.to_pylist()
    assert set(second.values()) == {None}
    assert first["v"] == dt.timedelta(days=-1, seconds=5)
    assert first["y"].months == 14
    assert first["l"] == [{"0": 1}, None]
    assert [first[name] for name in "isun"] == [-128, "abc", UUID(int=1), 2**64 - 1]
    assert (first["t"], first["at"], first["d"]) == (dt.time(1, 2, 3, 4000), dt.datetime(2024, 1, 1), Decimal("0.5"))


def test_rows_with_uuids_inside_of_other_types() -> None:
    """Of which pyarrow makes none there."""
    key = UUID(int=7)
    schema = sd.read_named("t", {"l": "list<uuid?>", "m": "map<uuid, uuid>", "s": "struct<uuid>?"}).schema
    table = rows_table([([key, None], {key: key}, (key,)), ([], {}, None)], schema.struct)
    assert table.schema.equals(schema.to_arrow(), check_metadata=True)
    table.validate(full=True)
    assert table.to_pylist() == [{"l": [key, None], "m": [(key, key)], "s": {"0": key}}, {"l": [], "m": [], "s": None}]


WRONG: dict[str, tuple[Any, Any, Any, type[SubstraitDslError], str]] = {
    "no rows": (5, [], None, InvalidArgumentError, "the rows must be a relation"),
    "one row": ([(1,)], (1,), None, InvalidArgumentError, "a row of one column is (1,)"),
    "text": ([(1,)], "1", None, InvalidArgumentError, "expected must be"),
    "another width": (ORDERS.select("id"), [(1, 2)], {"orders": []}, InvalidArgumentError, "it has 2 values"),
    "another key": (ORDERS.select("id"), [{"idd": 1}], {"orders": []}, UnknownFieldError, "did you mean"),
    "a key less": (ORDERS, [{"id": 1}], {"orders": []}, InvalidArgumentError, 'no value for "price"'),
    "no value of the type": (ORDERS, [], {"orders": [("1", None, None)]}, LiteralError, 'table "orders": row 0, col'),
    "an expression": (ORDERS, [], {"orders": [(sd.lit(1) + 1, None, None)]}, InvalidArgumentError, "an expression"),
    "a required one": (ORDERS, [], {"orders": [{"note": "x"}]}, SchemaError, 'no value for "id"'),
    "an unknown field": (NESTED.select("s"), [({"0": "a", "1": "b", "2": "c"},)], None, UnknownFieldError, '"2"'),
    "tables of rows": ([], [], {"orders": []}, InvalidArgumentError, "tables is for a relation"),
    "rows of other fields": ([], [Point(1, 2), Other(1)], None, InvalidArgumentError, "a row has the fields"),
    "a lazy frame": ([], pl.LazyFrame({"a": [1]}), None, InvalidArgumentError, "frame.collect()"),
    "a set": ([], [({1},)], None, InvalidArgumentError, "none of a column: {1}"),
    "another table": (ORDERS, [], {"order": [(1,)]}, InvalidArgumentError, "tables has table"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_rows(case: str) -> None:
    actual, expected, tables, error, words = WRONG[case]
    with refused(error, words):
        assert_same_rows(actual, expected, tables=tables)


def test_ordered_is_a_flag() -> None:
    ordered: Any = "yes"
    with refused(InvalidArgumentError, "ordered must be True or False"):
        assert_same_rows([], [], ordered=ordered)


def test_columns() -> None:
    total = ORDERS.aggregate("id", total=lambda o: f.sum(o.price))
    assert_schema(total, {"id": sd.I64, "total": "decimal<38,2>?"})
    assert_schema(total.schema, total.schema.to_arrow())
    with pytest.raises(AssertionError) as caught:
        assert_schema(total, {"id": "i32", "sum": "decimal<38,2>?", "more": "string"})
    text = str(caught.value)
    for part in (
        "column 0: id: i64, expected id: i32",
        "column 1: total: decimal<38,2>?, expected sum: decimal<38,2>?",
        "column 2: nothing, expected more: string",
    ):
        assert part in text
    assert_schema(total, eval(text.splitlines()[-1]))  # the line to write
    with refused(InvalidArgumentError, "assert_schema", "a relation has a schema"):
        assert_schema(5, {})  # type: ignore[arg-type]
    with refused(InvalidArgumentError, "assert_schema", "cannot read columns"):
        assert_schema(total, 5)


def nested_in(around: str, **fields: t.Type) -> dict[str, t.Type]:
    struct = t.Struct.of(fields)
    return {"column": {"list": t.List(struct), "map": t.Map(t.String(), struct)}.get(around, struct)}


@pytest.mark.parametrize("around", ["nothing", "list", "map"])
def test_the_names_of_the_fields_of_a_struct(around: str) -> None:
    read = sd.read_named("t", nested_in(around, a=sd.I64(), b=sd.I64()))
    assert_schema(read, nested_in(around, a=sd.I64(), b=sd.I64()))
    assert_schema(read, read.schema.to_arrow())
    assert_schema(read, {"column": str(read.schema.struct.types[0])})  # a text has no names for them
    with pytest.raises(AssertionError, match='with "a", "b", expected "b", "a"'):
        assert_schema(read, nested_in(around, b=sd.I64(), a=sd.I64()))


def test_the_examples_of_the_page_and_of_the_functions() -> None:
    page = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert (page.failed, page.attempted > 8) == (0, True)
    done = doctest.testmod(testing)
    assert (done.failed, done.attempted > 8) == (0, True)


def test_the_tests_of_the_page_pass_in_pytest(tmp_path: Path) -> None:
    """As a newcomer writes them, with the plugin, and a failure shows its message and no frame of the library."""
    first, second = re.findall(r"```python\n((?!>>>).*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "pipelines.py").write_text(
        "import substrait_dsl as sd\n"
        'orders = sd.read_named("orders", {"id": sd.I64, "price": sd.I64})\n'
        'dear_orders = orders.filter(lambda o: o.price > 10).select("id")\n'
    )
    failing = first[first.index("def test_") :].replace("test_dear", "test_wrong").replace("[(2,)]", "[(3,)]")
    (tmp_path / "test_shop.py").write_text(f"{first}\n{second}\n{failing}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "substrait_dsl.pytest_plugin", "-p", "no:cacheprovider", "."]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment_without_options(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "1 failed, 2 passed" in done.stdout
    assert "missing: (3,)" in done.stdout
    assert "substrait_dsl/testing.py" not in done.stdout
