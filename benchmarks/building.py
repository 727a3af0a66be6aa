"""How fast plans are built: against ``substrait.dataframe``, raw protobuf, and the library's own growth.

Run from the repository's root: ``python -m benchmarks.building``.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial

import substrait.dataframe as peer
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from benchmarks.measure import Run, fresh, medians, show
from substrait_dsl import functions as f

START_UP = "import time; {}; print(time.process_time() * 1000)"
"""A program that tells the time of the processor from the start of its process to its end."""

TIMED = "import time; start = time.perf_counter(); {}; print((time.perf_counter() - start) * 1000)"


def imports() -> None:
    """Importing, the first call of a function, and how long a program takes that builds a small plan and writes it."""
    times = fresh(
        {
            "import substrait_dsl": TIMED.format("import substrait_dsl"),
            "import substrait_dsl, its first public name": TIMED.format("import substrait_dsl as s; s.Relation"),
            "import substrait.dataframe": TIMED.format("import substrait.dataframe"),
            "first function call after import": (
                "import time, substrait_dsl as s; from substrait_dsl import functions as f; "
                "r = s.read_named('t', {'a': s.I64}); start = time.perf_counter(); "
                "r.aggregate(x=f.sum(s.col('a'))); print((time.perf_counter() - start) * 1000)"
            ),
            "first operator after import": (
                "import time, substrait_dsl as s; r = s.read_named('t', {'a': s.I64}); "
                "start = time.perf_counter(); r.filter(s.col('a') + 1 > 2); print((time.perf_counter() - start) * 1000)"
            ),
        },
        repeats=9,
    )
    show("Importing (fresh processes)", times)
    ratio = times["import substrait_dsl, its first public name"] / times["import substrait.dataframe"]
    print(f"  its first public name / import substrait.dataframe: {ratio:.2f}")

    times = fresh(
        {
            "substrait_dsl": START_UP.format(
                "import substrait_dsl as s; t = s.read_named('t', {'a': s.I64, 'b': s.String}); "
                "t.filter(lambda r: r.a > 1).select('a').to_plan().to_bytes()"
            ),
            "substrait.dataframe": START_UP.format(
                "import substrait.dataframe as s; "
                "t = s.read_named_table('t', {'a': s.i64.non_null, 'b': s.string.non_null}); "
                "t.filter(s.col('a') > 1).select('a').to_plan().SerializeToString()"
            ),
            "import substrait_dsl, its first public name": START_UP.format("import substrait_dsl as s; s.Relation"),
            "import substrait.dataframe": START_UP.format("import substrait.dataframe"),
        },
        repeats=9,
    )
    show("From the start of a process to the bytes of a small plan (time of the processor)", times)
    print(f"  substrait_dsl / substrait.dataframe: {times['substrait_dsl'] / times['substrait.dataframe']:.2f}")
    ratio = times["import substrait_dsl, its first public name"] / times["import substrait.dataframe"]
    print(f"  their imports alone: {ratio:.2f}")


def ours() -> bytes:
    """A pipeline of ten steps, to bytes."""
    people = sd.read_named("people", {"id": sd.I64, "age": sd.Nullable[sd.I64], "name": sd.Nullable[sd.String]})
    orders = sd.read_named("orders", {"pid": sd.I64, "amt": sd.FP64})
    return (
        people.filter(sd.col("age") > 25)
        .join(orders, sd.col("id") == sd.col("pid"), how="left")
        .group_by("name")
        .agg(total=f.sum(sd.col("amt")))
        .with_columns(double=sd.col("total") * 2.0)
        .filter(sd.col("double") > 1.0)
        .with_columns(triple=sd.col("total") * 3.0)
        .select("name", "double", "triple")
        .sort(sd.desc("double"))
        .fetch(10)
        .to_plan()
        .to_bytes()
    )


def theirs() -> bytes:
    """The same pipeline with the peer."""
    people = peer.read_named_table("people", {"id": peer.i64.non_null, "age": peer.i64, "name": peer.string})
    orders = peer.read_named_table("orders", {"pid": peer.i64.non_null, "amt": peer.fp64.non_null})
    plan = (
        people.filter(peer.col("age") > 25)
        .join(orders, peer.col("id") == peer.col("pid"), how="left")
        .group_by("name")
        .agg(peer.f.sum(peer.col("amt"), alias="total"))
        .with_columns(double=peer.col("total") * 2.0)
        .filter(peer.col("double") > 1.0)
        .with_columns(triple=peer.col("total") * 3.0)
        .select("name", "double", "triple")
        .sort("double", descending=True)
        .limit(10)
        .to_plan()
    )
    return bytes(plan.SerializeToString())


def pipelines() -> None:
    """Ten steps, and ten decimal additions."""
    data = ours()
    runs: dict[str, Run] = {
        "ours": ours,
        "substrait.dataframe": theirs,
        "protobuf: parse and write it": partial(_copied, data),
    }
    times = medians(runs, repeats=20)
    show("A ten-step pipeline, from the first verb to bytes", times)
    print(f"  substrait.dataframe / ours: {times['substrait.dataframe'] / times['ours']:.1f}")

    mine = sd.read_named("d", {"a": sd.Decimal(15, 2), "b": sd.Decimal(12, 4)})
    other = peer.read_named_table("d", {"a": peer.decimal(2, 15), "b": peer.decimal(4, 12)})
    names = [f"x{number}" for number in range(10)]
    times = medians(
        {
            "ours": lambda: mine.select(**{n: sd.col("a") + sd.col("b") for n in names}).to_plan().to_bytes(),
            "substrait.dataframe": lambda: other.select(
                *[(peer.col("a") + peer.col("b")).alias(n) for n in names]
            ).to_plan(),
        },
        repeats=5,
    )
    show("Ten decimal additions", times)
    print(f"  substrait.dataframe / ours: {times['substrait.dataframe'] / times['ours']:.1f}")


def _copied(data: bytes) -> bytes:
    return Plan.FromString(data).SerializeToString()


def chain(steps: int) -> sd.Relation:
    """Filters and computed columns in turn."""
    relation: sd.Relation = sd.read_named("t", {"a": sd.I64, "b": sd.I64})
    for step in range(steps // 2):
        relation = relation.filter(sd.col("a") > step).with_columns(b=sd.col("b") + step)
    return relation


def depth() -> None:
    """The cost of a step in chains of 10, 100 and 1000."""
    actions: dict[str, Callable[[int], object]] = {
        "build": chain,
        "print": lambda steps: str(chains[steps]),
        "encode": lambda steps: chains[steps].to_plan().to_bytes(),
    }
    chains = {steps: chain(steps) for steps in (10, 100, 1000)}
    for name, action in actions.items():
        times = medians({str(steps): partial(action, steps) for steps in chains}, repeats=3)
        each = {f"{steps} steps, a step": times[str(steps)] / steps for steps in chains}
        show(f"Depth: {name}", each)
        print(f"  a step at 1000 / a step at 10: {each['1000 steps, a step'] / each['10 steps, a step']:.2f}")


def width() -> None:
    """Verbs on tables of 100 and 1000 columns."""
    tables = {n: sd.read_named("w", {f"c{i}": sd.I64 for i in range(n)}) for n in (100, 1000)}
    actions: dict[str, Callable[[sd.Relation, int], object]] = {
        "filter": lambda table, n: table.filter(sd.col("c5") > 1),
        "select all": lambda table, n: table.select(*table.columns),
        "drop one": lambda table, n: table.drop("c7"),
        "one more than each": lambda table, n: table.select(**{f"d{i}": sd.col(f"c{i}") + 1 for i in range(n)}),
    }
    for name, action in actions.items():
        times = medians({str(n): partial(action, table, n) for n, table in tables.items()}, repeats=5)
        show(f"Width: {name}", {f"{n} columns": value for n, value in times.items()})
        print(f"  1000 columns / 100 columns: {times['1000'] / times['100']:.1f}")


def doubling() -> None:
    """``e = e + e`` and a relation joined to itself, again and again: time and memory must not double."""
    table = sd.read_named("t", {"a": sd.I64})

    def sums(times: int) -> object:
        expression: sd.Expr[sd.I64] = sd.col("a")
        for _ in range(times):
            expression = expression + expression
        return table.select(x=expression)

    def joins(times: int) -> object:
        relation = table
        for _ in range(times):
            relation = relation.join(relation, on=lambda l, r: l[0] == r[0], how="left_semi")
        return relation

    for name, action, small, large in (("e = e + e", sums, 15, 30), ("self join", joins, 7, 15)):
        times = medians({str(n): partial(action, n) for n in (small, large)}, repeats=5)
        show(f"Doubling: {name}", {f"{n} times": value for n, value in times.items()})
        tracemalloc.start()
        action(large)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"  memory at {large} times: {peak / 1024:.0f} KiB")


if __name__ == "__main__":
    imports()
    pipelines()
    depth()
    width()
    doubling()
