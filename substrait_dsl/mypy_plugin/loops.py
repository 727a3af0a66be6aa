"""Loops in the program over values that it shows: ``for name in ("key", "price"): ...``, and comprehensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from attrs import frozen
from mypy.nodes import (
    AssignmentExpr,
    AssignmentStmt,
    ConditionalExpr,
    DictionaryComprehension,
    Expression,
    ExpressionStmt,
    ForStmt,
    GeneratorExpr,
    LambdaExpr,
    ListExpr,
    NameExpr,
    Node,
    OpExpr,
    Statement,
    SymbolNode,
    TupleExpr,
)

from substrait_dsl.mypy_plugin.nodes import walk

MAX_ITEMS = 12
"""With how many values of a variable a call is made; of longer loops only the class of the values is known."""

MAX_STATEMENTS = 50
"""How many statements of a loop are looked at."""

_SKIPPING = (AssignmentExpr, ConditionalExpr, DictionaryComprehension, GeneratorExpr)
"""Expressions of which Python may not evaluate all parts, or which change variables."""


@frozen(eq=False)
class Loop:
    """A loop over the values of a variable.

    Args:
        node: the loop, or the comprehension, of which the list, set or dict is made at once.
        iterated: what it iterates over.
        path: where the variable is in the target: ``(1,)`` for ``value`` in ``for key, value in ...``.
    """

    node: ForStmt | GeneratorExpr | DictionaryComprehension
    iterated: Expression
    path: tuple[int, ...]

    def read_values(self, items: Iterable[Any]) -> list[Any]:
        """Return the values of the variable. Raise `TypeError` or `LookupError` if there are none."""
        values = list(items)
        for position in self.path:
            values = [value[position] for value in values]
        return values


def find_variables(target: Expression, path: tuple[int, ...] = ()) -> Iterator[tuple[SymbolNode, tuple[int, ...]]]:
    """Return the variables in the target of a loop, and where they are in it."""
    match target:
        case NameExpr(node=SymbolNode() as variable):
            yield variable, path
        case TupleExpr(items=items) | ListExpr(items=items):
            for position, item in enumerate(items):
                yield from find_variables(item, (*path, position))


def find_loop(use: NameExpr, loops: Iterable[Loop]) -> Loop | None:
    """Return the loop that evaluates a use of its variable with each of its values; None if there is no such one.

    No statement before it may end the iteration, and neither a condition nor a lambda may stand around it.

    Args:
        use: the variable, where it is used.
        loops: the loops of the file that assign to it.
    """
    return next((loop for loop in loops if _evaluates(loop.node, use)), None)


def _evaluates(loop: ForStmt | GeneratorExpr | DictionaryComprehension, use: NameExpr) -> bool:
    """Whether a loop evaluates a use of its variable with each of its values."""
    if not loop.line <= use.line <= (loop.end_line or use.line):
        return False
    match loop:
        case ForStmt(is_async=False, body=body):
            return _is_always_evaluated(use, body.body[:MAX_STATEMENTS])
        case GeneratorExpr(left_expr=item):
            items = [item]
        case DictionaryComprehension(key=key, value=value):
            items = [value] if key is None else [key, value]
        case _:
            return False
    is_conditional = any(loop.is_async) or any(loop.condlists)
    return not is_conditional and any(_is_evaluated(use, list(walk(item))) for item in items)


def _is_always_evaluated(use: NameExpr, statements: Iterable[Statement]) -> bool:
    for statement in statements:
        if not isinstance(statement, ExpressionStmt | AssignmentStmt):
            return False
        parts = list(walk(statement))
        if any(part is use for part in parts):
            return _is_evaluated(use, parts)
        if isinstance(statement, AssignmentStmt) and any(_names(target, use) for target in statement.lvalues):
            return False
    return False


def _is_evaluated(use: NameExpr, parts: list[Node]) -> bool:
    """Whether a use is among the parts of an expression or a statement, and is evaluated with these."""
    is_part = any(part is use for part in parts)
    return is_part and not any(map(may_skip, parts)) and not _is_in_lambda(use, parts)


def may_skip(node: Node) -> bool:
    """Whether Python may not evaluate all parts of an expression."""
    return isinstance(node, _SKIPPING) or (isinstance(node, OpExpr) and node.op in ("and", "or"))


def _is_in_lambda(use: NameExpr, parts: Iterable[Node]) -> bool:
    """Whether a variable is used in the body of a lambda, which may be called after the loop."""
    return any(isinstance(part, LambdaExpr) and any(each is use for each in walk(part.body)) for part in parts)


def _names(target: Node, use: NameExpr) -> bool:
    return any(isinstance(part, NameExpr) and part.node is use.node for part in walk(target))
