"""Variables of the program that hold one value: what is assigned to them is what they stand for.

``keys = ["a", "b"]`` and ``revenue = sd.col("price") * sd.col("quantity")`` are as good as written where they are used,
if nothing else is ever assigned to the variable, and nothing changes a list or dict that it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mypy.nodes import (
    AssignmentExpr,
    AssignmentStmt,
    Block,
    CallExpr,
    ClassDef,
    Decorator,
    DelStmt,
    DictExpr,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    IfStmt,
    IndexExpr,
    ListExpr,
    MatchStmt,
    MemberExpr,
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    OverloadedFuncDef,
    OverloadPart,
    RefExpr,
    ReturnStmt,
    StarExpr,
    Statement,
    SymbolNode,
    TempNode,
    TryStmt,
    TupleExpr,
    Var,
    WhileStmt,
    WithStmt,
)
from mypy.server.trigger import make_trigger

from substrait_dsl.mypy_plugin.names import is_ours
from substrait_dsl.mypy_plugin.places import parts

if TYPE_CHECKING:
    from mypy.checker import TypeChecker

_READERS = frozenset(("get", "items", "keys", "values", "copy", "index", "count"))
"""Methods of lists and dicts that change nothing."""


class Variables:
    """What is assigned to each variable of a file: an expression, or None where that is not one expression."""

    def __init__(self, tree: MypyFile) -> None:
        self._assigned: dict[SymbolNode, Expression | None] = {}
        self._given_away: set[SymbolNode] = set()
        for statement in _all(tree.defs):
            self._read(statement)

    def held(self, variable: SymbolNode) -> Expression | None:
        """The one expression that a variable holds; None if that is not known."""
        found = self._assigned.get(variable)
        return None if isinstance(found, ListExpr | DictExpr) and variable in self._given_away else found

    def _read(self, statement: Statement) -> None:
        match statement:
            case AssignmentStmt(lvalues=targets, rvalue=value) if not isinstance(value, TempNode):  # ``x: int``
                for target in targets:
                    self._assign(target, value)
                self._give_away([value])
                self._look([value])
            case OperatorAssignmentStmt(lvalue=target, rvalue=value):
                self._assign(target, None)
                self._look([value])
            case ForStmt(index=target, expr=value):
                self._assign(target, None)
                self._look([value])
            case WithStmt(target=aliases, expr=values):
                for alias in aliases:
                    self._assign(alias, None)
                self._look(values)
            case TryStmt(vars=names):
                for name in names:
                    self._assign(name, None)
            case DelStmt(expr=target):
                self._assign(target, None)
            case FuncDef(arguments=arguments):
                self._assigned.update((argument.variable, None) for argument in arguments)
            case IfStmt(expr=conditions):
                self._look(conditions)
            case ExpressionStmt(expr=value) | WhileStmt(expr=value):
                self._look([value])
            case ReturnStmt(expr=returned) if returned is not None:
                self._look([returned])

    def _assign(self, target: Expression | None, value: Expression | None) -> None:
        match target:
            case NameExpr(node=Var() as variable):
                self._assigned[variable] = None if variable in self._assigned else value
            case TupleExpr(items=items) | ListExpr(items=items):
                for item in items:
                    self._assign(item, None)
            case StarExpr(expr=inner):
                self._assign(inner, None)
            case IndexExpr(base=base) | MemberExpr(expr=base):
                self._give_away([base])

    def _look(self, values: Iterable[Expression]) -> None:
        """Look for calls that change what a variable holds."""
        for value in values:
            for part in parts(value):
                match part:
                    case AssignmentExpr(target=target, value=assigned):
                        self._assign(target, assigned)
                    case CallExpr(callee=MemberExpr(expr=inner, name=name)):
                        self._give_away([] if name in _READERS else [inner])
                    case CallExpr(callee=RefExpr(fullname=name)) if is_ours(name) or name.startswith("builtins."):
                        pass
                    case CallExpr(args=arguments):
                        self._give_away(arguments)

    def _give_away(self, nodes: Iterable[Expression]) -> None:
        """What a variable holds is changed, or given to those who may change it."""
        self._given_away.update(node.node for node in nodes if isinstance(node, NameExpr) and node.node is not None)


def _all(statements: Iterable[Statement | OverloadPart]) -> Iterator[Statement]:
    """All statements, with those inside of them."""
    for statement in statements:
        yield statement
        match statement:
            case Block(body=body):
                yield from _all(body)
            case FuncDef(body=body) | ClassDef(defs=body) | WithStmt(body=body):
                yield from _all([body])
            case Decorator(func=function):
                yield from _all([function])
            case OverloadedFuncDef(items=items):
                yield from _all(items)
            case IfStmt(body=bodies, else_body=last):
                yield from _all([*bodies, *_there(last)])
            case ForStmt(body=body, else_body=last) | WhileStmt(body=body, else_body=last):
                yield from _all([body, *_there(last)])
            case MatchStmt(bodies=bodies):
                yield from _all(bodies)
            case TryStmt(body=body, handlers=handlers, else_body=last, finally_body=cleanup):
                yield from _all([body, *handlers, *_there(last), *_there(cleanup)])


def _there(block: Block | None) -> list[Block]:
    return [] if block is None else [block]


def held(variable: NameExpr, checker: TypeChecker) -> Expression | None:
    """The one expression that a variable of the file holds; None if that is not known.

    It may stand outside of the function that is being checked: mypy's daemon is told to check this function again when
    anything changes that the expression names.
    """
    if not _LAST or _LAST[0][0] is not checker:
        _LAST[:] = [(checker, Variables(checker.tree))]
    expression = _LAST[0][1].held(variable.node) if isinstance(variable.node, Var) else None
    if expression is not None and (checker.options.fine_grained_incremental or checker.options.cache_fine_grained):
        for part in parts(expression):
            if isinstance(part, RefExpr) and part.fullname:
                targets = checker.tree.plugin_deps.setdefault(make_trigger(part.fullname), set())
                targets.add(checker.tscope.current_target())
    return expression


_LAST: list[tuple[TypeChecker, Variables]] = []
"""The variables of the file asked about last; mypy's daemon makes a checker each time that it checks a file."""
