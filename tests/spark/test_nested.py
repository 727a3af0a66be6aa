"""Structs, lists, maps, masks, lambdas and the values of an execution, on Spark."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import MaskedReference, MaskItem, Row, StructMask
from substrait_dsl.errors import UnsupportedError
from tests.spark.rows import collected, values
from tests.support import f, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

T = values({"a": "i64", "b": "i64?", "s": "string", "xs": "list<i64?>"}, (1, None, "x", [1, None]), (2, 5, "y", []))


def rows(relation: sd.Relation[Any], spark: SparkSession) -> list[tuple[Any, ...]]:
    """The rows, whose Spark schema must be the derived one, down to what lies inside values."""
    frame = relation.execute(spark)
    assert frame.schema == relation.schema.to_spark()
    return sorted((tuple(row) for row in frame.collect()), key=str)


def test_constructors(spark: SparkSession) -> None:
    made = T.select(
        who=lambda r: sd.struct_of(name=r.s, more=sd.struct_of(n=r.b)),
        two=lambda r: sd.list_of(r.a, r.b),
        by_name=lambda r: sd.map_of([(r.s, r.b), ("z", 0)]),
    )
    assert rows(made, spark) == [
        (("x", (None,)), [1, None], {"x": None, "z": 0}),
        (("y", (5,)), [2, 5], {"y": 5, "z": 0}),
    ]
    parts = made.select(n=lambda r: r.who["more"]["n"], second=lambda r: r.two[1], z=lambda r: r.by_name["z"])
    assert rows(parts, spark) == [(5, 5, 0), (None, None, 0)]


def test_keys_that_repeat_are_an_error(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="DUPLICATED_MAP_KEY"):
        T.select(m=lambda r: sd.map_of([(r.s, 1), ("x", 2)])).execute(spark).collect()


ADDRESS = sd.Struct((sd.String(), sd.I32(nullable=True)), ("city", "zip"), nullable=True)
PERSON = sd.Struct((sd.String(), ADDRESS, sd.I8()), ("name", "address", "age"), nullable=True)
PEOPLE = values(
    {"id": "i64", "person": PERSON},
    (1, ("Ann", ("Oslo", None), 30)),
    (2, ("Bob", None, 40)),
    (3, None),
)


def test_parts_of_structs(spark: SparkSession) -> None:
    kept = PEOPLE.select("id", who=lambda r: r.person.keep("age", {"address": ["city"]}))
    assert rows(kept, spark) == [(1, (30, ("Oslo",))), (2, (40, None)), (3, None)]


def test_parts_of_a_row(spark: SparkSession) -> None:
    inside = StructMask((MaskItem(0), MaskItem(2)))
    whole = MaskedReference(Row(PEOPLE._rel.schema.row_type()), StructMask((MaskItem(1, inside), MaskItem(0))))
    made = sd.Relation(rl.Project(PEOPLE._rel, (whole,), ("part",))).select("part")
    found = sorted((tuple(row.part) for row in made.execute(spark).collect()), key=lambda part: part[1])
    assert found == [(("Ann", 30), 1), (("Bob", 40), 2), (None, 3)]


LAMBDAS: list[tuple[Callable[[Any], Any], list[Any]]] = [
    (lambda r: f.transform(r.xs, lambda x: x * 10 + r.a), [[11, None], []]),
    (lambda r: f.filter(r.xs, lambda x: x > 0), [[1], []]),
    (lambda r: f.any_match(r.xs, lambda x: x > 1), [None, False]),
    (lambda r: f.all_match(r.xs, lambda x: x > 0), [None, True]),
    # The inner lambda sees its parameter, the outer one's, and the row.
    (
        lambda r: f.transform(
            sd.list_of(r.a, 7), lambda x: f.transform(sd.list_of(1, 2), lambda y: x * 100 + y * 10 + r.a)
        ),
        [[[111, 121], [711, 721]], [[212, 222], [712, 722]]],
    ),
    (lambda r: f.transform(r.xs, lambda x: sd.struct_of(n=x, same=x == r.a)), [[(1, True), (None, None)], []]),
    (lambda r: sd.lambda_({"x": sd.I64, "y": sd.I64}, lambda x, y: (x - y) * x)(r.a, 5), [-4, -6]),
    (
        lambda r: f.transform(sd.list_of(r.a), lambda x: sd.lambda_({"y": sd.I64}, lambda y: y + x)(x * 10)),
        [[11], [22]],
    ),
]


def test_lambdas(spark: SparkSession) -> None:
    made = {f"l{number}": make for number, (make, _) in enumerate(LAMBDAS)}
    found = rows(T.select("a", **made), spark)
    for number, (_, expected) in enumerate(LAMBDAS):
        assert [row[number + 1] for row in found] == expected, number


def test_a_subquery_in_a_lambda_is_computed_before(spark: SparkSession) -> None:
    most = sd.scalar_subquery(T.aggregate(m=lambda r: f.max(r.a)))
    assert rows(T.select(n=lambda r: f.transform(sd.list_of(r.a), lambda x: x + most)), spark) == [([3],), ([4],)]


def test_a_lambda_in_a_filter(spark: SparkSession) -> None:
    assert rows(T.filter(lambda r: f.any_match(r.xs, lambda x: x == r.a)).select("a"), spark) == [(1,)]


# What the execution knows


def test_the_time_is_one_for_the_whole_plan(spark: SparkSession) -> None:
    before = dt.datetime.now(dt.UTC)
    one = T.select(at=sd.current_timestamp(3), day=sd.current_date(), zone=sd.current_timezone())
    two = T.select(at=sd.current_timestamp(6)).fetch(1)
    first, second = sd.Plan(one, two).execute(spark)
    after = dt.datetime.now(dt.UTC)
    texts = first.selectExpr("unix_micros(at)", "day", "zone")
    found = [*texts.collect(), *texts.collect()]  # asked for twice
    assert len(set(found)) == 1
    micros, day, zone = found[0]
    assert micros % 1000 == 0
    assert before.timestamp() - 0.001 <= micros / 1e6 <= after.timestamp()
    assert day in (before.date(), after.date())
    assert zone == "UTC"
    ((exact,),) = second.selectExpr("unix_micros(at)").collect()
    assert exact // 1000 * 1000 == micros


def test_the_date_is_that_of_the_session_s_zone(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Pacific/Kiritimati")
    try:
        ahead = dt.timezone(dt.timedelta(hours=14))
        days = {dt.datetime.now(ahead).date()}
        ((found, zone),) = T.select(day=sd.current_date(), zone=sd.current_timezone()).fetch(1).execute(spark).collect()
        days.add(dt.datetime.now(ahead).date())
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert found in days
    assert zone == "Pacific/Kiritimati"


def test_a_time_for_each_record_is_refused(spark: SparkSession) -> None:
    plan = sd.Plan(T.select(at=sd.current_timestamp()), evaluation_mode="per_record")
    with refused(UnsupportedError, "execute", "current_timestamp for each record"):
        plan.execute(spark)


def test_a_bound_parameter_has_a_value(spark: SparkSession) -> None:
    some = T.filter(lambda r: r.a == sd.parameter(3, sd.I64)).select("a")
    for value, expected in ((1, [(1,)]), (9, [])):
        (frame,) = sd.Plan(some, parameter_bindings={3: value}).execute(spark)
        assert [tuple(row) for row in frame.collect()] == expected


def test_a_literal_over_an_aggregate_is_one_row(spark: SparkSession) -> None:
    """Also where the aggregate itself is not used."""
    five = T.aggregate(n=f.count()).project(five=sd.lit(5)).select("five")
    assert collected(T.select(x=lambda r: r.a + sd.scalar_subquery(five)).sort("x"), spark) == [(6,), (7,)]
