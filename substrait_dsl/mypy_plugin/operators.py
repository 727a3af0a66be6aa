"""Infer the types of operators of expressions, before mypy checks the operands.

mypy tries the method of the left operand and then that of the right one, each with all its overloads. What the library
says of the operands holds for each of them.
"""

from __future__ import annotations

from contextlib import nullcontext

from mypy.nodes import ARG_POS, Context, OpExpr, TempNode
from mypy.plugin import MethodContext, MethodSigContext
from mypy.types import CallableType, Instance, Type, get_proper_type

from substrait_dsl.mypy_plugin.annotations import Annotations, literal_value
from substrait_dsl.mypy_plugin.argument_evaluator import is_unbound
from substrait_dsl.mypy_plugin.calls import Call, infer_method_call
from substrait_dsl.mypy_plugin.checker_state import STATE
from substrait_dsl.mypy_plugin.default_check import report_comparisons
from substrait_dsl.mypy_plugin.mypy_internals import OPERATOR_METHODS, REVERSE_METHODS, find_type, without_filters
from substrait_dsl.mypy_plugin.names import DYN_EXPR, EXPR
from substrait_dsl.mypy_plugin.results import is_dynamic_expected
from substrait_dsl.mypy_plugin.return_context import is_returned

BINARY = frozenset((*OPERATOR_METHODS.values(), *REVERSE_METHODS.values()))


class OperatorCall:
    """An operator with operands of some types."""

    def __init__(self, context: MethodSigContext, name: str, operands: list[Type]) -> None:
        self.node: Context = context.context
        self.name = name
        self.operands = operands
        call_context = MethodContext(
            type=context.type,
            arg_types=[[operands[1]]],
            arg_kinds=[[ARG_POS]],
            callee_arg_names=[None],
            arg_names=[[None]],
            default_return_type=context.default_signature.ret_type,
            args=context.args,
            context=context.context,
            api=context.api,
        )
        self.call = Call(call_context, name)
        self.result = self.call.infer_type()

    def is_reported_inside(self, annotations: Annotations) -> bool:
        """Whether an error in the operands has been reported. Comparisons that mypy allows are reported here."""
        nodes = [self.node.left, self.node.right] if isinstance(self.node, OpExpr) else []
        if any(map(STATE.is_reported, nodes)):
            return True
        return report_comparisons(self.node, nodes, annotations.checker, self.call.is_expression)


class OperatorSignatures:
    """Infers the signatures of operators, and keeps them for the file that is being checked."""

    def __init__(self) -> None:
        self._checker: object = None
        self._last: OperatorCall | None = None
        self._results: dict[tuple[str, Type, Type], Type] = {}

    def infer_signature(self, context: MethodSigContext, name: str) -> CallableType:
        """Return the signature of an operator, or of one of its overloads, for the operands at hand."""
        signature = context.default_signature
        if len(context.args) != 1 or len(context.args[0]) != 1 or is_unbound(context.type):
            return signature
        if context.api is not self._checker:
            self._checker = context.api
            self._results.clear()
        (operand,) = context.args[0]
        annotations = Annotations(context.api)
        type_ = operand.type if isinstance(operand, TempNode) else find_type(context.api, operand)
        if type_ is None:
            return signature
        types = (name, context.type, type_)
        result = self._results.get(types)
        if result is not None and not is_dynamic_expected(context):
            STATE.begin_node(context.api, context.context)
            STATE.clear_reported(context.context)
        else:
            is_returned_here = is_returned(context.context, annotations.checker)
            with without_filters(context.api) if is_returned_here else nullcontext():
                operator = self._apply(context, name, [context.type, type_])
                is_reported = is_returned_here and not operator.call.is_conclusive
                is_reported = is_reported and operator.is_reported_inside(annotations)
                if not operator.call.is_conclusive and not is_reported:
                    return signature
            result = operator.result if operator.call.is_conclusive else annotations.make_instance(DYN_EXPR)
            if operator.call.is_certain and _is_exact_type(type_):
                self._results[types] = result
        anything = annotations.make_instance("builtins.object")
        return signature.copy_modified(arg_types=[anything], ret_type=result, variables=[])

    def _apply(self, context: MethodSigContext, name: str, operands: list[Type]) -> OperatorCall:
        last = self._last
        if last is not None and (last.node, last.name, last.operands) == (context.context, name, operands):
            last.call.report_error()  # the error may have been filtered before
            return last
        self._last = OperatorCall(context, name, operands)
        return self._last


def _is_exact_type(type_: Type) -> bool:
    """Whether the type of an operand determines the type of the result."""
    proper = get_proper_type(type_)
    return isinstance(proper, Instance) and (proper.type.fullname == EXPR or literal_value(proper) is not None)


OPERATORS = OperatorSignatures()


def infer_operator(context: MethodContext, name: str) -> Type:
    """Return the type of the result of an operator. That of a binary one is in its signature."""
    return context.default_return_type if name in BINARY else infer_method_call(context, name)
