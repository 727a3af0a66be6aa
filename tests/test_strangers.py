"""Plans of strangers that are read, and what they would do, without anything that runs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError
from tests.support import refused, table


def test_a_plan_of_more_bytes_than_may_be_is_not_read(tmp_path: Path) -> None:
    plan = table("a: i64").to_plan()
    data, text = plan.to_bytes(), plan.to_json()
    (tmp_path / "plan").write_bytes(data)
    (tmp_path / "plan.json").write_text(text)
    assert sd.Plan.from_bytes(data, max_bytes=len(data)) == plan
    assert sd.Plan.from_json(text, max_bytes=None) == plan
    assert sd.Plan.load(tmp_path / "plan", max_bytes=len(data)) == plan
    with refused(UnsupportedError, "from_bytes", f"more than {len(data) - 1} bytes", "max_bytes=..."):
        sd.Plan.from_bytes(data, max_bytes=len(data) - 1)
    with refused(UnsupportedError, "from_json", "more than 10 bytes"):
        sd.Plan.from_json(text, max_bytes=10)
    with refused(UnsupportedError, "from_proto", "more than 10 bytes"):
        sd.Plan.from_proto(plan.to_proto(), max_bytes=10)
    for name in ("plan", "plan.json"):
        with refused(UnsupportedError, "load", "more than 10 bytes"):
            sd.Plan.load(tmp_path / name, max_bytes=10)
    with refused(UnsupportedError, "from_bytes", "more than 67,108,864 bytes"):
        sd.Plan.from_bytes(bytes(64 * 2**20 + 1))
    for wrong in (-1, 1.5, True, "1"):
        with pytest.raises(InvalidArgumentError, match="max_bytes is a number of bytes"):
            sd.Plan.from_bytes(data, max_bytes=wrong)  # type: ignore[arg-type]  # on purpose


def test_nothing_endless_is_read_to_its_end() -> None:
    with refused(UnsupportedError, "load", "more than 1,000 bytes"):
        sd.Plan.load("/dev/zero", max_bytes=1000)


@pytest.mark.parametrize("name", ["relations", "extensions", "extension_urns", "parameter_bindings", "type_aliases"])
def test_a_million_empty_messages_are_refused_at_once(name: str) -> None:
    number = Plan.DESCRIPTOR.fields_by_name[name].number
    data = bytes([8 * number + 2, 0]) * 1_000_000
    with refused(UnsupportedError, "from_bytes", f"there are 1,000,000 {name}, and 100,000 are the most"):
        sd.Plan.from_bytes(data)
