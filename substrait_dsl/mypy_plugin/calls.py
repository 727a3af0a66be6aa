"""Calls of the fluent API, checked by making them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    CallExpr,
    ComparisonExpr,
    Context,
    Expression,
    IndexExpr,
    LambdaExpr,
    MemberExpr,
    OpExpr,
    RefExpr,
    TypeInfo,
    UnaryExpr,
    Var,
)
from mypy.plugin import MethodContext
from mypy.types import Instance, Type, get_proper_type, has_type_vars

from substrait_dsl.errors import SignatureError, SubstraitDslError, are_same
from substrait_dsl.fluent.expr import ExprBase, resolve
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.mypy_plugin import allowed, assignment_checks, default_check, placeholders
from substrait_dsl.mypy_plugin.annotations import Annotations, is_mistaken, unknown
from substrait_dsl.mypy_plugin.argument_evaluator import NO_SAMPLE, Evaluator, waits
from substrait_dsl.mypy_plugin.arguments import Argument, Arguments
from substrait_dsl.mypy_plugin.budget import GiveUpError, require_arguments
from substrait_dsl.mypy_plugin.checker_state import MEMORY
from substrait_dsl.mypy_plugin.names import (
    DYN_EXPR,
    DYN_ROW,
    EXPR,
    GROUP_BY,
    RELATION,
    RESULTS,
    is_type,
)
from substrait_dsl.mypy_plugin.reports import is_heard, is_in_lambda, report, report_unknown, withdraw
from substrait_dsl.mypy_plugin.results import are_alike, is_dynamic_wanted, is_expression, type_of
from substrait_dsl.mypy_plugin.return_context import is_returned
from substrait_dsl.mypy_plugin.source_positions import end_of, leaf_of, parts
from substrait_dsl.mypy_plugin.syntax import is_type_written
from substrait_dsl.mypy_plugin.verbs import (
    LOOKING_INSIDE,
    OPERATIONS,
    SET_VERBS,
)

if TYPE_CHECKING:
    from mypy.plugin import FunctionContext


def method_called(context: MethodContext, name: str) -> Type:
    """What a method gives."""
    if default_check.is_being_checked(context.context):
        return context.default_return_type
    call = Call(context, name)
    default = get_proper_type(context.default_return_type)
    if not isinstance(default, Instance) or default.type.fullname not in RESULTS or waits(context.type):
        return call.given_up()
    return call.checked(lambda: allowed.operator(call.receiver(), name))


def function_called(context: FunctionContext, fullname: str) -> Type:
    """What a function gives."""
    if default_check.is_being_checked(context.context):
        return context.default_return_type
    call = Call(context, fullname.rpartition(".")[2])
    match context.context:
        case CallExpr(callee=RefExpr(node=Var())):
            return call.given_up()  # a variable may hold another function, or a class that inherits from this one
        case CallExpr(callee=RefExpr()) if allowed.is_evaluated(fullname):
            return call.checked(lambda: allowed.named(fullname))
    return call.given_up()


class Call:
    """One call in the program that is checked."""

    def __init__(self, context: MethodContext | FunctionContext, verb: str) -> None:
        self.context = context
        self.verb = verb
        self.annotations = Annotations(context.api)  # type: ignore[arg-type]  # mypy's own checker is the only one
        self.evaluator = Evaluator(self.annotations)
        self.arguments = Arguments(verb, self.evaluator)
        self._mistake: Callable[[], bool] = lambda: False
        self.is_decided = False
        """Whether it has been found out what the call gives, or what is wrong with it."""
        self.is_reported = False
        """Whether what the call gives follows from what it is given: nothing is wrong, and nothing unknown."""
        MEMORY.begin(context.api, context.context)

    def receiver(self) -> Any:
        """The value that the method is called on."""
        kind = getattr(self.context, "type")  # noqa: B009  # only a method's context has it
        on: Expression | None
        match self.context.context:
            case CallExpr(callee=MemberExpr(expr=RefExpr(node=TypeInfo(fullname=name)))):
                return self._owner(name)
            case CallExpr(callee=MemberExpr(expr=inner)):
                on = inner
            case IndexExpr(base=base):
                on = base
            case OpExpr(left=left, right=right) | ComparisonExpr(operands=[left, right]):
                on = right if left in self.context.args[0] else left
            case UnaryExpr(expr=operand):
                on = operand
            case _:
                on = None
        return self.evaluator.receiver(kind, on)

    def _owner(self, name: str) -> Any:
        """The class that a method is called on, with its first argument: ``Relation.select(orders, "key")``."""
        node, *_ = next(self.given(), (None,))
        if node is None or not allowed.is_evaluated(name):
            raise GiveUpError
        owner = allowed.named(name)
        if not isinstance(self.evaluator.value(node), owner):
            raise GiveUpError
        return owner

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
        made: list[object] = []
        refusals: list[SubstraitDslError] = []
        while self.evaluator.sample < self.evaluator.samples:
            try:
                result = self._result(function, given)
                made.append(result)
                found.append(type_of(self.annotations, result, self.verb, self.context.default_return_type))
            except GiveUpError as error:
                return self._as_declared(error.node)
            except SignatureError:
                return self.given_up()  # mypy says so itself
            except SubstraitDslError as error:
                if not self.evaluator.sampled:
                    return self._refused(error, function, given)
                refusals.append(error)
            except TypeError:
                return self.given_up()
            if not self.evaluator.sampled:
                break
            self.evaluator.sample += 1
        MEMORY.unsay(self.context.context)
        if not found and self.evaluator.collected:
            return self._refused(refusals[-1], function, given)
        unsaid = self.evaluator.sampled
        if not found and isinstance(self.context.context, OPERATIONS):
            misfit = self.evaluator.misfit(refusals)
            if misfit is not None:
                return self._refused(misfit, function, given)
        agreed = None
        if found and (not refusals or self.evaluator.fits_otherwise(refusals)) and are_alike(made):
            agreed = found[0] if all(each == found[0] for each in found) else None
            if self._is_kept(result):
                MEMORY.make(self.context.context, result)
        if agreed is None and unsaid:
            agreed = self._without_samples(function, given)
            if agreed is not None:
                report_unknown(self.verb, unsaid, "types of all columns", self.context.api)
        if not found:
            declared = self._as_declared(unsaid if agreed is None else None)
            return declared if agreed is None or self.is_decided else agreed
        if self.evaluator.decided and default_check.declared(self.context, self.is_expression) is None:
            self.is_decided = True
            return self.given_up()
        if agreed is None and not unsaid:
            mistake = placeholders.mistake_in(result)
            if mistake is not None and is_returned(self.context.context, self.annotations.checker):
                return self._refused(mistake, function, given)
        if agreed is None and is_expression(self._wanted()) and not waits(self._wanted()):
            agreed = default_check.declared(self.context, self.is_expression, is_said=False)
            return self.unknown_result(unsaid) if agreed is None else self._of_type_given(agreed)
        if agreed is None:
            return self.unknown_result(unsaid or (given[0][0] if given else None))
        self._allow_types(given)
        self.is_decided = self.is_reported = not is_dynamic_wanted(self.context)
        taken = assignment_checks.taken_for(self.context, self.annotations, agreed)
        if taken is not None:
            return taken
        return agreed if self.is_decided else self.given_up()

    def _wanted(self) -> Type | None:
        """The type that the program declares where the call stands."""
        return self.context.api.type_context[-1] if self.context.api.type_context else None

    def _without_samples(self, function: Callable[[], Callable[..., Any]], given: Sequence[Argument]) -> Type | None:
        """What the call gives whatever the values are: only columns that depend on them are unknown."""
        self.evaluator.sample = NO_SAMPLE
        try:
            result = self._result(function, given)
        except (GiveUpError, SubstraitDslError, TypeError):
            return None
        if not isinstance(result, Relation | GroupBy):
            return None
        MEMORY.make(self.context.context, result)
        return type_of(self.annotations, result, self.verb, self.context.default_return_type)

    def _allow_types(self, given: Sequence[Argument]) -> None:
        """Take back that a type makes nothing that is declared to be returned: that what is made is not is enough."""
        types = [node for node, *_ in given if is_type_written(node)]
        if types and is_heard(self.context.api.msg.errors):
            withdraw(self.context.api.msg.errors, types, None)

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
        self.evaluator.budget.begin()
        made = function()
        positional, named = self.arguments.built(given)
        compared = [node for node, *_ in given if isinstance(node, ComparisonExpr)]
        self.evaluator.decided |= any(isinstance(self.evaluator.known(node), bool) for node in compared)
        require_arguments(made, len(positional))
        return self.evaluator.budget.keep(made(*positional, **named))

    def is_expression(self, node: Expression) -> bool:
        """Whether a part of an argument makes an expression, whatever mypy takes it for."""
        return isinstance(self.evaluator.known(node), ExprBase)

    def _as_declared(self, node: Context | None) -> Type:
        """As `unknown_result`, where mypy has nothing to say against the call as the library declares it."""
        result = default_check.declared(self.context, self.is_expression)
        self.is_decided = result is None
        if result is None:
            return self.given_up()
        return self._of_type_given(result) if is_expression(result) else self.unknown_result(node)

    def _of_type_given(self, result: Type) -> Type:
        """An expression; if the call is given a type that the program computes, that may be a nullable one."""
        proper, kinds = get_proper_type(result), [get_proper_type(type_) for *_, type_ in self.given()]
        if not any(isinstance(type_, Instance) and is_type(type_.type.fullname) for type_ in kinds):
            return result
        if not isinstance(proper, Instance) or not proper.args:
            return result  # a `DynExpr` says nothing of its type
        return proper.copy_modified(args=[proper.args[0], unknown()])

    def _refused(
        self, error: SubstraitDslError, function: Callable[[], Callable[..., Any]], given: Sequence[Argument]
    ) -> Type:
        """Say what is wrong, where it was written."""
        if self.evaluator.opaque and self.verb in LOOKING_INSIDE:
            return self.unknown_result(None)
        nodes = [node for node, *_ in given]
        operation, mistaken = self.context.context, self.evaluator.mistaken
        if mistaken and isinstance(operation, OPERATIONS):
            return self.given_up()  # an operand is wrong, not the operator
        place = mistaken or self._culprit(error, function, given)
        within = [mistaken] if mistaken else [operation] if isinstance(operation, OPERATIONS) else nodes
        self._mistake = partial(report, error, self.context.api, place, within, (operation, self.verb))
        self.is_decided = self.say()
        if not self.is_decided:
            return self._as_declared(place)
        default = get_proper_type(self.context.default_return_type)
        if not isinstance(default, Instance):
            return default
        if default.type.fullname == RELATION:
            wanted = assignment_checks.wanted_relation(self.context)
            is_known = wanted is not None and self.annotations.columns_of(wanted.args[0]) is not None
            return wanted if wanted is not None and is_known else default  # that it is not that: enough has been said
        return self.annotations.instance(DYN_EXPR) if default.type.fullname == EXPR else default

    def say(self) -> bool:
        """Say what is wrong with the call, if anything is; whether it has been said."""
        is_said = self._mistake()
        if is_said and is_heard(self.context.api.msg.errors) and not is_in_lambda(self.context.api):
            MEMORY.say(self.context.context)
        return is_said

    def _culprit(
        self, error: SubstraitDslError, function: Callable[[], Callable[..., Any]], given: Sequence[Argument]
    ) -> Context:
        """Where a mistake is: in the argument without which the call makes none, or another one; else in the first."""
        arguments = [node for node, *_ in given]
        others: list[Expression] = []
        for number, (node, _, name, _) in enumerate(given):
            rest = [*given[:number], *given[number + 1 :]]
            try:
                made = function()
                positional, named = self.arguments.built(rest)
                if name in self.arguments.neutral and name is not None:
                    named[name] = self.arguments.neutral[name]
                made(*positional, **named)
            except SubstraitDslError as other:
                others += [] if are_same(other, error) else [node]
            except (GiveUpError, TypeError, AttributeError):
                pass  # without the relation that a verb is called on, say
            else:
                others = [node]
                break
        arguments = others[:1] or arguments
        place = leaf_of(arguments, error) or self._unmade(arguments, given, error)
        return place or (arguments[0] if arguments else end_of(self.context.context))

    def _unmade(
        self, arguments: Sequence[Expression], given: Sequence[Argument], error: SubstraitDslError
    ) -> Expression | None:
        """The innermost part of some arguments that cannot be made of the columns that it names."""
        if not self._is_verb():
            return None
        try:
            on = self.receiver()
        except (GiveUpError, SubstraitDslError):
            return None
        values = [on._relation if isinstance(on, GroupBy) else on, *(self.evaluator.known(node) for node, *_ in given)]
        inputs = [value._rel for value in values if isinstance(value, Relation)]
        for part in (part for argument in arguments for part in parts(argument)):
            expression = self.evaluator.known(part)
            if isinstance(expression, ExprBase) and expression._node is None:
                try:
                    resolve(expression, Scope(self.verb, inputs))
                except SubstraitDslError as other:
                    if are_same(other, error, anywhere=True):
                        return part
        return None

    def _in_order(self) -> list[Argument]:
        """The arguments in the order in which they stand; by position first."""
        given = list({id(each[0]): each for each in self.given()}.values())  # a tuple of two with a star comes twice
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

    def given_up(self) -> Type:
        """What mypy takes the call to give without us; but whether columns become nullable is not known then."""
        default = get_proper_type(self.context.default_return_type)
        if self.verb in SET_VERBS and isinstance(default, Instance) and self._may_become_nullable(default):
            return self.annotations.instance(RELATION, [self.annotations.instance(DYN_ROW)])
        return self.context.default_return_type

    def _may_become_nullable(self, relation: Instance) -> bool:
        """Whether a relation has columns that are known, and never NULL."""
        rows = map(self.annotations.columns_of, relation.args)
        return any(not field.type.nullable for struct in rows if struct is not None for field in struct)

    def unknown_result(self, node: Context | None) -> Type:
        """As `given_up`; to those who ask, say at which part of the program the columns of a relation are lost."""
        result, receiver = self.given_up(), getattr(self.context, "type", None)
        is_lost = self.annotations.is_unknown_relation
        if node is not None and is_lost(result) and not is_lost(receiver) and not has_type_vars(result):
            type_ = self.evaluator.type_of(node) if isinstance(node, Expression) else None
            if not is_mistaken(type_):
                report_unknown(self.verb, node, "columns", self.context.api, is_relation=is_lost(type_))
        return result
