"""Errors for calls that do not fit a signature: the library's own, with a hint, instead of Python's.

The verbs, and the functions of the package, are called through a wrapper, which has an effect only for such calls, and
for other errors of the library: their tracebacks end at the line of the program.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import FunctionType
from typing import ParamSpec, TypeVar

from substrait_dsl.errors import SignatureError, SubstraitDslError, shorten
from substrait_dsl.tracebacks import end_tracebacks_at_caller, hide_library_frames

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

_MAKING = ("__new__", "__init__", "__init_subclass__", "__class_getitem__")
_SHOWING = ("__hash__", "__repr__", "__str__", "__dir__")
_COPYING = ("__copy__", "__deepcopy__", "__reduce__", "__getstate__", "__setstate__")
_NO_OPERATORS = frozenset({*_MAKING, *_SHOWING, *_COPYING})
"""Methods that Python calls to make, show or copy an object, of which none raises an error for what a program wrote."""


class Called:
    """A class whose public methods say by an error of the library what is wrong with their arguments."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, member in list(vars(cls).items()):
            if isinstance(member, FunctionType) and not name.startswith("_"):
                setattr(cls, name, guard_signature(member, name, is_method=True))
            elif isinstance(member, FunctionType) and name.startswith("__") and name not in _NO_OPERATORS:
                setattr(cls, name, end_tracebacks_at_caller(member))
            elif isinstance(member, classmethod):
                setattr(cls, name, classmethod(guard_signature(member.__func__, name, is_method=True)))
        _guard_making(cls, cls.__name__)


def public(value: V, name: str, package: str) -> V:
    """Return a public function or class of a package, with `SignatureError` for wrong arguments."""
    if isinstance(value, FunctionType):
        function = guard_signature(value, name)
        function.__module__ = package  # where the function itself is found, which is not in the module it is from
        return function  # type: ignore[return-value]  # a function like the one it calls
    if hasattr(value, "__attrs_attrs__") and isinstance(value, type):  # people call no others, or they are `Called`
        _guard_making(value, name)
    return value


def _guard_making(cls: type, name: str) -> None:
    """Let the class say what is wrong with the arguments that an instance is made from."""
    if isinstance(initialise := vars(cls).get("__init__"), FunctionType):
        setattr(cls, "__init__", guard_signature(initialise, name, is_method=True))  # noqa: B010  # mypy: no assignment


def guard_signature(function: Callable[P, R], name: str, *, is_method: bool = False) -> Callable[P, R]:
    """Return the function, or the method, with an `SignatureError` for arguments that its signature does not take."""
    if hasattr(function, "__wrapped__"):
        return function

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except SubstraitDslError as error:
            hide_library_frames(error)
            raise
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # the function was called: what it says stands
            parameters = list(inspect.signature(function).parameters.values())[is_method:]
            raise _mistake(name, parameters, args[is_method:], kwargs) or error from None

    return call


def _mistake(
    name: str, parameters: Sequence[inspect.Parameter], args: Sequence[object], kwargs: Mapping[str, object]
) -> SignatureError | None:
    """Return the error for the arguments of a call; None if they fit."""
    kinds = {each.kind for each in parameters}
    positional, named = _names(parameters, _BY_POSITION), _names(parameters, _BY_NAME)
    required = [each.name for each in parameters if each.default is each.empty and each.kind not in _MANY]
    by_position = positional[: len(args)]
    surplus = () if inspect.Parameter.VAR_POSITIONAL in kinds else args[len(positional) :]
    error = SignatureError()
    error.verb = error.function = name
    error.signature = _format_parameters(parameters)
    error.unknown = () if inspect.Parameter.VAR_KEYWORD in kinds else _without(kwargs, named)
    error.surplus = shorten(repr(surplus[0]), 80) if surplus else None
    error.repeated = tuple(each for each in by_position if each in kwargs and each in named)
    error.missing = _without(required, [*by_position, *kwargs])
    error.candidates = _without(named, by_position)
    return error if error.unknown or surplus or error.repeated or error.missing else None


def _names(parameters: Sequence[inspect.Parameter], kinds: Sequence[object]) -> list[str]:
    """Return the names of the parameters of some kinds."""
    return [each.name for each in parameters if each.kind in kinds]


def _without(names: Iterable[str], others: Collection[str]) -> tuple[str, ...]:
    """Return the names that are none of the others."""
    return tuple(each for each in names if each not in others)


def _format_parameters(parameters: Sequence[inspect.Parameter]) -> str:
    """Return the parameters by name, those that may be left out with ``=...``."""
    parts: list[str] = []
    for each in parameters:
        if each.annotation == "Never":  # it is there to tell what is misplaced
            continue
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        stars = "*" * (_MANY.index(each.kind) + 1) if each.kind in _MANY else ""
        parts.append(f"{stars}{each.name}{'' if each.default is each.empty else '=...'}")
    return ", ".join(parts)
