"""Tracebacks of the library's errors: they end at the line of the program, not in the frames of the library.

The environment variable `SUBSTRAIT_DSL_FULL_TRACEBACK` shows all frames, to people who look for a fault of the library
itself.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from substrait_dsl.errors import SubstraitDslError

P = ParamSpec("P")
R = TypeVar("R")

FULL_TRACEBACK = "SUBSTRAIT_DSL_FULL_TRACEBACK"
"""The environment variable, set to anything, with which tracebacks keep the frames of the library."""

_PACKAGE = __name__.partition(".")[0]
_BETWEEN = frozenset({"contextlib", "functools"})
"""Modules of Python whose frames stand between those of the library."""

_ENGINES = frozenset({"datafusion", "duckdb", "grpc", "py4j", "pyarrow", "pyspark"})
"""Packages whose frames say nothing to who wrote a pipeline: their errors are causes of the library's."""


def end_tracebacks_at_caller(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with tracebacks of the library's errors that end at the line that called it."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except SubstraitDslError as error:
            hide_library_frames(error)
            raise

    return call


def hide_library_frames(error: BaseException) -> None:
    """Remove the frames of the library from the traceback of an error; those of the program's functions stay.

    From the tracebacks of its causes those of engines go, too: what is left are functions that an engine called.

    A bare ``raise`` after it adds no frame, so that a verb leaves nothing of the library in a traceback.
    """
    if os.environ.get(FULL_TRACEBACK):
        return
    error.__traceback__ = _without_frames(error.__traceback__, frozenset({_PACKAGE}))
    for cause in _causes(error):
        cause.__traceback__ = _without_frames(cause.__traceback__, _ENGINES | {_PACKAGE})


def _causes(error: BaseException) -> list[BaseException]:
    """Return the errors that Python shows before an error."""
    found = [error]
    for each in found:
        before = each.__cause__ if each.__suppress_context__ else each.__context__
        if before is not None and all(before is not other for other in found):
            found.append(before)
    return found[1:]


def _without_frames(traceback: TracebackType | None, packages: frozenset[str]) -> TracebackType | None:
    """Return a traceback without the frames of some packages."""
    shown = []
    entry = traceback
    while entry is not None:
        if not _is_of(packages, entry):
            shown.append(entry)
        entry = entry.tb_next
    following: TracebackType | None = None
    for entry in reversed(shown):
        entry.tb_next = following
        following = entry
    return following


def _is_of(packages: frozenset[str], entry: TracebackType) -> bool:
    name = str(entry.tb_frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] in packages or name in _BETWEEN
