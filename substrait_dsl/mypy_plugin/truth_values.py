"""Where Python asks for the truth of an expression, or iterates over it, before any query runs: it has no answer.

Inside of a lambda the verb that it is given to says so. Everywhere else, in functions, classes and modules, mypy asks
no plugin about ``x and y`` or ``if x``: so the file is walked when mypy knows the types in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import (
    ARG_POS,
    AssertStmt,
    CallExpr,
    ClassDef,
    ComparisonExpr,
    ConditionalExpr,
    Decorator,
    DictionaryComprehension,
    Expression,
    ForStmt,
    FuncDef,
    GeneratorExpr,
    IfStmt,
    LambdaExpr,
    ListComprehension,
    ListExpr,
    MatchStmt,
    Node,
    OpExpr,
    OverloadedFuncDef,
    RefExpr,
    SetExpr,
    Statement,
    TupleExpr,
    UnaryExpr,
    WhileStmt,
)
from mypy.types import Instance, TupleType, Type, TypeVarType, UnionType, get_proper_type

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.calls import MeasureBase
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.names import full_name
from substrait_dsl.mypy_plugin.nodes import find_nodes, walk
from substrait_dsl.mypy_plugin.reports import report

if TYPE_CHECKING:
    from mypy.checker import TypeChecker

_WITHOUT_TRUTH = {
    full_name(ExprBase): placeholders.make_expression(t.Boolean()),
    full_name(RelationBase): placeholders.make_relation(NamedStruct(())),
    full_name(MeasureBase): placeholders.make_measure(t.Boolean()),
}
"""A value of each class whose values have no truth value and cannot be iterated over."""

_SEARCHED = ("builtins.list", "builtins.tuple", "collections.deque")
"""Containers of which ``in`` compares one item after the other, and asks whether the comparison is true."""

_OF_ITEMS = frozenset(("builtins.any", "builtins.all", "builtins.sorted", "builtins.max", "builtins.min"))
"""Functions that ask for the truth of each item, or of a comparison of two."""

_ASKING = frozenset(
    (
        *(AssertStmt, CallExpr, ComparisonExpr, ConditionalExpr, DictionaryComprehension, ForStmt, GeneratorExpr),
        *(IfStmt, LambdaExpr, MatchStmt, OpExpr, UnaryExpr, WhileStmt),
    )
)
"""The classes of the parts of a program that ask, and of lambdas."""

_Asked = tuple[Expression, Type | None]
"""Where Python asks, and of a value of which type."""


def check(checker: TypeChecker) -> None:
    """Report where a file asks for the truth of an expression, a measure or a relation."""
    conditions = _Conditions(checker)
    for node in find_nodes(checker):
        if type(node) in _ASKING:
            conditions.add(node)
    for outer, asked, question in conditions.outermost():
        for place, type_ in asked:
            error = _find_error(type_, question)
            if error is not None:
                _report(error, place, outer, checker, is_in_lambda=conditions.is_in_lambda(outer))
                break


class _Conditions:
    """What a file asks: expressions, each with what of it must not be without a truth value."""

    def __init__(self, checker: TypeChecker) -> None:
        self._checker = checker
        self._found: list[tuple[Expression, list[_Asked], Callable[[Any], object]]] = []
        self._lambdas: list[LambdaExpr] = []
        self._inner: set[int] = set()
        """The numbers of the expressions that are parts of another condition: one mistake is said once."""

    def outermost(self) -> Iterator[tuple[Expression, list[_Asked], Callable[[Any], object]]]:
        """Return what is asked by expressions that are no parts of others."""
        return (each for each in self._found if id(each[0]) not in self._inner)

    def is_in_lambda(self, expression: Expression) -> bool:
        """Whether an expression is a part of a lambda: a verb that it is given to reports first."""
        return id(expression) in self._parts_of_lambdas

    @cached_property
    def _parts_of_lambdas(self) -> frozenset[int]:
        return frozenset(id(part) for each in self._lambdas for part in walk(each.body))

    def add(self, node: Node) -> None:
        """Add what a part of the program asks."""
        for condition in _conditions_of(node):
            self._ask(condition, [condition], bool)
        match node:
            case LambdaExpr():
                self._lambdas.append(node)
            case OpExpr(op="and" | "or", left=left, right=right):
                self._ask(node, [left, right] if _is_connective(right) else [left], bool)
            case UnaryExpr(op="not", expr=operand):
                self._ask(node, [operand], bool)
            case ForStmt(expr=sequence):
                self._ask(sequence, [sequence], iter)
            case GeneratorExpr(sequences=sequences) | DictionaryComprehension(sequences=sequences):
                for sequence in sequences:
                    self._ask(sequence, [sequence], iter)
            case ComparisonExpr(operators=operators, operands=operands):
                self._compare(node, operators, operands)
            case CallExpr(callee=RefExpr(fullname="builtins.bool"), args=[argument]):
                self._ask(node, [argument], bool)
            case CallExpr(callee=RefExpr(fullname=name), args=arguments, arg_kinds=kinds):
                if name in _OF_ITEMS and arguments and all(kind == ARG_POS for kind in kinds):
                    items = self._items(arguments[0]) if len(arguments) == 1 else map(self._with_type, arguments)
                    self._found.append((node, list(items), bool))

    def _ask(self, outer: Expression, conditions: Sequence[Expression], question: Callable[[Any], object]) -> None:
        operands = [operand for condition in conditions for operand in self._operands(condition, outer)]
        self._found.append((outer, list(map(self._with_type, operands)), question))

    def _operands(self, condition: Expression, outer: Expression) -> Iterator[Expression]:
        """Yield what a condition asks the truth of: the operands of ``and``, ``or`` and ``not``, at any depth."""
        stack = [condition]
        while stack:
            part = stack.pop()
            if part is not outer and _is_connective(part):
                self._inner.add(id(part))
            match part:
                case OpExpr(op="and" | "or", left=left, right=right):
                    stack.extend((right, left))
                case UnaryExpr(op="not", expr=operand):
                    stack.append(operand)
                case _:
                    yield part

    def _compare(self, node: ComparisonExpr, operators: Sequence[str], operands: Sequence[Expression]) -> None:
        for operator, left, right in zip(operators, operands, operands[1:], strict=False):
            if operator in ("in", "not in"):
                self._found.append((node, [self._with_type(right)], _contains))
                items = list(self._items(right)) if self._is_searched(right) else []
                self._found.append((node, [self._with_type(left), *items] if items else [], bool))
            elif operator not in ("is", "is not") and right is not operands[-1]:
                self._found.append((node, [self._with_type(left), self._with_type(right)], bool))

    def _is_searched(self, container: Expression) -> bool:
        """Return whether ``in`` compares the items of a container one after the other, and asks if they are equal."""
        proper = get_proper_type(self._with_type(container)[1])
        return isinstance(proper, TupleType) or (isinstance(proper, Instance) and proper.type.fullname in _SEARCHED)

    def _items(self, sequence: Expression) -> Iterator[_Asked]:
        """Yield the items of something that is iterated over, by their types."""
        match sequence:
            case ListExpr(items=items) | TupleExpr(items=items) | SetExpr(items=items):
                yield from map(self._with_type, items)
            case GeneratorExpr(left_expr=item) | ListComprehension(generator=GeneratorExpr(left_expr=item)):
                yield self._with_type(item)
            case _:
                proper = get_proper_type(self._with_type(sequence)[1])
                iterable = self._checker.named_type("typing.Iterable").type
                if isinstance(proper, TupleType):
                    yield from ((sequence, item) for item in proper.items)
                elif isinstance(proper, Instance) and proper.type.has_base(iterable.fullname):
                    yield sequence, map_instance_to_supertype(proper, iterable).args[0]

    def _with_type(self, node: Expression) -> _Asked:
        return node, self._checker.lookup_type(node) if self._checker.has_type(node) else None


def _conditions_of(node: Node) -> Sequence[Expression]:
    """Return the conditions of a statement, or of an expression that has some."""
    match node:
        case IfStmt(expr=conditions):
            return conditions
        case WhileStmt(expr=condition) | AssertStmt(expr=condition) | ConditionalExpr(cond=condition):
            return [condition]
        case GeneratorExpr(condlists=lists) | DictionaryComprehension(condlists=lists):
            return [condition for conditions in lists for condition in conditions]
        case MatchStmt(guards=guards):
            return [guard for guard in guards if guard is not None]
    return []


def _is_connective(node: Expression) -> bool:
    match node:
        case OpExpr(op="and" | "or") | UnaryExpr(op="not"):
            return True
    return False


def _contains(value: Any) -> object:
    return None in value


def _find_error(type_: Type | None, question: Callable[[Any], object]) -> SubstraitDslError | None:
    """Return the error of the library when Python asks something of a value of a type; None if there is none."""
    match get_proper_type(type_):
        case UnionType(items=items):
            return next((error for item in items if (error := _find_error(item, question)) is not None), None)
        case TypeVarType(upper_bound=bound):
            return _find_error(bound, question)
        case Instance(type=info):
            value = next((value for name, value in _WITHOUT_TRUTH.items() if info.has_base(name)), None)
            if value is not None:
                try:
                    question(value)
                except SubstraitDslError as error:
                    return error
                except TypeError:  # a measure cannot be iterated over, which mypy says itself
                    return None
    return None


def _report(
    error: SubstraitDslError, place: Expression, outer: Expression, checker: TypeChecker, *, is_in_lambda: bool
) -> None:
    """Report an error, unless a verb has reported one for a lambda that it is given."""
    lines = range(outer.line, (outer.end_line or outer.line) + 1)
    reported = checker.errors.error_info_map.get(checker.errors.file, ())
    for info in reported:
        is_of_library = info.code is not None and info.code.code.startswith("substrait-")
        if info.line in lines and is_of_library and (is_in_lambda or error.message in info.message):
            return
    with ExitStack() as stack:
        _enter(place.line, checker.tree.defs, checker, stack)
        report(error, checker, place, [outer])


def _enter(line: int, statements: Sequence[Statement], checker: TypeChecker, stack: ExitStack) -> None:
    """Enter the class and the function that a line is in: mypy's daemon forgets what is said of each by its name."""
    for statement in statements:
        if not statement.line <= line <= (statement.end_line or statement.line):
            continue
        match statement:
            case ClassDef(info=info, defs=block):
                stack.enter_context(checker.tscope.class_scope(info))
                _enter(line, block.body, checker, stack)
            case FuncDef() as function:
                stack.enter_context(checker.tscope.function_scope(function))
            case Decorator(func=function):
                stack.enter_context(checker.tscope.function_scope(function))
            case OverloadedFuncDef(impl=FuncDef() | Decorator() as implementation):
                _enter(line, [implementation], checker, stack)
