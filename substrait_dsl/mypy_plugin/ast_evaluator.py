"""Evaluate expressions of the program by their syntax: ``col("x") > 3`` is built as the program builds it."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    ARG_STAR,
    ArgKind,
    CallExpr,
    ComparisonExpr,
    ConditionalExpr,
    DictExpr,
    DictionaryComprehension,
    Expression,
    FuncDef,
    GeneratorExpr,
    IndexExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    OverloadedFuncDef,
    RefExpr,
    SetComprehension,
    SliceExpr,
    StarExpr,
    TupleExpr,
    TypeInfo,
    UnaryExpr,
    Var,
)
from mypy.types import NoneType, Type, UnionType, get_proper_type

from substrait_dsl.errors import InvalidArgumentError, SubstraitDslError
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.calls import MeasureBase
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.leaf_expressions import col
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import allowed
from substrait_dsl.mypy_plugin.budget import (
    MAX_BITS,
    MAX_DISPLAY_SIZE,
    MAX_LENGTH,
    Budget,
    NotEvaluatedError,
    UnknownValueError,
    is_of_library,
)
from substrait_dsl.mypy_plugin.comprehensions import evaluate_comprehension
from substrait_dsl.mypy_plugin.declarations import is_column
from substrait_dsl.mypy_plugin.relation_identity import Origins


def _multiply(left: Any, right: Any) -> Any:
    """Return a product. Raise `NotEvaluatedError` for a long list or text."""
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, Sequence) and isinstance(times, int) and len(sequence) * times > MAX_LENGTH:
            raise NotEvaluatedError
    return left * right


def _compute_remainder(left: Any, right: Any) -> Any:
    """Return a remainder. Raise `NotEvaluatedError` for ``"format" % value``, which may ask for any length."""
    if isinstance(left, str | bytes):
        raise NotEvaluatedError
    return left % right


def _compare_identity(op: str, left: Any, right: Any, node: Expression) -> bool:
    """Compare a value with None; ``expression is None`` is refused, but for a parameter that may be None.

    Other identities are unknown: placeholders are not the program's own objects.
    """
    if right is not None:
        raise UnknownValueError
    if isinstance(left, ExprBase) and not _may_be_none(node):
        method = "is_null()" if op == "is" else "is_not_null()"
        raise InvalidArgumentError(f"an expression {op} None is found out before the query runs", hint=f"use {method}")
    return (left is None) is (op == "is")


def _may_be_none(node: Expression) -> bool:
    """Whether None is among the types that the program declares for a variable."""
    declared = get_proper_type(node.node.type) if isinstance(node, NameExpr) and isinstance(node.node, Var) else None
    return isinstance(declared, UnionType) and any(isinstance(get_proper_type(x), NoneType) for x in declared.items)


def _with_size_limit(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Limit an operator whose results can be so large that it takes too long to compute them."""

    def apply(left: Any, right: Any) -> Any:
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > MAX_BITS:
            raise NotEvaluatedError
        return function(left, right)

    return apply


OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": _multiply,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": _compute_remainder,
    "**": _with_size_limit(operator.pow),
    "<<": _with_size_limit(operator.lshift),
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
DISPLAYS = (TupleExpr, ListExpr, DictExpr)
UNARY: Mapping[str, Callable[..., Any]] = {"-": operator.neg, "~": operator.invert, "+": operator.pos}

PYTHON_ERRORS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors of Python's own values, such as an invalid date: mypy reports them, or the program raises them later."""

Environment = Mapping[object, Any]
"""The parameters of the lambdas around an expression, with their values."""


class AstEvaluator(ABC):
    """Evaluates expressions by their parts, of which some are known only by their types."""

    def __init__(self) -> None:
        self.origins = Origins()
        self.budget = Budget()
        self.sampled_node: Expression | None = None
        """An expression that the program computes and that a sample of its type has replaced."""
        self.needs_declared_check = False
        """Whether mypy has to check the call as the library declares it, though the call can be made: a condition is a
        `bool` of Python, or a value of a type has replaced an argument."""

    @abstractmethod
    def evaluate(self, node: Expression, type_: Type | None = None, environment: Environment | None = None) -> Any:
        """Return the value of an expression. Raise `UnknownValueError` if it is not known."""

    @abstractmethod
    def is_relation(self, node: Expression) -> bool:
        """Whether an expression is a relation."""

    @abstractmethod
    def find_relation_of(self, row: NameExpr) -> Expression | None:
        """Return the relation whose columns a variable holds, after ``c = orders.c``; None if it holds none."""

    @abstractmethod
    def is_helper(self, function: RefExpr) -> bool:
        """Whether a name means a function of the file of which the program shows the result."""

    @abstractmethod
    def make_helper(self, function: RefExpr) -> Callable[..., Any]:
        """Return a function that takes and returns what a function of the file does."""

    @abstractmethod
    def require_declared_types(self, call: CallExpr) -> None:
        """Raise `UnknownValueError` if a function does not take an argument: mypy says so."""

    def evaluate_parts(self, node: Expression, environment: Environment) -> Any:
        """Return the value of an expression by its parts. Raise `UnknownValueError` if it is not known."""
        try:
            self.budget.spend()
            value = self._evaluate_node(node, environment)
            return self.budget.require_small(value, MAX_DISPLAY_SIZE if isinstance(node, DISPLAYS) else MAX_LENGTH)
        except NotEvaluatedError:
            raise UnknownValueError(node) from None
        except PYTHON_ERRORS as error:
            if isinstance(error, SubstraitDslError):
                raise
            raise UnknownValueError(node) from None

    def _evaluate_node(self, node: Expression, environment: Environment) -> Any:
        match node:
            case TupleExpr(items=items):
                return tuple(self._evaluate_items(items, environment))
            case ListExpr(items=items):
                return list(self._evaluate_items(items, environment))
            case DictExpr():
                return self._evaluate_dict(node, environment)
            case OpExpr():
                return self._evaluate_operation(node, environment)
            case UnaryExpr():
                return self._evaluate_unary(node, environment)
            case ConditionalExpr(cond=condition, if_expr=yes, else_expr=no):
                return self.evaluate(yes if self.evaluate_truth(condition, environment) else no, None, environment)
            case ComparisonExpr():
                return self._evaluate_comparison(node, environment)
            case SliceExpr(begin_index=begin, end_index=end, stride=step):
                bounds = (
                    None if each is None else self.evaluate(each, None, environment) for each in (begin, end, step)
                )
                return slice(*bounds)
            case IndexExpr(base=base, index=index):
                return self._read_item(self.evaluate(base, None, environment), self.evaluate(index, None, environment))
            case CallExpr():
                return self._evaluate_call(node, environment)
            case MemberExpr():
                return self._evaluate_member(node, environment)
            case RefExpr():
                return self._evaluate_name(node)
            case DictionaryComprehension() | GeneratorExpr() | ListComprehension() | SetComprehension():
                return evaluate_comprehension(self, node, environment)
        raise UnknownValueError(node)

    # --- displays

    def _evaluate_items(self, items: Iterable[Expression], environment: Environment) -> Iterator[Any]:
        """Return the items of a list or tuple; an item with a star stands for several: ``[*keys, "other"]``."""
        for item in items:
            if isinstance(item, StarExpr):
                yield from self.evaluate_star(item.expr, environment)
            else:
                yield self.evaluate(item, None, environment)

    def _evaluate_dict(self, node: DictExpr, environment: Environment) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        for key, value in node.items:
            if key is None:  # ``**value``
                values.update(self.evaluate_double_star(value, environment))
            else:
                item = self.evaluate(value, None, environment)
                values[self.evaluate(key, None, environment)] = item
        return values

    # --- operators

    def _evaluate_operation(self, node: OpExpr, environment: Environment) -> Any:
        if node.op in ("and", "or"):  # Python decides by the truth of the left operand: an expression has none
            truth = self.evaluate_truth(node.left, environment)
            return truth if truth is (node.op == "or") else self.evaluate(node.right, None, environment)
        if node.op not in OPERATORS:
            raise UnknownValueError(node)
        left, right = (self.evaluate(operand, None, environment) for operand in (node.left, node.right))
        return self.apply_operator(node.op, left, right)

    def _evaluate_unary(self, node: UnaryExpr, environment: Environment) -> Any:
        if node.op == "not":
            return not self.evaluate_truth(node.expr, environment)
        if node.op not in UNARY:
            raise UnknownValueError(node)
        return UNARY[node.op](self.evaluate(node.expr, None, environment))

    def _evaluate_comparison(self, node: ComparisonExpr, environment: Environment) -> Any:
        first, *others = node.operators
        if first not in OPERATORS and (others or first not in ("in", "not in", "is", "is not")):
            raise UnknownValueError(node)
        left, right = (self.evaluate(operand, None, environment) for operand in node.operands[:2])
        if first in ("in", "not in"):
            return self._is_in(left, right) is (first == "in")
        if first in ("is", "is not"):
            return _compare_identity(first, left, right, node.operands[0])
        result = self.apply_operator(first, left, right)
        if not others:
            return result
        if isinstance(result, ExprBase | MeasureBase):
            return bool(result)  # ``1 < x < 5`` asks whether ``1 < x`` is true
        raise UnknownValueError(node)

    def apply_operator(self, op: str, left: Any, right: Any) -> Any:
        """Return what a binary operator gives. Raise `NotEvaluatedError` if that costs too much."""
        if not is_of_library(left) and not is_of_library(right):
            self.budget.require_all_small((left, right))
        return OPERATORS[op](left, right)

    def _is_in(self, value: Any, container: Any) -> bool:
        self.budget.require_all_small((value, container))
        return bool(value in container)

    def evaluate_truth(self, node: Expression, environment: Environment) -> bool:
        """Return whether a value is true. Raise the library's error for an expression, a measure or a relation."""
        before, self.sampled_node = self.sampled_node, None
        value = self.evaluate(node, None, environment)
        sampled, self.sampled_node = self.sampled_node, before
        if isinstance(value, ExprBase | MeasureBase | RelationBase):
            return bool(value)
        if not isinstance(value, bool) or sampled:
            raise UnknownValueError(node)
        return value

    # --- names, attributes and items

    def _evaluate_member(self, node: MemberExpr, environment: Environment) -> Any:
        match node:
            case MemberExpr(expr=RefExpr(node=TypeInfo() as info), name=name) if is_column(info, name):
                return col(name)
            case MemberExpr(expr=NameExpr() as row, name=name) if (relation := self.find_relation_of(row)) is not None:
                return self._read_item(self.evaluate(relation, None, environment), name)
            case MemberExpr(expr=MemberExpr(expr=relation, name="c"), name=name):
                return self._read_item(self.evaluate(relation, None, environment), name)
            case MemberExpr(expr=relation, name="schema" | "columns" as name) if self.is_relation(relation):
                return allowed.read_attribute(self.evaluate(relation, None, environment), name)
            case MemberExpr(expr=NameExpr(node=symbol), name=name) if symbol in environment:
                return allowed.read_attribute(environment[symbol], name)
            case MemberExpr() if _is_of_module(node):
                return self._evaluate_name(node)
            case MemberExpr(expr=RefExpr(node=TypeInfo() as info), name=name):
                return allowed.read_attribute(allowed.find_named(info.fullname), name)
            case MemberExpr(expr=inner, name="schema" | "columns" as name):
                return self._read_schema(self.evaluate(inner, None, environment), name, node)
        raise UnknownValueError(node)

    def _evaluate_name(self, node: RefExpr) -> Any:
        """Return the function, class or variable of a module that a name means."""
        if not _is_of_module(node) or node.node is None:
            raise UnknownValueError(node)
        if isinstance(node.node, Var):
            return allowed.VARIABLES[node.node.fullname]
        return allowed.find_named(node.node.fullname)

    def _read_schema(self, relation: Any, name: str, node: Expression) -> Any:
        if not isinstance(relation, RelationBase):
            raise UnknownValueError(node)
        return allowed.read_attribute(relation, name)

    def _read_item(self, owner: Any, key: Any) -> Any:
        if not isinstance(owner, RelationBase):
            return allowed.read_item(owner, key)
        if not isinstance(owner, Relation) or not self.origins.is_exact:
            raise UnknownValueError
        return self.origins.read_column(owner, key)

    # --- functions and calls

    def _evaluate_call(self, node: CallExpr, environment: Environment) -> Any:
        arguments = zip(node.args, node.arg_kinds, node.arg_names, strict=True)
        positional, named = self.evaluate_arguments(arguments, environment)
        callee = node.callee
        function = callee.node if isinstance(callee, RefExpr) else None
        if isinstance(callee, RefExpr) and self.is_helper(callee):
            self.require_declared_types(node)
            try:
                return allowed.call(self.make_helper(callee), positional, named, self.budget)
            except UnknownValueError as error:  # to the caller the call is unknown, and no part of the function
                raise UnknownValueError(error.node and node) from None
        if isinstance(function, FuncDef | OverloadedFuncDef | TypeInfo):
            value = allowed.find_named(function.fullname)
        elif isinstance(callee, MemberExpr):
            value = allowed.read_attribute(self.evaluate(callee.expr, None, environment), callee.name)
        else:
            try:
                value = self.evaluate(callee, None, environment)  # the result of ``lambda_``, say
            except UnknownValueError as error:
                raise UnknownValueError(node if error.node is callee else error.node) from None
        return allowed.call(value, positional, named, self.budget)

    def evaluate_arguments(
        self, arguments: Iterable[tuple[Expression, ArgKind, str | None]], environment: Environment
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the values of arguments, by position and by name."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for node, kind, name in arguments:
            if kind == ARG_POS:
                positional.append(self.evaluate(node, None, environment))
            elif kind == ARG_NAMED and name is not None:
                named[name] = self.evaluate(node, None, environment)
            elif kind == ARG_STAR:
                positional.extend(self.evaluate_star(node, environment))
            else:
                named.update(self.evaluate_double_star(node, environment))
        return positional, named

    def evaluate_star(self, node: Expression, environment: Environment | None = None) -> Iterable[Any]:
        """Return the values of ``*node``."""
        values: Iterable[Any] = self.evaluate(node, None, environment)
        try:
            self.budget.require_small(values)
        except NotEvaluatedError:
            raise UnknownValueError(node) from None
        return values

    def evaluate_double_star(self, node: Expression, environment: Environment | None = None) -> Mapping[str, Any]:
        """Return the values of ``**node``."""
        value = self.evaluate(node, None, environment)
        if not isinstance(value, Mapping):
            raise UnknownValueError(node)
        return value


def _is_of_module(node: RefExpr) -> bool:
    """Whether a name means a function or class of a module, or a variable of one that is allowed."""
    symbol = node.node
    if isinstance(symbol, Var):
        return symbol.fullname in allowed.VARIABLES
    return isinstance(symbol, FuncDef | OverloadedFuncDef | TypeInfo)
