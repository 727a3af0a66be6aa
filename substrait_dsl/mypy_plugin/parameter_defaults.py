"""Make calls of verbs with the defaults of the function's parameters: ``def cleaned(names=("key", "price"))``.

What a parameter holds is known only when the function is called. But where the function makes a call each time that it
is called, it makes the call with the defaults, too, and what is wrong then is wrong in the function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import (
    AssignmentStmt,
    Context,
    Expression,
    ExpressionStmt,
    FuncDef,
    LambdaExpr,
    NameExpr,
    ReturnStmt,
    Var,
)
from mypy.types import Type

from substrait_dsl.errors import SignatureError, SubstraitDslError
from substrait_dsl.mypy_plugin.annotations import Annotations
from substrait_dsl.mypy_plugin.argument_evaluator import NO_SAMPLE, ArgumentEvaluator
from substrait_dsl.mypy_plugin.arguments import Arguments
from substrait_dsl.mypy_plugin.ast_evaluator import Environment
from substrait_dsl.mypy_plugin.budget import UnknownValueError
from substrait_dsl.mypy_plugin.file_variables import find_default
from substrait_dsl.mypy_plugin.loops import MAX_STATEMENTS, may_skip
from substrait_dsl.mypy_plugin.mypy_internals import find_current_function
from substrait_dsl.mypy_plugin.nodes import walk

if TYPE_CHECKING:
    from substrait_dsl.mypy_plugin.call_evaluation import CallEvaluation


class DefaultsEvaluator(ArgumentEvaluator):
    """Evaluates arguments, with the defaults for the parameters of a function."""

    def __init__(self, annotations: Annotations, function: FuncDef) -> None:
        super().__init__(annotations)
        self.sample_index = NO_SAMPLE
        self.has_used_default = False
        """Whether a default stands for a parameter."""
        self._parameters = {each.variable for each in function.arguments if each.initializer is not None}

    def evaluate(self, node: Expression, type_: Type | None = None, environment: Environment | None = None) -> object:
        default = self._find_default(node)
        if default is None:
            return super().evaluate(node, type_, environment)
        self.has_used_default = True
        return super().evaluate(default)

    def _find_default(self, node: Expression) -> Expression | None:
        match node:
            case NameExpr(node=Var() as variable) if variable in self._parameters:
                return find_default(variable, self.checker)
        return None


def find_error(evaluation: CallEvaluation) -> SubstraitDslError | None:
    """Return the error of a call of a verb that a function makes with its defaults; None if there is none.

    The evaluation is left as it was when the call was refused.
    """
    function = find_current_function(evaluation.annotations.checker)
    if not isinstance(function, FuncDef) or all(each.initializer is None for each in function.arguments):
        return None
    if not _is_always_evaluated(evaluation.context.context, function):
        return None
    evaluator = DefaultsEvaluator(evaluation.annotations, function)
    evaluation.use(evaluator, Arguments(evaluation.verb, evaluator))
    try:
        evaluation.make_call()
    except SignatureError:
        return None
    except SubstraitDslError as error:
        return error if evaluator.has_used_default else None
    except (UnknownValueError, TypeError):
        pass
    return None


def _is_always_evaluated(node: Context, function: FuncDef) -> bool:
    """Whether an expression is evaluated each time that a function is called."""
    for statement in function.body.body[:MAX_STATEMENTS]:
        if not isinstance(statement, AssignmentStmt | ExpressionStmt | ReturnStmt):
            return False
        parts = list(walk(statement))
        if any(part is node for part in parts):
            around = (part for part in parts if may_skip(part) or isinstance(part, LambdaExpr))
            return not any(inner is node for part in around for inner in walk(part))
    return False
