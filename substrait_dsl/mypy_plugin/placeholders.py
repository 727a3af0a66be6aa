"""What stands for the values of a program that is checked and not run: relations, expressions, measures of a type.

The verbs of the fluent API need no data, only schemas and types. So what a call gives is found out by making that very
call, with values that have the types which mypy has inferred: no rule is written twice.
"""

from __future__ import annotations

import itertools
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.catalog import Kind
from substrait_dsl.fluent.arguments import Resolved
from substrait_dsl.fluent.calls import FunctionCall, Measure, WindowFunction
from substrait_dsl.fluent.expr import DynExpr, ExprBase, bound, resolve
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.schemas import DynRow, Schema
from substrait_dsl.fluent.scope import NO_ROW, Scope

_NUMBERS = itertools.count()

NAMELESS = "\N{WHITE SQUARE}"
"""What a column is called whose name mypy does not know."""


def expression(kind: t.Type, name: str | None = None) -> DynExpr:
    """An expression of a type, about which nothing else is known but perhaps the name it has."""
    return bound(ex.DynamicParameter(kind, next(_NUMBERS)), None, name)


def relation(struct: NamedStruct) -> Relation[Any]:
    """A relation with these columns."""
    return Relation(Read(struct, NamedTable(("table",))))


def row(struct: NamedStruct) -> DynRow:
    """A row of these columns, as a lambda gets it."""
    return DynRow(struct, lambda position: expression(struct.fields[position].type, struct.fields[position].name))


class _KnownCall(FunctionCall):
    """A call of a function of which only the type of the result is known."""

    __slots__ = ("output_type",)

    def __init__(self, kind: Kind, name: str, output_type: t.Type) -> None:
        super().__init__(kind, name, (), {}, None, None)
        self.output_type = output_type

    def resolved(self, scope: Scope) -> Resolved:
        return ex.FunctionId("extension:substrait_dsl:mypy", "function"), (), self.output_type, ()


def measure(kind: t.Type, name: str = "this") -> Measure[Any, Any]:
    """An aggregate function with a result of a type."""
    return Measure(_KnownCall("aggregate", name, kind))


def window_function(kind: t.Type, name: str = "this") -> WindowFunction[Any, Any]:
    """A window function with a result of a type."""
    return WindowFunction(_KnownCall("window", name, kind))


def schema_class(name: str, struct: NamedStruct) -> type[Schema]:
    """A schema class with these columns."""
    return type(name, (Schema,), {"__annotations__": {field.name: field.type for field in struct}})


def result_type(value: object, receiver: object = None) -> t.Type | None:
    """The type of an expression or of what an aggregate or window function gives; None while it waits for a row.

    Columns of the relation that a method was called on are looked up in it.
    """
    scope = Scope("expression", (receiver._rel,)) if isinstance(receiver, Relation) else NO_ROW
    match value:
        case ExprBase() if value._node is not None:
            return value._node.type
        case ExprBase() if scope is not NO_ROW:
            return resolve(value, scope).type
        case Measure():
            return _call_type(value._call, scope)
        case WindowFunction():
            return _call_type(value.call, scope)
    return None


def _call_type(call: FunctionCall, scope: Scope) -> t.Type | None:
    waits = any(operand._node is None for operand in call.expressions())
    return None if waits else call.resolved(scope)[2]
