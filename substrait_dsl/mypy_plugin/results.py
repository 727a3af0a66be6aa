"""The types of results of calls, as types of mypy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mypy.types import Instance, Type, get_proper_type

from substrait_dsl.fluent.calls import Measure, WindowFunction
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import Annotations, is_annotation
from substrait_dsl.mypy_plugin.argument_evaluator import is_unbound
from substrait_dsl.mypy_plugin.names import EXPR, EXPRESSIONS, MEASURE, RELATION, WINDOW_FUNCTION
from substrait_dsl.mypy_plugin.placeholders import is_nameless

if TYPE_CHECKING:
    from mypy.plugin import AttributeContext, FunctionContext, MethodContext, MethodSigContext

DECLARING = ("into", "as_")
"""Verbs whose result has the declared columns, though a nullable one may be required in fact."""


def infer_result_type(annotations: Annotations, result: object, verb: str, default: Type) -> Type | None:
    """Return the type of the result of a verb or function; None if it is not known.

    Args:
        annotations: translates types.
        result: the result.
        verb: the name of the verb or function.
        default: the type that mypy has found for it.
    """
    declared = get_proper_type(default)
    match result:
        case Relation():
            return _infer_relation_type(annotations, result, verb, declared)
        case GroupBy(keys=keys):
            if is_nameless(keys.names) or not isinstance(declared, Instance):
                return None
            return declared.copy_modified(args=[declared.args[0], annotations.make_row(keys)])
    for class_, fullname in ((ExprBase, EXPR), (Measure, MEASURE), (WindowFunction, WINDOW_FUNCTION)):
        if isinstance(result, class_):
            type_ = placeholders.derive_result_type(result)
            return annotations.make_typed(fullname, type_) if type_ is not None and is_annotation(type_) else None
    return None


def _infer_relation_type(annotations: Annotations, result: Relation[Any], verb: str, default: Type) -> Type | None:
    struct = result.schema.struct
    if is_nameless(struct.names):
        return None
    if verb in DECLARING:
        return default
    if not isinstance(default, Instance) or annotations.to_schema(default.args[0]) == struct:
        return default  # a declared schema that still holds
    return annotations.make_instance(RELATION, [annotations.make_row(struct)])


def have_same_columns(results: Sequence[object]) -> bool:
    """Whether all results of a call have the same columns, and the same keys of groups."""
    return len(results) == 1 or len(set(map(_describe_columns, results))) == 1


def _describe_columns(result: object) -> object:
    match result:
        case Relation():
            return str(result._rel.schema)
        case GroupBy(keys=keys):
            return str(result._relation._rel.schema), str(keys)
    return None


def is_expression(type_: Type | None) -> bool:
    """Whether a type is that of an expression, a measure or a window function."""
    proper = get_proper_type(type_)
    return isinstance(proper, Instance) and proper.type.fullname in EXPRESSIONS


def is_dynamic_expected(context: MethodContext | MethodSigContext | FunctionContext | AttributeContext) -> bool:
    """Whether the result is assigned to a declared `DynExpr`, of which nothing is to be known."""
    expected = context.api.type_context[-1] if context.api.type_context else None
    return expected is not None and is_unbound(expected)
