"""Queries as values in a row: a ``(map_values e b)`` in an expression is a column that collects the query's rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from substrait_dsl import functions
from substrait_dsl.algebra.expressions import Expression, FieldReference, NestedStruct
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.fluent.base import wrap_relation
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.expr import bound_expr
from substrait_dsl.fluent.scope import NO_ROW
from substrait_dsl.partiql.collected_lists import collect_list_of, materialize_element
from substrait_dsl.partiql.expressions import Id, MapValues, Pivot
from substrait_dsl.partiql.lowered import LoweredBindings, LoweredCollection
from substrait_dsl.partiql.lowered_values import CollectedList, Column
from substrait_dsl.partiql.node import Form, Node, ValueExpr, fields_of, form_of


def named_queries(expressions: Sequence[ValueExpr]) -> tuple[list[ValueExpr], dict[str, MapValues]]:
    """Replace each query that is not inside another one by a name; also return the queries by name."""
    queries: dict[str, MapValues] = {}

    def named(query: MapValues) -> Id:
        name = f"\0{len(queries)}"  # which nobody writes
        queries[name] = query
        return Id(name)

    found = [_replace(expression, named) for expression in expressions]
    return found, queries


def _replace(node: Any, named: Callable[[MapValues], Id]) -> Any:
    if isinstance(node, MapValues):
        return named(node)
    if isinstance(node, Pivot):
        return node
    changed: dict[str, Any] = {}
    for field in fields_of(type(node)):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            changed[field.name] = _replace(value, named)
        elif isinstance(value, tuple) and form_of(field) is not Form.DATA:
            changed[field.name] = tuple(_replace(child, named) for child in value)
    return attrs.evolve(node, **changed) if changed else node


def collect_query(values: LoweredCollection) -> LoweredBindings:
    """Return the values of a query as one row, whose variable ``""`` is the collection of them.

    Raises `UnsupportedError` if it depends on the row around whether they are a bag or a list.
    """
    collection_type = values.source.collection_type
    if collection_type is None:
        raise UnsupportedError("a query in a row over a list that may be null or missing is not lowered to Substrait")
    element = materialize_element(values.element, "the value of a query")
    is_nullable = element.type.nullable
    # The fold leaves out what is NULL.
    item = NestedStruct((element,), names=("value",)) if is_nullable else element
    rows, (column,) = values.source.with_columns(("value", item))
    rel = wrap_relation(rows.rel).aggregate(values=collect_list_of(column, values.source.order))._rel
    collected: Expression = FieldReference(0, rel.schema.types[0])
    if is_nullable:
        collected = bind(functions.transform(bound_expr(collected, None), lambda each: each["value"]), NO_ROW)
    return LoweredBindings(rel, "bag", {"": CollectedList(Column(collected), values.element, collection_type)})
