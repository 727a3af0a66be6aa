"""Where in a program a mistake is.

A call stands, to mypy, where its chain begins, which may be many lines above the verb.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mypy.nodes import (
    CallExpr,
    ComparisonExpr,
    Context,
    DictExpr,
    Expression,
    IndexExpr,
    LambdaExpr,
    ListExpr,
    MemberExpr,
    OpExpr,
    ReturnStmt,
    StrExpr,
    TupleExpr,
    UnaryExpr,
)

from substrait_dsl.errors import SubstraitDslError


def find_leaf(arguments: Iterable[Expression], error: SubstraitDslError) -> Expression | None:
    """The first text or attribute in some arguments that an error is about."""
    leaves: dict[str, Expression] = {}
    for node in (part for argument in arguments for part in subexpressions(argument)):
        match node:
            case StrExpr(value=name) | MemberExpr(name=name):
                leaves.setdefault(name, node)
    return next((leaves[name] for name in error.names if name in leaves), None)


def subexpressions(node: Expression) -> Iterator[Expression]:
    """What an expression is made of, in the order in which it stands, and itself."""
    found: list[Expression] = []
    stack = [node]
    while stack:
        current = stack.pop()
        found.append(current)
        stack.extend(part for part in _children(current) if part is not None)
    return reversed(found)


def _children(node: Expression) -> list[Expression | None]:
    match node:
        case CallExpr(callee=callee, args=arguments):
            return [callee, *arguments]
        case MemberExpr(expr=inner) | UnaryExpr(expr=inner):
            return [inner]
        case IndexExpr(base=base, index=index):
            return [base, index]
        case OpExpr(left=left, right=right):
            return [left, right]
        case ComparisonExpr(operands=operands):
            return [*operands]
        case TupleExpr(items=items) | ListExpr(items=items):
            return [*items]
        case DictExpr(items=pairs):
            return [part for pair in pairs for part in pair]
        case LambdaExpr(body=body):
            return [statement.expr for statement in body.body if isinstance(statement, ReturnStmt)]
    return []


def locate_method_name(call: Context) -> Context:
    """The name of the method that a call is of."""
    if not (isinstance(call, CallExpr) and isinstance(call.callee, MemberExpr)):
        return call
    place = Context(call.callee.end_line or call.line, (call.callee.end_column or 0) - len(call.callee.name))
    place.end_line, place.end_column = call.callee.end_line, call.callee.end_column
    return place
