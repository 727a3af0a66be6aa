"""The full names by which mypy knows what the plugin looks for."""

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


def full_name(kind: type | Callable[..., Any]) -> str:
    """The full name of a class or function."""
    return f"{kind.__module__}.{kind.__qualname__}"


SIMPLE = {full_name(kind): kind for kind in t.SIMPLE_TYPES}
SIZED: dict[str, Callable[..., t.Type]] = {
    full_name(kind): kind for kind in (*t.LENGTH_TYPES, *t.PRECISION_TYPES, t.Decimal)
}
NULLABLE, STRUCT, LIST, MAP = (full_name(kind) for kind in (t.Nullable, t.Struct, t.List, t.Map))
NULL = full_name(t.Null)
ROW, DYN_ROW, COLUMN, FOREIGN = (full_name(kind) for kind in (Row, DynRow, F, Foreign))
EXPR, DYN_EXPR, MEASURE, WINDOW_FUNCTION, RELATION, GROUP_BY = (
    full_name(kind) for kind in (Expr, DynExpr, Measure, WindowFunction, Relation, GroupBy)
)
EXPRESSIONS = frozenset((EXPR, DYN_EXPR, MEASURE, WINDOW_FUNCTION))
RESULTS = EXPRESSIONS | {RELATION, GROUP_BY}
"""What a call gives that follows from its arguments in a way that annotations cannot say."""


def is_type(fullname: str) -> bool:
    """Whether a name is that of a class of types: of what is written ``Decimal(15, 2, nullable=True)``, say."""
    return fullname in SIMPLE or fullname in SIZED


def import_named(fullname: str) -> Any:
    """What a name of the library's own stands for."""
    module, _, name = fullname.rpartition(".")
    return getattr(import_module(module), name)
