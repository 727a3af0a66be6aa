"""Comprehensions in the program: loops over values that the program shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    DictionaryComprehension,
    Expression,
    GeneratorExpr,
    LambdaExpr,
    ListComprehension,
    NameExpr,
    SetComprehension,
    TupleExpr,
    Var,
)

from substrait_dsl.mypy_plugin.budget import UnknownValueError
from substrait_dsl.mypy_plugin.nodes import walk

if TYPE_CHECKING:
    from substrait_dsl.mypy_plugin.ast_evaluator import AstEvaluator, Environment

COMPREHENSIONS = (DictionaryComprehension, GeneratorExpr, ListComprehension, SetComprehension)

_Loop = tuple[Expression, Expression, Sequence[Expression]]
"""The targets of a loop, what it iterates over, and its conditions."""


def evaluate_comprehension(evaluator: AstEvaluator, node: Expression, environment: Environment) -> Any:
    """Return the value of a comprehension; the items of a generator as a list.

    Raises:
        UnknownValueError: a part of it is not known, or a lambda in it uses a variable of a loop when it is called.
    """
    match node:
        case DictionaryComprehension(key=key, value=value) if key is not None:
            items = _iterate(evaluator, node, environment)
            return {evaluator.evaluate(key, None, each): evaluator.evaluate(value, None, each) for each in items}
        case ListComprehension(generator=generator) | SetComprehension(generator=generator):
            values = evaluate_comprehension(evaluator, generator, environment)
            return values if isinstance(node, ListComprehension) else set(values)
        case GeneratorExpr(left_expr=item):
            return [evaluator.evaluate(item, None, each) for each in _iterate(evaluator, node, environment)]
    raise UnknownValueError(node)


def _iterate(
    evaluator: AstEvaluator, node: DictionaryComprehension | GeneratorExpr, environment: Environment
) -> Iterator[Environment]:
    """Yield the values of the variables in each iteration."""
    if any(node.is_async):
        raise UnknownValueError(node)
    items = [node.left_expr] if isinstance(node, GeneratorExpr) else [node.key, node.value]
    variables = {variable for target in node.indices for variable in _variables(target)}
    if any(variables & _names_in_lambdas(item) for item in items if item is not None):
        raise UnknownValueError(node)  # the lambdas are called after the loop, with its last values
    yield from _nest(evaluator, list(zip(node.indices, node.sequences, node.condlists, strict=True)), environment)


def _nest(evaluator: AstEvaluator, loops: Sequence[_Loop], environment: Environment) -> Iterator[Environment]:
    if not loops:
        yield environment
        return
    (target, sequence, conditions), *inner = loops
    for value in evaluator.evaluate_star(sequence, environment):
        evaluator.budget.spend()
        values = {**environment, **_bind(target, value)}
        if all(evaluator.evaluate_truth(condition, values) for condition in conditions):
            yield from _nest(evaluator, inner, values)


def _bind(target: Expression, value: Any) -> Mapping[object, Any]:
    """Return the values of the variables of a target."""
    match target:
        case NameExpr(node=Var() as variable):
            return {variable: value}
        case TupleExpr(items=items) if isinstance(value, tuple | list) and len(value) == len(items):
            bound: dict[object, Any] = {}
            for item, part in zip(items, value, strict=True):
                bound.update(_bind(item, part))
            return bound
    raise UnknownValueError(target)


def _variables(target: Expression) -> Iterator[object]:
    match target:
        case NameExpr(node=variable):
            yield variable
        case TupleExpr(items=items):
            for item in items:
                yield from _variables(item)


def _names_in_lambdas(item: Expression) -> set[object]:
    """Return what the bodies of the lambdas in an expression name."""
    lambdas = [part for part in walk(item) if isinstance(part, LambdaExpr)]
    return {part.node for each in lambdas for part in walk(each.body) if isinstance(part, NameExpr)}
