"""The differences of two relations or plans: `sd.diff`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Literal, get_args

import attrs

from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.validators import TEXT, TEXT_OR_NONE, several
from substrait_dsl.analysis.plan_changes import StepPair, pair_steps
from substrait_dsl.analysis.schema_changes import ColumnChange, compare_schemas
from substrait_dsl.errors import InvalidArgumentError, error_context, require_choice
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.guidance import relation_hint
from substrait_dsl.fluent.plan import Plan
from substrait_dsl.render.step_summary import summaries
from substrait_dsl.texts import show_lines

StepChangeKind = Literal["added", "removed", "changed"]
STEP_CHANGES: tuple[StepChangeKind, ...] = get_args(StepChangeKind)


@attrs.frozen
class StepChange:
    """What became of one step of a plan.

    Args:
        kind: ``"added"``, ``"removed"``, or ``"changed"``: a step of the same relation stands in its place.
        before: the step as a line of text; None if it was added.
        after: the step that is there now; None if it was removed.

    Example:
        >>> print(sd.diff(orders.limit(5), orders.limit(6)).steps[0])
        - fetch 5
        + fetch 6
    """

    kind: StepChangeKind = attrs.field()
    before: str | None = attrs.field(validator=TEXT_OR_NONE)
    after: str | None = attrs.field(validator=TEXT_OR_NONE)

    def __attrs_post_init__(self) -> None:
        require_choice("change of a step", self.kind, STEP_CHANGES)

    def __str__(self) -> str:
        removed = [] if self.before is None else [f"- {self.before}"]
        added = [] if self.after is None else [f"+ {self.after}"]
        return "\n".join(removed + added)


@attrs.frozen
class DeclarationChange:
    """What became of what a plan says beside its relations: parameter bindings, evaluation mode, messages of others.

    Args:
        name: the name of the property of `Plan`.
        before: the text of what it said.
        after: the text of what it says.

    Example:
        >>> by_record = sd.Plan(orders, evaluation_mode="per_record")
        >>> print(sd.diff(orders.to_plan(), by_record).declarations[0])
        ~ evaluation_mode: per_plan -> per_record
    """

    name: str = attrs.field(validator=TEXT)
    before: str = attrs.field(validator=TEXT)
    after: str = attrs.field(validator=TEXT)

    def __str__(self) -> str:
        return f"~ {self.name}: {self.before} -> {self.after}"


@attrs.frozen
class PlanDiff:
    """The differences of two plans; true if there is one.

    Example:
        >>> small = orders.filter(lambda o: o.price > 5.0).select("id")
        >>> large = orders.filter(lambda o: o.price > 9.0).select("id", "customer")
        >>> print(sd.diff(small, large))
        columns
          + customer: i64
        steps
          - filter price > 5.0
          + filter price > 9.0
          - emit -> id: i64
          + emit -> id: i64, customer: i64
    """

    columns: tuple[ColumnChange, ...] = attrs.field(validator=several("a tuple", ColumnChange))
    """What became of the columns of the roots."""
    steps: tuple[StepChange, ...] = attrs.field(validator=several("a tuple", StepChange))
    """What became of the steps, those nearer to the data first."""
    declarations: tuple[DeclarationChange, ...] = attrs.field(
        default=(), validator=several("a tuple", DeclarationChange)
    )
    """What became of what the plan says beside its relations."""

    _repr_pretty_ = show_lines

    def __bool__(self) -> bool:
        return bool(self.columns or self.steps or self.declarations)

    def to_dict(self) -> dict[str, list[dict[str, object]]]:
        """Return it as dicts, lists and texts, for JSON.

        Returns:
            ``{"columns": [...], "steps": [...], "declarations": [...]}``, each entry with the fields of its class.

        Specification: none.

        Example:
            >>> sd.diff(orders.limit(5), orders).to_dict()["steps"]
            [{'kind': 'removed', 'before': 'fetch 5', 'after': None}]
        """
        return {name: [attrs.asdict(change) for change in getattr(self, name)] for name in attrs.fields_dict(PlanDiff)}

    def __str__(self) -> str:
        parts = (("columns", self.columns), ("steps", self.steps), ("declarations", self.declarations))
        lines = [line for title, changes in parts if changes for line in (title, *_indented(changes))]
        return "\n".join(lines) or "no difference"


def _indented(changes: tuple[object, ...]) -> Iterator[str]:
    for change in changes:
        yield from (f"  {line}" for line in str(change).splitlines())


def diff(before: RelationBase | Plan, after: RelationBase | Plan) -> PlanDiff:
    """Compare two relations or plans: the columns that they return first, then their steps.

    Args:
        before: a relation or a plan.
        after: what it became.

    Returns:
        The differences; false if there is none, which is so if the two are equal. Names of columns in between do not
        count, since a plan does not have them. What a plan has several times, shared or as copies, is one step.

    Raises:
        InvalidArgumentError: an argument is neither.
        SchemaError: a relation that no plan can have, as of `to_plan`.

    Specification: none; what a plan is, ``plan.proto``.

    Example:
        >>> bool(sd.diff(orders, sd.Plan.from_bytes(orders.to_plan().to_bytes())))
        False
    """
    with error_context(verb="diff"):
        old, new = _algebra_of(before), _algebra_of(after)
        columns: list[ColumnChange] = []
        steps: list[StepChange] = []
        if old != new:
            roots = zip_longest(old.roots, new.roots)
            columns = [
                change
                for number, (root, other) in enumerate(roots)
                for change in compare_schemas(_columns(root), _columns(other), number)
            ]
            steps = [*_step_changes(old, new)]
        return PlanDiff(tuple(columns), tuple(steps), tuple(_declaration_changes(old, new)))


def _algebra_of(value: object) -> AlgebraPlan:
    if isinstance(value, RelationBase):
        value = value.to_plan()
    if not isinstance(value, Plan):
        raise InvalidArgumentError("expected a relation or a plan", got=value, hint=relation_hint(value))
    return canonical_plan(value._algebra)


def _columns(root: Root | None) -> NamedStruct:
    return NamedStruct(()) if root is None else NamedStruct.from_types(root.input.schema.types, root.names)


def _step_changes(before: AlgebraPlan, after: AlgebraPlan) -> Iterator[StepChange]:
    """Yield the steps that differ, tree for tree in the order of evaluation."""
    for old, new in zip_longest(before.relations, after.relations):
        pairs = [pair for pair in pair_steps(old, new) if not pair.is_same and not pair.is_copy]
        if not pairs:
            continue
        old_text, new_text = ({} if rel is None else summaries(rel) for rel in (old, new))
        for pair in pairs:
            former = None if pair.before is None else old_text.get(id(pair.before), str(pair.before))
            now = None if pair.after is None else new_text.get(id(pair.after), str(pair.after))
            yield StepChange("added" if former is None else "removed" if now is None else "changed", former, now)


def pair_trees(before: AlgebraPlan, after: AlgebraPlan) -> Iterator[StepPair]:
    """Yield the steps of two plans, those that are the same and those that differ, tree for tree."""
    for old, new in zip_longest(before.relations, after.relations):
        yield from pair_steps(old, new)


def _declaration_changes(before: AlgebraPlan, after: AlgebraPlan) -> Iterator[DeclarationChange]:
    names = ("expected_type_urls", "parameter_bindings", "evaluation_mode", "advanced_extensions", "type_aliases")
    for name in names:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield DeclarationChange(name, _text(old), _text(new))


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
