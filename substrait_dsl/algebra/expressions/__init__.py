"""The expression language: one class per kind of expression, all of them frozen and typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions.calls import Argument, EnumArgument, FunctionOption, ScalarFunction, TypeArgument
from substrait_dsl.algebra.expressions.intervals import Compound, DaySeconds, YearMonths
from substrait_dsl.algebra.expressions.literals import Literal, fits, literal, natural_type
from substrait_dsl.algebra.expressions.references import (
    ROOT,
    FieldAccess,
    FieldReference,
    LambdaParameter,
    ListElement,
    MapKey,
    OuterReference,
    Root,
    RootReference,
    Segment,
    StructField,
)
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.loading import load_when_used
from substrait_dsl.algebra.node import Expression

if TYPE_CHECKING:
    from substrait_dsl.algebra.expressions.aggregates import AggregateFunction, Measure
    from substrait_dsl.algebra.expressions.conditionals import (
        FAILURE_BEHAVIORS,
        Cast,
        FailureBehavior,
        IfClause,
        IfThen,
        MultiOrList,
        OrListRecord,
        SingularOrList,
        Switch,
        SwitchCase,
    )
    from substrait_dsl.algebra.expressions.lambdas import Lambda, LambdaInvocation, parameter, parameter_in_subquery
    from substrait_dsl.algebra.expressions.masks import ListMask, Mask, MaskedReference, MaskItem, Row, StructMask
    from substrait_dsl.algebra.expressions.nested import MapEntry, NestedList, NestedMap, NestedStruct
    from substrait_dsl.algebra.expressions.parameters import (
        CONTEXT_VARIABLES,
        ContextVariable,
        DynamicParameter,
        ExecutionContextVariable,
        remember_type,
    )
    from substrait_dsl.algebra.expressions.sort_keys import SortKey
    from substrait_dsl.algebra.expressions.subqueries import (
        ComparisonOp,
        InPredicate,
        ReductionOp,
        ScalarSubquery,
        SetComparison,
        SetPredicate,
        SetPredicateOp,
    )
    from substrait_dsl.algebra.expressions.union import AnyExpression
    from substrait_dsl.algebra.expressions.windows import (
        BOUND_KINDS,
        BOUNDS_TYPES,
        CURRENT_ROW,
        UNBOUNDED,
        Bound,
        BoundKind,
        BoundsType,
        WindowCall,
        WindowFunction,
        is_zero,
    )


def as_union(expression: Expression) -> AnyExpression:
    """Return the same expression, as a member of the closed union."""
    return expression  # type: ignore[return-value]  # there are no others; `cast` would cost a call for each


__all__ = [
    "BOUNDS_TYPES",
    "BOUND_KINDS",
    "CONTEXT_VARIABLES",
    "CURRENT_ROW",
    "FAILURE_BEHAVIORS",
    "ROOT",
    "UNBOUNDED",
    "AggregateFunction",
    "AnyExpression",
    "Argument",
    "Bound",
    "BoundKind",
    "BoundsType",
    "Cast",
    "ComparisonOp",
    "Compound",
    "ContextVariable",
    "DaySeconds",
    "DynamicParameter",
    "EnumArgument",
    "ExecutionContextVariable",
    "Expression",
    "FailureBehavior",
    "FieldAccess",
    "FieldReference",
    "FunctionId",
    "FunctionOption",
    "IfClause",
    "IfThen",
    "InPredicate",
    "Lambda",
    "LambdaInvocation",
    "LambdaParameter",
    "ListElement",
    "ListMask",
    "Literal",
    "MapEntry",
    "MapKey",
    "Mask",
    "MaskItem",
    "MaskedReference",
    "Measure",
    "MultiOrList",
    "NestedList",
    "NestedMap",
    "NestedStruct",
    "OrListRecord",
    "OuterReference",
    "ReductionOp",
    "Root",
    "RootReference",
    "Row",
    "ScalarFunction",
    "ScalarSubquery",
    "Segment",
    "SetComparison",
    "SetPredicate",
    "SetPredicateOp",
    "SingularOrList",
    "SortKey",
    "StructField",
    "StructMask",
    "Switch",
    "SwitchCase",
    "TypeArgument",
    "WindowCall",
    "WindowFunction",
    "YearMonths",
    "as_union",
    "fits",
    "is_zero",
    "literal",
    "natural_type",
    "parameter",
    "parameter_in_subquery",
    "remember_type",
]

SELDOM_USED: Mapping[str, tuple[str, ...]] = {
    "aggregates": ("AggregateFunction", "Measure"),
    "conditionals": (
        "FAILURE_BEHAVIORS", "Cast", "FailureBehavior", "IfClause", "IfThen", "MultiOrList", "OrListRecord",
        "SingularOrList", "Switch", "SwitchCase",
    ),
    "lambdas": ("Lambda", "LambdaInvocation", "parameter", "parameter_in_subquery"),
    "masks": ("ListMask", "Mask", "MaskItem", "MaskedReference", "Row", "StructMask"),
    "nested": ("MapEntry", "NestedList", "NestedMap", "NestedStruct"),
    "parameters": (
        "CONTEXT_VARIABLES", "ContextVariable", "DynamicParameter", "ExecutionContextVariable", "remember_type",
    ),
    "sort_keys": ("SortKey",),
    "subqueries": (
        "ComparisonOp", "InPredicate", "ReductionOp", "ScalarSubquery", "SetComparison", "SetPredicate",
        "SetPredicateOp",
    ),
    "windows": (
        "BOUNDS_TYPES", "BOUND_KINDS", "CURRENT_ROW", "UNBOUNDED", "Bound", "BoundKind", "BoundsType",
        "WindowCall", "WindowFunction", "is_zero",
    ),
    "union": ("AnyExpression",),
}  # fmt: skip
"""Modules that are loaded when a program first uses one of their names.

To define one of their classes takes a thousandth of the start of a program that builds a small plan.
"""

if not TYPE_CHECKING:  # a checker knows the names by the imports above
    __getattr__ = load_when_used(globals(), SELDOM_USED)
