"""Relations that come where the program declares other columns: what differs is said, and what to do about it.

mypy would name both types, with every column of theirs, and say nothing of the difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.subtypes import is_subtype
from mypy.types import Instance, Type, UnionType, get_proper_type

from substrait_dsl.errors import SchemaError
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import Annotations
from substrait_dsl.mypy_plugin.declarations import is_schema
from substrait_dsl.mypy_plugin.names import RELATION
from substrait_dsl.mypy_plugin.places import end_of
from substrait_dsl.mypy_plugin.reports import report

if TYPE_CHECKING:
    from mypy.plugin import FunctionContext, MethodContext


def taken_for(context: MethodContext | FunctionContext, annotations: Annotations, given: Type) -> Type | None:
    """The declared type that a relation has not, after it has been said why; None if there is nothing to say.

    Args:
        context: the call that gives the relation.
        annotations: what translates types.
        given: the type of the relation.
    """
    wanted = _declared(context.api.type_context[-1] if context.api.type_context else None)
    relation = get_proper_type(given)
    if wanted is None or not isinstance(relation, Instance) or relation.type.fullname != RELATION:
        return None
    schema = get_proper_type(wanted.args[0])
    if not isinstance(schema, Instance) or not is_schema(schema.type) or is_subtype(relation, wanted):
        return None
    declared, columns = annotations.declared(schema.type), annotations.columns_of(relation.args[0])
    if declared is None or columns is None:
        return None
    name = schema.type.name
    try:
        placeholders.relation(columns).as_(placeholders.schema_class(schema.type.module_name, name, declared))
    except SchemaError as error:
        error.verb = None
        error.hint = f"make them with select(...) or into(...), then .as_({name})" if error.hint is None else error.hint
        mistake = error
    else:
        mistake = SchemaError(f"the columns are those of {name}, which must be declared", hint=f"write .as_({name})")
    return wanted if report(mistake, context.api, end_of(context.context)) else None


def _declared(wanted: Type | None) -> Instance | None:
    """The relation that is wanted, if it is one, perhaps among other things."""
    proper = get_proper_type(wanted)
    items = map(get_proper_type, proper.items) if isinstance(proper, UnionType) else [proper]
    relations = [item for item in items if isinstance(item, Instance) and item.type.fullname == RELATION]
    return relations[0] if len(relations) == 1 else None
