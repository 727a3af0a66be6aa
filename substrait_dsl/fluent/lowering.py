"""Plans for other engines: lowered, with errors that name the step, and encoded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.settings import Encoding, OuterReferences
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.render.steps import step

if TYPE_CHECKING:
    from substrait.plan_pb2 import Plan as PlanMessage


def lowered(plan: AlgebraPlan, engine: str | Path) -> AlgebraPlan:
    """The plan that an engine takes. Raises as `Plan.lower`."""
    from substrait_dsl.engines.lowering.context import Place
    from substrait_dsl.engines.lowering.plan import lower_plan
    from substrait_dsl.engines.profile import load_profile

    profile = load_profile(engine)
    try:
        return lower_plan(plan, profile)
    except UnsupportedError as error:
        if isinstance(error.refused, Place):
            _name_step(error, error.refused.top, error.refused.node)
        raise


def _name_step(error: UnsupportedError, top: Rel, node: Node) -> None:
    """Let an error say which step of the plan is refused, and which part of it."""
    rel = _relation_of(top, node)
    place = step(top, rel, None if node is rel else node)
    error.step, error.expression = place.text, place.part
    error.message = f"{error.message} {place}"
    error.args = (error.message,)


def _relation_of(top: Rel, node: Node) -> Rel:
    """The relation that a node is, or is a part of."""
    if isinstance(node, Rel):
        return node
    relations = (each for each in walk(top) if isinstance(each, Rel))
    return next(rel for rel in relations if any(part is node for part in walk(rel, into_relations=False)))


def encoded_for(
    plan: AlgebraPlan, engine: str | Path, encoding: Encoding | None, outer_references: OuterReferences | None
) -> bytes:
    """A plan that was lowered to an engine, in the encoding that the engine reads, or in another one.

    Raises:
        UnsupportedError: the plan is too deep for the engine, or has no legacy form.
    """
    from substrait_dsl.engines.profile import load_profile
    from substrait_dsl.proto.plan import encode_plan, to_bytes

    profile = load_profile(engine)
    message = encode_plan(
        plan,
        encoding=encoding or profile.encoding,
        outer_references=outer_references,
        omitted_fields=profile.omitted_fields if encoding is None else (),
    )
    require_one_tree(message, engine)
    return to_bytes(message)


def require_one_tree(message: PlanMessage, engine: str | Path) -> None:
    """Raise unless a plan is low enough to be written as one tree, which is all that engines read."""
    if len(message.relations) > 1:
        raise UnsupportedError(
            f"the plan is too deep for {engine}: it would be written in {len(message.relations)} parts, of which "
            "engines read one",
            hint="a message has at most 100 levels, about 45 steps one after the other",
        )
