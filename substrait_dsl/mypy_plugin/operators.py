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

from substrait_dsl.mypy_plugin import allowed
from substrait_dsl.mypy_plugin.annotations import Annotations, literal_value
from substrait_dsl.mypy_plugin.argument_evaluator import waits
from substrait_dsl.mypy_plugin.calls import Call, method_called
from substrait_dsl.mypy_plugin.checker_state import MEMORY
from substrait_dsl.mypy_plugin.default_check import say_comparisons
from substrait_dsl.mypy_plugin.names import DYN_EXPR, EXPR
from substrait_dsl.mypy_plugin.reports import unfiltered
from substrait_dsl.mypy_plugin.results import is_dynamic_wanted
from substrait_dsl.mypy_plugin.return_context import is_returned

BINARY = frozenset((*op_methods.values(), *reverse_op_methods.values()))


class Operator:
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
        self.result = self.call.checked(lambda: allowed.operator(self.call.receiver(), name))

    def is_said_in_it(self, annotations: Annotations) -> bool:
        """Whether it is said what is wrong with its operands; of comparisons that mypy allows it is said here."""
        nodes = [self.node.left, self.node.right] if isinstance(self.node, OpExpr) else []
        made = self.call.is_expression
        return any(map(MEMORY.said, nodes)) or say_comparisons(self.node, nodes, annotations.checker, made)


class Operators:
    """The signatures of operators, and, for the file that is being checked, what they have been found to give."""

    def __init__(self) -> None:
        self._checker: object = None
        self._last: Operator | None = None
        self._found: dict[tuple[str, Type, Type], Type] = {}

    def signature(self, context: MethodSigContext, name: str) -> CallableType:
        """The signature of an operator, or of one of its overloads, for these operands."""
        signature = context.default_signature
        if len(context.args) != 1 or len(context.args[0]) != 1 or waits(context.type):
            return signature
        if context.api is not self._checker:
            self._checker = context.api
            self._found.clear()
        (operand,) = context.args[0]
        annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
        type_ = operand.type if isinstance(operand, TempNode) else annotations.checker.lookup_type(operand)
        types = (name, context.type, type_)
        found = self._found.get(types)
        if found is not None and not is_dynamic_wanted(context):
            MEMORY.begin(context.api, context.context)
            MEMORY.unsay(context.context)
        else:
            returned = is_returned(context.context, annotations.checker)
            with unfiltered(context.api.msg.errors) if returned else nullcontext():
                operator = self._applied(context, name, [context.type, type_])
                if not operator.call.is_decided and not (returned and operator.is_said_in_it(annotations)):
                    return signature
            found = operator.result if operator.call.is_decided else annotations.instance(DYN_EXPR)
            if operator.call.is_reported and _says_all(type_):
                self._found[types] = found
        anything = annotations.instance("builtins.object")
        return signature.copy_modified(arg_types=[anything], ret_type=found, variables=[])

    def _applied(self, context: MethodSigContext, name: str, operands: list[Type]) -> Operator:
        last = self._last
        if last is not None and (last.node, last.name, last.operands) == (context.context, name, operands):
            last.call.say()  # what was said before may not have been heard
            return last
        self._last = Operator(context, name, operands)
        return self._last


def _says_all(type_: Type) -> bool:
    """Whether what an operator gives follows from the type of its operand."""
    proper = get_proper_type(type_)
    return isinstance(proper, Instance) and (proper.type.fullname == EXPR or literal_value(proper) is not None)


OPERATORS = Operators()


def operated(context: MethodContext, name: str) -> Type:
    """What an operator gives: its signature says so, if it has two operands."""
    return context.default_return_type if name in BINARY else method_called(context, name)
