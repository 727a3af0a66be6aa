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

INDEPENDENT_VERBS = frozenset(
    (
        *(verb for verb in COLUMN_VERBS if verb != "expand"),
        *(*MEASURE_VERBS, *SET_VERBS),
        *("drop", "drop_nulls", "fill_null", "filter", "sort", "top_n", "unpivot", "value_counts", "window"),
    )
)
"""Verbs that take any number of arguments, and each of them in the same way whether or not the others are there."""

OPERATIONS = (OpExpr, ComparisonExpr, UnaryExpr)

STRUCTURE_VERBS = ("hash_join", "merge_join", "exchange")
"""Verbs that look into an expression: whether it compares two columns, or is one."""


def neutral_arguments(verb: str) -> Mapping[str, object]:
    """Return the arguments of a verb that do not matter for the schema, with a value that is always accepted."""
    return {**_NEUTRAL, "rows": ()} if verb == "read_virtual" else _NEUTRAL


def is_parameter(verb: str, name: str) -> bool:
    """Whether a name is that of a parameter of a verb, not of a column of the result."""
    parameter = _parameters_of(verb).get(name)
    return parameter is not None and parameter.kind is not parameter.VAR_KEYWORD


def may_be_omitted(verb: str, name: str | None) -> bool:
    """Whether an argument is one of any number of them, such as a key of ``sort`` or a column of ``select``.

    Args:
        verb: the name of the verb.
        name: the name of the argument, or of the parameter that takes it.
    """
    parameter = _parameters_of(verb).get(name or "")
    return parameter is None or parameter.kind is parameter.VAR_POSITIONAL


def is_required(verb: str, name: str | None) -> bool:
    """Whether a verb cannot be called without an argument, by the name of its parameter."""
    parameter = _parameters_of(verb).get(name or "")
    return parameter is not None and parameter.default is parameter.empty and not may_be_omitted(verb, name)


def _parameters_of(verb: str) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(getattr(Relation, verb, None) or getattr(GroupBy, verb)).parameters
