"""The expression language: one class per kind of expression, all of them frozen and typed."""

from typing import cast

from substrait_dsl.algebra.expressions.calls import (
    AggregateFunction,
    Argument,
    EnumArgument,
    FunctionId,
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
from substrait_dsl.algebra.expressions.literals import (
    Compound,
    DaySeconds,
    Literal,
    YearMonths,
    fits,
    literal,
    natural_type,
)
from substrait_dsl.algebra.expressions.references import (
    ROOT,
    FieldAccess,
    FieldReference,
    ListElement,
    MapKey,
    OuterReference,
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
)
"""The closed union of expressions: a `match` over it that forgets one is an error of the type checker."""


def closed(expression: Expression) -> AnyExpression:
    """The same expression, as a member of the closed union."""
    return cast("AnyExpression", expression)


__all__ = [
    "FAILURE_BEHAVIORS",
    "ROOT",
    "AggregateFunction",
    "AnyExpression",
    "Argument",
    "Cast",
    "ComparisonOp",
    "Compound",
    "DaySeconds",
    "EnumArgument",
    "Expression",
    "FailureBehavior",
    "FieldAccess",
    "FieldReference",
    "FunctionId",
    "FunctionOption",
    "IfClause",
    "IfThen",
    "InPredicate",
    "ListElement",
    "Literal",
    "MapKey",
    "Measure",
    "MultiOrList",
    "OrListRecord",
    "OuterReference",
    "ReductionOp",
    "RootReference",
    "ScalarFunction",
    "ScalarSubquery",
    "Segment",
    "SetComparison",
    "SetPredicate",
    "SetPredicateOp",
    "SingularOrList",
    "SortKey",
    "StructField",
    "Switch",
    "SwitchCase",
    "TypeArgument",
    "YearMonths",
    "closed",
    "fits",
    "literal",
    "natural_type",
]
