"""How the specification is read: code and tests cite the records, whose sentences are the specification's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "spec-decisions.md").read_text(encoding="utf-8")
RECORDS: Mapping[int, str] = {
    int(number): record for number, record in re.findall(r"(?ms)^### (\d+)\. (.*?)(?=^##|\Z)", PAGE)
}
CITATION = re.compile(r"\b[Ss]pec\s+decisions?\s+(\d+(?:(?:, | and )\d+)*)")
QUOTED = re.compile(r"(?m)^> (.*)\n\n— (\S+\.(?:md|proto|yaml|test))(.*)$")


def cited_in(text: str) -> set[int]:
    """The numbers that a text cites: ``spec decision 7``, ``spec decisions 12 and 13``."""
    return {int(number) for numbers in CITATION.findall(text) for number in re.findall(r"\d+", numbers)}


def citations() -> Mapping[int, set[str]]:
    """The files that cite each number, as the page names them."""
    found: dict[int, set[str]] = defaultdict(set)
    for home in (ROOT / "substrait_dsl", ROOT / "tests"):
        for path in home.rglob("*.py"):
            if path != Path(__file__):
                for number in cited_in(path.read_text(encoding="utf-8")):
                    found[number].add(path.relative_to(home).as_posix())
    return found


CITED = citations()


def test_every_citation_has_its_record_and_every_record_is_cited() -> None:
    assert CITED.keys() == RECORDS.keys()
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "coverage").glob("*.md")]
    cited = set().union(*(cited_in(page.read_text(encoding="utf-8")) for page in pages))
    assert cited - RECORDS.keys() == set()


@pytest.mark.parametrize("number", RECORDS)
def test_a_record_is_complete_and_says_where_it_is_cited(number: int) -> None:
    record = RECORDS[number]
    question, *_ = record.splitlines()
    assert question.endswith("?")
    assert QUOTED.search(record)
    parts = re.findall(r"(?m)^\*\*(\w+)\.\*\* \S", record)
    assert parts == ["Decision", "Others", "Where"]
    named = re.findall(r"`(\S+?\.py)`", record[record.index("**Where.**") :])
    assert named
    assert set(named) - CITED[number] == set()


def test_quotations_have_their_source() -> None:
    assert len(QUOTED.findall(PAGE)) == PAGE.count("\n> ") > len(RECORDS)


@cache
def text_of(source: str) -> str | None:
    """A file of the installed package, as one line; None for a page of the specification, which it does not have."""
    stem, _, suffix = source.partition(".")
    match suffix:
        case "proto":
            text = files("substrait").joinpath(f"{stem}_pb2.pyi").read_text(encoding="utf-8")
        case "yaml":
            text = files("substrait_extensions").joinpath("extensions").joinpath(source).read_text(encoding="utf-8")
        case "test":
            text = (
                files("substrait_extensions")
                .joinpath("testcases")
                .joinpath("datetime")
                .joinpath(source)
                .read_text(encoding="utf-8")
            )
        case _:
            return None
    return " ".join(text.split())


def test_sentences_of_messages_and_extension_files_are_there() -> None:
    checked = 0
    for sentence, source, note in QUOTED.findall(PAGE):
        text = text_of(source) if "removed" not in note else None
        if text is not None:
            checked += 1
            assert " ".join(sentence.split()) in text, (source, sentence)
    assert checked > 25
