"""What the mypy plugin loads, what its answers depend on, and that no program makes it fail."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import substrait_dsl
from substrait_dsl.mypy_plugin.digest import find_files
from tests.projects import Project

PACKAGE = Path(substrait_dsl.__file__).parent
PROGRAMS = Path(__file__).parent / "typing" / "plugin"
MALFORMED = ("malformed.py", "malformed_code.py")

CALLS = """
from decimal import Decimal
import substrait_dsl as sd
from substrait_dsl import L, functions as f

class Orders(sd.Schema):
    key: sd.I64
    price: sd.Decimal[L[15], L[2]]
    day: sd.Date
    tags: sd.List[sd.String]

orders = sd.read_named("orders", Orders)
rows = sd.read_virtual([(1, "x")], {"a": sd.I64, "b": "string?"})
files = sd.read_files("x.parquet", Orders)
some = orders.filter(lambda o: (o.price > 5) & (sd.col("key") > 1)).with_columns(more=lambda o: o.price * 2 + o.price)
both = some.join(orders, lambda l, r: l.key == r.key, how="left").select(0, 1, "more").rename(more="most")
sums = orders.group_by("day").agg(n=f.count(), total=lambda o: f.sum(o.price)).sort(sd.desc("total")).fetch(10)
cubes = orders.group_by("day", "key").cube(n=f.count())
over = orders.with_columns(place=f.row_number().over(partition_by="day", order_by="key"))
parts = orders.select(x=lambda o: f.any_match(o.tags, lambda t: t == "x"), y=lambda o: o.key.is_in([1, 2]))
cases = orders.select(z=sd.when(sd.col("key") > 1).then("a").otherwise(None), d=sd.lit(Decimal("1.50")))
there = orders.filter(lambda o: sd.exists(orders.filter(lambda p: p.key == o.key))).union_all(orders)
near = orders.lateral_join(lambda o: orders.filter(lambda p: p.key == o.key).limit(1), how="left")
plan = sd.Plan(sums)
copy = orders.write("copy")
orders.select("nope")
orders.filter(lambda o: o.price + o.tags)
orders.withColumn("x", 1)
sd.reveal_schema(sums)
"""
"""Calls of every kind, three of which are wrong."""

WATCHED = """
import json, sys
opened = []
sys.addaudithook(lambda event, details: opened.append(str(details[0])) if event == "open" else None)
from mypy import api
said, *_ = api.run(sys.argv[1:])
loaded = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
print(json.dumps([said, loaded, opened]))
"""


@pytest.fixture(scope="module")
def watched(library_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str], list[str]]:
    """What mypy says of `CALLS`; the modules that its process has loaded, with their files; the files it has opened."""
    project = Project(tmp_path_factory.mktemp("watched") / "project")
    project.write({"program.py": CALLS})
    command = [sys.executable, "-c", WATCHED, "--cache-dir", str(library_cache), "program.py"]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=True)
    said, loaded, opened = json.loads(done.stdout)
    return said, loaded, opened


def test_the_calls_are_made(watched: tuple[str, dict[str, str], list[str]]) -> None:
    said, loaded, _ = watched
    assert "Schema is day: date, n: i64, total: decimal<38,2>?" in said
    assert said.count("error:") == 3, said
    assert "substrait_dsl.fluent.relation" in loaded


@pytest.mark.parametrize("heavy", ["google.protobuf", "substrait", "pyspark", "py4j", "pyarrow", "pandas", "numpy"])
def test_no_library_of_any_weight_is_loaded(heavy: str, watched: tuple[str, dict[str, str], list[str]]) -> None:
    _, loaded, _ = watched
    assert [name for name in loaded if name == heavy or name.startswith(f"{heavy}.")] == []


def test_mypy_starts_without_the_library() -> None:
    program = "import sys, substrait_dsl.mypy_plugin as p; p.compute_digest(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    parts = {name.split(".")[1] for name in done.stdout.split() if name.startswith("substrait_dsl.")}
    assert parts == {"mypy_plugin", "errors", "texts", "installation"}
    assert "attr" not in done.stdout.split()


def inside(paths: Iterable[str | None], *places: str) -> set[Path]:
    """Those of some files that are inside of directories with such names."""
    found = {Path(path).resolve() for path in paths if path is not None}
    return {path for path in found if any(place in path.parts for place in places)}


def test_answers_depend_on_nothing_but_the_files_of_the_digest(
    watched: tuple[str, dict[str, str], list[str]],
) -> None:
    _, loaded, opened = watched
    modules = {Path(file).resolve() for name, file in loaded.items() if name.split(".")[0] == "substrait_dsl"}
    data = {path for path in inside(opened, "substrait_extensions") if path.suffix == ".yaml"}
    hints = {path for path in inside(opened, "hints") if path.suffix == ".toml"}
    assert modules
    assert data
    assert hints
    assert (modules | data | hints) - {file.resolve() for file in find_files()} == set()


def test_a_change_of_the_library_makes_mypy_check_again(tmp_path: Path) -> None:
    copy = tmp_path / "lib" / "substrait_dsl"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    project = Project(tmp_path / "project")
    project.write({"program.py": CALLS})
    command = [sys.executable, "-m", "mypy", "program.py"]

    def said() -> str:
        environment = {"PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            command, cwd=project.path, env=environment, capture_output=True, text=True, check=False
        ).stdout

    assert "there is no column" in said()
    errors = copy / "errors.py"
    text = errors.read_text(encoding="utf-8")
    assert "there is no {self.kind}" in text
    errors.write_text(text.replace("there is no {self.kind}", "nobody knows a {self.kind}"), encoding="utf-8")
    assert "nobody knows a column" in said()


@pytest.mark.parametrize("options", [["--strict"], ["--no-strict-optional", "--check-untyped-defs"]], ids=" ".join)
def test_no_program_makes_a_hook_fail(options: list[str], library_cache: Path, tmp_path: Path) -> None:
    """With ``--show-traceback`` a hook that fails ends mypy; without, mypy's own answer stands."""
    project = Project(tmp_path / "project", library_cache)
    texts = {name: (PROGRAMS / name).read_text(encoding="utf-8") for name in MALFORMED}
    project.write({"mypy.ini": "[mypy]\nplugins = substrait_dsl.mypy_plugin\n", **texts})
    said = project.checked("--show-traceback", *options, *MALFORMED)
    for name, text in texts.items():
        last = f"{name}:{len(text.splitlines())}: error:"
        assert any(line.startswith(last) for line in said), f"mypy has not come to the end of {name}"
    assert sum("[substrait-" in line for line in said) > 100
