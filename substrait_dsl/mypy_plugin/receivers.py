"""Whether objects of a file are of classes of the library or of Python, by syntax and annotations.

No verb changes its arguments. But a method of a class of the program may, and it may have the name of a verb; an
operator of such a class may, too. mypy may not have inferred yet of which class an object is.
"""

from __future__ import annotations

from collections.abc import Mapping

from mypy.nodes import (
    BytesExpr,
    CallExpr,
    ComparisonExpr,
    Decorator,
    DictExpr,
    DictionaryComprehension,
    Expression,
    FloatExpr,
    FuncDef,
    IndexExpr,
    IntExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    OverloadedFuncDef,
    RefExpr,
    SetComprehension,
    SetExpr,
    StrExpr,
    SymbolNode,
    TupleExpr,
    TypeInfo,
    UnaryExpr,
    Var,
)
from mypy.types import Instance, Type, TypeType, UnionType, get_proper_type

from substrait_dsl.mypy_plugin.declarations import is_column, is_schema

_DISPLAYS = (
    BytesExpr,
    ComparisonExpr,
    DictExpr,
    DictionaryComprehension,
    FloatExpr,
    IntExpr,
    ListComprehension,
    ListExpr,
    SetComprehension,
    SetExpr,
    StrExpr,
    TupleExpr,
)
"""Expressions whose values are of classes of Python, or of this library."""

_MAX_DEPTH = 100
"""The greatest length of a chain that is followed: variables may be assigned to each other."""


class Receivers:
    """Distinguishes objects of the library and of Python from those of classes of the program.

    Args:
        assigned: the expression of each variable that is assigned once.
        calls_with_lambda: the calls with lambdas as arguments, by the parameters of the lambdas.
    """

    def __init__(
        self, assigned: Mapping[SymbolNode, Expression | None], calls_with_lambda: Mapping[SymbolNode, CallExpr]
    ) -> None:
        self._assigned = assigned
        self._calls_with_lambda = calls_with_lambda

    def is_harmless(self, node: Expression | None, depth: int = 0) -> bool:
        """Whether an object is of no class of the program. False if that is not known."""
        depth += 1
        if node is None or depth > _MAX_DEPTH:
            return False
        match node:
            case OpExpr(left=left, right=right):
                return self.is_harmless(left, depth) and self.is_harmless(right, depth)
            case IndexExpr(base=RefExpr(node=Var(type=Instance(type=info)))) if is_schema(info):
                return True  # a column of a row
            case UnaryExpr(expr=inner) | IndexExpr(base=inner):
                return self.is_harmless(inner, depth)
            case CallExpr(callee=callee):
                return self._is_harmless_call(callee, depth)
            case RefExpr(node=Var(type=type_)) if type_ is not None:
                return _is_harmless_type(type_)
            case RefExpr(node=TypeInfo(fullname=name)):
                return _is_foreign(name)
            case MemberExpr(expr=inner, name=name):
                return self._is_harmless_attribute(inner, name, depth)
            case NameExpr(node=Var() as variable):
                if variable in self._calls_with_lambda:
                    return self.is_harmless(
                        self._calls_with_lambda[variable], depth
                    )  # the row of a relation, if it is a verb
                return self.is_harmless(self._assigned.get(variable), depth)
        return isinstance(node, _DISPLAYS)

    def _is_harmless_call(self, callee: Expression, depth: int) -> bool:
        """Whether the result of a call is harmless."""
        match callee:
            case RefExpr(node=Decorator(func=function)) | RefExpr(node=FuncDef() as function):
                type_ = get_proper_type(function.type)
                result = getattr(type_, "ret_type", None)
                return _is_foreign(function.fullname) or (result is not None and _is_harmless_type(result))
            case RefExpr(node=OverloadedFuncDef(fullname=name)):
                return _is_foreign(name)
        return self.is_harmless(callee, depth)  # a class, or a method of something harmless

    def _is_harmless_attribute(self, owner: Expression, name: str, depth: int) -> bool:
        """Whether an attribute of an object is harmless."""
        type_ = owner.node.type if isinstance(owner, RefExpr) and isinstance(owner.node, Var) else None
        proper = get_proper_type(type_)
        if not isinstance(proper, Instance) or _is_foreign(proper.type.fullname):
            return self.is_harmless(owner, depth)
        if proper.type.get(name) is not None and is_column(proper.type, name):
            return True
        symbol = proper.type.get(name)
        attribute_type = symbol.node.type if symbol is not None and isinstance(symbol.node, Var) else None
        return attribute_type is not None and _is_harmless_type(attribute_type)


def _is_foreign(fullname: str) -> bool:
    """Whether a class or function is one of the library or of Python."""
    return fullname.startswith(("substrait_dsl.", "builtins."))


def _is_harmless_type(type_: Type) -> bool:
    match get_proper_type(type_):
        case Instance(type=info):
            return _is_foreign(info.fullname)
        case UnionType(items=items):
            return all(map(_is_harmless_type, items))
        case TypeType(item=item):
            return _is_harmless_type(item)
    return False
