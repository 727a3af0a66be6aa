"""The work to check a plan grows with its size, and not faster: calls of functions are counted, no time is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.engines.check import check_plan
from substrait_dsl.engines.profile import load_profile
from tests.support import count_calls

f: Any = functions
Relation = sd.Relation[Any]
T = sd.read_named("t", {"k": sd.I64, "a": sd.Nullable[sd.I64], "d": sd.Decimal(10, 2)})
U = sd.read_named("u", {"j": sd.I64})


def on_each_other(step: Callable[[Relation, int], Any], first: Relation = T) -> Callable[[int], Relation]:
    """A chain of so many steps."""
    return lambda steps: reduce(step, range(steps), first)


def aggregates(made: Relation, number: int) -> Relation:
    return made.group_by("k").agg(a=lambda r: f.max(r.a), d=lambda r: f.max(r.d))


CHAINS: dict[str, Callable[[int], Relation]] = {
    "filters": on_each_other(lambda made, number: made.filter(sd.col("a") > -number)),
    "computed": on_each_other(lambda made, number: made.with_columns(a=sd.col("a") + number)),
    "decimals": on_each_other(lambda made, _: made.with_columns(d=(sd.col("d") + 1).cast(sd.Decimal(10, 2)))),
    "semi joins": on_each_other(lambda made, _: made.join(U, on=lambda l, r: l.k == r.j, how="left_semi")),
    "left joins": on_each_other(
        lambda made, _: made.join(U, on=lambda l, r: l.k == r.j, how="left").select("k", "a", "d")
    ),
    "set operations": on_each_other(lambda made, _: made.set_op("minus_primary", U), U),
    "unions": on_each_other(lambda made, _: made.union_all(T)),
    "aggregates": on_each_other(aggregates),
    "sorts": on_each_other(lambda made, _: made.sort("a")),
    "fetches": on_each_other(lambda made, number: made.sort("k").limit(10_000 - number)),
    "subqueries": on_each_other(lambda made, _: made.filter(sd.exists(U))),
    "windows": on_each_other(lambda made, _: made.with_columns(a=f.max(sd.col("a")).over(partition_by="k"))),
}
ENGINES = ("spark", "sail", "datafusion", "duckdb", "acero", "substrait-java")
MOST = 1.01
"""How much more than a step below it a step may cost; counts are exact."""

SIZES = (32, 64, 128)
"""So many conditions as become one filter, and twice and four times as many."""


def check(plan: sd.Plan, engine: str) -> None:
    """Check a plan, without encoding it, which has a test of its own (``proto/test_depth.py``)."""
    if engine in ("spark", "sail"):
        plan.check(engine)
    else:
        check_plan(plan._algebra, load_profile(engine))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("chain", CHAINS)
def test_the_calls_to_check_a_chain_grow_with_its_steps(chain: str, engine: str) -> None:
    """A step costs as much in a long chain as in a short one."""
    make = CHAINS[chain]
    check(make(SIZES[0]).to_plan(), engine)  # what is loaded once is loaded
    plans = [make(size).to_plan() for size in SIZES]
    small, middle, large = (count_calls(partial(check, plan, engine)) for plan in plans)
    assert large - middle <= MOST * (middle - small) * (SIZES[2] - SIZES[1]) / (SIZES[1] - SIZES[0])
