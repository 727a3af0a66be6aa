"""Calls of the fluent API, checked by making them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    ARG_STAR,
    ArgKind,
    CallExpr,
    Expression,
    IndexExpr,
    MemberExpr,
    OpExpr,
)
from mypy.types import AnyType, Instance, Type, TypeOfAny, get_proper_type

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.fluent.calls import Measure, WindowFunction
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations
from substrait_dsl.mypy_plugin.evaluation import Evaluator, GiveUpError
from substrait_dsl.mypy_plugin.names import (
    DYN_EXPR,
    EXPR,
    GROUP_BY,
    MEASURE,
    RELATION,
    WINDOW_FUNCTION,
    imported,
    name_of,
)
from substrait_dsl.mypy_plugin.placeholders import NAMELESS
from substrait_dsl.mypy_plugin.reports import place_of, report
from substrait_dsl.mypy_plugin.signatures import OPERANDS

if TYPE_CHECKING:
    from mypy.plugin import AttributeContext, FunctionContext, MethodContext


Argument = tuple[Expression, ArgKind, str | None, Type]

NEUTRAL = {"on": True, "post_filter": None, "residual": None, "filter": None, "best_effort_filter": None, "where": None}
"""Arguments on which the columns of the result do not depend, with a value that is always right."""

COLUMN_VERBS = ("project", "with_columns", "select", "group_by")
MEASURE_VERBS = ("aggregate", "agg", "rollup", "cube")
"""Verbs whose named arguments are columns of the result, and those where they are measures."""

RESULTS = frozenset((RELATION, GROUP_BY, EXPR, DYN_EXPR, MEASURE, WINDOW_FUNCTION))
"""What a call gives that follows from its arguments in a way that annotations cannot say."""


def method_called(context: MethodContext, name: str) -> Type:
    """What a method gives."""
    call = Call(context, name)
    default = get_proper_type(context.default_return_type)
    if not isinstance(default, Instance) or default.type.fullname not in RESULTS or waits(context.type):
        return call.given_up()
    return call.checked(lambda: getattr(call.receiver(), name))


def operated(context: MethodContext, name: str) -> Type:
    """What an operator gives. Operands that its signature does not take are for mypy to refuse."""
    return method_called(context, name) if OPERANDS.fit(context) else context.default_return_type


def function_called(context: FunctionContext, fullname: str) -> Type:
    """What a function gives."""
    call = Call(context, fullname.rpartition(".")[2])
    default = get_proper_type(context.default_return_type)
    if not isinstance(default, Instance) or default.type.fullname not in RESULTS:
        return call.given_up()
    return call.checked(lambda: imported(fullname))


def waits(kind: Type) -> bool:
    """Whether an expression waits for a relation to say what its type is: nothing can be said of it before."""
    proper = get_proper_type(kind)
    return isinstance(proper, Instance) and proper.type.fullname == DYN_EXPR


class Call:
    """One call in the program that is checked."""

    def __init__(self, context: MethodContext | FunctionContext, verb: str) -> None:
        self.context = context
        self.verb = verb
        self.annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
        self.evaluator = Evaluator(self.annotations)
        self.called_on: object = None

    def receiver(self) -> Any:
        """The value that the method is called on."""
        kind = getattr(self.context, "type")  # noqa: B009  # only a method's context has it
        on: Expression | None
        match self.context.context:
            case CallExpr(callee=MemberExpr(expr=inner)):
                on = inner
            case IndexExpr(base=base):
                on = base
            case OpExpr(left=left):
                on = left
            case _:
                on = None
        self.called_on = self.evaluator.receiver(kind, on)
        return self.called_on

    def given(self) -> Iterator[Argument]:
        """The arguments: expressions, their kinds, their names, their types."""
        context = self.context
        for nodes, kinds, names, types in zip(
            context.args, context.arg_kinds, context.arg_names, context.arg_types, strict=True
        ):
            yield from zip(nodes, kinds, names, types, strict=True)

    def checked(self, function: Callable[[], Callable[..., Any]]) -> Type:
        """The type of what the call gives; a mistake is reported."""
        given = self._in_order()
        try:
            made = function()
            positional, named = self._arguments(given)
            found = self._type_of(made(*positional, **named))
        except GiveUpError:
            return self.given_up()
        except SubstraitDslError as error:
            if not self.evaluator.sampled:
                place = place_of(self.context.context, [(name, node) for node, _, name, _ in given], error)
                if report(error, self.context.api, place) and not self._is_relation():
                    return AnyType(TypeOfAny.from_error)
            return self.given_up()
        except TypeError:
            return self.given_up()  # arguments that do not fit the signature: mypy says so itself
        return self.given_up() if found is None or self._is_dynamic_wanted() else found

    def _is_dynamic_wanted(self) -> bool:
        """Whether the program itself does not want to know: the result goes where a `DynExpr` is declared."""
        wanted = self.context.api.type_context[-1] if self.context.api.type_context else None
        return wanted is not None and waits(wanted)

    def _arguments(self, given: Iterable[Argument]) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for node, kind, name, typed in given:
            if kind == ARG_NAMED and name is not None:
                try:
                    named[name] = self.evaluator.value(node, typed)
                except GiveUpError:
                    named[name] = self._unknown(name)
            elif kind == ARG_POS:
                positional.append(self.evaluator.value(node, typed))
            elif kind == ARG_STAR:
                positional.extend(self.evaluator.value(node))
            else:
                named.update(self.evaluator.value(node))
        return positional, named

    def _unknown(self, name: str) -> Any:
        """What stands for an argument that mypy does not know. Raises `GiveUpError` if the result depends on it."""
        if name in NEUTRAL:
            return NEUTRAL[name]
        if self.verb in COLUMN_VERBS:
            return placeholders.expression(UNKNOWN)
        if self.verb in MEASURE_VERBS:
            return placeholders.measure(UNKNOWN)
        raise GiveUpError

    def _in_order(self) -> list[Argument]:
        """The arguments in the order in which they stand; by position first."""
        given = list(self.given())
        node = self.context.context
        if isinstance(node, CallExpr):
            places = {id(argument): number for number, argument in enumerate(node.args)}
            given.sort(key=lambda each: places.get(id(each[0]), 0))
        return given

    def _is_relation(self) -> bool:
        default = get_proper_type(self.context.default_return_type)
        return isinstance(default, Instance) and default.type.fullname in (RELATION, GROUP_BY)

    def given_up(self) -> Type:
        """What mypy takes the call to give without us."""
        return self.context.default_return_type

    def _type_of(self, result: object) -> Type | None:
        default = get_proper_type(self.context.default_return_type)
        if isinstance(result, Relation):
            return self._relation(result, default)
        if isinstance(result, GroupBy):
            return self._grouped(result, default)
        for kind, fullname in ((ExprBase, EXPR), (Measure, MEASURE), (WindowFunction, WINDOW_FUNCTION)):
            if isinstance(result, kind):
                found = placeholders.result_type(result, self.called_on)
                return None if found in (None, UNKNOWN) else typed(self.annotations, fullname, found)
        return None

    def _relation(self, result: Relation[Any], default: Type) -> Type | None:
        struct = result.schema.struct
        if NAMELESS in struct.names:
            return None
        if not isinstance(default, Instance) or self.annotations.columns_of(default.args[0]) == struct:
            return default  # a declared schema that still holds
        return self.annotations.instance(RELATION, [self.annotations.row(struct)])

    def _grouped(self, result: GroupBy[Any, Any], default: Type) -> Type | None:
        keys = result.keys
        if NAMELESS in keys.names or not isinstance(default, Instance):
            return None
        return default.copy_modified(args=[default.args[0], self.annotations.row(keys)])


def typed(annotations: Annotations, fullname: str, kind: t.Type) -> Type:
    """An expression, a measure or a window function of a type."""
    mark = name_of(t.Null if kind.nullable else t.Req)
    return annotations.instance(fullname, [annotations.annotation(kind.as_required()), annotations.instance(mark)])


def column_named(context: AttributeContext, name: str) -> Type:
    """The column of a row that an attribute names."""
    annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
    struct = annotations.columns_of(context.type)
    if struct is None:
        return context.default_attr_type
    try:
        kind = struct.fields[struct.position(name)].type
    except SubstraitDslError as error:
        report(error, context.api, context.context)
        return AnyType(TypeOfAny.from_error)
    return context.default_attr_type if kind == UNKNOWN else typed(annotations, EXPR, kind)


def schema_revealed(context: FunctionContext) -> Type:
    """Say what the columns of a relation are."""
    annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
    relation = get_proper_type(context.arg_types[0][0])
    struct = annotations.columns_of(relation.args[0]) if isinstance(relation, Instance) and relation.args else None
    shown = "unknown" if struct is None else str(struct)
    context.api.msg.note(f"Schema is {shown}", context.context)
    return context.default_return_type
