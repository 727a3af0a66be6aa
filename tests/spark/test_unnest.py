"""Unnest on Spark: its rows, alone and inside lateral joins, are those that Python makes of the lists."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.errors import UnsupportedError
from tests.spark.rows import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS: list[tuple[int, list[int | None] | None, list[tuple[int, str | None]]]] = [
    (1, [3, None, 3], [(1, "a"), (2, None)]),
    (2, [], [(7, "b")]),
    (3, None, []),
    (4, [-7, 12], [(3, "a"), (3, "a")]),
]
PAIR = sd.Struct.of({"n": sd.I64(), "s": sd.String(nullable=True)})
COLUMNS = {"id": "i64", "xs": "list<i64?>?", "pairs": sd.List(PAIR)}


@pytest.fixture(params=["rows in the plan", "a table"])
def lists(request: pytest.FixtureRequest, spark: SparkSession) -> Any:
    """The lists as the rows of a virtual table, which become DataFrames, and as a table, which becomes text."""
    inline = sd.read_virtual(ROWS, COLUMNS)
    if request.param == "rows in the plan":
        return inline
    inline.execute(spark).createOrReplaceTempView("lists")
    return sd.read_named("lists", COLUMNS)


def elements(column: int) -> list[tuple[Any, ...]]:
    return [(row[0], one, place) for row in ROWS for place, one in enumerate(row[column] or ())]  # type: ignore[arg-type]


def test_each_element_is_a_row_with_its_offset(lists: Any, spark: SparkSession) -> None:
    plain = lists.unnest("xs", element="x").select("id", "x", "offset")
    assert counted(plain, spark) == Counter(elements(1))
    read_again = sd.Plan.from_bytes(plain.to_plan().to_bytes()).roots[0]
    assert counted(read_again, spark) == Counter(elements(1))
    pairs = lists.unnest("pairs", element="p").select(
        "id", n=lambda r: r.p["n"], s=lambda r: r.p["s"], at=sd.col("offset")
    )
    assert counted(pairs, spark) == Counter((key, *pair, place) for key, pair, place in elements(2))


def test_lists_that_are_computed_and_lists_in_lists(lists: Any, spark: SparkSession) -> None:
    made = lists.unnest(lambda r: sd.list_of(sd.list_of(r.id, 0), sd.list_of(5, r.id)), element="pair", offset="a")
    found = made.unnest("pair", element="x", offset="b").select("id", "x", "a", "b")
    wanted = [(n, x, a, b) for n, *_ in ROWS for a, pair in enumerate([(n, 0), (5, n)]) for b, x in enumerate(pair)]
    assert counted(found, spark) == Counter(wanted)
    total = lists.unnest("xs", element="x").aggregate("id", n=f.count(), total=lambda r: f.sum(r.x))
    assert counted(total, spark) == Counter([(1, 3, 6), (4, 2, 5)])


def test_inside_a_lateral_join(lists: Any, spark: SparkSession) -> None:
    """What is folded or picked is that of one row; a left join keeps the rows without elements."""
    one = sd.read_virtual([(0,)], {"zero": "i64"})

    def inside(row: Any) -> Any:
        return one.project(list=row.xs).unnest("list", element="x").select("x", "offset")

    kept = lists.lateral_join(lambda r: inside(r).filter(lambda e: e.x > r.id)).select("id", "x", "offset")
    assert counted(kept, spark) == Counter(row for row in elements(1) if row[1] is not None and row[1] > row[0])
    left = lists.lateral_join(inside, on=lambda r, e: e.x < 0, how="left").select("id", "x", "offset")
    assert counted(left, spark) == Counter([(1, None, None), (2, None, None), (3, None, None), (4, -7, 0)])
    folded = lists.lateral_join(lambda r: inside(r).aggregate(total=lambda e: f.sum(e.x))).select("id", "total")
    assert counted(folded, spark) == Counter([(1, 6), (2, None), (3, None), (4, 5)])
    maps = sd.read_virtual([], {"maps": "list<map<string, i64>>"})
    with pytest.raises(UnsupportedError, match=r"cannot compare values of map.*, as an unnest in a lateral join does"):
        maps.lateral_join(lambda r: one.project(list=r.maps).unnest("list")).execute(spark)
    last = lists.lateral_join(lambda r: inside(r).sort(sd.desc("offset")).limit(1)).select("id", "x", "offset")
    assert counted(last, spark) == Counter([(1, 3, 2), (4, 12, 1)])
