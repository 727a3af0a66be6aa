"""What the arguments of a call are, as values: read off the program where it says so, else placeholders of their type.

``col("x") > 3`` is built as the program builds it, and meets its relation in the call. What the program computes, or
gets from functions of its own, is known by its type: a placeholder stands for it.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    UnionType,
    get_proper_type,
)

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations, is_mistaken
from substrait_dsl.mypy_plugin.ast_evaluator import Environment, Written
from substrait_dsl.mypy_plugin.budget import GiveUpError
from substrait_dsl.mypy_plugin.checker_state import MEMORY, NOT_MADE
from substrait_dsl.mypy_plugin.declarations import SCHEMA, is_schema
from substrait_dsl.mypy_plugin.enums import literal
from substrait_dsl.mypy_plugin.names import (
    DYN_EXPR,
    EXPR,
    GROUP_BY,
    MEASURE,
    NULL,
    RELATION,
    WINDOW_FUNCTION,
    is_type,
)
from substrait_dsl.mypy_plugin.python_values import EITHER, OF_VALUES, SAMPLES, is_of_python, misfit
from substrait_dsl.mypy_plugin.syntax import NO_CONSTANT, column_name, constant, function_name, schema_made
from substrait_dsl.mypy_plugin.variables import held

WRITTEN_OUT = (OpExpr, ComparisonExpr, UnaryExpr, ConditionalExpr, CallExpr, MemberExpr, IndexExpr)
"""What is rather built as the program builds it than taken for a value of its type."""


COUNTS = 3
"""How many relations stand for any number of them: each number that is less than this."""

NO_SAMPLE = -1
"""Instead of the number of a sample: what depends on the value is not known."""


class Evaluator(Written):
    """Turns arguments into values."""

    def __init__(self, annotations: Annotations) -> None:
        super().__init__()
        self.annotations = annotations
        self.checker = annotations.checker
        self.sample = 0
        """Which of the samples of a type stands for such a value."""
        self.samples = 1
        """How many samples there are of the types of such values: how often the call is made, so that each is tried."""
        self.collected: Expression | None = None
        """What the program has collected, of which some relations stand for any number of them."""
        self.opaque = False
        """Whether an expression stands for one of which the program does not say how it is made."""
        self.mistaken: Expression | None = None
        """The innermost expression that could not be made: there the mistake is."""
        self._looked_up: list[NameExpr] = []
        """The variables whose values are being looked up, lest they are looked up again for ever."""
        self._held_values: dict[tuple[Expression, int, bool], tuple[Any, Expression | None]] = {}
        """What variables hold, with the value that has been replaced in it: ``b = a + a``, ``c = b + b`` and so on
        would take twice as long with each."""

    def value(self, node: Expression, type_: Type | None = None, here: Environment | None = None) -> Any:
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
        unknown: GiveUpError | None = None
        if isinstance(node, NameExpr) and not self.is_relation(node):
            with suppress(GiveUpError):
                return self._held(node)
        if isinstance(node, WRITTEN_OUT):
            try:
                return self._built(node, here)
            except GiveUpError as error:
                unknown = error
                self.decided = self.decided or not isinstance(node, CallExpr | MemberExpr | IndexExpr)
        proper = get_proper_type(type_ or self.type_of(node))
        known = self._of_type(proper, node)
        if known is not NO_CONSTANT:
            return known
        if unknown is not None:
            raise GiveUpError if is_mistaken(proper) else unknown
        return self.looked_into(node, here)

    def _held(self, node: NameExpr) -> Any:
        """What a variable holds that holds but one value. It is no relation: that is known by its columns."""
        if node in self._looked_up:
            raise GiveUpError(node)
        expression = held(node, self.checker)
        if expression is None:
            raise GiveUpError(node)
        mistaken, sampled = self.mistaken, self.sampled
        passing = (expression, self.sample, self.origins.matter)
        self._looked_up.append(node)
        try:
            if passing not in self._held_values:
                self.sampled = None
                self._held_values[passing] = (self.value(expression), self.sampled)
            value, self.sampled = self._held_values[passing]
        except SubstraitDslError:
            self.mistaken = mistaken or node
            raise
        finally:
            self.sampled = self.sampled or sampled
            self._looked_up.pop()
        if value is None and not isinstance(get_proper_type(self.type_of(node)), NoneType):
            raise GiveUpError(node)  # it has been found not to be None, so it holds something else as well
        return value

    def _made_relation(self, node: Expression | None) -> object:
        """The relation that a variable holds, if it holds what one call makes that has just been checked."""
        call = held(node, self.checker) if isinstance(node, NameExpr) else None
        return MEMORY.made_here(call) if isinstance(call, CallExpr) else NOT_MADE

    def relations(self, node: Expression) -> list[Any]:
        """Relations that the program has collected, all of the same columns: none, one and two stand for any number."""
        if self.sample == NO_SAMPLE:
            raise GiveUpError(node)
        _, type_ = self.checker.analyze_iterable_item_type_without_expression(self.checker.lookup_type(node), node)
        item = get_proper_type(type_)
        made = self._instance(item, None) if isinstance(item, Instance) and item.type.fullname == RELATION else None
        if not isinstance(made, Relation):
            raise GiveUpError(node)
        self.sampled, self.collected, self.samples = node, node, max(self.samples, COUNTS)
        return [made] * self.sample

    def known(self, node: Expression) -> Any:
        """The value of an expression, or None if it cannot be told, or made."""
        try:
            return self.value(node)
        except (GiveUpError, SubstraitDslError, TypeError):
            return None

    def fits_otherwise(self, refusals: Sequence[SubstraitDslError]) -> bool:
        """Whether refusals say nothing: each is of a value of a type whose samples are of several types of Substrait.

        Nor does it say anything that too few relations are refused, if nothing is wrong with more.
        """
        if self.collected is not None:
            return len(refusals) == 1
        type_ = None if self.sampled is None else get_proper_type(self.type_of(self.sampled))
        is_either = isinstance(type_, Instance) and type_.type.fullname in EITHER
        return is_either and all(isinstance(error, OF_VALUES) for error in refusals)

    def _is_sampled(self) -> bool:
        return self.sampled is not None

    def _built(self, node: Expression, here: Environment) -> Any:
        """What an expression makes by its parts, or has made already."""
        if isinstance(get_proper_type(self.type_of(node)), UnionType):
            raise GiveUpError(node)  # it has been made for each type that it is called on, and was the last one then
        made = NOT_MADE if here else MEMORY.made(node)
        if made is not NOT_MADE:
            return made
        sampled, self.sampled = self.sampled, None
        try:
            value = self.looked_into(node, here)
            if self._is_sampled() and is_of_python(value):
                raise GiveUpError(node)  # what Python makes of a sample, it does not make of the value
            if not self._is_sampled():
                self.sampled = sampled
            return value
        except GiveUpError:
            self.sampled = sampled
            raise
        except SubstraitDslError:
            self.sampled = self.sampled or sampled
            self.mistaken = self.mistaken or node
            raise

    def is_relation(self, node: Expression) -> bool:
        type_ = get_proper_type(self.type_of(node))
        return isinstance(type_, Instance) and type_.type.fullname == RELATION

    def receiver(self, type_: Type, node: Expression | None) -> Any:
        """The value that a method is called on."""
        if MEMORY.said(node):
            raise GiveUpError
        is_union = node is not None and isinstance(get_proper_type(self.type_of(node)), UnionType)
        made = NOT_MADE if is_union else MEMORY.made(node)
        if made is NOT_MADE and isinstance(node, NameExpr) and not self.is_relation(node):
            with suppress(GiveUpError):
                made = self._held(node)
        if made is NOT_MADE:
            made = self._of_type(get_proper_type(type_), node)
        if made is NO_CONSTANT and node is not None and not is_union:
            try:
                made = self.looked_into(node, {})
            except SubstraitDslError:
                self.mistaken = self.mistaken or node
                raise
        if made is NO_CONSTANT:
            raise GiveUpError
        return made

    def misfit(self, refusals: Sequence[SubstraitDslError]) -> SubstraitDslError | None:
        """What is wrong whatever the value is that a sample stands for: its type. None if it may be the value."""
        type_ = None if self.sampled is None else get_proper_type(self.type_of(self.sampled))
        return misfit(type_.type.fullname, refusals) if isinstance(type_, Instance) else None

    # --- by their types

    def type_of(self, node: Expression) -> Type | None:
        """The type that mypy has found for an expression, if it has."""
        try:
            return self.checker.lookup_type(node)
        except KeyError:  # the daemon has checked it before, and checks but one function now
            return node.node.type if isinstance(node, RefExpr) and isinstance(node.node, Var) else None

    def _of_type(self, type_: ProperType | None, node: Expression | None) -> Any:
        match type_:
            case NoneType():
                return None
            case Instance():
                return self._instance(type_, node)
            case TypeType(item=Instance() as item):
                return self._class(item)
            case CallableType() if type_.is_type_obj():
                made = get_proper_type(type_.ret_type)
                return self._class(made) if isinstance(made, Instance) else NO_CONSTANT
            case CallableType(ret_type=result):
                made = self._of_type(get_proper_type(result), None)
                self.decided = True  # what the function takes, mypy compares
                return NO_CONSTANT if made is NO_CONSTANT else lambda *rows: made
            case Overloaded(items=[first, *_]) if first.is_type_obj():
                made = get_proper_type(first.ret_type)
                return self._class(made) if isinstance(made, Instance) else NO_CONSTANT
        value = None if type_ is None else literal(type_)
        return NO_CONSTANT if value is None else value

    def _instance(self, type_: Instance, node: Expression | None) -> Any:
        fullname = type_.type.fullname
        if fullname == RELATION:
            struct = self.annotations.columns_of(type_.args[0])
            return NO_CONSTANT if struct is None else self.origins.relation(node, struct, self._made_relation(node))
        if fullname == GROUP_BY:
            return self._grouped(type_)
        if fullname in (EXPR, MEASURE, WINDOW_FUNCTION):
            typed = self._typed(type_)
            if typed is None:
                return NO_CONSTANT
            if fullname == EXPR:
                self.opaque = self.opaque or not self._is_of_row(node)
                return placeholders.expression(typed, self._name(node))
            if fullname == WINDOW_FUNCTION:
                return placeholders.window_function(typed, function_name(node))
            made = placeholders.measure(typed, function_name(node))
            return made if node is not None and column_name(node) is None else made.alias(placeholders.NAMELESS)
        if is_type(fullname):
            return self._made_type(type_, node)
        struct = self.annotations.columns_of(type_)
        if struct is not None and is_schema(type_.type):
            return placeholders.of_schema(type_.type.module_name, type_.type.name, struct)
        if struct is not None:
            return placeholders.row(struct)
        value = literal(type_)
        if value is None and fullname in SAMPLES and node is not None and self.sample != NO_SAMPLE:
            self.sampled = node
            self.samples = max(self.samples, len(SAMPLES[fullname]))
            return SAMPLES[fullname][self.sample % len(SAMPLES[fullname])]
        return NO_CONSTANT if value is None else value

    def _name(self, node: Expression | None) -> str | None:
        """The name that an expression has as a column: that of the attribute or item, where these are columns."""
        match node:
            case None:
                return placeholders.NAMELESS  # what a function gives
            case MemberExpr(expr=inner) | IndexExpr(base=inner):
                if not self._has_columns(get_proper_type(self.type_of(inner))):
                    return placeholders.NAMELESS
        return column_name(node)

    def _has_columns(self, type_: ProperType | None) -> bool:
        match type_:
            case CallableType() if type_.is_type_obj():
                return self._has_columns(get_proper_type(type_.ret_type))
            case Instance(type=info):
                return info.fullname in (RELATION, EXPR, DYN_EXPR) or info.has_base(SCHEMA)
        return False

    def _is_of_row(self, node: Expression | None) -> bool:
        """Whether an expression is a column of a row that a function gets."""
        row = self.type_of(node.expr) if isinstance(node, MemberExpr) and isinstance(node.expr, NameExpr) else None
        return row is not None and self.annotations.columns_of(row) is not None

    def _typed(self, type_: Instance) -> t.Type | None:
        required = self.annotations.type_of(type_.args[0])
        mark = get_proper_type(type_.args[1])
        if required is None or not isinstance(mark, Instance):
            return None
        return required.with_nullability(mark.type.fullname == NULL)

    def _grouped(self, type_: Instance) -> Any:
        struct, keys = (self.annotations.columns_of(row) for row in type_.args)
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

    def _made_type(self, type_: Instance, node: Expression | None) -> Any:
        """A type that is a value, like ``Decimal(15, 2, nullable=True)``; what made it says whether it is nullable."""
        match node:
            case CallExpr(callee=RefExpr(node=TypeInfo()), arg_names=names) if "nullable" not in names:
                known = self.annotations.type_of(type_)
                return NO_CONSTANT if known is None else known
        return NO_CONSTANT

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
        type_ = get_proper_type(self.type_of(node))
        if isinstance(type_, Instance) and type_.type.fullname in (EXPR, DYN_EXPR):
            known = None if waits(type_) else self._typed(type_)
            if known is None or _is_taken(known, declared):
                with suppress(GiveUpError):
                    return self.value(node, None, here)
        return placeholders.expression(declared)


def _is_taken(known: t.Type, declared: t.Type) -> bool:
    """Whether mypy takes an expression for a column of a schema class; it does not look into structs."""
    holds_struct = next(t.struct_names(declared), None) is not None
    return (holds_struct or known.matches(declared)) and (declared.nullable or not known.nullable)


def waits(type_: Type | None) -> bool:
    """Whether an expression waits for a relation to say what its type is: nothing can be said of it before."""
    proper = None if type_ is None else get_proper_type(type_)
    return isinstance(proper, Instance) and proper.type.fullname == DYN_EXPR
