"""The walk over a plan: every relation is lowered once, inputs first, without recursion.

A `Lowering` makes DataFrames or SQL text. Subqueries need text. A pipeline may be either: as DataFrames, Spark analyses
any number of steps; as one SQL text, a few dozen, but in a fraction of the time. So a short plan becomes one text, and
a longer one is split into fragments, each of them a text that refers to the DataFrames of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.joined_groups import joined_groups
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.relations import as_union
from substrait_dsl.errors import UnsupportedError, class_words
from substrait_dsl.spark.relations import groups, joins, lateral, partitions, sets, single_input
from substrait_dsl.spark.relations.column_pruning import columns_outside, parents_first, relations_inside, used_columns
from substrait_dsl.spark.relations.frames import FrameTable
from substrait_dsl.spark.relations.output import is_plain, output, plain_items
from substrait_dsl.spark.relations.physical_joins import as_join
from substrait_dsl.spark.relations.repetition import require_size
from substrait_dsl.spark.relations.sql_fragments import Fragments
from substrait_dsl.spark.relations.tables import Item, Rows, Table, items
from substrait_dsl.spark.relations.texts import TextTable
from substrait_dsl.spark.session.engines import ENGINE
from substrait_dsl.spark.session.execution_context import ExecutionContext
from substrait_dsl.spark.session.source_map import note_columns, note_refused
from substrait_dsl.spark.sources import reads
from substrait_dsl.spark.sources.evaluated import Evaluated

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from substrait_dsl.algebra.plan import Root

MAX_RELATIONS_PER_STATEMENT = 64
"""The most relations in one text. Spark is slower with longer ones, and its parser fails at a few hundred."""

MAX_CONNECT_STEPS = 16
"""The most steps that a client of Spark Connect sends as one plan. Spark analyses all of it every time it is sent,
fails at about a hundred steps with functions in them, and cannot read more than a few hundred of any kind."""

MAX_ROWS_IN_TEXT = 64
"""The most rows of a virtual table that become SQL text."""


NotExecutable = rl.ExtensionLeaf | rl.ExtensionSingle | rl.ExtensionMulti
"""The relations that cannot be executed on Spark."""


class Lowering:
    """Lowers relations to DataFrames, or to SQL text inside the scope of enclosing rows."""

    def __init__(self, execution: ExecutionContext, outer: Mapping[int, tuple[str, ...]] | None = None) -> None:
        """Begin a walk that makes SQL text with `outer`, the columns of enclosing rows by anchor; else DataFrames."""
        self.execution = execution
        self.outer = outer or {}
        self.as_text = outer is not None
        self.is_short = False
        """Whether all that is lowered here is known to be fit for one SQL text."""
        self.is_fragment = False
        """Whether this lowers a fragment: all its relations are fit for text, though not all in their subqueries."""
        self.fragments: Fragments | None = None
        """How the plan is split into SQL fragments; None: it is lowered step by step."""
        self.main = self
        """The lowering that makes DataFrames: uncorrelated parts of a subquery may be lowered there."""
        self.exact_limits: set[int] = set()
        """The fetches inside correlated subqueries, by their ids, that may be a LIMIT."""
        self.lookups: dict[int, tuple[Node, bool]] = {}
        """By the id of a node: the node, and whether rows are looked up in it or below it. A cache."""
        self._done: dict[int, Rows] = {}
        self._steps: dict[int, int] = {}
        """From how many steps a relation's DataFrame is made, since its plan was last cut at a view."""
        self._steps_inside = 0
        """The number of steps inside the subqueries of the relation that is being lowered."""

    def for_subquery(self, outer: Mapping[int, tuple[str, ...]]) -> Lowering:
        """Return a lowering to SQL text of a subquery that sees these columns of enclosing rows, by anchor."""
        inner = type(self)(self.execution, outer)
        inner.main = self.main
        inner.lookups = self.lookups
        inner.is_short = self.is_short
        return inner

    def __getitem__(self, rel: Rel) -> Rows:
        """Return the rows that a relation was lowered to."""
        return self._done[id(rel)]

    def find_rows(self, rel: Rel) -> Rows | None:
        """Return the rows that a relation below an input was lowered to, if it is part of this walk."""
        return self._done.get(id(rel))

    def lower(self, rel: Rel) -> Rows:
        """Lower a relation, after its inputs."""
        stack = [rel]
        while stack:
            current = stack[-1]
            if id(current) in self._done:
                stack.pop()
            elif self._is_better_as_frame(current):
                self._done[id(current)] = self._attach_frame(self.main.lower(current))
                self.main._steps_inside += self.main._steps[id(current)]
            elif waiting := [child for child in self._prerequisites(current) if id(child) not in self._done]:
                stack.extend(waiting)
            else:
                try:
                    self._done[id(current)] = rows = self._lower_step(current)
                except UnsupportedError as error:
                    note_refused(error, current)
                    raise
                note_columns(current.shown, rows.columns)
        return self._done[id(rel)]

    def _lower_step(self, rel: Rel) -> Rows:
        """Lower one relation, or the fragment that ends with it.

        If the plan becomes too deep for a client of Spark Connect, it is cut at a view.
        """
        if self.as_text:
            self.main._steps_inside += 1
            return self._lower_relation(rel)
        if self._ends_fragment(rel):
            self._steps[id(rel)] = 1
            return self._lower_fragment(rel)
        steps_around, self._steps_inside = self._steps_inside, 0
        rows = self._lower_relation(rel)
        steps_below = max((self._steps[id(child)] for child in self._required_inputs(rel)), default=0)
        steps = steps_below + self._steps_inside + 1
        self._steps_inside = steps_around
        if self.execution.is_remote and steps >= MAX_CONNECT_STEPS and isinstance(rows.table, FrameTable):
            frame = self.execution.as_view(rows.table.filtered)
            rows, steps = Rows(attrs.evolve(rows.table, frame=frame, conditions=()), rows.columns), 0
        self._steps[id(rel)] = steps
        return rows

    def _is_better_as_frame(self, rel: Rel) -> bool:
        """Whether a relation becomes a DataFrame that the text refers to, rather than a part of the text."""
        if not self.as_text or self.is_short or self.is_fragment or rel.free_anchors:
            return False
        return not self._is_short(rel, MAX_ROWS_IN_TEXT)

    def _is_short(self, rel: Rel, most_rows: int) -> bool:
        """Whether a relation can become one SQL text: it is small, and its reads can be text.

        An exchange cannot: SQL text has no partitions. Nor can an evaluated relation, which is rows.
        """
        size = 0
        stack = [rel]
        while stack:
            current = stack.pop()
            size += 1
            if size > MAX_RELATIONS_PER_STATEMENT or isinstance(current, rl.Exchange | Evaluated):
                return False
            if isinstance(current, rl.Read) and not reads.can_be_text(current, most_rows, self.execution.arrow_tables):
                return False
            stack.extend(relations_inside(current))
        return True

    def _ends_fragment(self, rel: Rel) -> bool:
        """Whether a fragment of the plan ends with a relation, and becomes one SQL text."""
        return self.fragments is not None and self.fragments.is_text(rel)

    def _lower_fragment(self, rel: Rel) -> Rows:
        """Lower a fragment of the plan as one SQL text, and make it a DataFrame."""
        lowering = self.for_subquery({})
        lowering.is_fragment = True
        for edge in self._prerequisites(rel):
            rows = self[edge]
            assert isinstance(rows.table, FrameTable)
            source = self.execution.register_frame(rows.table.filtered)
            table = TextTable(
                rows.table.names, source, self.execution, keys=rows.table.keys, since_sorted=rows.table.since_sorted
            )
            lowering._done[id(edge)] = Rows(table, rows.columns)
        table, columns = lowering.lower_to_text(rel)
        return self._run_text(table, columns)

    def _run_text(self, table: TextTable, columns: tuple[str, ...]) -> Rows:
        """Make a DataFrame of an SQL text, with these columns and those that it is sorted by."""
        select_items = items((*columns, *table.order))
        names = tuple(item.text for item in select_items)
        frame = self.execution.sql(table.query(select_items))
        return Rows(FrameTable(names, frame, self.execution, keys=table.keys, since_sorted=table.since_sorted), columns)

    def _needs_frame(self, rel: Rel) -> bool:
        """Whether a relation cannot be part of a text."""
        return isinstance(rel, NotExecutable | Evaluated | rl.Exchange) or (
            isinstance(rel, rl.Read) and not reads.can_be_text(rel, 0, self.execution.arrow_tables)
        )

    def lower_root(self, root: Root) -> DataFrame:
        """Lower a root to the DataFrame that its users see: in one text, or step by step."""
        if not self._prepare_one_text(root.input):
            return output(partitions.sort_as_declared(root.input, self.lower(root.input)), root)
        rows = partitions.sort_as_declared(root.input, Rows(*self._text_lowering().lower_to_text(root.input)))
        table, columns = rows.table, rows.columns
        assert isinstance(table, TextTable)
        if is_plain(root):
            return self.execution.sql(table.query_in_order(plain_items(columns, root)))
        keys = table.keys_to_restore
        select_items = items((*columns, *(name for name, _ in keys)))
        frame = self.execution.sql(table.query(select_items))
        names = tuple(item.text for item in select_items)
        return output(Rows(FrameTable(names, frame, self.execution, keys=keys), columns), root)

    def _prepare_one_text(self, rel: Rel) -> bool:
        """Prepare to lower a tree; return whether it becomes one SQL text."""
        require_size(rel)
        relations = parents_first(rel)
        self.execution.used = used_columns(relations)
        self.execution.joined_groups = joined_groups(relations, relations_inside)
        if not self._is_short(rel, 0):
            if not self.execution.is_remote:
                self.fragments = Fragments(relations, MAX_RELATIONS_PER_STATEMENT, self._needs_frame)
            return False
        reads.look_up([each for each in relations if isinstance(each, rl.Read)], self.execution)
        return True

    def _text_lowering(self) -> Lowering:
        """Return a lowering that makes one text of a tree."""
        lowering = self.for_subquery({})
        lowering.is_short = True
        return lowering

    def lower_to_rows(self, rel: Rel) -> Rows:
        """Lower a relation to a DataFrame with the generated names that columns have inside a plan."""
        rows = Rows(*self._text_lowering().lower_to_text(rel)) if self._prepare_one_text(rel) else self.lower(rel)
        return self._run_text(rows.table, rows.columns) if isinstance(rows.table, TextTable) else rows

    def write_query(self, root: Root) -> str | None:
        """Write a root as one query over tables of a catalog alone; None if that is not possible."""
        if not self._is_short(root.input, MAX_ROWS_IN_TEXT) or not is_plain(root):
            return None
        self.execution.used = used_columns(parents_first(root.input))
        table, columns = self._text_lowering().lower_to_text(root.input)
        text = table.query(plain_items(columns, root))
        return None if self.execution.registered_frames(text) else text

    def lower_to_text(self, rel: Rel) -> tuple[TextTable, tuple[str, ...]]:
        """Lower a relation to SQL text; return the table, and which of its columns the relation's columns are."""
        rows = self.lower(rel)
        assert isinstance(rows.table, TextTable)
        return rows.table, rows.columns

    def outer_columns(self, *nodes: Node) -> list[str]:
        """Return the columns of the outer row that relations and expressions depend on."""
        return [self.outer[anchor][position] for anchor, position in columns_outside(nodes, self.outer.keys())]

    def make_one_row(self, select_items: Sequence[Item]) -> Table:
        """Return a table of one row, with the values of the items."""
        if self.as_text:
            return TextTable((), "(SELECT 1)", self.execution).select(select_items)
        return FrameTable((), self.execution.spark.range(1), self.execution).select(select_items)

    def lower_source(self, rel: rl.Read) -> Rows:
        """Return the columns that a read finds, before it filters them."""
        return reads.lower_source(rel, self)

    def compute_first(self, rows: Rows) -> Any:
        """Compute the value of the first column of the only row; None if there is no row."""
        assert isinstance(rows.table, FrameTable)
        found = rows.table.filtered.head()
        return None if found is None else found[0]

    def _attach_frame(self, rows: Rows) -> Rows:
        """Make a DataFrame available to SQL text, with new column names: the outer scope may have the old ones, too."""
        assert isinstance(rows.table, FrameTable)
        return Rows(rows.table.as_text, rows.columns).with_fresh_names()

    def _required_inputs(self, rel: Rel) -> tuple[Rel, ...]:
        """Return the inputs that are lowered before a relation is."""
        if isinstance(rel, NotExecutable):
            return ()  # refused before its inputs are lowered, which may depend on it
        return joins.probe_inputs(rel, correlated=bool(self.outer))

    def _prerequisites(self, rel: Rel) -> Sequence[Rel]:
        """Return what must be lowered before a relation, or before the fragment that ends with it."""
        if self.fragments is not None and self._ends_fragment(rel):
            return self.fragments.edges(rel, self._required_inputs)
        return self._required_inputs(rel)

    def _lower_relation(self, rel: Rel) -> Rows:  # noqa: C901  # a closed union
        if isinstance(rel, Evaluated):
            return rel.rows_in(self.execution)
        known = as_union(rel)
        if isinstance(known, NotExecutable):
            raise UnsupportedError(f"{class_words(known)} cannot be executed on {ENGINE}")
        match known:
            case rl.Read() as read:
                return reads.lower_read(read, self)
            case rl.Filter() as filter_:
                return single_input.lower_filter(filter_, self)
            case rl.Sort() as sort:
                return single_input.lower_sort(sort, self)
            case rl.Project() as project:
                return single_input.lower_project(project, self)
            case rl.Emit() as emit:
                return single_input.lower_emit(emit, self)
            case rl.Fetch() as fetch:
                return single_input.lower_fetch(fetch, self)
            case rl.TopN() as top_n:
                return single_input.lower_top_n(top_n, self)
            case rl.Window() as window:
                return single_input.lower_window(window, self)
            case rl.Expand() as expand:
                return single_input.lower_expand(expand, self)
            case rl.Unnest() as unnest:
                return single_input.lower_unnest(unnest, self)
            case rl.Exchange() as exchange:
                return partitions.lower_exchange(exchange, self)
            case rl.MergingCapture() as capture:
                return partitions.lower_merging_capture(capture, self)
            case rl.SimpleCapture(input=child):
                return self[child]
            case rl.Aggregate() as aggregate:
                return groups.lower_aggregate(aggregate, self)
            case rl.Set() as set_:
                return sets.lower_set(set_, self)
            case rl.Join() as join:
                return joins.lower_join(join, self)
            case rl.HashJoin() | rl.MergeJoin() | rl.NestedLoopJoin() as join:
                return joins.lower_join(as_join(join), self)
            case rl.LateralJoin() as join:
                return lateral.lower_lateral_join(join, self)
            case rl.Write() | rl.Update() | rl.Ddl() as change:
                raise AssertionError(f"{class_words(change)} is evaluated before what stands on it is lowered")
            case rl.Cross() as cross:
                return joins.lower_cross(cross, self)
            case never:
                assert_never(never)
