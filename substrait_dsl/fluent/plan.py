"""A Substrait plan as an object: to and from bytes, JSON and files, and to Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.expressions.parameters import remember_type
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.findings import Finding, Weight
from substrait_dsl.algebra.plan import AlgebraPlan, EvaluationMode, ParameterBinding, Root, parameters_in
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError, naming, placing
from substrait_dsl.fluent.base import RelationBase, made
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.documents import Document, type_urls
from substrait_dsl.fluent.expr import ExprBase, resolve, unwrapped
from substrait_dsl.fluent.guidance import no_attribute
from substrait_dsl.fluent.messages import require_extension
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.running import Running, Started, explanation, require_explained
from substrait_dsl.fluent.schemas import as_type
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from substrait.plan_pb2 import Plan as PlanMessage

    from substrait_dsl.catalog import Catalog
    from substrait_dsl.spark.explain import ExplainMode

NO_BINDINGS: Mapping[int, object] = {}


class Plan(Document["PlanMessage", AlgebraPlan]):
    """The plan that returns one or more relations.

    Args:
        relations: what the plan returns, in order.
        expected_type_urls: the types of the extension messages in the plan.
        parameter_bindings: values for dynamic parameters by their numbers: Python values, or ``lit(value, type)``.
            A number that no expression uses is refused.
        evaluation_mode: whether variables such as the current time have one value for the plan or one for each record.
        advanced_extensions: messages about the plan that only their owners can read.
        type_aliases: types to write once and refer to by number wherever they stand, nullable or not: for plans in
            which large types come again and again.

    Specification: ``Plan`` in ``plan.proto``.
    """

    __slots__ = ()
    _message = "substrait.Plan"
    _what = "plan"

    def __init__(
        self,
        *relations: RelationBase,
        expected_type_urls: Sequence[str] = (),
        parameter_bindings: Mapping[int, object] = NO_BINDINGS,
        evaluation_mode: EvaluationMode = "per_plan",
        advanced_extensions: AdvancedExtension | None = None,
        type_aliases: Sequence[object] = (),
    ) -> None:
        with naming("Plan"):
            roots = _roots(relations)
            require_extension(advanced_extensions, "advanced_extensions")
            plan = AlgebraPlan(
                roots,
                expected_type_urls=type_urls(expected_type_urls),
                parameter_bindings=tuple(_bindings(parameter_bindings, roots)),
                evaluation_mode=evaluation_mode,
                advanced_extensions=advanced_extensions,
                type_aliases=_types(type_aliases),
            )
        self._become(plan, ())

    @classmethod
    def _decoded(
        cls, source: bytes | str, strict: bool | Weight, catalog: Catalog | None
    ) -> tuple[AlgebraPlan, tuple[Finding, ...]]:
        from substrait_dsl.proto.plan import from_bytes, from_json

        if isinstance(source, str):
            return from_json(source, catalog, strict=strict)
        return from_bytes(source, catalog, strict=strict)

    # --- what it says

    @property
    def roots(self) -> tuple[Relation[Any], ...]:
        """The relations that the plan returns, under the names that it gives their columns."""
        return tuple(made(_under_names(root)) for root in self._algebra.roots)

    @property
    def parameter_bindings(self) -> Mapping[int, ex.Literal]:
        """The values of dynamic parameters, by their numbers. `with_roots` gives a plan with others."""
        return MappingProxyType({binding.anchor: binding.value for binding in self._algebra.parameter_bindings})

    @property
    def evaluation_mode(self) -> EvaluationMode:
        """Whether variables such as the current time have one value for the plan or one for each record."""
        return self._algebra.evaluation_mode

    @property
    def type_aliases(self) -> tuple[Type, ...]:
        """The types that the plan gives a number to, in the order of these numbers."""
        return self._algebra.type_aliases

    # --- going on from it

    def with_roots(self, *relations: RelationBase, parameter_bindings: Mapping[int, object] = NO_BINDINGS) -> Plan:
        """A plan that returns other relations and says the same beside them.

            plan = sd.Plan.load("orders.plan")
            plan.with_roots(plan.roots[0].filter(lambda r: r.total > 5)).save("large.plan")

        The bindings of parameters, the evaluation mode, the type URLs, the messages of others and the type aliases
        stay. ``relation.to_plan()`` has none of them: they belong to a plan, and to no relation in it.

        Args:
            relations: what the plan returns instead, in order.
            parameter_bindings: values for further parameters, and others for those that are bound, as of `Plan`.

        It is a plan that was built here: it has no `findings` and no `version`. Raises as `Plan` does, and
        `TypeMismatchError` where a parameter that is bound has another type in the new relations.
        """
        with naming("with_roots"):
            roots = _roots(relations)
            bindings = {binding.anchor: binding for binding in self._algebra.parameter_bindings}
            bindings |= {binding.anchor: binding for binding in _bindings(parameter_bindings, roots)}
            plan = attrs.evolve(self._algebra, roots=roots, parameter_bindings=tuple(bindings.values()), version=None)
        made_plan = Plan.__new__(Plan)
        made_plan._become(plan, ())
        return made_plan

    if not TYPE_CHECKING:  # a checker must not take every name for a method

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            verbs = {verb: f"roots[0].{verb}" for verb in dir(Relation)} | {"relations": "roots"}
            if self._algebra.parameter_bindings:  # which a root does not know
                verbs |= {"collect": "execute(spark)[0].collect()", "show": "execute(spark)[0].show()"}
            raise no_attribute("a plan", name, verbs, dir(type(self)))

    # --- writing and running

    def _encoded(self) -> PlanMessage:
        from substrait_dsl.proto.plan import encode_plan

        return encode_plan(self._algebra)

    def _with_canonical_anchors(self) -> AlgebraPlan:
        return canonical_plan(self._algebra)

    def execute(self, spark: SparkSession, *, persist_shared: bool = False) -> list[DataFrame]:
        """Run on Spark: one DataFrame for each root, with the parameters that are bound.

        Arguments: as of `Relation.execute`. Raises as that, and `LiteralError` for a parameter that is bound to a value
        of another type.
        """
        with naming("execute"):
            return self._started(spark, persist_shared=persist_shared).frames

    def running(
        self, spark: SparkSession, *, persist_shared: bool = False, progress: bool = False
    ) -> Running[list[DataFrame]]:
        """Run on Spark inside a ``with``, which gives the DataFrames, one for each root.

        Arguments: as of `Relation.running`; what fails inside says, as there, which step of the plan failed.
        """
        with naming("running"):
            require_flag("progress", progress)
            started = self._started(spark, persist_shared=persist_shared)
        return Running("running", started, started.frames, progress=progress)

    def explain(self, spark: SparkSession | None = None, mode: ExplainMode | None = None) -> str:
        """The plan as an indented text, and below it Spark's plan of each root; nothing runs.

        Arguments, and what is raised: as of `Relation.explain`.
        """
        with naming("explain"):
            require_explained(spark, mode)
            return str(self) if spark is None else explanation(str(self), self._started(spark, is_preview=True), mode)

    def _started(self, spark: SparkSession, *, persist_shared: bool = False, is_preview: bool = False) -> Started:
        extension = self._algebra.advanced_extensions
        if extension is not None and extension.enhancement is not None:
            raise UnsupportedError(
                f"the plan has an enhancement of the type {extension.enhancement.type_url}, which changes what it "
                "means in a way that is not known here"
            )
        if not is_preview:
            from substrait_dsl.spark.changes import require_made_once

            require_made_once(self._algebra.roots)
        roots, mode = self._algebra.bound_roots(), self._algebra.evaluation_mode
        return Started(roots, spark, mode, persist_shared=persist_shared, is_preview=is_preview)

    def __str__(self) -> str:
        from substrait_dsl.render.text import explain_plan

        return explain_plan(self._algebra, [_under_names(root) for root in self._algebra.roots])

    def __repr__(self) -> str:
        return f"Plan({', '.join(map(repr, self.roots))})"


def _under_names(root: Root) -> rl.Rel:
    names = root.columns
    if names == root.input.schema.names:
        return root.input
    return rl.emit(root.input, range(len(names)), names)


def _roots(relations: Sequence[RelationBase]) -> tuple[Root, ...]:
    """The roots that relations are. Raises `InvalidArgumentError` for none, and for what is no relation."""
    if not relations:
        raise InvalidArgumentError("expected at least one relation")
    for relation in relations:
        if not isinstance(relation, RelationBase):
            raise InvalidArgumentError(f"expected relations, got {relation!r}")
    return tuple(Root.of(relation._rel) for relation in relations)


def _types(kinds: Any) -> tuple[Type, ...]:
    if isinstance(kinds, str) or not isinstance(kinds, Sequence):
        raise InvalidArgumentError(f"type_aliases are several types, got {kinds!r}")
    return tuple(as_type(kind) for kind in kinds)


def _bindings(values: Mapping[int, object], roots: Sequence[Root]) -> Iterator[ParameterBinding]:
    """The values of parameters: Python values as literals of the type that the expressions give the parameter."""
    if not isinstance(values, Mapping):
        raise InvalidArgumentError(
            f"parameter_bindings is a dict of values by the number of the parameter, got {values!r}"
        )
    if not values:
        return
    kinds: dict[int, Type] = {}
    for parameter in parameters_in(root.input for root in roots):
        remember_type(kinds, parameter)
    used = ", ".join(map(str, sorted(kinds)))
    for anchor, value in values.items():
        yield _binding(anchor, value, kinds.get(anchor), used)


def _binding(anchor: int, value: object, kind: Type | None, used: str) -> ParameterBinding:
    with placing(f"parameter {anchor!r}"):
        if type(anchor) is not int or not 0 <= anchor < 2**32:
            raise InvalidArgumentError(f"the number of a parameter is one of 32 bits, got {anchor!r}")
        if isinstance(value, ExprBase):
            value = resolve(value, Scope("Plan", ()))
        if isinstance(value, ex.Expression) and not isinstance(value, ex.Literal):
            raise InvalidArgumentError("a parameter is bound to a constant: write lit(value, type)")
        if kind is None:
            raise InvalidArgumentError(
                "no expression of the plan uses this parameter",
                hint=f"the parameters of the plan are {used}" if used else None,
            )
        return ParameterBinding(anchor, ex.literal(unwrapped(value), kind))
