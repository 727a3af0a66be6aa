"""Calls of the fluent API, checked by making them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    ARG_STAR,
    ArgKind,
    CallExpr,
    ComparisonExpr,
    Context,
    Expression,
    IndexExpr,
    LambdaExpr,
    MemberExpr,
    OpExpr,
    UnaryExpr,
)
from mypy.plugin import MethodContext
from mypy.types import AnyType, Instance, Type, TypeOfAny, get_proper_type

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.fluent.calls import Measure, WindowFunction
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations, is_mistaken
from substrait_dsl.mypy_plugin.evaluation import Evaluator, waits
from substrait_dsl.mypy_plugin.memory import MEMORY
from substrait_dsl.mypy_plugin.names import (
    DYN_ROW,
    EXPR,
    GROUP_BY,
    MEASURE,
    RELATION,
    RESULTS,
    ROW,
    WINDOW_FUNCTION,
    imported,
    name_of,
)
from substrait_dsl.mypy_plugin.placeholders import NAMELESS
from substrait_dsl.mypy_plugin.places import end_of, leaf_of
from substrait_dsl.mypy_plugin.python_values import SAMPLE_COUNT
from substrait_dsl.mypy_plugin.reports import is_heard, report, report_untold
from substrait_dsl.mypy_plugin.signatures import OPERANDS
from substrait_dsl.mypy_plugin.written import GiveUpError

if TYPE_CHECKING:
    from mypy.plugin import AttributeContext, FunctionContext


Argument = tuple[Expression, ArgKind, str | None, Type]
"""An argument: its expression, kind, name (that of the parameter, if it is given by position), and type."""

NEUTRAL: Mapping[str, object] = {
    "on": True,
    "post_filter": None,
    "residual": None,
    "filter": None,
    "best_effort_filter": None,
    "where": None,
    "detail": AnyMessage("", b""),
}
"""Arguments on which the columns of the result do not depend, with a value that is always right."""

DECLARING = ("into", "as_")
"""Verbs whose result has the columns that the program declares, though some may never be NULL that are declared so."""

SET_VERBS = ("set_op", "union_all", "union", "intersect", "subtract")
"""Verbs whose result is nullable where other relations are, of which the annotations say nothing."""

COLUMN_VERBS = ("project", "with_columns", "select", "group_by", "expand")
MEASURE_VERBS = ("aggregate", "agg", "rollup", "cube")
"""Verbs whose named arguments are columns of the result, and those where they are measures."""

OPERATIONS = (OpExpr, ComparisonExpr, UnaryExpr)

LOOKING_INSIDE = ("hash_join", "merge_join", "exchange")
"""Verbs that ask how an expression is made: whether it compares two columns, or is one."""


APART = ("substrait_dsl.catalog.", "substrait_dsl.fluent.plan.", "substrait_dsl.spark.")
"""What is not called to find out what it gives: it reads files, or needs relations whose rows are real."""


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
    return call.given_up() if fullname.startswith(APART) else call.checked(lambda: imported(fullname))


class Call:
    """One call in the program that is checked."""

    def __init__(self, context: MethodContext | FunctionContext, verb: str) -> None:
        self.context = context
        self.verb = verb
        self.annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
        self.evaluator = Evaluator(self.annotations)
        self.called_on: object = None
        MEMORY.begin(context.api.path, context.context)

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
        for parameter, nodes, kinds, names, types in zip(
            context.callee_arg_names, context.args, context.arg_kinds, context.arg_names, context.arg_types, strict=True
        ):
            for node, kind, name, typed in zip(nodes, kinds, names, types, strict=True):
                yield node, kind, name or parameter, typed

    def checked(self, function: Callable[[], Callable[..., Any]]) -> Type:
        """The type of what the call gives; a mistake is reported."""
        given = self._in_order()
        found: list[Type | None] = []
        for self.evaluator.sample in range(SAMPLE_COUNT):
            try:
                result = self._result(function, given)
                found.append(self._type_of(result))
            except GiveUpError as error:
                return self.untold(error.node)
            except SubstraitDslError as error:
                if not self.evaluator.sampled:
                    return self._refused(error, function, given)
            except TypeError:
                return self.given_up()  # arguments that do not fit the signature: mypy says so itself
            if not self.evaluator.sampled:
                break
        if found and self._is_kept(result):
            MEMORY.make(self.context.context, result)
        agreed = found[0] if found and all(each == found[0] for each in found) else None
        if agreed is None:
            return self.untold(self.evaluator.sampled or (given[0][0] if given else None))
        return self.given_up() if is_dynamic_wanted(self.context) else agreed

    def _result(self, function: Callable[[], Callable[..., Any]], given: Sequence[Argument]) -> object:
        """What the call gives; a column of a relation that may be another one is any column of its type."""
        origins = self.evaluator.origins
        origins.matter = self._is_verb()
        try:
            return self._made(function, given)
        except SubstraitDslError:
            if not origins.leave_room():
                raise
        origins.matter = False
        self.evaluator.mistaken = None
        return self._made(function, given)

    def _made(self, function: Callable[[], Callable[..., Any]], given: Sequence[Argument]) -> object:
        made = function()
        positional, named = self._arguments(given)
        return made(*positional, **named)

    def _refused(
        self, error: SubstraitDslError, function: Callable[[], Callable[..., Any]], given: Sequence[Argument]
    ) -> Type:
        """Say what is wrong, where it was written."""
        if self.evaluator.opaque and self.verb in LOOKING_INSIDE:
            return self.untold(None)
        nodes = [node for node, *_ in given]
        operation, mistaken = self.context.context, self.evaluator.mistaken
        if mistaken and isinstance(operation, OPERATIONS):
            return self.given_up()  # an operand is wrong, not the operator
        place = mistaken or self._culprit(error, function, given)
        within = [mistaken] if mistaken else [operation] if isinstance(operation, OPERATIONS) else nodes
        if not report(error, self.context.api, place, within, self.verb):
            return self.untold(place)
        if is_heard(self.context.api.msg.errors):
            MEMORY.say(operation)
        return self.context.default_return_type if self._is_relation() else AnyType(TypeOfAny.from_error)

    def _culprit(
        self, error: SubstraitDslError, function: Callable[[], Callable[..., Any]], given: Sequence[Argument]
    ) -> Context:
        """Where a mistake is: in the argument without which the call does not make it; else in the first."""
        arguments = [node for node, *_ in given]
        for number, (node, _, name, _) in enumerate(given):
            rest = [*given[:number], *given[number + 1 :]]
            try:
                made = function()
                positional, named = self._arguments(rest)
                if name in NEUTRAL and name is not None:
                    named[name] = NEUTRAL[name]
                made(*positional, **named)
            except SubstraitDslError as other:
                if str(other) == str(error):
                    continue
            except (GiveUpError, TypeError):
                continue
            arguments = [node]
            break
        return leaf_of(arguments, error) or (arguments[0] if arguments else end_of(self.context.context))

    def _arguments(self, given: Iterable[Argument]) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for node, kind, name, typed in given:
            if kind == ARG_NAMED and name is not None:
                try:
                    named[name] = self.evaluator.value(node, typed)
                except GiveUpError as error:
                    named[name] = self._unknown(name, error)
            elif kind == ARG_POS:
                try:
                    positional.append(self.evaluator.value(node, typed))
                except GiveUpError:
                    if name is None or name not in NEUTRAL:
                        raise
                    positional.append(NEUTRAL[name])
            elif kind == ARG_STAR:
                positional.extend(self.evaluator.value(node))
            else:
                named.update(self.evaluator.value(node))
        return positional, named

    def _unknown(self, name: str, error: GiveUpError) -> Any:
        """What stands for an argument that mypy does not know. Raises the error if the result depends on it."""
        if name in NEUTRAL:
            return NEUTRAL[name]
        if self.verb in COLUMN_VERBS:
            return placeholders.expression(UNKNOWN)
        if self.verb in MEASURE_VERBS:
            return placeholders.measure(UNKNOWN)
        raise error

    def _in_order(self) -> list[Argument]:
        """The arguments in the order in which they stand; by position first."""
        given = list(self.given())
        node = self.context.context
        if isinstance(node, CallExpr):
            places = {id(argument): number for number, argument in enumerate(node.args)}
            given.sort(key=lambda each: places.get(id(each[0]), 0))
        return given

    def _is_kept(self, result: object) -> bool:
        """Whether what the call gives is better than what can be told from its type."""
        if isinstance(result, Relation | GroupBy):
            return True
        lambdas = any(isinstance(node, LambdaExpr) for node, *_ in self.given())
        return not (self.evaluator.sampled or self.evaluator.opaque or lambdas)

    def _is_verb(self) -> bool:
        on = get_proper_type(self.context.type) if isinstance(self.context, MethodContext) else None
        return isinstance(on, Instance) and on.type.fullname in (RELATION, GROUP_BY)

    def _is_relation(self) -> bool:
        default = get_proper_type(self.context.default_return_type)
        return isinstance(default, Instance) and default.type.fullname in (RELATION, GROUP_BY)

    def given_up(self) -> Type:
        """What mypy takes the call to give without us; but what an inferred row becomes is not known then."""
        default = get_proper_type(self.context.default_return_type)
        if self.verb in SET_VERBS and isinstance(default, Instance) and any(map(is_inferred, default.args)):
            return self.annotations.instance(RELATION, [self.annotations.instance(DYN_ROW)])
        return self.context.default_return_type

    def untold(self, node: Context | None) -> Type:
        """As `given_up`; to those who ask, say at which part of the program the columns of a relation are lost."""
        result, receiver = self.given_up(), getattr(self.context, "type", None)
        is_lost = self.annotations.is_unknown_relation
        if node is not None and is_lost(result) and not is_lost(receiver):
            kind = self.evaluator.type_of(node) if isinstance(node, Expression) else None
            if not is_mistaken(kind):
                report_untold(self.verb, node, is_lost(kind), self.context.api)
        return result

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
        if self.verb in DECLARING:
            return default
        if not isinstance(default, Instance) or self.annotations.columns_of(default.args[0]) == struct:
            return default  # a declared schema that still holds
        return self.annotations.instance(RELATION, [self.annotations.row(struct)])

    def _grouped(self, result: GroupBy[Any, Any], default: Type) -> Type | None:
        keys = result.keys
        if NAMELESS in keys.names or not isinstance(default, Instance):
            return None
        return default.copy_modified(args=[default.args[0], self.annotations.row(keys)])


def is_dynamic_wanted(context: MethodContext | FunctionContext | AttributeContext) -> bool:
    """Whether the program itself does not want to know: the result goes where a `DynExpr` is declared."""
    wanted = context.api.type_context[-1] if context.api.type_context else None
    return wanted is not None and waits(wanted)


def is_inferred(row: Type) -> bool:
    """Whether the plugin has found out the columns of a row."""
    kind = get_proper_type(row)
    return isinstance(kind, Instance) and kind.type.fullname == ROW


def typed(annotations: Annotations, fullname: str, kind: t.Type) -> Type:
    """An expression, a measure or a window function of a type."""
    mark = name_of(t.Null if kind.nullable else t.Req)
    return annotations.instance(fullname, [annotations.annotation(kind.as_required()), annotations.instance(mark)])


def column_named(context: AttributeContext, name: str) -> Type:
    """The column of a row that an attribute names."""
    annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
    MEMORY.begin(context.api.path, context.context)
    struct = annotations.columns_of(context.type)
    if struct is None:
        return context.default_attr_type
    try:
        kind = struct.fields[struct.position(name)].type
    except SubstraitDslError as error:
        if report(error, context.api, context.context):
            MEMORY.say(context.context)
        return AnyType(TypeOfAny.from_error)
    is_known = kind != UNKNOWN and not is_dynamic_wanted(context)
    return typed(annotations, EXPR, kind) if is_known else context.default_attr_type


def schema_revealed(context: FunctionContext) -> Type:
    """Say what the columns of a relation are."""
    annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
    if not context.arg_types or not context.arg_types[0]:
        return context.default_return_type  # mypy says that the relation is missing
    relation = get_proper_type(context.arg_types[0][0])
    struct = annotations.columns_of(relation.args[0]) if isinstance(relation, Instance) and relation.args else None
    shown = "unknown" if struct is None else str(struct)
    context.api.msg.note(f"Schema is {shown}", context.context)
    return context.default_return_type
