"""Lists, dicts and sets of relations whose type nobody has declared: they may hold relations of different columns.

mypy takes the columns of the first relation in ``made = [orders.select("key")]`` for those of all. So a method that
adds a relation accepts one of any columns, and where it has others the variable is a ``list[Relation]`` from there on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mypy.nodes import (
    CallExpr,
    Context,
    DictExpr,
    Expression,
    IndexExpr,
    ListExpr,
    MemberExpr,
    NameExpr,
    OperatorAssignmentStmt,
    SetExpr,
    TupleExpr,
    Var,
)
from mypy.types import CallableType, Instance, Type, UnionType, get_proper_type

from substrait_dsl.mypy_plugin.annotations import unknown_type
from substrait_dsl.mypy_plugin.container_types import MAX_NESTED, find_relations
from substrait_dsl.mypy_plugin.mypy_internals import find_type, set_variable_type
from substrait_dsl.mypy_plugin.names import RELATION

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface, MethodContext, MethodSigContext


def accept_any_columns(context: MethodSigContext) -> CallableType:
    """Return the signature of a method of a container that adds relations, of any columns if no type is declared."""
    signature = context.default_signature
    if _find_inferred_variable(context.context, context.api) is None:
        return signature
    return signature.copy_modified(arg_types=[_replace_columns(type_, unknown_type()) for type_ in signature.arg_types])


def widen_variable(context: MethodContext) -> Type:
    """Let a variable hold relations of any columns from here on, if one of other columns is added."""
    result = context.default_return_type
    variable = _find_inferred_variable(context.context, context.api)
    if variable is None or variable.type is None:
        return result
    relations = list(find_relations(context.type))
    added = [
        relation
        for nodes, types in zip(context.args, context.arg_types, strict=True)
        for node, type_ in zip(nodes, types, strict=True)
        for each in _types_added(node, type_, context.api)
        for relation in find_relations(each)
    ]
    if any(relation not in relations for relation in added):
        any_columns = relations[0].type.defn.type_vars[0].default  # as of a ``Relation`` without columns
        set_variable_type(context.api, variable, _replace_columns(variable.type, any_columns))
    return result


def _types_added(node: Expression, type_: Type, checker: CheckerPluginInterface) -> Iterator[Type]:
    """Return the types of what an argument adds; of a display those of its items, which have met any columns."""
    match node:
        case ListExpr(items=items) | SetExpr(items=items) | TupleExpr(items=items):
            parts: list[Expression] = items
        case DictExpr(items=pairs):
            parts = [value for _, value in pairs]
        case _:
            yield type_
            return
    for part in parts:
        found = find_type(checker, part)
        yield from () if found is None else _types_added(part, found, checker)


def _find_inferred_variable(node: Context, checker: CheckerPluginInterface) -> Var | None:
    """Return the variable of the container to which a statement adds something, if its type is not declared."""
    match node:
        case CallExpr(callee=MemberExpr(expr=base)) | IndexExpr(base=base) | OperatorAssignmentStmt(lvalue=base):
            variable = _find_variable(base, checker)
        case _:
            return None
    return variable if variable is not None and variable.is_inferred else None


def _find_variable(node: Expression, checker: CheckerPluginInterface) -> Var | None:
    match node:
        case NameExpr(node=Var() as variable):
            return variable
        case IndexExpr(base=base):
            return _find_variable(base, checker)
        case MemberExpr(expr=owner, name=name):
            type_ = get_proper_type(find_type(checker, owner))
            symbol = type_.type.get(name) if isinstance(type_, Instance) else None
            return symbol.node if symbol is not None and isinstance(symbol.node, Var) else None
    return None


def _replace_columns(type_: Type, row: Type, depth: int = 0) -> Type:
    """Return a type with other columns in the place of those of its relations."""
    if depth > MAX_NESTED:
        return type_
    match get_proper_type(type_):
        case Instance(type=info) as relation if info.fullname == RELATION:
            return relation.copy_modified(args=[row])
        case Instance(args=parts) as outer if parts:
            return outer.copy_modified(args=[_replace_columns(part, row, depth + 1) for part in parts])
        case UnionType(items=parts) as union:
            return UnionType([_replace_columns(part, row, depth + 1) for part in parts], union.line, union.column)
    return type_
