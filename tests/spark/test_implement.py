"""What is bound to functions of a user's own extension, on Spark."""

from __future__ import annotations

import datetime as dt
from contextlib import ExitStack
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession, functions

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.session.connect import is_remote
from tests.support import f, refused
from tests.test_implement import BODIES, ONE_MORE, ROWS, SUMS, VALUES, my
from tests.test_names_of_standard_functions import ROWS as NAMED
from tests.test_names_of_standard_functions import SQL as OF_NAMES
from tests.test_names_of_standard_functions import own

JSON = ROWS.select(a=lambda r: my.get_json(r.j, "$.a"))
FOUND = [("1",), (None,), ("x",)]


def test_sql_text(spark: SparkSession) -> None:
    with refused(UnsupportedError, "get_json(string, string)", 'hint: implement(my.get_json, "spark", ...)'):
        JSON.collect(spark)
    with sd.implement(my.get_json, "spark", "get_json_object({text}, {1})"):
        assert JSON.check("spark")
        assert JSON.collect(spark) == FOUND
    with (
        sd.implement(my.get_json, "spark", "length({0})"),
        refused(UnsupportedError, "gives int on Spark, and its extension declares string?, which is string there"),
    ):
        JSON.collect(spark)
    with sd.implement(my.get_json, "spark", "no_such({0})"), refused(UnsupportedError, "does not take", "`no_such`"):
        JSON.collect(spark)


def test_nested_results_are_of_the_declared_nullability(spark: SparkSession) -> None:
    parts = ROWS.select(p=lambda r: my.parts(r.j))
    with sd.implement(my.parts, "spark", "split({x}, ' ')"):
        assert parts.collect(spark) == [(['{"a":', "1}"],), (["{}"],), (['{"a":', '"x"}'],)]
    with (
        sd.implement(my.parts, "spark", "array(nullif({x}, ''))"),
        refused(UnsupportedError, "gives array<string> on Spark", "which is array<string> without NULL there"),
    ):
        parts.collect(spark)


def test_functions_of_columns(spark: SparkSession) -> None:
    if is_remote(spark):
        with (
            sd.implement(my.get_json, "spark", lambda text, path: text),
            refused(UnsupportedError, "which a client of Spark Connect has no text for", 'takes="arrays"'),
        ):
            JSON.collect(spark)
        return
    with sd.implement(my.get_json, "spark", lambda text, path: functions.get_json_object(text, "$.a")):
        assert JSON.check("spark")
        assert JSON.collect(spark) == FOUND
        keyed = ROWS.filter(lambda r: my.get_json(r.j, "$.a").is_not_null())
        assert keyed.group_by(k=lambda r: my.get_json(r.j, "$.a")).agg(n=f.count()).sort("k").collect(spark) == [
            ("1", 1),
            ("x", 1),
        ]
    with sd.implement(my.plus, "spark", lambda x, y: functions.when(x > 1, (x + y) * 2).otherwise(-x)):
        # 2 -> (2 + 10) * 2, 1 -> -1
        assert ROWS.select(s=lambda r: my.plus(r.n, 10)).collect(spark) == [(-1,), (24,), (None,)]
    with sd.implement(my.least_of, "spark", lambda *columns: functions.least(*columns)):
        assert ROWS.select(s=lambda r: my.least_of(r.n, 5, 2, -1)).collect(spark) == [(-1,), (-1,), (-1,)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            lambda text, path: functions.transform(functions.array(text), lambda each: functions.upper(each))[0],
            "no SQL text for the Column",
        ),
        (lambda text, path: functions.udf(lambda x: x, "string")(text), "no SQL text for the Column"),
        (lambda text, path: functions.length(text), "gives int on Spark"),
        (lambda text, path: "text", "returns 'text', and not a Column"),
    ],
)
def test_columns_that_cannot_be_used(body: Any, said: str, spark: SparkSession) -> None:
    said = "a client of Spark Connect" if is_remote(spark) else said
    with sd.implement(my.get_json, "spark", body), refused(UnsupportedError, said):
        JSON.collect(spark)


@pytest.mark.parametrize("takes", BODIES)
def test_python_functions(takes: Any, spark: SparkSession) -> None:
    with sd.implement(my.plus, "spark", BODIES[takes], takes=takes):
        assert SUMS.collect(spark) == ONE_MORE
        assert ROWS.filter(lambda r: my.plus(r.n, 1) > 2).select("n").collect(spark) == [(2,)]
        grouped = ROWS.group_by(k=lambda r: my.plus(r.n, 1)).agg(n=f.count()).sort("k")
        assert grouped.collect(spark) == [(None, 1), (2, 1), (3, 1)]


@pytest.mark.parametrize("takes", BODIES)
def test_values_of_all_types_come_back(takes: Any, spark: SparkSession) -> None:
    columns = {f"c{number}": f"{type_}?" for number, (type_, _) in enumerate(VALUES)}
    rows = sd.read_virtual([tuple(value for _, value in VALUES), (None,) * len(VALUES)], columns)
    with sd.implement(my.same, "spark", lambda x: x, takes=takes):
        found = rows.select(**{name: my.same(sd.col(name)) for name in columns})
        assert found.collect(spark) == [tuple(value for _, value in VALUES), (None,) * len(VALUES)]


def test_what_returns_something_else_fails(spark: SparkSession) -> None:
    sums = ROWS.select(s=lambda r: my.plus(r.n, 1))
    with (
        sd.implement(my.plus, "spark", lambda x, y: dt.date(2024, 1, 1), takes="values"),
        refused(ExecutionError, "of the type datetime.date, and its extension declares int64"),
    ):
        sums.collect(spark)
    with (
        sd.implement(my.plus, "spark", lambda x, y: pc.cast(x, pa.float64()), takes="arrays"),
        refused(ExecutionError, "collect: TypeError: the implementation of plus returns double"),
    ):
        sums.collect(spark)


def test_an_error_of_a_python_function_names_it_and_its_step(spark: SparkSession) -> None:
    sums = ROWS.select(s=lambda r: my.plus(r.n, 1))
    totals = ROWS.aggregate(t=lambda r: my.total(r.n))
    for takes in BODIES:
        with (
            sd.implement(my.plus, "spark", lambda x, y: dict[str, int]()["no"], takes=takes),
            refused(ExecutionError, "the implementation of plus raises KeyError: 'no'", "in plus(n, 1) (step: project"),
        ):
            sums.collect(spark)
    with (
        sd.implement(my.total, "spark", lambda x: dict[str, int]()["no"], takes="values"),
        refused(ExecutionError, "implementation of total raises KeyError: 'no'", "in total(n) (step: aggregate"),
    ):
        totals.collect(spark)


def test_a_required_result_is_not_null(spark: SparkSession) -> None:
    required = ROWS.select(s=lambda r: my.plus(f.char_length(r.j), 1))
    with (
        sd.implement(my.plus, "spark", lambda x, y: None, takes="values"),
        refused(ExecutionError, "the implementation of plus returns NULL"),
    ):
        required.collect(spark)
    with sd.implement(my.plus, "spark", "nullif({0}, 8)"), refused(ExecutionError, "required"):
        required.collect(spark)
    with sd.implement(my.plus, "spark", "nullif({0}, 7)"):
        assert required.collect(spark) == [(8,), (2,), (10,)]


def test_names_of_the_specification(spark: SparkSession) -> None:
    with ExitStack() as stack:
        for name, text in OF_NAMES.items():
            stack.enter_context(sd.implement(getattr(own, name), "spark", text))
        found = NAMED.filter(lambda r: ~own.equal(r.n, 2) | own.between(r.n, 2, 9)).aggregate(
            mine=lambda r: own.sum(r.n),
            theirs=lambda r: f.sum(r.n),
            text=lambda r: own.sum(own.lower(r.s)),
            twice=lambda r: own.count(own.add(r.n, 1)).filter(f.equal(r.n, 2)),
            once=lambda r: f.count(f.add(r.n, 1)),
        )
        # of 1 and 2, as equal tells values that differ, and between numbers out of an interval
        assert found.collect(spark) == [(2, 3, "B", 2, 2)]
    assert NAMED.aggregate(s=lambda r: f.sum(r.n), n=lambda r: f.count(r.n)).collect(spark) == [(6, 3)]
    with refused(UnsupportedError, "sum(i64) of extension:com.acme:functions_comparison"):
        NAMED.aggregate(s=lambda r: own.sum(r.n)).collect(spark)
