"""Let mypy check a call as the library declares it, where the plugin finds out nothing of the call.

The signatures that the plugin gives to mypy accept more than those of the library, so that the library's own error is
reported for an argument. Where the call cannot be made, or accepts what the annotations do not, mypy's errors must not
be lost: the call is checked again, with the declared signature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mypy.nodes import (
    CallExpr,
    ComparisonExpr,
    Context,
    DictExpr,
    Expression,
    FuncDef,
    LambdaExpr,
    ListExpr,
    MemberExpr,
    OverloadedFuncDef,
    RefExpr,
    SetExpr,
    StarExpr,
    TempNode,
    TupleExpr,
)
from mypy.types import CallableType, FunctionLike, Instance, Type, TypeVarType, get_proper_type, has_type_vars

from substrait_dsl.mypy_plugin.annotations import unknown_type
from substrait_dsl.mypy_plugin.checker_state import STATE
from substrait_dsl.mypy_plugin.mypy_internals import (
    CheckedCall,
    check_call,
    find_member_type,
    find_type,
    is_reporting,
    show_unsupported_operands,
)
from substrait_dsl.mypy_plugin.names import EXPR
from substrait_dsl.mypy_plugin.results import is_expression
from substrait_dsl.mypy_plugin.signatures import without_options
from substrait_dsl.mypy_plugin.source_positions import subexpressions

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface, FunctionContext, MethodContext

_DISPLAYS = (ListExpr, TupleExpr, DictExpr, SetExpr, StarExpr)
"""Expressions that take the expected type: they are checked again, part by part."""


_BEING_CHECKED: list[Context] = []
"""The calls that are being checked with their declared signatures, the innermost last."""


def is_being_checked(call: Context) -> bool:
    """Whether a call is being checked with its declared signature, so that the plugin has to leave it to mypy."""
    return bool(_BEING_CHECKED) and _BEING_CHECKED[-1] is call


def check_as_declared(
    context: MethodContext | FunctionContext, can_evaluate: Callable[[Expression], bool], *, is_reported: bool = True
) -> Type | None:
    """Let mypy check a call by the annotations of the library.

    Args:
        context: the call.
        can_evaluate: whether the plugin can evaluate an expression inside of the call, whatever type mypy has found.
        is_reported: whether errors are reported.

    Returns:
        the type of the result; None if mypy finds an error.
    """
    call = context.context
    checker = context.api
    if not isinstance(call, CallExpr):
        return context.default_return_type
    if is_reported and report_comparisons(call, call.args, checker, can_evaluate):
        return None
    callee = _find_declared_callee(call, getattr(context, "type", None), checker)
    arguments = None if callee is None else _find_arguments(call, checker, can_evaluate)
    if callee is None or arguments is None:
        return context.default_return_type
    checked = _check_call(context, call, callee, arguments)
    if not is_reported:
        return None if checked.has_errors else checked.type_
    checked.show_errors()
    if not checked.has_errors:
        return checked.type_
    if is_reporting(checker):
        STATE.mark_reported(call)
    return None


def _find_declared_callee(
    call: CallExpr, receiver: Type | None, checker: CheckerPluginInterface
) -> FunctionLike | None:
    """Return the declared signature of a callee. To mypy the expression has the signature of the plugin."""
    type_: Type | None = None
    match node := call.callee:
        case MemberExpr(name=name) if receiver is not None:
            type_ = find_member_type(checker, name, receiver, node)
        case RefExpr(node=FuncDef(type=declared) | OverloadedFuncDef(type=declared)):
            type_ = declared
    proper = get_proper_type(type_)
    if isinstance(proper, CallableType):
        return without_options(proper, call, checker)
    return proper if isinstance(proper, FunctionLike) else None


def _find_arguments(
    call: CallExpr, checker: CheckerPluginInterface, can_evaluate: Callable[[Expression], bool]
) -> list[Expression] | None:
    """Return the arguments, as nodes with the types that mypy has found. None if one has an open type variable.

    Of such an argument mypy takes only some types, so what it says is no answer.
    """
    arguments: list[Expression] = []
    for node in call.args:
        type_ = None if isinstance(node, _DISPLAYS) else find_type(checker, node)
        if _is_evaluable_comparison(node, can_evaluate):
            type_ = unknown_type()
        if type_ is not None and _has_open_type(type_):
            return None
        arguments.append(node if type_ is None else TempNode(type_, context=node))
    return arguments


def _check_call(
    context: MethodContext | FunctionContext, call: CallExpr, callee: FunctionLike, arguments: list[Expression]
) -> CheckedCall:
    is_expected = not is_expression(context.default_return_type)  # the type of an expression is that of its arguments
    _BEING_CHECKED.append(call)
    try:
        receiver = getattr(context, "type", None)
        return check_call(context.api, call, callee, arguments, receiver, is_expected=is_expected)
    finally:
        _BEING_CHECKED.pop()


def report_comparisons(
    call: Context,
    arguments: Sequence[Expression],
    checker: CheckerPluginInterface,
    can_evaluate: Callable[[Expression], bool],
) -> bool:
    """Report comparisons of a column with a value of no comparable type. Return whether there are some.

    mypy does not report them, because every object of Python has an ``==``: to mypy such a comparison is a `bool`.
    """
    is_wrong = False
    for part in (part for argument in arguments for part in subexpressions(argument)):
        match part:
            case ComparisonExpr(operators=["==" | "!=" as operator], operands=[left, right]):
                one, other = (find_type(checker, operand) for operand in (left, right))
                is_bool = _is_instance(find_type(checker, part), "builtins.bool")
                if is_bool and (_is_instance(one, EXPR) or _is_instance(other, EXPR)) and not can_evaluate(part):
                    show_unsupported_operands(checker, operator, one, other, part)
                    is_wrong = True
    if is_wrong and is_reporting(checker):
        STATE.mark_reported(call)
    return is_wrong


def _is_evaluable_comparison(node: Expression, can_evaluate: Callable[[Expression], bool]) -> bool:
    """Whether an argument is a comparison such as ``1 == r.x``, a `bool` to mypy, or a lambda that returns one."""
    if isinstance(node, LambdaExpr):
        node = node.expr()
    return isinstance(node, ComparisonExpr) and can_evaluate(node)


def _has_open_type(type_: Type) -> bool:
    """Whether a type has a type variable, other than that of the nullability of an expression."""
    match get_proper_type(type_):
        case Instance(type=info, args=[typed, _]) if info.fullname == EXPR:
            return has_type_vars(typed)
        case TypeVarType(upper_bound=bound):
            return is_expression(bound)
        case CallableType() as function if function.param_spec() is not None:
            return False
        case CallableType(ret_type=result) as function:
            return any(map(has_type_vars, function.arg_types)) or _has_open_type(result)
    return has_type_vars(type_)


def _is_instance(type_: Type | None, fullname: str) -> bool:
    proper = get_proper_type(type_)
    return isinstance(proper, Instance) and proper.type.fullname == fullname
