"""The text of an unbound expression, for debuggers and errors: ``Expr(x > 3)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import Node, Rel, rebuild
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import Struct, Type, Unbound
from substrait_dsl.errors import LiteralError, SubstraitDslError, shorten
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.render.expressions import expression_text


class Sketch(Scope):
    """A row that has every column that an expression asks for; the types of most are not known."""

    __slots__ = ("columns",)

    def __init__(self) -> None:
        super().__init__("an expression", (), NamedStruct(()))
        self.columns: list[str] = []

    def column(self, column: str | int) -> ex.FieldReference:
        return self._reference(column if isinstance(column, str) else f"${column}", Unbound())

    def column_of(self, rel: Rel, column: str | int) -> ex.FieldReference:
        field = rel.schema.fields[rel.schema.position(column)]
        return self._reference(field.name, field.type)

    def local(self, expression: ex.Expression, origin: Scope | None) -> ex.Expression:
        def change(node: Node) -> Node:
            if isinstance(node, ex.FieldReference) and node.root == ex.ROOT and origin is not None:
                return self._reference(origin.schema.fields[node.position].name, node.type)
            return node

        return rebuild(expression, change, into_relations=False)

    def _reference(self, name: str, type_: Type) -> ex.FieldReference:
        if name not in self.columns:
            self.columns.append(name)
        return ex.FieldReference(self.columns.index(name), type_)


def sketch(expr: ExprBase) -> str:
    """Return an expression as text, with its type as far as that is known: ``price * 2: i64``, ``x > 3``."""
    return _text(*_sketch_with_row(expr))


def field_names(expr: ExprBase) -> list[str]:
    """Return the names of the fields of an expression that is known to be a struct; of any other none."""
    type_ = _sketch_with_row(expr)[0].type
    return list(type_.names or ()) if isinstance(type_, Struct) else []


def _sketch_with_row(expr: ExprBase) -> tuple[ex.Expression, NamedStruct | None]:
    """Return an expression as it would be made, and the row that it names columns of."""
    if expr._node is not None:
        return expr._node, expr._scope.schema if expr._scope is not None else None
    row = Sketch()
    drawn: dict[int, ex.Expression] = {}
    stack: list[ExprBase] = [expr]
    while stack:
        current = stack[-1]
        waiting = [each for each in current._operands if isinstance(each, ExprBase) and id(each) not in drawn]
        if waiting:
            stack.extend(waiting)
        else:
            stack.pop()
            drawn[id(current)] = _sketch(current, [drawn.get(id(each), each) for each in current._operands], row)
    return drawn[id(expr)], NamedStruct(tuple(Field(name, Unbound()) for name in row.columns))


def _text(node: ex.Expression, schema: NamedStruct | None) -> str:
    text = expression_text(node, schema)
    return text if isinstance(node.type, Unbound) else f"{text}: {node.type}"


def _sketch(expr: ExprBase, parts: Sequence[Any], row: Sketch) -> ex.Expression:
    """Return an expression as it would be made.

    Or, if that needs types that are not known, its parts and what it makes.
    """
    try:
        if expr._node is not None:
            return row.local(expr._node, expr._scope)
        if expr._make is not None:
            return expr._make(parts)
        if expr._leaf is not None and not expr._what:
            return expr._leaf(row)
    except SubstraitDslError:
        pass
    function = ex.FunctionId("extension:io.substrait:", f"{expr._what or expr._name}:any")
    return ex.ScalarFunction(function, tuple(map(_argument, parts)), Unbound())


def _argument(part: Any) -> ex.Argument:
    if isinstance(part, ex.Expression):
        return part
    try:
        return ex.literal(part, ex.natural_type(part))
    except LiteralError:
        return ex.EnumArgument(shorten(repr(part), 40))
