"""Report what schema classes declare that is no column: annotations that are no types, values, types as values."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final, Literal

from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    Context,
    Expression,
    IndexExpr,
    NameExpr,
    RefExpr,
    TempNode,
    TypeInfo,
    Var,
)
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

from substrait_dsl.algebra.types import I64
from substrait_dsl.errors import SchemaError, SubstraitDslError
from substrait_dsl.fluent.schemas import Schema
from substrait_dsl.mypy_plugin.allowed import is_evaluated
from substrait_dsl.mypy_plugin.codes import CODES
from substrait_dsl.mypy_plugin.declarations import has_unlisted_columns, is_schema, marked_targets
from substrait_dsl.mypy_plugin.mypy_internals import is_subtype
from substrait_dsl.mypy_plugin.names import NULLABLE, import_named, is_type
from substrait_dsl.mypy_plugin.python_values import is_python_class
from substrait_dsl.mypy_plugin.reports import format_error

if TYPE_CHECKING:
    from mypy.plugin import ClassDefContext


def check(context: ClassDefContext) -> None:
    """Create a class with each column, as Python will, and report the library's errors."""
    for base in context.cls.info.mro[1:]:
        if has_unlisted_columns(base):
            for symbol in base.names.values():
                if isinstance(symbol.node, Var) and not symbol.node.is_inferred:
                    _check_column(context, base.name, symbol.node, symbol.node.type, context.cls)
    for statement in context.cls.defs.body:
        match statement:
            case AssignmentStmt(lvalues=[NameExpr(name=name)], unanalyzed_type=None, rvalue=value):
                _check_constant(context, name, value, statement)
            case AssignmentStmt() if marked_targets(statement):
                pass  # its type is in metadata, of which mypy knows nothing
            case AssignmentStmt(lvalues=[NameExpr(node=Var() as variable)], type=type_):
                has_value = not isinstance(statement.rvalue, TempNode) and not context.api.is_stub_file
                _check_column(context, context.cls.name, variable, type_, statement, has_value=has_value)


def _check_column(
    context: ClassDefContext,
    owner: str,
    variable: Var,
    type_: Type | None,
    location: Context,
    *,
    has_value: bool = False,
) -> None:
    name = variable.name
    is_private = name.startswith("__")
    if is_private and not name.endswith("__"):
        name = f"_{owner.lstrip('_')}{name}"
    try:
        if not variable.is_classvar:
            annotation = I64 if is_private else Final if variable.is_final else _make_annotation(type_)
            values = {name: None} if has_value else {}
            _make_class(context, {"__annotations__": {name: annotation}, **values}, location)
    except LookupError:
        pass


def _check_constant(context: ClassDefContext, name: str, value: Expression, location: Context) -> None:
    """Report ``x = I64``, with which a column was meant. Other constants are no mistake."""
    match value:
        case CallExpr(callee=RefExpr(node=TypeInfo() as info)) | IndexExpr(base=RefExpr(node=TypeInfo() as info)):
            pass
        case RefExpr(node=TypeInfo() as info):
            pass
        case _:
            return
    if is_type(info.fullname) or info.fullname == NULLABLE:
        _make_class(context, {name: import_named(info.fullname)}, location)


def _make_class(context: ClassDefContext, body: dict[str, Any], location: Context) -> None:
    """Create a class with some of its names, and report the library's error."""
    try:
        type(context.cls.name, (Schema,), body)
    except SubstraitDslError as error:
        context.api.fail(format_error(error), location, code=CODES[SchemaError])


def _is_omitted(parameter: Type) -> bool:
    proper = get_proper_type(parameter)
    return isinstance(proper, AnyType) and proper.type_of_any != TypeOfAny.from_error


def _make_annotation(type_: Type | None) -> Any:
    """Return an annotation as Python evaluates it. Raise `LookupError` if only the program or mypy knows it."""
    match get_proper_type(type_):
        case Instance(type=info) if is_schema(info):
            return type(info.name, (Schema,), {"__module__": info.module_name})  # whatever its columns are
        case LiteralType(value=value):
            return Literal[value]
        case NoneType():
            return None
        case AnyType(type_of_any=TypeOfAny.explicit):
            return Any
        case Instance(type=info, args=args) if is_evaluated(info.fullname) and args and all(map(_is_omitted, args)):
            return import_named(info.fullname)  # it needs type arguments
        case UnionType(items=items):
            return reduce(or_, map(_make_annotation, items))
        case Instance(type=info, args=args) if is_evaluated(info.fullname) or is_python_class(info.fullname):
            class_ = import_named(info.fullname)
            for argument, variable in zip(args, info.defn.type_vars, strict=False):
                if isinstance(variable, TypeVarType) and not is_subtype(argument, variable.upper_bound):
                    break  # mypy reports it
            else:
                return class_[tuple(map(_make_annotation, args))] if args else class_
    raise LookupError
