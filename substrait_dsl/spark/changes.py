"""What changes tables: writes, updates and data definition. They run when a plan is executed.

A change may stand anywhere in a plan, and gives rows to what stands above it: the count of an update, the records that
a write modified. Each is run once, inner ones first.
Specification: https://substrait.io/relations/logical_relations/#write-operator and the two operators after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.plan import Root
from substrait_dsl.algebra.relations import Ddl, NamedObject, NamedTable, Read, Update, VirtualTarget, Write
from substrait_dsl.errors import UnsupportedError, kind_words
from substrait_dsl.spark.definitions import define
from substrait_dsl.spark.lowering import Change, Lowering
from substrait_dsl.spark.types import to_spark
from substrait_dsl.spark.updates import update
from substrait_dsl.spark.writes import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from substrait_dsl.spark.workspace import Workspace


def changes_in(rel: Rel) -> list[Change]:
    """The changes in a plan, each of them once, those that others depend on first."""
    found: dict[int, Change] = {}
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(rel, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            if isinstance(node, Write | Update | Ddl):
                found[id(node)] = node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(list(node.children())))
    return list(found.values())


def require_made_once(roots: Sequence[Root]) -> None:
    """Raise `UnsupportedError` for a change that several roots of a plan share: each root runs on its own."""
    seen: dict[int, Root] = {}
    for root in roots:
        for change in changes_in(root.input):
            if seen.setdefault(id(change), root) is not root:
                raise UnsupportedError(
                    f"several roots of the plan share {kind_words(change)}, which would be made for each of them",
                    hint="execute it as a plan of its own, and read the table afterwards",
                )


def make_changes(root: Root, changes: Sequence[Change], space: Workspace) -> None:
    """Run the changes in a plan, and keep what they give in the workspace.

    Args:
        root: the plan.
        changes: those in it, as `changes_in` lists them.
        space: the workspace of its execution.

    Raises:
        UnsupportedError: something cannot be done, or the rest of the plan cannot be computed from it.
        SchemaError: a table does not fit what the plan says of it.
        ExecutionError: Spark could not make the change, another writer came first, or there is no such table.
    """
    for change in changes:
        if change.free_anchors:
            raise UnsupportedError(f"{kind_words(change)} that depends on a row outside cannot be run once")
        if isinstance(change, Ddl) and change.view_definition is not None and changes_in(change.view_definition):
            raise UnsupportedError("a view cannot be defined by what changes a table")
    if len(changes) > 1 or changes[-1] is not root.input:
        _rehearse(root, changes, space)
    for change in changes:
        space.changed[id(change)] = _made(change, space.apart())


def _rehearse(root: Root, changes: Sequence[Change], space: Workspace) -> None:
    """Have all that can be refused be refused before anything is changed.

    What uses a table that a change before it makes or alters is left out: there is no telling yet what it will be.
    """
    rehearsal = space.apart()
    rehearsal.is_rehearsal = True
    made: set[tuple[str, ...]] = set()
    for change in changes:
        if made.isdisjoint(_targets(change) | _read(change)):
            rehearsal.changed[id(change)] = _made(change, rehearsal.apart())
        else:
            rehearsal.changed[id(change)] = space.spark.createDataFrame([], to_spark(change.schema))
        if isinstance(change, Ddl) or (isinstance(change, Write) and change.op == "ctas"):
            made |= _targets(change)
    if changes[-1] is not root.input and made.isdisjoint(_read(root.input)):
        Lowering(rehearsal).lower_root(root)


def _targets(change: Change) -> set[tuple[str, ...]]:
    """The name of what a change is made of, its letters lower."""
    match change:
        case Write(target=NamedObject(names=names)) | Ddl(target=NamedObject(names=names)):
            pass
        case Write(target=VirtualTarget(name=name)):
            names = (name,)
        case Update(table=NamedTable(names=names)):
            pass
        case _:
            return set()
    return {tuple(map(str.lower, names))}


def _read(rel: Rel) -> set[tuple[str, ...]]:
    """The names of the tables that are read for a relation, their letters lower."""
    return {
        tuple(map(str.lower, node.definition.names))
        for node in walk(rel)
        if isinstance(node, Read) and isinstance(node.definition, NamedTable)
    }


def _made(change: Change, space: Workspace) -> DataFrame:
    match change:
        case Write() as rel:
            return write(rel, space)
        case Update() as rel:
            return update(rel, space)
        case Ddl() as rel:
            return define(rel, space)
        case never:
            assert_never(never)


def rows_of(root: Root) -> Root | None:
    """The rows that a plan computes, as far as they can be told without changing anything; None: it computes none."""
    changes = changes_in(root.input)
    if not changes:
        return root
    match root.input:
        case Write(input=rel) | Ddl(view_definition=Rel() as rel) if not changes_in(rel):
            return Root.of(rel)
        case _:
            return None
