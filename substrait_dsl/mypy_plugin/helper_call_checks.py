"""Check calls of functions of the file that give relations: their bodies are evaluated with the arguments of the call.

What is wrong whatever the arguments are is reported in the body. But that there is no column of the name that a call
passes, or that a condition does not fit its relation, shows where the function is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import CallExpr, FuncDef, NameExpr
from mypy.types import Type

from substrait_dsl.errors import SignatureError, SubstraitDslError
from substrait_dsl.mypy_plugin import allowed
from substrait_dsl.mypy_plugin.annotations import Annotations
from substrait_dsl.mypy_plugin.argument_evaluator import NO_SAMPLE, ArgumentEvaluator
from substrait_dsl.mypy_plugin.budget import NotEvaluatedError, UnknownValueError
from substrait_dsl.mypy_plugin.checker_state import STATE
from substrait_dsl.mypy_plugin.mypy_internals import is_in_lambda, is_reporting
from substrait_dsl.mypy_plugin.reports import report

if TYPE_CHECKING:
    from mypy.plugin import FunctionContext


def check_call(context: FunctionContext) -> Type:
    """Report a call of a function of the file that the library refuses because of the arguments."""
    match context.context:
        case CallExpr(callee=NameExpr(node=FuncDef() as function) as callee, args=[_, *_]) as call:
            STATE.begin_node(context.api, call)
            is_defined_before = (function.end_line or function.line) < call.line
            if is_defined_before and is_reporting(context.api) and not is_in_lambda(context.api):
                _check(context, call, callee)
    return context.default_return_type


def _check(context: FunctionContext, call: CallExpr, callee: NameExpr) -> None:
    evaluator = ArgumentEvaluator(Annotations(context.api))
    evaluator.sample_index = NO_SAMPLE
    if not evaluator.is_helper(callee):
        return
    error = _find_error(evaluator, call, callee, is_exact=True)
    if error is not None and evaluator.origins.may_coincide():
        error = _find_error(evaluator, call, callee, is_exact=False)
    if error is None:
        STATE.clear_reported(call)
    elif report(error, context.api, call):
        STATE.mark_reported(call)


def _find_error(
    evaluator: ArgumentEvaluator, call: CallExpr, callee: NameExpr, *, is_exact: bool
) -> SubstraitDslError | None:
    """Return the error that a call raises, but for those of its arguments; None if there is none."""
    evaluator.budget.reset()
    evaluator.origins.is_exact = is_exact
    try:
        evaluator.require_declared_types(call)
        arguments = zip(call.args, call.arg_kinds, call.arg_names, strict=True)
        positional, named = evaluator.evaluate_arguments(arguments, {})
    except (NotEvaluatedError, UnknownValueError, SubstraitDslError, TypeError):
        return None  # what is wrong with an argument is reported there
    try:
        allowed.call(evaluator.make_helper(callee), positional, named, evaluator.budget)
    except SignatureError:
        return None
    except SubstraitDslError as error:
        return error
    except (NotEvaluatedError, UnknownValueError, TypeError):
        pass
    return None
