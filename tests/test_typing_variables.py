"""What a variable of the program stands for, to the mypy plugin: what is assigned to it, if that is one thing."""

from __future__ import annotations

import re
from pathlib import Path

from tests.projects import Project

PROGRAM = """\
from typing import Any, Final

import substrait_dsl as sd
from substrait_dsl import functions as f

COLUMNS = {"a": sd.I64, "b": "i64?"}
KEYS: Final = ["a"]
NAME = "b"
DOUBLE = sd.lambda_({"x": sd.I64}, lambda x: x * 2)

t = sd.read_named("t", COLUMNS)
revenue = sd.col("a") * sd.col("b")
either = sd.col("a") > 1
named = {"c": revenue, "d": sd.col("b")}
total = f.sum(t.c.a)
grouped = t.group_by("b")

sd.reveal_schema(t)  # S: a: i64, b: i64?
sd.reveal_schema(t.select(*KEYS))  # S: a: i64
sd.reveal_schema(t.select(NAME, x=sd.col(NAME)))  # S: b: i64?, x: i64?
sd.reveal_schema(t.select(revenue.alias("r"), *t.columns))  # S: r: i64?, a: i64, b: i64?
sd.reveal_schema(t.project(**named))  # S: a: i64, b: i64?, c: i64?, d: i64?
sd.reveal_schema(t.project(c=DOUBLE(t["a"])))  # S: a: i64, b: i64?, c: i64
sd.reveal_schema(grouped.agg(total=total))  # S: b: i64?, total: i64?
sd.reveal_schema(sd.read_named("u", t.schema))  # S: a: i64, b: i64?


def local() -> None:
    kind = sd.Decimal(15, 2)
    window = f.sum(revenue).over(partition_by="b")
    small = lambda r: r.a < 5  # noqa: E731
    sd.reveal_schema(t.project(c=sd.col("a").cast(kind)))  # S: a: i64, b: i64?, c: decimal<15,2>
    sd.reveal_schema(t.project(c=window, d=small))  # S: a: i64, b: i64?, c: i64?, d: boolean


# What is assigned twice, changed, or given to others who may change it, is not known.

twice = ["a"]
twice = ["b"]
more = ["a"]
more += ["b"]
filled = {"a": sd.I64}
filled["b"] = sd.I64
appended = ["a"]
appended.append("b")
given = {"a": sd.I64}


def others(columns: dict[str, Any], name: str, number: int) -> None:
    columns["b"] = sd.I64
    sd.reveal_schema(t.select(name))  # S: unknown
    sd.reveal_schema(t.emit([number]))  # S: unknown
    sd.reveal_schema(t.with_columns(c=number, d=sd.col("b") > number))  # S: a: i64, b: i64?, c: i64, d: boolean?
    for key in ("a", "b"):
        sd.reveal_schema(t.select(key))  # S: unknown


others(given, "a", 1)
sd.reveal_schema(t.select(*twice))  # S: unknown
sd.reveal_schema(t.select(*more))  # S: unknown
sd.reveal_schema(sd.read_named("t", filled))  # S: unknown
sd.reveal_schema(t.select(*appended))  # S: unknown
sd.reveal_schema(sd.read_named("t", given))  # S: unknown

# A mistake is said where the variable is used: there it fails.

wrong = sd.col("z") + 1
t.filter(either)
t.select("a").project(x=wrong)  # E
t.project(y=wrong)  # E
"""


def test_variables_stand_for_what_they_hold(library_cache: Path, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", library_cache)
    project.write({"program.py": PROGRAM})
    said = "\n".join(project.checked("program.py"))
    lines = list(enumerate(PROGRAM.splitlines(), 1))
    shown = {int(line): text for line, text in re.findall(r"^program.py:(\d+): note: Schema is (.*)$", said, re.M)}
    assert shown == {number: line.partition("# S: ")[2] for number, line in lines if "# S: " in line}
    errors = re.findall(r"^program.py:(\d+): error: (.*)$", said, re.M)
    assert [int(line) for line, _ in errors] == [number for number, line in lines if line.endswith("# E")], said
    assert all('there is no column "z"' in text for _, text in errors)
