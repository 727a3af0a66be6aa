"""What functions of the program return: it meets no verb there that would say what is wrong with it.

That is what stands after ``return``, and what is put into the local variables that stand there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mypy.nodes import (
    AssignmentStmt,
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
    NameExpr,
    OperatorAssignmentStmt,
    OpExpr,
    ReturnStmt,
    SymbolNode,
    TupleExpr,
    UnaryExpr,
    Var,
)

from substrait_dsl.mypy_plugin.nodes import walk

if TYPE_CHECKING:
    from mypy.checker import TypeChecker


def is_returned(node: Context, checker: TypeChecker) -> bool:
    """Whether an expression is what a function returns, or a part of it that is no argument of a call."""
    if not _LAST or _LAST[0][0] is not checker:
        _LAST[:] = [(checker, _find_returned(checker.tree))]
    found = _LAST[0][1]
    return id(node) in found or (isinstance(node, OpExpr) and id(node.right) in found)  # mypy's own, for ``x += y``


def _find_returned(tree: MypyFile) -> dict[int, Context]:
    """The expressions, by their numbers; each is kept, lest another gets its number."""
    statements: dict[int, ReturnStmt] = {}
    of_lambdas: set[int] = set()
    assigned: defaultdict[SymbolNode, list[Context]] = defaultdict(list)
    for node in walk(tree):
        match node:
            case ReturnStmt():
                statements[id(node)] = node
            case LambdaExpr(body=body):
                of_lambdas.update(map(id, body.body))
            case (
                AssignmentStmt(lvalues=[NameExpr(node=Var() as variable)], rvalue=value)
                | OperatorAssignmentStmt(lvalue=NameExpr(node=Var() as variable), rvalue=value)
                | CallExpr(callee=MemberExpr(expr=NameExpr(node=Var() as variable), name="append"), args=[value])
            ):
                assigned[variable].append(value)
    found: dict[int, Context] = {}
    stack: list[Context | None] = [each.expr for number, each in statements.items() if number not in of_lambdas]
    while stack:
        if (part := stack.pop()) is not None:
            found[id(part)] = part
            stack.extend(_find_parts(part))
            if isinstance(part, NameExpr) and isinstance(part.node, Var) and "." not in part.node.fullname:
                stack.extend(assigned.pop(part.node, ()))
    return found


def _find_parts(node: Context) -> Iterator[Expression | None]:
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


_LAST: list[tuple[TypeChecker, dict[int, Context]]] = []
"""What is returned in the file asked about last."""
