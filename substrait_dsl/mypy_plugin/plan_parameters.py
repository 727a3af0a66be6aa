"""Check the values of plan parameters: the numbers and the types of what ``parameter_bindings`` binds.

A plan is not made for that. Its relations are those that the program shows: the types of their parameters are known,
and also which ones there are, if nothing in them is a placeholder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.plan import Tree, parameters_in
from substrait_dsl.errors import error_context
from substrait_dsl.fluent.plan import NO_BINDINGS, Plan
from substrait_dsl.fluent.plan_arguments import bind_parameters, plan_trees
from substrait_dsl.mypy_plugin.checker_state import STATE
from substrait_dsl.mypy_plugin.names import full_name
from substrait_dsl.mypy_plugin.placeholders import is_part_unknown


def _check_plan(*trees: Any, parameter_bindings: Any = NO_BINDINGS, **others: Any) -> None:
    """Raise what `Plan` raises for values of parameters."""
    _check_bindings("Plan", trees, parameter_bindings)


def _check_with_roots(*trees: Any, parameter_bindings: Any = NO_BINDINGS) -> None:
    """Raise what `Plan.with_roots` raises for values of parameters."""
    _check_bindings("with_roots", trees, parameter_bindings)


WITH_ROOTS = full_name(Plan.with_roots)

CHECKS: Mapping[str, Callable[..., None]] = {
    full_name(Plan): _check_plan,
    WITH_ROOTS: _check_with_roots,
}
"""What is called in place of a function, by its full name: its result is none that the plugin needs."""

ARGUMENT = "parameter_bindings"


def _check_bindings(verb: str, trees: Sequence[Any], values: Any) -> None:
    with error_context(verb=verb):
        found = plan_trees(trees)
        if isinstance(values, Mapping) and not all(map(_is_known, found)):
            used = {each.reference for each in parameters_in(tree.input for tree in found)}
            values = {number: value for number, value in values.items() if number in used}
        bind_parameters(values, found)


def _is_known(tree: Tree) -> bool:
    """Whether the program shows all of a tree, so that it has no parameters but those that are found."""
    return not any(is_part_unknown(node) or STATE.is_incomplete(node) for node in walk(tree.input))
