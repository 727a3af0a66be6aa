"""What Spark is not taught to run is refused by name, before anything runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T: Any = sd.read_virtual([(1, [1, 2])], {"a": sd.I64, "xs": sd.List(sd.I64())})
MAPS: Any = sd.read_virtual([({"a": 1},)], {"m": "map<string, i64>"})
DAY = dt.date(2024, 5, 1)
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
    ("computed before the join", lambda: T.join(T.select(b=sd.col("a")), WINDOW, "left_single")),
    ("computed before the join", lambda: T.lateral_join(lambda t: T.select(b=sd.col("a")), on=WINDOW)),
    ("acme.Rule", lambda: T.filter(lambda r: r.a == 1).with_extension(sd.AdvancedExtension(enhancement=DETAIL))),
]


@pytest.mark.parametrize(("name", "make"), REFUSED, ids=[name for name, _ in REFUSED])
def test_refused_by_name(name: str, make: Callable[[], Any], spark: SparkSession) -> None:
    with refused(UnsupportedError, "execute", name):
        make().execute(spark)
