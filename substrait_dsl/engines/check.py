"""Checks of a plan against an engine: the plan is lowered, then compared with the engine's dialect."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from substrait_dsl.algebra.capability_comparison import unmet_requirements
from substrait_dsl.algebra.node import Node
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.algebra.requirements import Requirement
from substrait_dsl.catalog.implementations import URN as IMPLEMENTED
from substrait_dsl.engines.lowering.context import NodeLocation
from substrait_dsl.engines.lowering.plan import try_to_lower
from substrait_dsl.engines.profile import Profile
from substrait_dsl.engines.report import Severity
from substrait_dsl.engines.rules import MISREADINGS, rules_of
from substrait_dsl.engines.survey import survey, type_requirements
from substrait_dsl.errors import UnsupportedError, quote


@attrs.frozen
class Refusal:
    """A reason why an engine does not get a plan."""

    code: str
    severity: Severity
    error: UnsupportedError
    requirement: Requirement | None = None
    """The requirement that the engine's dialect lacks."""

    @property
    def location(self) -> NodeLocation | None:
        """The node of the plan, or of the lowered plan, if it is one."""
        return self.error.refused if isinstance(self.error.refused, NodeLocation) else None


@attrs.frozen
class Rewriting:
    """A node that is written another way."""

    code: str
    severity: Severity
    why: str
    cure: str
    location: NodeLocation


@attrs.frozen
class PlanCheck:
    """The result of a check of a plan against an engine."""

    profile: Profile
    lowered: AlgebraPlan | None
    """The plan that the engine gets; None where it gets none."""
    refusals: tuple[Refusal, ...]
    rewritten: tuple[NodeLocation, ...]
    misread: tuple[tuple[str, NodeLocation], ...]

    def rewritings(self) -> Iterator[Rewriting]:
        """The nodes that are written another way, with the engine's deviation where it is known."""
        found = [(rule, place) for place in self.rewritten for rule in rules_of(place.node, self.profile)]
        for rule, place in [*found, *((MISREADINGS[code], place) for code, place in self.misread)]:
            shape = self.profile.shapes.get(rule.code, "unspecified")
            if shape != "right":
                yield Rewriting(rule.code, shape, rule.why, rule.cure, place)


def check_plan(plan: AlgebraPlan, profile: Profile) -> PlanCheck:
    """Lower a plan, and compare the requirements of the lowered plan with the engine's dialect."""
    result = try_to_lower(plan, profile)
    refusals = [refusal_for(error, profile) for error in result.refusals]
    if result.plan is not None:
        refusals += _missing(result.plan, profile)
    return PlanCheck(profile, None if refusals else result.plan, tuple(refusals), result.rewritten, result.misread)


def refusal_for(error: UnsupportedError, profile: Profile) -> Refusal:
    """Return the refusal for an error, with what the engine does to the plan as it is written."""
    code = error.rule or "no-form"
    shape = profile.shapes.get(code, "unspecified")
    return Refusal(code, "unspecified" if shape == "right" else shape, error)


def _missing(plan: AlgebraPlan, profile: Profile) -> Iterator[Refusal]:
    """Return the requirements of a lowered plan that the dialect of the engine lacks."""
    for root in plan.roots:
        needed = survey(root.input)
        for requirement, reason in unmet_requirements(needed, profile.dialect):
            if reason is not None and requirement.urn != IMPLEMENTED:
                node = needed[requirement]
                message = f"the dialect of {profile} does not have {requirement}: {reason}"
                error = UnsupportedError(message, hint=_hint_for(requirement, node))
                error.refused = NodeLocation(root.input, node)
                yield Refusal("dialect", "rejected", error, requirement)


def _hint_for(requirement: Requirement, node: Node) -> str | None:
    """Return a hint for a read that declares columns of a type that the engine lacks."""
    if not isinstance(node, Read) or not isinstance(node.definition, NamedTable):
        return None
    names = [field.name for field in node.base_schema.fields if requirement in type_requirements(field.type)]
    if not names:
        return None
    return f"declare only the columns that the plan uses: the read need not have {quote(names)} if it uses none of it"
