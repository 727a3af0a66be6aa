"""Evaluate a plan on Spark: its trees in order, each of them once.

Spark computes rows lazily, so a read would see the table as it is when the rows are fetched. If a later change may
modify what a tree reads, the read is pinned before the change: an Iceberg table is read at its current snapshot, the
rows of anything else are checkpointed. A plan without changes pins nothing.

Specification: https://substrait.io/serialization/basics/ and "Plans" there.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.live_ranges import EvaluationOrder, PlacedChange, PlacedRead
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk
from substrait_dsl.algebra.relations import Change, Ddl, FilesTarget, NamedTable, Read, Write
from substrait_dsl.algebra.stability import SHARED_HINT, SHARED_ROWS
from substrait_dsl.algebra.trees import Root
from substrait_dsl.catalog.implementations import is_stable_on
from substrait_dsl.errors import UnsupportedError, class_words
from substrait_dsl.spark.catalog.scans import is_random
from substrait_dsl.spark.catalog.table_names import frame_if_there
from substrait_dsl.spark.changes.conflicts import Conflicts
from substrait_dsl.spark.changes.dispatch import make_change
from substrait_dsl.spark.changes.iceberg_snapshots import pin_to_snapshot
from substrait_dsl.spark.changes.statements import no_rows
from substrait_dsl.spark.diagnostics.explanations import ON_SPARK
from substrait_dsl.spark.expressions.types import to_spark
from substrait_dsl.spark.lowering import Lowering
from substrait_dsl.spark.relations.frames import FrameTable
from substrait_dsl.spark.relations.tables import Rows
from substrait_dsl.spark.session.change_outcomes import begin_change, note_outcome
from substrait_dsl.spark.session.engines import ENGINE, current_engine
from substrait_dsl.spark.session.execution_context import ExecutionContext
from substrait_dsl.spark.session.source_map import note_plan
from substrait_dsl.spark.sources.evaluated import Evaluated, checkpoint_rows, checkpoint_when_computed, rows_inside

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Lower = Callable[[Root, ExecutionContext], "DataFrame"]
"""Lowers a root to the DataFrame that its users see."""

_NUMBERS = count()


class Evaluation:
    """One evaluation of the trees of a plan, or a rehearsal of one.

    A rehearsal finds every refusal before anything is changed. It skips what uses a table that an earlier change of the
    plan creates or alters: its columns are not known yet.

    Args:
        order: the trees and the order of what is in them.
        execution: the execution context.
        lower_root: lowers a root in which changes and checkpoints are replaced by their results.
    """

    def __init__(self, order: EvaluationOrder, execution: ExecutionContext, lower_root: Lower) -> None:
        self._order = order
        self._execution = execution
        self._lower_root = lower_root
        self._conflicts = Conflicts(execution.spark, execution.arrow_tables)
        self._evaluated: dict[int, Node] = {}
        """The results of changes and of checkpointed shared relations, by the ids of these."""
        self._waiting: dict[int, Evaluated] = {}
        """The shared relations that are checkpointed once they are computed, and are not yet, by the numbers of their
        trees."""
        self._pinned: dict[int, dict[int, Node]] = {}
        """The replacements of pinned parts: by tree number, then by the id of the part."""
        self._pending_changes: list[Change] = []
        """In a rehearsal: the changes that create or alter a table."""

    def run(self) -> list[DataFrame]:
        """Evaluate the trees in order, and lower the roots: a DataFrame for each of them."""
        changes = deque(self._order.changes)
        numbers = range(len(self._order.trees))
        for number in numbers:
            while changes and changes[0].tree == number:
                change = changes.popleft()
                for read in self._order.live_reads(change):
                    self._pin(read, change)
                self._change(change)
            self._share(number)
        return [frame for number in numbers if (frame := self._lower(number)) is not None]

    # --- changes

    def _change(self, placed: PlacedChange) -> None:
        change = placed.change
        now = self._now(placed.tree, change)
        assert isinstance(now, Change)
        if self._is_unknown(now):
            frame = no_rows(to_spark(change.schema), self._execution.spark)
        else:
            note_plan(now)
            if not self._execution.is_rehearsal:
                begin_change()
            frame = make_change(now, self._execution.child())
            if not self._execution.is_rehearsal:
                note_outcome("made")
        self._evaluated[id(change)] = self._leaf(change, rows_inside(frame, change, self._execution))
        if isinstance(change, Ddl) or (
            isinstance(change, Write) and (change.op == "ctas" or isinstance(change.target, FilesTarget))
        ):
            if self._execution.is_rehearsal:
                self._pending_changes.append(change)
            else:
                self._conflicts.forget()

    def _is_unknown(self, rel: Rel) -> bool:
        """Whether, in a rehearsal, a relation reads or changes what the plan has yet to create."""
        if not self._pending_changes:
            return False
        if isinstance(rel, Change) and any(
            self._conflicts.are_of_one(pending, rel) for pending in self._pending_changes
        ):
            return True
        reads = [node for node in walk(rel) if isinstance(node, Read)]
        return any(self._conflicts.may_change(pending, read) for pending in self._pending_changes for read in reads)

    # --- what is kept

    def _pin(self, read: PlacedRead, change: PlacedChange) -> None:
        """Pin the rows of a read before a change, if the change may modify them."""
        if self._is_unknown(read.read) or not self._conflicts.may_change(change.change, read.read):
            return
        self._compute(read.tree, change)
        tree = self._order.trees[read.tree].input
        pinned = self._pinned.setdefault(read.tree, {})
        if id(tree) in self._evaluated or any(
            isinstance(pinned.get(id(rel)), Evaluated) for rel in self._order.enclosing_relations(read)
        ):
            return
        if not isinstance(change.change, Ddl):
            if id(read.read) in pinned:  # at a snapshot
                return
            if (then := pin_to_snapshot(read.read, self._execution)) is not None:
                pinned[id(read.read)] = then
                return
        rel = self._order.find_evaluated_before(read, change)
        if rel is None:
            raise UnsupportedError(
                f"{class_words(read.read)} with a correlated filter is evaluated before "
                f"{class_words(change.change)} that changes what it reads",
                hint="write the filter as a relation of its own, .filter(...)",
            )
        leaf = self._checkpoint(rel, self._lower_tree(self._now(read.tree, rel)))
        if rel is tree and rel.shared:
            self._evaluated[id(rel)] = leaf
        else:
            pinned[id(rel)] = leaf

    def _compute(self, tree: int, change: PlacedChange) -> None:
        """Checkpoint the waiting relations that depend on a tree and are needed after a change.

        None of them is persisted at the end: a client of Spark Connect cannot persist rows once their table is dropped.
        """
        for number in sorted(self._waiting):
            if not self._order.depends(number, tree):
                continue
            rows = self._waiting.pop(number).rows
            assert isinstance(rows.table, FrameTable)
            self._execution.leave_unpersisted(rows.table.frame)
            if self._order.is_needed_after(number, change):
                rel = self._order.trees[number].input
                self._evaluated[id(rel)] = self._checkpoint(rel, rows)

    def _checkpoint(self, rel: Rel, rows: Rows) -> Evaluated:
        return self._leaf(rel, rows if self._execution.is_rehearsal else checkpoint_rows(rows))

    def _share(self, number: int) -> None:
        """Checkpoint or persist a shared relation if its rows may differ each time, or if the caller asked for it."""
        rel = self._order.trees[number].input
        if not self._order.is_shared(number) or id(rel) in self._evaluated:
            return
        now = self._now(number, rel)
        if self._is_unknown(now):
            return
        if self._order.uses(number) > 1 and not _is_stable(now, self._execution):
            if not current_engine().has_checkpoints:
                raise UnsupportedError(f"{ENGINE} {SHARED_ROWS}", hint=f"{SHARED_HINT}; {ON_SPARK}")
            leaf = self._leaf(rel, checkpoint_when_computed(self._lower_tree(now)))
        elif self._execution.persist_shared:
            leaf = self._leaf(rel, self._persist(self._lower_tree(now)))
        else:
            return
        self._evaluated[id(rel)] = self._waiting[number] = leaf

    def _persist(self, rows: Rows) -> Rows:
        assert isinstance(rows.table, FrameTable)
        # Spark knows persisted rows by their plan: no other has this condition, so no other is given these rows.
        frame = rows.table.filtered.where(f"'{uuid.uuid4().hex}' IS NOT NULL")
        table = attrs.evolve(rows.table, frame=frame, conditions=())
        self._execution.persist_later(frame)
        return Rows(table, rows.columns)

    # --- the trees as they are now

    def _now(self, number: int, rel: Rel) -> Rel:
        """Return a tree, or a part of it, with the results in place of what is evaluated already."""
        done = dict(self._evaluated)
        for other in sorted(self._pinned.keys() - {number}):
            shared = self._order.trees[other].input
            if other < number and shared.shared and id(shared) not in done:
                done[id(shared)] = rebuild(shared, _as_it_is, done={**done, **self._pinned[other]})
        done.update(self._pinned.get(number, {}))
        return rebuild(rel, _as_it_is, done=done) if done else rel

    def _lower_tree(self, rel: Rel) -> Rows:
        note_plan(rel)
        return Lowering(self._execution.child()).lower_to_rows(rel)

    def _leaf(self, rel: Rel, rows: Rows) -> Evaluated:
        return Evaluated(next(_NUMBERS), rel, rows)

    def _lower(self, number: int) -> DataFrame | None:
        """The DataFrame of a root; None for a subtree, which is lowered only to see whether it can be."""
        tree = self._order.trees[number]
        now = self._now(number, tree.input)
        if self._is_unknown(now):
            return None
        if isinstance(tree, Root):
            return self._lower_root(attrs.evolve(tree, input=now), self._execution.child())
        if not self._order.uses(number) and not isinstance(now, Evaluated):
            self._lower_root(Root.of(now), self._execution.child())
        return None


def _as_it_is(node: Node) -> Node:
    return node


def _is_stable(rel: Rel, execution: ExecutionContext) -> bool:
    """Whether the rows are the same each time, as long as no table changes. A view may call random functions."""
    if not is_stable_on("spark", rel):
        return False
    for node in walk(rel):
        match node:
            case Read(definition=NamedTable(names=names)) if names not in execution.arrow_tables:
                frame = frame_if_there(names, execution.spark)
                if frame is not None and is_random(frame):
                    return False
    return True
