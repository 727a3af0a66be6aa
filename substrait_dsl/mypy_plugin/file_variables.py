"""The variables of the file that mypy is checking: see `variables`.

What is found may be outside of the function that is being checked. So a dependency is added for mypy's daemon, which
checks the function again when anything changes that it names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mypy.nodes import Context, Expression, FuncDef, NameExpr, RefExpr, Var

from substrait_dsl.mypy_plugin.loops import Loop, find_loop
from substrait_dsl.mypy_plugin.mypy_internals import add_dependencies, find_tree
from substrait_dsl.mypy_plugin.nodes import find_nodes
from substrait_dsl.mypy_plugin.source_positions import subexpressions
from substrait_dsl.mypy_plugin.variables import Variables

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface


def find_assigned_value(variable: NameExpr, checker: CheckerPluginInterface) -> Expression | None:
    """Return the expression that a variable of the file is assigned once; None if there is no such one."""
    expression = _variables_of(checker).find_assigned_value(variable)
    if expression is not None:
        _add_dependencies(expression, checker)
    return expression


def find_alternatives(variable: NameExpr, checker: CheckerPluginInterface) -> Sequence[Expression]:
    """Return the expressions that branches assign to a variable, if all of them may be what is used there."""
    expressions = _variables_of(checker).find_alternatives(variable)
    for expression in expressions:
        _add_dependencies(expression, checker)
    return expressions


def find_constant_of_class(attribute: Var, checker: CheckerPluginInterface) -> Expression | None:
    """Return the expression of a constant of a class of the file; None if another may be meant."""
    expression = _variables_of(checker).find_constant_of_class(attribute)
    if expression is not None:
        _add_dependencies(expression, checker)
    return expression


def is_filled_list(variable: Var, checker: CheckerPluginInterface) -> bool:
    """Whether a variable is a list that is only filled, and passed on once."""
    return _variables_of(checker).is_filled_list(variable)


def is_named_once(function: FuncDef, checker: CheckerPluginInterface) -> bool:
    """Whether a function, or an attribute of its name, is used once in the file."""
    return _variables_of(checker).is_named_once(function)


def find_default(parameter: Var, checker: CheckerPluginInterface) -> Expression | None:
    """Return the default of a parameter that is what it holds if the function is called without the argument."""
    default = _variables_of(checker).find_default(parameter)
    if default is not None:
        _add_dependencies(default, checker)
    return default


def _add_dependencies(expression: Expression, checker: CheckerPluginInterface) -> None:
    add_dependencies(checker, _find_names(expression))


def _find_names(expression: Expression) -> Iterator[str]:
    """Yield the full names in an expression; nothing is done before they are asked for."""
    for part in subexpressions(expression):
        if isinstance(part, RefExpr) and part.fullname:
            yield part.fullname


def find_loop_around(variable: NameExpr, checker: CheckerPluginInterface) -> Loop | None:
    """Return the loop that evaluates a use of its variable with each value; None if none does."""
    return None if variable.node is None else find_loop(variable, _variables_of(checker).loops.get(variable.node, ()))


def find_assignment_target(call: Context, checker: CheckerPluginInterface) -> str | None:
    """Return the name of the variable or attribute that a call is assigned to; None if there is none."""
    found = _variables_of(checker).targets.get(id(call))
    return found and found[1]


def _variables_of(checker: CheckerPluginInterface) -> Variables:
    if not _LAST or _LAST[0][0] is not checker:
        _LAST[:] = [(checker, Variables(find_tree(checker).fullname, find_nodes(checker)))]
    return _LAST[0][1]


_LAST: list[tuple[CheckerPluginInterface, Variables]] = []
"""The variables of the file that was asked about last. mypy's daemon makes a checker each time it checks a file."""
