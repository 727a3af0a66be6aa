"""substrait-go as a second reader: it derives the same types, and what it writes back is read as an equal plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from substrait_dsl.proto.plan import encode_plan, to_bytes
from tests.producers.go_reader import Reading, read_by_substrait_go
from tests.producers.test_substrait_java import ALL, is_equal, legacy

SUBQUERY = "subquery expressions require a subquery converter to be configured"
"""Its reader of whole plans has none."""

REFUSED = {
    "types": "URN 'extension:acme:types' not found",
    **dict.fromkeys(
        ("subquery", "q02", "q04", "q11", "q15", "q16", "q17", "q18", "q20", "q21", "q22"),
        SUBQUERY,
    ),
    **dict.fromkeys(
        ("ds-q09", "ds-q14", "ds-q33", "ds-q35", "ds-q44"),
        SUBQUERY,
    ),
}
"""The plans that it does not read in any encoding, and what it says."""

REFUSED_TODAY = dict.fromkeys(
    (
        *("fetch", "fetch of all", "fetch of the most", "fetch of NULL", "fetch of 32 bits", "q03", "q10"),
        *("ds-q36", "ds-q40", "ds-q43", "ds-q51", "ds-q63", "ds-q67"),
    ),
    "missing required Offset field",
)
"""The plans that it reads in the legacy encoding only."""

DIFFERENT = {
    "fetch of the most": "a count of 2^63-1 is no count to it",
    "fetch of NULL": "numbers have no NULL: no offset is 0, and no count is all rows",
    "fetch of 32 bits": "the numbers of a fetch have 64 bits",
    "interval": "it takes the microseconds, and a type of their precision; the length is the same",
    "merge join": "it has no former fields of the keys of a merge join",
}
"""The plans that come back otherwise in the legacy encoding, and why."""

DIFFERENT_TODAY = {
    "hash join": "it knows the former fields of the keys only",
    "merge join": "it has no keys of a merge join",
}
"""The plans that come back otherwise in today's encoding, and why."""

OTHER_TYPES = {
    "grouping sets": "columns of several sets are not nullable to it, and the number of the set is an i64",
    "ds-q36": "the number of the set stands in front of the measures to it",
    "ds-q67": "the same",
}
"""The plans of which it derives other types than the specification, and why."""


@pytest.fixture(scope="module")
def readings(go_cache: Path) -> Mapping[str, Reading | str]:
    """What it makes of each plan, and, behind ``spec``, of the plan in today's fields only."""
    plans = {name: legacy(plan) for name, plan in ALL.items()}
    plans |= {f"spec {name}": to_bytes(encode_plan(plan)) for name, plan in ALL.items()}
    return read_by_substrait_go(go_cache, plans)


def test_what_it_refuses(readings: Mapping[str, Reading | str]) -> None:
    """Fails when a newer version reads more."""
    said = {f"{encoding}{name}": words for encoding in ("", "spec ") for name, words in REFUSED.items()}
    said |= {f"spec {name}": words for name, words in REFUSED_TODAY.items()}
    refused = {name: reading for name, reading in readings.items() if isinstance(reading, str)}
    assert refused.keys() == said.keys()
    assert [name for name, words in said.items() if words not in refused[name]] == []


def test_plans_come_back(readings: Mapping[str, Reading | str]) -> None:
    read = {name: reading.written for name, reading in readings.items() if isinstance(reading, Reading)}
    different = {name for name in read if not is_equal(read[name], ALL[name.removeprefix("spec ")])}
    assert different == {*DIFFERENT, *(f"spec {name}" for name in DIFFERENT_TODAY)}


def test_record_types(readings: Mapping[str, Reading | str]) -> None:
    """Each root has the types that the library derives."""
    others = set()
    for name, reading in readings.items():
        plan = name.removeprefix("spec ")
        if isinstance(reading, Reading):
            derived = tuple(tuple(map(go_text, root.input.schema.types)) for root in ALL[plan].roots)
            if reading.types != derived:
                others.add(name)
    today = {f"spec {name}" for name in OTHER_TYPES if name not in REFUSED_TODAY}
    assert others == {*OTHER_TYPES, "interval", *today}


def go_text(kind: object) -> str:
    """A type as substrait-go writes it: the mark of nullable before the parameters."""
    return re.sub(r"^(\w+)(<.*>)\?$", r"\1?\2", str(kind)).replace(", ", ",")
