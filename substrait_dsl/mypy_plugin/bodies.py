"""Run the bodies of functions of the program: assignments, loops over known values, conditions that are known, returns.

A list or dict that the body itself makes may be filled: ``conditions.append(...)``, ``columns[name] = ...``. What
depends on a value that is not known, and any other statement, makes the result of the function unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    AssignmentStmt,
    Block,
    CallExpr,
    DictExpr,
    DictionaryComprehension,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    IfStmt,
    IndexExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    NameExpr,
    OperatorAssignmentStmt,
    PassStmt,
    ReturnStmt,
    Statement,
    StrExpr,
    TempNode,
    TupleExpr,
    Var,
)

from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.mypy_plugin.ast_evaluator import PYTHON_ERRORS
from substrait_dsl.mypy_plugin.budget import NotEvaluatedError, UnknownValueError

if TYPE_CHECKING:
    from substrait_dsl.mypy_plugin.ast_evaluator import AstEvaluator

MAX_STATEMENTS = 30
"""How many statements the body of a function may have to be run."""

_NEW_VALUES = (DictExpr, DictionaryComprehension, ListComprehension, ListExpr)
"""Expressions whose values have no other name yet, so that they may be changed."""

_GOES_ON = object()
"""In place of what a body returns: it has not returned yet."""


def can_run(body: Block) -> bool:
    """Whether the statements of a body can be run, and return something."""
    if len(body.body) == 1:
        return _returns(body.body[0])  # of a lambda, say
    statements = list(_iterate(body))
    returns = any(isinstance(statement, ReturnStmt) for statement in statements)
    return returns and len(statements) <= MAX_STATEMENTS and all(map(_is_known, statements))


def _returns(statement: Statement) -> bool:
    return isinstance(statement, ReturnStmt) and statement.expr is not None


def _iterate(block: Block) -> Iterator[Statement]:
    """Return the statements of a block, with those inside of them."""
    for statement in block.body:
        yield statement
        match statement:
            case ForStmt(body=inner):
                yield from _iterate(inner)
            case IfStmt(body=blocks, else_body=rest):
                for each in (*blocks, *([rest] if rest is not None else [])):
                    yield from _iterate(each)


def _is_known(statement: Statement) -> bool:
    """Whether a statement is one of those that are run."""
    match statement:
        case AssignmentStmt(lvalues=[target], rvalue=value):
            return isinstance(value, TempNode) or _is_target(target)
        case OperatorAssignmentStmt(lvalue=NameExpr(node=Var())):
            return True
        case ReturnStmt():
            return _returns(statement)
        case ForStmt(index=target, is_async=False, else_body=None):
            return _is_target(target)
        case ExpressionStmt(expr=expression):
            return isinstance(expression, StrExpr) or _find_appended(expression) is not None
    return isinstance(statement, FuncDef | IfStmt | PassStmt)


def _is_target(target: Expression) -> bool:
    match target:
        case TupleExpr(items=items):
            return all(isinstance(item, NameExpr) for item in items)
        case NameExpr(node=Var()) | IndexExpr(base=NameExpr(node=Var())):
            return True
    return False


def _find_appended(expression: Expression) -> tuple[Var, Expression] | None:
    """Return the list that a call adds something to, and what it adds; None for any other expression."""
    match expression:
        case CallExpr(callee=MemberExpr(expr=NameExpr(node=Var() as variable), name="append"), args=[item]):
            return variable, item
    return None


def run_body(evaluator: AstEvaluator, body: Block, variables: Mapping[object, Any]) -> Any:
    """Return what a body returns. Raise `UnknownValueError` if that is not known.

    Args:
        evaluator: what evaluates the expressions.
        body: the body of a function or lambda.
        variables: the values of the parameters, and of the variables around the function.
    """
    try:
        result = _Run(evaluator, dict(variables)).run(body.body)
    except NotEvaluatedError:
        raise UnknownValueError from None
    except PYTHON_ERRORS as error:  # of a loop over what cannot be iterated, say
        if isinstance(error, SubstraitDslError):
            raise
        raise UnknownValueError from None
    if result is _GOES_ON:
        raise UnknownValueError
    return result


class _Run:
    """One run of a body. Lambdas in it read a variable when they are called, as in Python."""

    def __init__(self, evaluator: AstEvaluator, variables: dict[object, Any]) -> None:
        self._evaluator = evaluator
        self._variables = variables
        self._own: set[object] = set()
        """The variables whose lists and dicts have no other name."""

    def run(self, statements: Sequence[Statement]) -> Any:
        """Run statements. Return what they return, or `_GOES_ON`."""
        for statement in statements:
            result = self._run_one(statement)
            if result is not _GOES_ON:
                return result
        return _GOES_ON

    def _run_one(self, statement: Statement) -> Any:
        match statement:
            case ReturnStmt(expr=Expression() as expression):
                return self._evaluate(expression)
            case AssignmentStmt(lvalues=[target], rvalue=value) if not isinstance(value, TempNode):
                self._assign(target, self._evaluate(value))
                if isinstance(target, NameExpr) and isinstance(value, _NEW_VALUES):
                    self._own.add(target.node)
            case OperatorAssignmentStmt(op=operator, lvalue=NameExpr() as target, rvalue=value):
                before = self._evaluate(target)
                self._assign(target, self._evaluator.apply_operator(operator, before, self._evaluate(value)))
            case ExpressionStmt(expr=expression) if (appended := _find_appended(expression)) is not None:
                variable, item = appended
                self._find_own_value(variable, list).append(self._evaluate(item))
            case ForStmt(index=target, expr=iterated, body=body):
                return self._run_loop(target, iterated, body)
            case IfStmt(expr=conditions, body=blocks, else_body=rest):
                return self._run_branch(conditions, blocks, rest)
        return _GOES_ON

    def _run_loop(self, target: Expression, iterated: Expression, body: Block) -> Any:
        for value in list(self._evaluator.evaluate_star(iterated, self._variables)):
            self._evaluator.budget.spend()
            self._assign(target, value)
            result = self.run(body.body)
            if result is not _GOES_ON:
                return result
        return _GOES_ON

    def _run_branch(self, conditions: Sequence[Expression], blocks: Sequence[Block], rest: Block | None) -> Any:
        for condition, block in zip(conditions, blocks, strict=True):
            if self._evaluator.evaluate_truth(condition, self._variables):
                return self.run(block.body)
        return _GOES_ON if rest is None else self.run(rest.body)

    def _evaluate(self, node: Expression) -> Any:
        return self._evaluator.evaluate(node, None, self._variables)

    def _assign(self, target: Expression, value: Any) -> None:
        match target:
            case NameExpr(node=variable):
                self._variables[variable] = value
                self._own.discard(variable)
            case TupleExpr(items=items) if isinstance(value, tuple | list) and len(items) == len(value):
                for item, part in zip(items, value, strict=True):
                    self._assign(item, part)
            case IndexExpr(base=NameExpr(node=variable), index=index):
                self._find_own_value(variable, dict)[self._evaluate(index)] = value
            case _:
                raise UnknownValueError(target)

    def _find_own_value(self, variable: object, class_: type[Any]) -> Any:
        """Return the list or dict of a variable, of which the program has no other name."""
        value = self._variables.get(variable)
        if variable not in self._own or not isinstance(value, class_):
            raise UnknownValueError
        return value
