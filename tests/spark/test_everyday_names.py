"""The table of everyday functions and their names elsewhere: each exists there, and gives the same values."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from pyspark.sql import functions as F  # noqa: N812  # as the page and everybody calls it

import substrait_dsl as sd
from substrait_dsl import everyday as e
from substrait_dsl.fluent.calls import MeasureBase

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = (Path(__file__).parent.parent.parent / "docs" / "recipes.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("<!-- names elsewhere -->\n")[2].partition("\n\n")[0]
NAMES = [re.findall(r"`([^`]+)`|(?<=\| )(-)(?= \|)", line) for line in TABLE.splitlines()[2:]]
CALLS = [tuple(code or None for code, _ in found) for found in NAMES]
"""For each function its call here, in PySpark and in Polars; None where there is none."""

SCHEMA = dict(
    column.split(": ")
    for column in (
        *("day: date", "until: date", "at: precision_timestamp<6>", "written: string", "clock: string", "a: i64?"),
        *("b: fp64?", "c: i64?", "xs: list<i64?>", "json: string", "url: string", "m: map<string, i64>"),
    )
)
ROWS = [
    (
        *(dt.date(2024, 2, 7), dt.date(2024, 3, 1), dt.datetime(2024, 2, 7, 23, 59, 58), "07/02/2024"),
        *("07/02/2024 23:59", 3, 1.5, 2, [3, None, 1, 3], '{"user": "ann"}', "https://example.org/a?q=1", {"x": 1}),
    ),
    (
        *(dt.date(2024, 1, 1), dt.date(2023, 12, 31), dt.datetime(1969, 12, 31, 1, 2, 3), "29/02/2024"),
        *("29/02/2024 00:00", None, 2.5, 7, [], '{"user": "bob", "n": 1}', "http://localhost", {}),
    ),
    (
        *(dt.date(2024, 12, 31), dt.date(2024, 12, 31), dt.datetime(2024, 1, 1), "07/02/2024"),
        *("01/01/1970 12:30", 5, None, 9, [2, 2], '{"n": 2}', "ftp://h.example/x", {"y": 2, "z": 3}),
    ),
]
FRAME = pl.DataFrame([row[:-1] for row in ROWS], [*SCHEMA][:-1], orient="row")


def plain(value: Any) -> Any:
    """A value whatever the library: floats to nine digits."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    return round(value, 9) if isinstance(value, float) else value


def columns(calls: dict[str, str], relation: sd.Relation[Any], spark: SparkSession) -> dict[str, list[Any]]:
    """The values of some calls of ours."""
    row = relation.c
    found: dict[str, Any] = {name: eval(call, {"e": e, "s": row}) for name, call in calls.items()}
    is_measure = isinstance(next(iter(found.values())), MeasureBase)
    rows = (relation.aggregate(**found) if is_measure else relation.select(**found)).collect(spark)
    return {name: [plain(each[name]) for each in rows] for name in calls}


def is_aggregate(call: str) -> bool:
    return isinstance(eval(call, {"e": e, "s": sd.read_virtual(ROWS, SCHEMA).c}), MeasureBase)


def test_the_functions_of_the_table_give_the_same_in_pyspark_and_polars(spark: SparkSession) -> None:
    assert len(CALLS) >= 30
    relation = sd.read_virtual(ROWS, SCHEMA)
    frame = relation.execute(spark)
    for kind in (False, True):
        calls = [call for call in CALLS if is_aggregate(str(call[0])) is kind]
        ours = columns({f"c{number}": str(call[0]) for number, call in enumerate(calls)}, relation, spark)
        theirs = [eval(str(call[1]), {"F": F}).alias(f"c{number}") for number, call in enumerate(calls)]
        rows = (frame.agg(*theirs) if kind else frame.select(*theirs)).collect()
        for number, (call, in_pyspark, in_polars) in enumerate(calls):
            values = ours[f"c{number}"]
            assert [plain(each[number]) for each in rows] == values, in_pyspark
            if in_polars is not None:
                found = FRAME.select(x=eval(in_polars, {"pl": pl}))["x"].to_list()
                assert [plain(each) for each in found] == values, (call, in_polars)


def test_every_function_stands_in_the_table() -> None:
    named = {re.match(r"e\.(\w+)", str(call[0]))[1] for call in CALLS}  # type: ignore[index]  # each is a call of ours
    without = {"from_json", "to_json", "map_entries", "collect_set"}  # of structs, and in any order
    assert named | without == set(e.__all__) - {"URN", "catalog"}
