"""Facts about verbs, by name: which arguments are columns, and which do not matter for the schema."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from mypy.nodes import ComparisonExpr, OpExpr, UnaryExpr

from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation

_NEUTRAL: Mapping[str, object] = {
    "on": True,
    "post_filter": None,
    "residual": None,
    "filter": None,
    "best_effort_filter": None,
    "where": True,
    "detail": AnyMessage("", b""),
}
"""Arguments on which the columns of the result do not depend, with a value that is always accepted."""

SET_VERBS = ("set_op", "union_all", "union", "intersect", "subtract")
"""Verbs whose columns are nullable where those of another input are. The annotations do not express that."""

COLUMN_VERBS = ("project", "with_columns", "select", "group_by", "expand")
MEASURE_VERBS = ("aggregate", "agg", "rollup", "cube")
"""Verbs whose named arguments are columns of the result, and those whose named arguments are measures."""

OPERATIONS = (OpExpr, ComparisonExpr, UnaryExpr)

STRUCTURE_VERBS = ("hash_join", "merge_join", "exchange")
"""Verbs that look into an expression: whether it compares two columns, or is one."""


def neutral_arguments(verb: str) -> Mapping[str, object]:
    """Return the arguments of a verb that do not matter for the schema, with a value that is always accepted."""
    return {**_NEUTRAL, "rows": ()} if verb == "read_virtual" else _NEUTRAL


def is_parameter(verb: str, name: str) -> bool:
    """Whether a name is that of a parameter of a verb, not of a column of the result."""
    found = getattr(Relation, verb, None) or getattr(GroupBy, verb)
    parameter = inspect.signature(found).parameters.get(name)
    return parameter is not None and parameter.kind is not parameter.VAR_KEYWORD
