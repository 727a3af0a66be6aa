"""What the arguments of a call are by what the program says: ``col("x") > 3`` is built as the program builds it."""

from __future__ import annotations

import inspect
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
    Expression,
    FuncDef,
    IndexExpr,
    LambdaExpr,
    ListExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    OverloadedFuncDef,
    RefExpr,
    ReturnStmt,
    SliceExpr,
    StarExpr,
    TupleExpr,
    TypeInfo,
    UnaryExpr,
    Var,
)
from mypy.types import Type

from substrait_dsl.errors import InvalidArgumentError, SubstraitDslError
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.conditions import col
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import allowed
from substrait_dsl.mypy_plugin.budget import (
    DISPLAYED,
    LARGEST,
    LONGEST,
    Budget,
    GiveUpError,
    UnevaluatedError,
    is_of_library,
)
from substrait_dsl.mypy_plugin.declarations import is_column
from substrait_dsl.mypy_plugin.relation_identity import Origins


def _product(left: Any, right: Any) -> Any:
    """A product; a long list or text is not made to find out what types its parts have."""
    for whole, times in ((left, right), (right, left)):
        if isinstance(whole, Sequence) and isinstance(times, int) and len(whole) * times > LONGEST:
            raise UnevaluatedError
    return left * right


def _remainder(left: Any, right: Any) -> Any:
    """A remainder; a text is not made to a format, which may ask for any length."""
    if isinstance(left, str | bytes):
        raise UnevaluatedError
    return left % right


def _identity(op: str, left: Any, right: Any) -> bool:
    """Whether two values are one. Of expressions it says nothing: those that a checker makes are not the program's."""
    if right is None and isinstance(left, ExprBase):
        method = "is_null()" if op == "is" else "is_not_null()"
        raise InvalidArgumentError(f"an expression {op} None is found out before the query runs", hint=f"use {method}")
    raise GiveUpError


def _of_numbers(made: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator with which numbers can become so large that to make them takes for ever."""

    def applied(left: Any, right: Any) -> Any:
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > LARGEST:
            raise UnevaluatedError
        return made(left, right)

    return applied


OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": _product,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": _remainder,
    "**": _of_numbers(operator.pow),
    "<<": _of_numbers(operator.lshift),
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

PYTHONS_OWN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Mistakes with values of Python, like a date that there is not: those mypy finds, or the program when it runs."""

Environment = Mapping[object, Any]
"""The parameters of the lambdas that are being looked into, with their values."""


class Written(ABC):
    """Builds what the program writes out, from parts of which some are known only by their types."""

    def __init__(self) -> None:
        self.origins = Origins()
        self.budget = Budget()
        self.sampled: Expression | None = None
        """A value that the program computes and that has been replaced by one of its type."""
        self.decided = False
        """Whether mypy is to check the call as it is declared, though it can be made: something that it would object to
        is a `bool` of Python, true or false before the query runs, or has been taken for a value of its type."""

    @abstractmethod
    def value(self, node: Expression, type_: Type | None = None, here: Environment | None = None) -> Any:
        """The value of an expression of the program. Raises `GiveUpError` if that cannot be told."""

    @abstractmethod
    def is_relation(self, node: Expression) -> bool:
        """Whether an expression is a relation."""

    def looked_into(self, node: Expression, here: Environment) -> Any:
        """The value of an expression by its parts."""
        try:
            self.budget.step()
            made = self._by_parts(node, here)
            return self.budget.keep(made, DISPLAYED if isinstance(node, DISPLAYS) else LONGEST)
        except UnevaluatedError:
            raise GiveUpError(node) from None
        except PYTHONS_OWN as error:
            if isinstance(error, SubstraitDslError):
                raise
            raise GiveUpError(node) from None

    def _by_parts(self, node: Expression, here: Environment) -> Any:
        match node:
            case TupleExpr(items=items):
                return tuple(self._items(items, here))
            case ListExpr(items=items):
                return list(self._items(items, here))
            case DictExpr(items=items):
                made: dict[Any, Any] = {}
                for key, value in items:  # without a key it is ``**value``
                    part = self.value(value, None, here) if key is not None else self.keywords(value, here)
                    made.update(part if key is None else {self.value(key, None, here): part})
                return made
            case OpExpr(op=op, left=left, right=right) if op in OPERATORS:
                return self._operated(op, self.value(left, None, here), self.value(right, None, here))
            case OpExpr(op="and" | "or") | UnaryExpr(op="not") | ConditionalExpr():
                return self._decided(node, here)
            case ComparisonExpr(operators=[op, *more], operands=[left, right, *_]) if op in OPERATORS:
                compared = self._operated(op, self.value(left, None, here), self.value(right, None, here))
                if not more:
                    return compared
                if isinstance(compared, ExprBase):
                    return bool(compared)  # ``1 < x < 5`` asks whether ``1 < x`` is true
            case ComparisonExpr(operators=["in" | "not in" as op], operands=[left, right]):
                return self._is_in(self.value(left, None, here), self.value(right, None, here)) is (op == "in")
            case ComparisonExpr(operators=["is" | "is not" as op], operands=[left, right]):
                return _identity(op, self.value(left, None, here), self.value(right, None, here))
            case UnaryExpr(op=op, expr=inner) if op in UNARY:
                return UNARY[op](self.value(inner, None, here))
            case SliceExpr(begin_index=begin, end_index=end, stride=step):
                return slice(*(None if each is None else self.value(each, None, here) for each in (begin, end, step)))
            case IndexExpr(base=base, index=index):
                return self._part(self.value(base, None, here), self.value(index, None, here))
            case CallExpr():
                return self._called(node, here)
            case MemberExpr(expr=RefExpr(node=TypeInfo() as info), name=name) if is_column(info, name):
                return col(name)
            case MemberExpr(expr=MemberExpr(expr=relation, name="c"), name=name):
                return self._part(self.value(relation, None, here), name)
            case MemberExpr(expr=relation, name="schema" | "columns" as name) if self.is_relation(relation):
                return allowed.attribute(self.value(relation, None, here), name)
            case MemberExpr(expr=NameExpr(node=symbol), name=name) if symbol in here:
                return allowed.attribute(here[symbol], name)
            case RefExpr(node=FuncDef() | OverloadedFuncDef() | TypeInfo() as named):
                return allowed.named(named.fullname)
            case RefExpr(node=Var(fullname=name)) if name in allowed.VARIABLES:
                return allowed.VARIABLES[name]
            case MemberExpr(expr=RefExpr(node=TypeInfo() as info), name=name):
                return allowed.attribute(allowed.named(info.fullname), name)
            case MemberExpr(expr=inner, name="schema" | "columns" as name):
                return self._described(self.value(inner, None, here), name, node)
        raise GiveUpError(node)

    def _items(self, items: Iterable[Expression], here: Environment) -> Iterator[Any]:
        """The items of a list or tuple, of which some stand for several: ``[*keys, "other"]``."""
        for item in items:
            if isinstance(item, StarExpr):
                yield from self.starred(item.expr, here)
            else:
                yield self.value(item, None, here)

    def _operated(self, op: str, left: Any, right: Any) -> Any:
        """What an operator gives."""
        if not is_of_library(left) and not is_of_library(right):
            self.budget.keep_all((left, right))
        return OPERATORS[op](left, right)

    def _is_in(self, value: Any, whole: Any) -> bool:
        self.budget.keep_all((value, whole))
        return bool(value in whole)

    def _described(self, relation: Any, name: str, node: Expression) -> Any:
        if not isinstance(relation, RelationBase):
            raise GiveUpError(node)
        return allowed.attribute(relation, name)

    def _part(self, whole: Any, key: Any) -> Any:
        if not isinstance(whole, RelationBase):
            return allowed.part(whole, key)
        if not isinstance(whole, Relation) or not self.origins.matter:
            raise GiveUpError
        return self.origins.column(whole, key)

    def _decided(self, node: Expression, here: Environment) -> Any:
        """What Python decides by the truth of a value before the query runs: an expression has none."""
        match node:
            case OpExpr(op=op, left=left, right=right):
                first = self._truth(left, here)
                return first if first is (op == "or") else self.value(right, None, here)
            case UnaryExpr(expr=inner):
                return not self._truth(inner, here)
            case ConditionalExpr(cond=condition, if_expr=yes, else_expr=no):
                return self.value(yes if self._truth(condition, here) else no, None, here)
        raise GiveUpError

    def _truth(self, node: Expression, here: Environment) -> bool:
        """Whether a value is true. Raises the library's error for an expression or a relation."""
        before, self.sampled = self.sampled, None
        value = self.value(node, None, here)
        sampled, self.sampled = self.sampled, before
        if isinstance(value, ExprBase | RelationBase):
            return bool(value)
        if not isinstance(value, bool) or sampled:
            raise GiveUpError(node)
        return value

    def function(self, node: LambdaExpr, here: Environment) -> Callable[..., Any]:
        """A function that gives what a lambda gives, and takes what it takes."""
        body, parameters = node.body.body[0], node.arguments
        if not isinstance(body, ReturnStmt) or body.expr is None or any(each.kind.is_star() for each in parameters):
            raise GiveUpError(node)
        result = body.expr
        defaults = {each.variable: each.initializer for each in parameters if each.initializer is not None}
        signature = inspect.Signature(
            [
                inspect.Parameter(
                    each.variable.name,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=defaults.get(each.variable, inspect.Parameter.empty),
                )
                for each in parameters
            ]
        )

        def called(*rows: Any) -> Any:
            self.budget.enter()
            try:
                return evaluated(*rows)
            finally:
                self.budget.leave()

        def evaluated(*rows: Any) -> Any:
            given = signature.bind(*rows).arguments
            inside: dict[object, Any] = {each: self.value(default, None, here) for each, default in defaults.items()}
            inside |= {each.variable: given[each.variable.name] for each in parameters if each.variable.name in given}
            value = self.value(result, None, {**here, **inside})
            self.decided |= isinstance(value, bool)
            return value

        called.__name__ = called.__qualname__ = "<lambda>"
        called.__signature__ = signature  # type: ignore[attr-defined]  # what `inspect` looks at first
        return called

    def _called(self, node: CallExpr, here: Environment) -> Any:
        positional, named = self.arguments(zip(node.args, node.arg_kinds, node.arg_names, strict=True), here)
        callee = node.callee
        function = callee.node if isinstance(callee, RefExpr) else None
        if isinstance(function, FuncDef | OverloadedFuncDef | TypeInfo):
            made = allowed.named(function.fullname)
        elif isinstance(callee, MemberExpr):
            made = allowed.attribute(self.value(callee.expr, None, here), callee.name)
        else:
            try:
                made = self.value(callee, None, here)  # what ``lambda_`` gives
            except GiveUpError as error:
                raise GiveUpError(node if error.node is callee else error.node) from None
        return allowed.call(made, positional, named, self.budget)

    def arguments(
        self, given: Iterable[tuple[Expression, ArgKind, str | None]], here: Environment
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call: expressions with their kinds and names."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for node, kind, name in given:
            if kind == ARG_POS:
                positional.append(self.value(node, None, here))
            elif kind == ARG_NAMED and name is not None:
                named[name] = self.value(node, None, here)
            elif kind == ARG_STAR:
                positional.extend(self.starred(node, here))
            else:
                named.update(self.keywords(node, here))
        return positional, named

    def starred(self, node: Expression, here: Environment | None = None) -> Iterable[Any]:
        """What stands after one star."""
        values: Iterable[Any] = self.value(node, None, here)
        try:
            self.budget.keep(values)
        except UnevaluatedError:
            raise GiveUpError(node) from None
        return values

    def keywords(self, node: Expression, here: Environment | None = None) -> Mapping[str, Any]:
        """What stands after two stars."""
        value = self.value(node, None, here)
        if not isinstance(value, Mapping):
            raise GiveUpError(node)
        return value
