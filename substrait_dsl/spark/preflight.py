"""Find what an execution would refuse, without a session: the plan is lowered to SQL text that is never run.

It shares the lowering, the tables of functions and the guards of executions, so no rule is written twice. Tables and
files are assumed to have the columns that the plan declares. What only a session can decide is refused: whether a
change fits its table, and whether an optimizer can decorrelate a subquery.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

import attrs

from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.relations import Change, Exchange, IcebergTable, LocalFiles, NamedTable, Read, VirtualTable
from substrait_dsl.algebra.trees import Root
from substrait_dsl.errors import ExecutionError, SubstraitDslError, UnsupportedError, class_words
from substrait_dsl.spark.diagnostics.setting_predicates import Plan
from substrait_dsl.spark.diagnostics.settings import SETTINGS, Setting
from substrait_dsl.spark.execute import require_executable, require_known
from substrait_dsl.spark.expressions.context_variables import Context, now, with_values
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.lowering import MAX_ROWS_IN_TEXT, Lowering
from substrait_dsl.spark.relations.optimizers import unknown_subqueries
from substrait_dsl.spark.relations.output import guard_nullability
from substrait_dsl.spark.relations.partitions import require_partitions
from substrait_dsl.spark.relations.repetition import require_size
from substrait_dsl.spark.relations.tables import Item, Rows
from substrait_dsl.spark.relations.texts import TextTable
from substrait_dsl.spark.session.engines import Engine, write_for
from substrait_dsl.spark.session.execution_context import ExecutionContext
from substrait_dsl.spark.session.local import SETTINGS as OF_LOCAL_SESSIONS
from substrait_dsl.spark.session.source_map import note_plan, note_refused, recording
from substrait_dsl.spark.session.time_zone import TIME_ZONE
from substrait_dsl.spark.session.versions import Capability
from substrait_dsl.spark.sources.arrow_tables import ArrowTables
from substrait_dsl.spark.sources.files import require_files
from substrait_dsl.spark.sources.reads import as_inside
from substrait_dsl.spark.sources.virtual_tables import can_be_arrow

_LONGEST_TEXT = 4000
_MAX_CONDITIONS = 50
"""From how many characters, or filters, on a table that depends on no outer row gets a name in place of its text."""


@attrs.frozen
class Refused:
    """Something for which an execution would refuse a plan."""

    error: SubstraitDslError
    top: Rel | None = None
    """The tree of the plan that it is in; None: it concerns the plan as a whole."""
    rel: Rel | None = None
    """The relation of the tree."""
    part: Node | None = None
    """The expression or measure of the relation; None: it is all of it."""
    is_of_session: bool = False
    """Whether some session might accept it, which only that session can decide."""


@attrs.frozen
class Preflight:
    """The refusals and settings of an execution that are known without a session."""

    refused: tuple[Refused, ...]
    settings: tuple[Setting, ...]
    """The settings that matter to the plan and that Spark does not have by itself as the plan needs them."""


def preflight(plan: AlgebraPlan, engine: Engine) -> Preflight:
    """Find out what an execution would refuse of a plan, on any session of an engine.

    Args:
        plan: the plan.
        engine: `engines.SPARK` or `sail.SAIL`.
    """
    with write_for(engine):
        found = _preflight(plan, engine)
    for each in found.refused:  # which no exception has carried out of the block
        if isinstance(each.error, UnsupportedError):
            each.error.engine = engine.name
    return found


def _preflight(plan: AlgebraPlan, engine: Engine) -> Preflight:
    try:
        plan = with_values(plan.with_parameters_bound(), Context(now(), "UTC"))
        require_known(plan.settings.enhancement)
    except SubstraitDslError as error:
        return Preflight((Refused(error),), ())
    refused: list[Refused] = []
    settings: dict[str, Setting] = {}
    for tree in plan.trees:
        nodes = list(walk(tree.input))
        refused += _list_refusals(tree.input, tree.names if isinstance(tree, Root) else None, nodes, engine)
        needs = Plan(tree.input, nodes)
        settings |= {each.key: each for each in SETTINGS if _is_set_by_local_sessions(each) and each.applies_to(needs)}
    return Preflight(tuple(refused), tuple(settings.values()))


def _is_set_by_local_sessions(setting: Setting) -> bool:
    """Whether a session of Spark with default settings lacks a value that a local session sets."""
    return setting.key == TIME_ZONE or (
        setting.key in OF_LOCAL_SESSIONS and setting.default is not None and setting.default not in setting.values
    )


def _list_refusals(top: Rel, names: Sequence[str] | None, nodes: Sequence[Node], engine: Engine) -> Iterator[Refused]:
    """Yield the refusals of one tree."""
    try:
        require_executable(nodes, engine)
        require_size(top)
    except SubstraitDslError as error:
        yield Refused(error, top)
        return
    change = next((node for node in nodes if isinstance(node, Change)), None)
    if change is not None:
        yield Refused(_change_refusal(change, engine), top, change, is_of_session=engine.takes_changes)
        return
    with recording() as records:
        note_plan(top)
        lowering = _Preflight(_NoSession())
        lowering.lower_tree(top, names or top.schema.names)
        noted = records[0].refused
    for rel, subquery in unknown_subqueries(nodes, engine):
        yield Refused(_optimizer_refusal(engine), top, rel, subquery, is_of_session=True)
    for raised in lowering.errors:
        places = [node for each, node in noted if each is raised]  # inner ones first
        rel = next((node for node in places if isinstance(node, Rel)), top)
        part = places[0] if places and not isinstance(places[0], Rel) else None
        yield Refused(raised, top, rel, part)


def _change_refusal(change: Rel, engine: Engine) -> UnsupportedError:
    if not engine.takes_changes:
        return UnsupportedError(
            f"{engine.name} cannot run a plan that changes something, such as {class_words(change)}"
        )
    return UnsupportedError(
        f"whether {class_words(change)} can be made depends on what is there, which a session knows: "
        "execute refuses it there before anything is changed"
    )


def _optimizer_refusal(engine: Engine) -> UnsupportedError:
    return UnsupportedError(
        f"whether {engine.name} can make a join of a subquery that depends on an outer row in this way, only its "
        "optimizer knows: execute refuses it there",
        hint="compare columns of the outer row in filters near the top of the subquery, as in inner.a == outer.b",
    )


class _NoSession(ExecutionContext):
    """An execution context without a session."""

    has_session = False

    def __init__(self) -> None:
        super().__init__(cast("Any", None), ArrowTables({}, cast("Any", None)))

    def child(self) -> ExecutionContext:
        return self

    def has(self, capability: Capability) -> bool:
        return False  # as in the oldest version that plans run on

    def table(self, names: tuple[str, ...]) -> TextTable:
        """Return a table of these columns, under a name that nothing else has."""
        return TextTable(names, self.name(), self)


class _Preflight(Lowering):
    """Lowers a tree to text, and continues after a refusal."""

    execution: _NoSession

    def __init__(self, execution: ExecutionContext, outer: Mapping[int, tuple[str, ...]] | None = None) -> None:
        super().__init__(execution, outer or {})
        self.errors: list[SubstraitDslError] = []

    def for_subquery(self, outer: Mapping[int, tuple[str, ...]]) -> Lowering:
        inner = super().for_subquery(outer)
        assert isinstance(inner, _Preflight)
        inner.errors = self.errors
        return inner

    def lower_tree(self, top: Rel, names: Sequence[str]) -> None:
        """Lower a tree, and its columns as the output has them."""
        columns = self.lower(top).columns
        try:
            for column, type_, name in zip(columns, top.schema.types, names, strict=False):
                spark_sql_type(type_)
                guard_nullability(column, None, type_, f'column "{name}"')
        except SubstraitDslError as error:
            self.errors += [] if self.errors else [error]  # else the type is that of what is refused already

    def compute_first(self, rows: Rows) -> int:
        """Return some count or offset: the value is computed when the plan is executed."""
        return 1

    def _is_better_as_frame(self, rel: Rel) -> bool:
        return False

    def _lower_step(self, rel: Rel) -> Rows:
        try:
            rows = self._lower_relation(rel)
        except SubstraitDslError as error:
            note_refused(error, rel)
            self.errors.append(error)
            columns = self.execution.names(len(rel.schema))
            return Rows(self.execution.table(columns), columns)
        assert isinstance(rows.table, TextTable)
        is_short = len(rows.table.source) < _LONGEST_TEXT and len(rows.table.conditions) < _MAX_CONDITIONS
        if self.outer or is_short:
            return rows
        table = rows.table.closed
        named = attrs.evolve(self.execution.table(table.names), keys=table.keys, since_sorted=table.since_sorted)
        return Rows(named, rows.columns)

    def _lower_relation(self, rel: Rel) -> Rows:
        if isinstance(rel, Exchange) and not self.outer:
            require_partitions(rel, self)
        return super()._lower_relation(rel)

    def lower_source(self, rel: Read) -> Rows:
        """Return the declared columns of a source that only a session can look up."""
        match rel.definition:
            case LocalFiles(items=files):
                with suppress(ExecutionError):  # of a file that is not here, or not yet
                    require_files(files)
            case IcebergTable(metadata_uri=uri):
                raise UnsupportedError(f"whether the Iceberg table {uri} can be read, a session knows")
            case VirtualTable(rows=rows):
                literals = all(isinstance(value, Literal) for record in rows for value in record.fields)
                if not literals or len(rows) <= MAX_ROWS_IN_TEXT or not can_be_arrow(rel.base_schema.types):
                    return super().lower_source(rel)
            case NamedTable():
                pass
            case _:
                return super().lower_source(rel)
        types = rel.base_schema.types
        for type_ in types:
            spark_sql_type(type_)
        columns = self.execution.names(len(types))
        texts = (as_inside(f"c{number}", type_) for number, type_ in enumerate(types))
        table = TextTable((), self.execution.name(), self.execution)
        return Rows(table.select([Item(text, (name,)) for text, name in zip(texts, columns, strict=True)]), columns)
