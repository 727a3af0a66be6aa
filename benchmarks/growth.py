"""How the time to check, lower, write and read plans grows with their size: the exponent, which is 1 if it is linear.

Run from the repository's root: ``python -m benchmarks.growth [--steps 1000 4000] [--shapes ...] [--ways ...]``.
Each plan is built anew for each measurement; the least time of the processor counts. Shapes are chains of steps, narrow
or of 40 columns, and single steps whose expressions are deep or many.
"""

from __future__ import annotations

import argparse
import gc
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial, reduce

import substrait_dsl as sd
from benchmarks.compiling import KEYS, T, relation
from substrait_dsl import functions as f
from substrait_dsl.errors import SubstraitDslError

MOST = 1.2
"""The largest exponent that passes for linear."""

WIDE = sd.read_named("growth_wide", {f"c{number}": sd.I64 for number in range(40)})

Make = Callable[[int], sd.Relation]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, nargs=2, default=[1000, 4000])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    options = parser.parse_args()
    small, large = options.steps
    print(f"exponents from {small} to {large}, with the milliseconds of both; above {MOST} it is marked")
    for shape in options.shapes:
        for way in options.ways:
            times = [least(partial(SHAPES[shape], size), WAYS[way], options.repeats) for size in (small, large)]
            exponent = math.log(times[1] / times[0]) / math.log(large / small)
            mark = "  <--" if exponent > MOST else ""
            print(f"  {shape:<16} {way:<22} {exponent:5.2f}  {times[0]:9.1f} {times[1]:9.1f}{mark}", flush=True)


def least(make: Callable[[], sd.Relation], run: Callable[[sd.Plan], object], repeats: int) -> float:
    """The least time of the processor that a plan takes, in milliseconds."""
    times = []
    for _ in range(repeats):
        plan = make().to_plan()
        gc.collect()
        start = time.process_time()
        with suppress(SubstraitDslError):  # what is refused takes its time, too
            run(plan)
        times.append(time.process_time() - start)
    return min(times) * 1000


def filters(steps: int) -> sd.Relation:
    """Filters on each other."""
    return reduce(lambda made, number: made.filter(sd.col("a") > -number), range(steps), T)


def computed(steps: int) -> sd.Relation:
    """Computed columns, each of the one before."""
    return reduce(lambda made, number: made.with_columns(b=sd.col("b") + number), range(steps), T)


def selected(steps: int) -> sd.Relation:
    """Projections to all columns of a wide relation, of which one is computed."""
    others = [sd.col(name) for name in WIDE.columns[1:]]
    return reduce(lambda made, number: made.select(*others, c0=sd.col("c0") + number), range(steps // 10), WIDE)


def wide_filters(steps: int) -> sd.Relation:
    """Filters on a wide relation."""
    return reduce(lambda made, number: made.filter(sd.col("c7") > -number), range(steps), WIDE)


def joined(steps: int) -> sd.Relation:
    """Semi joins on each other."""
    return reduce(lambda made, _: made.join(KEYS, on=lambda l, r: l.k == r.j, how="left_semi"), range(steps), T)


def sorted_rows(steps: int) -> sd.Relation:
    """Sorts and limits in turn."""
    return reduce(lambda made, number: made.sort("a").limit(10_000_000 - number), range(steps // 2), T)


def groups(steps: int) -> sd.Relation:
    """Aggregates on each other."""
    return reduce(lambda made, _: made.group_by("k").agg(a=f.max(sd.col("a"))), range(steps), T.select("k", "a"))


def windows(steps: int) -> sd.Relation:
    """Columns of window functions, each of the one before."""
    return reduce(
        lambda made, _: made.with_columns(b=f.sum(sd.col("b")).over(partition_by="k", order_by="a")),
        range(steps // 10),
        T,
    )


def outer_joins(steps: int) -> sd.Relation:
    """Left joins on each other, each with a choice of columns."""
    return reduce(
        lambda made, _: made.join(KEYS, on=lambda l, r: l.k == r.j, how="left").select("k", "a", b=sd.col("j")),
        range(steps // 2),
        T,
    )


def set_operations(steps: int) -> sd.Relation:
    """Set operations that count nothing, on each other."""
    return reduce(lambda made, _: made.set_op("minus_primary", T), range(steps), T)


def conditionals(size: int) -> sd.Relation:
    """Conditionals in each other."""
    return T.select(
        x=reduce(lambda made, n: sd.when(sd.col("a") > n).then(made).otherwise(n), range(size), sd.col("b"))
    )


def subqueries(steps: int) -> sd.Relation:
    """Filters with an uncorrelated subquery each."""
    return reduce(lambda made, _: made.filter(sd.exists(KEYS)), range(steps // 10), T)


def deep(size: int) -> sd.Relation:
    """One expression of so many calls in each other."""
    return T.select(x=reduce(lambda made, number: made + number, range(size), sd.col("a")))


def conditions(size: int) -> sd.Relation:
    """One condition of so many parts."""
    return T.filter(reduce(lambda made, number: made & (sd.col("a") > number), range(size), sd.col("a") > 0))


def columns(size: int) -> sd.Relation:
    """So many computed columns."""
    return T.select(**{f"x{number}": sd.col("a") + number for number in range(size)})


def united(size: int) -> sd.Relation:
    """Unions on each other."""
    return reduce(lambda made, _: made.union_all(T), range(size), T)


def _read(plan: sd.Plan) -> object:
    return sd.Plan.from_bytes(plan.to_bytes())


SHAPES: Mapping[str, Make] = {
    "chain": relation,
    "filters": filters,
    "computed": computed,
    "selected": selected,
    "wide filters": wide_filters,
    "joins": joined,
    "sorts": sorted_rows,
    "groups": groups,
    "windows": windows,
    "outer joins": outer_joins,
    "set operations": set_operations,
    "conditionals": conditionals,
    "subqueries": subqueries,
    "unions": united,
    "deep expression": deep,
    "conditions": conditions,
    "columns": columns,
}

WAYS: Mapping[str, Callable[[sd.Plan], object]] = {
    "print": str,
    "_repr_html_": lambda plan: plan._repr_html_(),
    "to_bytes": lambda plan: plan.to_bytes(),
    "to_bytes, from_bytes": _read,
    **{
        f"check {engine}": partial(lambda plan, engine: plan.check(engine), engine=engine)
        for engine in ("spark", "sail", "datafusion", "duckdb", "acero", "substrait-java")
    },
    **{
        f"lower {engine}": partial(lambda plan, engine: plan.lower(engine), engine=engine)
        for engine in ("datafusion", "duckdb", "acero", "substrait-java")
    },
}


if __name__ == "__main__":
    main()
