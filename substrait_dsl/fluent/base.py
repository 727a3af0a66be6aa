"""The base class of relations, whatever their columns and verbs, and how verbs build new ones."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from typing_extensions import TypeVar

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.pickling import Picklable, Recipe
from substrait_dsl.algebra.properties import Properties
from substrait_dsl.algebra.trees import Root
from substrait_dsl.algebra.types import Boolean, Null
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError, UnknownAttributeError, error_context, require
from substrait_dsl.fluent.arguments import RelationLike
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.diagrams import Diagrams
from substrait_dsl.fluent.expr import Expr, ExprBase
from substrait_dsl.fluent.guidance import no_attribute, relation_hint
from substrait_dsl.fluent.relation_schema import RelationSchema
from substrait_dsl.fluent.schemas import DynRow, Schema
from substrait_dsl.fluent.shown_text import ShownText
from substrait_dsl.fluent.table_arguments import Tables
from substrait_dsl.fluent.truth_values import NoTruthValue

if TYPE_CHECKING:
    from pathlib import Path

    from substrait_dsl.algebra.capabilities import Capabilities
    from substrait_dsl.algebra.plan import AlgebraPlan
    from substrait_dsl.analysis.column_lineage import Lineage
    from substrait_dsl.engines.report import Report
    from substrait_dsl.fluent.execution import Session
    from substrait_dsl.fluent.plan import Plan
    from substrait_dsl.fluent.relation import Relation
    from substrait_dsl.partiql.value_builder import Values
    from substrait_dsl.render.graphs import Graph
    from substrait_dsl.spark.session.explain import ExplainMode

# A bare `Relation` takes a relation of any rows, and gives rows whose columns are not declared.
S = TypeVar("S", bound=Schema, covariant=True, default=DynRow | Any)
S2 = TypeVar("S2", bound=Schema)

Condition = Expr[Boolean, Null]
Count = int | ExprBase | None


class RelationBase(Diagrams, Picklable, RelationLike):
    """The base class of `Relation`, whatever its columns."""

    __slots__ = ("_rel",)

    def __init__(self, rel: rl.Rel) -> None:
        require(rel, rl.Rel, "a relation is made by read_named and its like, or by a verb of another one")
        self._rel = rel

    def _recipe(self) -> Recipe:
        if self._rel.free_anchors or self._rel.flags.parameter_uses:
            raise InvalidArgumentError(
                "a relation that refers to the row of a lambda cannot be pickled: it is a row only inside the lambda",
                hint="pickle the relation that the verb around it gives",
            )
        return wrap_relation, (self._rel,)

    @property
    def schema(self) -> RelationSchema:
        """The columns: names, types and nullability, in order."""
        return RelationSchema(self._rel.schema)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._rel.schema.names

    def _ipython_key_completions_(self) -> list[str]:  # what notebooks offer after rel["
        return list(self.columns)

    @property
    def properties(self) -> Properties:
        """The known ordering and distribution of the rows."""
        return self._rel.properties

    def explain(
        self,
        session: Session | None = None,
        mode: ExplainMode | None = None,
        *,
        tables: Tables | None = None,
        properties: bool = False,
    ) -> str:
        """Show the plan as an indented text, and Spark's own plan below it; nothing runs.

        Args:
            session: a session of Spark, to show also what Spark makes of the plan, and where the names in that come
                from.
            mode: what Spark shows, as of ``DataFrame.explain``: ``"simple"`` (the physical plan), ``"extended"``,
                ``"codegen"``, ``"cost"`` or ``"formatted"``.
            tables: with a session, as of `execute`.
            properties: whether to show each step's ordering and distribution.

        Returns:
            A text that shows itself: at a prompt and in a cell it needs no ``print``. Raises `InvalidChoiceError` for
            another mode; with a session also as `execute` does.

        Example:
            >>> orders.sort("id").explain(properties=True)
            sort by id asc nulls first [ordered by id asc nulls first]
              read orders -> id: i64, customer: i64, price: fp64? [unordered]
        """
        from substrait_dsl.fluent.execution import start
        from substrait_dsl.fluent.running import require_explained
        from substrait_dsl.render.text import explain

        with error_context(verb="explain"):
            require_flag("properties", properties)
            require_explained(session, mode, tables)
            text = explain(self._rel, properties=properties)
            if session is not None:
                text = start(self._plan(), session, tables=tables, is_preview=True).explain(text, mode)
            return ShownText(text)

    def lineage(self) -> Lineage:
        """Trace the columns to those of the tables and files that they come from; nothing runs.

        Returns:
            For each column the source columns that its values come from, and those that decide which value it has; and
            those that decide which rows there are. Of a write or an update, it is about the columns that it writes.

        Specification: none; the words are those of OpenLineage's column lineage.

        Example:
            >>> print(orders.group_by("customer").agg(total=lambda o: f.sum(o.price)).lineage())
            customer: orders.customer (identity)
            total: orders.price (aggregation)
            rows: orders.customer (group_by)
        """
        from substrait_dsl.analysis.trace import trace_columns

        with error_context(verb="lineage"):
            return trace_columns(self._rel)

    def _plan(self) -> AlgebraPlan:
        from substrait_dsl.fluent.trees import plan_of

        return plan_of([Root.of(self._rel)])

    def to_plan(self) -> Plan:
        """Make the Substrait plan that returns this relation.

        What is made of the root of a plan that was read keeps what that plan says of itself: the values of parameters,
        the evaluation mode, an enhancement. Raises `SchemaError` for a relation that only makes sense inside another
        one's subquery. Specification: ``Plan``.

        Example:
            >>> orders.to_plan() == sd.Plan(orders)
            True
        """
        from substrait_dsl.fluent.plan import Plan

        return Plan(self)

    def check(self, engine: str | Path | Capabilities) -> Report:
        """Say what an engine does with the plan of this relation, before anything is sent.

        Args:
            engine: the name of an engine, the path of a profile or of a dialect file, or `Capabilities`, as of
                `Plan.check`.

        Returns:
            The verdict, and findings; it is true unless the plan is refused. Raises as `Plan.check` does.

        Specification: ``dialect_schema.yaml``.

        Example:
            >>> orders.check("duckdb").verdict
            'runs'
        """
        with error_context(verb="check"):
            return self.to_plan().check(engine)

    def as_value(self, name: str | None = None) -> Values:
        """Make a value of PartiQL's algebra: the rows as a bag of structs.

        Args:
            name: what expressions of the algebra call it; by default the name of the table that the relation reads.

        Raises `InvalidArgumentError` without a name for a relation that is no read of a named table.

        Example:
            >>> orders.as_value()
            Values((id orders))
        """
        from substrait_dsl.partiql.tables import as_value

        return as_value(self, name)

    if TYPE_CHECKING:  # a checker must refuse ``in``
        __contains__: None
    else:  # and must not take every name for a verb

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__"):
                raise AttributeError(name)
            if name in self._rel.schema.names:
                raise UnknownAttributeError(
                    f'a relation has no "{name}"', names=[name], hint=f"its column is rel.c.{name}"
                )
            raise no_attribute("a relation", name, "relation", dir(type(self)), _members_of_plans)

        def __contains__(self, item: object) -> NoReturn:
            raise TypeMismatchError("a relation is not a container", hint="write x.is_in(relation)")

        def __len__(self) -> NoReturn:  # a checker must refuse it
            raise TypeMismatchError(
                "a relation has no length",
                hint="aggregate(n=functions.count()).collect()[0].n counts the rows, len(rel.columns) the columns",
            )

    def _graph(self) -> Graph:
        from substrait_dsl.render.graphs import relation_graph

        return relation_graph(self._rel)

    def _repr_html_(self) -> str:
        from substrait_dsl.render.html import relation_html

        return relation_html(self._rel)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"Relation({self._rel.schema})"

    def __bool__(self) -> NoTruthValue:
        raise TypeMismatchError("a relation has no truth value", hint="exists(relation) tests for rows")


def wrap_relation(rel: rl.Rel) -> Relation[Any]:
    """Return the relation that people get for a relation of the algebra."""
    from substrait_dsl.fluent.relation import Relation

    return Relation(rel)


def _members_of_plans() -> dict[str, str]:
    """Return the members that only plans have, and what to write for them on a relation."""
    from substrait_dsl.fluent.plan import Plan
    from substrait_dsl.fluent.relation import Relation

    members: dict[str, str] = {}
    for name in dir(Plan):
        if name.startswith("_") or hasattr(Relation, name):
            continue
        called = f"{name}(...)" if callable(getattr(Plan, name)) else name
        is_maker = isinstance(inspect.getattr_static(Plan, name), classmethod)
        members[name] = f"substrait_dsl.Plan.{called}" if is_maker else f"to_plan().{called}"
    return members


def document_hint(value: object) -> str | None:
    """Return the hint for a plan, or a tree of one, in place of a relation."""
    from substrait_dsl.fluent.plan import Plan
    from substrait_dsl.fluent.trees import Subtree

    if isinstance(value, Plan):
        return "the trees of a plan are *plan.trees, the relations that it returns plan.roots"
    return "the relation of a subtree is subtree.relation" if isinstance(value, Subtree) else None


def rel_of(value: object) -> rl.Rel:
    """Return the relation of the algebra that a verb was given. Raises `InvalidArgumentError` for anything else."""
    if isinstance(value, RelationBase):
        return value._rel
    is_list = isinstance(value, list | tuple) and any(isinstance(each, RelationBase) for each in value)
    hint = "give them one by one: *[...]" if is_list else document_hint(value) or relation_hint(value)
    raise InvalidArgumentError("expected a relation", got=value, hint=hint)


def table_name(name: Any) -> tuple[str, ...]:
    """Return the parts of a table's name. Raises `InvalidArgumentError` for what is no name."""
    if isinstance(name, str):
        return (name,)
    if isinstance(name, Sequence) and all(isinstance(part, str) for part in name):
        return tuple(name)
    raise InvalidArgumentError("the name of a table is a str or a tuple of str", got=name, hint=relation_hint(name))
