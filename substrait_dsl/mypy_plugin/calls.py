"""Infer the types of calls of the fluent API, and report what is wrong with them.

The call is made, with placeholders for what mypy does not know (see `call_evaluation`). Here it is decided what follows
from that: the type of the result, an error at some part of the program, or mypy's own answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from mypy.nodes import CallExpr, Context, Expression, LambdaExpr, RefExpr, Var
from mypy.plugin import MethodContext
from mypy.types import Instance, Type, get_proper_type, has_type_vars

from substrait_dsl.errors import SignatureError, SubstraitDslError
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import (
    allowed,
    assignment_checks,
    default_check,
    parameter_defaults,
    placeholders,
    plan_parameters,
    typing_report,
)
from substrait_dsl.mypy_plugin.annotations import is_erroneous, unknown_type
from substrait_dsl.mypy_plugin.argument_evaluator import is_unbound
from substrait_dsl.mypy_plugin.budget import UnknownValueError
from substrait_dsl.mypy_plugin.call_evaluation import CallEvaluation, Trials
from substrait_dsl.mypy_plugin.checker_state import STATE
from substrait_dsl.mypy_plugin.mypy_internals import is_in_lambda, is_reporting
from substrait_dsl.mypy_plugin.names import DYN_EXPR, DYN_ROW, EXPR, RELATION, RESULTS, is_type
from substrait_dsl.mypy_plugin.open_signatures import find_bound
from substrait_dsl.mypy_plugin.python_values import is_about_sample
from substrait_dsl.mypy_plugin.reports import report, report_unknown, withdraw
from substrait_dsl.mypy_plugin.results import (
    have_same_columns,
    infer_result_type,
    is_dynamic_expected,
    is_expression,
)
from substrait_dsl.mypy_plugin.return_context import is_returned
from substrait_dsl.mypy_plugin.syntax import has_untyped_parameters, is_type_expression
from substrait_dsl.mypy_plugin.verbs import OPERATIONS, SET_VERBS, STRUCTURE_VERBS

if TYPE_CHECKING:
    from mypy.plugin import FunctionContext


def infer_method_call(context: MethodContext, name: str) -> Type:
    """Return the type of the result of a method."""
    if default_check.is_being_checked(context.context):
        return context.default_return_type
    call = Call(context, name)
    default = get_proper_type(context.default_return_type)
    if name == "with_roots":
        call = Call(context, name, plan_parameters.WITH_ROOTS)
        return call.infer_type() if call.binds_parameters() else call.default_type()
    if not isinstance(default, Instance) or default.type.fullname not in RESULTS or is_unbound(context.type):
        return call.default_type()
    type_ = call.infer_type()
    call.infer_known_columns(context, type_)
    return typing_report.note_call(call, type_)


def infer_function_call(context: FunctionContext, fullname: str) -> Type:
    """Return the type of the result of a function."""
    if default_check.is_being_checked(context.context):
        return context.default_return_type
    call = Call(context, fullname.rpartition(".")[2], fullname)
    match context.context:
        case CallExpr(callee=RefExpr(node=Var())):
            return call.default_type()  # a variable may hold another function, or a class that inherits from this one
        case CallExpr(callee=RefExpr()) if allowed.is_evaluated(fullname) or call.binds_parameters():
            return typing_report.note_call(call, call.infer_type())
    return typing_report.note_call(call, call.default_type())


class Call:
    """A call in the program: infers its type, or reports what is wrong with it.

    Args:
        context: what mypy says of the call.
        verb: the name of the function or method.
        fullname: the full name of the function; None for a method.
    """

    def __init__(self, context: MethodContext | FunctionContext, verb: str, fullname: str | None = None) -> None:
        self.context = context
        self.verb = verb
        self.evaluation = CallEvaluation(context, verb, fullname)
        self.annotations = self.evaluation.annotations
        self.evaluator = self.evaluation.evaluator
        self._report: Callable[[], bool] = lambda: False
        self.is_conclusive = False
        """Whether the type of the result is known, or an error has been reported; else mypy's own answer stands."""
        self.is_certain = False
        """Whether the type of the result follows from the types of the arguments: no error, and nothing unknown."""
        self.unknown_node: Expression | None = None
        """What the program does not say, so that the call has not been made."""
        STATE.begin_node(context.api, context.context)

    def binds_parameters(self) -> bool:
        """Whether it makes a plan with values of parameters, which are checked."""
        is_bound = any(name == plan_parameters.ARGUMENT for _, _, name, _ in self.evaluation.arguments)
        return is_bound and self.evaluation.fullname in plan_parameters.CHECKS

    def infer_type(self) -> Type:
        """Return the type of the result, and report a call that the library refuses."""
        type_ = self._infer_type()
        if self.is_conclusive or self.evaluation.fullname is not None or not self.evaluation.is_verb():
            return type_
        error = parameter_defaults.find_error(self.evaluation)
        if error is None:
            return type_
        self.evaluator = self.evaluation.evaluator
        return self._refuse(error)

    def _infer_type(self) -> Type:
        """Return the type of the result, and report what is refused whatever a function gets for its parameters."""
        try:
            trials = self.evaluation.evaluate_samples()
        except UnknownValueError as error:
            self.unknown_node = error.node
            found = self._find_error_of_one_argument()
            return self._check_as_declared(error.node) if found is None else found
        except SignatureError:
            return self.default_type()  # mypy reports it
        except SubstraitDslError as error:
            return self._refuse(error)
        except TypeError:
            return self.default_type()
        STATE.clear_reported(self.context.context)
        common_error = self._find_common_error(trials)
        if common_error is not None:
            return self._refuse(common_error)
        if self.evaluator.is_generic:
            return self._check_as_declared(None)  # the type of the result may depend on the type variable
        type_ = self._find_common_type(trials)
        if type_ is None and trials.sampled_node is not None:
            type_ = self._infer_without_samples(trials.sampled_node)
        if not trials.types:
            found = self._find_error_of_one_argument()
            return self._check_unfit_samples(trials, type_) if found is None else found
        if self.evaluator.needs_declared_check and self._is_refused_as_declared():
            self.is_conclusive = True
            return self.default_type()
        return self._conclude_unknown(trials) if type_ is None else self._conclude(type_)

    def _find_error_of_one_argument(self) -> Type | None:
        """Report an argument that is refused whatever those are that are not known; None if there is none."""
        try:
            found = self.evaluation.find_error_of_one_argument()
        except (UnknownValueError, TypeError):  # of the receiver
            return None
        return None if found is None else self._refuse(*found)

    def infer_known_columns(self, context: MethodContext, type_: Type) -> None:
        """Make a call with what is known of relations with columns that mypy does not know, and report its error."""
        is_lost = self.annotations.is_unknown_relation
        if self.is_conclusive or self.evaluator.is_generic or not (is_lost(type_) or is_lost(context.type)):
            return
        if self.evaluation.is_verb() and isinstance(context.context, CallExpr):
            from substrait_dsl.mypy_plugin.open_evaluation import OpenCall

            self.is_conclusive = OpenCall(context, self.verb).infer()

    # --- what the samples say

    def _find_common_error(self, trials: Trials) -> SubstraitDslError | None:
        """Return what is wrong with the call whatever the values are that samples stand for."""
        is_loop = not self.evaluator.has_class_samples and self.evaluator.collected_node is None
        if is_loop and trials.errors:
            return trials.errors[0]  # the loop makes the call with each of its values
        if trials.types:
            return None
        if self.evaluator.collected_node:
            return trials.errors[-1]
        error = self.evaluation.find_independent_error(trials.errors)
        if error is not None:
            return error
        is_shown = isinstance(self.context.context, OPERATIONS) or self.binds_parameters()
        is_shown = is_shown or any(map(has_untyped_parameters, self.evaluation.nodes))
        if is_shown or all(map(is_about_sample, trials.errors)):
            return self.evaluator.find_type_error(trials.errors)
        return None

    def _find_common_type(self, trials: Trials) -> Type | None:
        """Return the type of the result if it is the same for each sample that the call takes."""
        if not trials.types or (trials.errors and not self.evaluator.may_fit(trials.errors)):
            return None
        if not have_same_columns(trials.results):
            return None
        if self._is_reusable(trials.results[-1]):
            self._store(trials.results[-1])
        return trials.find_common_type()

    def _store(self, result: object) -> None:
        """Store the result of the call for those that use it."""
        STATE.store_value(self.context.context, result)
        if self.evaluator.has_neutral_argument and isinstance(result, Relation):
            STATE.mark_incomplete(result._rel)

    def _is_reusable(self, result: object) -> bool:
        """Whether the result of the call says more than its type."""
        if isinstance(result, Relation | GroupBy):
            return True
        has_lambda = any(isinstance(node, LambdaExpr) for node in self.evaluation.nodes)
        return not (self.evaluator.sampled_node or self.evaluator.has_opaque_expression or has_lambda)

    def _infer_without_samples(self, sampled_node: Expression) -> Type | None:
        """Return the type of a relation of which the columns are unknown that depend on values."""
        result = self.evaluation.evaluate_without_samples()
        if result is None:
            return None
        self._store(result)
        type_ = infer_result_type(self.annotations, result, self.verb, self.context.default_return_type)
        if type_ is not None:
            report_unknown(self.verb, sampled_node, "types of all columns", self.context.api)
        return type_

    # --- answers

    def _conclude(self, type_: Type) -> Type:
        """Return the type of the result, or the declared type if the result is assigned to another type."""
        self._withdraw_type_errors()
        self.is_conclusive = self.is_certain = not is_dynamic_expected(self.context)
        if self.annotations.is_unknown_relation(getattr(self.context, "type", None)):
            return self.default_type()  # what a function returns is declared: its columns are known in a chain only
        declared = assignment_checks.check_assignment(self.context, self.annotations, type_)
        if declared is not None:
            return declared
        return type_ if self.is_conclusive else self.default_type()

    def _conclude_unknown(self, trials: Trials) -> Type:
        """Return the best type for a result of which the call does not say the type."""
        if not trials.sampled_node:
            error = placeholders.find_error(trials.results[-1])
            if error is not None and is_returned(self.context.context, self.annotations.checker):
                return self._refuse(error)
        expected = self._find_expected_type()
        if is_expression(expected) and not is_unbound(expected):
            declared = default_check.check_as_declared(self.context, self.is_expression, is_reported=False)
            return self.unknown_result(trials.sampled_node) if declared is None else self._open_nullability(declared)
        first = self.evaluation.nodes[0] if self.evaluation.nodes else None
        return self.unknown_result(trials.sampled_node or first)

    def _check_unfit_samples(self, trials: Trials, type_: Type | None) -> Type:
        """Return the answer for a call that takes none of the samples: the value may be another one."""
        declared = self._check_as_declared(trials.sampled_node if type_ is None else None)
        return declared if type_ is None or self.is_conclusive else type_

    def _check_as_declared(self, node: Context | None) -> Type:
        """Let mypy check the call as the library declares it. As `unknown_result` if it finds no error."""
        declared = default_check.check_as_declared(self.context, self.is_expression)
        self.is_conclusive = declared is None
        if declared is None:
            return self.default_type()
        return self._open_nullability(declared) if is_expression(declared) else self.unknown_result(node)

    def _is_refused_as_declared(self) -> bool:
        """Whether mypy finds an error in the call as the library declares it."""
        return default_check.check_as_declared(self.context, self.is_expression) is None

    def _open_nullability(self, declared: Type) -> Type:
        """Return the type of an expression, nullable or not if an argument is a type that the program computes."""
        proper = get_proper_type(declared)
        types = [get_proper_type(type_) for *_, type_ in self.evaluation.arguments]
        if not any(isinstance(type_, Instance) and is_type(type_.type.fullname) for type_ in types):
            return declared
        if not isinstance(proper, Instance) or not proper.args:
            return declared  # a `DynExpr` says nothing of its type
        return proper.copy_modified(args=[proper.args[0], unknown_type()])

    def _find_expected_type(self) -> Type | None:
        """Return the type that the program declares where the call stands."""
        return self.context.api.type_context[-1] if self.context.api.type_context else None

    def _withdraw_type_errors(self) -> None:
        """Withdraw errors of mypy about arguments that are types: the call has been made with them."""
        nodes = [node for node in self.evaluation.nodes if is_type_expression(node)]
        if nodes and is_reporting(self.context.api):
            withdraw(self.context.api, nodes, None)

    def is_expression(self, node: Expression) -> bool:
        """Whether a part of an argument is an expression of the library, whatever type mypy has found for it."""
        return isinstance(self.evaluator.try_evaluate(node), ExprBase)

    # --- errors

    def _refuse(self, error: SubstraitDslError, argument: Expression | None = None) -> Type:
        """Report an error of the library at an argument, or at the part of the program that it is about."""
        if self.evaluator.has_opaque_expression and self.verb in STRUCTURE_VERBS:
            return self.unknown_result(None)
        node, refused = self.context.context, self.evaluator.refused_node
        is_operation = isinstance(node, OPERATIONS)
        if refused and is_operation:
            return self.default_type()  # an operand is wrong, not the operator
        location = refused or self.evaluation.locate_error(error, argument)
        at_fault = refused or argument or (node if is_operation else None)
        within = self.evaluation.nodes if at_fault is None else [at_fault]  # what mypy says of other arguments stands
        self._report = partial(report, error, self.context.api, location, within, (node, self.verb))
        self.is_conclusive = self.report_error()
        return self._find_type_after_error() if self.is_conclusive else self._check_as_declared(location)

    def _find_type_after_error(self) -> Type:
        """Return a type about which mypy reports nothing more."""
        default = get_proper_type(self.context.default_return_type)
        if not isinstance(default, Instance):
            return default
        if default.type.fullname == RELATION:
            expected = assignment_checks.expected_relation(self.context)
            is_known = expected is not None and self.annotations.to_schema(expected.args[0]) is not None
            return expected if expected is not None and is_known else default
        return self.annotations.make_instance(DYN_EXPR) if default.type.fullname == EXPR else default

    def report_error(self) -> bool:
        """Report the error of the call, if it has one. Return whether it has been reported."""
        is_reported = self._report()
        if is_reported and is_reporting(self.context.api) and not is_in_lambda(self.context.api):
            STATE.mark_reported(self.context.context)
        return is_reported

    # --- mypy's own answers

    def default_type(self) -> Type:
        """Return the type that mypy finds by itself; of a set operation a relation of unknown columns.

        Its columns are nullable if those of another input are, of which the annotations say nothing.
        """
        default = get_proper_type(self.context.default_return_type)
        if self.verb in SET_VERBS and isinstance(default, Instance) and self._has_other_inputs(default):
            return self.annotations.make_instance(RELATION, [self.annotations.make_instance(DYN_ROW)])
        return self.context.default_return_type

    def _has_other_inputs(self, relation: Instance) -> bool:
        """Whether a relation has columns that are known, and required, which those of another input may not be."""
        bound = find_bound(relation)
        if bound is not None and all(type_ == relation for *_, type_ in self.evaluation.arguments):
            return False
        schemas = map(self.annotations.to_schema, relation.args if bound is None else [bound])
        return any(not field.type.nullable for schema in schemas if schema is not None for field in schema)

    def unknown_result(self, node: Context | None) -> Type:
        """Return `default_type`. If ``substrait-dynamic`` is enabled, report where the columns become unknown."""
        result, receiver = self.default_type(), getattr(self.context, "type", None)
        is_lost = self.annotations.is_unknown_relation
        if node is not None and is_lost(result) and not is_lost(receiver) and not has_type_vars(result):
            type_ = self.evaluator.type_of_node(node) if isinstance(node, Expression) else None
            if not is_erroneous(type_):
                report_unknown(self.verb, node, "columns", self.context.api, is_relation=is_lost(type_))
        return result
