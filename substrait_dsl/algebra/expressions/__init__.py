"""The expression language: one class per kind of expression, all of them frozen and typed."""

from substrait_dsl.algebra.expressions.calls import (
    AggregateFunction,
    Argument,
    EnumArgument,
    FunctionOption,
    Measure,
    ScalarFunction,
    SortKey,
    TypeArgument,
)
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
from substrait_dsl.algebra.expressions.lambdas import Lambda, LambdaInvocation, parameter
from substrait_dsl.algebra.expressions.literals import (
    Compound,
    DaySeconds,
    Literal,
    YearMonths,
    fits,
    literal,
    natural_type,
)
from substrait_dsl.algebra.expressions.masks import ListMask, Mask, MaskedReference, MaskItem, Row, StructMask
from substrait_dsl.algebra.expressions.nested import MapEntry, NestedList, NestedMap, NestedStruct
from substrait_dsl.algebra.expressions.parameters import (
    CONTEXT_VARIABLES,
    ContextVariable,
    DynamicParameter,
    ExecutionContextVariable,
)
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
from substrait_dsl.algebra.expressions.subqueries import (
    ComparisonOp,
    InPredicate,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SetPredicateOp,
)
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
from substrait_dsl.algebra.functions import FunctionId
from substrait_dsl.algebra.node import Expression

AnyExpression = (
    Literal
    | FieldReference
    | FieldAccess
    | ScalarFunction
    | Cast
    | IfThen
    | Switch
    | SingularOrList
    | MultiOrList
    | ScalarSubquery
    | InPredicate
    | SetPredicate
    | SetComparison
    | MaskedReference
    | WindowFunction
    | NestedStruct
    | NestedList
    | NestedMap
    | Lambda
    | LambdaInvocation
    | DynamicParameter
    | ExecutionContextVariable
)
"""The closed union of expressions: a `match` over it that forgets one is an error of the type checker."""


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
]
