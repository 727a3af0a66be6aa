"""Captures: the input's columns (what becomes of its order is in test_properties.py)."""

from __future__ import annotations

import attrs

from substrait_dsl.algebra import relations as r
from tests.nodes import leaf

INPUT = leaf("a: i64, b: string?")


def test_the_output_has_the_columns_of_the_input() -> None:
    for capture in (r.MergingCapture(INPUT), r.MergingCapture(INPUT, blocking=True), r.SimpleCapture(INPUT)):
        assert capture.schema == INPUT.schema


def test_a_merging_capture_does_not_block_unless_told_to() -> None:
    """Specification: "Optional, defaults to false"."""
    capture = r.MergingCapture(INPUT)
    assert capture == r.MergingCapture(INPUT, blocking=False)
    assert capture != attrs.evolve(capture, blocking=True)
    assert capture != r.SimpleCapture(INPUT)
