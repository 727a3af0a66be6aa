"""Structs, lists, maps, masks, lambdas and the values of an execution, on Spark."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import ListMask, MaskedReference, MaskItem, Row, StructMask
from substrait_dsl.algebra.schema import NamedStruct
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


CALL = sd.Struct((sd.I32(), sd.String(), sd.String(nullable=True)), ("a", "b", "c"), nullable=True)
CALLS = sd.Struct((sd.I64(), sd.List(CALL, nullable=True)), ("n", "calls"), nullable=True)
LISTS = values(
    {"id": "i64", "s": CALLS},
    (1, (10, [(number, f"b{number}", None if number == 2 else f"c{number}") for number in range(7)])),
    (2, (20, [(0, "b0", "c0"), None])),
    (3, (30, [])),
    (4, (40, None)),
    (5, None),
)


def kept_calls(part: Any, spark: SparkSession) -> list[Any]:
    """What is kept of the calls in each row that has any."""
    kept = LISTS.select("id", s=lambda r: r.s.keep({"calls": part}))
    found = dict(rows(kept, spark))
    assert found[4] == (None,)
    assert found[5] is None
    return [found[number][0] for number in (1, 2, 3)]


def test_elements_of_lists(spark: SparkSession) -> None:
    """A list that is shorter has fewer; NULLs among the elements stay."""
    ends = [(number, f"b{number}") for number in range(7)]
    assert kept_calls(sd.elements(first=5, keep=["a", "c"]), spark) == [
        [(0, "c0"), (1, "c1"), (2, None), (3, "c3"), (4, "c4")],
        [(0, "c0"), None],
        [],
    ]
    assert kept_calls(sd.elements(0, keep=["b"]), spark) == [[("b0",)], [("b0",)], []]
    assert kept_calls(sd.elements(1, 3, 9, keep=["a", "b"]), spark) == [[ends[1], ends[3]], [None], []]
    assert kept_calls(sd.elements(4, first=2, keep=["a", "b"]), spark) == [[*ends[:2], ends[4]], [ends[0], None], []]
    whole = kept_calls(sd.elements(6), spark)
    assert whole == [[(6, "b6", "c6")], [], []]


def test_elements_of_lists_in_lists(spark: SparkSession) -> None:
    table = values(
        {"x": "struct<list<list<nstruct<p: i64, q: i64>>?>>"},
        (([[(1, 2), (3, 4), (5, 6)], None, [(7, 8)], [(9, 10), (11, 12)]],),),
    )
    made = table.select(x=lambda r: r.x.keep({0: sd.elements(3, first=2, keep=sd.elements(1, keep=["q"]))}))
    assert rows(made, spark) == [(([[(4,)], None, [(12,)]],),)]
    inside = table.select(
        x=lambda r: f.transform(sd.list_of(r.x), lambda y: y.keep({0: sd.elements(0, keep=sd.elements(first=2))}))
    )
    assert rows(inside, spark) == [([([[(1, 2), (3, 4)]],)],)]


def test_a_mask_of_a_read_keeps_elements(spark: SparkSession) -> None:
    """The example of the specification: 0:[0,1:[..5:[0,2]]],2,3."""
    inner = sd.List(sd.Struct((sd.I32(), sd.String(), sd.String()), ("x", "y", "z")))
    first = sd.Struct((sd.I32(), inner, sd.I32()), ("i", "l", "j"))
    schema = NamedStruct.of({"a": first, "b": sd.I16(), "c": sd.I32(), "d": sd.I64()})
    many = [(number, f"y{number}", f"z{number}") for number in range(7)]
    source = values({field.name: field.type for field in schema}, ((1, many, 2), 3, 4, 5), ((6, many[:1], 7), 8, 9, 10))
    x_and_z = StructMask((MaskItem(0), MaskItem(2)))
    mask = StructMask(
        (MaskItem(0, StructMask((MaskItem(0), MaskItem(1, ListMask(5, (), x_and_z))))), MaskItem(2), MaskItem(3))
    )
    source.execute(spark).createOrReplaceTempView("masked_lists")
    for definition in (source._rel.definition, rl.NamedTable(("masked_lists",))):
        read: Any = sd.Relation(rl.Read(schema, definition, projection=mask))
        assert rows(read, spark) == [
            ((1, [(n, f"z{n}") for n in range(5)]), 4, 5),
            ((6, [(0, "z0")]), 9, 10),
        ]


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
