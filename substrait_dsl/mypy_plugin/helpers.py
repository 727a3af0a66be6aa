"""Functions of the file of which the program shows the result: ``def limit() -> int: return 5``.

They are evaluated as lambdas are, with the arguments of the call: see `bodies` for what their bodies do. A method may
be another one in a subclass, and mypy may not have read those of other modules.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    ARG_NAMED,
    ARG_NAMED_OPT,
    ARG_OPT,
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    ArgKind,
    Argument,
    CallExpr,
    Expression,
    FuncDef,
    LambdaExpr,
    MypyFile,
    RefExpr,
    Var,
)
from mypy.types import CallableType, Type

from substrait_dsl.mypy_plugin.bodies import can_run, run_body
from substrait_dsl.mypy_plugin.budget import UnknownValueError
from substrait_dsl.mypy_plugin.mypy_internals import add_dependencies, find_type, is_argument
from substrait_dsl.mypy_plugin.nodes import walk

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface

    from substrait_dsl.mypy_plugin.ast_evaluator import AstEvaluator, Environment

_KINDS: Mapping[ArgKind, Any] = {
    ARG_POS: inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ARG_OPT: inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ARG_STAR: inspect.Parameter.VAR_POSITIONAL,
    ARG_NAMED: inspect.Parameter.KEYWORD_ONLY,
    ARG_NAMED_OPT: inspect.Parameter.KEYWORD_ONLY,
    ARG_STAR2: inspect.Parameter.VAR_KEYWORD,
}
"""The kinds of parameters, as mypy has them and as `inspect` has them."""

_NO_ARGUMENTS: Mapping[ArgKind, Any] = {ARG_STAR: (), ARG_STAR2: {}}
"""What ``*rest`` and ``**rest`` are without arguments."""


def is_helper(function: object, tree: MypyFile) -> bool:
    """Whether a function is one of a file, and its result is that of an expression."""
    if not isinstance(function, FuncDef) or not _is_of_file(function, tree):
        return False
    is_plain = not (function.is_generator or function.is_coroutine or function.is_conditional or function.is_decorated)
    return is_plain and not function.info and not function.is_overload and can_run(function.body)


def _is_of_file(function: FuncDef, tree: MypyFile) -> bool:
    """Whether a function is one of a file; to mypy the name of one in a function is its full name."""
    return function.fullname.startswith(f"{tree.fullname}.") or "." not in function.fullname


def takes_arguments(call: CallExpr, checker: CheckerPluginInterface) -> bool:
    """Whether the parameters of a function take the types of the arguments of a call; else mypy reports the call."""
    function = call.callee.node if isinstance(call.callee, RefExpr) else None
    declared = function.type if isinstance(function, FuncDef) else None
    if not isinstance(declared, CallableType):
        return True
    several = next((number for number, kind in enumerate(declared.arg_kinds) if kind == ARG_STAR), len(call.args))
    for number, (node, name) in enumerate(zip(call.args, call.arg_names, strict=True)):
        parameters = declared.arg_types[min(number, several) :] if name is None else _parameters_named(declared, name)
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
    parameters = node.arguments
    if not can_run(node.body):
        raise UnknownValueError(node if isinstance(node, LambdaExpr) else None)
    signature, defaults = _make_signature(parameters)
    around = dict(environment) if defaults else environment  # a loop may change it before the function is called

    def call(*rows: Any, **named: Any) -> Any:
        evaluator.budget.enter_lambda()
        try:
            return evaluate_body(signature.bind(*rows, **named).arguments)
        finally:
            evaluator.budget.leave_lambda()

    def evaluate_body(arguments: dict[str, Any]) -> Any:
        values: dict[object, Any] = {
            each: evaluator.evaluate(default, None, around) for each, default in defaults.items()
        }
        values |= {each.variable: _NO_ARGUMENTS[each.kind] for each in parameters if each.kind.is_star()}
        values |= {
            each.variable: arguments[each.variable.name] for each in parameters if each.variable.name in arguments
        }
        value = run_body(evaluator, node.body, {**environment, **values})
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
                each.variable.name, _KINDS[each.kind], default=defaults.get(each.variable, inspect.Parameter.empty)
            )
            for each in parameters
        ]
    )
    return signature, defaults
