"""substrait-validator as a second reader: it finds nothing wrong in plans in the legacy encoding."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from substrait.plan_pb2 import Plan

from tests.producers.environment import errors_of_the_validator
from tests.producers.test_substrait_java import ALL, legacy

WRONG = {
    "interval": ["illegal literal value: interval cannot have both positive and negative components (code 6002)"],
}
"""What it finds wrong: the specification has no such rule for the parts of an interval."""


def broken(data: bytes) -> bytes:
    """The same plan with the name of a column that is not there."""
    plan = Plan.FromString(data)
    plan.relations[0].root.names.append("more")
    return plan.SerializeToString()


def test_the_validator_finds_nothing_wrong(validator_cache: Path, tmp_path: Path) -> None:
    """The 22 queries of TPC-H are among the plans; one that is wrong, too."""
    extensions = Path(str(files("substrait_extensions.extensions") / "functions_arithmetic.yaml")).parent
    plans = {name: legacy(plan) for name, plan in ALL.items()} | {"broken": broken(legacy(ALL["groups"]))}
    errors = errors_of_the_validator(validator_cache, tmp_path, extensions, plans)
    found = {name: errors[name] for name in plans if errors[name]}
    assert found.pop("broken") != []
    assert found == WRONG
