"""What the statements of a block do to variables: loops fill dicts and lists, branches assign a value each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen
from mypy.nodes import (
    AssignmentStmt,
    Block,
    BreakStmt,
    CallExpr,
    ContinueStmt,
    DictExpr,
    DictionaryComprehension,
    Expression,
    ExpressionStmt,
    ForStmt,
    GeneratorExpr,
    IfStmt,
    IndexExpr,
    ListComprehension,
    ListExpr,
    MatchStmt,
    MemberExpr,
    MypyFile,
    NameExpr,
    RaiseStmt,
    ReturnStmt,
    StarExpr,
    Statement,
    TempNode,
    Var,
)

from substrait_dsl.mypy_plugin.loops import may_skip
from substrait_dsl.mypy_plugin.nodes import walk

MAX_STATEMENTS = 20
"""How many statements after a branching one are looked at."""

_LEAVING = (BreakStmt, ContinueStmt, RaiseStmt, ReturnStmt)


@frozen(eq=False)
class Filling:
    """A loop that fills a dict or a list: ``for name in NAMES: found[name] = ...``.

    Args:
        variable: the variable that holds the dict or list.
        loop: the loop.
        value: an expression with the same value: the display with a comprehension.
    """

    variable: Var
    loop: ForStmt
    value: Expression


@frozen(eq=False)
class Branches:
    """The values that the branches of an ``if`` or a ``match`` assign to a variable, one each.

    Args:
        variable: the variable.
        values: the assigned expressions.
        assigned: how many branches assign to it, with those that leave the block.
        following: the statements after it, in the same block.
    """

    variable: Var
    values: Sequence[Expression]
    assigned: int
    following: Sequence[Statement]

    def reach(self, use: NameExpr) -> bool:
        """Whether a use of the variable has each of the values in some run of the program.

        A condition before it could depend on the one that has decided between the values.
        """
        for statement in self.following[:MAX_STATEMENTS]:
            if not isinstance(statement, AssignmentStmt | ExpressionStmt | ReturnStmt):
                return False
            parts = list(walk(statement))
            if any(part is use for part in parts):
                return not any(map(may_skip, parts))
        return False


def find_fillings(statements: Sequence[Statement]) -> Iterator[Filling]:
    """Return the loops of a block that fill a dict or list of the same block."""
    for position, statement in enumerate(statements):
        match statement:
            case ForStmt(body=Block(body=[inner]), else_body=None, is_async=False):
                variable = _filled_variable(inner)
                display = None if variable is None else _find_display(variable, statements[:position])
                if variable is not None and display is not None:
                    value = _build_value(display, statement, inner)
                    if value is not None:
                        yield Filling(variable, statement, value)


def _filled_variable(statement: Statement) -> Var | None:
    match statement:
        case AssignmentStmt(lvalues=[IndexExpr(base=NameExpr(node=Var() as variable))]):
            return variable
        case ExpressionStmt(
            expr=CallExpr(callee=MemberExpr(expr=NameExpr(node=Var() as variable), name="append"), args=[_])
        ):
            return variable
    return None


def _find_display(variable: Var, before: Sequence[Statement]) -> DictExpr | ListExpr | None:
    """Return the dict or list that a variable holds before a loop."""
    for statement in reversed(before):
        match statement:
            case AssignmentStmt(lvalues=[NameExpr(node=node)], rvalue=DictExpr() | ListExpr() as display):
                if node is variable:
                    return display
    return None


def _build_value(display: DictExpr | ListExpr, loop: ForStmt, statement: Statement) -> Expression | None:
    """Return what a variable holds after a loop."""
    comprehension: Expression
    match display, statement:
        case DictExpr(), AssignmentStmt(lvalues=[IndexExpr(index=key)], rvalue=value):
            comprehension = DictionaryComprehension(key, value, [loop.index], [loop.expr], [[]], [False])
            filled: Expression = DictExpr([*display.items, (None, comprehension)])
        case ListExpr(), ExpressionStmt(expr=CallExpr(args=[value])):
            comprehension = ListComprehension(GeneratorExpr(value, [loop.index], [loop.expr], [[]], [False]))
            filled = ListExpr([*display.items, StarExpr(comprehension)])
        case _:
            return None
    for each in (comprehension, filled):
        each.set_line(display)
    return filled


def find_branches(statements: Sequence[Statement]) -> Iterator[Branches]:
    """Return the values that the branches in a block assign to variables."""
    for position, statement in enumerate(statements):
        if isinstance(statement, IfStmt | MatchStmt):
            found: dict[Var, list[tuple[Expression, bool]]] = {}
            for branch in _branches_of(statement):
                leaves = bool(branch.body) and isinstance(branch.body[-1], _LEAVING)
                for variable, value in _assigned(branch.body):
                    found.setdefault(variable, []).append((value, leaves))
            for variable, values in found.items():
                reaching = [value for value, leaves in values if not leaves]
                yield Branches(variable, reaching, len(values), statements[position + 1 :])


def _branches_of(statement: IfStmt | MatchStmt) -> Iterator[Block]:
    if isinstance(statement, MatchStmt):
        yield from statement.bodies
        return
    yield from statement.body
    match statement.else_body:
        case Block(body=[IfStmt() as inner]):  # ``elif``
            yield from _branches_of(inner)
        case Block() as block:
            yield block


def _assigned(statements: Sequence[Statement]) -> Iterator[tuple[Var, Expression]]:
    for statement in statements:
        match statement:
            case AssignmentStmt(lvalues=[NameExpr(node=Var() as variable)], rvalue=value):
                if not isinstance(value, TempNode):  # ``x: int``
                    yield variable, value


def statements_of(node: Block | MypyFile) -> Sequence[Statement]:
    """Return the statements of a block or of a file."""
    return node.body if isinstance(node, Block) else node.defs
