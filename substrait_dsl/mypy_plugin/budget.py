"""How much the plugin computes for one call of a program: sizes that are known before anything is computed, no clocks.

A checker reads what anybody has written, and half-written programs too. So what it would take long to compute, or what
would be large, is not known: mypy's own answer stands.
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
"""The length of the longest text that is computed, and of the longest list or dict."""

MAX_BITS = 10_000
"""How many bits a number has at most that is computed, and the exponent of a decimal; no literal holds so many."""

MAX_DISPLAY_SIZE = 200_000
"""How many values a list, tuple or dict has at most that the program writes out, with those inside of its values."""

MAX_COLUMNS = 10_000
"""How many columns a relation has at most."""

MAX_ARGUMENTS = 1_000
"""How many arguments a function has at most: to say which cast would help takes as long as their square."""

MAX_STEPS = 50_000
"""How many operators, methods and functions are evaluated at most to find out what the arguments of one call are."""

STEPS_PER_CALL = 10
"""As how many steps a call counts, of a lambda or of the library; each column of its relation is one more."""

MAX_LAMBDA_DEPTH = 60
"""How deep calls of lambdas stand in each other at most."""

VALUES_PER_STEP = 10
"""How many values a function of Python goes through in one step."""

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
    """What an argument is cannot be told from the program.

    Args:
        node: what cannot be told, though nothing is wrong with it; None if what is wrong has been said.
    """

    def __init__(self, node: Expression | None = None) -> None:
        super().__init__()
        self.node = node


class NotEvaluatedError(UnknownValueError):
    """The plugin does not compute this: it is not allowed to, or it is too large. What it is, is not known then."""


class Budget:
    """What is left of the steps for one call, and how large its values are."""

    def __init__(self) -> None:
        self._steps = 0
        self._calls = 0
        self._sizes: dict[int, tuple[object, int]] = {}
        """How many values containers have, by their numbers; each is kept, lest another gets its number."""

    def reset(self) -> None:
        """The arguments are evaluated once more, with other samples."""
        self._steps = 0

    def spend(self, count: int = 1) -> None:
        """Something is evaluated. Raises `NotEvaluatedError` if that is too much."""
        self._steps += count
        if self._steps > MAX_STEPS:
            raise NotEvaluatedError

    def enter_lambda(self) -> None:
        """A lambda is called. Raises `NotEvaluatedError` if too many are being called."""
        if self._calls >= MAX_LAMBDA_DEPTH:
            raise NotEvaluatedError
        self.spend(STEPS_PER_CALL)
        self._calls += 1

    def leave_lambda(self) -> None:
        """The lambda has returned."""
        self._calls -= 1

    def spend_call(self, owner: object) -> None:
        """A function or method of the library is called."""
        self.spend(STEPS_PER_CALL + _count_columns(owner))

    def require_small(self, value: Any, limit: int = MAX_LENGTH) -> Any:
        """A value that has been evaluated. Raises `NotEvaluatedError` if it is too large, or of no class that is known.

        Args:
            value: the value.
            limit: how many values it may have in it, if it is a list, tuple or dict.

        Returns:
            the value itself.
        """
        if isinstance(value, str | bytes):
            require_length(len(value))
        if self._count_values(value) > limit or _count_columns(value) > MAX_COLUMNS:
            raise NotEvaluatedError
        return value

    def require_all_small(self, values: Iterable[Any]) -> None:
        """As `require_small`, for what Python is to compute with: the more there is, the more steps it takes."""
        self.spend(sum(self._count_values(self.require_small(value)) for value in values) // VALUES_PER_STEP)

    def _count_values(self, value: Any) -> int:
        """How many values a value is, itself included. Raises `NotEvaluatedError` for one of no class that is known."""
        if isinstance(value, t.Type):
            return self._count_types(value)
        if isinstance(value, ExprBase) and value._node is not None:
            self._count_types(value._node.type)
        if not isinstance(value, CONTAINERS):
            return _count_single_value(value)
        known = self._sizes.get(id(value))
        if known is None:
            size = 1
            for part in (*value.keys(), *value.values()) if isinstance(value, dict) else value:
                size += self._count_values(part)
                if size > MAX_DISPLAY_SIZE:
                    break
            self._sizes[id(value)] = (value, size)
            return size
        return known[1]

    def _count_types(self, type_: t.Type) -> int:
        """How many types a type is, with those inside of it as often as they stand there: it is written out so."""
        known = self._sizes.get(id(type_))
        if known is not None:
            return known[1]
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
    """Whether a value is one of Python's own, without parts, or a constant of an enumeration."""
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
    """How many columns a relation has; 0 for anything else."""
    match value:
        case Relation():
            return len(value._rel.schema)
        case GroupBy():
            return len(value._relation._rel.schema)
    return 0
