"""What the arguments of a call are, as values: read off the program where it says so, else placeholders of their type.

An argument whose type mypy knows needs no looking into: a placeholder stands for it. One that mypy does not know is
looked into: ``col("x") > 3`` is built as the program would build it, and meets its relation in the call.
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Mapping
from typing import Any

from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    ARG_STAR,
    ArgKind,
    BytesExpr,
    CallExpr,
    ComparisonExpr,
    DictExpr,
    Expression,
    FloatExpr,
    FuncDef,
    IndexExpr,
    IntExpr,
    LambdaExpr,
    ListExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    OverloadedFuncDef,
    RefExpr,
    ReturnStmt,
    SliceExpr,
    StrExpr,
    TupleExpr,
    TypeInfo,
    UnaryExpr,
)
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    NoneType,
    Overloaded,
    Type,
    TypeOfAny,
    TypeType,
    get_proper_type,
)

from substrait_dsl.algebra import types as t
from substrait_dsl.fluent.conditions import col
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations, literal_value
from substrait_dsl.mypy_plugin.declarations import is_schema
from substrait_dsl.mypy_plugin.names import (
    EXPR,
    GROUP_BY,
    MEASURE,
    NULL,
    RELATION,
    SIMPLE,
    SIZED,
    WINDOW_FUNCTION,
    imported,
    is_ours,
)
from substrait_dsl.mypy_plugin.placeholders import NAMELESS
from substrait_dsl.mypy_plugin.signatures import OPERANDS

OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
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
UNARY: Mapping[str, Callable[..., Any]] = {"-": operator.neg, "~": operator.invert, "+": operator.pos}

SAMPLES: Mapping[str, Any] = {
    "builtins.int": 1,
    "builtins.float": 1.0,
    "builtins.bool": True,
    "datetime.date": dt.date(2000, 1, 1),
    "datetime.datetime": dt.datetime(2000, 1, 1),
}
"""A value of each type of Python whose values all become literals of one type, unless they meet a decimal."""

Environment = Mapping[object, Any]
"""The parameters of the lambdas that are being looked into, with their values."""


class GiveUpError(Exception):
    """What an argument is cannot be told from the program: nothing is wrong with it."""


class Evaluator:
    """Turns arguments into values."""

    def __init__(self, annotations: Annotations) -> None:
        self.annotations = annotations
        self.checker = annotations.checker
        self.sampled = False
        """Whether some value that the program computes has been replaced by one of its type."""

    def value(self, node: Expression, kind: Type | None = None, here: Environment | None = None) -> Any:
        """The value of an expression of the program. Raises `GiveUpError` if that cannot be told."""
        here = here or {}
        if isinstance(node, LambdaExpr):
            return self._lambda(node, here)
        if OPERANDS.are_refused(node):
            raise GiveUpError  # mypy has said what is wrong with it
        constant = _constant(node)
        if constant is not _NO_CONSTANT:
            return constant
        if kind is None:
            kind = self._type_of(node)
        if kind is not None:
            proper = get_proper_type(kind)
            if isinstance(proper, AnyType) and proper.type_of_any == TypeOfAny.from_error:
                raise GiveUpError  # mypy has said what is wrong with it
            known = self._of_type(proper, node)
            if known is not _NO_CONSTANT:
                return known
            if isinstance(proper, Instance) and proper.type.fullname in SAMPLES:
                return self._sample(proper, node, here)
        return self._looked_into(node, here)

    def _sample(self, kind: Instance, node: Expression, here: Environment) -> Any:
        try:
            return self._looked_into(node, here)  # ``r.x == "text"`` is a bool to mypy, if x is a number
        except GiveUpError:
            self.sampled = True
            return SAMPLES[kind.type.fullname]

    def receiver(self, kind: Type, node: Expression | None) -> Any:
        """The value that a method is called on."""
        known = self._of_type(get_proper_type(kind), node)
        if known is not _NO_CONSTANT:
            return known
        if node is None:
            raise GiveUpError
        return self._looked_into(node, {})

    # --- by their types

    def _type_of(self, node: Expression) -> Type | None:
        try:
            return self.checker.lookup_type(node)
        except KeyError:
            return None

    def _of_type(self, kind: Type, node: Expression | None) -> Any:
        match kind:
            case NoneType():
                return None
            case Instance():
                return self._instance(kind, node)
            case TypeType(item=Instance() as item):
                return self._class(item)
            case CallableType() if kind.is_type_obj():
                made = get_proper_type(kind.ret_type)
                return self._class(made) if isinstance(made, Instance) else _NO_CONSTANT
            case CallableType(ret_type=result):
                made = self._of_type(get_proper_type(result), None)
                return _NO_CONSTANT if made is _NO_CONSTANT else lambda *rows: made
            case Overloaded(items=[first, *_]) if first.is_type_obj():
                made = get_proper_type(first.ret_type)
                return self._class(made) if isinstance(made, Instance) else _NO_CONSTANT
        literal = literal_value(kind)
        return _NO_CONSTANT if literal is None else literal

    def _instance(self, kind: Instance, node: Expression | None) -> Any:
        fullname = kind.type.fullname
        if fullname == RELATION:
            struct = self.annotations.columns_of(kind.args[0])
            return _NO_CONSTANT if struct is None else placeholders.relation(struct)
        if fullname == GROUP_BY:
            return self._grouped(kind)
        if fullname in (EXPR, MEASURE, WINDOW_FUNCTION):
            typed = self._typed(kind)
            if typed is None:
                return _NO_CONSTANT
            if fullname == EXPR:
                return placeholders.expression(typed, None if node is None else column_name(node))
            make = placeholders.measure if fullname == MEASURE else placeholders.window_function
            return make(typed, _function_name(node))
        if fullname in SIMPLE or fullname in SIZED:
            return self._made_type(kind, node)
        struct = self.annotations.columns_of(kind)
        if struct is not None:
            return placeholders.row(struct)
        literal = literal_value(kind)
        return _NO_CONSTANT if literal is None else literal

    def _typed(self, kind: Instance) -> t.Type | None:
        required = self.annotations.type_of(kind.args[0])
        mark = get_proper_type(kind.args[1])
        if required is None or not isinstance(mark, Instance):
            return None
        return required.with_nullability(mark.type.fullname == NULL)

    def _grouped(self, kind: Instance) -> Any:
        struct, keys = (self.annotations.columns_of(row) for row in kind.args)
        if struct is None or keys is None:
            return _NO_CONSTANT
        named = {field.name: placeholders.expression(field.type) for field in keys}
        return GroupBy(placeholders.relation(struct), (), named)

    def _class(self, made: Instance) -> Any:
        if is_schema(made.type):
            struct = self.annotations.declared(made.type)
            if struct is None or any(field.type == UNKNOWN for field in struct):
                raise GiveUpError
            return placeholders.schema_class(made.type.name, struct)
        known = self.annotations.type_of(made)
        return _NO_CONSTANT if known is None else known

    def _made_type(self, kind: Instance, node: Expression | None) -> Any:
        """A type that is a value, like ``Decimal(15, 2, nullable=True)``; what made it says whether it is nullable."""
        known = self.annotations.type_of(kind)
        if known is None or not isinstance(node, CallExpr):
            return _NO_CONSTANT
        return _NO_CONSTANT if node.arg_names and "nullable" in node.arg_names else known

    # --- by what the program says

    def _looked_into(self, node: Expression, here: Environment) -> Any:
        match node:
            case NameExpr(node=symbol) if symbol in here:
                return here[symbol]
            case TupleExpr(items=items):
                return tuple(self.value(item, None, here) for item in items)
            case ListExpr(items=items):
                return [self.value(item, None, here) for item in items]
            case DictExpr(items=items):
                pairs = [(self._key(key, here), self.value(value, None, here)) for key, value in items]
                return dict(pairs)
            case OpExpr(op=op, left=left, right=right) if op in OPERATORS:
                return OPERATORS[op](self.value(left, None, here), self.value(right, None, here))
            case ComparisonExpr(operators=[op], operands=[left, right]) if op in OPERATORS:
                return OPERATORS[op](self.value(left, None, here), self.value(right, None, here))
            case UnaryExpr(op=op, expr=inner) if op in UNARY:
                return UNARY[op](self.value(inner, None, here))
            case IndexExpr(base=base, index=index) if not isinstance(index, SliceExpr):
                return self.value(base, None, here)[self.value(index, None, here)]
            case CallExpr():
                return self._called(node, here)
            case MemberExpr(expr=RefExpr(node=TypeInfo() as info), name=name) if is_schema(info):
                return col(name)
            case MemberExpr(expr=inner, name=name) if _is_row(inner, here):
                return getattr(self.value(inner, None, here), name)
            case RefExpr(node=FuncDef() | OverloadedFuncDef() as function) if is_ours(function.fullname):
                return imported(function.fullname)
        raise GiveUpError

    def _key(self, key: Expression | None, here: Environment) -> Any:
        if key is None:  # ``**other``
            raise GiveUpError
        return self.value(key, None, here)

    def _lambda(self, node: LambdaExpr, here: Environment) -> Callable[..., Any]:
        """A function that gives what a lambda gives."""
        body = node.body.body[0]
        if not isinstance(body, ReturnStmt) or body.expr is None:
            raise GiveUpError
        result = body.expr
        parameters = [argument.variable for argument in node.arguments]

        def called(*rows: Any) -> Any:
            if len(rows) != len(parameters):
                raise GiveUpError  # mypy says so itself
            return self.value(result, None, {**here, **dict(zip(parameters, rows, strict=True))})

        return called

    def _called(self, node: CallExpr, here: Environment) -> Any:
        positional, named = self.arguments(zip(node.args, node.arg_kinds, node.arg_names, strict=True), here)
        callee = node.callee
        function = callee.node if isinstance(callee, RefExpr) else None
        if isinstance(function, FuncDef | OverloadedFuncDef | TypeInfo) and is_ours(function.fullname):
            return imported(function.fullname)(*positional, **named)
        if isinstance(callee, MemberExpr):
            return getattr(self.value(callee.expr, None, here), callee.name)(*positional, **named)
        raise GiveUpError

    def arguments(self, given: Any, here: Environment | None = None) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call: expressions with their kinds, their names and, perhaps, their types."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for node, kind, name, *typed in given:
            self._argument(node, kind, name, typed[0] if typed else None, here or {}, positional, named)
        return positional, named

    def _argument(
        self,
        node: Expression,
        kind: ArgKind,
        name: str | None,
        typed: Type | None,
        here: Environment,
        positional: list[Any],
        named: dict[str, Any],
    ) -> None:
        if kind == ARG_POS:
            positional.append(self.value(node, typed, here))
        elif kind == ARG_NAMED and name is not None:
            named[name] = self.value(node, typed, here)
        elif kind == ARG_STAR:
            positional.extend(self.value(node, None, here))
        else:
            named.update(self.value(node, None, here))


_NO_CONSTANT = object()


def _constant(node: Expression) -> Any:
    match node:
        case StrExpr(value=value) | IntExpr(value=value) | FloatExpr(value=value):
            return value
        case BytesExpr(value=value):
            return value.encode("latin-1").decode("unicode_escape").encode("latin-1")
        case NameExpr(fullname="builtins.True"):
            return True
        case NameExpr(fullname="builtins.False"):
            return False
        case NameExpr(fullname="builtins.None"):
            return None
        case UnaryExpr(op="-", expr=IntExpr(value=value) | FloatExpr(value=value)):
            return -value
    return _NO_CONSTANT


def column_name(node: Expression) -> str | None:
    """The name that an expression of the program has as a column: None if it has none."""
    match node:
        case MemberExpr(name=name):
            return name
        case IndexExpr(index=StrExpr(value=name)):
            return name
        case CallExpr(callee=RefExpr(node=FuncDef(name="col")), args=[StrExpr(value=name)]):
            return name
        case CallExpr(callee=MemberExpr(name="alias"), args=[StrExpr(value=name)]):
            return name
        case CallExpr(callee=MemberExpr(expr=inner, name="cast" | "keep")):
            return column_name(inner)
        case OpExpr() | UnaryExpr() | ComparisonExpr():
            return None
        case CallExpr(callee=RefExpr(node=FuncDef() | OverloadedFuncDef() as function)) if is_ours(function.fullname):
            return None
        case CallExpr(callee=MemberExpr(expr=inner)) if not isinstance(inner, RefExpr):
            return None
    return NAMELESS


def _function_name(node: Expression | None) -> str:
    """What the function is called that a measure is made by, for errors."""
    match node:
        case CallExpr(callee=RefExpr(node=FuncDef(name=name) | OverloadedFuncDef(name=name))):
            return name
    return "this"


def _is_row(node: Expression, here: Environment) -> bool:
    return isinstance(node, NameExpr) and node.node in here
