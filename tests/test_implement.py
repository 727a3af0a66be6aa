"""Functions of a user's own extension: what is bound to them, and what engines make of it."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import substrait_dsl as sd
from substrait_dsl.catalog.implementations import Implementation, Takes
from substrait_dsl.errors import ExecutionError, InvalidArgumentError, InvalidChoiceError, UnsupportedError
from tests.support import f, refused

if TYPE_CHECKING:
    from datafusion import SessionContext
    from pyspark.sql import SparkSession

EXTENSION = """
urn: extension:com.acme:mine
scalar_functions:
  - name: get_json
    impls:
      - args: [{name: text, value: string}, {name: path, value: string}]
        nullability: DECLARED_OUTPUT
        return: string?
  - name: plus
    impls:
      - args: [{name: x, value: i64}, {name: y, value: i64}]
        return: i64
      - args: [{name: left, value: fp64}, {name: right, value: fp64}]
        return: fp64
  - name: least_of
    impls: [{args: [{name: x, value: i64}], variadic: {min: 1}, return: i64}]
  - name: parts
    impls: [{args: [{name: x, value: string}], return: list<string>}]
  - name: one
    impls: [{args: [], return: i64}]
  - name: same
    impls: [{args: [{name: x, value: any1}], return: any1}]
  - name: rounded
    impls:
      - args: [{name: x, value: fp64}, {name: how, options: [UP, DOWN]}]
        options: {limit: {values: [NONE, SOME]}}
        return: fp64
aggregate_functions:
  - name: total
    impls: [{args: [{name: x, value: i64}], nullability: DECLARED_OUTPUT, return: i64?}]
window_functions:
  - name: place
    impls: [{args: [], return: i64, window_type: PARTITION}]
"""
my = sd.Functions(sd.standard_catalog().with_extension(EXTENSION))
ROWS = sd.read_virtual(
    [(1, '{"a": 1}', 2.5), (2, "{}", None), (None, '{"a": "x"}', 4.0)], {"n": "i64?", "j": "string", "d": "fp64?"}
)
SUMS = ROWS.select(s=lambda r: f.add(my.plus(my.plus(r.n, r.n), 1), 1))
ONE_MORE = [(4,), (6,), (None,)]


@pytest.fixture
def context(datafusion: None) -> SessionContext:
    from datafusion import SessionContext

    return SessionContext()


def add_arrays(x: pa.Array, y: pa.Array) -> pa.Array:
    return pc.add(x, y)


def add_values(x: int | None, y: int | None) -> int | None:
    return None if x is None or y is None else x + y


def add_series(x: Any, y: Any) -> Any:
    return x + y


BODIES: dict[Takes, Callable[..., Any]] = {"arrays": add_arrays, "values": add_values, "series": add_series}


# --- binding


def test_what_is_not_bound_is_refused_by_name_and_the_hint_leads_on(context: SessionContext) -> None:
    for engine in ("spark", "datafusion"):
        assert SUMS.check(engine).verdict == "refused"
    with refused(UnsupportedError, "plus:i64_i64", 'hint: implement(my.plus, "datafusion", ...)'):
        SUMS.collect(context)
    with sd.implement(my.plus, "datafusion", add_arrays):
        assert SUMS.check("datafusion")
        assert SUMS.check("spark").verdict == "refused"
        assert SUMS.collect(context) == ONE_MORE
    with refused(UnsupportedError, "plus:i64_i64"):
        SUMS.collect(context)


def test_the_last_one_counts_until_it_is_removed(context: SessionContext) -> None:
    relation = ROWS.select(s=lambda r: my.plus(r.n, 1))
    first = sd.implement(my.plus, "datafusion", lambda x, y: pc.add(x, y))
    second = sd.implement(my.plus, "datafusion", lambda x, y: pc.subtract(x, y))
    assert relation.collect(context) == [(0,), (1,), (None,)]
    second.remove()
    second.remove()
    assert relation.collect(context) == [(2,), (3,), (None,)]
    first.remove()
    assert not relation.check("datafusion")


def test_one_overload_alone(context: SessionContext) -> None:
    floats = ROWS.select(s=lambda r: my.plus(r.d, 1.0))
    with sd.implement(my.plus, "datafusion", add_arrays, signature="plus:fp64_fp64"):
        assert floats.collect(context) == [(3.5,), (None,), (5.0,)]
        assert not SUMS.check("datafusion")
        with sd.implement(my.plus, "datafusion", lambda x, y: pc.multiply(x, y)):
            assert floats.collect(context) == [(3.5,), (None,), (5.0,)]  # the more specific one
            assert ROWS.select(s=lambda r: my.plus(r.n, 3)).collect(context) == [(3,), (6,), (None,)]


def test_no_plan_holds_what_is_bound(context: SessionContext) -> None:
    before = SUMS.to_plan().to_bytes()
    with sd.implement(my.plus, "datafusion", add_arrays):
        assert SUMS.to_plan().to_bytes() == before
        with refused(UnsupportedError, "the bytes would call", "plan.execute(session)"):
            SUMS.to_plan().to_bytes(engine="datafusion")
        SUMS.collect(context)
        assert not [name for name in context.udfs() if name.startswith("__substrait_dsl_")]


def test_threads_bind_side_by_side() -> None:
    found: list[Implementation] = []

    def many() -> None:
        found.extend(sd.implement(my.plus, "datafusion", add_arrays) for _ in range(200))

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({each.number for each in found}) == 800
    assert SUMS.check("datafusion")
    for each in found:
        each.remove()
    assert not SUMS.check("datafusion")


@pytest.mark.parametrize(
    ("arguments", "options", "error", "said"),
    [
        ((f.add, "spark", "x"), {}, InvalidArgumentError, "add is a function of the specification"),
        ((my.total, "datafusion", len), {}, UnsupportedError, "total is an aggregate function, and datafusion runs"),
        ((my.total, "spark", "sum({y})"), {}, InvalidArgumentError, "total:i64 has no argument {y}"),
        ((my.plus, "spark", "{0} + {1}{filter}"), {}, InvalidArgumentError, "no argument {filter}"),
        ((my.place, "spark", "1"), {}, UnsupportedError, "place is a window function"),
        ((my.plus, "sparc", "x"), {}, InvalidChoiceError, '"spark"'),
        ((my.plus, "datafusion", "{0}"), {}, UnsupportedError, "no SQL text"),
        ((my.plus, "spark", "{0}"), {"takes": "values"}, InvalidArgumentError, "this is SQL text"),
        ((my.plus, "spark", add_values), {"takes": "value"}, InvalidChoiceError, '"values"'),
        ((my.plus, "datafusion", add_values), {"takes": "columns"}, InvalidChoiceError, '"arrays"'),
        ((my.plus, "spark", 5), {}, InvalidArgumentError, "SQL text or a function"),
        ((my.plus, "spark", "{0}"), {"signature": "plus:i32_i32"}, InvalidChoiceError, "plus:i64_i64"),
        ((my.get_json, "spark", "get_json_object({tex}, '$')"), {}, InvalidArgumentError, 'did you mean "text"'),
        ((my.get_json, "spark", "{text} RLIKE 'a{2}'"), {}, InvalidArgumentError, "double braces"),
        ((my.get_json, "spark", "{text"), {}, InvalidArgumentError, "double braces"),
        ((my.plus, "spark", "{x} + {y}"), {}, InvalidArgumentError, "write the positions"),
        ((my.least_of, "spark", "least({0})"), {}, UnsupportedError, "any number of arguments"),
        ((my.one, "spark", lambda: 1), {"takes": "values"}, UnsupportedError, "has no arguments"),
        ((my.plus, "spark", "{0} + {1} -- more"), {}, InvalidArgumentError, "SQL text of plus is to be one expression"),
        ((my.plus, "spark", "{0} /* {1} */"), {}, InvalidArgumentError, "it has a comment, /*"),
        ((my.plus, "spark", "{0} + {1} as z"), {}, InvalidArgumentError, "with AS, and is one expression, got '{0} + "),
        ((my.plus, "spark", "({0} + {1}"), {}, InvalidArgumentError, "a parenthesis is not closed"),
        ((my.plus, "spark", "{0}) + ({1}"), {}, InvalidArgumentError, "closing parenthesis has no opening one"),
        ((my.plus, "spark", ""), {}, InvalidArgumentError, "expression of the engine's SQL: it is empty"),
        ((my.get_json, "spark", "concat({text}, '{path}')"), {}, InvalidArgumentError, "{path} stands in quotes"),
        ((my.get_json, "spark", "concat({text}, 'path)"), {}, InvalidArgumentError, "the quote ' is not closed"),
        ((my.total, "spark", "{x}"), {}, InvalidArgumentError, "engine's SQL: it calls no aggregate function"),
        (
            (my.total, "spark", "abs({x}){filter}"),
            {},
            InvalidArgumentError,
            "of a group need: abs has a value for each row",
        ),
        ((my.total, "spark", "Greatest({x}, 1)"), {}, InvalidArgumentError, "greatest has a value for each row"),
        ((my.total, "spark", "explode(array({x}))"), {}, InvalidArgumentError, "explode has a value for each row"),
        ((my.total, "spark", "row_number()"), {}, InvalidArgumentError, "row_number has a value for each row"),
        ((my.total, "spark", "case when ({x}) > 1 then (2) end"), {}, InvalidArgumentError, "no aggregate function"),
        ((my.total, "spark", "length('max(1)')"), {}, InvalidArgumentError, "length has a value for each row"),
        (
            (my.get_json, "spark", "max({text})"),
            {},
            InvalidArgumentError,
            "max is an aggregate function, and this one is",
        ),
        ((my.total, "spark", "'sum(x)'"), {}, InvalidArgumentError, "it calls no aggregate function"),
        ((my.total, "spark", "sum({x}) over ()"), {}, InvalidArgumentError, "a window of its own"),
        ((my.total, "spark", "max({x}){filter} {filter}"), {}, InvalidArgumentError, "{filter} stands twice"),
        ((my.total, "spark", "max({x"), {}, InvalidArgumentError, "of total has arguments in braces: expected '}'"),
        ((my.plus(1, 2), "spark", "{0}"), {}, InvalidArgumentError, "my.get_json, not my.get_json(x)"),
    ],
)
def test_what_cannot_be_bound(arguments: tuple[Any, ...], options: dict[str, Any], error: type[Any], said: str) -> None:
    with refused(error, "implement: ", said):
        sd.implement(*arguments, **options)


def test_two_extensions_with_a_function_of_one_name() -> None:
    both = sd.Functions(
        sd.standard_catalog().with_extension(EXTENSION).with_extension(EXTENSION.replace("acme:mine", "acme:others"))
    )
    with refused(
        InvalidArgumentError, '"extension:com.acme:mine", "extension:com.acme:others"', "sd.Functions(catalog, "
    ):
        sd.implement(both.plus, "spark", "{0}")


# --- DataFusion


@pytest.mark.parametrize("takes", BODIES)
def test_python_functions_on_datafusion(takes: Any, context: SessionContext) -> None:
    with sd.implement(my.plus, "datafusion", BODIES[takes], takes=takes):
        assert SUMS.collect(context) == ONE_MORE
        assert ROWS.filter(lambda r: my.plus(r.n, 1) > 2).select("n").collect(context) == [(2,)]
        grouped = ROWS.group_by(k=lambda r: my.plus(r.n, 1)).agg(n=f.count()).sort("k")
        assert grouped.collect(context) == [(None, 1), (2, 1), (3, 1)]


VALUES: list[tuple[str, Any]] = [
    ("boolean", True), ("i8", -128), ("i16", 5), ("i32", 5), ("i64", 2**63 - 1), ("fp32", 0.5), ("fp64", 1e300),
    ("string", "ä"), ("binary", b"\x00"), ("date", dt.date(2024, 2, 29)), ("decimal<38,2>", Decimal("1.10")),
    ("precision_timestamp<6>", dt.datetime(2024, 2, 29, 1, 2, 3, 4)),
]  # fmt: skip


@pytest.mark.parametrize("takes", BODIES)
@pytest.mark.parametrize(("type_", "value"), VALUES)
def test_values_of_all_types_come_back(type_: str, value: Any, takes: Any, context: SessionContext) -> None:
    rows = sd.read_virtual([(value,), (None,)], {"x": f"{type_}?"})
    with sd.implement(my.same, "datafusion", lambda x: x, takes=takes):
        assert rows.select(x=lambda r: my.same(r.x)).collect(context) == [(value,), (None,)]


def test_other_types_are_refused_by_name() -> None:
    rows = sd.read_virtual([(dt.timedelta(1),)], {"x": "interval_day<6>"})
    with sd.implement(my.same, "datafusion", lambda x: x):
        said = str(rows.select(x=lambda r: my.same(r.x)).check("datafusion"))
    assert "the implementation of same is a Python function" in said
    assert "and not interval_day<6>" in said


WRONG: list[tuple[Takes, Callable[..., Any], str]] = [
    ("values", lambda x, y: "text", "returns 'text', of the type str, and its extension declares int64"),
    ("values", lambda x, y: 1.0, "returns 1.0, of the type float, and its extension declares int64"),
    ("values", lambda x, y: True, "of the type bool, and its extension declares int64"),
    ("values", lambda x, y: 2**70, "returns a value that does not fit int64"),
    ("arrays", lambda x, y: pc.cast(x, pa.float64()), "returns double, and its extension declares int64"),
    ("arrays", lambda x, y: pa.array([1]), "returns 1 values for 3 rows"),
    ("arrays", lambda x, y: 5, "returns int, and not an Arrow array"),
    ("series", lambda x, y: y * 1.5, "returns double, and its extension declares int64"),
    ("values", lambda x, y: 1 // 0, "division"),
]


@pytest.mark.parametrize(("takes", "body", "said"), WRONG)
def test_what_returns_something_else_fails(takes: Any, body: Any, said: str, context: SessionContext) -> None:
    with sd.implement(my.plus, "datafusion", body, takes=takes), refused(ExecutionError, "DataFusion fails", said):
        ROWS.select(s=lambda r: my.plus(r.n, 1)).collect(context)


def test_an_error_of_a_python_function_names_it_and_its_step(context: SessionContext) -> None:
    sums = ROWS.select(s=lambda r: my.plus(r.n, 1))
    for takes in BODIES:
        with (
            sd.implement(my.plus, "datafusion", lambda x, y: dict[str, int]()["no"], takes=takes),
            refused(ExecutionError, "the implementation of plus raises KeyError: 'no'", "in plus(n, 1) (step: project"),
        ):
            sums.collect(context)
    with (
        sd.implement(my.plus, "datafusion", lambda x, y: None, takes="series"),
        refused(ExecutionError, "the implementation of plus returns None, and not a Series"),
    ):
        sums.collect(context)


def test_an_interruption_of_a_python_function_stays_one(context: SessionContext) -> None:
    def interrupted(x: int, y: int) -> int:
        raise KeyboardInterrupt

    with sd.implement(my.plus, "datafusion", interrupted, takes="values"), pytest.raises(KeyboardInterrupt):
        ROWS.select(s=lambda r: my.plus(r.n, 1)).collect(context)


def test_a_required_result_is_not_null(context: SessionContext) -> None:
    required = ROWS.select(s=lambda r: my.plus(f.char_length(r.j), 1))
    with (
        sd.implement(my.plus, "datafusion", lambda x, y: None, takes="values"),
        refused(ExecutionError, "the implementation of plus returns NULL"),
    ):
        required.collect(context)


def test_words_and_options_are_not_passed_on(context: SessionContext) -> None:
    with sd.implement(my.rounded, "datafusion", lambda x: x), refused(UnsupportedError, "knows nothing of options"):
        ROWS.select(s=lambda r: my.rounded(r.d, "UP")).collect(context)


# --- engines that take Spark's SQL


def test_sql_text_on_the_embedded_engine(sail: SparkSession) -> None:
    found = ROWS.select(a=lambda r: my.get_json(r.j, "$.a"))
    with sd.implement(my.get_json, "spark", "get_json_object({text}, {path})"):
        assert found.check("sail")
        assert found.collect() == [("1",), (None,), ("x",)]
        keyed = ROWS.group_by(k=lambda r: my.get_json(r.j, "$.a").is_null()).agg(n=f.count()).sort("k")
        assert keyed.collect() == [(False, 2), (True, 1)]
    with (
        sd.implement(my.get_json, "spark", "length({0})"),
        refused(UnsupportedError, "gives int on Sail, and its extension declares string?", "CAST(... AS STRING)"),
    ):
        found.collect()
    with sd.implement(my.get_json, "spark", "CAST(length({0}) AS STRING)"):  # as the hint says
        assert found.collect() == [("8",), ("2",), ("10",)]
    with sd.implement(my.get_json, "spark", "no_such({0}, {1})"), refused(UnsupportedError, "does not take", "no_such"):
        found.collect()


def test_sql_text_of_aggregate_functions_on_the_embedded_engine(sail: SparkSession) -> None:
    totals = ROWS.group_by(k=lambda r: r.n > 1).agg(
        t=lambda r: my.total(r.n), few=lambda r: my.total(r.n).filter(r.n < 2), n=lambda r: my.total(1).distinct()
    )
    with refused(UnsupportedError, "total", 'hint: implement(my.total, "spark", ...)'):
        totals.collect()
    with sd.implement(my.total, "spark", "CAST(10 * sum({distinct}{x}){filter} AS BIGINT)"):
        assert totals.check("sail")
        assert totals.sort("k").collect() == [(None, None, None, 10), (False, 10, 10, 10), (True, 20, None, 10)]
        assert ROWS.filter(lambda r: r.n > 5).aggregate(t=lambda r: my.total(r.n)).collect() == [(None,)]
        sums = ROWS.select("n", t=lambda r: my.total(r.n).over(order_by="n")).sort("n")
        assert sums.collect() == [(None, None), (1, 10), (2, 30)]
    with (
        sd.implement(my.total, "spark", "avg({x})"),
        refused(UnsupportedError, "gives double on Sail, and its extension declares i64?", "CAST(... AS BIGINT)"),
    ):
        ROWS.aggregate(t=lambda r: my.total(r.n)).collect()
    with (
        sd.implement(my.get_json, "spark", "explode(array({text}))"),
        refused(UnsupportedError, "the implementation of get_json"),
    ):
        ROWS.select(a=lambda r: my.get_json(r.j, "$.a")).collect()
    with sd.implement(my.total, "spark", sum, takes="values"), refused(UnsupportedError, ON_SPARK, "takes SQL text"):
        ROWS.aggregate(t=lambda r: my.total(r.n)).collect()


QUOTED = "concat({text}, '-- it''s (', {path})"


def test_comments_and_parentheses_in_quotes_are_text(sail: SparkSession) -> None:
    with sd.implement(my.get_json, "spark", QUOTED):
        assert ROWS.filter(lambda r: r.n == 2).select(a=lambda r: my.get_json(r.j, "!")).collect() == [("{}-- its (!",)]


OPERANDS = """
urn: extension:com.acme:operands
scalar_functions:
  - name: less
    impls: [{args: [{name: x, value: i64}, {name: y, value: i64}], return: i64}]
  - name: either
    impls: [{args: [{name: x, value: string}], return: boolean}]
aggregate_functions:
  - name: range
    impls: [{args: [{name: x, value: i64}], nullability: DECLARED_OUTPUT, return: i64?}]
  - name: ratio
    impls: [{args: [{name: x, value: i64}], nullability: DECLARED_OUTPUT, return: fp64?}]
"""
own = sd.Functions(sd.standard_catalog().with_extension(OPERANDS))


@pytest.mark.parametrize("mark", ["", "?"])
def test_sql_text_is_one_operand_wherever_it_is_written(mark: str, sail: SparkSession) -> None:
    rows = sd.read_virtual([("at", 100, 10)], {"c": f"string{mark}", "x": f"i64{mark}", "y": f"i64{mark}"})
    with (
        sd.implement(own.less, "spark", "{x} - {y}"),
        sd.implement(own.either, "spark", "{x} = 'de' or {x} = 'at'"),
    ):
        numbers = rows.select(
            a=lambda r: own.less(r.x, r.y) * 2,
            b=lambda r: own.less(r.x, own.less(r.y, 2)),
            c=lambda r: own.less(r.x, r.y - 2),
            d=lambda r: -own.less(r.x, r.y),
            e=lambda r: own.less(r.x, sd.lit(-2, sd.I64)),
            g=lambda r: r.x - own.less(r.y, 2) - 1,
            h=lambda r: f.sum(own.less(r.x, r.y) * 2).over(),
        )
        # (100 - 10) * 2, 100 - (10 - 2), 100 - (10 - 2), -(100 - 10), 100 - -2, 100 - (10 - 2) - 1, and the first
        assert numbers.collect() == [(180, 92, 92, -90, 102, 91, 180)]
        total = rows.aggregate(s=lambda r: f.sum(own.less(r.x, r.y) * 2).filter(own.either(r.c) & (r.x > 1)))
        assert total.collect() == [(180,)]
        truths = rows.select(
            a=lambda r: ~own.either(r.c),
            b=lambda r: own.either(r.c) & (r.x > 1000),
            c=lambda r: sd.when((r.x > 1000) & own.either(r.c)).then(1).otherwise(0),
        )
        assert truths.collect() == [(False, False, 0)]
        assert rows.filter(lambda r: own.either(r.c) & (r.x > 1000)).collect() == []


def test_aggregates_of_sql_text_are_one_operand(sail: SparkSession) -> None:
    with sd.implement(own.range, "spark", "max({x}){filter} - min({x}){filter}"):
        ranges = ROWS.aggregate(
            twice=lambda r: own.range(r.n + 0) * 2, less=lambda r: 5 - own.range(r.n * 3), one=lambda r: own.range(-r.n)
        )
        # of 1 and 2: (2 - 1) * 2, 5 - (6 - 3), -1 - -2
        assert ranges.collect() == [(2, 2, 1)]
        over = ROWS.select(n=lambda r: own.range(r.n).over() * 10).distinct()
        assert over.collect() == [(10,)]


@pytest.mark.parametrize("text", ["sum({x}){filter} / count({x})", "CAST(sum({x}){filter} AS DOUBLE) / count(*)"])
def test_a_clause_is_at_each_aggregate_function_of_a_text(text: str, sail: SparkSession) -> None:
    some = ROWS.aggregate(r=lambda r: own.ratio(r.n).filter(r.n > 1))
    over = ROWS.select(r=lambda r: own.ratio(r.n).over()).distinct()
    distinct = sd.read_virtual([(1,), (1,), (3,)], {"n": "i64"}).aggregate(r=lambda r: own.ratio(r.n).distinct())
    with sd.implement(own.ratio, "spark", text):
        for relation in (some, over):
            with refused(UnsupportedError, "has {filter} at some of the aggregate functions", text, "at each"):
                relation.collect()
    with (
        sd.implement(own.ratio, "spark", text.replace("sum({x}){filter}", "sum({distinct}{x})")),
        refused(UnsupportedError, "has {distinct} at some of the aggregate functions"),
    ):
        distinct.collect()
    with sd.implement(own.ratio, "spark", "sum({distinct}{x}){filter} / count({distinct}{x}){filter}"):
        # 2 / 1, 3 / 2, (1 + 3) / 2
        assert [some.collect(), over.collect(), distinct.collect()] == [[(2.0,)], [(1.5,)], [(2.0,)]]


def test_distinct_is_of_an_aggregate_function(sail: SparkSession) -> None:
    distinct = sd.read_virtual([(1,), (1,), (3,)], {"n": "i64"}).aggregate(r=lambda r: own.ratio(r.n).distinct())
    with (
        sd.implement(own.ratio, "spark", "CAST(sum(abs({distinct}{x})) AS DOUBLE)"),
        refused(UnsupportedError, "has {distinct} at some of the aggregate functions"),
    ):
        distinct.collect()
    with sd.implement(own.ratio, "spark", "CAST(sum({distinct}abs({x})) AS DOUBLE)"):
        assert distinct.collect() == [(4.0,)]  # 1 + 3


def test_text_that_aggregates_nothing_is_refused_by_name(sail: SparkSession) -> None:
    text = "`abs`({x})"  # a name in quotes may be one of the session's own
    with (
        sd.implement(my.total, "spark", text),
        refused(UnsupportedError, "implementation of total calls no aggregate function of Sail", text),
    ):
        ROWS.aggregate(t=lambda r: my.total(r.n)).collect()
    with sd.implement(my.total, "spark", "`max`(`abs`({x}))"):
        assert ROWS.filter(lambda r: r.n > 0).aggregate(t=lambda r: my.total(r.n)).collect() == [(2,)]


ON_SPARK = 'local_session(engine="spark") is a session of Spark, which runs Python functions'


def test_hints_about_rows_in_an_order_lead_to_another_engine(sail: SparkSession) -> None:
    ordered = ROWS.aggregate(t=lambda r: my.total(r.n).order_by("n"))
    with (
        sd.implement(my.total, "spark", "sum({x})"),
        refused(UnsupportedError, 'takes="values") takes lists of the values of such rows', ON_SPARK),
    ):
        ordered.collect()
    with sd.implement(my.total, "spark", sum, takes="values"), pytest.raises(UnsupportedError) as caught:
        ordered.collect()
    assert caught.value.hint == ON_SPARK  # and not SQL text, which gets no order either


def test_a_null_in_a_required_result_of_ones_own(sail: SparkSession) -> None:
    declared = OPERANDS.replace(
        "nullability: DECLARED_OUTPUT, return: i64?", "nullability: DECLARED_OUTPUT, return: i64"
    )
    required = sd.Functions(sd.standard_catalog().with_extension(declared))
    ranges = ROWS.filter(lambda r: r.n > 5).aggregate(x=lambda r: required.range(r.n))
    with (
        sd.implement(required.range, "spark", "max({x}) - min({x})"),
        refused(ExecutionError, "a required value is NULL in range(n)", "coalesce(..., value)", "a nullable result"),
    ):
        ranges.collect()
    with sd.implement(required.range, "spark", "coalesce(max({x}) - min({x}), 0)"):
        assert ranges.collect() == [(0,)]
    with sd.implement(own.range, "spark", "max({x}) - min({x})"):  # which declares i64?
        assert ROWS.filter(lambda r: r.n > 5).aggregate(x=lambda r: own.range(r.n)).collect() == [(None,)]


@pytest.mark.parametrize("engine", ["datafusion", "duckdb", "acero"])
def test_engines_without_aggregates_of_ones_own_say_who_has_them(engine: Any) -> None:
    totals = ROWS.aggregate(t=lambda r: my.total(r.n))
    said = (
        'total:i64, which extension:com.acme:mine declares; sd.implement(my.total, "spark", ...) is for Spark and Sail'
    )
    assert f"has no aggregate function {said}" in str(totals.check(engine))
    over = ROWS.select(t=lambda r: my.total(r.n).over())
    assert f"has no window function {said}, which run aggregate functions of your own, also over windows" in str(
        over.check(engine)
    )
    with sd.implement(my.total, "spark", "sum({x}){filter}"):
        assert totals.check("sail")
        assert over.check("sail")


@pytest.mark.parametrize("engine", ["duckdb", "acero"])
def test_engines_without_functions_of_ones_own_say_who_has_them(engine: Any) -> None:
    said = 'sd.implement(my.plus, "spark", ...) is for Spark and Sail, sd.implement(my.plus, "datafusion", ...)'
    assert said in str(SUMS.check(engine))


def test_what_is_bound_is_what_is_called(sail: SparkSession) -> None:
    catalog = sd.standard_catalog().with_extension("""
urn: extension:com.acme:sums
aggregate_functions:
  - name: sum
    impls: [{args: [{name: x, value: i64}], nullability: DECLARED_OUTPUT, return: i64?}]
""")
    both, own = sd.Functions(catalog), sd.Functions(catalog, "extension:com.acme:sums")
    with refused(
        InvalidArgumentError,
        "one of sum:i64 of extension:io.substrait:functions_arithmetic, and not of extension:com.acme:sums",
        'hint: sd.Functions(catalog, "extension:com.acme:sums")',
    ):
        sd.implement(both.sum, "spark", "CAST(-sum({x}) AS BIGINT)")
    with sd.implement(own.sum, "spark", "CAST(-sum({x}) AS BIGINT)"):
        assert ROWS.aggregate(s=lambda r: own.sum(r.n), t=lambda r: both.sum(r.n)).collect() == [(-3, 3)]


def test_python_functions_are_for_spark(sail: SparkSession) -> None:
    with (
        sd.implement(my.plus, "spark", add_arrays, takes="arrays"),
        refused(UnsupportedError, "Sail does not run Python functions", 'sd.implement(my.plus, "spark", "...")'),
    ):
        SUMS.collect()
