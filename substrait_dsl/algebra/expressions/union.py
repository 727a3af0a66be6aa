"""The closed union of expressions, for type checkers and for who looks at all of them."""

from substrait_dsl.algebra.expressions.calls import ScalarFunction
from substrait_dsl.algebra.expressions.conditionals import Cast, IfThen, MultiOrList, SingularOrList, Switch
from substrait_dsl.algebra.expressions.lambdas import Lambda, LambdaInvocation
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.algebra.expressions.masks import MaskedReference
from substrait_dsl.algebra.expressions.nested import NestedList, NestedMap, NestedStruct
from substrait_dsl.algebra.expressions.parameters import DynamicParameter, ExecutionContextVariable
from substrait_dsl.algebra.expressions.references import FieldAccess, FieldReference
from substrait_dsl.algebra.expressions.subqueries import InPredicate, ScalarSubquery, SetComparison, SetPredicate
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
