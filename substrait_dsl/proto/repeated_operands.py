"""Operands that a relation computes once, though its expressions have them several times.

A quotient of DataFusion's is an expression that has its dividend twice, so that each quotient of a quotient would have
the innermost one twice as often. The dividend that has a quotient in it becomes a column of a project below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import FieldReference, ScalarFunction
from substrait_dsl.algebra.node import Expression, Node, Rel, rebuild
from substrait_dsl.proto.scopes import names_beside

N = TypeVar("N", bound=Node)

_SHORT_CIRCUITS = frozenset({"and", "or", "coalesce"})
"""The functions that may leave an argument, and its errors, out."""


def compute_once(rel: Rel, evaluated: tuple[Expression, ...]) -> tuple[Rel, Callable[[N], N]]:
    """Return the input of a relation with columns for repeated operands, and what puts these into an expression.

    Args:
        rel: the input of the relation.
        evaluated: the expressions that it evaluates for each row. Operands that are one object are repeated.
    """
    columns: dict[int, Node] = {}

    def replace(node: N) -> N:
        return rebuild(node, lambda each: each, into_relations=False, done=columns) if columns else node

    for operand in _repeated_operands(evaluated):
        column = replace(operand)
        rel = rl.Project(rel, (column,), names_beside((column,), rel))
        columns[id(operand)] = FieldReference(len(rel.schema) - 1, operand.type)
    return rel, replace


def _repeated_operands(expressions: tuple[Expression, ...]) -> list[Expression]:
    """Return the operands that are evaluated more than once, and have such operands in them, the inner ones first."""
    uses: Counter[int] = Counter()
    operands: list[Expression] = []
    levels: dict[int, int] = {}
    """How many repeated operands lie inside each other, at most, in each expression."""
    for expression in expressions:
        _count(expression, uses)
        for node in _upwards(expression):
            below = max((levels[id(each)] for each in _evaluated(node)), default=0)
            if id(node) in levels:
                continue
            levels[id(node)] = below + (uses[id(node)] > 1 and bool(_evaluated(node)))
            if levels[id(node)] > max(below, 1) and not node.free_anchors:
                operands.append(node)
    return operands


def _evaluated(node: Expression) -> list[Expression]:
    """Return the operands of an expression that are evaluated whenever it is."""
    match node:
        case ScalarFunction() if node.function.name not in _SHORT_CIRCUITS:
            return [each for each in node.arguments if isinstance(each, Expression)]
        case ex.Cast():
            return [node.input]
        case _:
            return []


def _count(expression: Expression, uses: Counter[int]) -> None:
    """Count how often each operand stands in an expression, in others that are counted once."""
    stack = [expression]
    while stack:
        node = stack.pop()
        uses[id(node)] += 1
        if uses[id(node)] == 1:
            stack += _evaluated(node)


def _upwards(expression: Expression) -> list[Expression]:
    """Return an expression and its operands, each once, the operands first."""
    found: dict[int, Expression] = {}
    stack: list[tuple[Expression, bool]] = [(expression, False)]
    while stack:
        node, is_ready = stack.pop()
        if id(node) in found:
            continue
        if is_ready:
            found[id(node)] = node
        else:
            stack.append((node, True))
            stack += [(each, False) for each in _evaluated(node)]
    return list(found.values())
