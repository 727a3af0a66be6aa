"""Relations that come where the program declares other columns: what differs is said, and what to do about it.

mypy would name both types, with every column of theirs, and say nothing of the difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import TypeInfo
from mypy.subtypes import is_subtype
from mypy.types import Instance, Type, UnionType, get_proper_type

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import SchemaError
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import Annotations
from substrait_dsl.mypy_plugin.declarations import is_schema
from substrait_dsl.mypy_plugin.names import RELATION
from substrait_dsl.mypy_plugin.reports import report
from substrait_dsl.mypy_plugin.source_positions import locate_method_name
from substrait_dsl.mypy_plugin.variables import find_assignment_target

if TYPE_CHECKING:
    from mypy.plugin import FunctionContext, MethodContext


def check_assignment(context: MethodContext | FunctionContext, annotations: Annotations, given: Type) -> Type | None:
    """The declared type that a relation has not, after it has been said why; None if there is nothing to say.

    Args:
        context: the call that gives the relation.
        annotations: what translates types.
        given: the type of the relation.
    """
    wanted = expected_relation(context)
    relation = get_proper_type(given)
    if wanted is None or not isinstance(relation, Instance) or relation.type.fullname != RELATION:
        return None
    schema = get_proper_type(wanted.args[0])
    if not isinstance(schema, Instance) or is_subtype(relation, wanted):
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
    return wanted if report(mistake, context.api, locate_method_name(context.context)) else None


def _explain_schema_class(schema: TypeInfo, declared: NamedStruct, columns: NamedStruct) -> SchemaError:
    """Why columns are not taken for those that a schema class declares."""
    name = schema.name
    error = _compare_columns(declared, columns, name, schema.module_name)
    if error is None:
        return SchemaError(f"the columns are those of {name}, which must be declared", hint=f"write .as_({name})")
    error.hint = error.hint or f"make them with select(...) or into(...), then .as_({name})"
    return error


def _explain_variable(variable: str, held: NamedStruct, columns: NamedStruct) -> SchemaError:
    """Why a relation is not taken for one that a variable holds, which has the columns that were assigned first."""
    name = f'the variable "{variable}"'
    error = _compare_columns(held, columns, name, __name__)
    if error is None:
        error = SchemaError(f"the columns are those of {name}, but some are never NULL that may be in it")
    error.hint = f"give this step a name of its own, or declare {variable}: Relation"
    return error


def _compare_columns(declared: NamedStruct, columns: NamedStruct, name: str, module: str) -> SchemaError | None:
    """What `as_` says of columns and a schema class; None if it takes them."""
    schema = placeholders.make_schema_class(module, name, declared)
    try:
        placeholders.make_relation(columns).as_(schema)
    except SchemaError as error:
        error.verb = None
        return error
    return None


def expected_relation(context: MethodContext | FunctionContext) -> Instance | None:
    """The relation that is wanted where a call stands, if it is one, perhaps among other things."""
    proper = get_proper_type(context.api.type_context[-1] if context.api.type_context else None)
    items = map(get_proper_type, proper.items) if isinstance(proper, UnionType) else [proper]
    relations = [item for item in items if isinstance(item, Instance) and item.type.fullname == RELATION]
    return relations[0] if len(relations) == 1 else None
