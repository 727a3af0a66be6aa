"""Report relations that are assigned to a type with other columns: the difference, and what to write.

mypy would print both types, with all their columns, and not the difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import TypeInfo
from mypy.types import Instance, Type, UnionType, get_proper_type

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import SchemaError
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import Annotations
from substrait_dsl.mypy_plugin.declarations import is_schema
from substrait_dsl.mypy_plugin.file_variables import find_assignment_target
from substrait_dsl.mypy_plugin.mypy_internals import is_subtype
from substrait_dsl.mypy_plugin.names import RELATION
from substrait_dsl.mypy_plugin.reports import report
from substrait_dsl.mypy_plugin.source_positions import locate_method_name

if TYPE_CHECKING:
    from mypy.plugin import FunctionContext, MethodContext


def check_assignment(
    context: MethodContext | FunctionContext, annotations: Annotations, result_type: Type
) -> Type | None:
    """Report a relation that is assigned to a type with other columns.

    Args:
        context: the call that returns the relation.
        annotations: translates types.
        result_type: the type of the relation.

    Returns:
        the declared type if an error has been reported, else None.
    """
    expected = expected_relation(context)
    relation = get_proper_type(result_type)
    if expected is None or not isinstance(relation, Instance) or relation.type.fullname != RELATION:
        return None
    schema = get_proper_type(expected.args[0])
    if not isinstance(schema, Instance) or is_subtype(relation, expected):
        return None
    declared, columns = annotations.to_schema(schema), annotations.to_schema(relation.args[0])
    if declared is None or columns is None:
        return None
    if is_schema(schema.type):
        mistake = _explain_schema_class(schema.type, declared, columns)
    else:
        variable = find_assignment_target(context.context, annotations.checker)
        if variable is None:
            return None
        mistake = _explain_variable(variable, declared, columns)
    return expected if report(mistake, context.api, locate_method_name(context.context)) else None


def _explain_schema_class(schema: TypeInfo, declared: NamedStruct, columns: NamedStruct) -> SchemaError:
    """Return why columns are not those of a schema class."""
    name = schema.name
    error = compare_columns(declared, columns, name, schema.module_name)
    if error is None:
        return SchemaError(f"the columns are those of {name}, which must be declared", hint=f"write .as_({name})")
    error.hint = error.hint or f"make them with select(...) or into(...), then .as_({name})"
    return error


def _explain_variable(variable: str, assigned: NamedStruct, columns: NamedStruct) -> SchemaError:
    """Return why a relation cannot be assigned to a variable, whose columns are those of its first assignment."""
    name = f'the variable "{variable}"'
    error = compare_columns(assigned, columns, name, __name__)
    if error is None:
        error = SchemaError(f"the columns are those of {name}, but some are never NULL that may be in it")
    error.hint = f"give this step a name of its own, or declare {variable}: Relation"
    return error


def compare_columns(declared: NamedStruct, columns: NamedStruct, name: str, module: str) -> SchemaError | None:
    """Return the error of `as_` for columns and a schema class; None if it accepts them."""
    schema = placeholders.make_schema_class(module, name, declared)
    try:
        placeholders.make_relation(columns).as_(schema)
    except SchemaError as error:
        error.verb = None
        return error
    return None


def expected_relation(context: MethodContext | FunctionContext) -> Instance | None:
    """Return the relation type that is expected where a call stands; also if it is the only one in a union."""
    proper = get_proper_type(context.api.type_context[-1] if context.api.type_context else None)
    items = map(get_proper_type, proper.items) if isinstance(proper, UnionType) else [proper]
    relations = [item for item in items if isinstance(item, Instance) and item.type.fullname == RELATION]
    return relations[0] if len(relations) == 1 else None
