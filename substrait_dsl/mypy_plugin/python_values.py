"""Samples of the values of Python that a program computes, and the errors that say something about their types."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import (
    FunctionNotFoundError,
    InvalidArgumentError,
    LiteralError,
    SubstraitDslError,
    TypeMismatchError,
)
from substrait_dsl.mypy_plugin.placeholders import NAMELESS

MODULES = ("datetime", "decimal", "uuid")
"""Modules of Python with classes whose values become literals."""

SAMPLES: Mapping[str, Sequence[Any]] = {
    "builtins.int": (0, 1, 10**37),  # as positions of columns, and as decimals, they are different things
    "builtins.float": (1.0,),
    "builtins.bool": (False, True),
    "builtins.str": (NAMELESS,),
    "builtins.bytes": (b"",),
    "datetime.date": (dt.date(2000, 1, 1),),
    "datetime.time": (dt.time(),),
    "datetime.timedelta": (dt.timedelta(1),),
    "datetime.datetime": (dt.datetime(2000, 1, 1), dt.datetime(2000, 1, 1, tzinfo=dt.UTC)),
    "decimal.Decimal": (decimal.Decimal(1), decimal.Decimal("1E-37"), decimal.Decimal(10**37)),
    "uuid.UUID": (uuid.UUID(int=0),),
}
"""Sample values of classes of Python; several where the type of the literal, or the column, depends on the value."""

OTHERS: Mapping[str, Any] = {
    "builtins.int": 2,
    "builtins.float": 2.5,
    "builtins.str": "\N{BLACK SQUARE}",
    "builtins.bytes": b"\x01",
    "datetime.date": dt.date(2000, 2, 2),
    "datetime.time": dt.time(2, 2),
    "datetime.timedelta": dt.timedelta(2),
    "datetime.datetime": dt.datetime(2000, 2, 2),
    "decimal.Decimal": decimal.Decimal(2),
    "uuid.UUID": uuid.UUID(int=2),
}
"""A value of each class that no sample is. An error that quotes a sample is another one with it."""

AMBIGUOUS = ("builtins.int", "datetime.datetime", "decimal.Decimal")
"""Classes of Python whose values become literals of several types: one refused sample says nothing about the type."""

QUOTED_IN_HINTS = ("builtins.int", "builtins.float", "decimal.Decimal")
"""Classes of Python whose values, or types that depend on them, stand in hints about a call: not those of samples."""

VALUE_ERRORS = (FunctionNotFoundError, InvalidArgumentError, LiteralError, TypeMismatchError)
"""Errors about a value. Others, such as that of a position that does not exist, may be absent for another value."""


def is_python_value(value: object) -> bool:
    """Whether a value is one of Python's own, or a type: a result that depends on it may be anything."""
    return isinstance(value, t.Type) or type(value).__module__.partition(".")[0] != "substrait_dsl"


def is_python_class(fullname: str) -> bool:
    """Whether a class is one of Python's own, or of `MODULES`."""
    return fullname.rpartition(".")[0] in ("builtins", *MODULES)


def find_type_error(fullname: str, refusals: Sequence[SubstraitDslError]) -> SubstraitDslError | None:
    """Return what is wrong with a class of Python by the errors of all its samples; None if another value may do."""
    if fullname not in SAMPLES or not all(_is_about_class(fullname, error) for error in refusals):
        return None
    error, value = refusals[-1], _refused_value(refusals[-1])
    if value is not None and value.value not in _represent(fullname):  # several values are computed
        fullname = next((each for each in SAMPLES if value.value in _represent(each)), fullname)
    name, samples = fullname.rpartition(".")[2], _represent(fullname)
    if value is not None and value.value in samples:
        value.value, value.shown = name, "..."
    if isinstance(error, FunctionNotFoundError):
        error.arguments = tuple(name if each in samples else each for each in error.arguments)
        if value is None and fullname in QUOTED_IN_HINTS:
            error.hint = None
    return error


def _represent(fullname: str) -> list[str]:
    return [repr(sample) for sample in SAMPLES[fullname]]


def is_about_sample(error: SubstraitDslError) -> bool:
    """Whether an error is that values of the class of a sample are not taken. Operators report their own."""
    value = _refused_value(error) if isinstance(error, LiteralError) else None
    if value is None or value.takes is None:
        return False
    return any(value.value in _represent(fullname) for fullname in SAMPLES)


def _is_about_class(fullname: str, error: SubstraitDslError) -> bool:
    """Whether an error holds for each value of a class: it is about the class, or no overload takes its literals."""
    refused = _refused_value(error)
    if refused is not None:
        return refused.takes is not None
    return isinstance(error, FunctionNotFoundError) and fullname != "builtins.str"  # other texts may name an option


def _refused_value(error: SubstraitDslError | None) -> LiteralError | None:
    """Return the error about a value of Python's that is the reason of another error; None if there is none."""
    while error is not None:
        if isinstance(error, LiteralError) and error.value is not None:
            return error
        error = error.refused_value if isinstance(error, FunctionNotFoundError) else error.reason
    return None
