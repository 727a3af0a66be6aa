"""What operators of expressions give: found out before mypy looks at the operands, in more ways than one.

mypy tries an operator of the left operand, then that of the right one, each with all its overloads. What the library
says of the operands is true of each of these.
"""

from __future__ import annotations

from contextlib import nullcontext

from mypy.nodes import ARG_POS, Context, OpExpr, TempNode
from mypy.operators import op_methods, reverse_op_methods
from mypy.plugin import MethodContext, MethodSigContext
from mypy.types import CallableType, Instance, Type, get_proper_type

from substrait_dsl.mypy_plugin.annotations import Annotations, literal_value
from substrait_dsl.mypy_plugin.argument_evaluator import is_unbound
from substrait_dsl.mypy_plugin.calls import Call, infer_method_call
from substrait_dsl.mypy_plugin.checker_state import STATE
from substrait_dsl.mypy_plugin.default_check import report_comparisons
from substrait_dsl.mypy_plugin.names import DYN_EXPR, EXPR
from substrait_dsl.mypy_plugin.reports import without_filters
from substrait_dsl.mypy_plugin.results import is_dynamic_expected
from substrait_dsl.mypy_plugin.return_context import is_returned

BINARY = frozenset((*op_methods.values(), *reverse_op_methods.values()))


class OperatorCall:
    """An operator, applied to operands of some types."""

    def __init__(self, context: MethodSigContext, name: str, operands: list[Type]) -> None:
        self.node: Context = context.context
        self.name = name
        self.operands = operands
        called = MethodContext(
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
        self.call = Call(called, name)
        self.result = self.call.infer_type()

    def is_reported_inside(self, annotations: Annotations) -> bool:
        """Whether it is said what is wrong with its operands; of comparisons that mypy allows it is said here."""
        nodes = [self.node.left, self.node.right] if isinstance(self.node, OpExpr) else []
        made = self.call.is_expression
        return any(map(STATE.is_reported, nodes)) or report_comparisons(self.node, nodes, annotations.checker, made)


class OperatorSignatures:
    """The signatures of operators, and, for the file that is being checked, what they have been found to give."""

    def __init__(self) -> None:
        self._checker: object = None
        self._last: OperatorCall | None = None
        self._found: dict[tuple[str, Type, Type], Type] = {}

    def infer_signature(self, context: MethodSigContext, name: str) -> CallableType:
        """The signature of an operator, or of one of its overloads, for these operands."""
        signature = context.default_signature
        if len(context.args) != 1 or len(context.args[0]) != 1 or is_unbound(context.type):
            return signature
        if context.api is not self._checker:
            self._checker = context.api
            self._found.clear()
        (operand,) = context.args[0]
        annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
        type_ = operand.type if isinstance(operand, TempNode) else annotations.checker.lookup_type(operand)
        types = (name, context.type, type_)
        found = self._found.get(types)
        if found is not None and not is_dynamic_expected(context):
            STATE.begin_node(context.api, context.context)
            STATE.clear_reported(context.context)
        else:
            returned = is_returned(context.context, annotations.checker)
            with without_filters(context.api.msg.errors) if returned else nullcontext():
                operator = self._apply(context, name, [context.type, type_])
                if not operator.call.is_conclusive and not (returned and operator.is_reported_inside(annotations)):
                    return signature
            found = operator.result if operator.call.is_conclusive else annotations.make_instance(DYN_EXPR)
            if operator.call.is_certain and _is_exact_type(type_):
                self._found[types] = found
        anything = annotations.make_instance("builtins.object")
        return signature.copy_modified(arg_types=[anything], ret_type=found, variables=[])

    def _apply(self, context: MethodSigContext, name: str, operands: list[Type]) -> OperatorCall:
        last = self._last
        if last is not None and (last.node, last.name, last.operands) == (context.context, name, operands):
            last.call.report_error()  # what was said before may not have been heard
            return last
        self._last = OperatorCall(context, name, operands)
        return self._last


def _is_exact_type(type_: Type) -> bool:
    """Whether what an operator gives follows from the type of its operand."""
    proper = get_proper_type(type_)
    return isinstance(proper, Instance) and (proper.type.fullname == EXPR or literal_value(proper) is not None)


OPERATORS = OperatorSignatures()


def infer_operator(context: MethodContext, name: str) -> Type:
    """What an operator gives: its signature says so, if it has two operands."""
    return context.default_return_type if name in BINARY else infer_method_call(context, name)
