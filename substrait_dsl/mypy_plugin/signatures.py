"""Widen signatures, so that the library's own error is reported for an argument, which says more than mypy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mypy.nodes import (
    ARG_NAMED_OPT,
    ARG_OPT,
    ARG_STAR,
    ARG_STAR2,
    CallExpr,
    ComparisonExpr,
    Context,
    DictExpr,
    Expression,
    IndexExpr,
    IntExpr,
    LambdaExpr,
    MemberExpr,
    OpExpr,
    RefExpr,
    StrExpr,
    UnaryExpr,
)
from mypy.types import CallableType, Instance, NoneType, Type, UnionType, get_proper_type, has_type_vars

from substrait_dsl.mypy_plugin.allowed import is_evaluated
from substrait_dsl.mypy_plugin.annotations import Annotations, unknown_type
from substrait_dsl.mypy_plugin.names import DYN_EXPR, EXPR, EXPRESSIONS, RESULTS, STRUCT
from substrait_dsl.mypy_plugin.syntax import is_constant

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface, FunctionSigContext, MethodSigContext


def accept_any_arguments(context: MethodSigContext | FunctionSigContext) -> CallableType:
    """Return a signature that accepts any arguments: the call itself refuses wrong ones."""
    signature = context.default_signature
    if any(isinstance(node, LambdaExpr) for nodes in context.args for node in nodes):
        return signature  # the lambda's parameters get their types from it
    annotations = Annotations(context.api)
    result = get_proper_type(signature.ret_type)
    if not isinstance(result, Instance):
        return signature
    anything = annotations.make_instance("builtins.object")
    if result.type.fullname == EXPR:
        result = annotations.make_instance(DYN_EXPR)
    else:
        result = result.copy_modified(args=[unknown_type() for _ in result.args])
    return signature.copy_modified(
        arg_types=[anything, anything],
        arg_kinds=[ARG_STAR, ARG_STAR2],
        arg_names=[None, None],
        variables=[],
        ret_type=result,
    )


def accept_any_results(context: MethodSigContext | FunctionSigContext) -> CallableType:
    """Return a signature whose lambdas may return anything, with expressions and constants of any type."""
    signature = context.default_signature
    annotations = Annotations(context.api)
    anything = annotations.make_instance("builtins.object")
    constants = _is_evaluated_call(signature.ret_type) and annotations.is_known(getattr(context, "type", None))
    types = [
        _widen(type_, anything, constants, nodes) if nodes and all(map(_is_evaluable, nodes)) else type_
        for type_, nodes in zip(signature.arg_types, context.args, strict=True)
    ]
    if signature.unpack_kwargs:
        types[-1] = signature.arg_types[-1]  # a dict of the named arguments, of which mypy knows what to make
    return without_options(signature.copy_modified(arg_types=types), context.context, context.api)


def without_options(signature: CallableType, call: Context, checker: CheckerPluginInterface) -> CallableType:
    """Return a signature without the optional parameters that a dict of expressions cannot be meant for.

    Of ``aggregate(**measures)`` mypy compares the values of the dict with ``method``, too.
    """
    if not isinstance(call, CallExpr) or ARG_STAR2 not in call.arg_kinds or ARG_STAR2 not in signature.arg_kinds:
        return signature
    dicts = [node for node, kind in zip(call.args, call.arg_kinds, strict=True) if kind == ARG_STAR2]
    if not all(
        isinstance(node, RefExpr) and _is_dict_of_expressions(checker.get_expression_type(node)) for node in dicts
    ):
        return signature
    rest = [
        number
        for number, (kind, name) in enumerate(zip(signature.arg_kinds, signature.arg_names, strict=True))
        if kind != ARG_NAMED_OPT or name in call.arg_names
    ]
    return signature.copy_modified(
        arg_types=[signature.arg_types[number] for number in rest],
        arg_kinds=[signature.arg_kinds[number] for number in rest],
        arg_names=[signature.arg_names[number] for number in rest],
    )


def _is_dict_of_expressions(type_: Type) -> bool:
    match get_proper_type(type_):
        case Instance(args=[_, value]):
            proper = get_proper_type(value)
            return isinstance(proper, Instance) and proper.type.fullname in EXPRESSIONS
    return False


def accept_any_item(context: MethodSigContext) -> CallableType:
    """Return the signature for ``relation["x"]``: a text or a number is accepted as it is."""
    match context.args:
        case [[StrExpr() | IntExpr()]]:
            return context.default_signature
    return accept_any_results(context)


def accept_any_structs(context: FunctionSigContext) -> CallableType:
    """Return the signature of a schema class with structs of any fields: `into` compares them."""
    signature = context.default_signature
    return signature.copy_modified(arg_types=[_with_any_structs(type_) for type_ in signature.arg_types])


def _with_any_structs(type_: Type) -> Type:
    proper = get_proper_type(type_)
    if not isinstance(proper, Instance):
        return type_
    if proper.type.fullname == STRUCT:
        return proper.copy_modified(args=[unknown_type()])
    return proper.copy_modified(args=[_with_any_structs(inner) for inner in proper.args])


def _is_evaluated_call(result: Type) -> bool:
    """Whether the type of a result is one of those that the plugin infers by a call."""
    type_ = get_proper_type(result)
    return isinstance(type_, Instance) and type_.type.fullname in RESULTS


def _is_evaluable(node: Expression) -> bool:
    """Whether the program shows the value of an argument, so that the call can be made with it."""
    match node:
        case LambdaExpr() | OpExpr() | ComparisonExpr() | UnaryExpr() | MemberExpr() | IndexExpr():
            return True
        case _ if is_constant(node):
            return True
        case DictExpr(items=pairs):
            return all(key is not None and is_constant(key) and _is_evaluable(value) for key, value in pairs)
        case CallExpr(callee=RefExpr(fullname=name)) if is_evaluated(name):
            return True
    return False


def _widen(type_: Type, anything: Instance, constants: bool, nodes: Sequence[Expression]) -> Type:
    proper = get_proper_type(type_)
    if constants and not has_type_vars(type_) and not isinstance(proper, NoneType) and all(map(is_constant, nodes)):
        return anything
    functions = proper.items if isinstance(proper, UnionType) else [proper]
    callables = [item for item in map(get_proper_type, functions) if isinstance(item, CallableType)]
    if not callables or any(has_type_vars(item.ret_type) for item in callables):
        return type_  # the result of the lambda of `into` determines the type of the relation
    other = (
        unknown_type() if has_type_vars(type_) else anything
    )  # with an `object` in it, such a union would be no more
    return UnionType(
        [other, *(_add_default_parameters(item, nodes).copy_modified(ret_type=anything) for item in callables)]
    )


def _add_default_parameters(function: CallableType, nodes: Sequence[Expression]) -> CallableType:
    """Add optional parameters to a function type for the defaults of lambdas: ``lambda r, least=n: r.x > n``."""
    lambdas = [node for node in nodes if isinstance(node, LambdaExpr)]
    more = max((len(node.arg_kinds) - len(function.arg_kinds) for node in lambdas), default=0)
    optional = [ARG_OPT] * more
    if not optional or any(node.arg_kinds[-more:] != optional for node in lambdas):
        return function
    return function.copy_modified(
        arg_types=[*function.arg_types, *(unknown_type() for _ in optional)],
        arg_kinds=[*function.arg_kinds, *optional],
        arg_names=[*function.arg_names, *(None for _ in optional)],
    )
