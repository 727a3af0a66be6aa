"""What is bound to aggregate functions of a user's own extension, on Spark."""

from __future__ import annotations

import datetime as dt
import doctest
import re
from collections.abc import Callable
from decimal import Decimal
from math import isnan, nan
from pathlib import Path
from typing import Any

import attrs
import pyarrow.compute as pc
import pytest
from pyspark.sql import Column, SparkSession, functions
from pyspark.sql.types import LongType

import substrait_dsl as sd
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.relations import Aggregate
from substrait_dsl.catalog.implementations import Takes
from substrait_dsl.catalog.spark_functions import AGGREGATES, PER_ROW
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.session.connect import is_remote
from tests.support import f, refused

EXTENSION = """
urn: extension:com.acme:statistics
scalar_functions:
  - name: first_word
    impls: [{args: [{name: x, value: string}], nullability: DECLARED_OUTPUT, return: string?}]
aggregate_functions:
  - name: span
    description: The largest less the smallest value.
    impls: [{args: [{name: x, value: i64}], nullability: DECLARED_OUTPUT, return: i64?}]
  - name: dot
    description: The sum of the products, 0 of none.
    impls: [{args: [{name: x, value: i64}, {name: y, value: i64}], nullability: DECLARED_OUTPUT, return: i64}]
  - name: sum
    impls:
      - args: [{name: x, value: "decimal<38,2>"}]
        nullability: DECLARED_OUTPUT
        return: "decimal<38,2>?"
  - name: joined
    impls: [{args: [{name: x, value: string}], nullability: DECLARED_OUTPUT, return: string?, ordered: true}]
  - name: some
    impls: [{args: [{name: x, value: any1}], nullability: DECLARED_OUTPUT, return: any1?}]
  - name: many
    impls: [{args: [], nullability: DECLARED_OUTPUT, return: i64}]
  - name: code
    impls: [{args: [{name: x, value: i64}], nullability: DECLARED_OUTPUT, return: "varchar<2>?"}]
"""
CATALOG = sd.standard_catalog().with_extension(EXTENSION)
my = sd.Functions(CATALOG)
ROWS = sd.read_virtual(
    [("a", 1, 10), ("a", 4, 20), ("a", None, 30), ("a", 4, 20), ("b", 7, 5), ("c", None, None)],
    {"k": "string", "x": "i64?", "y": "i64?"},
)
SPANS = ROWS.group_by("k").agg(span=lambda r: my.span(r.x), n=f.count()).sort("k")


def of_lists(x: list[int | None]) -> int | None:
    there = [each for each in x if each is not None]
    return max(there) - min(there) if there else None


def of_arrays(x: Any) -> Any:
    both = pc.min_max(x)
    return pc.subtract(both["max"], both["min"])


def of_series(x: Any) -> Any:
    return x.max() - x.min()


def of_columns(x: Column) -> Column:
    return functions.max(x) - functions.min(x)


FORMS: dict[str, tuple[str | Callable[..., Any], Takes | None]] = {
    "sql": ("max({x}){filter} - min({distinct}{0}){filter}", None),
    "columns": (of_columns, None),
    "values": (of_lists, "values"),
    "arrays": (of_arrays, "arrays"),
    "series": (of_series, "series"),
}
EACH = pytest.mark.parametrize("form", FORMS)


def bound(form: str, spark: SparkSession) -> Any:
    """Bind a form of `span`; a client of Spark Connect has no text for Columns, and gets SQL text for them."""
    body, takes = FORMS["sql" if form == "columns" and is_remote(spark) else form]
    return sd.implement(my.span, "spark", body, takes=takes)


def test_what_is_not_bound_is_refused_by_name(spark: SparkSession) -> None:
    with refused(UnsupportedError, "span(i64?)", 'hint: implement(my.span, "spark", ...)'):
        SPANS.collect(spark)
    assert SPANS.check("spark").verdict == "refused"
    with sd.implement(my.span, "spark", "max({x}) - min({x})"):  # as the hint says
        assert SPANS.check("spark")
        assert SPANS.collect(spark) == [("a", 3, 4), ("b", 0, 1), ("c", None, 1)]


@EACH
def test_groups_filters_and_no_rows(form: str, spark: SparkSession) -> None:
    with bound(form, spark):
        assert SPANS.collect(spark) == [("a", 3, 4), ("b", 0, 1), ("c", None, 1)]
        some = ROWS.group_by("k").agg(
            all=lambda r: my.span(r.x), some=lambda r: my.span(r.x + 1).filter(r.y < 20), n=lambda r: f.sum(r.x)
        )
        assert some.sort("k").collect(spark) == [("a", 3, 0, 9), ("b", 0, 0, 7), ("c", None, None, None)]
        assert ROWS.aggregate(s=lambda r: my.span(r.x)).collect(spark) == [(6,)]
        empty = ROWS.filter(lambda r: r.k == "z")
        assert empty.aggregate(s=lambda r: my.span(r.x), n=f.count()).collect(spark) == [(None, 0)]
        assert empty.group_by("k").agg(s=lambda r: my.span(r.x)).collect(spark) == []
        spans = ROWS.group_by("k").rollup(s=lambda r: my.span(r.x))
        assert sorted(spans.select("k", "s").collect(spark), key=str) == [("a", 3), ("b", 0), ("c", None), (None, 6)]
        over_four = SPANS.filter(lambda r: f.coalesce(r.span, 9) * 2 > 4).select("k")
        assert over_four.collect(spark) == [("a",), ("c",)]


@EACH
def test_in_subqueries(form: str, spark: SparkSession) -> None:
    keys = ROWS.select("k").distinct()
    with bound(form, spark):
        found = keys.select(
            "k", s=lambda o: sd.scalar_subquery(ROWS.filter(lambda r: r.k == o.k).aggregate(s=lambda r: my.span(r.x)))
        )
        assert found.sort("k").collect(spark) == [("a", 3), ("b", 0), ("c", None)]


@pytest.mark.parametrize(
    ("body", "takes"),
    [
        ("coalesce(sum({x} * {y}){filter}, 0)", None),
        (lambda x, y: functions.coalesce(functions.sum(x * y), functions.lit(0)), None),
        (lambda x, y: sum(a * b for a, b in zip(x, y, strict=True)), "values"),
    ],
)
def test_an_outer_row_without_rows_has_the_result_of_none(body: Any, takes: Any, spark: SparkSession) -> None:
    if callable(body) and takes is None and is_remote(spark):
        body = "coalesce(sum({x} * {y}), 0)"
    there = ROWS.filter(lambda r: r.x.is_not_null())
    keys = sd.read_virtual([("b",), ("z",)], {"k": "string"})
    with sd.implement(my.dot, "spark", body, takes=takes):
        dots = keys.with_columns(
            s=lambda o: sd.scalar_subquery(there.filter(lambda r: r.k == o.k).aggregate(s=lambda r: my.dot(r.x, r.y)))
        )
        assert dots.sort("k").collect(spark) == [("b", 35), ("z", 0)]


@pytest.mark.parametrize("form", ["sql", "values", "arrays", "series"])
def test_windows(form: str, spark: SparkSession) -> None:
    spans = ROWS.filter(lambda r: r.k == "a").with_columns(
        s=lambda r: my.span(r.x).over(partition_by="k", order_by=("y", "x"), rows=(-1, 0))
    )
    with bound(form, spark):
        # in the order of y: 1, 4, 4, NULL
        assert spans.select("y", "s").sort("y").collect(spark) == [(10, 0), (20, 3), (20, 0), (30, 0)]
        whole = ROWS.select(s=lambda r: my.span(r.x).over())
        assert whole.distinct().collect(spark) == [(6,)]


def test_distinct_values(spark: SparkSession) -> None:
    sums = ROWS.group_by("k").agg(s=lambda r: my.dot(r.x, r.y).distinct(), all=lambda r: my.dot(r.x, r.y)).sort("k")

    def dot(x: list[int | None], y: list[int | None]) -> int:
        return sum(a * b for a, b in zip(x, y, strict=True) if a is not None and b is not None)

    with sd.implement(my.dot, "spark", dot, takes="values"):
        assert sums.collect(spark) == [("a", 90, 170), ("b", 35, 35), ("c", 0, 0)]  # 10 + 80 (+ 80)
    with sd.implement(my.dot, "spark", "coalesce(sum({distinct}{x} * {y}){filter}, 0)"):
        assert sums.collect(spark) == [("a", 90, 170), ("b", 35, 35), ("c", 0, 0)]
    zeros = sd.read_virtual([(0.0,), (-0.0,), (nan,), (nan,), (None,), (None,)], {"x": "fp64?"})
    with sd.implement(my.some, "spark", lambda x: float(len(x)), takes="values"):
        assert zeros.aggregate(n=lambda r: my.some(r.x).distinct(), all=lambda r: my.some(r.x)).collect(spark) == [
            (3.0, 6.0)
        ]


def test_rows_in_an_order(spark: SparkSession) -> None:
    words = sd.read_virtual([("b", 1), ("a", 2), ("a", 2), (None, 0), ("c", 3)], {"w": "string?", "n": "i64"})
    texts = words.aggregate(
        up=lambda r: my.joined(r.w).order_by("n"),
        down=lambda r: my.joined(r.w).order_by(sd.desc("n")).filter(r.n > 1),
        once=lambda r: my.joined(r.w).distinct().order_by(sd.desc("w")),
    )
    with sd.implement(my.joined, "spark", lambda x: " ".join(each or "-" for each in x), takes="values"):
        assert texts.collect(spark) == [("- b a a c", "c a a", "c b a -")]
        other = words.aggregate(once=lambda r: my.joined(r.w).distinct().order_by("n"))
        with refused(UnsupportedError, "joined of distinct values that are ordered by something else"):
            other.collect(spark)


@pytest.mark.parametrize(
    ("measure", "body", "said"),
    [
        (lambda r: my.span(r.x).filter(r.y > 1), "max({x}) - min({x})", "has no {filter}, and a call of it has FILTER"),
        (lambda r: my.span(r.x).distinct(), "max({x}) - min({x})", "has no {distinct}, and a call of it has DISTINCT"),
        (
            lambda r: my.span(r.x).order_by("y"),
            "max({x}) - min({x})",
            "SQL text, which is not run over rows in an order",
        ),
        (lambda r: my.span(r.x).order_by("y"), of_columns, "of Columns, which is not run over rows in an order"),
        (lambda r: my.span(r.x).distinct(), of_columns, "of Columns, which is not run over distinct values"),
    ],
)
def test_what_has_no_place_is_refused_and_the_hints_lead_on(
    measure: Any, body: Any, said: str, spark: SparkSession
) -> None:
    relation = ROWS.aggregate(s=measure)
    with sd.implement(my.span, "spark", body), pytest.raises(UnsupportedError) as caught:
        relation.collect(spark)
    text = str(caught.value)
    assert (
        "a client of Spark Connect" if callable(body) and is_remote(spark) and "order" not in said else said
    ) in text
    if "{filter}" in text:
        assert "hint: write it at each aggregate function in the text: avg({distinct}{0}){filter}" in text
        with sd.implement(my.span, "spark", "max({distinct}{x}){filter} - min({distinct}{x}){filter}"):
            assert relation.collect(spark) == [(6,)]
    else:
        assert 'hint: sd.implement(my.span, "spark", ..., takes="values") takes lists' in text
        with sd.implement(my.span, "spark", of_lists, takes="values"):
            assert relation.collect(spark) == [(6,)]


def test_windows_have_no_columns_and_no_distinct_values(spark: SparkSession) -> None:
    with sd.implement(my.span, "spark", of_columns), refused(UnsupportedError, "not run over the rows of a window"):
        ROWS.select(s=lambda r: my.span(r.x).over()).collect(spark)
    with (
        sd.implement(my.span, "spark", of_lists, takes="values"),
        refused(UnsupportedError, "span over the distinct values of a window"),
    ):
        ROWS.select(s=lambda r: my.span(r.x).distinct().over()).collect(spark)
    with sd.implement(my.span, "spark", "max({x}) - min({x})"), refused(UnsupportedError, "a call of it has OVER"):
        ROWS.select(s=lambda r: my.span(r.x).over()).collect(spark)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("max({x}){filter} - min({x})", "has {filter} at some of the aggregate functions in its text"),
        ("max({x}){filter} - count(*)", "has {filter} at some of the aggregate functions in its text"),
        ("explode(collect_list({x}))", "Spark does not take the implementation of span"),
        ("avg({x}){filter}", "gives double on Spark, and its extension declares i64?"),
        ("no_such({x})", "no_such"),
        ("max({x} + 1{filter})", "Spark does not take the implementation of span"),
    ],
)
def test_sql_text_that_aggregates_nothing_or_something_else(body: str, said: str, spark: SparkSession) -> None:
    relation = ROWS.aggregate(s=lambda r: my.span(r.x).filter(r.y > 1) if "filter" in body else my.span(r.x))
    with sd.implement(my.span, "spark", body), refused(UnsupportedError, said):
        relation.collect(spark)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (lambda x: x, "no SQL text for the Column"),
        (lambda x: functions.avg(x), "gives double on Spark"),
        (lambda x: 5, "returns 5, and not a Column"),
    ],
)
def test_columns_that_cannot_be_used(body: Any, said: str, spark: SparkSession) -> None:
    if is_remote(spark):
        said = "a client of Spark Connect"
    with sd.implement(my.span, "spark", body), pytest.raises(Exception, match=said):
        SPANS.collect(spark)


def test_text_of_functions_of_a_session_aggregates_rows_or_is_refused(spark: SparkSession) -> None:
    spark.udf.register("added", lambda x: None if x is None else x + 1, LongType())
    with (
        sd.implement(my.span, "spark", "added({x})"),
        refused(UnsupportedError, "the implementation of span calls no aggregate function of Spark"),
    ):
        SPANS.collect(spark)
    with sd.implement(my.span, "spark", "added(max({x}))"):
        assert SPANS.collect(spark) == [("a", 5, 4), ("b", 8, 1), ("c", None, 1)]


ROWS_ALONE = {"variant_explode", "variant_explode_outer", "range", "python_worker_logs", "sql_keywords", "collations"}
"""Functions that stand in FROM alone."""


def test_the_functions_that_aggregate_rows_are_those_of_spark(spark: SparkSession) -> None:
    shown = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert {name for name in shown if name.isidentifier()} - ROWS_ALONE <= AGGREGATES | PER_ROW
    if is_remote(spark):
        return
    jvm, registry = spark._jvm, spark._jsparkSession.sessionState().functionRegistry()
    assert jvm is not None
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    names = "aggregate.AggregateFunction", "RuntimeReplaceableAggregate", "AggregateWindowFunction"
    function, replaced, window = (
        jvm.java.lang.Class.forName(f"org.apache.spark.sql.catalyst.expressions.{name}", True, loader) for name in names
    )
    listed = registry.listFunction().iterator()
    while listed.hasNext():
        info = registry.lookupFunction(listed.next()).get()
        if "Lambda" in info.getClassName():  # a function that a test has registered
            continue
        class_ = jvm.java.lang.Class.forName(info.getClassName(), True, loader)
        is_one = function.isAssignableFrom(class_) or replaced.isAssignableFrom(class_)
        if is_one and not window.isAssignableFrom(class_):
            assert info.getName() in AGGREGATES
        elif info.getName() in AGGREGATES:  # what makes one of arguments, or tells grouping sets from each other
            assert info.getClassName().endswith("Builder") or "Grouping" in info.getClassName()


@pytest.mark.parametrize("text", ["explode(split({0}, ' '))"])
def test_a_scalar_function_gives_one_value_for_one_row(text: str, spark: SparkSession) -> None:
    words = sd.read_virtual([("a b",), ("c d",)], {"x": "string"}).select(w=lambda r: my.first_word(r.x))
    with sd.implement(my.first_word, "spark", text), refused(UnsupportedError, "Spark does not take"):
        words.collect(spark)


WRONG: list[tuple[Takes, Callable[..., Any], str]] = [
    ("values", lambda x: "text", "returns 'text', of the type str, and its extension declares int64"),
    ("values", lambda x: x, "of the type list"),
    ("arrays", lambda x: pc.mean(x), "of the type float, and its extension declares int64"),
    ("arrays", lambda x: x, "and its extension declares int64"),
    ("series", lambda x: x, "and its extension declares int64"),
    ("series", lambda x: 2**70, "returns a value that does not fit int64"),
]


@pytest.mark.parametrize(("takes", "body", "said"), WRONG)
def test_what_returns_something_else_fails(takes: Any, body: Any, said: str, spark: SparkSession) -> None:
    with sd.implement(my.span, "spark", body, takes=takes), refused(ExecutionError, said):
        ROWS.filter(lambda r: r.k == "a").aggregate(s=lambda r: my.span(r.x)).collect(spark)


def test_a_required_result_is_not_null_and_a_text_not_too_long(spark: SparkSession) -> None:
    dots = ROWS.group_by("k").agg(s=lambda r: my.dot(r.x, r.y)).sort("k")
    with (
        sd.implement(my.dot, "spark", lambda x, y: None, takes="values"),
        refused(ExecutionError, "the implementation of dot returns NULL"),
    ):
        dots.collect(spark)
    with (
        sd.implement(my.dot, "spark", "sum({x} * {y})"),
        refused(ExecutionError, "a required value is NULL in dot(x, y)"),
    ):
        dots.collect(spark)
    codes = ROWS.aggregate(c=lambda r: my.code(r.x))
    with sd.implement(my.code, "spark", "CAST(max({x}) AS STRING)"):
        assert codes.collect(spark) == [("7",)]
    with sd.implement(my.code, "spark", "CAST(max({x}) * 100 AS STRING)"), refused(ExecutionError, "varchar<2>"):
        codes.collect(spark)


VALUES: list[tuple[str, Any]] = [
    ("boolean", True), ("i8", -128), ("i16", 5), ("i32", 5), ("i64", 2**63 - 1), ("fp32", 0.5), ("fp64", 1e300),
    ("string", "ä"), ("binary", b"\x00"), ("date", dt.date(2024, 2, 29)), ("decimal<38,2>", Decimal("1.10")),
    ("precision_timestamp<6>", dt.datetime(2024, 2, 29, 1, 2, 3, 4)),
]  # fmt: skip
FIRST: dict[Takes, Callable[..., Any]] = {
    "values": lambda x: x[0],
    "arrays": lambda x: x[0],
    "series": lambda x: x.iloc[0],
}


@pytest.mark.parametrize("takes", FIRST)
def test_values_of_all_types_come_back(takes: Any, spark: SparkSession) -> None:
    columns = {f"c{number}": f"{type_}?" for number, (type_, _) in enumerate(VALUES)}
    rows = sd.read_virtual([(1, *(value for _, value in VALUES)), (2, *[None] * len(VALUES))], {"k": "i64", **columns})
    with sd.implement(my.some, "spark", FIRST[takes], takes=takes):
        found = rows.group_by("k").agg(**{name: my.some(sd.col(name)) for name in columns}).sort("k")
        assert found.collect(spark) == [(1, *(value for _, value in VALUES)), (2, *[None] * len(VALUES))]


def test_nan_is_a_value_but_to_pandas(spark: SparkSession) -> None:
    rows = sd.read_virtual([(nan,)], {"x": "fp64?"}).aggregate(x=lambda r: my.some(r.x))
    for takes in ("values", "arrays"):
        with sd.implement(my.some, "spark", lambda x: x[0], takes=takes):
            assert isnan(rows.collect(spark)[0].x)
    with sd.implement(my.some, "spark", FIRST["series"], takes="series"):
        assert rows.collect(spark) == [(None,)]


def test_functions_of_the_name_of_others(spark: SparkSession) -> None:
    prices = sd.read_virtual([(Decimal("1.10"),), (Decimal("2.20"),)], {"p": "decimal<5,2>"})
    mine = sd.Functions(CATALOG, "extension:com.acme:statistics")
    total = prices.aggregate(t=lambda r: mine.sum(r.p.cast("decimal<38,2>")))
    with sd.implement(mine.sum, "spark", lambda x: sum(x), takes="values"):
        assert total.collect(spark) == [(Decimal("3.30"),)]
    with sd.implement(mine.sum, "spark", "max({x}){filter}"):
        assert total.collect(spark) == [(Decimal("2.20"),)]


def test_a_function_without_arguments(spark: SparkSession) -> None:
    with sd.implement(my.many, "spark", "count(1){filter}"):
        many = ROWS.group_by("k").agg(n=my.many(), m=lambda r: my.many().filter(r.y > 10)).sort("k")
        assert many.collect(spark) == [("a", 4, 3), ("b", 1, 0), ("c", 1, 0)]
    with refused(UnsupportedError, "has no arguments"):
        sd.implement(my.many, "spark", lambda: 1, takes="values")


def test_phases_are_refused_by_name(spark: SparkSession) -> None:
    rel = ROWS.aggregate(s=lambda r: my.span(r.x))._rel
    (aggregate,) = (node for node in walk(rel) if isinstance(node, Aggregate))
    (measure,) = aggregate.measures
    call = attrs.evolve(measure.function, phase="initial_to_intermediate")
    parts = sd.Relation(attrs.evolve(aggregate, measures=(attrs.evolve(measure, function=call),)))
    with sd.implement(my.span, "spark", of_lists, takes="values"), refused(UnsupportedError, "span in the phase"):
        parts.collect(spark)


def test_the_median_of_the_page(spark: SparkSession) -> None:
    page = (Path(__file__).parents[2] / "docs" / "plans" / "extensions.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "weighted_median" in block]
    names: dict[str, Any] = {"sd": sd}
    for example in doctest.DocTestParser().get_examples("".join(blocks)):
        if "collect()" not in example.source and ".remove()" not in example.source:  # which another test runs
            exec(example.source, names)
    with names["bound"]:
        # of tea the weights up to 2, 5 and 8 are 1, 4 and 5
        assert sorted(names["medians"].collect(spark)) == [("ink", 7.0), ("tea", 5.0)]
