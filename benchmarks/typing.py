"""How long mypy takes with the plugin, against without it, to check pipelines of ten steps written in three styles.

What counts is the time of the processor, the smallest of several runs: mypy finds the library in its cache and checks
the pipelines anew. Run from the repository's root: ``python -m benchmarks.typing``.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks.measure import show

SETTINGS = """
[mypy]
strict = True
plugins = {plugins}
[mypy-substrait.*]
follow_untyped_imports = True
"""
WAYS = {"without": "", "with": "substrait_dsl.mypy_plugin"}

HEAD = """
import substrait_dsl as sd
from substrait_dsl import L, functions as f

class Orders(sd.Schema):
    o_orderkey: sd.I64
    o_custkey: sd.I64
    o_totalprice: sd.Decimal[L[15], L[2]]
    o_orderdate: sd.Date
    o_comment: sd.Nullable[sd.String]

class Customers(sd.Schema):
    c_custkey: sd.I64
    c_name: sd.String
    c_segment: sd.FixedChar[L[10]]

orders = sd.read_named("orders", Orders)
customers = sd.read_named("customers", Customers)
"""

STYLES = {
    "lambda": """
def pipeline_{n}() -> None:
    best = (
        orders.filter(lambda o: o.o_totalprice > {n})
        .with_columns(net=lambda o: o.o_totalprice * 2)
        .join(customers, lambda o, c: o.o_custkey == c.c_custkey, how="left")
        .filter(lambda r: (r.net > 10) & r.o_comment.is_not_null())
        .project(more=lambda r: r.net + r.o_totalprice)
        .select("c_name", "net", "more", "o_orderdate")
        .group_by("c_name")
        .agg(total=lambda r: f.sum(r.net), orders=f.count())
        .rename(total="sum")
        .sort(lambda r: sd.desc(r.sum))
        .fetch({n})
    )
    best.filter(lambda r: r.orders > 1)
""",
    "index": """
def pipeline_{n}() -> None:
    dear = orders.filter(orders["o_totalprice"] > {n})
    net = dear.with_columns(net=dear["o_totalprice"] * 2)
    both = net.join(customers, net["o_custkey"] == customers["c_custkey"], how="left")
    some = both.filter((both["net"] > 10) & both["o_comment"].is_not_null())
    more = some.project(more=some["net"] + some["o_totalprice"])
    few = more.select("c_name", "net", "more", "o_orderdate")
    sums = few.group_by("c_name").agg(total=f.sum(few["net"]), orders=f.count())
    named = sums.rename(total="sum")
    best = named.sort(sd.desc(named["sum"])).fetch({n})
    best.filter(best["orders"] > 1)
""",
    "col": """
def pipeline_{n}() -> None:
    best = (
        orders.filter(sd.col("o_totalprice") > {n})
        .with_columns(net=sd.col("o_totalprice") * 2)
        .join(customers, sd.col("o_custkey") == sd.col("c_custkey"), how="left")
        .filter((sd.col("net") > 10) & sd.col("o_comment").is_not_null())
        .project(more=sd.col("net") + sd.col("o_totalprice"))
        .select("c_name", "net", "more", "o_orderdate")
        .group_by("c_name")
        .agg(total=f.sum(sd.col("net")), orders=f.count())
        .rename(total="sum")
        .sort(sd.desc("sum"))
        .fetch({n})
    )
    best.filter(sd.col("orders") > 1)
""",
}
TEAM = ("grid", "care")
"""The packages of `tests/typing/team`."""

ROOT = Path(__file__).parent.parent
STEPS = 11
"""The steps of each pipeline."""


def program(style: str, pipelines: int) -> str:
    """A module of so many pipelines."""
    return HEAD + "".join(STYLES[style].format(n=number) for number in range(1, pipelines + 1))


def seconds(way: str, folder: Path, checked: Sequence[str] = ("module.py",)) -> float:
    """What one run of mypy on modules in a folder takes of the processor; the library is compiled, as installed."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    command = [sys.executable, "-m", "mypy", "--config-file", f"{way}.ini", "--cache-dir", f"cache-{way}", *checked]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode > (checked == TEAM and way == "without"):  # which misses columns in a team's modules
        raise RuntimeError(done.stdout + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def checking(folder: Path, text: str, repeats: int) -> dict[str, float]:
    """The least time that it takes to check a module anew, and to find that nothing has changed."""
    times: dict[str, list[float]] = {}
    for number in range(repeats):
        (folder / "module.py").write_text(f"{text}\n# {number}", encoding="utf-8")  # no cache knows this one
        for way in WAYS:
            times.setdefault(way, []).append(seconds(way, folder))
            times.setdefault(f"{way}, unchanged", []).append(seconds(way, folder))
    return {name: min(values) for name, values in times.items()}


def compare(sizes: Iterable[int], styles: Iterable[str], repeats: int) -> None:
    """Check modules of these sizes with the plugin and without."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for way, plugins in WAYS.items():
            (folder / f"{way}.ini").write_text(SETTINGS.format(plugins=plugins), encoding="utf-8")
        checking(folder, HEAD, 1)  # the library is in the caches from here on
        for style in styles:
            of_size = {size: checking(folder, program(style, size), repeats) for size in sizes}
            for size, times in of_size.items():
                report(f"{size} pipelines, {style}", times)
            growth(of_size)


def check_team(repeats: int) -> None:
    """Check the modules of a team, where not each line is a call of the library, with the plugin and without."""
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for package in TEAM:
            shutil.copytree(ROOT / "tests" / "typing" / "team" / package, folder / package)
        for way, plugins in WAYS.items():
            (folder / f"{way}.ini").write_text(SETTINGS.format(plugins=plugins), encoding="utf-8")
            seconds(way, folder, TEAM)  # the library is in the caches from here on
        modules = [*folder.rglob("*.py")]
        lines = sum(len(module.read_text(encoding="utf-8").splitlines()) for module in modules)
        for number in range(repeats):
            for module in modules:
                module.write_text(f"{module.read_text(encoding='utf-8')}# {number}\n", encoding="utf-8")
            for way in WAYS:
                times.setdefault(way, []).append(seconds(way, folder, TEAM))
                times.setdefault(f"{way}, unchanged", []).append(seconds(way, folder, TEAM))
    report(f"{lines} lines of a team", {name: min(values) for name, values in times.items()})


def report(title: str, times: Mapping[str, float]) -> None:
    """Print what checking one module takes."""
    show(title, times, "s")
    print(f"  with / without: {times['with'] / times['without']:.2f}")
    print(f"  with / without, unchanged: {times['with, unchanged'] / times['without, unchanged']:.2f}")


def growth(of_size: Mapping[int, Mapping[str, float]]) -> None:
    """Print what each further step costs with the plugin, from one size to the next."""
    sizes = sorted(of_size)
    for smaller, larger in pairwise(sizes):
        for way in WAYS:
            more = of_size[larger][way] - of_size[smaller][way]
            print(f"  a step, {way}, from {smaller} to {larger}: {more / (larger - smaller) / STEPS * 1000:.3f} ms")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 100, 400])
    parser.add_argument("--styles", nargs="+", choices=STYLES, default=list(STYLES))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--team", action="store_true", help="check the modules of a team only")
    chosen = parser.parse_args()
    if chosen.team:
        check_team(chosen.repeats)
        return
    compare(chosen.sizes, chosen.styles, chosen.repeats)


if __name__ == "__main__":
    main()
