"""The expression language: one class per kind of expression, all of them frozen and typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.loading import load_when_used
from substrait_dsl.algebra.node import Expression

if TYPE_CHECKING:
    from substrait_dsl.algebra.expressions import union
    from substrait_dsl.algebra.expressions.union import *  # noqa: F403  # they are listed in its __all__
    from substrait_dsl.algebra.expressions.union import AnyExpression


def as_union(expression: Expression) -> AnyExpression:
    """Return the same expression, as a member of the closed union."""
    return expression  # type: ignore[return-value]  # there are no others; `cast` would cost a call for each


__all__ = [
    "BOUNDS_TYPES",
    "BOUND_KINDS",
    "CURRENT_ROW",
    "FAILURE_BEHAVIORS",
    "ROOT",
    "UNBOUNDED",
    "AggregateFunction",
    "Argument",
    "Bound",
    "BoundKind",
    "BoundsType",
    "Cast",
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
    "LambdaParameter",
    "ListElement",
    "ListMask",
    "Literal",
    "MapKey",
    "Mask",
    "MaskItem",
    "MaskedReference",
    "Measure",
    "MultiOrList",
    "OrListRecord",
    "OuterReference",
    "Root",
    "RootReference",
    "Row",
    "ScalarFunction",
    "Segment",
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
]

if TYPE_CHECKING:
    __all__ += union.__all__
else:
    __getattr__ = load_when_used(__name__, globals())  # those that few programs use
