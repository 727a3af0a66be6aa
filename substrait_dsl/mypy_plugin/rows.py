"""Infer the types of attributes and items of rows and relations: columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import Expression, IndexExpr, IntExpr, StrExpr
from mypy.types import Instance, Type, TypeVarType, get_proper_type

from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.fluent.reveal import describe_revealed
from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations, is_annotation, literal_value
from substrait_dsl.mypy_plugin.calls import infer_method_call
from substrait_dsl.mypy_plugin.checker_state import STATE
from substrait_dsl.mypy_plugin.mypy_internals import find_type, is_in_lambda, show_note
from substrait_dsl.mypy_plugin.names import DYN_EXPR, EXPR, RELATION
from substrait_dsl.mypy_plugin.open_evaluation import find_known
from substrait_dsl.mypy_plugin.open_relations import describe
from substrait_dsl.mypy_plugin.reports import report
from substrait_dsl.mypy_plugin.results import is_dynamic_expected

if TYPE_CHECKING:
    from mypy.plugin import AttributeContext, FunctionContext, MethodContext


def infer_attribute(context: AttributeContext, name: str) -> Type:
    """Return the type of an attribute of a row: a column."""
    return _infer_column(context, context.type, name) or context.default_attr_type


def infer_item(context: MethodContext) -> Type:
    """Return the type of an item of a relation or row: a column. Keys that the program computes go to the method."""
    if isinstance(context.context, IndexExpr) and _is_of_variable(context.context.base, context):
        return context.default_return_type  # it may have more columns, in any order
    match context.context, context.type:
        case IndexExpr(index=StrExpr(value=column) | IntExpr(value=column)), Instance(type=info, args=args) as instance:
            row = args[0] if info.fullname == RELATION else instance
            return _infer_column(context, row, column) or context.default_return_type
    return infer_method_call(context, "__getitem__")


def _is_of_variable(node: Expression, context: MethodContext) -> bool:
    """Whether an expression is a row of which a type variable says the least columns."""
    return isinstance(get_proper_type(find_type(context.api, node)), TypeVarType)


def _infer_column(context: AttributeContext | MethodContext, row: Type, column: str | int) -> Type | None:
    annotations = Annotations(context.api)
    STATE.begin_node(context.api, context.context)
    struct = annotations.to_schema(row)
    if struct is None:
        return None
    try:
        type_ = struct.fields[struct.position(column)].type
    except SubstraitDslError as error:
        if report(error, context.api, context.context) and not is_in_lambda(context.api):
            STATE.mark_reported(context.context)
        return annotations.make_instance(DYN_EXPR)
    return annotations.make_typed(EXPR, type_) if is_annotation(type_) and not is_dynamic_expected(context) else None


def reveal_schema(context: FunctionContext) -> Type:
    """Show the columns of a relation in a note."""
    annotations = Annotations(context.api)
    if not context.arg_types or not context.arg_types[0]:
        return context.default_return_type  # mypy says that the relation is missing
    relation = get_proper_type(context.arg_types[0][0])
    struct = annotations.to_schema(relation.args[0]) if isinstance(relation, Instance) and relation.args else None
    names = context.arg_types[1] if len(context.arg_types) > 1 else []
    name = literal_value(get_proper_type(names[0])) if names else None
    is_known = struct is not None and all(field.type != UNKNOWN for field in struct)
    if struct is not None and is_known and isinstance(name, str):
        try:
            shown = describe_revealed(struct, name)
        except SubstraitDslError as error:
            error.verb = error.verb or "reveal_schema"
            report(error, context.api, context.context)
            return context.default_return_type
    elif struct is None:
        known = find_known(annotations, relation, context.args[0][0])
        if known is not None:
            STATE.store_open_value(context.context, known)
        text = "" if known is None else describe(known._rel.schema)
        shown = f"Schema is {text if text not in ('', '...') else 'unknown'}"
    else:
        shown = f"Schema is {str(struct).replace(str(UNKNOWN), 'unknown')}"
    show_note(context.api, shown, context.context)
    return context.default_return_type
