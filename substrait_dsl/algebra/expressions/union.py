"""The closed union of expressions, with those that few programs use: they are loaded when one is first asked for."""

from substrait_dsl.algebra.expressions.calls import ScalarFunction
from substrait_dsl.algebra.expressions.conditionals import Cast, IfThen, MultiOrList, SingularOrList, Switch
from substrait_dsl.algebra.expressions.lambdas import Lambda, LambdaInvocation, parameter, parameter_in_subquery
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.algebra.expressions.masks import MaskedReference
from substrait_dsl.algebra.expressions.nested import MapEntry, NestedList, NestedMap, NestedStruct
from substrait_dsl.algebra.expressions.parameters import (
    CONTEXT_VARIABLES,
    ContextVariable,
    DynamicParameter,
    ExecutionContextVariable,
    remember_type,
)
from substrait_dsl.algebra.expressions.references import FieldAccess, FieldReference
from substrait_dsl.algebra.expressions.subqueries import (
    ComparisonOp,
    InPredicate,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SetPredicateOp,
)
from substrait_dsl.algebra.expressions.windows import WindowFunction

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

__all__ = [
    "CONTEXT_VARIABLES",
    "AnyExpression",
    "ComparisonOp",
    "ContextVariable",
    "DynamicParameter",
    "ExecutionContextVariable",
    "InPredicate",
    "Lambda",
    "LambdaInvocation",
    "MapEntry",
    "NestedList",
    "NestedMap",
    "NestedStruct",
    "ReductionOp",
    "ScalarSubquery",
    "SetComparison",
    "SetPredicate",
    "SetPredicateOp",
    "parameter",
    "parameter_in_subquery",
    "remember_type",
]
