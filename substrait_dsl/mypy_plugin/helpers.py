"""Functions of the file of which the program shows the result: ``def limit() -> int: return 5``.

Their bodies assign variables, each once, and return an expression. They are evaluated as lambdas are, with the
arguments of the call. A method may be another one in a subclass, and mypy may not have read those of other modules.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    Argument,
    AssignmentStmt,
    CallExpr,
    Expression,
    ExpressionStmt,
    FuncDef,
    LambdaExpr,
    MypyFile,
    NameExpr,
    PassStmt,
    RefExpr,
    ReturnStmt,
    Statement,
    StrExpr,
    TempNode,
    Var,
)
from mypy.types import CallableType, Type

from substrait_dsl.mypy_plugin.budget import UnknownValueError
from substrait_dsl.mypy_plugin.mypy_internals import add_dependencies, find_type, is_argument
from substrait_dsl.mypy_plugin.nodes import walk

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface

    from substrait_dsl.mypy_plugin.ast_evaluator import AstEvaluator, Environment

MOST_STATEMENTS = 20
"""How many statements the body of a function may have to be evaluated."""


def is_helper(function: object, tree: MypyFile) -> bool:
    """Whether a function is one of a file, and its result is that of an expression."""
    if not isinstance(function, FuncDef) or not function.fullname.startswith(f"{tree.fullname}."):
        return False
    is_plain = not (function.is_generator or function.is_coroutine or function.is_conditional or function.is_decorated)
    return is_plain and not function.info and not function.is_overload and _returned(function.body.body) is not None


def _returned(statements: Sequence[Statement]) -> Expression | None:
    """Return the expression that a body returns; None for a body that does anything but assign variables before."""
    *before, last = statements or [PassStmt()]
    if not isinstance(last, ReturnStmt) or len(before) > MOST_STATEMENTS:
        return None
    targets = [_assigned(statement) for statement in before if not _is_docstring(statement)]
    is_straight = all(target is not None for target in targets) and len(set(targets)) == len(targets)
    return last.expr if is_straight else None


def _is_docstring(statement: Statement | None) -> bool:
    return isinstance(statement, ExpressionStmt) and isinstance(statement.expr, StrExpr)


def _assigned(statement: Statement | None) -> Var | None:
    """Return the variable that a statement assigns; None if it does something else."""
    match statement:
        case AssignmentStmt(lvalues=[NameExpr(node=Var() as variable)], rvalue=value):
            return None if isinstance(value, TempNode) else variable
    return None


def takes_arguments(call: CallExpr, checker: CheckerPluginInterface) -> bool:
    """Whether the parameters of a function take the types of the arguments of a call; else mypy reports the call."""
    function = call.callee.node if isinstance(call.callee, RefExpr) else None
    declared = function.type if isinstance(function, FuncDef) else None
    if not isinstance(declared, CallableType):
        return True
    for number, (node, name) in enumerate(zip(call.args, call.arg_names, strict=True)):
        parameters = declared.arg_types[number:] if name is None else _parameters_named(declared, name)
        type_ = find_type(checker, node)
        if type_ is not None and parameters and not is_argument(type_, parameters[0]):
            return False
    return True


def _parameters_named(function: CallableType, name: str) -> Sequence[Type]:
    """Return the type of the parameter of a name, if there is one."""
    return [type_ for each, type_ in zip(function.arg_names, function.arg_types, strict=True) if each == name]


def add_dependencies_of(function: FuncDef, checker: CheckerPluginInterface) -> None:
    """Let mypy's daemon check the call again when anything changes that a function names."""
    parts = walk(function.body)
    add_dependencies(checker, (part.fullname for part in parts if isinstance(part, RefExpr) and part.fullname))


def make_function(evaluator: AstEvaluator, node: LambdaExpr | FuncDef, environment: Environment) -> Callable[..., Any]:
    """Return a function that takes and returns what a lambda or a function of the file does."""
    statements, parameters = node.body.body, node.arguments
    returned = _returned(statements)
    if returned is None or any(each.kind.is_star() for each in parameters):
        raise UnknownValueError(node if isinstance(node, LambdaExpr) else None)
    signature, defaults = _make_signature(parameters)

    def call(*rows: Any, **named: Any) -> Any:
        evaluator.budget.enter_lambda()
        try:
            return evaluate_body(signature.bind(*rows, **named).arguments)
        finally:
            evaluator.budget.leave_lambda()

    def evaluate_body(arguments: dict[str, Any]) -> Any:
        values: dict[object, Any] = {
            each: evaluator.evaluate(default, None, environment) for each, default in defaults.items()
        }
        values |= {
            each.variable: arguments[each.variable.name] for each in parameters if each.variable.name in arguments
        }
        values = {**environment, **values}
        for statement in statements:
            if isinstance(statement, AssignmentStmt):
                values[_assigned(statement)] = evaluator.evaluate(statement.rvalue, None, values)
        value = evaluator.evaluate(returned, None, values)
        evaluator.needs_declared_check |= isinstance(value, bool) and isinstance(node, LambdaExpr)
        return value

    call.__name__ = call.__qualname__ = "<lambda>" if isinstance(node, LambdaExpr) else node.name
    call.__signature__ = signature  # type: ignore[attr-defined]  # what `inspect` looks at first
    return call


def _make_signature(parameters: Sequence[Argument]) -> tuple[inspect.Signature, dict[Var, Expression]]:
    """Return the signature of a function, and the defaults of its parameters."""
    defaults = {each.variable: each.initializer for each in parameters if each.initializer is not None}
    signature = inspect.Signature(
        [
            inspect.Parameter(
                each.variable.name,
                inspect.Parameter.KEYWORD_ONLY if each.kind.is_named() else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=defaults.get(each.variable, inspect.Parameter.empty),
            )
            for each in parameters
        ]
    )
    return signature, defaults
