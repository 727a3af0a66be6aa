"""What mypy says by itself of a call of which the plugin finds out nothing.

The signatures that the plugin gives to mypy take more than those of the library, so that the call itself can say what
is wrong with an argument. Where the call cannot be made, or takes what the library's annotations do not, that must not
hide what mypy would have said: the call is checked again, as it is declared.
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

from substrait_dsl.mypy_plugin.annotations import unknown
from substrait_dsl.mypy_plugin.checker_state import MEMORY
from substrait_dsl.mypy_plugin.names import EXPR
from substrait_dsl.mypy_plugin.reports import is_heard
from substrait_dsl.mypy_plugin.results import is_expression
from substrait_dsl.mypy_plugin.source_positions import parts

if TYPE_CHECKING:
    from mypy.checker import TypeChecker
    from mypy.plugin import FunctionContext, MethodContext

_DISPLAYS = (ListExpr, TupleExpr, DictExpr, SetExpr, StarExpr)
"""What has the type that is expected of it, if its parts fit: it is checked again with its parts."""


_BEING_CHECKED: list[Context] = []
"""The calls that are being checked as they are declared, the innermost last."""


def is_being_checked(call: Context) -> bool:
    """Whether a call is being checked as it is declared, without the plugin."""
    return bool(_BEING_CHECKED) and _BEING_CHECKED[-1] is call


def declared(
    context: MethodContext | FunctionContext, is_made: Callable[[Expression], bool], *, is_said: bool = True
) -> Type | None:
    """What a call gives by the annotations of the library; None if mypy objects to it, which is said then.

    Args:
        context: the call.
        is_made: whether an expression inside of it can be made, whatever mypy takes it for.
        is_said: whether it is said what mypy objects to.
    """
    call = context.context
    checker: TypeChecker = context.api  # type: ignore[assignment]  # mypy's own checker is the only one
    if not isinstance(call, CallExpr):
        return context.default_return_type
    if is_said and say_comparisons(call, call.args, checker, is_made):
        return None
    on = getattr(context, "type", None)
    callee = _callee(call.callee, on, checker)
    if callee is None:
        return context.default_return_type
    arguments: list[Expression] = []
    for node in call.args:
        type_ = None if isinstance(node, _DISPLAYS) else _type_of(node, checker)
        if _is_made_comparison(node, is_made):
            type_ = unknown()
        if type_ is not None and _is_of_any_type(type_):
            return context.default_return_type  # what is true of each type mypy cannot tell: it takes but some
        arguments.append(node if type_ is None else TempNode(type_, context=node))
    _BEING_CHECKED.append(call)
    overrides = checker.expr_checker.type_overrides
    checker.expr_checker.type_overrides = dict(overrides)  # mypy sets and deletes those of the arguments around it
    wanted = checker.expr_checker.type_context
    wanted.append(None if is_expression(context.default_return_type) else wanted[-1])  # what it gives is what it takes
    try:
        with checker.msg.filter_errors(save_filtered_errors=True) as found:
            result, _ = checker.expr_checker.check_call(
                callee, arguments, call.arg_kinds, call, call.arg_names, object_type=on
            )
    finally:
        wanted.pop()
        checker.expr_checker.type_overrides = overrides
        _BEING_CHECKED.pop()
    if not is_said:
        return None if found.has_new_errors() else result
    checker.msg.add_errors(found.filtered_errors())
    if not found.has_new_errors():
        return result
    if is_heard(checker.msg.errors):
        MEMORY.say(call)
    return None


def _callee(node: Expression, on: Type | None, checker: TypeChecker) -> FunctionLike | None:
    """The declared type of what is called: mypy knows the expression by the signature that the plugin has given it."""
    found: Type | None = None
    match node:
        case MemberExpr(name=name) if on is not None:
            found = checker.expr_checker.analyze_external_member_access(name, on, node)
        case RefExpr(node=FuncDef(type=type_) | OverloadedFuncDef(type=type_)):
            found = type_
    proper = get_proper_type(found)
    return proper if isinstance(proper, FunctionLike) else None


def say_comparisons(
    call: Context, arguments: Sequence[Expression], checker: TypeChecker, is_made: Callable[[Expression], bool]
) -> bool:
    """Say which comparisons inside a call or an operation compare a column with what no column is compared with.

    mypy does not, because every object of Python has an ``==``: such a comparison is a `bool` to it.
    """
    wrong = False
    for part in (part for argument in arguments for part in parts(argument)):
        match part:
            case ComparisonExpr(operators=["==" | "!=" as operator], operands=[left, right]):
                one, other = (_type_of(operand, checker) for operand in (left, right))
                is_bool = _is_instance(_type_of(part, checker), "builtins.bool")
                if is_bool and (_is_instance(one, EXPR) or _is_instance(other, EXPR)) and not is_made(part):
                    checker.msg.unsupported_operand_types(operator, one, other, part)
                    wrong = True
    if wrong and is_heard(checker.msg.errors):
        MEMORY.say(call)
    return wrong


def _is_made_comparison(node: Expression, is_made: Callable[[Expression], bool]) -> bool:
    """Whether an argument is a comparison such as ``1 == r.x``, a `bool` to mypy, or a lambda that gives it."""
    if isinstance(node, LambdaExpr):
        node = node.expr()
    return isinstance(node, ComparisonExpr) and is_made(node)


def _is_of_any_type(type_: Type) -> bool:
    """Whether a type has a variable in it, but for one that says whether an expression may be NULL."""
    match get_proper_type(type_):
        case Instance(type=info, args=[typed, _]) if info.fullname == EXPR:
            return has_type_vars(typed)
        case TypeVarType(upper_bound=bound):
            return is_expression(bound)
        case CallableType() as function if function.param_spec() is not None:
            return False
        case CallableType(ret_type=result) as function:
            return any(map(has_type_vars, function.arg_types)) or _is_of_any_type(result)
    return has_type_vars(type_)


def _is_instance(type_: Type | None, fullname: str) -> bool:
    proper = get_proper_type(type_)
    return isinstance(proper, Instance) and proper.type.fullname == fullname


def _type_of(node: Expression, checker: TypeChecker) -> Type | None:
    return checker.lookup_type(node) if checker.has_type(node) else None
