"""Signatures as mypy is to see them, where the call itself says better what is wrong with an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.erasetype import erase_typevars
from mypy.nodes import (
    ARG_STAR,
    ARG_STAR2,
    CallExpr,
    ComparisonExpr,
    Context,
    Expression,
    IndexExpr,
    LambdaExpr,
    MemberExpr,
    OpExpr,
    RefExpr,
    UnaryExpr,
)
from mypy.subtypes import is_subtype
from mypy.types import CallableType, Instance, Type, UnionType, get_proper_type

from substrait_dsl.mypy_plugin.annotations import Annotations, unknown
from substrait_dsl.mypy_plugin.names import DYN_EXPR, EXPR, is_ours

if TYPE_CHECKING:
    from mypy.plugin import FunctionSigContext, MethodContext, MethodSigContext


def any_arguments(context: MethodSigContext | FunctionSigContext) -> CallableType:
    """A signature that takes whatever it is given: what is wrong with it the call itself says, and better."""
    signature = context.default_signature
    if any(isinstance(node, LambdaExpr) for nodes in context.args for node in nodes):
        return signature  # the lambda's parameters get their types from it
    annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
    result = get_proper_type(signature.ret_type)
    if not isinstance(result, Instance):
        return signature
    anything = annotations.instance("builtins.object")
    if result.type.fullname == EXPR:
        result = annotations.instance(DYN_EXPR)
    else:
        result = result.copy_modified(args=[unknown() for _ in result.args])
    return signature.copy_modified(
        arg_types=[anything, anything],
        arg_kinds=[ARG_STAR, ARG_STAR2],
        arg_names=[None, None],
        variables=[],
        ret_type=result,
    )


def any_results(context: MethodSigContext) -> CallableType:
    """A signature whose lambdas may return anything, and whose expressions may be of any type."""
    signature = context.default_signature
    annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
    anything = annotations.instance("builtins.object")
    types = [
        _widened(kind, anything) if given and all(map(_is_plain, given)) else kind
        for kind, given in zip(signature.arg_types, context.args, strict=True)
    ]
    return signature.copy_modified(arg_types=types)


def _is_plain(node: Expression) -> bool:
    """Whether an argument is written out, so that the call can be made with it."""
    match node:
        case LambdaExpr() | OpExpr() | ComparisonExpr() | UnaryExpr() | MemberExpr() | IndexExpr():
            return True
        case CallExpr(callee=RefExpr(fullname=name)) if is_ours(name):
            return True
    return False


def _widened(kind: Type, anything: Instance) -> Type:
    proper = get_proper_type(kind)
    functions = proper.items if isinstance(proper, UnionType) else [proper]
    callables = [item for item in map(get_proper_type, functions) if isinstance(item, CallableType)]
    if not callables:
        return kind
    return UnionType([anything, *(item.copy_modified(ret_type=anything) for item in callables)])


class Operands:
    """What the operators of the file that is being checked take, and which were given what they do not take."""

    def __init__(self) -> None:
        self._path = ""
        self._formals: dict[int, Type] = {}
        self._refused: dict[int, Context] = {}

    def remember(self, context: MethodSigContext) -> CallableType:
        """The signature of an operator as it is; what it takes is remembered until the operands are known."""
        if context.api.path != self._path:
            self._path = context.api.path
            self._formals.clear()
            self._refused.clear()
        if context.default_signature.arg_types:
            self._formals[id(context.context)] = context.default_signature.arg_types[0]
        return context.default_signature

    def fit(self, context: MethodContext) -> bool:
        """Whether the signature of an operator, or this overload of it, takes the operand."""
        formal = self._formals.get(id(context.context))
        taken = formal is None or not context.arg_types or all(_takes(formal, kind) for kind in context.arg_types[0])
        if taken:
            self._refused.pop(id(context.context), None)
        else:
            self._refused[id(context.context)] = context.context
        return taken

    def are_refused(self, node: Context) -> bool:
        """Whether no overload of an operator took its operand: mypy has said so."""
        return id(node) in self._refused


def _takes(formal: Type, kind: Type) -> bool:
    operand, expected = get_proper_type(kind), get_proper_type(formal)
    if not isinstance(operand, Instance) or operand.type.fullname not in (EXPR, DYN_EXPR):
        return True
    # A bare type variable stands for Python's own values, as which an expression must not pass.
    items = expected.items if isinstance(expected, UnionType) else [expected]
    expressions = [erase_typevars(item) for item in items if isinstance(get_proper_type(item), Instance)]
    return any(is_subtype(operand, item) for item in expressions)


OPERANDS = Operands()
