"""The trees of a plan in the fluent API: relations that it returns, and subtrees that it only evaluates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.plan import AlgebraPlan, parameters_in
from substrait_dsl.algebra.settings import DEFAULT_SETTINGS, EvaluationMode, ParameterBinding, PlanSettings
from substrait_dsl.algebra.trees import Root, Tree
from substrait_dsl.algebra.trees import Subtree as AlgebraSubtree
from substrait_dsl.errors import InvalidArgumentError, error_context
from substrait_dsl.fluent.base import RelationBase, document_hint, rel_of, wrap_relation
from substrait_dsl.fluent.guidance import no_attribute, relation_hint
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.relation_schema import RelationSchema


class Subtree(Picklable):
    """A relation that a plan evaluates in its turn and does not return; made by `subtree`.

    Specification: ``PlanRel.rel``.

    Example:
        >>> print(sd.subtree(orders.write("copy")).relation)
        write insert into copy columns id: i64, customer: i64, price: fp64? -> no columns
          read orders -> id: i64, customer: i64, price: fp64?
    """

    __slots__ = ("_relation",)

    def __init__(self, relation: RelationBase) -> None:
        self._relation: Relation[Any] = wrap_relation(rel_of(relation))

    @property
    def relation(self) -> Relation[Any]:
        """The relation."""
        return self._relation

    @property
    def schema(self) -> RelationSchema:
        """The columns of the relation."""
        return self._relation.schema

    if not TYPE_CHECKING:  # a checker must not take every name for a verb

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            verbs = {verb: f"relation.{verb}, of the relation that it evaluates" for verb in dir(Relation)}
            verbs |= dict.fromkeys(
                ("collect", "execute", "running", "show"),
                "Plan(subtree, ...).execute(spark), which evaluates it in its turn: it returns no rows",
            )
            raise no_attribute("a subtree", name, "subtree", dir(type(self)), lambda: verbs)

    def __str__(self) -> str:
        return f"subtree: {self._relation}"

    def __repr__(self) -> str:
        return f"Subtree({self._relation!r})"


def subtree(relation: RelationBase) -> Subtree:
    """Make a relation a tree of a plan that is evaluated in its turn, and whose rows the plan does not return.

    What it changes is changed; its rows are there for the trees behind it that use the same relation. In front of it
    that relation is evaluated on its own.

        rows = sd.read_virtual([(1,)], {"a": "i64"})
        plan = sd.Plan(sd.subtree(rows.write("t")), sd.read_named("t", {"a": "i64?"}))

    Args:
        relation: the relation.

    Returns:
        What `Plan` takes beside relations. It has no rows of its own.

    Raises:
        InvalidArgumentError: it is no relation.

    Specification: ``PlanRel.rel``, https://substrait.io/serialization/basics/.

    Example:
        >>> rows = sd.read_virtual([(1,)], {"a": "i64"})
        >>> print(sd.Plan(sd.subtree(rows.write("t")), sd.read_named("t", {"a": "i64"})))
        subtree #1: write insert into t columns a: i64 -> no columns
          read values (1) -> a: i64
        read t -> a: i64
    """
    with error_context(verb="subtree"):
        return Subtree(relation)


def tree_of(value: object) -> Tree:
    """Return the tree of the algebra that a plan was given. Raises `InvalidArgumentError` for what is none."""
    if isinstance(value, Subtree):
        return AlgebraSubtree.of(value.relation._rel)
    if not isinstance(value, RelationBase):
        is_several = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
        hint = "give them one by one: *[...]" if is_several else document_hint(value) or relation_hint(value)
        raise InvalidArgumentError("expected relations", got=value, hint=hint)
    return Root.of(value._rel)


def plan_of(
    trees: Sequence[Tree],
    *,
    evaluation_mode: EvaluationMode | None = None,
    parameter_bindings: Mapping[int, ParameterBinding] | None = None,
    advanced_extensions: AdvancedExtension | None = None,
    **others: Any,
) -> AlgebraPlan:
    """Return the plan of these trees; settings that are None are those of the plans whose roots are inside.

    Args:
        trees: the trees.
        evaluation_mode: how often variables are evaluated; None: as the roots say.
        parameter_bindings: the values of parameters, by their numbers; they take precedence over those of the roots.
        advanced_extensions: messages about the plan; None: the enhancement of the roots' plan.
        **others: what else an `AlgebraPlan` has.

    Raises:
        InvalidArgumentError: roots of several plans say different things.
    """
    explicit = parameter_bindings or {}
    carried = _collect_settings(trees)
    modes = {settings.evaluation_mode for settings in carried}
    if evaluation_mode is None and len(modes) > 1:
        raise InvalidArgumentError(
            "of the plans that the relations come from one evaluates variables once (evaluation_mode per_plan), and "
            "another for each record (per_record)",
            hint='choose one: Plan(..., evaluation_mode="per_plan")',
        )
    enhancements = list(dict.fromkeys(settings.enhancement for settings in carried))
    if advanced_extensions is None and enhancements not in ([], [None]):
        if len(enhancements) > 1:
            raise InvalidArgumentError("the relations come from plans of which one has an enhancement that others lack")
        advanced_extensions = AdvancedExtension(enhancement=enhancements[0])
    carried_mode = next(iter(modes), DEFAULT_SETTINGS.evaluation_mode)
    bindings = {**_bindings(carried, trees, explicit), **explicit}
    return AlgebraPlan(
        tuple(trees),
        evaluation_mode=carried_mode if evaluation_mode is None else evaluation_mode,
        parameter_bindings=tuple(bindings.values()),
        advanced_extensions=advanced_extensions,
        **others,
    )


def _collect_settings(trees: Iterable[Tree]) -> list[PlanSettings]:
    """Return the settings of the plans whose roots are in the trees, but for the default ones."""
    return list(dict.fromkeys(settings for tree in trees for settings in tree.input.flags.settings))


def _bindings(
    carried: Sequence[PlanSettings], trees: Sequence[Tree], explicit: Mapping[int, ParameterBinding]
) -> dict[int, ParameterBinding]:
    """Return the values that plans gave the parameters which the trees still use, but for those that are given."""
    bindings: dict[int, ParameterBinding] = {}
    if not any(settings.parameter_bindings for settings in carried):
        return bindings
    used = {parameter.reference for parameter in parameters_in(tree.input for tree in trees)}
    for settings in carried:
        for binding in settings.parameter_bindings:
            if binding.anchor not in used or binding.anchor in explicit:
                continue
            if bindings.setdefault(binding.anchor, binding) != binding:
                raise InvalidArgumentError(
                    f"the plans that the relations come from bind parameter {binding.anchor} to different values",
                    hint=f"bind it anew: Plan(..., parameter_bindings={{{binding.anchor}: ...}})",
                )
    return bindings
