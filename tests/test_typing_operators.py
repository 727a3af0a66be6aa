"""Operators in the mypy plugin: what it remembers of one hides no mistake of another, and none takes for ever."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.projects import Project

HEAD = """\
import substrait_dsl as sd
from substrait_dsl import functions as f


class T(sd.Schema):
    a: sd.I64
    b: sd.Boolean
    s: sd.Nullable[sd.String]
    d: sd.FP64


t = sd.read_named("t", T)
"""

REMEMBERED = """\
right = t.c.a + t.c.a
t.c.a + "x"  # E: no overload takes add(i64, 'x')
again = t.c.a + t.c.a
t.c.a + "x"  # E: no overload takes add(i64, 'x')
t.c.a > 5
t.c.a > "5"  # E: no overload takes gt(i64, '5')
t.c.a > 5.5  # E: no overload takes gt(i64, 5.5)
t.c.d > 5.5
t.c.b & t.c.b
t.filter(lambda r: r.b & (r.b and r.b))  # E: filter: an expression has no truth value
t.filter(lambda r: (r.b or r.b) & r.b)  # E: filter: an expression has no truth value
t.filter(lambda r: (1 < r.a < 5) & r.b)  # E: filter: an expression has no truth value
either = t.c.b or t.c.b  # E: an expression has no truth value
t.filter(either & t.c.b)  # E: an expression has no truth value
t.select(x=lambda r: r.a + r.a, y=lambda r: r.a + r.nope)  # E: select, column "y": there is no column "nope"
t.select(x=lambda r: (r.a + r.a) + r.s)  # E: add(i64, string?)
t.rename(a="s", s="a").select(x=lambda r: r.a + r.a)  # E: add(string?, string?)


def other(t: sd.Relation[T], n: sd.Expr[sd.I64, sd.Null], x: int) -> None:
    sd.reveal_schema(t.select(x=t.c.a + n, y=n + t.c.a, z=t.c.a + t.c.a))  # S: x: i64?, y: i64?, z: i64
    sd.reveal_schema(t.select(x=t.c.a + x, y=x + t.c.a, z=t.c.a + 2))  # S: x: i64, y: i64, z: i64
"""

MARK = re.compile(r"# (?P<kind>[ES]): (?P<words>.*)$")


def said(project: Project, program: str) -> dict[int, list[str]]:
    """What mypy says of each line of a program."""
    project.write({"program.py": program})
    found: dict[int, list[str]] = {}
    for line in project.checked("--show-traceback", "program.py"):
        _, number, text = line.split(":", 2)
        found.setdefault(int(number), []).append(text)
    return found


def test_what_is_remembered_of_an_operator_hides_no_mistake(library_cache: Path, tmp_path: Path) -> None:
    program = HEAD + REMEMBERED
    found = said(Project(tmp_path / "project", library_cache), program)
    for number, line in enumerate(program.splitlines(), 1):
        mark = MARK.search(line)
        texts = found.pop(number, [])
        assert len(texts) == bool(mark), (number, line, texts)
        if mark is not None:
            words = mark["words"] if mark["kind"] == "E" else f"Schema is {mark['words']}"
            assert words in texts[0], (number, line)
    assert found == {}


@pytest.mark.parametrize("first", ["t.c.a", "x", "sd.col('a')"])
def test_variables_that_are_used_twice_each_take_no_exponential_time(
    first: str, library_cache: Path, tmp_path: Path
) -> None:
    doubled = "".join(f"    e{number} = e{number - 1} + e{number - 1}\n" for number in range(1, 41))
    program = f"{HEAD}\n\ndef doubled(x: sd.Expr[sd.I64]) -> None:\n    e0 = {first}\n{doubled}"
    program += "    sd.reveal_schema(t.select(e=e40))\n"
    found = said(Project(tmp_path / "project", library_cache), program)
    assert found == {len(program.splitlines()): [" note: Schema is e: i64"]}


def test_no_long_value_is_made_to_find_out_its_type(library_cache: Path, tmp_path: Path) -> None:
    program = f"""{HEAD}
names = ["a"] * 10**12
zeros = [0] * 1_000_000_000_000
wide = "%1000000000000d" % 5
sd.reveal_schema(t.select(*zeros))
sd.reveal_schema(t.select(wide))
sd.reveal_schema(t.select(*["a"] * 1))
"""
    found = said(Project(tmp_path / "project", library_cache), program)
    assert [text for texts in found.values() for text in texts] == [
        " note: Schema is unknown",
        " note: Schema is unknown",
        " note: Schema is a: i64",
    ]
