"""Read constants and the names of columns and functions from the syntax of a program."""

from __future__ import annotations

from typing import Any

from mypy.nodes import (
    BytesExpr,
    CallExpr,
    ComparisonExpr,
    DictExpr,
    Expression,
    FloatExpr,
    FuncDef,
    IndexExpr,
    IntExpr,
    LambdaExpr,
    ListExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    OverloadedFuncDef,
    RefExpr,
    StrExpr,
    TupleExpr,
    TypeInfo,
    UnaryExpr,
)

from substrait_dsl.mypy_plugin.allowed import is_evaluated
from substrait_dsl.mypy_plugin.declarations import is_schema
from substrait_dsl.mypy_plugin.names import is_type
from substrait_dsl.mypy_plugin.nodes import walk
from substrait_dsl.mypy_plugin.placeholders import NAMELESS

NO_CONSTANT = object()


def read_constant(node: Expression) -> Any:
    """Return the value of a constant; `NO_CONSTANT` for anything else."""
    match node:
        case StrExpr(value=value) | IntExpr(value=value) | FloatExpr(value=value):
            return value
        case BytesExpr(value=value):
            return value.encode("latin-1").decode("unicode_escape").encode("latin-1")
        case NameExpr(fullname="builtins.True"):
            return True
        case NameExpr(fullname="builtins.False"):
            return False
        case NameExpr(fullname="builtins.None"):
            return None
        case UnaryExpr(op="-", expr=IntExpr(value=value) | FloatExpr(value=value)):
            return -value
    return NO_CONSTANT


def is_constant(node: Expression) -> bool:
    """Whether an expression is a constant, or a list, tuple or dict of such."""
    match node:
        case TupleExpr(items=items) | ListExpr(items=items):
            return all(map(is_constant, items))
        case DictExpr(items=pairs):
            return all(key is not None and is_constant(key) and is_constant(value) for key, value in pairs)
    return read_constant(node) is not NO_CONSTANT


def column_name(node: Expression) -> str | None:
    """Return the name of an expression as a column: None if it has none, `NAMELESS` if it is not known."""
    match node:
        case MemberExpr(name=name):
            return name
        case IndexExpr(index=StrExpr(value=name)):
            return name
        case CallExpr(callee=RefExpr(node=FuncDef(name="col")), args=[StrExpr(value=name)]):
            return name
        case CallExpr(callee=MemberExpr(name="alias"), args=[StrExpr(value=name)]):
            return name
        case CallExpr(callee=MemberExpr(expr=inner, name="cast" | "keep")):
            return column_name(inner)
        case OpExpr() | UnaryExpr() | ComparisonExpr():
            return None
        case CallExpr(callee=RefExpr(node=FuncDef() | OverloadedFuncDef() as function)) if is_evaluated(
            function.fullname
        ):
            return None
        case CallExpr(callee=MemberExpr(expr=inner)) if not isinstance(inner, RefExpr):
            return None
    return NAMELESS


def function_name(node: Expression | None) -> str:
    """Return the name of the function that is called, for errors."""
    match node:
        case CallExpr(callee=RefExpr(node=FuncDef(name=name) | OverloadedFuncDef(name=name))):
            return name
    return "this"


def is_type_expression(node: Expression) -> bool:
    """Whether an expression is a type of Substrait: its class, or a call of it."""
    match node:
        case RefExpr(node=TypeInfo(fullname=name)) | CallExpr(callee=RefExpr(node=TypeInfo(fullname=name))):
            return is_type(name)
    return False


def instantiated_schema(node: Expression) -> TypeInfo | None:
    """Return the schema class of which a call makes an instance; None if it is another call."""
    match node:
        case CallExpr(callee=RefExpr(node=TypeInfo() as info)) if is_schema(info):
            return info
    return None


def has_untyped_parameters(node: Expression) -> bool:
    """Whether mypy knows no types of parameters of a lambda: one has a default, or the lambda is in another one."""
    if isinstance(node, LambdaExpr) and any(argument.initializer for argument in node.arguments):
        return True
    lambdas = [part for part in walk(node) if isinstance(part, LambdaExpr)]
    return len(lambdas) > isinstance(node, LambdaExpr)
