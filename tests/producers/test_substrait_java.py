"""substrait-java as a second reader: what it writes back of our plans is read as an equal plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from examples.tpcds import queries as tpcds
from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.legacy_fields import add_legacy_fields
from substrait_dsl.proto.plan import encode_plan, from_bytes, to_bytes
from tests.producers.isthmus import Reading, read_by_substrait_java
from tests.proto import corpus
from tests.proto.plans import plan_of
from tests.proto.test_legacy_encoding import PLANS

QUERIES = {f"q{number:02}": plan for number, plan in enumerate(corpus.tpch(), start=1)}
TPCDS = {f"ds-{name}": plan_of(query()._rel) for name, query in tpcds.QUERIES.items()}
ALL: dict[str, AlgebraPlan] = QUERIES | TPCDS | {name: plan_of(rel) for name, rel in PLANS.items()}

DIFFERENT = {
    "fetch of the most": "a count of 2^63-1 is no count to it",
    "fetch of NULL": "numbers have no NULL: no offset is 0, and no count is all rows",
    "fetch of 32 bits": "the numbers of a fetch have 64 bits",
    "interval": "it takes the microseconds, and a type of their precision; the length is the same",
}
"""The plans of which it writes others that mean the same rows, and why."""

REFUSED = {"types": "extension:acme:types but that extension is not currently loaded"}
"""The plans that it does not read, and what it says."""

UNPRINTED = re.compile(r"interval_day<\d>")
"""A precision that it reads and does not print."""

LOST = {
    "fetch",
    "fetch of all",
    *DIFFERENT.keys() - {"interval"},
    "hash join",
    "merge join",
    "subquery",
    *("q02", "q03", "q04", "q10", "q17", "q18", "q20", "q21", "q22"),
    *TPCDS.keys() - {"ds-q09", "ds-q87"},
}
"""The plans that come back otherwise if they have today's fields only: without limits, keys of joins, outer rows."""


def legacy(plan: AlgebraPlan) -> bytes:
    """A plan in the legacy encoding, without the rows of virtual tables, which substrait-java refuses in both forms."""
    message = encode_plan(plan, outer_references="steps_out")
    add_legacy_fields(message, omitted=("ReadRel.VirtualTable.values",))
    return to_bytes(message)


@pytest.fixture(scope="module")
def readings(isthmus_cache: Path) -> Mapping[str, Reading | str]:
    """What it makes of each plan, and, behind ``spec``, of the plan in today's fields only."""
    plans = {name: legacy(plan) for name, plan in ALL.items()}
    plans |= {f"spec {name}": to_bytes(encode_plan(plan)) for name, plan in ALL.items()}
    plans["both forms"] = to_bytes(encode_plan(ALL["virtual table"], encoding="legacy"))
    return read_by_substrait_java(isthmus_cache, plans)


def is_equal(written: bytes, plan: AlgebraPlan) -> bool:
    """Whether a plan that was written back is read as an equal one."""
    try:
        again, _ = from_bytes(written)
    except PlanFormatError:
        return False
    return canonical_plan(again) == canonical_plan(plan)


def test_plans_in_the_legacy_encoding_come_back(readings: Mapping[str, Reading | str]) -> None:
    """All 22 queries of TPC-H and the 12 of TPC-DS are among them."""
    read = {name: reading.written for name, reading in readings.items() if isinstance(reading, Reading)}
    assert {
        name for name in ALL.keys() & read.keys() if is_equal(read[name], ALL[name])
    } == ALL.keys() - REFUSED.keys() - DIFFERENT.keys()


def test_record_types(readings: Mapping[str, Reading | str]) -> None:
    """Those of the 22 queries among them: each root has the types that the library derives."""
    for name in ALL.keys() - REFUSED.keys():
        for encoding in ("", "spec "):
            reading = readings[encoding + name]
            assert isinstance(reading, Reading), reading
            derived = [f"struct<{', '.join(map(str, root.input.schema.types))}>" for root in ALL[name].roots]
            assert list(reading.types) == [UNPRINTED.sub("interval_day", text) for text in derived], name


def test_todays_fields_are_lost_without_the_legacy_fields(readings: Mapping[str, Reading | str]) -> None:
    """Fails when a newer version reads them: then the legacy fields are not for it."""
    read = {name: reading.written for name, reading in readings.items() if isinstance(reading, Reading)}
    names = ALL.keys() - REFUSED.keys()
    assert {name for name in names if not is_equal(read[f"spec {name}"], ALL[name])} == LOST


def test_what_it_refuses(readings: Mapping[str, Reading | str]) -> None:
    for name, said in REFUSED.items():
        assert said in str(readings[name])
    assert "VirtualTable cannot have both values and expressions" in str(readings["both forms"])
