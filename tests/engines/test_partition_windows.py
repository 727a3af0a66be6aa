"""Windows over whole partitions on engines without window functions: rows are those of DataFusion's window functions.

DuckDB, whose SQL is the judge of the small plans, has some of them there; here are keys that are NULL, NaN and both
zeros, several partitions, windows in each other and in other places, and what is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.differential.tables import read
from tests.engines.processes import Engine
from tests.engines.runners import canonical_rows, random_tables, run_on_datafusion, with_random_tables
from tests.support import f, refused

INTS, REALS, TEXTS, TIMES, NOTHING = map(read, ("ints", "reals", "texts", "times", "nothing"))
KEYS = ("k", "a", "b", "h", "y")


def over(measure: Any, *partition: Any) -> Any:
    return measure.over(partition_by=list(partition))


GROUPED = INTS.group_by("a", "y").agg(s=lambda r: f.sum(r.h))

WINDOWS: dict[str, Callable[[], Any]] = {
    "keys that are NULL": lambda: INTS.select(
        "k", v=lambda r: over(f.sum(r.h), "a"), w=lambda r: over(f.count(r.b), "a"), n=lambda r: over(f.count(), "b")
    ),
    "keys that are floats": lambda: REALS.select(
        "a", v=lambda r: over(f.count(), "z"), w=lambda r: over(f.count(), "x"), u=lambda r: over(f.min(r.a), "x", "z")
    ),
    "keys that are decimals": lambda: REALS.select(
        "a", v=lambda r: over(f.count(), "n"), w=lambda r: over(f.count(), r.n * 2), u=lambda r: over(f.sum(r.n), "a")
    ),
    "keys that are computed": lambda: TEXTS.select("k", v=lambda r: over(f.count(), f.substring(r.s, 1, 1))),
    "no partition": lambda: INTS.select("k", v=lambda r: over(f.max(r.k)), w=lambda r: over(f.avg(r.h))),
    "no rows": lambda: NOTHING.select("a", v=lambda r: over(f.sum(r.b), "a"), w=lambda r: over(f.count())),
    "several partitions": lambda: INTS.select(
        "k", v=lambda r: over(f.sum(r.h), "y") + over(f.sum(r.h), "a") * 2, w=lambda r: over(f.max(r.k), "a")
    ),
    "an order and all rows": lambda: INTS.select(
        "k", v=lambda r: f.sum(r.h).over(partition_by=["y"], order_by="k", rows=(None, None))
    ),
    "in a filter": lambda: INTS.filter(lambda r: over(f.count(), "a") > 1).select("k", "a"),
    "in a sort": lambda: INTS.sort(lambda r: over(f.count(), "a"), *KEYS).select("k", "a"),
    "in a conditional": lambda: INTS.select(
        "k", v=lambda r: sd.when(over(f.count(), "a") > 1).then(over(f.max(r.k), "a")).otherwise(0)
    ),
    "in each other": lambda: INTS.select("k", v=lambda r: over(f.max(over(f.sum(r.h), "a")), "y")),
    "above each other": lambda: INTS.select("k", "y", v=lambda r: over(f.sum(r.h), "a")).select(
        "k", u=lambda r: over(f.max(r.v), "y")
    ),
    "in a measure": lambda: INTS.aggregate(v=lambda r: f.sum(over(f.count(), "a"))),
    "above groups": lambda: GROUPED.select("a", v=lambda r: over(f.max(r.s), "y"), w=lambda r: r.s - over(f.min(r.s))),
    "above a join": lambda: INTS.join(
        INTS.select(k2=sd.col("k"), a2=sd.col("a")), lambda x, y: x.a == y.a2, "left"
    ).select("k", v=lambda r: over(f.max(r.k2), "a2")),
    "above a union": lambda: INTS.union_all(INTS).select("k", v=lambda r: over(f.count(), "a")),
    "in a subquery": lambda: INTS.filter(
        lambda x: sd.exists(
            INTS.select(k2=sd.col("k"), v=lambda r: over(f.count(), "a")).filter(lambda y: (y.v > 1) & (y.k2 == x.k))
        )
    ),
    "least and largest": lambda: REALS.select(
        "a", v=lambda r: over(f.min(r.x), "a"), w=lambda r: over(f.max(r.z)), u=lambda r: over(f.max(r.r), "a")
    ),
    "truth values and dates": lambda: TEXTS.select(
        "k", v=lambda r: over(f.bool_and(r.p), "u"), w=lambda r: over(f.bool_or(r.p), "s")
    ),
    "a window relation": lambda: INTS.window(partition_by=["y"], n=lambda r: f.sum(r.h), m=f.count()),
}


def rows_on(engine: Engine, relation: sd.Relation[Any]) -> Any:
    table = engine.run(relation.to_plan().to_bytes(engine=engine.name))
    return canonical_rows(list(zip(*(column.to_pylist() for column in table.columns), strict=True)))


@pytest.fixture(scope="module")
def tables(acero: Engine, duckdb_substrait: Engine) -> dict[str, Engine]:
    """The engines without window functions, with the tables."""
    engines = {"acero": acero, "duckdb": duckdb_substrait}
    for engine in engines.values():
        engine.add_tables(random_tables())
    return engines


@pytest.mark.usefixtures("datafusion")
def test_rows_are_those_of_window_functions(tables: dict[str, Engine]) -> None:
    context = with_random_tables()
    for name, make in WINDOWS.items():
        relation = make()
        expected = canonical_rows(run_on_datafusion(context, relation.to_plan().to_bytes(engine="datafusion")))
        for engine in tables.values():
            found = rows_on(engine, relation)
            assert Counter(found) == Counter(expected), f"{name} on {engine.name}"
            if name == "in a sort":
                assert found == expected


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a rank": (lambda: INTS.select(v=f.rank().over(partition_by=["y"], order_by="k")), "no window function rank"),
    "a frame": (lambda: INTS.select(v=lambda r: f.sum(r.h).over(order_by="k")), "no window function sum"),
    "first rows": (
        lambda: INTS.sort(*KEYS).limit(3).select("k", v=over(f.count(), "a")),
        "a window over rows that may be others each time",
    ),
    "an outer row": (
        lambda: INTS.filter(
            lambda x: sd.exists(
                INTS.filter(lambda y: y.a == x.a).select(v=over(f.count(), "y")).filter(sd.col("v") > 1)
            )
        ),
        "a window that depends on an outer row",
    ),
    "a subquery beside it": (
        lambda: INTS.select(v=lambda r: sd.when(r.a.is_in(INTS.select("a"))).then(over(f.count(), "a")).otherwise(0)),
        "a window function beside a subquery",
    ),
}


@pytest.mark.parametrize("engine", ["acero", "duckdb"])
@pytest.mark.parametrize("case", REFUSED)
def test_other_windows_are_refused(case: str, engine: str) -> None:
    make, words = REFUSED[case]
    assert make().check(engine).verdict == "refused"
    with refused(UnsupportedError, "to_bytes", words):
        make().to_plan().to_bytes(engine=engine)


def test_the_report_says_what_stands_there_instead() -> None:
    """As `rejected`, which a raw window function is there."""
    for relation in (INTS.select(v=over(f.count(), "a")), INTS.window(partition_by=["a"], n=f.count())):
        found = {each.code: each for each in relation.check("acero").findings}
        assert found["window-aggregate"].severity == "rejected"
        assert found["window-aggregate"].cure == "groups that are joined to their rows"
        assert not {"window-place", "window-relation"} & set(found)
