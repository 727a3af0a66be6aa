"""Plans that break off or hold what they should not are refused or read, and nothing else."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from tests.proto.whole_plans import pipeline

BYTES = pipeline().to_plan().to_bytes()


def survives(data: bytes) -> None:
    try:
        plan = sd.Plan.from_bytes(data)
    except (PlanFormatError, UnsupportedError):
        return
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan


def test_a_plan_that_breaks_off_is_refused_or_read() -> None:
    for length in range(0, len(BYTES), 7):
        survives(BYTES[:length])


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, len(BYTES) - 1), st.integers(0, 255)), min_size=1, max_size=3))
def test_a_plan_with_wrong_bytes_is_refused_or_read(wrong: list[tuple[int, int]]) -> None:
    data = bytearray(BYTES)
    for position, byte in wrong:
        data[position] = byte
    survives(bytes(data))


def _values(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON document."""
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [path, *(found for key, value in inner for found in _values(value, (*path, key)))]


DOCUMENT = pipeline().to_plan().to_json()
PATHS = _values(json.loads(DOCUMENT))[1:]


@settings(max_examples=200)
@given(st.sampled_from(PATHS), st.sampled_from([None, 0, -1, 2**31, "x", "", [], {}, [{}], True]))
def test_a_plan_with_a_wrong_value_is_refused_or_read(path: tuple[Any, ...], value: object) -> None:
    document = json.loads(DOCUMENT)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with contextlib.suppress(PlanFormatError, UnsupportedError):
        sd.Plan.from_json(json.dumps(document))
