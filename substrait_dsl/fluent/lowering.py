"""Lowering of plans for other engines, with errors that name the step, and encoding."""

from __future__ import annotations

from pathlib import Path

from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.render.step_summary import Step, step


def lower_for_engine(plan: AlgebraPlan, engine: str | Path) -> AlgebraPlan:
    """Return the plan that an engine takes. Raises as `Plan.lower`."""
    from substrait_dsl.engines.lowering.plan import lower_plan
    from substrait_dsl.engines.profile import load_profile

    profile = load_profile(engine)
    try:
        return lower_plan(plan, profile)
    except UnsupportedError as error:
        name_step(error)
        raise


def name_step(error: UnsupportedError) -> None:
    """Let an error say which step of the plan is refused, and which part of it, if it is one step."""
    from substrait_dsl.engines.lowering.context import NodeLocation

    if isinstance(error.refused, NodeLocation):
        place = step_of(error.refused.top, error.refused.node)
        error.step, error.expression = place.text, place.part
        error.message = f"{error.message} {place}"
        error.args = (error.message,)


def step_of(top: Rel, node: Node) -> Step:
    """Return the step of a plan that a node is, or is a part of."""
    rel = _relation_of(top, node)
    return step(top, rel, None if node is rel else node)


def _relation_of(top: Rel, node: Node) -> Rel:
    """Return the relation that a node is, or is a part of."""
    if isinstance(node, Rel):
        return node
    relations = (each for each in walk(top) if isinstance(each, Rel))
    return next(rel for rel in relations if any(part is node for part in walk(rel, into_relations=False)))
