"""The opt-in code ``substrait-dynamic``: it says where the columns of a relation are lost, and by what; once."""

from __future__ import annotations

import re
from pathlib import Path

from tests.projects import Project

PROGRAM = """\
from typing import Any, TypeVar

import substrait_dsl as sd
from substrait_dsl import functions as f


class Orders(sd.Schema):
    key: sd.I64
    price: sd.FP64


S = TypeVar("S", bound=sd.Schema)


def loaded() -> sd.Relation:
    return sd.Plan.load("orders.plan").roots[0]


def lost(
    orders: sd.Relation[Orders],
    other: sd.Relation,
    name: str,
    names: list[str],
    number: int,
    schema: dict[str, sd.Type],
    price: sd.Expr[sd.FP64],
) -> None:
    orders.select(name)  # D: "name" is known only when the program runs
    orders.select(number)  # D: "number" is known only when the program runs
    orders.select(price)  # D: "price" is known only when the program runs
    orders.drop(name)  # D: "name" is known only when the program runs
    orders.rename({name: "id"})  # D: "name" is known only when the program runs
    orders.emit([number])  # D: "number" is known only when the program runs
    orders.project(**{name: price})  # D: "name" is known only when the program runs
    orders.group_by(*names).agg(n=f.count()).select("n")  # D: "names" is known only when the program runs
    orders.aggregate("key", grouping_sets=[(name,)], n=f.count())  # D: "name" is known only when the program runs
    orders.cross(other)  # D: the columns of "other" are not known
    orders.cross(loaded().filter(lambda o: o.key > 1))  # D: the columns of "loaded(...)" are not known
    orders.select(x=sd.null(f"decimal<{number},2>"))  # T: this text is known only when the program runs
    sd.read_named("orders", schema)  # D: "schema" is known only when the program runs
    sd.read_named("orders", {**schema, "key": sd.I64})  # D: "schema" is known only when the program runs
    (
        orders.filter(lambda o: o.price > 1.0)
        .select("key", "price")
        .select(
            "key",
            *names,  # D: "names" is known only when the program runs
        )
        .drop("key")
        .fetch(10)
    )


def kept(orders: sd.Relation[Orders], other: sd.Relation, anything: sd.Relation[Any], name: str, number: int) -> None:
    orders.filter(lambda o: o.price > number).sort(name).fetch(number).hint(alias=name)
    orders.join(sd.read_named(name, Orders), on=lambda l, r: l.key == r.key, how="left_semi").select("key")
    orders.select("key", price=lambda o: o.price * number)
    other.select("key").drop(name)
    anything.select("key").drop(name)
    orders.select(*[name]).as_(Orders)  # D: "name" is known only when the program runs
    orders.filter(sd.col(name) > number)


def of_the_caller(name: str, schema: type[S]) -> sd.Relation[S]:
    return sd.read_named(name, schema)


def mistaken(orders: sd.Relation[Orders]) -> None:
    orders.select("kee")  # E: substrait-unknown-field
    orders.project(twice=lambda o: f.duplicate(o.price))  # E: attr-defined
    orders.select(unheard_of)  # E: name-defined
"""

SAID = re.compile(r"^program\.py:(?P<line>\d+): error: (?P<text>.*)  \[(?P<code>[\w-]+)\]$", re.MULTILINE)
MARK = re.compile(r"  # (?:(?P<lost>[DT]): (?P<why>.*)|E: (?P<code>.*))$")


def said(project: Project, *options: str) -> dict[int, tuple[str, str]]:
    """The code and the text of the error on each line."""
    project.write({"program.py": PROGRAM})
    lines = "\n".join(project.checked("--no-pretty", *options, "program.py"))
    found = [(int(each["line"]), (each["code"], each["text"])) for each in SAID.finditer(lines)]
    assert len(found) == len(dict(found)), "more than one error on a line"
    return dict(found)


def test_it_says_where_columns_are_lost_to_those_who_ask(library_cache: Path, tmp_path: Path) -> None:
    found = said(Project(tmp_path / "project", library_cache), "--enable-error-code", "substrait-dynamic")
    for number, line in enumerate(PROGRAM.splitlines(), 1):
        code, text = found.pop(number, ("", ""))
        mark = MARK.search(line)
        if mark and mark["why"]:
            assert code == "substrait-dynamic", line
            lost = {"D": "columns", "T": "types of all columns"}[mark["lost"]]
            assert text.endswith(f": the {lost} of the result cannot be told, because {mark['why']}"), line
        else:
            assert code == (mark["code"] if mark else ""), f"{line}: {text}"
    assert found == {}


def test_others_are_not_told_and_codes_can_be_disabled(library_cache: Path, tmp_path: Path) -> None:
    found = said(Project(tmp_path / "project", library_cache), "--disable-error-code", "substrait-unknown-field")
    assert [code for code, _ in found.values()] == ["attr-defined", "name-defined"]
