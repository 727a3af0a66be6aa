"""Evaluate a call of the program: make the same call of the library, with placeholders for what mypy does not know.

A value that the program computes is replaced by samples of its type. The call is made once for each sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from attrs import Factory, define
from mypy.nodes import (
    ARG_NAMED,
    ARG_POS,
    ARG_STAR,
    CallExpr,
    ComparisonExpr,
    Context,
    Expression,
    IndexExpr,
    MemberExpr,
    OpExpr,
    RefExpr,
    TypeInfo,
    UnaryExpr,
)
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import Instance, Type, get_proper_type

from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, SignatureError, SubstraitDslError, are_same
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.mypy_plugin import allowed, placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations
from substrait_dsl.mypy_plugin.argument_evaluator import NO_SAMPLE, OTHER_SAMPLE, ArgumentEvaluator
from substrait_dsl.mypy_plugin.arguments import Argument, Arguments
from substrait_dsl.mypy_plugin.budget import UnknownValueError, require_arguments
from substrait_dsl.mypy_plugin.filled_lists import find_items
from substrait_dsl.mypy_plugin.names import GROUP_BY, RELATION
from substrait_dsl.mypy_plugin.plan_parameters import CHECKS
from substrait_dsl.mypy_plugin.results import infer_result_type
from substrait_dsl.mypy_plugin.source_positions import find_leaf, locate_method_name, subexpressions
from substrait_dsl.mypy_plugin.syntax import NO_CONSTANT, is_constant, read_constant
from substrait_dsl.mypy_plugin.verbs import INDEPENDENT_VERBS, is_required, may_be_omitted


@define
class Trials:
    """What a call has returned or raised for each sample."""

    results: list[object] = Factory(list)
    types: list[Type | None] = Factory(list)
    """The type of each result; None where it is not known."""
    errors: list[SubstraitDslError] = Factory(list)
    sampled_node: Expression | None = None
    """An expression that samples have replaced; None if there was none, and the call was made once."""

    def find_common_type(self) -> Type | None:
        """Return the type of all results, or None if there are several, or if one is not known."""
        first = self.types[0]
        return first if all(each == first for each in self.types) else None


class CallEvaluation:
    """A call of the library in the program, which can be made with placeholders.

    Args:
        context: what mypy says of the call.
        verb: the name of the function or method.
        fullname: the full name of the function; None for a method, which is looked up on its receiver.
    """

    def __init__(self, context: MethodContext | FunctionContext, verb: str, fullname: str | None = None) -> None:
        self.context = context
        self.verb = verb
        self.annotations = Annotations(context.api)
        self.evaluator = ArgumentEvaluator(self.annotations)
        self._values = Arguments(verb, self.evaluator)
        self.fullname = fullname
        self._stand_in: Relation[Any] | None = None
        """A relation in place of the one that the verb is called on, of which the columns are not known."""

    def use(self, evaluator: ArgumentEvaluator, values: Arguments) -> None:
        """Evaluate the arguments in another way."""
        self.evaluator, self._values = evaluator, values

    @property
    def arguments_of_verb(self) -> Arguments:
        """What evaluates the arguments."""
        return self._values

    @cached_property
    def arguments(self) -> Sequence[Argument]:
        """The arguments in the order in which they stand in the program."""
        arguments = list({id(each[0]): each for each in self._iterate_arguments()}.values())
        # A dictionary, because a tuple of two values after a star comes twice.
        node = self.context.context
        if isinstance(node, CallExpr):
            positions = {id(argument): number for number, argument in enumerate(node.args)}
            arguments.sort(key=lambda each: positions.get(id(each[0]), 0))
        return arguments

    @property
    def nodes(self) -> list[Expression]:
        """The expressions of the arguments."""
        return [node for node, *_ in self.arguments]

    def _iterate_arguments(self) -> Iterator[Argument]:
        """Return the arguments in the order of the parameters."""
        context = self.context
        for parameter, nodes, kinds, names, types in zip(
            context.callee_arg_names, context.args, context.arg_kinds, context.arg_names, context.arg_types, strict=True
        ):
            for node, kind, name, type_ in zip(nodes, kinds, names, types, strict=True):
                yield node, kind, name or parameter, type_

    def is_verb(self) -> bool:
        """Whether the call is that of a method of a relation or of its groups."""
        receiver = get_proper_type(self.context.type) if isinstance(self.context, MethodContext) else None
        return isinstance(receiver, Instance) and receiver.type.fullname in (RELATION, GROUP_BY)

    # --- making the call

    def evaluate_samples(self) -> Trials:
        """Make the call once for each sample, or once if no argument has samples.

        Raises:
            UnknownValueError: the value of an argument is not known.
            SubstraitDslError: the library refuses the call, and no argument has samples.
            SignatureError: the arguments are not those of the function.
            TypeError: likewise, of a function of Python.
        """
        trials, evaluator = Trials(), self.evaluator
        while evaluator.sample_index < evaluator.sample_count:
            try:
                result = self.make_call()
                trials.results.append(result)
                type_ = infer_result_type(self.annotations, result, self.verb, self.context.default_return_type)
                trials.types.append(type_)
            except SignatureError:
                raise
            except SubstraitDslError as error:
                if not evaluator.sampled_node:
                    raise
                trials.errors.append(error)
            if not evaluator.sampled_node:
                break
            evaluator.sample_index += 1
        trials.sampled_node = evaluator.sampled_node
        return trials

    def find_independent_error(self, errors: Sequence[SubstraitDslError]) -> SubstraitDslError | None:
        """Return the error that a call raises whatever the value is that samples stand for; None if it depends on it.

        Args:
            errors: what the call has raised for each of the samples.
        """
        first, *others = errors
        if not all(are_same(first, each) for each in others):
            return None
        self.evaluator.sample_index = OTHER_SAMPLE
        try:
            self.make_call()
        except SubstraitDslError as error:
            return first if are_same(first, error) else None
        except (UnknownValueError, TypeError):
            pass
        return None

    def find_error_of_one_argument(self) -> tuple[SubstraitDslError, Expression] | None:
        """Return the error that one argument causes whatever those are that are not known, and the argument."""
        if not self.is_verb():
            return None
        try:
            self.find_receiver()
        except UnknownValueError:
            return self._find_error_of_any_relation()
        shown = list(self._iterate_shown_arguments())
        if len(shown) < 2 and len(self.arguments) < 2:
            return None
        if any(name == "grouping_sets" for _, _, name, _ in self.arguments):
            return None  # they say which of the keys belong together
        some = [each for each in shown if may_be_omitted(self.verb, each[2])]
        parameters = [each for each in shown if each not in some]
        for argument in some if self.verb in INDEPENDENT_VERBS else ():
            error = self._find_error_with([*parameters, argument], 0)
            if error is not None and (self.evaluator.sampled_node is None or _is_quoted(argument[0], error)):
                return error, argument[0]
        required = [each for each in parameters if is_required(self.verb, each[2])]
        for argument in (each for each in parameters if is_constant(each[0])):
            others = [each for each in required if each is not argument]
            for more in ((), some):
                error = self._find_error_with([*others, argument, *more], 1)
                if error is not None and _is_quoted(argument[0], error):
                    return error, argument[0]
        return None

    def _iterate_shown_arguments(self) -> Iterator[Argument]:
        """Return the arguments, with the items that the program shows of a list with a star: ``*conditions``."""
        for argument in self.arguments:
            node, kind, name, type_ = argument
            items = find_items(node, self.annotations.checker) if kind == ARG_STAR else ()
            for item in items:
                yield item, ARG_POS, name, self.evaluator.type_of_node(item) or type_
            if not items:
                yield argument

    def _find_error_of_any_relation(self) -> tuple[SubstraitDslError, Expression] | None:
        """Return the error of an argument that is wrong whatever the columns of the relation are, and the argument."""
        self._stand_in = placeholders.make_relation(NamedStruct((Field(placeholders.NAMELESS, UNKNOWN),)))
        required = [each for each in self.arguments if is_required(self.verb, each[2])]
        for argument in (each for each in self.arguments if is_constant(each[0])):
            others = [each for each in required if each is not argument]
            error = self._find_error_with([*others, argument], 1)
            if isinstance(error, InvalidArgumentError | InvalidChoiceError) and _is_quoted(argument[0], error):
                return error, argument[0]
        self._stand_in = None
        return None

    def _find_error_with(self, arguments: Sequence[Argument], sample_index: int) -> SubstraitDslError | None:
        """Return the error of the call with some of its arguments; None if there is none, or one of them is unknown."""
        evaluator = self.evaluator
        evaluator.sample_index, evaluator.sampled_node, evaluator.refused_node = sample_index, None, None
        if not any(may_be_omitted(self.verb, name) for _, _, name, _ in arguments):  # those before may be missing
            arguments = [
                (node, ARG_NAMED if kind == ARG_POS else kind, name, type_) for node, kind, name, type_ in arguments
            ]
        try:
            self._make_partial_call(arguments, None)
        except SignatureError:
            return None
        except SubstraitDslError as error:
            return error
        except (UnknownValueError, TypeError, AttributeError):
            pass
        return None

    def evaluate_without_samples(self) -> Relation[Any] | GroupBy[Any, Any] | None:
        """Make the call without samples: in its result the columns that depend on unknown values are unknown.

        Returns:
            the relation or its groups; None if the call cannot be made so, or returns something else.
        """
        self.evaluator.sample_index = NO_SAMPLE
        try:
            result = self.make_call()
        except (UnknownValueError, SubstraitDslError, TypeError):
            return None
        return result if isinstance(result, Relation | GroupBy) else None

    def make_call(self) -> object:
        """Make the call with the columns of the relations that are named, or else with any columns of their types."""
        origins = self.evaluator.origins
        origins.is_exact = self.is_verb()
        try:
            return self._make_call()
        except SubstraitDslError:
            if not origins.may_coincide():
                raise
        origins.is_exact = False
        self.evaluator.refused_node = None
        return self._make_call()

    def _make_call(self) -> object:
        evaluator = self.evaluator
        evaluator.budget.reset()
        function = self._find_function()
        positional, named = self._values.evaluate(self.arguments)
        require_arguments(function, len(positional))
        return evaluator.budget.require_small(function(*positional, **named))

    def _find_function(self) -> Callable[..., Any]:
        if self.fullname is not None:
            function: Callable[..., Any] = CHECKS.get(self.fullname) or allowed.find_named(self.fullname)
        else:
            function = allowed.find_operator(self.find_receiver(), self.verb)
        return function

    def find_receiver(self) -> Any:
        """Return the value that the method is called on."""
        if self._stand_in is not None:
            return self._stand_in
        assert isinstance(self.context, MethodContext)
        receiver: Expression | None
        match self.context.context:
            case CallExpr(callee=MemberExpr(expr=RefExpr(node=TypeInfo(fullname=name)))):
                return self._find_class(name)
            case CallExpr(callee=MemberExpr(expr=inner)):
                receiver = inner
            case IndexExpr(base=base):
                receiver = base
            case OpExpr(left=left, right=right) | ComparisonExpr(operands=[left, right]):
                receiver = right if left in self.context.args[0] else left
            case UnaryExpr(expr=operand):
                receiver = operand
            case _:
                receiver = None
        return self.evaluator.evaluate_receiver(self.context.type, receiver)

    def _find_class(self, name: str) -> Any:
        """Return the class that a method is called on, with a receiver: ``Relation.select(orders, "key")``."""
        node, *_ = next(self._iterate_arguments(), (None,))
        if node is None or not allowed.is_evaluated(name):
            raise UnknownValueError
        class_ = allowed.find_named(name)
        if not isinstance(self.evaluator.evaluate(node), class_):
            raise UnknownValueError
        return class_

    # --- locating errors

    def locate_error(self, error: SubstraitDslError, argument: Expression | None = None) -> Context:
        """Return the part of the program that an error of the call is about.

        Args:
            error: the error.
            argument: the argument that causes it; None if that is not known.
        """
        nodes = self._find_arguments_at_fault(error) if argument is None else [argument]
        return find_leaf(nodes, error) or self._find_unresolved(nodes, error) or self._find_first(nodes)

    def _find_first(self, nodes: Sequence[Expression]) -> Context:
        return nodes[0] if nodes else locate_method_name(self.context.context)

    def _find_arguments_at_fault(self, error: SubstraitDslError) -> Sequence[Expression]:
        """Return the argument without which the call raises nothing, or another error; all of them if none is such."""
        changing: list[Expression] = []
        for number, (node, _, name, _) in enumerate(self.arguments):
            rest = [*self.arguments[:number], *self.arguments[number + 1 :]]
            try:
                self._make_partial_call(rest, name)
            except SubstraitDslError as other:
                changing += [] if are_same(other, error) else [node]
            except (UnknownValueError, TypeError, AttributeError):
                pass  # without the relation that a verb is called on, say
            else:
                return [node]
        return changing[:1] or self.nodes

    def _make_partial_call(self, rest: Iterable[Argument], omitted: str | None) -> None:
        """Make the call without one argument."""
        function = self._find_function()
        positional, named = self._values.evaluate(rest)
        if omitted is not None and omitted in self._values.neutral:
            named[omitted] = self._values.neutral[omitted]
        function(*positional, **named)

    def _find_unresolved(self, nodes: Sequence[Expression], error: SubstraitDslError) -> Expression | None:
        """Return the innermost expression in some arguments that cannot be resolved against the inputs of a verb."""
        if not self.is_verb():
            return None
        try:
            inputs = self._find_inputs()
        except (UnknownValueError, SubstraitDslError):
            return None
        for part in (part for node in nodes for part in subexpressions(node)):
            expression = self.evaluator.try_evaluate(part)
            if isinstance(expression, ExprBase) and expression._node is None:
                try:
                    bind(expression, Scope(self.verb, inputs))
                except SubstraitDslError as other:
                    if are_same(other, error, anywhere=True):
                        return part
        return None

    def _find_inputs(self) -> list[Any]:
        """Return the relations that the verb is called on, and gets as arguments."""
        receiver = self.find_receiver()
        values = [receiver._relation if isinstance(receiver, GroupBy) else receiver]
        values += [self.evaluator.try_evaluate(node) for node in self.nodes]
        return [value._rel for value in values if isinstance(value, Relation)]


def _is_quoted(node: Expression, error: SubstraitDslError) -> bool:
    """Whether an error quotes a constant in an expression."""
    constants = [value for value in map(read_constant, subexpressions(node)) if value is not NO_CONSTANT]
    message = str(error)
    return any(repr(value) in message or f'"{value}"' in message for value in constants)
