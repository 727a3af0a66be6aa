"""``substrait-dsl typing --report``: how many relations, conditions and sort keys of a program mypy knows.

A comment says of each line what is counted: ``+R`` a relation that is known, ``-C`` a condition that is not, ``+K`` a
sort key that is.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from substrait_dsl.cli import main
from substrait_dsl.errors import InvalidArgumentError
from substrait_dsl.mypy_plugin.typing_report import (
    CONDITIONS,
    SORT_KEYS,
    Part,
    TypingReport,
    argument_roles,
    make_report,
)
from tests.projects import Project

TABLES = """
import substrait_dsl as sd

class Orders(sd.Schema):
    key: sd.I64
    price: sd.FP64

orders = sd.read_named("orders", Orders)  # +R
"""

PROGRAM = """
from typing import Any
import substrait_dsl as sd
from substrait_dsl import functions as f
from tables import Orders, orders

kept = orders.filter(lambda o: o.key > 1, sd.col("price") > 2.0)  # +R +C +C
kept.sort("key", sd.desc("price")).top_n(3, "price")  # +R +K +K +R +K
both = orders.join(kept, on=lambda o, k: o.key == k.key, how="left", post_filter=lambda r: r[0] > 1)  # +R +C +C
spent = orders.group_by("key").agg(spent=lambda o: f.sum(o.price))  # +R
spent.filter(lambda s: s.spend > 1.0)  # +R +C
numbered = orders.window(n=f.rank(), order_by="price")  # +R +K

def some(
    columns: dict[str, sd.DynExpr], dynamic: sd.DynExpr, key: str, large: sd.Expr[sd.Boolean], keys: list[sd.SortKey]
) -> None:
    orders.project(**columns).filter(lambda r: r.x > 1).sort("x")  # -R -R -C -R -K
    orders.filter(dynamic, large)  # +R -C -C
    orders.filter(large)  # +R +C
    orders.sort(key)  # +R -K
    orders.sort(*keys)  # +R -K

def any_columns(rows: sd.Relation, row: Any) -> None:
    rows.filter(lambda r: r.x > 1)  # -R -C
"""

REASONS = {
    17: [
        'project: the columns of the result are not known, because "columns" is known only when the program runs',
        'filter: the columns of the result are not known, because "columns" is known only when the program runs',
        'filter: a condition is not evaluated, because "columns" is known only when the program runs',
        'sort: the columns of the result are not known, because "columns" is known only when the program runs',
        'sort: a sort key is not evaluated, because "columns" is known only when the program runs',
    ],
    18: 2 * ['filter: a condition is not evaluated, because "dynamic" is known only when the program runs'],
    20: ['sort: a sort key is not evaluated, because "key" is known only when the program runs'],
    21: ['sort: a sort key is not evaluated, because "keys" is known only when the program runs'],
    24: [
        'filter: the columns of the result are not known, because the columns of "rows" are not known',
        'filter: a condition is not evaluated, because the columns of "rows" are not known',
    ],
}

COUNTS = Counter(re.findall(r"[+-][RCK](?= |$)", "\n".join(re.findall(r"# (.*)", TABLES + PROGRAM)), re.MULTILINE))
LETTERS = {"relations": "R", "conditions": "C", "sort keys": "K"}


@pytest.fixture(scope="module")
def project(library_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    found = Project(tmp_path_factory.mktemp("report") / "project", library_cache)
    (found.path / "other").mkdir()
    found.write({"tables.py": TABLES, "program.py": PROGRAM, "other/__init__.py": "x: int = 1\n"})
    return found


def expected_counts() -> list[str]:
    lines = []
    for kind, letter in LETTERS.items():
        known, unknown = COUNTS[f"+{letter}"], COUNTS[f"-{letter}"]
        lines.append(f"{kind}: {known} of {known + unknown} known")
    known = sum(number for mark, number in COUNTS.items() if mark[0] == "+")
    share = int(1000 * known / COUNTS.total()) / 10
    return [*lines, f"all: {known} of {COUNTS.total()} known, {share} %"]


def test_parts_that_are_known_are_counted_and_the_others_said(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.path)
    assert main(["typing", "--report", "program.py", "tables.py"]) == 0
    *said, relations, conditions, keys, whole = capsys.readouterr().out.splitlines()
    assert [relations, conditions, keys, whole] == expected_counts()
    assert sorted(said) == sorted(f"program.py:{line}: {text}" for line, texts in REASONS.items() for text in texts)
    percentage = float(whole.rpartition(", ")[2].removesuffix(" %"))
    # what mypy has in its caches is counted again, by the names of modules as by paths
    assert main(["typing", "--report", "--fail-under", str(percentage + 1), "program"]) == 1
    again = capsys.readouterr()
    assert again.out.splitlines() == [*said, *expected_counts()]
    assert again.err == f"substrait-dsl: less than {percentage + 1:g} % is known\n"
    with pytest.raises(InvalidArgumentError, match=r"there is no relation in what mypy has checked\n.*plugins"):
        make_report(["other"])
    with pytest.raises(InvalidArgumentError, match=r"mypy cannot check this: .*no_such"):
        make_report(["no_such"])
    with pytest.raises(InvalidArgumentError, match=r"there is no such file or folder, got 'no_such'"):
        make_report(["program.py", "no_such"])


def test_mypy_says_what_is_not_evaluated_to_those_who_ask(project: Project) -> None:
    said = project.checked("--no-pretty", "--enable-error-code", "substrait-unevaluated", "program.py")
    found = [line for line in said if "[substrait-unevaluated]" in line]
    assert {int(line.split(":")[1]) for line in found} == set(REASONS)
    assert (
        'program.py:18: error: filter: the arguments are not evaluated, because "dynamic" is known only when the '
        "program runs  [substrait-unevaluated]"
    ) in found
    assert [line for line in project.checked("program.py") if "unevaluated" in line] == []


def test_the_roles_of_arguments_follow_from_signatures() -> None:
    assert argument_roles("filter") == {"conditions": CONDITIONS}
    assert argument_roles("join") == {"on": CONDITIONS, "post_filter": CONDITIONS}
    assert argument_roles("sort") == {"keys": SORT_KEYS}
    assert argument_roles("top_n") == {"keys": SORT_KEYS}
    assert argument_roles("window") == {"order_by": SORT_KEYS}
    assert argument_roles("select") == argument_roles("agg") == {}


def test_a_percentage_is_rounded_down() -> None:
    parts = {Part("a.py", number, 0, number, 9, "relations"): None for number in range(9999)}
    report = TypingReport({**parts, Part("a.py", 10000, 0, 10000, 9, "relations"): "select: why"})
    assert list(report.lines())[-1] == "all: 9999 of 10000 known, 99.9 %"
    assert TypingReport(dict(parts)).percentage == 100.0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--report", "--fail-under", "101", "x"],
        ["--report", "--fail-under", "many", "x"],
        ["--write", "--fail-under", "5", "x"],
    ],
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["typing", *arguments]) == 2
    assert "--fail-under" in capsys.readouterr().err
