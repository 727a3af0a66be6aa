"""Limit what the plugin computes for one call: steps and sizes are counted before anything is computed, not time.

A checker reads any program, and half-written ones, too. A value that takes long to compute or is large is unknown, and
mypy's own answer stands.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import types
import typing
import uuid
from collections.abc import Iterable
from typing import Any

from mypy.nodes import Expression

from substrait_dsl.algebra import types as t
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.fluent.namespace import CatalogFunction
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.schemas import Schema

MAX_LENGTH = 10_000
"""The greatest length of a text, a list or a dict that is computed."""

MAX_BITS = 10_000
"""The most bits of a number that is computed, and the greatest exponent of a decimal. No literal has so many."""

MAX_DISPLAY_SIZE = 200_000
"""The most values in a list, tuple or dict display of the program, with those inside of its values."""

MAX_COLUMNS = 10_000
"""The most columns of a relation."""

MAX_ARGUMENTS = 1_000
"""The most arguments of a function. To find the cast that an error suggests takes time in their square."""

MAX_STEPS = 50_000
"""The most operators, methods and functions that are evaluated for the arguments of one call."""

STEPS_PER_CALL = 10
"""The steps of a call of a lambda or of the library; each column of its relation is one more."""

MAX_LAMBDA_DEPTH = 60
"""The greatest depth of nested calls of lambdas."""

VALUES_PER_STEP = 10
"""How many values a function of Python processes in one step."""

_CHARACTERS_PER_VALUE = 64
"""How many characters count as one value."""

SCALARS = (
    *(bool, int, float, str, bytes, types.NoneType, slice),
    *(dt.date, dt.datetime, dt.time, dt.timedelta, dt.timezone, decimal.Decimal, uuid.UUID),
)
CONTAINERS: tuple[type[Any], ...] = (list, tuple, dict, *map(type, ({}.keys(), {}.values(), {}.items())))
_ANNOTATION_CLASSES = (types.GenericAlias, types.UnionType, type(typing.Literal), type(typing.List[int]))  # noqa: UP006
_FUNCTIONS = (types.FunctionType, types.MethodType)


class UnknownValueError(Exception):
    """The value of an argument is not known from the program.

    Args:
        node: the expression that is unknown, though nothing is wrong with it; None if its error has been reported.
    """

    def __init__(self, node: Expression | None = None) -> None:
        super().__init__()
        self.node = node


class NotEvaluatedError(UnknownValueError):
    """The plugin does not evaluate an expression: it is not in the tables of `allowed`, or too large."""


class Budget:
    """The steps that one call has used, and the sizes of its values."""

    def __init__(self) -> None:
        self._steps = 0
        self._calls = 0
        self._sizes: dict[int, tuple[object, int]] = {}
        """The sizes of containers and types by their `id`, with each object, so that no other one gets its `id`."""

    def reset(self) -> None:
        """Begin anew: the arguments are evaluated with other samples."""
        self._steps = 0

    def spend(self, count: int = 1) -> None:
        """Count steps. Raise `NotEvaluatedError` if there are too many."""
        self._steps += count
        if self._steps > MAX_STEPS:
            raise NotEvaluatedError

    def enter_lambda(self) -> None:
        """Count the call of a lambda. Raise `NotEvaluatedError` if too many calls are nested."""
        if self._calls >= MAX_LAMBDA_DEPTH:
            raise NotEvaluatedError
        self.spend(STEPS_PER_CALL)
        self._calls += 1

    def leave_lambda(self) -> None:
        """Count the return of a lambda."""
        self._calls -= 1

    def spend_call(self, owner: object) -> None:
        """Count a call of a function or method of the library. Raise `NotEvaluatedError` if there are too many."""
        self.spend(STEPS_PER_CALL + _count_columns(owner))

    def require_small(self, value: Any, limit: int = MAX_LENGTH) -> Any:
        """Return a value. Raise `NotEvaluatedError` if it is too large, or of a class that is not known.

        Args:
            value: the value.
            limit: how many values may be in it, if it is a list, tuple or dict.
        """
        if isinstance(value, str | bytes):
            require_length(len(value))
        if self._count_values(value) > limit or _count_columns(value) > MAX_COLUMNS:
            raise NotEvaluatedError
        return value

    def require_all_small(self, values: Iterable[Any]) -> None:
        """Count the steps of a function of Python by the sizes of its arguments. Raise as `require_small` does."""
        self.spend(sum(self._count_values(self.require_small(value)) for value in values) // VALUES_PER_STEP)

    def _count_values(self, value: Any) -> int:
        """Return how many values are in a value, with itself. Raise `NotEvaluatedError` for one of an unknown class."""
        if isinstance(value, t.Type):
            return self._count_types(value)
        if isinstance(value, ExprBase) and value._node is not None:
            self._count_types(value._node.type)
        if not isinstance(value, CONTAINERS):
            return _count_single_value(value)
        cached = self._sizes.get(id(value))
        if cached is None:
            size = 1
            for part in (*value.keys(), *value.values()) if isinstance(value, dict) else value:
                size += self._count_values(part)
                if size > MAX_DISPLAY_SIZE:
                    break
            self._sizes[id(value)] = (value, size)
            return size
        return cached[1]

    def _count_types(self, type_: t.Type) -> int:
        """Return how many types are in a type, with itself and with repetitions, as its text has them."""
        cached = self._sizes.get(id(type_))
        if cached is not None:
            return cached[1]
        match type_:
            case t.Struct(types=inner):
                parts: tuple[t.Type, ...] = tuple(inner)
            case t.List(element=element):
                parts = (element,)
            case t.Map(key=key, value=value):
                parts = (key, value)
            case _:
                return 1
        size = 1 + sum(map(self._count_types, parts))
        require_length(size)
        self._sizes[id(type_)] = (type_, size)
        return size


def require_length(length: int) -> None:
    """Raise `NotEvaluatedError` if a text, list or type would be too long."""
    if length > MAX_LENGTH:
        raise NotEvaluatedError


def require_arguments(function: object, count: int) -> None:
    """Raise `NotEvaluatedError` if a function of the catalog is given too many arguments."""
    if isinstance(function, CatalogFunction) and count > MAX_ARGUMENTS:
        raise NotEvaluatedError


def is_scalar(value: object) -> bool:
    """Whether a value is one of Python's own without parts, or a member of an enum."""
    return type(value) in SCALARS or isinstance(value, enum.Enum)


def _count_single_value(value: object) -> int:
    match value:
        case str() | bytes():
            return 1 + len(value) // _CHARACTERS_PER_VALUE
        case int() if value.bit_length() > MAX_BITS:
            raise NotEvaluatedError
        case decimal.Decimal() if value.is_finite():
            _, digits, exponent = value.as_tuple()
            if len(digits) + abs(int(exponent)) > MAX_BITS:
                raise NotEvaluatedError
    if is_scalar(value) or isinstance(value, (*_ANNOTATION_CLASSES, *_FUNCTIONS, type)) or is_of_library(value):
        return 1
    raise NotEvaluatedError


def is_of_library(value: object) -> bool:
    """Whether a value is an object of this library."""
    return type(value).__module__.partition(".")[0] == "substrait_dsl" or isinstance(value, Schema)


def _count_columns(value: object) -> int:
    """Return the number of columns of a relation; 0 for anything else."""
    match value:
        case Relation():
            return len(value._rel.schema)
        case GroupBy():
            return len(value._relation._rel.schema)
    return 0
