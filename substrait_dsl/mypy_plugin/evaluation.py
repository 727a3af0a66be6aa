"""What the arguments of a call are, as values: read off the program where it says so, else placeholders of their type.

``col("x") > 3`` is built as the program builds it, and meets its relation in the call. What the program computes, or
gets from functions of its own, is known by its type: a placeholder stands for it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from mypy.nodes import (
    CallExpr,
    ComparisonExpr,
    ConditionalExpr,
    Expression,
    IndexExpr,
    LambdaExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    RefExpr,
    TypeInfo,
    UnaryExpr,
    Var,
)
from mypy.types import (
    CallableType,
    Instance,
    NoneType,
    Overloaded,
    ProperType,
    Type,
    TypeType,
    get_proper_type,
)

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations, is_mistaken, literal_value
from substrait_dsl.mypy_plugin.declarations import is_schema
from substrait_dsl.mypy_plugin.memory import MEMORY, NOT_MADE
from substrait_dsl.mypy_plugin.names import (
    DYN_EXPR,
    EXPR,
    GROUP_BY,
    MEASURE,
    NULL,
    RELATION,
    SIMPLE,
    SIZED,
    WINDOW_FUNCTION,
)
from substrait_dsl.mypy_plugin.python_values import SAMPLES
from substrait_dsl.mypy_plugin.syntax import NO_CONSTANT, column_name, constant, function_name, schema_made
from substrait_dsl.mypy_plugin.variables import held
from substrait_dsl.mypy_plugin.written import Environment, GiveUpError, Written

WRITTEN_OUT = (OpExpr, ComparisonExpr, UnaryExpr, ConditionalExpr, CallExpr, MemberExpr, IndexExpr)
"""What is rather built as the program builds it than taken for a value of its type."""


class Evaluator(Written):
    """Turns arguments into values."""

    def __init__(self, annotations: Annotations) -> None:
        super().__init__()
        self.annotations = annotations
        self.checker = annotations.checker
        self.sample = 0
        """Which of the samples of a type stands for such a value."""
        self.opaque = False
        """Whether an expression stands for one of which the program does not say how it is made."""
        self.mistaken: Expression | None = None
        """The innermost expression that could not be made: there the mistake is."""
        self._looked_up: list[NameExpr] = []
        """The variables whose values are being looked up, lest they are looked up again for ever."""

    def value(self, node: Expression, kind: Type | None = None, here: Environment | None = None) -> Any:
        """The value of an expression of the program. Raises `GiveUpError` if that cannot be told."""
        here = here or {}
        if isinstance(node, LambdaExpr):
            return self.function(node, here)
        if MEMORY.said(node):
            raise GiveUpError  # what is wrong with it has been said
        if isinstance(node, NameExpr) and node.node in here:
            return here[node.node]
        written = constant(node)
        if isinstance(node, CallExpr) and (schema := schema_made(node)) is not None:
            return self._instance_of(schema, node, here)
        if written is not NO_CONSTANT:
            return written
        unknown = GiveUpError(node)
        if isinstance(node, NameExpr):
            with suppress(GiveUpError):
                return self._held(node)
        if isinstance(node, WRITTEN_OUT):
            try:
                return self._built(node, here)
            except GiveUpError as error:
                unknown = error
        proper = get_proper_type(kind or self.type_of(node))
        known = self._of_type(proper, node)
        if known is not NO_CONSTANT:
            return known
        if isinstance(node, WRITTEN_OUT):
            raise GiveUpError if is_mistaken(proper) else unknown
        return self.looked_into(node, here)

    def _held(self, node: NameExpr) -> Any:
        """What a variable holds that holds but one value; a relation is known by its columns."""
        if self.is_relation(node) or node in self._looked_up:
            raise GiveUpError(node)
        expression = held(node, self.checker)
        if expression is None:
            raise GiveUpError(node)
        mistaken = self.mistaken
        self._looked_up.append(node)
        try:
            value = self.value(expression)
        except SubstraitDslError:
            self.mistaken = mistaken or node
            raise
        finally:
            self._looked_up.pop()
        if value is None and not isinstance(get_proper_type(self.type_of(node)), NoneType):
            raise GiveUpError(node)  # it has been found not to be None, so it holds something else as well
        return value

    def known(self, node: Expression) -> Any:
        """The value of an expression, or None if it cannot be told, or made."""
        try:
            return self.value(node)
        except (GiveUpError, SubstraitDslError, TypeError):
            return None

    def _built(self, node: Expression, here: Environment) -> Any:
        """What an expression makes by its parts, or has made already."""
        made = NOT_MADE if here else MEMORY.made(node)
        if made is not NOT_MADE:
            return made
        sampled = self.sampled
        try:
            return self.looked_into(node, here)
        except GiveUpError:
            self.sampled = sampled
            raise
        except SubstraitDslError:
            self.mistaken = self.mistaken or node
            raise

    def is_relation(self, node: Expression) -> bool:
        kind = get_proper_type(self.type_of(node))
        return isinstance(kind, Instance) and kind.type.fullname == RELATION

    def receiver(self, kind: Type, node: Expression | None) -> Any:
        """The value that a method is called on."""
        if MEMORY.said(node):
            raise GiveUpError
        made = MEMORY.made(node)
        if made is NOT_MADE and isinstance(node, NameExpr):
            with suppress(GiveUpError):
                made = self._held(node)
        if made is NOT_MADE:
            made = self._of_type(get_proper_type(kind), node)
        if made is NO_CONSTANT and node is not None:
            made = self.looked_into(node, {})
        if made is NO_CONSTANT:
            raise GiveUpError
        return made

    # --- by their types

    def type_of(self, node: Expression) -> Type | None:
        """The type that mypy has found for an expression, if it has."""
        try:
            return self.checker.lookup_type(node)
        except KeyError:  # the daemon has checked it before, and checks but one function now
            return node.node.type if isinstance(node, RefExpr) and isinstance(node.node, Var) else None

    def _of_type(self, kind: ProperType | None, node: Expression | None) -> Any:
        match kind:
            case NoneType():
                return None
            case Instance():
                return self._instance(kind, node)
            case TypeType(item=Instance() as item):
                return self._class(item)
            case CallableType() if kind.is_type_obj():
                made = get_proper_type(kind.ret_type)
                return self._class(made) if isinstance(made, Instance) else NO_CONSTANT
            case CallableType(ret_type=result):
                made = self._of_type(get_proper_type(result), None)
                return NO_CONSTANT if made is NO_CONSTANT else lambda *rows: made
            case Overloaded(items=[first, *_]) if first.is_type_obj():
                made = get_proper_type(first.ret_type)
                return self._class(made) if isinstance(made, Instance) else NO_CONSTANT
        literal = None if kind is None else literal_value(kind)
        return NO_CONSTANT if literal is None else literal

    def _instance(self, kind: Instance, node: Expression | None) -> Any:
        fullname = kind.type.fullname
        if fullname == RELATION:
            struct = self.annotations.columns_of(kind.args[0])
            return NO_CONSTANT if struct is None else self.origins.relation(node, struct)
        if fullname == GROUP_BY:
            return self._grouped(kind)
        if fullname in (EXPR, MEASURE, WINDOW_FUNCTION):
            typed = self._typed(kind)
            if typed is None:
                return NO_CONSTANT
            if fullname == EXPR:
                self.opaque = self.opaque or not self._is_of_row(node)
                return placeholders.expression(typed, None if node is None else column_name(node))
            make = placeholders.measure if fullname == MEASURE else placeholders.window_function
            return make(typed, function_name(node))
        if fullname in SIMPLE or fullname in SIZED:
            return self._made_type(kind, node)
        struct = self.annotations.columns_of(kind)
        if struct is not None:
            return placeholders.row(struct)
        literal = literal_value(kind)
        if literal is None and fullname in SAMPLES and node is not None:
            self.sampled = node
            return SAMPLES[fullname][self.sample % len(SAMPLES[fullname])]
        return NO_CONSTANT if literal is None else literal

    def _is_of_row(self, node: Expression | None) -> bool:
        """Whether an expression is a column of a row that a function gets."""
        row = self.type_of(node.expr) if isinstance(node, MemberExpr) and isinstance(node.expr, NameExpr) else None
        return row is not None and self.annotations.columns_of(row) is not None

    def _typed(self, kind: Instance) -> t.Type | None:
        required = self.annotations.type_of(kind.args[0])
        mark = get_proper_type(kind.args[1])
        if required is None or not isinstance(mark, Instance):
            return None
        return required.with_nullability(mark.type.fullname == NULL)

    def _grouped(self, kind: Instance) -> Any:
        struct, keys = (self.annotations.columns_of(row) for row in kind.args)
        if struct is None or keys is None:
            return NO_CONSTANT
        named = {field.name: placeholders.expression(field.type) for field in keys}
        return GroupBy(self.origins.relation(None, struct), (), named)

    def _class(self, made: Instance) -> Any:
        if is_schema(made.type):
            struct = self.annotations.declared(made.type)
            if struct is None or any(field.type == UNKNOWN for field in struct):
                raise GiveUpError
            return placeholders.schema_class(made.type.module_name, made.type.name, struct)
        known = self.annotations.type_of(made)
        return NO_CONSTANT if known is None else known

    def _made_type(self, kind: Instance, node: Expression | None) -> Any:
        """A type that is a value, like ``Decimal(15, 2, nullable=True)``; what made it says whether it is nullable."""
        known = self.annotations.type_of(kind)
        if known is None or not isinstance(node, CallExpr):
            return NO_CONSTANT
        return NO_CONSTANT if node.arg_names and "nullable" in node.arg_names else known

    def _instance_of(self, schema: TypeInfo, node: CallExpr, here: Environment) -> Any:
        """An instance of a schema class."""
        struct = self.annotations.declared(schema)
        if struct is None or set(struct.names) != set(node.arg_names):
            raise GiveUpError(node)
        columns = {
            str(name): self._column(argument, struct.fields[struct.position(str(name))].type, here)
            for name, argument in zip(node.arg_names, node.args, strict=True)
        }
        return placeholders.schema_class(schema.module_name, schema.name, struct)(**columns)

    def _column(self, node: Expression, declared: t.Type, here: Environment) -> Any:
        """A column of such an instance. One of a type that is not the declared one mypy itself has refused."""
        kind = get_proper_type(self.type_of(node))
        if isinstance(kind, Instance) and kind.type.fullname in (EXPR, DYN_EXPR):
            known = None if waits(kind) else self._typed(kind)
            if known is None or _is_taken(known, declared):
                with suppress(GiveUpError):
                    return self.value(node, None, here)
        return placeholders.expression(declared)


def _is_taken(known: t.Type, declared: t.Type) -> bool:
    """Whether mypy takes an expression for a column of a schema class; it does not look into structs."""
    holds_struct = next(t.struct_names(declared), None) is not None
    return (holds_struct or known.matches(declared)) and (declared.nullable or not known.nullable)


def waits(kind: Type | None) -> bool:
    """Whether an expression waits for a relation to say what its type is: nothing can be said of it before."""
    proper = None if kind is None else get_proper_type(kind)
    return isinstance(proper, Instance) and proper.type.fullname == DYN_EXPR
