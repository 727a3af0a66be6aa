"""Settings of a plan on which the rows of its roots depend."""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.frozen_values import FrozenValue

if typing.TYPE_CHECKING:
    from substrait_dsl.algebra.expressions.literals import Literal

EvaluationMode = typing.Literal["per_plan", "per_record"]
EVALUATION_MODES: tuple[EvaluationMode, ...] = typing.get_args(EvaluationMode)

OuterReferences = typing.Literal["rel_reference", "steps_out"]
"""How a plan says which outer row a subquery means: by the number of its relation, or by counting subqueries."""

OUTER_REFERENCES: tuple[OuterReferences, ...] = typing.get_args(OuterReferences)

Encoding = typing.Literal["spec", "legacy"]
"""Which fields a plan is written in: those of the specification, or also the legacy fields that older readers know."""

ENCODINGS: tuple[Encoding, ...] = typing.get_args(Encoding)

LEGACY_FIELDS = (
    "Plan.extension_uris",
    "ExtendedExpression.extension_uris",
    "extensions.SimpleExtensionDeclaration.ExtensionType.extension_uri_reference",
    "extensions.SimpleExtensionDeclaration.ExtensionTypeVariation.extension_uri_reference",
    "extensions.SimpleExtensionDeclaration.ExtensionFunction.extension_uri_reference",
    "AggregateRel.Grouping.grouping_expressions",
    "FetchRel.offset",
    "FetchRel.count",
    "ReadRel.VirtualTable.values",
    "HashJoinRel.left_keys",
    "HashJoinRel.right_keys",
    "MergeJoinRel.left_keys",
    "MergeJoinRel.right_keys",
    "Expression.Literal.IntervalDayToSecond.microseconds",
)
"""The removed fields that the legacy encoding writes beside today's, behind the names of their messages."""

OUTER_REFERENCES_OF: dict[Encoding, OuterReferences] = {"spec": "rel_reference", "legacy": "steps_out"}
"""How each encoding writes references to outer rows."""


@attrs.frozen(eq=False, repr=False)
class ParameterBinding(FrozenValue):
    """The value of a dynamic parameter, which expressions call by this number."""

    anchor: int
    value: Literal


@attrs.frozen(eq=False, repr=False)
class PlanSettings(FrozenValue):
    """The settings of a plan on which the rows of its roots depend.

    A root that is taken out of the plan carries it (`Rel.settings`), so that it means the same elsewhere.
    """

    evaluation_mode: EvaluationMode = "per_plan"
    """How often variables such as the current time are evaluated."""
    parameter_bindings: tuple[ParameterBinding, ...] = ()
    enhancement: AnyMessage | None = None
    """The enhancement of the plan, whose meaning only the owner of the message knows."""


DEFAULT_SETTINGS = PlanSettings()
"""The settings of a plan that declares none."""
