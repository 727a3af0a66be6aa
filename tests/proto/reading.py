"""Plans that are read back, and plans that are damaged first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.settings import OuterReferences
from substrait_dsl.errors import PlanFormatError, SubstraitDslError
from substrait_dsl.proto.plan import decode_plan, encode_plan, from_bytes, to_bytes
from tests.proto.plans import encoded, plan_of

Change = Callable[[Any], object]
"""Changes the message of a relation in place. To a type checker the message is anything, so that a change is short."""


def comes_back(plan: AlgebraPlan, outer_references: OuterReferences = "rel_reference") -> None:
    """Assert that a plan is the same, and written the same, after it went through bytes; and nothing is found in it."""
    data = to_bytes(encode_plan(plan, outer_references=outer_references))
    got, findings = from_bytes(data)
    assert findings == ()
    assert canonical_plan(got) == canonical_plan(plan)
    assert to_bytes(encode_plan(got, outer_references=outer_references)) == data


def rel_comes_back(rel: r.Rel, outer_references: OuterReferences = "rel_reference") -> None:
    """`comes_back` for the plan of one relation."""
    comes_back(plan_of(rel), outer_references)


def changed(rel: r.Rel, change: Change, *functions: tuple[str, str]) -> Plan:
    """The plan of a relation, whose message is changed; and whose functions are said to be others, in their order."""
    plan = Plan.FromString(to_bytes(encoded(rel)))
    change(plan.relations[-1].root.input)
    for declaration, (urn, key) in zip(plan.extensions, functions, strict=False):
        function = declaration.extension_function
        function.name = key
        if urn:
            function.extension_urn_reference = 100 + len(plan.extension_urns)
            plan.extension_urns.add(extension_urn_anchor=function.extension_urn_reference, urn=urn)
        else:
            function.extension_urn_reference = 2**32 - 1
    return plan


def root(plan: Plan) -> tuple[r.Rel, list[tuple[str, str]]]:
    """The one root of a plan, and what is found in it: messages, and paths below the root."""
    read, findings = decode_plan(plan)
    assert len(read.roots) == 1
    return read.roots[0].input, [(finding.message, below_root(finding.path)) for finding in findings]


def found(rel: r.Rel, change: Change, *said: str, path: str) -> r.Rel:
    """The relation that a changed plan is read as, with one finding, which strict reading does not accept."""
    plan = changed(rel, change)
    got, findings = root(plan)
    ((message, where),) = findings
    for part in said:
        assert part in message
    assert where == path
    with pytest.raises(PlanFormatError):
        decode_plan(plan, strict=True)
    return got


@contextmanager
def refused_at(path: str, error: type[SubstraitDslError], *said: str) -> Iterator[None]:
    """Expect exactly this class of error, with this path below the root and a text that contains all of `said`."""
    with pytest.raises(error) as caught:
        yield
    assert type(caught.value) is error
    for part in said:
        assert part in str(caught.value)
    assert below_root(caught.value.path) == path


def below_root(path: str | None) -> str:
    """A path without what all have in common."""
    assert path is not None
    return path.removeprefix("relations[0].root.input").removeprefix(".")


def condition(rel: Any) -> pb.Expression:
    """The condition of the filter that a message is."""
    expression: pb.Expression = rel.filter.condition
    return expression
