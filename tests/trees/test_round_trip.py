"""Random trees of every kind of node survive being written and read: as bytes, and as JSON."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import get_args

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.expressions import AnyExpression
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.algebra.relations import AnyRelation
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.plan import encode_plan, from_bytes, from_json, to_bytes, to_json
from tests.test_pickling import same_nodes
from tests.trees.expressions import Row, expressions
from tests.trees.relations import LAST, LEAVES, TOP, plans, relations
from tests.trees.values import KINDS

trees = settings(max_examples=300, suppress_health_check=list(HealthCheck))


def plan_of(rel: Rel) -> AlgebraPlan:
    return AlgebraPlan((Root(rel, rel.schema.depth_first_names()),))


def survived(plan: AlgebraPlan, again: AlgebraPlan) -> None:
    """Both plans are equal, and so is what is derived of every relation."""
    assert canonical_plan(again) == canonical_plan(plan)
    for mine, theirs in zip(plan.roots, again.roots, strict=True):
        assert mine.input.schema.types == theirs.input.schema.types
        assert mine.input.properties == theirs.input.properties


@trees
@given(plans())
def test_bytes(rel: Rel) -> None:
    plan = plan_of(rel)
    data = to_bytes(encode_plan(plan))
    again, findings = from_bytes(data)
    survived(plan, again)
    assert not findings
    assert to_bytes(encode_plan(again)) == data


@trees
@given(plans())
def test_json(rel: Rel) -> None:
    plan = plan_of(rel)
    again, findings = from_json(to_json(encode_plan(plan)))
    survived(plan, again)
    assert not findings


@settings(trees, max_examples=100)
@given(plans())
def test_legacy_encoding(rel: Rel) -> None:
    """A plan in the legacy encoding is equal when it is read again, or it is refused for a reason of the encoding."""
    plan = plan_of(rel)
    try:
        message = encode_plan(plan, encoding="legacy")
    except UnsupportedError as error:
        event(error.message[:40])
        reason = error.message
    else:
        reason = ""
    if reason:
        assert "legacy encoding" in reason or "steps_out" in reason
        return
    event("written")
    again, findings = from_bytes(to_bytes(message))
    survived(plan, again)
    assert not findings


@settings(trees, max_examples=100)
@given(plans())
def test_pickle(rel: Rel) -> None:
    again = pickle.loads(pickle.dumps(rel))
    assert same_nodes(again, rel)


drawn: Counter[str] = Counter()


@settings(trees, max_examples=25, derandomize=True)
@given(st.data())
def _draw(data: st.DataObject) -> None:
    row = Row(KINDS)
    parts: list[Node] = [data.draw(relations((), 1, (maker,))) for maker in (*TOP, *LAST, *LEAVES)]
    parts += [data.draw(expressions(type_, row)) for type_ in KINDS]
    drawn.update(type(node).__name__ for part in parts for node in walk(part))


def test_the_trees_have_every_kind_of_node() -> None:
    """What they never held would be tested nowhere."""
    _draw()
    assert not {kind.__name__ for kind in (*get_args(AnyRelation), *get_args(AnyExpression))} - drawn.keys()
