"""Columns of schema classes whose annotations are no types of Substrait: said where they stand."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Literal

from mypy.nodes import AssignmentStmt, NameExpr, Var
from mypy.subtypes import is_subtype
from mypy.types import (
    AnyType,
    Instance,
    LiteralType,
    NoneType,
    Type,
    TypeOfAny,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from substrait_dsl.errors import SchemaError, SubstraitDslError
from substrait_dsl.fluent.schemas import Schema
from substrait_dsl.mypy_plugin.codes import CODES
from substrait_dsl.mypy_plugin.names import LIST, MAP, NULLABLE, SIMPLE, SIZED, imported
from substrait_dsl.mypy_plugin.python_values import is_python
from substrait_dsl.mypy_plugin.reports import sentence

if TYPE_CHECKING:
    from mypy.plugin import ClassDefContext

OURS = frozenset((*SIMPLE, *SIZED, NULLABLE, LIST, MAP))


def check(context: ClassDefContext) -> None:
    """Make a class of each column, as Python will; what the library says of it is said here."""
    for statement in context.cls.defs.body:
        match statement:
            case AssignmentStmt(lvalues=[NameExpr(name=name, node=Var(is_classvar=False))], type=Type() as kind):
                try:
                    type(context.cls.name, (Schema,), {"__annotations__": {name: _annotation(kind)}})
                except SubstraitDslError as error:
                    context.api.fail(sentence(error), statement, code=CODES[SchemaError])
                except LookupError:
                    pass


def _is_left_out(parameter: Type) -> bool:
    proper = get_proper_type(parameter)
    return isinstance(proper, AnyType) and proper.type_of_any != TypeOfAny.from_error


def _annotation(kind: Type) -> Any:
    """An annotation as Python sees it. Raises `LookupError` for what it depends on the program to know, or on mypy."""
    match get_proper_type(kind):
        case LiteralType(value=value):
            return Literal[value]
        case NoneType():
            return None
        case AnyType(type_of_any=TypeOfAny.explicit):
            return Any
        case Instance(type=info, args=args) if info.fullname in OURS and args and all(map(_is_left_out, args)):
            return imported(info.fullname)  # which needs parameters
        case UnionType(items=items):
            return reduce(or_, map(_annotation, items))
        case Instance(type=info, args=args) if info.fullname in OURS or is_python(info.fullname):
            known = imported(info.fullname)
            for argument, variable in zip(args, info.defn.type_vars, strict=False):
                if isinstance(variable, TypeVarType) and not is_subtype(argument, variable.upper_bound):
                    break  # mypy says so itself
            else:
                return known[tuple(map(_annotation, args))] if args else known
    raise LookupError
