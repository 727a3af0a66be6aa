"""Every field of every message of a plan, or of an extended expression, is written, and makes a difference when read.

What stands in no plan of ours, and what may be left out, is named in a table with the reason.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from substrait.extended_expression_pb2 import ExtendedExpression as ExtendedMessage
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.extended import ExtendedExpression
from substrait_dsl.algebra.findings import Finding
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.settings import OuterReferences
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.extended import decode_extended_expression, encode_extended_expression
from substrait_dsl.proto.plan import decode_plan, encode_plan
from substrait_dsl.proto.versions import installed_version
from tests.proto import corpus
from tests.proto.plans import T, plan_of

Field = tuple[str, str]
"""The name of a message, without the package, and of one of its fields."""

UNCLEAR = "the specification does not say what a mask selects of a map that lacks a key, nor what a pattern of keys is"
MASKS = "Expression.MaskExpression"

NEVER: dict[Field, str] = {
    (f"{MASKS}.Select", "map"): UNCLEAR,
    (
        f"{MASKS}.ListSelect.ListSelectItem.ListSlice",
        "start",
    ): "one that begins later has two readings (spec decision 26)",
    (f"{MASKS}.MapSelect", "key"): UNCLEAR,
    (f"{MASKS}.MapSelect", "expression"): UNCLEAR,
    (f"{MASKS}.MapSelect", "child"): UNCLEAR,
    (f"{MASKS}.MapSelect.MapKey", "map_key"): UNCLEAR,
    (f"{MASKS}.MapSelect.MapKeyExpression", "map_key_expression"): UNCLEAR,
    ("Version", "git_hash"): "it names a commit between two versions; the installed messages are of a released one",
    **{
        ("Version", field): "it is 0 in the version of the installed messages, and 0 is not written"
        for field, number in zip(("major_number", "minor_number", "patch_number"), installed_version(), strict=True)
        if number == 0
    },
}
"""The fields that stand in no plan that this library writes. Those that others may write are read or refused."""

NO_DIFFERENCE: dict[Field, str] = {
    ("RelCommon", "direct"): "a relation that does not say what it emits emits all columns",
    ("Expression.FieldReference", "root_reference"): "a reference that does not say whose columns means the own row",
    ("Expression.WindowFunction.Bound", "unbounded"): "a bound that is not set is unbounded",
    ("Expression.WindowFunction.Bound.Preceding", "offset"): "deprecated, and written beside offset_expr",
    ("Expression.WindowFunction.Bound.Preceding", "offset_expr"): "written beside offset, for those who read that",
    ("Expression.WindowFunction.Bound.Following", "offset"): "deprecated, and written beside offset_expr",
    ("Expression.WindowFunction.Bound.Following", "offset_expr"): "written beside offset, for those who read that",
    ("Version", "producer"): "who wrote a plan is told, but is no part of what makes two plans equal",
}
"""The fields that may be left out of a plan of ours without a word: it means the same."""


# --- plans, and what is in their messages


@attrs.frozen
class Case:
    """A plan, or an extended expression, and how it is written and read."""

    value: AlgebraPlan | ExtendedExpression
    outer_references: OuterReferences = "rel_reference"

    @property
    def message(self) -> Plan | ExtendedMessage:
        if isinstance(self.value, AlgebraPlan):
            return encode_plan(self.value, outer_references=self.outer_references)
        return encode_extended_expression(self.value, outer_references=self.outer_references)

    def __str__(self) -> str:
        if isinstance(self.value, ExtendedExpression):
            return "extended"
        rel = self.value.roots[0].input
        told = [type(node).__name__ for node in (rel, *getattr(rel, "expressions", ())[:1])]
        return " of ".join(told)


def read(message: Plan | ExtendedMessage) -> tuple[AlgebraPlan | ExtendedExpression, Sequence[Finding]]:
    """What a message says, comparable whatever the numbers of rows are, and what is found in it."""
    if isinstance(message, Plan):
        plan, findings = decode_plan(message)
        return canonical_plan(plan), findings
    return decode_extended_expression(message)


CASES = (
    *map(Case, corpus.whole()),
    *map(Case, corpus.extended()),
    Case(plan_of(corpus.projected(T, *corpus.subqueries())), "steps_out"),
)


def fields_of(root: Message) -> Iterator[tuple[Field, Message]]:
    """The fields that are set anywhere in a message, each with the message that it is set in."""
    stack = [root]
    while stack:
        message = stack.pop()
        for field, value in message.ListFields():
            yield (name_of(message.DESCRIPTOR), field.name), message
            if field.message_type is not None:
                stack.extend(value if field.is_repeated else [value])


def name_of(descriptor: Any) -> str:
    """The name of a message without the package that most are in."""
    name: str = descriptor.full_name
    return name.removeprefix("substrait.")


def all_fields() -> set[Field]:
    """The fields of all messages that can stand in a plan or in an extended expression."""
    found: dict[str, Descriptor] = {}
    stack: list[Any] = [Plan.DESCRIPTOR, ExtendedMessage.DESCRIPTOR]
    while stack:
        descriptor = stack.pop()
        if descriptor.full_name not in found:
            found[descriptor.full_name] = descriptor
            stack.extend(field.message_type for field in descriptor.fields if field.message_type is not None)
    return {(name_of(descriptor), field.name) for descriptor in found.values() for field in descriptor.fields}


@functools.cache
def written() -> dict[Field, list[int]]:
    """The fields that our plans set, each with the numbers of the cases that set it."""
    found: dict[Field, list[int]] = {}
    for number, case in enumerate(CASES):
        for field in {field for field, _ in fields_of(case.message)}:
            found.setdefault(field, []).append(number)
    return found


# --- tests


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_that_is_written_is_read_back(case: Case) -> None:
    message = case.message
    sent = message.SerializeToString(deterministic=True)
    got, findings = read(type(message).FromString(sent))
    assert findings == ()
    assert got == (canonical_plan(case.value) if isinstance(case.value, AlgebraPlan) else case.value)
    assert Case(got, case.outer_references).message.SerializeToString(deterministic=True) == sent


def test_every_field_is_written_or_there_is_a_reason() -> None:
    assert all_fields() - written().keys() - NEVER.keys() == set()


def test_every_reason_is_needed() -> None:
    assert all_fields() >= NEVER.keys() | NO_DIFFERENCE.keys()
    assert not NEVER.keys() & written().keys()


@pytest.mark.parametrize("field", sorted(written()), ids=".".join)
def test_every_field_makes_a_difference_or_there_is_a_reason(field: Field) -> None:
    """A plan that lacks the field is another plan, or is refused, or something is found in it."""
    assert any(_differs_without(CASES[number], field) for number in written()[field]) is (field not in NO_DIFFERENCE)


def _differs_without(case: Case, field: Field) -> bool:
    """Whether a message says something else, somewhere, without one of the places where it sets a field."""
    message = case.message
    places = [number for number, (each, _) in enumerate(fields_of(message)) if each == field]
    return any(_says_else(message, number, field[1]) for number in places[:20])


def _says_else(message: Plan | ExtendedMessage, place: int, field: str) -> bool:
    changed = type(message).FromString(message.SerializeToString(deterministic=True))
    list(fields_of(changed))[place][1].ClearField(field)
    try:
        got, findings = read(changed)
    except (PlanFormatError, UnsupportedError):
        return True
    return bool(findings) or got != read(message)[0]
