"""Expressions that functions of the program return: no verb in the function reports their errors.

That is an expression after ``return``, and one that is assigned to a local variable that is returned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
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
    NameExpr,
    Node,
    OperatorAssignmentStmt,
    OpExpr,
    ReturnStmt,
    SymbolNode,
    TupleExpr,
    UnaryExpr,
    Var,
)

from substrait_dsl.mypy_plugin.nodes import find_nodes

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface


def is_returned(node: Context, checker: CheckerPluginInterface) -> bool:
    """Whether an expression is returned by a function, or a part of such a one that is no argument of a call."""
    if not _LAST or _LAST[0][0] is not checker:
        _LAST[:] = [(checker, _find_returned(find_nodes(checker)))]
    returned = _LAST[0][1]
    return id(node) in returned or (
        isinstance(node, OpExpr) and id(node.right) in returned
    )  # mypy's own, for ``x += y``


def _find_returned(nodes: Iterable[Node]) -> dict[int, Context]:
    """Return the expressions by their `id`, with each node, so that no other one gets its `id`."""
    statements: dict[int, ReturnStmt] = {}
    of_lambdas: set[int] = set()
    assigned: defaultdict[SymbolNode, list[Context]] = defaultdict(list)
    for node in nodes:
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
    returned: dict[int, Context] = {}
    stack: list[Context | None] = [each.expr for number, each in statements.items() if number not in of_lambdas]
    while stack:
        if (part := stack.pop()) is not None:
            returned[id(part)] = part
            stack.extend(_find_parts(part))
            if isinstance(part, NameExpr) and isinstance(part.node, Var) and "." not in part.node.fullname:
                stack.extend(assigned.pop(part.node, ()))
    return returned


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


_LAST: list[tuple[CheckerPluginInterface, dict[int, Context]]] = []
"""The returned expressions of the file that was asked about last."""
