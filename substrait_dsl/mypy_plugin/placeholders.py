"""Placeholders for the values of a program that is checked and not run: relations, expressions, measures of a type.

The verbs of the fluent API need schemas and types, no data. So the type of a call is inferred by making that very call,
with values of the types that mypy has inferred: no rule is written twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.catalog import Kind
from substrait_dsl.errors import SchemaError, SubstraitDslError
from substrait_dsl.fluent.arguments import Resolved
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.calls import FunctionCall, Measure, WindowFunction
from substrait_dsl.fluent.computed_measures import ComputedMeasure
from substrait_dsl.fluent.expr import DynExpr, ExprBase, bound_expr
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.schemas import DynRow, Schema
from substrait_dsl.fluent.scope import Scope

FIRST_PARAMETER = 1_000_000_000
_NUMBERS = itertools.count(FIRST_PARAMETER)

NAMELESS = "\N{WHITE SQUARE}"
"""The name of a column whose name mypy does not know."""


_NO_TABLE = NamedTable(("table",))
_UNKNOWN_FUNCTION = ex.FunctionId("extension:substrait_dsl:mypy", "function")


def is_nameless(names: Iterable[str]) -> bool:
    """Whether one of some names, or a part of it, is unknown."""
    return any(NAMELESS in name for name in names)


def make_expression(type_: t.Type, name: str | None = None) -> DynExpr:
    """Return an expression of which only the type is known, and perhaps the name."""
    return bound_expr(ex.DynamicParameter(type_, next(_NUMBERS)), None, name)


def make_relation(struct: NamedStruct) -> Relation[Any]:
    """Return a relation of which only the columns are known."""
    return Relation(Read(struct, _NO_TABLE))


def is_placeholder(relation: Relation[Any]) -> bool:
    """Whether a relation is a placeholder, of which only the columns are known."""
    return isinstance(relation._rel, Read) and relation._rel.definition is _NO_TABLE


def is_part_unknown(node: Node) -> bool:
    """Whether a placeholder stands for a relation, an expression or a measure, of which the parts are not known."""
    match node:
        case Read(definition=definition):
            return definition is _NO_TABLE
        case ex.DynamicParameter(reference=number):
            return number >= FIRST_PARAMETER
    return getattr(node, "function", None) is _UNKNOWN_FUNCTION


def make_row(struct: NamedStruct) -> DynRow:
    """Return a row with some columns, as a lambda gets it."""
    return DynRow(struct, lambda position: make_expression(struct.fields[position].type, struct.fields[position].name))


class _KnownCall(FunctionCall):
    """A call of a function of which only the output type is known."""

    __slots__ = ("output_type",)

    def __init__(self, kind: Kind, name: str, output_type: t.Type) -> None:
        super().__init__(kind, name, (), {}, None, None)
        self.output_type = output_type

    def resolve_in(self, scope: Scope) -> Resolved:
        return _UNKNOWN_FUNCTION, (), self.output_type, ()


def make_measure(type_: t.Type, name: str = "this") -> Measure[Any, Any]:
    """Return a measure of which only the output type is known."""
    return Measure(_KnownCall("aggregate", name, type_))


def make_window_function(type_: t.Type, name: str = "this") -> WindowFunction[Any, Any]:
    """Return a window function of which only the output type is known."""
    return WindowFunction(_KnownCall("window", name, type_))


def make_schema_class(module: str, name: str, struct: NamedStruct, base: type[Schema] = Schema) -> type[Schema]:
    """Return a schema class with some columns."""
    columns = {field.name: field.type for field in struct}
    return type(name, (base,), {"__module__": module, "__annotations__": columns})


class _RowOrInstance(Schema):
    """An instance of a schema class in the program: a row, or an instance with an expression for each column."""

    def __getitem__(self, column: str | int) -> DynExpr:
        struct = self.__struct__
        expression = self.__columns__[struct.names[struct.position(column)]]
        assert isinstance(expression, DynExpr)
        return expression


def make_schema_instance(module: str, name: str, struct: NamedStruct) -> Schema:
    """Return an instance of a schema class, such as the program declares as a parameter or a result."""
    columns = {field.name: make_expression(field.type, field.name) for field in struct}
    instance = make_schema_class(module, name, struct, _RowOrInstance)(**columns)
    vars(instance).update(columns)  # a row has them as attributes
    return instance


class _UnboundError(SchemaError):
    """An expression refers to a column of a row that is not known yet."""


class _EveryRow(Scope):
    """The row of expressions that refer to columns by their relations, whatever the relations are."""

    __slots__ = ()

    def column(self, column: str | int) -> ex.FieldReference:
        raise _UnboundError("no relation is named")

    def column_of(self, rel: Rel, column: str | int) -> ex.FieldReference:
        position = rel.schema.position(column)
        return ex.FieldReference(position, rel.schema.fields[position].type)

    def measure(self, measure: Any) -> ex.Expression:
        return ex.FieldReference(0, measure._call.resolve_in(self)[2])

    def local(self, expression: ex.Expression, origin: Scope | None) -> ex.Expression:
        return expression


_EVERY_ROW = _EveryRow("an expression", (), NamedStruct(()))


def derive_result_type(value: object) -> t.Type | None:
    """Return the type of an expression, a measure or a window function; None if it depends on the row."""
    try:
        return _resolve(value)
    except SubstraitDslError:
        return None


def find_error(value: object) -> SubstraitDslError | None:
    """Return the error of an expression, a measure or a window function that does not depend on the row."""
    try:
        _resolve(value)
    except _UnboundError:
        return None
    except SubstraitDslError as error:
        return error
    return None


def _resolve(value: object) -> t.Type | None:
    match value:
        case ExprBase():
            return bind(value, _EVERY_ROW).type
        case ComputedMeasure():
            return bind(value._expression, _EVERY_ROW).type
        case Measure():
            return value._call.resolve_in(_EVERY_ROW)[2]
        case WindowFunction():
            return value.call.resolve_in(_EVERY_ROW)[2]
    return None
