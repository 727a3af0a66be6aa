"""Plans that other libraries wrote for the queries of TPC-H: they are read, and come back as they were read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.plan import encode_plan, from_bytes, from_json, to_bytes
from tests.conftest import SHARED

PLANS = sorted((SHARED / "third_party_plans" / "plans").glob("*.json"))

pytestmark = pytest.mark.usefixtures("shared")

BEYOND_THEIR_DEFINITIONS = {"ibm_q08", "ibm_q14", "isthmus_q08", "isthmus_q14", "validate_q08", "validate_q14"}
"""The plans whose branches have one type only as the plan declares them: a product of decimals, and 0."""

OTHER_VALUES = {"validate_q01": "subtract:date_iday is declared to give date"}
"""What plans are refused for: this one subtracts 10368 seconds from a date, for 120 days, and calls that a date."""


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_plans_of_others_are_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.stem in OTHER_VALUES:
        with pytest.raises(PlanFormatError, match=OTHER_VALUES[path.stem]):
            from_json(text)
        return
    plan, findings = from_json(text)
    message = json.loads("\n".join(line for line in text.splitlines() if not line.startswith("//")))
    assert [list(root.names) for root in plan.roots] == [tree["root"]["names"] for tree in message["relations"]]
    assert all(len(root.names) == len(root.input.schema) for root in plan.roots)

    again, _ = from_bytes(to_bytes(encode_plan(plan)))
    assert canonical_plan(again) == canonical_plan(plan)

    # none of them says how often variables are evaluated
    assert any("evaluated" in finding.message for finding in findings)
    with pytest.raises(PlanFormatError):
        from_json(text, strict=True)
    kept = any("the types that the plan declares are kept" in finding.message for finding in findings)
    assert kept is (path.stem in BEYOND_THEIR_DEFINITIONS)
