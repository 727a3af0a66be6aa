"""Evaluate the arguments of a call: by their syntax where the program shows the value, else by their types.

``col("x") > 3`` is built as the program builds it, and meets its relation in the call. Of what the program computes, or
gets from functions of its own, only the type is known: a placeholder of the type, or a sample, stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, KeysView, Sequence, ValuesView
from contextlib import suppress
from functools import wraps
from typing import Any

from mypy.nodes import (
    CallExpr,
    ComparisonExpr,
    ConditionalExpr,
    Expression,
    FuncDef,
    IndexExpr,
    LambdaExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    RefExpr,
    SetExpr,
    TypeInfo,
    UnaryExpr,
    Var,
)
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    NoneType,
    Overloaded,
    ProperType,
    Type,
    TypeType,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations, is_erroneous
from substrait_dsl.mypy_plugin.ast_evaluator import AstEvaluator, Environment
from substrait_dsl.mypy_plugin.budget import UnknownValueError
from substrait_dsl.mypy_plugin.checker_state import NO_VALUE, STATE
from substrait_dsl.mypy_plugin.class_constants import find_class_constant
from substrait_dsl.mypy_plugin.declarations import SCHEMA, has_no_columns, is_schema
from substrait_dsl.mypy_plugin.enums import read_literal
from substrait_dsl.mypy_plugin.file_variables import find_alternatives, find_assigned_value, find_loop_around
from substrait_dsl.mypy_plugin.helpers import add_dependencies_of, is_helper, make_function, takes_arguments
from substrait_dsl.mypy_plugin.loops import MAX_ITEMS
from substrait_dsl.mypy_plugin.mypy_internals import find_item_type, find_tree, find_type
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
from substrait_dsl.mypy_plugin.python_classes import find_class_of, make_class
from substrait_dsl.mypy_plugin.python_values import (
    AMBIGUOUS,
    OTHERS,
    SAMPLES,
    VALUE_ERRORS,
    find_type_error,
    is_python_value,
)
from substrait_dsl.mypy_plugin.syntax import NO_CONSTANT, column_name, function_name, instantiated_schema, read_constant

COMPOUND = (OpExpr, ComparisonExpr, UnaryExpr, ConditionalExpr, CallExpr, MemberExpr, IndexExpr)
"""Expressions that are evaluated by their parts where possible, before a placeholder of their type stands for them."""

RELATION_COUNTS = 3
"""How many samples stand for a collection of relations: collections of 0, 1 and 2 of them."""

NO_SAMPLE = -1
"""In place of the index of a sample: values that the program computes are unknown."""

OTHER_SAMPLE = -2
"""In place of the index of a sample: values that are none of the samples."""


class ArgumentEvaluator(AstEvaluator):
    """Evaluates arguments by their syntax, and by their types where the syntax does not say the value."""

    def __init__(self, annotations: Annotations) -> None:
        super().__init__()
        self.annotations = annotations
        self.checker = annotations.checker
        self.sample_index = 0
        """Which of the samples of a type replaces such a value."""
        self.sample_count = 1
        """How many samples there are at most, and so how often the call is made."""
        self.collected_node: Expression | None = None
        """A collection of relations in the program; samples of several lengths have replaced it."""
        self.has_opaque_expression = False
        """Whether a placeholder stands for an expression whose parts the program does not show."""
        self.has_neutral_argument = False
        """Whether a neutral value has replaced an argument on which the columns of the result do not depend."""
        self.is_generic = False
        """Whether a nullable placeholder stands for an expression whose nullability is a type variable."""
        self.refused_node: Expression | None = None
        """The innermost expression that the library refuses: there the error is reported."""
        self.has_class_samples = False
        """Whether a sample of a class stands for a value; else all samples are values of loops."""
        self._loop_values: dict[Expression, Sequence[Any]] = {}
        """The values of the variables of loops, where they are used."""
        self._variables_in_evaluation: list[NameExpr] = []
        """The variables whose values are being evaluated, against endless recursion."""
        self._variable_values: dict[tuple[Expression, int, bool], tuple[Any, Expression | None]] = {}
        """The values of variables, with the expression that a sample has replaced in them. Without this cache,
        ``b = a + a``, ``c = b + b`` and so on would take twice as long with each line."""

    def evaluate(self, node: Expression, type_: Type | None = None, environment: Environment | None = None) -> Any:
        """Return the value of an expression. Raise `UnknownValueError` if it is not known."""
        environment = environment or {}
        if isinstance(node, LambdaExpr):
            return make_function(self, node, environment)
        if STATE.is_reported(node):
            raise UnknownValueError  # its error has been reported
        if isinstance(node, NameExpr) and node.node in environment:
            return environment[node.node]
        constant = read_constant(node)
        if constant is not NO_CONSTANT:
            return constant
        if isinstance(node, CallExpr) and (schema := instantiated_schema(node)) is not None:
            return self._make_schema_instance(schema, node, environment)
        if isinstance(node, RefExpr) and self.is_helper(node):
            return self.make_helper_or_placeholder(node)
        if isinstance(node, NameExpr) and not self.is_relation(node):
            with suppress(UnknownValueError):
                return self._evaluate_variable(node)
            if alternatives := find_alternatives(node, self.checker):
                return self._evaluate_alternative(node, alternatives)
        if isinstance(node, MemberExpr) and (constant := find_class_constant(node, self.checker)) is not None:
            with suppress(UnknownValueError):
                return self.evaluate(constant)
        return self._evaluate_parts_or_type(node, type_, environment)

    def _evaluate_parts_or_type(self, node: Expression, type_: Type | None, environment: Environment) -> Any:
        """Evaluate a compound expression by its parts; if they are unknown, and any other one, by its type."""
        unknown: UnknownValueError | None = None
        if isinstance(node, COMPOUND):
            try:
                return self._evaluate_compound(node, environment)
            except UnknownValueError as error:
                unknown = error
                self.needs_declared_check |= not isinstance(node, CallExpr | MemberExpr | IndexExpr)
        proper = get_proper_type(type_ or self.type_of_node(node))
        value = self._make_placeholder(proper, node)
        if value is not NO_CONSTANT:
            return value
        if unknown is not None:
            raise UnknownValueError if is_erroneous(proper) else unknown
        return self.evaluate_parts(node, environment)

    def try_evaluate(self, node: Expression) -> Any:
        """Return the value of an expression, or None if it is not known or refused."""
        try:
            return self.evaluate(node)
        except (UnknownValueError, SubstraitDslError, TypeError):
            return None

    def _evaluate_variable(self, node: NameExpr) -> Any:
        """Return the value of a variable that is assigned once. It is no relation: their columns are known by type."""
        expression = None if node in self._variables_in_evaluation else find_assigned_value(node, self.checker)
        if expression is None:
            raise UnknownValueError(node)
        refused, sampled = self.refused_node, self.sampled_node
        key = (expression, self.sample_index, self.origins.is_exact)
        self._variables_in_evaluation.append(node)
        try:
            if key not in self._variable_values:
                self.sampled_node = None
                self._variable_values[key] = (self.evaluate(expression), self.sampled_node)
            value, self.sampled_node = self._variable_values[key]
        except SubstraitDslError:
            self.refused_node = refused or node
            raise
        finally:
            self.sampled_node = self.sampled_node or sampled
            self._variables_in_evaluation.pop()
        if value is None and not isinstance(get_proper_type(self.type_of_node(node)), NoneType):
            raise UnknownValueError(node)  # mypy has found that it is not None, so something else is assigned as well
        return value

    def _evaluate_alternative(self, node: Expression, alternatives: Sequence[Expression]) -> Any:
        """Return one of the values that an expression may have: the call is made with each of them."""
        if self.sample_index == NO_SAMPLE:
            raise UnknownValueError(node)
        self.sample_count = max(self.sample_count, len(alternatives))
        value = self.evaluate(alternatives[self.sample_index % len(alternatives)])
        self.sampled_node = node
        return value

    def _evaluate_compound(self, node: Expression, environment: Environment) -> Any:
        """Return the value of an expression by its parts, or the value that it has been found to have."""
        type_ = get_proper_type(self.type_of_node(node))
        if isinstance(type_, UnionType) and not (environment and _is_of_any_row(type_)):
            raise UnknownValueError(node)  # its value is that for the last type of its receiver
        value = NO_VALUE if environment else STATE.find_value(node)
        if value is not NO_VALUE:
            return value
        sampled, self.sampled_node = self.sampled_node, None
        try:
            value = self.evaluate_parts(node, environment)
            if self._is_sampled() and is_python_value(value):
                raise UnknownValueError(node)  # Python computes another result from another value
            if not self._is_sampled():
                self.sampled_node = sampled
            return value
        except UnknownValueError:
            self.sampled_node = sampled
            raise
        except SubstraitDslError:
            self.sampled_node = self.sampled_node or sampled
            self.refused_node = self.refused_node or node
            raise

    def _is_sampled(self) -> bool:
        return self.sampled_node is not None

    def is_relation(self, node: Expression) -> bool:
        type_ = get_proper_type(self.type_of_node(node))
        return isinstance(type_, Instance) and type_.type.fullname == RELATION

    def find_relation_of(self, row: NameExpr) -> Expression | None:
        match find_assigned_value(row, self.checker):
            case MemberExpr(expr=relation, name="c") if self.is_relation(relation):
                return relation
        return None

    def evaluate_receiver(self, type_: Type, node: Expression | None) -> Any:
        """Return the value that a method is called on.

        Args:
            type_: its type.
            node: its expression; None where the program has none.
        """
        if STATE.is_reported(node):
            raise UnknownValueError
        is_union = node is not None and isinstance(get_proper_type(self.type_of_node(node)), UnionType)
        value = NO_VALUE if is_union else STATE.find_value(node)
        if value is NO_VALUE and isinstance(node, NameExpr) and not self.is_relation(node):
            with suppress(UnknownValueError):
                value = self._evaluate_variable(node)
        if value is NO_VALUE:
            value = self._make_placeholder(get_proper_type(type_), node)
        if value is NO_CONSTANT and node is not None and not is_union:
            try:
                value = self.evaluate_parts(node, {})
            except SubstraitDslError:
                self.refused_node = self.refused_node or node
                raise
        if value is NO_CONSTANT:
            raise UnknownValueError
        return value

    # --- functions of the file

    def is_helper(self, function: RefExpr) -> bool:
        """Whether a name means a function of the file of which the program shows the result."""
        return is_helper(function.node, find_tree(self.checker))

    def make_helper(self, function: RefExpr) -> Callable[..., Any]:
        """Return a function that takes and returns what a function of the file does. Errors are those of its call."""
        assert isinstance(function.node, FuncDef)
        add_dependencies_of(function.node, self.checker)
        body = make_function(self, function.node, {})

        @wraps(body)
        def call(*rows: Any, **named: Any) -> Any:
            refused = self.refused_node
            try:
                return body(*rows, **named)
            except SubstraitDslError:
                self.refused_node = refused
                raise

        return call

    def require_declared_types(self, call: CallExpr) -> None:
        """Raise `UnknownValueError` if a function does not take an argument: mypy says so."""
        if not takes_arguments(call, self.checker):
            raise UnknownValueError(call)

    def make_helper_or_placeholder(self, function: RefExpr) -> Callable[..., Any]:
        """Return a function as an argument: what it returns is known at least by its type."""
        helper = self.make_helper(function)
        self.needs_declared_check = True  # mypy compares the parameters

        @wraps(helper)
        def call(*rows: Any) -> Any:
            try:
                return helper(*rows)
            except UnknownValueError:
                returned = get_proper_type(self.type_of_node(function))
                placeholder = self._make_placeholder(returned, function)
                if placeholder is NO_CONSTANT:
                    raise
                return placeholder(*rows)
            except SubstraitDslError:
                self.refused_node = self.refused_node or function
                raise

        return call

    # --- samples

    def sample_relations(self, node: Expression) -> list[Any]:
        """Return a sample of a collection of relations, which all have the same columns."""
        if self.sample_index == NO_SAMPLE:
            raise UnknownValueError(node)
        collection, relation = self.type_of_node(node), None
        item = None if collection is None else get_proper_type(find_item_type(self.checker, collection, node))
        if isinstance(item, Instance) and item.type.fullname == RELATION:
            relation = self._make_instance_placeholder(item, None)
        if not isinstance(relation, Relation):
            raise UnknownValueError(node)
        self.sampled_node, self.collected_node = node, node
        self.sample_count = max(self.sample_count, RELATION_COUNTS)
        return [relation] * self.sample_index

    def may_fit(self, errors: Sequence[SubstraitDslError]) -> bool:
        """Whether a value may be accepted though some samples are refused.

        That is so if the samples of its type become literals of several types, or if only a collection without
        relations is refused.
        """
        if self.collected_node is not None:
            return len(errors) == 1
        return self._sampled_class() in AMBIGUOUS and all(isinstance(error, VALUE_ERRORS) for error in errors)

    def find_type_error(self, errors: Sequence[SubstraitDslError]) -> SubstraitDslError | None:
        """Return what is wrong with the type of a value of which all samples are refused; None if it may be right."""
        fullname = self._sampled_class()
        return None if fullname is None else find_type_error(fullname, errors)

    def _sampled_class(self) -> str | None:
        """Return the full name of the class of which samples have been tried; None if there are none."""
        type_ = None if self.sampled_node is None else get_proper_type(self.type_of_node(self.sampled_node))
        return None if type_ is None else _common_class(type_)

    # --- placeholders of types

    def type_of_node(self, node: Expression) -> Type | None:
        """Return the type that mypy has found for an expression; None if it has found none."""
        type_ = find_type(self.checker, node)
        if type_ is None and isinstance(node, RefExpr) and isinstance(node.node, Var):
            return node.node.type  # the daemon has checked it before, and checks a single function now
        return type_

    def _make_placeholder(self, type_: ProperType | None, node: Expression | None) -> Any:
        """Return a placeholder of a type; `NO_CONSTANT` if there is none."""
        match type_:
            case NoneType():
                return None
            case Instance():
                return self._make_instance_placeholder(type_, node)
            case TypeType(item=Instance() as item):
                return self._make_class(item)
            case CallableType() if type_.is_type_obj():
                return self._make_class(get_proper_type(type_.ret_type), is_itself=True)
            case Overloaded(items=[first, *_]) if first.is_type_obj():
                return self._make_class(get_proper_type(first.ret_type), is_itself=True)
            case UnionType():
                return self._make_sample(_common_class(type_), node)
            case CallableType(ret_type=result):
                value = self._make_placeholder(get_proper_type(result), None)
                self.needs_declared_check = True  # mypy compares the parameters
                return NO_CONSTANT if value is NO_CONSTANT else lambda *rows: value
        literal = None if type_ is None else read_literal(type_)
        return NO_CONSTANT if literal is None else literal

    def _make_instance_placeholder(self, type_: Instance, node: Expression | None) -> Any:
        fullname = type_.type.fullname
        if fullname == RELATION:
            return self._make_relation(type_, node)
        if fullname == GROUP_BY:
            return self._make_groups(type_)
        if fullname in (EXPR, MEASURE, WINDOW_FUNCTION):
            return self._make_expression(type_, node)
        if is_type(fullname):
            return self._make_type(type_, node)
        struct = self.annotations.to_schema(type_)
        if struct is not None and is_schema(type_.type):
            return placeholders.make_schema_instance(type_.type.module_name, type_.type.name, struct)
        if struct is not None:
            return placeholders.make_row(struct)
        literal = read_literal(type_)
        return self._make_sample(fullname, node) if literal is None else literal

    def _make_relation(self, type_: Instance, node: Expression | None) -> Any:
        struct = self.annotations.to_schema(type_.args[0])
        value = self._find_relation(node, is_declared=struct is not None)
        if struct is None and isinstance(value, Relation):
            struct = value._rel.schema
        return NO_CONSTANT if struct is None else self.origins.find_relation(node, struct, value)

    def _find_relation(self, node: Expression | None, *, is_declared: bool) -> object:
        """Return the relation that is assigned to a variable, if it is the result of a call that has been checked.

        If its columns are not declared, they are those of what a function of the file returns.
        """
        call = find_assigned_value(node, self.checker) if isinstance(node, NameExpr) else None
        if not isinstance(call, CallExpr):
            return NO_VALUE
        value = STATE.find_value_here(call)
        is_unknown = value is NO_VALUE and not is_declared and isinstance(call.callee, RefExpr)
        if is_unknown and isinstance(call.callee, RefExpr) and self.is_helper(call.callee):
            with suppress(UnknownValueError, SubstraitDslError):
                value = self.evaluate_parts(call, {})
        is_nameless = isinstance(value, Relation) and placeholders.is_nameless(value._rel.schema.names)
        return NO_VALUE if is_nameless and not is_declared else value

    def _make_groups(self, type_: Instance) -> Any:
        struct, keys = (self.annotations.to_schema(row) for row in type_.args)
        if struct is None or keys is None:
            return NO_CONSTANT
        named = {field.name: placeholders.make_expression(field.type) for field in keys}
        return GroupBy(self.origins.find_relation(None, struct), (), named)

    def _make_expression(self, type_: Instance, node: Expression | None) -> Any:
        """Return an expression, a measure or a window function."""
        value_type = self._find_value_type(type_)
        if value_type is None:
            return NO_CONSTANT
        match type_.type.fullname:
            case str(fullname) if fullname == EXPR:
                self.has_opaque_expression = self.has_opaque_expression or not self._is_of_row(node)
                return placeholders.make_expression(value_type, self._find_column_name(node))
            case str(fullname) if fullname == WINDOW_FUNCTION:
                return placeholders.make_window_function(value_type, function_name(node))
        measure = placeholders.make_measure(value_type, function_name(node))
        has_no_name = node is not None and column_name(node) is None
        return measure if has_no_name else measure.alias(placeholders.NAMELESS)

    def _find_value_type(self, type_: Instance) -> t.Type | None:
        """Return the type of the values of an expression; None if it is not known."""
        required = self.annotations.to_algebra_type(type_.args[0])
        nullability = get_proper_type(type_.args[1])
        if required is not None and isinstance(nullability, TypeVarType):
            self.is_generic = True
            return required.as_nullable()
        if required is None or not isinstance(nullability, Instance):
            return None
        return required.with_nullability(nullability.type.fullname == NULL)

    def _find_column_name(self, node: Expression | None) -> str | None:
        """Return the name that an expression has as a column; `NAMELESS` if it is not known."""
        match node:
            case None:
                return placeholders.NAMELESS  # the result of a function
            case MemberExpr(expr=inner) | IndexExpr(base=inner):
                if not self._has_columns(get_proper_type(self.type_of_node(inner))):
                    return placeholders.NAMELESS
        return column_name(node)

    def _has_columns(self, type_: ProperType | None) -> bool:
        """Whether the attributes and items of what is of a type are columns, or fields of a column."""
        match type_:
            case CallableType() if type_.is_type_obj():
                return self._has_columns(get_proper_type(type_.ret_type))
            case Instance(type=info):
                return info.fullname in (RELATION, EXPR, DYN_EXPR) or info.has_base(SCHEMA)
        return False

    def _is_of_row(self, node: Expression | None) -> bool:
        """Whether an expression is a column of a row that a function gets."""
        row = self.type_of_node(node.expr) if isinstance(node, MemberExpr) and isinstance(node.expr, NameExpr) else None
        return row is not None and self.annotations.to_schema(row) is not None

    def _make_class(self, instance: ProperType, *, is_itself: bool = False) -> Any:
        """Return a class that declares columns, or a type, by the type of its instances.

        Args:
            instance: an instance of it.
            is_itself: whether it is that very class, and no subclass, which may have more columns.
        """
        if is_itself and (class_ := find_class_of(instance)) is not None:
            return make_class(class_, self.checker)
        if not isinstance(instance, Instance):
            return NO_CONSTANT
        if is_schema(instance.type):
            struct = self.annotations.schema_of_class(instance.type)
            if struct is None and is_itself and has_no_columns(instance.type):
                struct = NamedStruct(())
            if struct is None or any(field.type == UNKNOWN for field in struct):
                raise UnknownValueError
            return placeholders.make_schema_class(instance.type.module_name, instance.type.name, struct)
        type_ = self.annotations.to_algebra_type(instance)
        return NO_CONSTANT if type_ is None else type_

    def _make_type(self, type_: Instance, node: Expression | None) -> Any:
        """Return a type that is a value, like ``Decimal(15, 2)``. Its call says whether it is nullable."""
        match node:
            case CallExpr(callee=RefExpr(node=TypeInfo()), arg_names=names) if "nullable" not in names:
                value = self.annotations.to_algebra_type(type_)
                return NO_CONSTANT if value is None else value
        return NO_CONSTANT

    def _make_sample(self, fullname: str | None, node: Expression | None) -> Any:
        """Return a sample of a class of Python's, or a value of a loop that the program shows."""
        if node is None or self.sample_index == NO_SAMPLE:
            return NO_CONSTANT
        values = self._find_loop_values(node)
        samples = values or SAMPLES.get(fullname or "", ())
        if not samples:
            return NO_CONSTANT
        self.has_class_samples |= not values
        self.sampled_node = node
        if self.sample_index == OTHER_SAMPLE and not values:
            return OTHERS.get(fullname or "", samples[0])
        self.sample_count = max(self.sample_count, len(samples))
        return samples[self.sample_index % len(samples)]

    def _find_loop_values(self, node: Expression) -> Sequence[Any]:
        """Return the values of the variable of a loop; none if the program does not show them, or they are many."""
        if node not in self._loop_values:
            loop = find_loop_around(node, self.checker) if isinstance(node, NameExpr) else None
            sampled, values = self.sampled_node, []
            if loop is not None:
                with suppress(UnknownValueError, SubstraitDslError, TypeError, LookupError):
                    values = loop.read_values(self._evaluate_iterated(loop.iterated))
            is_known = self.sampled_node is sampled and len(values) <= MAX_ITEMS and all(map(is_python_value, values))
            self.sampled_node = sampled
            self._loop_values[node] = values if is_known else []
        return self._loop_values[node]

    def _evaluate_iterated(self, node: Expression) -> Iterable[Any]:
        """Return what a loop iterates over."""
        if isinstance(node, SetExpr):  # it is no value of a call, as its order is another in each run
            return [self.evaluate(item) for item in node.items]
        values = self.evaluate(node)
        if isinstance(values, list | tuple | dict | KeysView | ItemsView | ValuesView):
            return values
        raise UnknownValueError(node)

    # --- instances of schema classes

    def _make_schema_instance(self, schema: TypeInfo, node: CallExpr, environment: Environment) -> Any:
        struct = self.annotations.schema_of_class(schema)
        if struct is None or set(struct.names) != set(node.arg_names):
            raise UnknownValueError(node)
        columns = {
            str(name): self._evaluate_column(argument, struct.fields[struct.position(str(name))].type, environment)
            for name, argument in zip(node.arg_names, node.args, strict=True)
        }
        return placeholders.make_schema_class(schema.module_name, schema.name, struct)(**columns)

    def _evaluate_column(self, node: Expression, declared: t.Type, environment: Environment) -> Any:
        """Return a column of such an instance. If it has not the declared type, mypy itself refuses it."""
        type_ = get_proper_type(self.type_of_node(node))
        if isinstance(type_, Instance) and type_.type.fullname in (EXPR, DYN_EXPR):
            value_type = None if is_unbound(type_) else self._find_value_type(type_)
            if value_type is None or _is_assignable(value_type, declared):
                with suppress(UnknownValueError):
                    return self.evaluate(node, None, environment)
        return placeholders.make_expression(declared)


def _is_of_any_row(type_: UnionType) -> bool:
    """Whether an expression is one of a row of a relation whose columns are not declared, to mypy."""
    return any(isinstance(get_proper_type(item), AnyType) for item in type_.items)


def _is_assignable(value_type: t.Type, declared: t.Type) -> bool:
    """Whether mypy takes an expression for a column of a schema class. It does not look into structs."""
    has_struct = next(t.struct_names(declared), None) is not None
    return (has_struct or value_type.matches(declared)) and (declared.nullable or not value_type.nullable)


def is_unbound(type_: Type | None) -> bool:
    """Whether a type is that of an expression whose relation is not known yet: nothing is known of it."""
    proper = None if type_ is None else get_proper_type(type_)
    return isinstance(proper, Instance) and proper.type.fullname == DYN_EXPR


def _common_class(type_: ProperType) -> str | None:
    """Return the full name of a class of Python's, or of the one that all of a union are of, such as some constants."""
    items = [get_proper_type(item) for item in (type_.items if isinstance(type_, UnionType) else [type_])]
    classes = {item.type.fullname if isinstance(item, Instance) else None for item in items}
    return classes.pop() if len(classes) == 1 else None
