"""Which functions of the program ask for at least some columns, or give a relation.

The library is not loaded for that.
"""

from __future__ import annotations

from mypy.nodes import Decorator, FuncDef, SymbolTableNode
from mypy.types import CallableType, Instance, Type, TypeVarType, UnionType, get_proper_type

from substrait_dsl.mypy_plugin.container_types import RELATION
from substrait_dsl.mypy_plugin.declarations import is_schema


def find_signature(symbol: SymbolTableNode) -> CallableType | None:
    """Return the signature of a function that has a parameter ``Relation[R]``, with `R` bound to a schema class."""
    node = symbol.node
    declared = node.type if isinstance(node, FuncDef | Decorator) else None
    if not isinstance(declared, CallableType) or not declared.variables:
        return None
    return declared if any(find_bound(type_) is not None for type_ in declared.arg_types) else None


def gives_relation(symbol: SymbolTableNode) -> bool:
    """Whether a function of the program is declared to give a relation."""
    declared = symbol.node.type if isinstance(symbol.node, FuncDef) else None
    result = get_proper_type(declared.ret_type) if isinstance(declared, CallableType) else None
    return isinstance(result, Instance) and result.type.fullname == RELATION


def find_bound(type_: Type) -> Instance | None:
    """Return the schema class that the columns of a parameter are bound to; None if it is another parameter."""
    variable = find_variable(type_)
    bound = None if variable is None else get_proper_type(variable.upper_bound)
    return bound if isinstance(bound, Instance) and is_schema(bound.type) else None


def find_variable(type_: Type) -> TypeVarType | None:
    """Return `R` of ``Relation[R]``, or of a union with it, such as ``Relation[R] | None``."""
    match get_proper_type(type_):
        case Instance(type=info, args=[TypeVarType() as variable]) if info.fullname == RELATION:
            return variable
        case UnionType(items=items):
            return next((found for item in items if (found := find_variable(item)) is not None), None)
    return None
