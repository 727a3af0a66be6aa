"""The version of the specification that a plan says it is of."""

from __future__ import annotations

import pytest
from google.protobuf import json_format
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl.algebra.plan import Version
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError
from substrait_dsl.proto.plan import decode_plan
from substrait_dsl.proto.versions import installed_version
from tests.proto.plans import T, encoded, plan_of
from tests.proto.whole_plans import changed, read
from tests.support import refused


def test_the_version_and_the_producer_of_a_plan_are_told_but_are_no_part_of_it() -> None:
    sent = encoded(T)
    sent.version.major_number, sent.version.minor_number, sent.version.patch_number = 0, 85, 2
    sent.version.producer, sent.version.git_hash = "acme", "a" * 40
    plan = sd.Plan.from_proto(sent)
    assert str(plan.version) == "0.85.2"
    assert plan.producer == "acme"
    assert plan.version is not None
    assert plan.version.git_hash == "a" * 40
    assert plan == sd.Plan(sd.Relation(T))
    built = sd.Plan(sd.Relation(T))
    assert built.version is None
    assert built.producer is None


KNOWN = f"this library knows version {'.'.join(map(str, installed_version()))}"
NEWER_JSON = '// from elsewhere\n{"version": {"minorNumber": 400, "patchNumber": 1, "new": 1}, "namedLambdas": []}'


def test_a_plan_of_a_newer_version_that_breaks_a_rule_says_so() -> None:
    newer = changed("version { minor_number: 400 patch_number: 0 } relations {}")
    with refused(PlanFormatError, "no relation", f"the plan is of version 0.400.0 of the specification, and {KNOWN}"):
        sd.Plan.from_proto(newer)
    said = f"the plan is of version 0.400.1 of the specification, and {KNOWN}"
    with refused(PlanFormatError, "namedLambdas", "0.107", said):
        sd.Plan.from_json(NEWER_JSON)
    older = changed("version { minor_number: 99 } relations {}")
    with pytest.raises(PlanFormatError) as caught:
        sd.Plan.from_proto(older)
    assert caught.value.hint is None


def test_a_plan_of_a_newer_version_that_can_be_read_is_read() -> None:
    newer = changed("version { minor_number: 400 }")
    assert read(newer) == plan_of(T)
    assert str(sd.Plan.from_proto(newer).version) == "0.400.0"


def test_a_plan_that_no_parser_reads_still_says_its_version() -> None:
    """Whatever else is wrong: `PlanVersion` reads the version alone."""
    deep = Plan.FromString(changed("version { minor_number: 400 }").SerializeToString())
    rel = deep.relations.add().rel
    for _ in range(60):
        rel = rel.filter.input
    rel.read.SetInParent()
    said = f"the plan is of version 0.400.0 of the specification, and {KNOWN}; they are cut short"
    with refused(PlanFormatError, "no Substrait plan", said):
        sd.Plan.from_bytes(deep.SerializeToString())


@pytest.mark.parametrize("further", ["", "relations {}"])
def test_a_plan_of_another_major_version_is_refused(further: str) -> None:
    """Its fields may mean anything, so that nothing else in it is looked at."""
    other = changed(f"version {{ major_number: 1 minor_number: 2 }} {further}")
    said = f"the plan is of version 1.2.0 of the specification, and {KNOWN}"
    for attempt in (
        lambda: sd.Plan.from_proto(other),
        lambda: sd.Plan.from_bytes(other.SerializeToString() + b"\x98\xe2\x09\x01"),  # and an unknown field
        lambda: sd.Plan.from_json(json_format.MessageToJson(other)),
        lambda: decode_plan(other),
    ):
        with pytest.raises(PlanFormatError) as caught:
            attempt()
        assert caught.value.message == said
        assert caught.value.path == "version"


@pytest.mark.parametrize("git_hash", ["a", "A" * 40, "g" * 40, "0" * 39, "0" * 41, "0" * 40 + "\n", "latest"])
def test_a_git_hash_is_forty_lowercase_hexadecimal_digits(git_hash: str) -> None:
    plan = changed("")
    plan.version.git_hash = git_hash
    with refused(PlanFormatError, "git_hash", "40 lowercase hexadecimal digits", "(at version)"):
        decode_plan(plan)
    with refused(InvalidArgumentError, "git_hash", "40 lowercase hexadecimal digits"):
        Version(0, 85, 0, git_hash)
