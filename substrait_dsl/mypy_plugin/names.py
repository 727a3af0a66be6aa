"""The full names of the library's classes, by which mypy knows them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from substrait_dsl.algebra import types as t
from substrait_dsl.fluent.calls import Measure, WindowFunction
from substrait_dsl.fluent.expr import DynExpr, Expr
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.rows import F, Foreign, Row
from substrait_dsl.fluent.schemas import DynRow


def full_name(class_: type | Callable[..., Any]) -> str:
    """Return the full name of a class or function."""
    return f"{class_.__module__}.{class_.__qualname__}"


SIMPLE = {full_name(class_): class_ for class_ in t.SIMPLE_TYPES}
SIZED: dict[str, Callable[..., t.Type]] = {
    full_name(class_): class_ for class_ in (*t.LENGTH_TYPES, *t.PRECISION_TYPES, t.Decimal)
}
NULLABLE, STRUCT, LIST, MAP = (full_name(class_) for class_ in (t.Nullable, t.Struct, t.List, t.Map))
NULL = full_name(t.Null)
ROW, DYN_ROW, COLUMN, FOREIGN = (full_name(class_) for class_ in (Row, DynRow, F, Foreign))
EXPR, DYN_EXPR, MEASURE, WINDOW_FUNCTION, RELATION, GROUP_BY = (
    full_name(class_) for class_ in (Expr, DynExpr, Measure, WindowFunction, Relation, GroupBy)
)
EXPRESSIONS = frozenset((EXPR, DYN_EXPR, MEASURE, WINDOW_FUNCTION))
RESULTS = EXPRESSIONS | {RELATION, GROUP_BY}
"""Classes of results whose type arguments depend on the arguments in a way that annotations cannot express."""


def is_type(fullname: str) -> bool:
    """Whether a name is that of a class of types, such as `Decimal`."""
    return fullname in SIMPLE or fullname in SIZED


def import_named(fullname: str) -> Any:
    """Import an object by its full name."""
    module, _, name = fullname.rpartition(".")
    return getattr(import_module(module), name)
