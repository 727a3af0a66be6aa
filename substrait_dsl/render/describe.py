"""Descriptions of relations, as neutral records that any writer can print.

One small function per relation makes the record: a name, arguments as clauses (``on a = b``), the output columns if
they are not those of the input, and the relations below. A text, a diagram or a page are writers of such records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

import attrs

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.common import Hint
from substrait_dsl.algebra.node import Rel
from substrait_dsl.render.computed_columns import (
    aggregate_parts,
    expand_parts,
    project_parts,
    sort_clause,
    unnest_parts,
    window_parts,
)
from substrait_dsl.render.description_parts import (
    Clause,
    Column,
    ColumnRun,
    OutputColumn,
    Parts,
    condition_clause,
    copied_columns,
    declared_clause,
    extension_clauses,
    known_properties,
    message_text,
)
from substrait_dsl.render.exchange import exchange_parts
from substrait_dsl.render.expressions import ExpressionWriter, expression_text
from substrait_dsl.render.joins import (
    cross_parts,
    hash_join_parts,
    join_parts,
    merge_join_parts,
    nested_loop_join_parts,
)
from substrait_dsl.render.literals import name_text
from substrait_dsl.render.reads import read_parts
from substrait_dsl.render.scopes import Labels, Row, Scope, Subquery
from substrait_dsl.render.writes import ddl_parts, update_parts, write_parts

__all__ = ["Clause", "Column", "ColumnRun", "Description", "describe", "expression_text", "properties_clause"]

LONGEST_TITLE = 40
"""An argument longer than this is no part of a relation's title."""

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@attrs.frozen
class Description:
    """A relation, ready to be printed.

    `columns` is None if the output has the columns of the input. `subqueries` are those that the arguments mention, by
    the label that a writer then has to show with them.
    """

    name: str
    arguments: tuple[Clause, ...]
    columns: tuple[OutputColumn, ...] | None
    subqueries: tuple[Subquery, ...]
    inputs: tuple[Rel, ...]
    scopes: tuple[Scope | None, ...]
    """The scope that each input stands in, if it is part of a subquery or the right input of a lateral join."""

    @property
    def title(self) -> str:
        """The name, with the argument that says which one it is: ``read orders``, ``join left_mark``."""
        which = [str(clause) for clause in self.arguments[:1] if not clause.label]
        return " ".join([self.name, *(text for text in which if len(text) <= LONGEST_TITLE)])


def describe(rel: Rel, labels: Labels | None = None, outer: Scope | None = None) -> Description:
    """Return the description of a relation.

    Args:
        rel: any relation.
        labels: the labels that the plan's relations have so far; subqueries get theirs here.
        outer: the scope that the relation stands in, if it is part of a subquery.
    """
    writer = ExpressionWriter(Labels() if labels is None else labels, outer, rel.anchor)
    arguments, columns = _parts(rel, writer)
    return Description(
        _WORD.sub(" ", type(rel).__name__).lower(),
        (*(clause for clause in arguments if clause is not None), *_common_clauses(rel)),
        None if columns is None else tuple(columns),
        tuple(writer.subqueries),
        rel.inputs,
        _scopes(rel, outer),
    )


def _scopes(rel: Rel, outer: Scope | None) -> tuple[Scope | None, ...]:
    if isinstance(rel, r.LateralJoin):
        return outer, Scope(Row((rel.left.schema,)), rel.anchor, outer)
    return (outer,) * len(rel.inputs)


def properties_clause(rel: Rel) -> Clause:
    """Return the clause of a relation's ordering and distribution; an unknown one is left out."""
    known = known_properties(rel.properties, Row((rel.schema,)))
    if not rel.properties.ordering:
        known = ["unordered", *known]
    return Clause("", (f"[{'; '.join(known)}]",))


def _parts(rel: Rel, writer: ExpressionWriter) -> Parts:  # noqa: C901  # a closed union
    """Return the arguments and the output columns of a relation: one case per kind."""
    relation = r.as_union(rel.shown)
    match relation:
        case r.Read():
            return read_parts(relation, writer)
        case r.Filter():
            return (condition_clause("", relation.condition, Row((relation.input.schema,)), writer),), None
        case r.Sort():
            return (sort_clause("by", relation.keys, Row((relation.input.schema,)), writer),), None
        case r.Fetch():
            return _fetch(relation, writer), None
        case r.TopN():
            ties = Clause("", ("with ties",)) if relation.mode == "with_ties" else None
            by = sort_clause("by", relation.keys, Row((relation.input.schema,)), writer)
            return (*_fetch(relation, writer), ties, by), None
        case r.Project():
            return project_parts(relation, writer)
        case r.Emit():
            return (), copied_columns(relation, Row((relation.input.schema,)), relation.mapping)
        case r.Aggregate():
            return aggregate_parts(relation, writer)
        case r.Window():
            return window_parts(relation, writer)
        case r.Expand():
            return expand_parts(relation, writer)
        case r.Unnest():
            return unnest_parts(relation)
        case r.Set():
            primary = relation.relations[0].schema
            same = relation.schema == primary
            columns = None if same else copied_columns(relation, Row((primary,)), range(len(primary)))
            return (Clause("", (relation.op,)),), columns
        case r.Join() | r.LateralJoin():
            return join_parts(relation, writer)
        case r.HashJoin():
            return hash_join_parts(relation, writer)
        case r.MergeJoin():
            return merge_join_parts(relation, writer)
        case r.NestedLoopJoin():
            return nested_loop_join_parts(relation, writer)
        case r.Cross():
            return cross_parts(relation)
        case r.Exchange():
            return exchange_parts(relation, writer)
        case r.MergingCapture():
            return (Clause("", ("blocking",)) if relation.blocking else None,), None
        case r.SimpleCapture():
            return (), None
        case r.Write():
            return write_parts(relation)
        case r.Update():
            return update_parts(relation, writer)
        case r.Ddl():
            return ddl_parts(relation, writer)
        case r.ExtensionLeaf() | r.ExtensionSingle() | r.ExtensionMulti():
            declared = declared_clause(relation.declared, Row((relation.schema,)))
            columns = (Column(field.name, field.type) for field in relation.schema)
            return (Clause("", (message_text(relation.detail),)), declared), columns
        case _:
            assert_never(relation)


def _fetch(fetch: r.Fetch | r.TopN, writer: ExpressionWriter) -> tuple[Clause | None, ...]:
    row = Row((fetch.input.schema,))
    count = "all" if fetch.count is None else writer.text(fetch.count, row)
    offset = None if fetch.offset is None else Clause("offset", (writer.text(fetch.offset, row),))
    return Clause("", (count,)), offset


# --- what every relation may have


def _common_clauses(rel: Rel) -> Iterator[Clause]:
    if rel.common is None:
        return
    hint = tuple(_hint_items(rel.common.hint)) if rel.common.hint is not None else ()
    if hint:
        yield Clause("hint", hint)
    yield from extension_clauses(rel.common.own_extension)
    yield from extension_clauses(rel.common.extension, "common ")


def _hint_items(hint: Hint) -> Iterator[str]:
    if hint.alias is not None:
        yield f"alias {name_text(hint.alias)}"
    if hint.stats is not None and hint.stats.row_count is not None:
        yield f"{_count(hint.stats.row_count)} rows"
    if hint.stats is not None and hint.stats.record_size is not None:
        yield f"{_count(hint.stats.record_size)} bytes a row"
    if hint.output_names:
        yield f"names ({', '.join(map(name_text, hint.output_names))})"
    yield from (f"saves {computation.type} {computation.id}" for computation in hint.saved)
    yield from (f"loads {computation.type} {computation.id}" for computation in hint.loaded)


def _count(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)
