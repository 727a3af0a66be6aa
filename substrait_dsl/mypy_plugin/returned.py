"""What functions of the program return: it meets no verb there that would say what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mypy.nodes import (
    CallExpr,
    ComparisonExpr,
    ConditionalExpr,
    Context,
    DictExpr,
    Expression,
    LambdaExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    OpExpr,
    ReturnStmt,
    TupleExpr,
    UnaryExpr,
)

from substrait_dsl.mypy_plugin.nodes import walked

if TYPE_CHECKING:
    from mypy.checker import TypeChecker


def is_returned(node: Context, checker: TypeChecker) -> bool:
    """Whether an expression is what a function returns, or a part of it that is no argument of a call."""
    if not _LAST or _LAST[0][0] is not checker:
        _LAST[:] = [(checker, _returned(checker.tree))]
    return id(node) in _LAST[0][1]


def _returned(tree: MypyFile) -> dict[int, Expression]:
    """The expressions, by their numbers; each is kept, lest another gets its number."""
    statements: dict[int, ReturnStmt] = {}
    of_lambdas: set[int] = set()
    for node in walked(tree):
        if isinstance(node, ReturnStmt):
            statements[id(node)] = node
        elif isinstance(node, LambdaExpr):
            of_lambdas.update(map(id, node.body.body))
    found: dict[int, Expression] = {}
    stack = [each.expr for number, each in statements.items() if number not in of_lambdas]
    while stack:
        if (part := stack.pop()) is not None:
            found[id(part)] = part
            stack.extend(_inside(part))
    return found


def _inside(node: Expression) -> Iterator[Expression | None]:
    match node:
        case OpExpr(left=left, right=right):
            yield from (left, right)
        case ComparisonExpr(operands=items) | ListExpr(items=items) | TupleExpr(items=items):
            yield from items
        case DictExpr(items=pairs):
            yield from (value for _, value in pairs)
        case ConditionalExpr(if_expr=yes, else_expr=no):
            yield from (yes, no)
        case UnaryExpr(expr=inner) | CallExpr(callee=MemberExpr(expr=inner)):
            yield inner


_LAST: list[tuple[TypeChecker, dict[int, Expression]]] = []
"""What is returned in the file asked about last."""
