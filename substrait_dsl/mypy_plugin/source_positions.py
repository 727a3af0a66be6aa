"""Find the location of an error in the program.

To mypy, a call is at the beginning of its chain, which may be many lines above the verb.
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
    """Return the first text or attribute in some arguments that is one of the names of an error."""
    leaves: dict[str, Expression] = {}
    for node in (part for argument in arguments for part in subexpressions(argument)):
        match node:
            case StrExpr(value=name) | MemberExpr(name=name):
                leaves.setdefault(name, node)
    return next((leaves[name] for name in error.names if name in leaves), None)


def subexpressions(node: Expression) -> Iterator[Expression]:
    """Return the parts of an expression at any depth, each before what contains it, and the expression itself."""
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
    """Return the location of the name of a method that is called; of other calls that of the call."""
    if not (isinstance(call, CallExpr) and isinstance(call.callee, MemberExpr)):
        return call
    location = Context(call.callee.end_line or call.line, (call.callee.end_column or 0) - len(call.callee.name))
    location.end_line, location.end_column = call.callee.end_line, call.callee.end_column
    return location
