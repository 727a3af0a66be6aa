"""Checks of a whole file, made when mypy has checked it: of what mypy asks no plugin about.

mypy has no hook for the end of a file. But it checks again, at the end, what it has deferred: a function whose types
were not known, say. So a piece of program is deferred that calls one function, and that call is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.checker import DeferredNode, TypeChecker
from mypy.checker_state import checker_state
from mypy.nodes import GDEF, Block, CallExpr, ExpressionStmt, FuncDef, MypyFile, NameExpr
from mypy.types import CallableType, NoneType, Type

from substrait_dsl.mypy_plugin import truth_values

if TYPE_CHECKING:
    from mypy.plugin import FunctionContext

END_OF_FILE = "substrait_dsl.mypy_plugin.file_checks.end_of_file"
"""The full name of a function that is there for mypy only: the hook of its call is `check_file`."""

_LAST: list[object] = []
"""The program that has been deferred last."""


def defer() -> None:
    """Call `check_file` when mypy has checked the file that it is checking; once in each of mypy's passes."""
    checker = checker_state.type_checker
    if not isinstance(checker, TypeChecker) or checker.can_skip_diagnostics:
        return  # of an installed library, say, mypy does not look into functions, and says nothing
    nodes = checker.deferred_nodes
    if _LAST and nodes and (nodes[-1].node is _LAST[0] or any(each.node is _LAST[0] for each in nodes)):
        return
    program = _build_program(checker)
    _LAST[:] = [program]
    nodes.append(DeferredNode(program, None))  # type: ignore[arg-type]  # it takes files, too


def _build_program(checker: TypeChecker) -> MypyFile:
    """Return a program that calls `END_OF_FILE`."""
    name = END_OF_FILE.rpartition(".")[2]
    function = FuncDef(
        name, [], Block([]), CallableType([], [], [], NoneType(), checker.named_type("builtins.function"))
    )
    function._fullname = END_OF_FILE
    callee = NameExpr(name)
    callee.kind, callee.node, callee.fullname = GDEF, function, END_OF_FILE
    call = CallExpr(callee, [], [], [])
    statement = ExpressionStmt(call)
    for node in (callee, call, statement):
        node.set_line(1, 0)
    return MypyFile([statement], [])


def check_file(context: FunctionContext) -> Type:
    """Make the checks of a file: mypy has just checked it, or those of its functions that it checks again."""
    truth_values.check(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
    return context.default_return_type
