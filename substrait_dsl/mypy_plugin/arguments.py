"""Evaluate the arguments of a call. Unknown arguments that do not matter for the schema get neutral values."""

from __future__ import annotations

from collections.abc import Iterable
from functools import wraps
from types import FunctionType
from typing import Any

from mypy.nodes import ARG_NAMED, ARG_POS, ARG_STAR, ArgKind, ComparisonExpr, Expression
from mypy.types import Type

from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN
from substrait_dsl.mypy_plugin.argument_evaluator import ArgumentEvaluator
from substrait_dsl.mypy_plugin.budget import UnknownValueError
from substrait_dsl.mypy_plugin.verbs import COLUMN_VERBS, MEASURE_VERBS, SET_VERBS, is_parameter, neutral_arguments

Argument = tuple[Expression, ArgKind, str | None, Type]
"""An argument: its expression, kind, name (that of the parameter, if it is positional), and type."""


class Arguments:
    """Evaluates the arguments of a verb or function."""

    def __init__(self, verb: str, evaluator: ArgumentEvaluator) -> None:
        self.neutral = neutral_arguments(verb)
        self._verb = verb
        self._evaluator = evaluator

    def evaluate(self, arguments: Iterable[Argument]) -> tuple[list[Any], dict[str, Any]]:
        """Return the values of some arguments, by position and by name."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for node, kind, name, typed in arguments:
            if kind == ARG_NAMED and name is not None:
                try:
                    named[name] = self._replace_result(name, self._evaluate_one(node, typed))
                except UnknownValueError as error:
                    named[name] = self._replace_unknown(name, error)
            elif kind == ARG_POS:
                try:
                    positional.append(self._keep_unknown_names(self._evaluate_one(node, typed)))
                except UnknownValueError:
                    if name is None or name not in self.neutral:
                        raise
                    self._evaluator.needs_declared_check = True
                    positional.append(self._neutral_value(name))
            elif kind == ARG_STAR:
                positional.extend(self._evaluate_star(node))
            else:
                named.update(self._evaluator.evaluate_double_star(node))
        return positional, named

    def _evaluate_one(self, node: Expression, type_: Type) -> Any:
        """Return the value of an argument. Of a comparison that Python computes mypy says whether it is a condition."""
        value = self._evaluator.evaluate(node, type_)
        self._evaluator.needs_declared_check |= isinstance(value, bool) and isinstance(node, ComparisonExpr)
        return value

    def _evaluate_star(self, node: Expression) -> Iterable[Any]:
        """Return the values of ``*node``."""
        try:
            return self._evaluator.evaluate_star(node)
        except UnknownValueError:
            if self._verb not in SET_VERBS:
                raise
            return self._evaluator.sample_relations(node)

    def _replace_unknown(self, name: str, error: UnknownValueError) -> Any:
        """Return a placeholder for an unknown argument. Raise the error if the schema depends on the argument."""
        self._evaluator.needs_declared_check = True  # only mypy can report an error in it
        if name in self.neutral:
            return self._neutral_value(name)
        if self._verb in (*COLUMN_VERBS, *MEASURE_VERBS) and is_parameter(self._verb, name):
            raise error
        if self._verb in COLUMN_VERBS:
            return placeholders.make_expression(UNKNOWN)
        if self._verb in MEASURE_VERBS:
            return placeholders.make_measure(UNKNOWN)
        raise error

    def _keep_unknown_names(self, value: Any) -> Any:
        """Return an argument. A function of names is not called with one that is unknown, which stays unknown."""
        if not isinstance(value, FunctionType) or self._verb != "rename":
            return value
        return lambda name: name if placeholders.is_nameless([name]) else value(name)

    def _neutral_value(self, name: str) -> Any:
        self._evaluator.has_neutral_argument = True
        return self.neutral[name]

    def _replace_result(self, name: str, value: Any) -> Any:
        """Return an argument. If it is a function whose result is not known, only its column becomes unknown."""
        verbs = (*COLUMN_VERBS, *MEASURE_VERBS)
        if not isinstance(value, FunctionType) or self._verb not in verbs or is_parameter(self._verb, name):
            return value

        @wraps(value)
        def called(*rows: Any) -> Any:
            try:
                return value(*rows)
            except UnknownValueError as error:
                return self._replace_unknown(name, error)

        return called
