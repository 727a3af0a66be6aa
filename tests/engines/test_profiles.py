"""What profiles say of how plans are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.errors import CatalogError, InvalidArgumentError, InvalidChoiceError
from substrait_dsl.proto.legacy_schema import old_class

ROWS: sd.Relation[Any] = sd.read_virtual([(1,), (2,)], {"n": "i32"}).fetch(1)


def written(data: bytes) -> Any:
    """The plan, in the class that has the removed fields by name."""
    from substrait.plan_pb2 import Plan

    return old_class(Plan).FromString(data)


def own_profile(folder: Path, more: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(f"name: Mine\nmetadata: {{engine: mine, version: '1'{more}}}\n", encoding="utf-8")
    return path


def limits_and_rows(data: bytes) -> tuple[int, int]:
    """The count of the fetch in the removed field, and the rows of the table in theirs."""
    fetch = written(data).relations[0].root.input.fetch
    return fetch.count, len(fetch.input.read.virtual_table.values)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", (0, 0)),
        (", encoding: spec", (0, 0)),
        (", encoding: legacy", (1, 2)),
        (", encoding: legacy, omitted_fields: [ReadRel.VirtualTable.values]", (1, 0)),
    ],
)
def test_plans_are_written_as_the_profile_says(tmp_path: Path, said: str, expected: tuple[int, int]) -> None:
    plan, path = ROWS.to_plan(), own_profile(tmp_path, said)
    assert limits_and_rows(plan.to_bytes(engine=path)) == expected
    assert limits_and_rows(plan.to_bytes(engine=path, encoding="spec")) == (0, 0)
    assert limits_and_rows(plan.to_bytes(engine=path, encoding="legacy")) == (1, 2)


def test_words_of_encodings_are_checked(tmp_path: Path) -> None:
    plan, path = ROWS.to_plan(), own_profile(tmp_path, ", encoding: spec")
    other: Any = "legcy"
    with pytest.raises(InvalidChoiceError, match="unknown encoding 'legcy'"):
        plan.to_bytes(engine=path, encoding=other)
    with pytest.raises(InvalidArgumentError, match="the legacy encoding has outer_references"):
        plan.to_bytes(engine=path, encoding="legacy", outer_references="rel_reference")
    with pytest.raises(CatalogError, match='encoding must be one of "spec", "legacy"'):
        load_profile(own_profile(tmp_path, ", encoding: modern"))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("function_rules: {between: comparison}", 'there is no rule "comparison"'),
        ("function_rules: {concat: extreme_value}", "the rule extreme_value is for"),
        ("function_rules: {xor: from_zero}", 'the rule from_zero is for "negate"'),
        ("casts: {bool: [i8]}", 'there is no type "bool"'),
        ("casts: {i8: [int]}", 'there is no type "int"'),
        ("cast_types: [decimals]", 'there is no type "decimals"'),
        ("literals: [fixed_char]", 'there is no type "fixed_char"'),
    ],
)
def test_words_that_there_are_not_are_refused(tmp_path: Path, said: str, words: str) -> None:
    """A rule for another function would give other rows, or fail with an error of Python's."""
    plan, path = ROWS.to_plan(), own_profile(tmp_path, f", {said}")
    with pytest.raises(CatalogError, match=words):
        plan.check(path)
