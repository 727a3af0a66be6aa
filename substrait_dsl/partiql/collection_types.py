"""The collection type of expressions, a bag or a list, as far as it is known before evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never, cast

from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.partiql import bindings as b
from substrait_dsl.partiql import expressions as e
from substrait_dsl.partiql.lowered import Source, StoredTable
from substrait_dsl.partiql.node import BindingsExpr, ValueExpr
from substrait_dsl.partiql.values import CollectionType


def collection_type_of_bindings(expression: BindingsExpr, tables: Mapping[str, Source]) -> CollectionType | None:
    """Return the collection type of bindings; None, if it depends on rows."""
    match cast(b.AnyBindingsExpr, expression):
        case b.Scan(value=value):
            return collection_type_of_value(value, tables)
        case b.Filter(source=source) | b.Limit(source=source) | b.Offset(source=source) | b.MapLet(source=source):
            return collection_type_of_bindings(source, tables)
        case b.OrderBy():
            return "list"
        case b.CrossJoin() | b.Join() | b.GroupBy() | b.Unpivot():
            return "bag"
        case never:
            assert_never(never)


def collection_type_of_value(expression: ValueExpr, tables: Mapping[str, Source]) -> CollectionType | None:
    """Return the collection type of a scan of a value; None, if it depends on rows."""
    match cast(e.AnyValueExpr, expression):
        case e.Lit(value=value):
            return "list" if isinstance(value, tuple) else "bag"
        case e.ListExpr():
            return "list"
        case e.MapValues(source=source):
            return collection_type_of_bindings(source, tables)
        case e.Id(name=name) if name in tables:
            table = tables[name]
            return "list" if isinstance(table, tuple) and not isinstance(table, RelationBase | StoredTable) else "bag"
        case e.Call(function="dynamic", arguments=(same,)):
            return collection_type_of_value(same, tables)
        case e.Id() | e.Path() | e.Call(function="coalesce"):
            return None
        case e.BagExpr() | e.StructExpr() | e.Operator() | e.Call() | e.Pivot():
            return "bag"
        case never:
            assert_never(never)
