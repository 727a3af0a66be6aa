"""Make the changes of a plan: writes, updates and data definition, when it is executed.

Specification: https://substrait.io/relations/logical_relations/#write-operator and the two operators after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import Root
from substrait_dsl.algebra.relations import Change, Ddl, Update, Write
from substrait_dsl.errors import UnsupportedError, class_words
from substrait_dsl.spark.changes.definitions import define
from substrait_dsl.spark.changes.updates import update
from substrait_dsl.spark.changes.writes import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from substrait_dsl.spark.session.execution_context import ExecutionContext


def make_change(change: Change, execution: ExecutionContext) -> DataFrame:
    """Make a change whose input has no other changes; return its output.

    Raises:
        UnsupportedError: it is correlated, or Spark cannot make it.
        SchemaError: a table does not fit what the plan says of it.
        ExecutionError: Spark could not make the change, another writer came first, or there is no such table.
    """
    if change.free_anchors:
        raise UnsupportedError(f"{class_words(change)} that depends on an outer row cannot be made once")
    match change:
        case Write() as rel:
            return write(rel, execution)
        case Update() as rel:
            return update(rel, execution)
        case Ddl() as rel:
            if rel.view_definition is not None and rel.view_definition.flags.has_changes:
                raise UnsupportedError("a view cannot be defined by what changes a table")
            return define(rel, execution)
        case never:
            assert_never(never)


def rows_of(root: Root) -> Root | None:
    """Return the rows of a plan that can be computed without changing anything; None: there are none."""
    if not root.input.flags.has_changes:
        return root
    match root.input:
        case Write(input=rel) | Ddl(view_definition=Rel() as rel) if not rel.flags.has_changes:
            return Root.of(rel)
        case _:
            return None
