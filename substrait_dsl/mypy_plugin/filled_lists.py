"""Lists that a function fills step by step: ``if least: conditions.append(col("price") > least)``.

Which items such a list has is known only when the program runs. But each is an argument of the verb in some run,
so what is wrong with it whatever the others are is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mypy.nodes import (
    AssignmentStmt,
    Block,
    CallExpr,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    IfStmt,
    ListExpr,
    MemberExpr,
    NameExpr,
    RefExpr,
    ReturnStmt,
    StarExpr,
    Statement,
    TypeInfo,
    Var,
)
from mypy.types import Instance, get_proper_type

from substrait_dsl.mypy_plugin.file_variables import is_filled_list, is_named_once
from substrait_dsl.mypy_plugin.mypy_internals import find_current_function, find_tree, find_type
from substrait_dsl.mypy_plugin.nodes import walk

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface

_LOOKING_AT_COLUMNS = frozenset(("columns", "schema"))
"""Attributes of relations: where a condition reads them, an item may be there for other relations only."""


def find_items(node: Expression, checker: CheckerPluginInterface) -> Sequence[Expression]:
    """Return the items that the program shows of a list; none if its uses may change it otherwise.

    Args:
        node: a variable of the function that is being checked, or a call of a function or method of the file that is
            called nowhere else in the file.
        checker: mypy's checker.
    """
    match node:
        case NameExpr(node=Var() as variable):
            function = find_current_function(checker)
            return _find_items_of(variable, function, checker) if isinstance(function, FuncDef) else ()
        case CallExpr(callee=RefExpr() as callee):
            function = _find_function(callee, checker)
            returned = None if function is None else _find_returned(function)
            if function is not None and returned is not None and is_named_once(function, checker):
                return _find_items_of(returned, function, checker)
    return ()


def _find_function(callee: RefExpr, checker: CheckerPluginInterface) -> FuncDef | None:
    """Return the function of the file that a call calls, or the method of its own class."""
    function = callee.node
    if isinstance(callee, MemberExpr):
        owner = get_proper_type(find_type(checker, callee.expr))
        is_own = isinstance(callee.expr, NameExpr) and getattr(callee.expr.node, "is_self", False)
        symbol = owner.type.names.get(callee.name) if isinstance(owner, Instance) and is_own else None
        function = None if symbol is None else symbol.node
        if isinstance(function, FuncDef) and _is_for_others(function.info):
            return None
    is_plain = isinstance(function, FuncDef) and not (function.is_generator or function.is_coroutine)
    if not is_plain or not isinstance(function, FuncDef) or function.is_decorated:
        return None
    return function if function.fullname.startswith(f"{find_tree(checker).fullname}.") else None


def _is_for_others(class_: TypeInfo) -> bool:
    """Whether a class cannot be instantiated: its subclasses decide what its methods meet."""
    return class_.is_abstract or class_.is_protocol


def _find_returned(function: FuncDef) -> Var | None:
    """Return the variable that a function returns at its end, and nowhere else anything."""
    returns = [each for each in walk(function.body) if isinstance(each, ReturnStmt)]
    match returns, function.body.body:
        case [ReturnStmt(expr=NameExpr(node=Var() as variable)) as only], [*_, last] if last is only:
            return variable
    return None


def _find_items_of(variable: Var, function: FuncDef, checker: CheckerPluginInterface) -> Sequence[Expression]:
    return list(_iterate(function.body, variable)) if is_filled_list(variable, checker) else ()


def _iterate(block: Block, variable: Var) -> Iterator[Expression]:
    """Return what the statements of a block put into a list."""
    for statement in block.body:
        match statement:
            case IfStmt(expr=conditions, body=blocks, else_body=rest):
                if not any(map(_looks_at_columns, conditions)):
                    for each in (*blocks, *([rest] if rest is not None else [])):
                        yield from _iterate(each, variable)
            case ForStmt(body=body):
                yield from _iterate(body, variable)
            case _:
                yield from (item for item in _find_added(statement, variable) if not isinstance(item, StarExpr))


def _find_added(statement: Statement, variable: Var) -> Sequence[Expression]:
    match statement:
        case AssignmentStmt(lvalues=[NameExpr(node=target)], rvalue=ListExpr(items=items)) if target is variable:
            return items
        case ExpressionStmt(expr=CallExpr(callee=MemberExpr(expr=NameExpr(node=target), name="append"), args=[item])):
            return [item] if target is variable else ()
    return ()


def _looks_at_columns(condition: Expression) -> bool:
    return any(isinstance(part, MemberExpr) and part.name in _LOOKING_AT_COLUMNS for part in walk(condition))
