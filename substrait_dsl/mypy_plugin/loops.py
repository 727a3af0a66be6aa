"""Loops in the program over values that it shows: ``for name in ("key", "price"): ...``."""

from __future__ import annotations

from collections.abc import Iterable

from mypy.nodes import (
    AssignmentExpr,
    AssignmentStmt,
    ConditionalExpr,
    DictionaryComprehension,
    ExpressionStmt,
    ForStmt,
    GeneratorExpr,
    LambdaExpr,
    NameExpr,
    Node,
    OpExpr,
    Statement,
)

from substrait_dsl.mypy_plugin.nodes import walk

MOST_ITEMS = 12
"""With how many values of a variable a call is made; of longer loops only the class of the values is known."""

MOST_STATEMENTS = 50
"""How many statements of a loop are looked at."""

_SKIPPING = (AssignmentExpr, ConditionalExpr, DictionaryComprehension, GeneratorExpr)
"""Expressions of which Python may not evaluate all parts, or which change variables."""


def find_loop(use: NameExpr, loops: Iterable[ForStmt]) -> ForStmt | None:
    """Return the loop that evaluates a use of its variable with each of its values; None if there is no such one.

    No statement before it may end the iteration, and neither a condition nor a lambda may stand around it.

    Args:
        use: the variable, where it is used.
        loops: the loops of the file that assign to it.
    """
    around = (loop for loop in loops if not loop.is_async and loop.line <= use.line <= (loop.end_line or use.line))
    return next((loop for loop in around if _is_always_evaluated(use, loop.body.body[:MOST_STATEMENTS])), None)


def _is_always_evaluated(use: NameExpr, statements: Iterable[Statement]) -> bool:
    for statement in statements:
        if not isinstance(statement, ExpressionStmt | AssignmentStmt):
            return False
        parts = list(walk(statement))
        if any(part is use for part in parts):
            return not any(map(_may_skip, parts)) and not _is_in_lambda(use, parts)
        if isinstance(statement, AssignmentStmt) and any(_names(target, use) for target in statement.lvalues):
            return False
    return False


def _may_skip(node: Node) -> bool:
    return isinstance(node, _SKIPPING) or (isinstance(node, OpExpr) and node.op in ("and", "or"))


def _is_in_lambda(use: NameExpr, parts: Iterable[Node]) -> bool:
    """Whether a variable is used in the body of a lambda, which may be called after the loop."""
    return any(isinstance(part, LambdaExpr) and any(each is use for each in walk(part.body)) for part in parts)


def _names(target: Node, use: NameExpr) -> bool:
    return any(isinstance(part, NameExpr) and part.node is use.node for part in walk(target))
