"""Whether the values of a type, or the items of a list or dict, can be changed."""

from __future__ import annotations

from mypy.nodes import DictExpr, Expression, ListExpr, TupleExpr
from mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    TupleType,
    Type,
    TypeType,
    UnionType,
    get_proper_type,
)

from substrait_dsl.fluent.arguments import NoValue
from substrait_dsl.mypy_plugin.allowed import is_evaluated
from substrait_dsl.mypy_plugin.names import full_name
from substrait_dsl.mypy_plugin.python_values import MODULES
from substrait_dsl.mypy_plugin.syntax import is_constant

_NO_VALUE = full_name(NoValue)
"""The base class of incomplete values such as ``when(...)``: none of its methods changes it."""

_PLAIN = frozenset(f"builtins.{name}" for name in ("bool", "bytes", "float", "int", "str"))


def is_immutable(type_: Type | None) -> bool:
    """Whether the values of a type are immutable."""
    match get_proper_type(type_):
        case Instance(type=info, args=arguments):
            if info.fullname == "builtins.tuple":
                return all(map(is_immutable, arguments))
            is_plain = info.fullname in _PLAIN or info.fullname.partition(".")[0] in MODULES
            return is_plain or is_evaluated(info.fullname) or info.has_base(_NO_VALUE)
        case TupleType(items=items):
            return all(map(is_immutable, items))
        case UnionType(items=items):
            return all(map(is_immutable, items))
        case NoneType() | LiteralType() | TypeType() | CallableType():
            return True
    return False


def has_immutable_items(type_: Type | None) -> bool:
    """Whether the items of a list or dict are immutable."""
    proper = get_proper_type(type_)
    if isinstance(proper, TupleType):
        return all(map(is_immutable, proper.items))
    return isinstance(proper, Instance) and bool(proper.args) and all(map(is_immutable, proper.args))


def are_items_constant(node: Expression) -> bool:
    """Whether the items of a list or dict are constants, or tuples of such: whatever its type, they are immutable."""
    match node:
        case ListExpr(items=items) | TupleExpr(items=items):
            return all(map(_is_constant_item, items))
        case DictExpr(items=pairs):
            return all(key is not None and _is_constant_item(value) for key, value in pairs)
    return False


def _is_constant_item(node: Expression) -> bool:
    return is_constant(node) and not isinstance(node, ListExpr | DictExpr)
