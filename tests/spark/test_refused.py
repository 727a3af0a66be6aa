"""What Spark is not taught to run is refused by name, before anything runs."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import partiql as pq
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.execute import execute
from tests.spark.evaluation import call
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T: Any = sd.read_virtual([(1, [1, 2])], {"a": sd.I64, "xs": sd.List(sd.I64())})
MAPS: Any = sd.read_virtual([({"a": 1},)], {"m": "map<string, i64>"})
DAY = dt.date(2024, 5, 1)
ALWAYS = ex.literal(True, sd.Boolean())
DYNAMIC: Any = T.select(d=sd.null(pq.DYNAMIC))
WINDOW: Any = lambda x, y: (x.a == y.b) & (f.rank().over(order_by=y.b) == 1)  # noqa: E731  # as a verb takes it
DETAIL = sd.AnyMessage("example.com/acme.Rule", b"1")

REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("acme.Rule", lambda: T.write(sd.extension_object(DETAIL))),
    ("acme.Rule", lambda: sd.create_table(sd.extension_object(DETAIL), {"a": sd.I64})),
    ("an extension leaf", lambda: sd.extension_leaf(DETAIL, {"a": sd.I64})),
    ("an extension single", lambda: T.extension_single(DETAIL, {"a": sd.I64})),
    ("an extension multi", lambda: sd.extension_multi([T], DETAIL, {"a": sd.I64})),
    ("an extension table", lambda: sd.read_extension(DETAIL, {"a": sd.I64})),
    ("is cast: x.cast(Date)", lambda: T.select(x=f.strptime_date(sd.lit("1.5.2024"), "%d.%m.%Y"))),
    ("x.cast(Date) is the day", lambda: T.select(x=f.round_temporal(DAY, "FLOOR", "DAY", 2, DAY))),
    ("x * datetime.timedelta(seconds=1)", lambda: T.select(x=lambda r: r.a.cast(sd.PrecisionTimestamp(6)))),
    ("parameter 3 has no value", lambda: T.filter(lambda r: r.a == sd.parameter(3, sd.I64))),
    ("map<string, i64>, as equal", lambda: MAPS.join(MAPS.rename(m="n"), lambda x, y: x.m == y.n, how="left_mark")),
    ("map<string, i64>, as an order of any_value", lambda: MAPS.aggregate(x=f.any_value(1).order_by("m"))),
    (
        "map<string, i64>, as an order of string_agg",
        lambda: MAPS.aggregate(x=f.string_agg(sd.lit("a"), ",").order_by("m")),
    ),
    ("that repeats one", lambda: T.select(x=sd.lit({0.0: 1, math.nan: 2, -math.nan: 3}, "map<fp64, i64>"))),
    ("cast it to fp64", lambda: T.aggregate(x=lambda r: f.median("EXACT", r.a))),
    *(
        ("values of u!dynamic? apart", make)
        for make in (
            lambda: DYNAMIC.group_by("d").agg(n=f.count()),
            lambda: DYNAMIC.distinct(),
            lambda: DYNAMIC.subtract(DYNAMIC),
            lambda: T.filter(sd.unique(DYNAMIC)),
            lambda: DYNAMIC.exchange(sd.scatter("d")),
            lambda: DYNAMIC.aggregate(n=f.count(sd.col("d")).distinct()),
            lambda: DYNAMIC.aggregate(n=f.approx_count_distinct(sd.col("d"))),
            lambda: DYNAMIC.select(n=f.count(sd.col("d")).distinct().over()),
        )
    ),
    ("computed before the join", lambda: T.join(T.select(b=sd.col("a")), WINDOW, "left_single")),
    ("computed before the join", lambda: T.lateral_join(lambda t: T.select(b=sd.col("a")), on=WINDOW)),
    ("acme.Rule", lambda: T.filter(lambda r: r.a == 1).with_extension(sd.AdvancedExtension(enhancement=DETAIL))),
]


def test_maps_whose_keys_python_cannot_look_up(spark: SparkSession) -> None:
    keyed = T.select(m=lambda r: sd.map_of([(r.xs, r.a)]))
    keyed.execute(spark)
    with refused(UnsupportedError, "collect", "map<list<i64>, i64>", 'column "m"'):
        keyed.collect(spark)


@pytest.mark.parametrize("place", ["a column", "a branch", "an argument", "a key of a sort"])
def test_functions_where_values_belong(place: str, spark: SparkSession) -> None:
    """As in a plan that was read."""
    function = ex.Lambda((sd.I64(),), ex.FieldReference(0, sd.I64(), ex.LambdaParameter()))
    row = T._rel
    makers: dict[str, Callable[[], Rel]] = {
        "a column": lambda: rl.Project(row, (function,), ("x",)),
        "a branch": lambda: rl.Project(row, (ex.IfThen((ex.IfClause(ALWAYS, function),), function),), ("x",)),
        "an argument": lambda: rl.Project(row, (call("coalesce", function, function),), ("x",)),
        "a key of a sort": lambda: rl.Sort(row, (ex.SortKey(function, "asc_nulls_first"),)),
    }
    made = makers[place]()
    with refused(UnsupportedError, "Spark has no type for func<i64 -> i64>"):
        execute(AlgebraPlan((Root(made, made.schema.names),)), spark)


@pytest.mark.parametrize(("name", "make"), REFUSED, ids=[name for name, _ in REFUSED])
def test_refused_by_name(name: str, make: Callable[[], Any], spark: SparkSession) -> None:
    with refused(UnsupportedError, "execute", name):
        make().execute(spark)


DAYS: Any = sd.read_virtual([(1, DAY)], {"a": sd.I64, "d": sd.Date})
NUMBER: Any = lambda r: r.d.cast(sd.I64)  # noqa: E731  # which Spark does not give of a date
FROM_DATE, MEDIAN, SO_FAR = (
    "cast(d as i64)",
    "median(EXACT, a)",
    "(range between unbounded preceding and current row)",
)
STEPS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "a column": (
        lambda: DAYS.project(x=lambda r: r.a + 1, y=lambda r: NUMBER(r) + 1),
        FROM_DATE,
        f"project -> y: i64 = {FROM_DATE} + 1",
    ),
    "a condition": (
        lambda: DAYS.filter(lambda r: (r.a > 1) & (NUMBER(r) > 1)),
        FROM_DATE,
        f"filter a > 1 and {FROM_DATE} > 1",
    ),
    "a measure": (
        lambda: DAYS.group_by("d").agg(n=f.count(), m=lambda r: f.median("EXACT", r.a)),
        MEDIAN,
        f"aggregate by d -> m: i64? = {MEDIAN}",
    ),
    "what a measure is of": (
        lambda: DAYS.aggregate("a", grouping_sets=[["a"], []], m=lambda r: f.sum(NUMBER(r))),
        FROM_DATE,
        f"aggregate by (a), () -> m: i64? = sum({FROM_DATE})",
    ),
    "a window": (
        lambda: DAYS.window(n=f.row_number(), m=lambda r: f.median("EXACT", r.a), order_by="a"),
        f"{MEDIAN} over {SO_FAR}",
        f"window order by a asc nulls first -> m: i64? = {MEDIAN} over {SO_FAR}",
    ),
    "inside a subquery": (
        lambda: DAYS.filter(lambda r: r.a == sd.scalar_subquery(DAYS.filter(lambda q: q.a == r.a).select(y=NUMBER))),
        FROM_DATE,
        f"project -> y: i64 = {FROM_DATE}",
    ),
    "inside a lambda": (
        lambda: DAYS.project(x=lambda r: f.transform(sd.list_of(r.d), lambda x: x.cast(sd.I64))),
        "cast(@0 as i64)",
        "project -> x: list<i64> = transform([d], (@0: date) -> cast(@0 as i64))",
    ),
    "a physical join": (
        lambda: DAYS.hash_join(DAYS.rename(a="b", d="e"), [("a", "b")], post_filter=lambda r: NUMBER(r) == 1),
        FROM_DATE,
        f"hash join inner build right on a = b then filter {FROM_DATE} = 1",
    ),
}


@pytest.mark.parametrize("case", STEPS)
def test_the_step_that_is_refused_is_named(case: str, spark: SparkSession) -> None:
    make, expression, step = STEPS[case]
    with pytest.raises(UnsupportedError) as caught:
        make().collect(spark)
    error = caught.value
    assert (error.expression, error.step) == (expression, step)
    assert str(error).startswith("collect: Spark ")
    assert error.message.endswith(f" in {expression} (step: {step})")
    assert error.args == (error.message,)


def test_a_step_without_a_part_is_named(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedError, match=r"cannot rank more than .* \(step: top n .*\)$") as caught:
        T.top_n(2**40, "a", with_ties=True).execute(spark)
    assert caught.value.expression is None
    assert caught.value.step is not None


def test_streams_are_refused(spark: SparkSession) -> None:
    spark.readStream.format("rate").load().createOrReplaceTempView("a_stream")
    stream: Any = sd.read_named("a_stream", {"value": "i64?"})
    many = T.join(stream, lambda x, y: x.a == y.value)
    for rel in (stream, stream.filter(lambda r: r.value > 1).aggregate(n=f.count()), many):
        with refused(UnsupportedError, "execute", '"a_stream" is a stream', "foreachBatch"):
            rel.execute(spark)
