"""substrait-validator as a second reader: it finds nothing wrong in plans in the legacy encoding."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from substrait.plan_pb2 import Plan

from tests.producers.environment import errors_of_the_validator
from tests.producers.test_substrait_java import ALL, legacy

WRONG = {
    "interval": ["illegal literal value: interval cannot have both positive and negative components (code 6002)"],
}
"""What it finds wrong: the specification has no such rule for the parts of an interval."""


UNREAD = {"ds-q63"}
"""Plans of which its own tree of findings is deeper than protobuf reads: 100 messages in each other."""

EXTENSIONS = Path(str(files("substrait_extensions.extensions") / "functions_arithmetic.yaml")).parent


def broken(data: bytes) -> bytes:
    """The same plan with the name of a column that is not there."""
    plan = Plan.FromString(data)
    plan.relations[0].root.names.append("more")
    return plan.SerializeToString()


def test_the_validator_finds_nothing_wrong(validator_cache: Path, tmp_path: Path) -> None:
    """The queries of TPC-H and TPC-DS are among the plans; one that is wrong, too."""
    plans = {name: legacy(ALL[name]) for name in ALL.keys() - UNREAD} | {"broken": broken(legacy(ALL["groups"]))}
    errors = errors_of_the_validator(validator_cache, tmp_path, EXTENSIONS, plans)
    found = {name: errors[name] for name in plans if errors[name]}
    assert found.pop("broken") != []
    assert found == WRONG


@pytest.mark.parametrize("name", sorted(UNREAD))
def test_its_findings_are_too_deep(name: str, validator_cache: Path, tmp_path: Path) -> None:
    """Fails when a newer version gives them."""
    with pytest.raises(AssertionError, match="MaxDepth"):
        errors_of_the_validator(validator_cache, tmp_path, EXTENSIONS, {name: legacy(ALL[name])})
