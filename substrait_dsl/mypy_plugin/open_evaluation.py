"""Evaluate calls of verbs whose relations have columns that are not known, beside some that are.

Such a call is made with open relations (see `open_relations`), beside what mypy itself says of it: the type of the
result is mypy's own. An error is reported only if there is one whatever the other columns are: about types, values,
words and functions, of columns that are known. A name that is not known may be that of another column.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from mypy.nodes import ARG_POS, ARG_STAR, CallExpr, Context, Expression, IndexExpr, IntExpr, NameExpr
from mypy.types import Instance, ProperType, Type, UnionType, get_proper_type

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import (
    FunctionNotFoundError,
    InvalidChoiceError,
    SignatureError,
    SubstraitDslError,
    TypeMismatchError,
    UnknownAttributeError,
    UnknownFieldError,
    are_same,
)
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import open_relations, placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN, Annotations
from substrait_dsl.mypy_plugin.argument_evaluator import NO_SAMPLE, ArgumentEvaluator
from substrait_dsl.mypy_plugin.arguments import Argument, Arguments
from substrait_dsl.mypy_plugin.ast_evaluator import Environment
from substrait_dsl.mypy_plugin.budget import UnknownValueError
from substrait_dsl.mypy_plugin.call_evaluation import CallEvaluation
from substrait_dsl.mypy_plugin.checker_state import NO_VALUE, STATE
from substrait_dsl.mypy_plugin.file_variables import find_assigned_value
from substrait_dsl.mypy_plugin.mypy_internals import find_item_type, is_in_lambda, is_reporting
from substrait_dsl.mypy_plugin.names import RELATION
from substrait_dsl.mypy_plugin.open_signatures import find_bound
from substrait_dsl.mypy_plugin.reports import names_unknown, report
from substrait_dsl.mypy_plugin.source_positions import subexpressions
from substrait_dsl.mypy_plugin.verbs import COLUMN_VERBS, MEASURE_VERBS, SET_VERBS, STRUCTURE_VERBS

if TYPE_CHECKING:
    from mypy.plugin import MethodContext

_Result = Relation[Any] | GroupBy[Any, Any] | None

MAX_ATTEMPTS = 40
"""How often a call is made, with one more column or one argument less each time."""

_CHOOSING = ("select", "drop", "emit")
"""Verbs that give some of the columns, if nothing is known of their arguments but that they are names or positions."""

_TAKING_SEVERAL = ("filter", "sort")
"""Verbs with any number of arguments, on which the columns of the result do not depend."""

_CERTAIN = (TypeMismatchError, FunctionNotFoundError, InvalidChoiceError, UnknownAttributeError)
"""Errors about columns that are known, whatever the others are. One that there is no such column is looked at."""

_UNCERTAIN_VERBS = (*SET_VERBS, *STRUCTURE_VERBS, "unpivot", "value_counts", "as_", "into", "pivot", "write")
"""Verbs that look at all columns: what is wrong with those that are known may not be with the others."""


class OpenArgumentEvaluator(ArgumentEvaluator):
    """Evaluates arguments, with open relations for those of which nothing is known, or only some columns."""

    def __init__(self, annotations: Annotations, names: Iterable[str], *, is_required: bool = False) -> None:
        super().__init__(annotations)
        self.is_required = is_required
        """Whether columns of unknown types are never NULL, for the call is made both ways."""
        self.sample_index = NO_SAMPLE
        self.names = tuple(names)
        """Columns that have been used and not been known: each open relation has them."""
        self.opened: dict[int, tuple[object, Relation[Any]]] = {}
        """The open relations of the call, by the `id` of what they stand for."""

    def evaluate_receiver(self, type_: Type, node: Expression | None) -> Any:
        if STATE.is_reported(node):
            raise UnknownValueError
        value = STATE.find_open_value(node)
        if value is not NO_VALUE:
            return self._add_columns(value)
        return super().evaluate_receiver(type_, node)

    def _evaluate_compound(self, node: Expression, environment: Environment) -> Any:
        value = NO_VALUE if environment else STATE.find_open_value(node)
        return super()._evaluate_compound(node, environment) if value is NO_VALUE else self._add_columns(value)

    def _make_placeholder(self, type_: ProperType | None, node: Expression | None) -> Any:
        if (
            isinstance(type_, Instance)
            and type_.type.fullname == RELATION
            and not _is_declared(self.annotations, type_)
        ):
            return self._make_open_relation(type_, node)
        return super()._make_placeholder(type_, node)

    def _make_open_relation(self, type_: Instance, node: Expression | None) -> Relation[Any]:
        """Return a relation of which the columns are not declared: those that are known, and others."""
        call = find_assigned_value(node, self.checker) if isinstance(node, NameExpr) else None
        value = NO_VALUE if call is None else STATE.find_open_value_here(call)
        if value is NO_VALUE:
            value = self._find_relation(node, is_declared=False)
        if isinstance(value, Relation):
            relation = self._add_columns(value)
            return self.origins.find_relation(node, relation._rel.schema, relation)
        variable = node.node if isinstance(node, NameExpr) else None
        key = variable or node or type_
        if id(key) not in self.opened:
            known = _find_bound_columns(self.annotations, type_)
            self._open(key, open_relations.make_open_relation([open_relations.make_others(), *known]))
        relation = self.opened[id(key)][1]
        return self.origins.find_relation(node, relation._rel.schema, relation)

    def _add_columns(self, value: Any) -> Any:
        """Return an open relation with the columns of which the names are known by now; anything else as it is."""
        if not isinstance(value, Relation) or not open_relations.has_unknown_types(value):
            return value
        if id(value) not in self.opened:
            self._open(value, value)
        return self.opened[id(value)][1]

    def _open(self, key: object, relation: Relation[Any]) -> None:
        """Add what is to be known of a relation, and note what it stands for."""
        if open_relations.is_open(relation._rel.schema):
            relation = open_relations.add_columns(relation, self.names)
        self.opened[id(key)] = key, open_relations.with_unknown_required(relation) if self.is_required else relation


class OpenArguments(Arguments):
    """Evaluates the arguments of a verb. Where they are columns that are not known, others stand for them."""

    def __init__(self, verb: str, evaluator: OpenArgumentEvaluator, replaced: Sequence[Expression]) -> None:
        super().__init__(verb, evaluator)
        self._replaced = replaced
        self.has_unknown_names = False
        """Whether others stand for arguments that have names."""

    def evaluate(self, arguments: Iterable[Argument]) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for argument in arguments:
            try:
                if argument[0] in self._replaced:
                    raise UnknownValueError(argument[0])
                values, by_name = super().evaluate([argument])
            except UnknownValueError as error:
                values, by_name = self._stand_in(argument, error)
            positional += values
            named |= by_name
        return positional, named

    def _stand_in(self, argument: Argument, error: UnknownValueError) -> tuple[list[Any], dict[str, Any]]:
        """Return what stands for an unknown argument. Raise the error if nothing can."""
        node, kind, name, _ = argument
        takes_columns = self._verb in COLUMN_VERBS
        if kind in (ARG_POS, ARG_STAR):
            if takes_columns or self._verb == "aggregate":
                return [open_relations.make_other_columns()], {}
            if name in self.neutral:
                return [self.neutral[str(name)]], {}
            if self._verb in _TAKING_SEVERAL and node in self._replaced:
                return [], {}
        elif kind.is_named() and name is not None:
            return [], {name: self._replace_unknown(name, error)}
        elif takes_columns or self._verb in MEASURE_VERBS:
            self.has_unknown_names = True
            other = open_relations.make_others().name
            is_column = takes_columns
            return [], {
                other: placeholders.make_expression(UNKNOWN) if is_column else placeholders.make_measure(UNKNOWN)
            }
        raise error


@cache
def keeps_columns(verb: str) -> bool:
    """Whether a verb gives a relation of the same columns, as its signature says."""
    method = getattr(Relation, verb, None)
    return verb not in SET_VERBS and callable(method) and inspect.signature(method).return_annotation == "Relation[S]"


class OpenCall:
    """A call of a verb with open relations.

    Args:
        context: what mypy says of the call.
        verb: the name of the verb.
    """

    def __init__(self, context: MethodContext, verb: str) -> None:
        self.context = context
        self.verb = verb
        self._names: list[str] = []
        self._replaced: list[Expression] = []
        self.evaluation = self._begin()

    def _begin(self, *, is_required: bool = False) -> CallEvaluation:
        """Prepare to make the call, with all that is known of the other columns."""
        evaluation = CallEvaluation(self.context, self.verb)
        evaluator = OpenArgumentEvaluator(evaluation.annotations, self._names, is_required=is_required)
        evaluation.use(evaluator, OpenArguments(self.verb, evaluator, self._replaced))
        self.evaluation, self.evaluator = evaluation, evaluator
        return evaluation

    def infer(self) -> bool:
        """Make the call, store its result for the calls that use it, and report its error.

        Returns:
            whether it has been made with all of its arguments and known columns only, or its error has been reported.
        """
        result, error = self._attempt()
        for _ in range(MAX_ATTEMPTS):
            if error is None or not self._learn_from(error):
                break
            result, error = self._attempt()
        is_evaluated = result is not None and not self._replaced and not self._names
        if isinstance(result, Relation) and self.evaluator.opened and not keeps_columns(self.verb):
            other, _ = self._attempt(is_required=True)
            result = open_relations.forget_types(result, other if isinstance(other, Relation) else None)
        if error is not None and self._is_certain(error):
            return self._report(error)
        if result is None:
            result = self._derive_without_arguments()
        if result is not None:
            STATE.store_open_value(self.context.context, result)
        return is_evaluated

    def _attempt(self, *, is_required: bool = False) -> tuple[_Result, SubstraitDslError | None]:
        """Make the call. Return its result, or its error."""
        evaluation = self._begin(is_required=is_required)
        try:
            receiver = evaluation.find_receiver()
            relation = receiver._relation if isinstance(receiver, GroupBy) else receiver
            if not isinstance(relation, Relation) or self.verb in SET_VERBS:
                return None, None
            result = evaluation.make_call()
        except SignatureError:
            return None, None
        except SubstraitDslError as error:
            return None, error
        except (UnknownValueError, TypeError):
            return None, None
        if isinstance(result, GroupBy):
            return result, None
        return (self._conclude(result, relation), None) if isinstance(result, Relation) else (None, None)

    def _conclude(self, result: Relation[Any], receiver: Relation[Any]) -> Relation[Any]:
        """Return what is known of the result."""
        arguments = self.evaluation.arguments_of_verb
        if self.verb == "with_columns" and isinstance(arguments, OpenArguments) and arguments.has_unknown_names:
            return open_relations.with_other_types(result)
        possible = {name for _, relation in self.evaluator.opened.values() for name in _possible_columns(relation)}
        possible -= {name for name in self.context.arg_names for name in name if name}  # type: ignore[assignment]
        if self.verb == "select" and self._chooses_names():
            return open_relations.choose_some(result, receiver)
        if keeps_columns(self.verb):
            result = open_relations.without_columns(result, self._names)
        return open_relations.forget_plan(result, possible)

    def _derive_without_arguments(self) -> Relation[Any] | None:
        """Return what is known of the result whatever the arguments are."""
        try:
            receiver = self.evaluation.find_receiver()
        except (UnknownValueError, SubstraitDslError):
            return None
        if not isinstance(receiver, Relation):
            return None
        if keeps_columns(self.verb):
            return open_relations.without_columns(receiver, self._names)
        if self.verb in SET_VERBS:
            is_by_position = "by_name" not in [name for names in self.context.arg_names for name in names]
            return open_relations.combine_with_others(receiver, self.verb) if is_by_position else None
        return open_relations.take_some(receiver) if self.verb in _CHOOSING and self._chooses_names() else None

    def _chooses_names(self) -> bool:
        """Whether the unknown arguments are names or positions of columns."""
        unknown = [
            (node, kind, type_)
            for node, kind, _, type_ in self.evaluation.arguments
            if self.evaluator.try_evaluate(node) is None
        ]
        return bool(unknown) and all(self._is_name(node, kind == ARG_STAR, type_) for node, kind, type_ in unknown)

    def _is_name(self, node: Expression, is_star: bool, type_: Type) -> bool:
        checker = self.evaluation.annotations.checker
        type_ = self.evaluator.type_of_node(node) or type_
        proper = get_proper_type(find_item_type(checker, type_, node) if is_star else type_)
        if isinstance(proper, Instance) and proper.type.fullname in ("builtins.list", "builtins.tuple"):
            proper = get_proper_type(proper.args[0]) if proper.args else proper
        items = [get_proper_type(item) for item in proper.items] if isinstance(proper, UnionType) else [proper]
        return all(
            isinstance(item, Instance) and item.type.fullname in ("builtins.str", "builtins.int") for item in items
        )

    # --- errors

    def _learn_from(self, error: SubstraitDslError) -> bool:
        """Find out what the other columns must have, or which argument says nothing. Return whether there is more."""
        if isinstance(error, UnknownFieldError) and open_relations.find_others(error) and isinstance(error.name, str):
            if error.name not in self._names and self.evaluator.opened:
                self._names.append(error.name)
                return True
        elif not names_unknown(error):
            return False
        return self._replace_argument(error)

    def _replace_argument(self, error: SubstraitDslError) -> bool:
        """Leave out the argument that the error is about. Return whether there is one."""
        for node in self.evaluation.nodes:
            if node not in self._replaced:
                self._replaced.append(node)
                result, other = self._attempt()
                if result is not None or (other is not None and not are_same(other, error)):
                    return True
                self._replaced.remove(node)
        self._begin()
        return False

    def _is_certain(self, error: SubstraitDslError) -> bool:
        """Whether there is an error whatever the other columns are."""
        is_open = any(open_relations.is_open(relation._rel.schema) for _, relation in self.evaluator.opened.values())
        if not is_open and not self._replaced:
            return True
        if self.verb in _UNCERTAIN_VERBS or any(map(_names_position, self.evaluation.nodes)):
            return False
        if isinstance(error, UnknownFieldError):
            return not open_relations.find_others(error) and isinstance(error.name, str)
        return isinstance(error, _CERTAIN)

    def _report(self, error: SubstraitDslError) -> bool:
        location: Context = self.evaluator.refused_node or self.evaluation.locate_error(error)
        node = self.context.context
        within = [self.evaluator.refused_node] if self.evaluator.refused_node else self.evaluation.nodes
        is_reported = report(error, self.context.api, location, within, (node, self.verb))
        if is_reported and is_reporting(self.context.api) and not is_in_lambda(self.context.api):
            STATE.mark_reported(node)
        return is_reported


def _possible_columns(relation: Relation[Any]) -> Iterable[str]:
    struct = relation._rel.schema
    return struct.possible if isinstance(struct, open_relations.OpenStruct) else ()


def _is_declared(annotations: Annotations, relation: Instance) -> bool:
    return bool(relation.args) and annotations.to_schema(relation.args[0]) is not None


def _find_bound_columns(annotations: Annotations, relation: Instance) -> NamedStruct:
    """Return the columns that a type variable is bound to have."""
    bound = find_bound(relation)
    return (None if bound is None else annotations.to_schema(bound)) or NamedStruct(())


def _names_position(node: Expression) -> bool:
    """Whether an argument names a column by its position, which others may change."""
    return any(_is_position(part) for part in subexpressions(node))


def _is_position(node: Context) -> bool:
    match node:
        case IndexExpr(index=IntExpr()) | CallExpr(args=[IntExpr()]):
            return True
    return False


def find_known(annotations: Annotations, type_: Type, node: Expression) -> Relation[Any] | None:
    """Return what is known of a relation of which mypy does not know all columns; None if it is none."""
    try:
        relation = OpenArgumentEvaluator(annotations, ()).evaluate_receiver(type_, node)
    except (UnknownValueError, SubstraitDslError):
        return None
    return relation if isinstance(relation, Relation) else None
