"""A Substrait plan as an object: to and from bytes, JSON, text and files, and to Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, overload

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.evaluation import evaluated_trees
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.findings import Finding, Weight
from substrait_dsl.algebra.plan import (
    EVALUATION_MODES,
    AlgebraPlan,
    EvaluationMode,
    Root,
)
from substrait_dsl.algebra.settings import DEFAULT_SETTINGS, Encoding, OuterReferences, PlanSettings
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import error_context, require_choice
from substrait_dsl.fluent.base import RelationBase, wrap_relation
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.diagrams import Diagrams
from substrait_dsl.fluent.documents import require_encoding, type_urls
from substrait_dsl.fluent.guidance import no_attribute
from substrait_dsl.fluent.messages import require_extension
from substrait_dsl.fluent.plan_arguments import alias_types, bind_parameters, plan_trees, require_changes
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.shown_text import ShownText
from substrait_dsl.fluent.table_arguments import Tables
from substrait_dsl.fluent.text_form import TextForm
from substrait_dsl.fluent.trees import Subtree, plan_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from substrait.plan_pb2 import Plan as PlanMessage

    from substrait_dsl.algebra.accesses import Accesses, Allowed
    from substrait_dsl.algebra.capabilities import Capabilities
    from substrait_dsl.catalog import Catalog
    from substrait_dsl.engines.report import Report
    from substrait_dsl.fluent.execution import Execution, OtherSession, Running, Session
    from substrait_dsl.render.graphs import Graph
    from substrait_dsl.spark.session.explain import ExplainMode

NO_BINDINGS: Mapping[int, object] = {}


class Plan(Diagrams, TextForm):
    """The plan that returns one or more relations.

    Its trees are evaluated in order, each once: a relation that is `shared` has the rows that it had when it was
    evaluated, wherever it is used, and changes of tables are made in their turn.

    Args:
        trees: relations, which the plan returns, and `subtree`s, which it only evaluates; in the order of evaluation.
            A shared relation that is not listed is evaluated before the first tree that uses it.
        expected_type_urls: the types of the extension messages in the plan.
        parameter_bindings: values for dynamic parameters by their numbers: Python values, or ``lit(value, type)``.
            A number that no expression uses is refused.
        evaluation_mode: whether variables such as the current time have one value for the plan or one for each record;
            by default one for the plan, or what the plan says that a relation comes from.
        advanced_extensions: messages about the plan that only their owners can read.
        type_aliases: types to write once and refer to by number wherever they stand, nullable or not: for plans in
            which large types come again and again.

    Specification: ``Plan`` in ``plan.proto``.

    Example:
        >>> print(sd.Plan(orders.limit(1), customers))
        fetch 1
          read orders -> id: i64, customer: i64, price: fp64?
        read customers -> key: i64, name: string
    """

    __slots__ = ("_evaluated_trees",)
    _message = "substrait.Plan"
    _what = "plan"

    def __init__(
        self,
        *trees: RelationBase | Subtree,
        expected_type_urls: Sequence[str] = (),
        parameter_bindings: Mapping[int, object] = NO_BINDINGS,
        evaluation_mode: EvaluationMode | None = None,
        advanced_extensions: AdvancedExtension | None = None,
        type_aliases: Sequence[object] = (),
    ) -> None:
        with error_context(verb="Plan"):
            found = plan_trees(trees)
            require_extension(advanced_extensions, "advanced_extensions")
            if evaluation_mode is not None:
                require_choice("evaluation mode", evaluation_mode, EVALUATION_MODES)
            plan = plan_of(
                found,
                evaluation_mode=evaluation_mode,
                parameter_bindings=bind_parameters(parameter_bindings, found),
                advanced_extensions=advanced_extensions,
                expected_type_urls=type_urls(expected_type_urls),
                type_aliases=alias_types(type_aliases),
            )
        self._become(plan, ())

    def _become(self, algebra: AlgebraPlan, findings: tuple[Finding, ...]) -> None:
        super()._become(algebra, findings)
        self._evaluated_trees: tuple[Relation[Any] | Subtree, ...] | None = None  # `rel.c` is of one very relation

    @classmethod
    def _decode(
        cls, source: bytes | str, strict: bool | Weight, catalog: Catalog | None
    ) -> tuple[AlgebraPlan, tuple[Finding, ...]]:
        from substrait_dsl.proto.plan import from_bytes, from_json

        if isinstance(source, str):
            return from_json(source, catalog, strict=strict)
        return from_bytes(source, catalog, strict=strict)

    # --- what it says

    @property
    def roots(self) -> tuple[Relation[Any], ...]:
        """The relations that the plan returns, under the names that it gives their columns.

        They keep what the plan says of itself, as far as their rows depend on it: the values of parameters, the
        evaluation mode, an enhancement. They do not keep the trees before them: what these change, only the plan does.
        """
        return tuple(tree for tree in self.trees if not isinstance(tree, Subtree))

    @property
    def trees(self) -> tuple[Relation[Any] | Subtree, ...]:
        """All trees in the order of their evaluation: the `roots`, and subtrees, shared relations among them."""
        if self._evaluated_trees is None:
            settings = self._algebra.settings
            self._evaluated_trees = tuple(
                wrap_relation(_root_relation(tree, settings))
                if isinstance(tree, Root)
                else Subtree(wrap_relation(tree.input))
                for tree in evaluated_trees(self._algebra.trees)
            )
        return self._evaluated_trees

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

    def accesses(self) -> Accesses:
        """List all that the plan reads, writes and defines outside of itself, by the names that it writes.

        Also in subqueries, in the definitions of views, and in trees that are evaluated for their effect alone. What a
        name stands for, it does not know: a view reads what its definition says, with the rights of the session.

        Returns:
            The accesses, each once, in the order of the plan. ``execute(spark, allow=...)`` takes them, or a function
            of one, and runs no plan that has others.

        Example:
            >>> orders = sd.read_named(("shop", "orders"), {"id": "i64", "price": "fp64"})
            >>> print(orders.filter(lambda o: o.price > 5.0).write("large", op="ctas").to_plan().accesses())
            ctas table large
            read table shop.orders
        """
        with error_context(verb="accesses"):
            return self._algebra.accesses

    # --- going on from it

    def with_roots(
        self, *trees: RelationBase | Subtree, parameter_bindings: Mapping[int, object] = NO_BINDINGS
    ) -> Plan:
        """Make a plan that returns other relations and says the same beside them.

        The bindings of parameters, the evaluation mode, the type URLs, the messages of others and the type aliases
        stay. ``relation.to_plan()`` has the first two, and none of the others.

        Args:
            trees: what the plan returns instead, in order, and what it evaluates beside that, as of `Plan`. Where
                subtrees of this plan change tables, say which stay: ``plan.with_roots(*plan.trees)`` has all.
            parameter_bindings: values for further parameters, and others for those that are bound, as of `Plan`.

        It is a plan that was built here: it has no `findings` and no `version`. Raises as `Plan` does,
        `TypeMismatchError` where a parameter that is bound has another type in the new relations, and
        `InvalidArgumentError` where a subtree that changes something would be left out, and none is given.

        Specification: ``Plan.relations``.

        Example:
            >>> plan = orders.to_plan()
            >>> print(plan.with_roots(plan.roots[0].filter(lambda o: o.price > 5.0)))
            filter price > 5.0
              read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="with_roots"):
            found = plan_trees(trees)
            require_changes(self._algebra.trees, found)
            bindings = {binding.anchor: binding for binding in self._algebra.parameter_bindings}
            bindings |= bind_parameters(parameter_bindings, found)
            plan = attrs.evolve(self._algebra, trees=found, parameter_bindings=tuple(bindings.values()), version=None)
        new_plan = Plan.__new__(Plan)
        new_plan._become(plan, ())
        return new_plan

    if not TYPE_CHECKING:  # a checker must not take every name for a method

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            verbs = partial(_verbs_of_roots, self._algebra)
            raise no_attribute("a plan", name, "plan", dir(type(self)), verbs)

    # --- writing and running

    def _encode(self, encoding: Encoding, outer_references: OuterReferences | None) -> PlanMessage:
        from substrait_dsl.proto.plan import encode_plan

        return encode_plan(self._algebra, encoding=encoding, outer_references=outer_references)

    def lower(self, engine: str | Path) -> Plan:
        """Bring it to what an engine takes: a plan with the same rows, columns and types.

        What the engine computes otherwise than the specification says, or not at all, is written another way:
        subqueries become joins, physical joins logical ones, several grouping sets a union, averages and quotients
        get the type that they have.

        Args:
            engine: the name of an engine, which means its newest version of which there is a profile
                (``"datafusion"``), a name with a version (``"datafusion-55"``), or the path of a profile.

        Returns:
            The plan. It holds no shared relations: what is used several times stands there as often. Of columns of one
            name the later ones have a number behind it: ``k`` and ``k_2``.

        Raises:
            UnsupportedError: something has no form on the engine that gives the same rows; it names the step. Or
                the engine is Spark or Sail, which run plans in a session and get none.
            InvalidChoiceError: there is no profile of such an engine, with the nearest one.

        Specification: what an engine takes is a dialect file, ``dialect_schema.yaml``.

        Example:
            >>> print(orders.top_n(3, "id").to_plan().lower("datafusion"))
            fetch 3
              sort by id asc nulls first
                read orders -> id: i64, customer: i64, price: fp64?
        """
        from substrait_dsl.fluent.session_checks import require_bytes

        with error_context(verb="lower"):
            require_bytes(engine)
            return self._lower(engine)

    def _lower(self, engine: str | Path) -> Plan:
        from substrait_dsl.fluent.lowering import lower_for_engine

        new_plan = Plan.__new__(Plan)
        new_plan._become(lower_for_engine(self._algebra, engine), ())
        return new_plan

    def to_bytes(
        self,
        *,
        encoding: Encoding | None = None,
        outer_references: OuterReferences | None = None,
        engine: str | Path | None = None,
    ) -> bytes:
        """Make protobuf's binary form; equal content gives equal bytes.

        Args:
            encoding: as of `to_proto`; by default that of the engine, or ``spec``.
            outer_references: as of `to_proto`.
            engine: write the plan for an engine: lowered, checked and encoded as it reads it. None: as it is, as the
                specification says.

        Raises:
            UnsupportedError: as of `to_proto`; for an engine, the first finding for which `check` refuses the plan.
                It names the step and says how many more there are. And for Spark and Sail, which get no bytes.
            InvalidChoiceError: as of `to_proto` and `lower`.
            InvalidArgumentError: as of `to_proto`.

        Example:
            >>> data = orders.to_plan().to_bytes()
            >>> sd.Plan.from_bytes(data) == orders.to_plan()
            True
        """
        if engine is None:
            return super().to_bytes(encoding=encoding or "spec", outer_references=outer_references)
        from substrait_dsl.engines.profile import load_profile
        from substrait_dsl.fluent.checks import message_for
        from substrait_dsl.fluent.session_checks import require_bytes
        from substrait_dsl.proto.plan import to_bytes

        with error_context(verb="to_bytes"):
            require_encoding(encoding or "spec", outer_references)
            require_bytes(engine)
            return to_bytes(message_for(self._algebra, load_profile(engine), encoding, outer_references))

    def check(self, engine: str | Path | Capabilities) -> Report:
        """Say what an engine does with the plan, before anything is sent.

        What is let through is right on the engine: as it is written, if the verdict is ``runs``, and by
        ``to_bytes(engine=...)`` if it is ``runs lowered``. What is not known to be right is refused.

        Args:
            engine: the name of an engine, as of `lower`, or ``"spark"`` or ``"sail"``, which run it by `execute`: what
                only a session of these can say is refused; the path of a profile or of a dialect file; or what a system
                says of itself, `Capabilities`. Of a dialect and of `Capabilities` only the words are known: they are
                compared with those of the plan as it is written, and whether the system computes it stays open.

        Returns:
            The verdict, and findings: for each its code, its severity, its step, why, and what lowering does about it.
            It is true unless the plan is refused, and prints as a list.

        Raises:
            InvalidArgumentError: the argument is something else.
            InvalidChoiceError: there is no profile of such an engine, with the nearest one.
            CatalogError: a file cannot be read, or is neither a profile nor a dialect.
            UnsupportedError: for a dialect or `Capabilities`, as `to_proto`.

        Specification: ``dialect_schema.yaml``, and ``Capabilities`` in ``capabilities.proto`` of versions before 0.82.

        Example:
            >>> sd.Plan(orders, customers).check("duckdb").verdict
            'refused'
        """
        with error_context(verb="check"):
            return self._check(engine)

    def _check(self, engine: object) -> Report:
        """As `check`; errors do not name the call."""
        from substrait_dsl.algebra.capabilities import Capabilities
        from substrait_dsl.fluent.checks import capability_report, profile_or_capabilities, profile_report
        from substrait_dsl.fluent.session_checks import session_engine, session_report

        if (session := session_engine(engine)) is not None:
            return session_report(self._algebra, session)
        target = profile_or_capabilities(engine)
        if isinstance(target, Capabilities):
            return capability_report(self._list_requirements(), target)
        return profile_report(self._algebra, target)

    def _with_canonical_anchors(self) -> AlgebraPlan:
        from substrait_dsl.algebra.anchors import canonical_plan

        return canonical_plan(self._algebra)

    @overload
    def execute(
        self,
        session: SparkSession | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        allow: Allowed | None = None,
    ) -> list[DataFrame]: ...

    @overload
    def execute(
        self, session: OtherSession, *, tables: Tables | None = None, allow: Allowed | None = None
    ) -> list[Any]: ...

    def execute(
        self,
        session: Session | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        allow: Allowed | None = None,
    ) -> list[Any]:
        """Run: evaluate the trees in order, each once; gives one DataFrame for each root.

        What changes tables is done when it returns. A root and a `shared` relation have the rows that they had in their
        turn: where a later change of the plan would make them others, they are kept before it. In a plan without
        changes nothing is computed until rows are asked for.

        Args:
            session: what runs it, as of `Relation.execute`; None: the embedded engine.
            tables: what this execution reads under some names, as of `Relation.execute`.
            persist_shared: whether Spark keeps the rows of `shared` relations.
            allow: what the plan may read, write and define, as of `Relation.execute`.

        Raises as `Relation.execute`, and `LiteralError` for a parameter that is bound to a value of another type.

        Example:
            >>> numbers = sd.read_virtual([(1,), (2,)], {"n": "i64"})
            >>> [frame.count() for frame in sd.Plan(numbers, numbers.limit(1)).execute()]
            [2, 1]
        """
        with error_context(verb="execute"):
            return self._start_execution(session, tables, persist_shared=persist_shared, allow=allow).frames

    @overload
    def running(
        self,
        session: SparkSession | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        progress: bool = False,
        allow: Allowed | None = None,
    ) -> Running[list[DataFrame]]: ...

    @overload
    def running(
        self, session: OtherSession, *, tables: Tables | None = None, allow: Allowed | None = None
    ) -> Running[list[Any]]: ...

    def running(
        self,
        session: Session | None = None,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        progress: bool = False,
        allow: Allowed | None = None,
    ) -> Running[list[Any]]:
        """Run inside a ``with``, which gives the DataFrames, one for each root.

        Args:
            session: what runs it, as of `Relation.execute`; None: the embedded engine.
            tables: what this execution reads under some names, as of `Relation.execute`.
            persist_shared: whether Spark keeps the rows of `shared` relations.
            progress: whether to show how far jobs are, as of `Relation.running`.
            allow: what the plan may read, write and define, as of `Relation.execute`.

        What fails inside says, as of `Relation.running`, which step of the plan failed. Raises as `execute` does.

        Example:
            >>> with sd.read_virtual([(1,), (2,)], {"n": "i64"}).to_plan().running() as (frame,):
            ...     frame.count()
            2
        """
        from substrait_dsl.fluent.execution import Running

        with error_context(verb="running"):
            require_flag("progress", progress)
            started = self._start_execution(session, tables, persist_shared=persist_shared, allow=allow)
        return Running("running", started, started.frames, progress=progress)

    def explain(
        self, session: Session | None = None, mode: ExplainMode | None = None, *, tables: Tables | None = None
    ) -> str:
        """Show the plan as an indented text, and below it Spark's plan of each root; nothing runs.

        Args:
            session: a session of Spark, as of `Relation.explain`.
            mode: what Spark shows, as of `Relation.explain`.
            tables: with a session, as of `execute`.

        Raises as `Relation.explain` does.

        Example:
            >>> orders.to_plan().explain() == orders.explain()
            True
        """
        from substrait_dsl.fluent.running import require_explained

        with error_context(verb="explain"):
            require_explained(session, mode, tables)
            text = str(self)
            if session is not None:
                text = self._start_execution(session, tables, is_preview=True).explain(text, mode)
            return ShownText(text)

    def _start_execution(
        self,
        session: Session | None,
        tables: Tables | None,
        *,
        persist_shared: bool = False,
        is_preview: bool = False,
        allow: Allowed | None = None,
    ) -> Execution:
        from substrait_dsl.fluent.execution import start

        return start(
            self._algebra, session, tables=tables, persist_shared=persist_shared, is_preview=is_preview, allow=allow
        )

    def _graph(self) -> Graph:
        from substrait_dsl.render.graphs import plan_graph

        return plan_graph(self._algebra, self._named_roots())

    def _repr_html_(self) -> str:
        from substrait_dsl.render.html import plan_html

        return plan_html(self._algebra, self._named_roots(), origin=self._origin, findings=self.findings)

    def _named_roots(self) -> list[rl.Rel]:
        """Return the roots under the names that the plan gives their columns."""
        return named_roots(self._algebra)

    def __str__(self) -> str:
        from substrait_dsl.render.text import explain_plan

        return explain_plan(self._algebra, self._named_roots())

    def __repr__(self) -> str:
        return f"Plan({', '.join(map(repr, self.roots))})"


def named_roots(plan: AlgebraPlan) -> list[rl.Rel]:
    """Return the roots of a plan under the names that it gives their columns."""
    return [_under_names(root) for root in plan.roots]


def _under_names(root: Root) -> rl.Rel:
    names = root.columns
    if names == root.input.schema.names:
        return root.input
    return rl.emit(root.input, range(len(names)), names)


def _verbs_of_roots(plan: AlgebraPlan) -> dict[str, str]:
    """Return what to write for a verb of relations on a plan."""
    verbs = [verb for verb in dir(Relation) if not verb.startswith("_")]
    trees = evaluated_trees(plan.trees)
    has_changes = any(tree.input.flags.has_changes for tree in trees)
    if not plan.roots:
        hint = "execute(spark), which makes the changes" if has_changes else "trees[0].relation for that of a subtree"
        return dict.fromkeys(verbs, f"{hint}: the plan returns no rows")
    if len(trees) == 1 or not has_changes:
        return {verb: f"roots[0].{verb}" for verb in verbs}
    # A root by itself has the rows that it has without the changes of other trees.
    why = "which evaluates all trees in order: a root by itself does not make the changes of the others"
    running = f"execute(spark)[0].{{}}(), or running(spark) in a with, {why}"
    going_on = (
        f"with_roots(*trees[:-1], trees[-1].{{}}(...)), then execute(spark) or running(spark) of that plan, {why}"
    )
    return {verb: (running if verb in ("collect", "show") else going_on).format(verb) for verb in verbs}


def _root_relation(root: Root, settings: PlanSettings) -> rl.Rel:
    """Return the relation of a root by itself, with what its plan says of itself."""
    rel = _under_names(root)
    # Settings say how often context variables are evaluated.
    if settings == DEFAULT_SETTINGS and not rel.flags.has_context_variables:
        return rel
    # A shared relation stays the one that it is, for the trees that use it, too.
    return (rl.Fetch(rel) if rel.shared else rel).with_settings(settings)
