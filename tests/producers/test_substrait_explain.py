"""Texts of plans and the program whose format they have: it reads ours as equal plans, and writes the same."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.plan import from_bytes
from substrait_dsl.proto.plan_text.further_words import URN
from tests.differential.pipelines import pipeline
from tests.differential.test_pipelines import SEED
from tests.producers.substrait_explain import built, converted
from tests.proto.test_plan_text import EXPRESSIONS, HEAD, HOSTILE, LINES, PEOPLE, VALUES
from tests.proto.text_plans import as_text_says

PLANS: dict[str, sd.Plan] = {name: relation.to_plan() for name, (relation, _) in LINES.items()}
PLANS |= {text: PEOPLE.select(x=expression).to_plan() for text, expression in EXPRESSIONS.items()}
PLANS |= {text: PEOPLE.select(x=sd.lit(value, type_)).to_plan() for text, (value, type_) in VALUES.items()}
PLANS |= {
    f"text {name!r}": sd.read_named(("t", f"{name}x"), {name: "string"}).filter(lambda t: sd.col(0) == name).to_plan()  # noqa: B023  # called at once
    for name in HOSTILE
}
"""Plans that have a text, by what they are about."""

UNREAD = re.compile(r"\b(decimal|varchar|fixedchar|fixedbinary|n?struct|map|interval_compound)\??<|⇒|\(&|, &(?!\w+\))")
"""What the program does not read: types with numbers or types in them, options, words as arguments."""

NULLABLE_TEXT = "':string?"
"""The end of a literal that the program writes, and reads as one that is not nullable."""

REWRITTEN = {
    "a computed column twice": "it writes the computation twice",
    "a computed column that nobody puts out": "it leaves it out",
    "an emit of rows": "it leaves the emit out",
    "measures in another order": "it writes them in the order in which they are put out",
    "a join with a filter behind it": "it writes 1 for 1.0, which is an integer to it",
    "groups by a cast": "what it writes it does not read: the cast begins like a grouping set",
    "a struct of no fields": "it writes struct alone, which it does not read",
    "-0.0": "the same",
    "16777216.0:fp32": "the same",
    "1000000000000000000000000000000.0": "the same",
    **dict.fromkeys(
        (f"text {name!r}" for name in HOSTILE if not re.sub("[\n\r\t]", "", name).isprintable()),
        "it writes escapes that it does not read",
    ),
}
"""Texts that the program writes otherwise, which are read as something else or not at all, and why."""

UNWRITTEN = {
    "structs": "Error writing Type: Required field expected",  # it takes the names of fields for columns
    **{
        text: "literal textification not implemented" for text in VALUES if re.search("decimal|varchar|fixedchar", text)
    },
}
"""What the program does not write, and what it says."""


@pytest.fixture(scope="module")
def program(explain_cache: Path) -> Path:
    return built(explain_cache)


@pytest.mark.parametrize("name", PLANS)
def test_the_program_writes_the_same_text(name: str, program: Path) -> None:
    """What it has no word for it reads as calls, and writes again."""
    data = PLANS[name].to_bytes()
    if URN in PLANS[name].to_text():
        read = converted(program, PLANS[name].to_text().encode(), "text", "protobuf")
        assert isinstance(read, bytes), read
        data = read
    written = converted(program, data, "protobuf", "text")
    if name in UNWRITTEN:
        assert isinstance(written, str)
        assert UNWRITTEN[name] in written
        return
    assert isinstance(written, bytes), written
    assert (written.decode() == PLANS[name].to_text()) is (name not in REWRITTEN), written.decode()


@pytest.mark.parametrize("name", PLANS)
def test_the_program_reads_the_same_plan(name: str, program: Path) -> None:
    require_same_reading(program, PLANS[name].to_text())


def require_same_reading(program: Path, text: str) -> None:
    """Require that the program reads a text as the plan that we read, or refuses what it does not read."""
    read = converted(program, text.encode(), "text", "protobuf")
    assert isinstance(read, str) == bool(UNREAD.search(text)), (text, read)
    if isinstance(read, bytes) and NULLABLE_TEXT not in text and URN not in text:
        assert meaning(read) == as_text_says(sd.Plan.from_text(text)._algebra), text


def meaning(data: bytes) -> AlgebraPlan:
    """The plan in bytes, up to what texts leave out."""
    plan, _ = from_bytes(data)
    return as_text_says(plan)


SPELLINGS: dict[str, str] = {
    "comments": "Root[a]   // the result\n  Read[t => a:i64]  // a table\n",
    "spaces": 'Root[a,b]\n\n  Project[$0 , (  $0 )  :: ? i8?]\n    Read["t"."u" => a:i64]\n',
    "a bare relation": "Filter[gt($0, 1:i64):boolean => $0]\n  Read[t +> a:i64]\n",
    "anchors": "Root[x]\n  Project[add#10@1($0, $0):i64]\n    Read[t => a:i64]\n",
    "rows in lines": (
        "Root[a]\n  Read:Virtual[\n    - (1),\n    - (2),\n    - filter=gt($0, 1):boolean\n    - => a:i64]\n"
    ),
    "sets": "Root[a, n]\n  Aggregate[$0 => $0, sum($1):i64?]\n    Read[t => a:i64, b:i64]\n",
    "an output in another order": "Root[n, a]\n  Aggregate[$0 => sum($1):i64?, $0]\n    Read[t => a:i64, b:i64]\n",
    "the offset first": "Root[a]\n  Fetch[offset=2, limit=1 => $0]\n    Read[t => a:i64]\n",
    "two trees": "Root[a]\n  Read[t => a:i64]\n\nRoot[b]\n  Read[u => b:date?]\n",
    "dates with slashes": (
        "Root[x, y]\n  Project['2024/01/31':date, '2024-01-31 10:00:00':precisiontimestamp<6>]\n    Read[t => a:i64]\n"
    ),
    "former types": "Root[a, b]\n  Read[t => a:timestamp?, b:time]\n",
    "lists": "Root[a]\n  Read[t => a:LIST?<list<i64?>>]\n",
}
"""Texts in other forms than the one that is written, as ``GRAMMAR.md`` allows them."""


@pytest.mark.parametrize("name", SPELLINGS)
def test_other_spellings_mean_the_same(name: str, program: Path) -> None:
    require_same_reading(program, HEAD + SPELLINGS[name])


def test_what_one_refuses_the_other_refuses(program: Path) -> None:
    for wrong in (
        "Root[a]\n  Raed[t => a:i64]\n",
        "Root[a]\n  Read[t => a:i46]\n",
        "Root[a]\n  Project[ad($0, $0):i64]\n    Read[t => a:i64]\n",
        "Root[a]\n  Project[null]\n    Read[t => a:i64]\n",
        "Root[a]\n  Filter[true => $0]\n",
        "Root[a]\n  Read[t => a:i64\n",
        "Root[a]\n  Fetch[limit=1, limit=2 => $0]\n    Read[t => a:i64]\n",
        "Root[a]\n      Read[t => a:i64]\n",
    ):
        assert isinstance(converted(program, (HEAD + wrong).encode(), "text", "protobuf"), str), wrong
        with pytest.raises(PlanFormatError):
            sd.Plan.from_text(HEAD + wrong)


def test_random_pipelines(program: Path) -> None:
    counted: Counter[str] = Counter()
    for number in range(600):
        plan: Any = pipeline(SEED, number).to_plan()
        try:
            text = plan.to_text()
        except UnsupportedError:
            continue
        require_same_reading(program, text)
        written = converted(program, plan.to_bytes(), "protobuf", "text")
        counted["texts"] += 1
        counted["same texts"] += isinstance(written, bytes) and written.decode() == text
    assert counted["texts"] > 40
    assert counted["same texts"] > counted["texts"] // 2


def test_nullable_texts_are_required_to_it(program: Path) -> None:
    read = converted(program, PLANS["few rows"].to_text().encode(), "text", "protobuf")
    assert isinstance(read, bytes)
    (row, _) = sd.Plan.from_bytes(read).to_proto().relations[0].root.input.read.virtual_table.expressions
    assert not row.fields[1].literal.nullable
    (row, _) = PLANS["few rows"].to_proto().relations[0].root.input.read.virtual_table.expressions
    assert row.fields[1].literal.nullable


def test_it_puts_out_the_number_of_the_grouping_set(program: Path) -> None:
    """An aggregate of several sets puts out all its columns to the program, though the text does not list that one."""
    plan = PEOPLE.group_by("key", "name").cube(n=lambda p: f.count()).emit([0, 1, 2]).to_plan()
    read = converted(program, plan.to_text().encode(), "text", "protobuf")
    assert isinstance(read, bytes)
    assert sd.Plan.from_bytes(read).roots[0].columns == ("key", "name", "n", "grouping_set")
    assert sd.Plan.from_text(plan.to_text()).roots[0].columns == ("key", "name", "n")


@pytest.mark.parametrize("name", ["Date", "I64", "Interval_Year", "point"])
def test_types_that_differ_by_capitals_from_those_of_the_specification(name: str, program: Path) -> None:
    """It writes them without ``u!``, and reads them with it and without."""
    declared = f"=== Extensions\nURNs:\n  @ 1: extension:acme:x\nTypes:\n  # 1 @ 1: {name}\n"
    plan = sd.Plan.from_text(f"{declared}=== Plan\nRoot[a]\n  Read[t => a:u!{name}?]\n")
    written = converted(program, plan.to_bytes(), "protobuf", "text")
    assert isinstance(written, bytes)
    assert f"a:{name}?]" in written.decode()
    for text in (plan.to_text(), written.decode()):
        assert sd.Plan.from_text(text)._algebra.trees == plan._algebra.trees
        require_same_reading(program, text)


def test_it_writes_escapes_that_are_refused(program: Path) -> None:
    plan = sd.read_named("t", {"\0": "i64"}).to_plan()
    written = converted(program, plan.to_bytes(), "protobuf", "text")
    assert isinstance(written, bytes)
    with pytest.raises(PlanFormatError, match=r"there is no escape \\0"):
        sd.Plan.from_text(written.decode())
