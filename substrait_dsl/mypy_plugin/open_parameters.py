"""Functions of the program that take any relation with some columns, and give one with the same and its others.

``def large(rows: Relation[R]) -> Relation[R]``, with `R` bound to a schema class, asks for the columns of this class.
To mypy a relation fits only if its columns are declared by a class that inherits from it. So in a call the type
variable takes any columns, and those of the argument are compared here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mypy.plugin import FunctionContext
from mypy.types import CallableType, Instance, Type, TypeVarType, UnionType, get_proper_type

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import SubstraitDslError, UnknownFieldError
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations
from substrait_dsl.mypy_plugin.assignment_checks import compare_columns
from substrait_dsl.mypy_plugin.declarations import SCHEMA
from substrait_dsl.mypy_plugin.helper_call_checks import check_call
from substrait_dsl.mypy_plugin.mypy_internals import add_dependencies, is_subtype
from substrait_dsl.mypy_plugin.names import RELATION
from substrait_dsl.mypy_plugin.open_signatures import find_bound, find_variable
from substrait_dsl.mypy_plugin.reports import report

if TYPE_CHECKING:
    from mypy.plugin import FunctionSigContext, MethodContext, MethodSigContext


def accept_any_columns(context: FunctionSigContext | MethodSigContext, declared: CallableType) -> CallableType:
    """Return the signature of a call with type variables that take any columns, where they are compared here."""
    signature = context.default_signature
    schema = Annotations(context.api).make_instance(SCHEMA)
    opened = {variable.name for type_ in declared.arg_types if (variable := find_variable(type_)) and find_bound(type_)}
    return signature.copy_modified(
        variables=[
            each.copy_modified(upper_bound=schema) if isinstance(each, TypeVarType) and each.name in opened else each
            for each in signature.variables
        ]
    )


def check_arguments(context: FunctionContext | MethodContext, declared: CallableType) -> Type:
    """Report arguments that have not the columns that the parameters ask for."""
    annotations = Annotations(context.api)
    is_wrong = False
    parameters = declared.arg_types[len(declared.arg_types) - len(context.args) :]  # without what a method is called on
    for parameter, nodes, types in zip(parameters, context.args, context.arg_types, strict=True):
        bound = find_bound(parameter)
        if bound is None:
            continue
        add_dependencies(context.api, [bound.type.fullname])
        for node, type_ in zip(nodes, types, strict=True):
            for mistake in _find_mistakes(annotations, bound, type_):
                mistake.verb = declared.name and declared.name.partition(" of ")[0].strip('"')
                is_wrong |= report(mistake, context.api, node)
    if isinstance(context, FunctionContext) and not is_wrong:
        return check_call(context)
    return context.default_return_type


def _find_mistakes(annotations: Annotations, bound: Instance, type_: Type) -> Iterator[SubstraitDslError]:
    """Return what is wrong with the columns of an argument."""
    match get_proper_type(type_):
        case Instance(type=info, args=[row]) if info.fullname == RELATION and not is_subtype(row, bound):
            columns, declared = annotations.to_schema(row), annotations.to_schema(bound)
            mistake = None if columns is None or declared is None else _compare(columns, declared, bound)
            if mistake is not None:
                yield mistake
        case UnionType(items=items):
            for item in items:
                yield from _find_mistakes(annotations, bound, item)


def _compare(columns: NamedStruct, declared: NamedStruct, bound: Instance) -> SubstraitDslError | None:
    """Return why columns are not at least those of a class: each once, of its type, and NULL only if it may be."""
    positions = []
    try:
        for field in declared:
            if not placeholders.is_nameless(columns.names) or field.name in columns.names:
                positions.append(columns.position(field.name))
    except UnknownFieldError as error:
        error.inside = f": {field.type}, which {bound.type.name} declares"
        return error
    except SubstraitDslError as error:  # ambiguous
        return error
    found = [columns.fields[position] for position in positions if columns.fields[position].type != UNKNOWN]
    asked = [declared.fields[declared.position(field.name)] for field in found]
    comparable = [(one, other) for one, other in zip(found, asked, strict=True) if other.type != UNKNOWN]
    if not comparable:
        return None
    found_struct, asked_struct = (NamedStruct(tuple(fields)) for fields in zip(*comparable, strict=True))
    return compare_columns(asked_struct, found_struct, bound.type.name, bound.type.module_name)
