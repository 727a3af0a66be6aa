"""Set operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.dialects import require_same_fields
from substrait_dsl.sql_output.expressions import Outer, exists
from substrait_dsl.sql_output.names import distinct_names, identifier
from substrait_dsl.sql_output.queries import Select, to_tree
from substrait_dsl.sql_output.written import Written, fill

if TYPE_CHECKING:
    from sqlglot import exp

    from substrait_dsl.algebra.schema import NamedStruct
    from substrait_dsl.sql_output.relations import QueryWriter


def write_set(rel: rl.Set, outer: Outer, writer: QueryWriter) -> Select:
    """Write a set operation: its inputs between UNION, INTERSECT or EXCEPT."""
    from sqlglot import exp

    if not len(rel.schema):
        raise UnsupportedError("a set operation of rows without columns is not written as SQL")
    for types in zip(*(child.schema.types for child in rel.relations), strict=True):
        require_same_fields(types)
    if rel.op != "union_all":
        for type_ in rel.schema.types:
            writer.dialect.type_text(type_, is_ordered=False)
    operations: dict[str, tuple[Any, bool]] = {
        "union_all": (exp.Union, False),
        "union_distinct": (exp.Union, True),
        "intersection_multiset": (exp.Intersect, True),
        "intersection_multiset_all": (exp.Intersect, False),
        "minus_primary": (exp.Except, True),
        "minus_primary_all": (exp.Except, False),
    }
    if rel.op == "minus_multiset":
        return _without_what_all_have(rel, outer, writer)
    op = "intersection_multiset" if rel.op == "intersection_primary" else rel.op
    if op not in operations:
        raise UnsupportedError(f"the set operation {rel.op} is not written as SQL", hint="execute(session) runs it")
    operation, is_distinct = operations[op]
    names = distinct_names(rel.schema.names)
    if rel.op == "intersection_primary" and len(rel.relations) > 2:
        others = attrs.evolve(rel, relations=rel.relations[1:], op="union_all")
        return write_set(attrs.evolve(rel, relations=(rel.relations[0], others)), outer, writer)
    trees = [_input(child, names, outer, writer) for child in rel.relations]
    tree: exp.Query = trees[0]
    for other in trees[1:]:
        tree = operation(this=tree, expression=other, distinct=is_distinct)
    return select_from_union(tree, rel.schema, names)


def _without_what_all_have(rel: rl.Set, outer: Outer, writer: QueryWriter) -> Select:
    """Write the rows of the primary input that are not in all others, each as often as it is there."""
    from sqlglot import exp

    primary = writer.nested(writer.write(rel.relations[0], outer).unordered, outer, rel)
    others = rel.relations[1:]
    found = writer.write(others[0], outer) if len(others) == 1 else None
    if found is None:
        found = write_set(attrs.evolve(rel, relations=others, op="intersection_multiset"), outer, writer)
    other = writer.nested(found.unordered, outer, rel)
    tests = tuple(
        fill("{0} IS NOT DISTINCT FROM {1}", [column.tree, other_column.tree], {}, writer.dialect)
        for column, other_column in zip(primary.columns, other.columns, strict=True)
    )
    there = exists(to_tree(attrs.evolve(other, where=tests), writer.dialect))
    return attrs.evolve(primary.filtered(exp.Not(this=there)), names=tuple(rel.schema.names))


def select_from_union(tree: exp.Query | None, schema: NamedStruct, names: Sequence[str]) -> Select:
    """Return a query that puts others together, whose columns have these names inside."""
    from sqlglot import exp

    columns = tuple(
        Written(exp.Column(this=identifier(name)), field.type) for name, field in zip(names, schema, strict=True)
    )
    return Select(None, (), columns, tuple(schema.names), union=tree)


def _input(rel: rl.Rel, names: list[str], outer: Outer, writer: QueryWriter) -> exp.Query:
    select = writer.write(rel, outer)
    if select.union is not None or select.is_cut:
        select = writer.nested(select, outer, rel)
    return to_tree(select.unordered, writer.dialect, names)
