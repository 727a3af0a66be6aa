"""Spark's plans of DataFrames, as text."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, Literal, TextIO, get_args

from substrait_dsl.errors import require_choice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ExplainMode = Literal["simple", "extended", "codegen", "cost", "formatted"]
"""The modes of Spark's explain: the physical plan; also the logical plans; the generated code; logical plans with
statistics; or an outline of the physical plan with details below."""


def require_mode(mode: object) -> None:
    """Raise `InvalidChoiceError` for anything but a mode of Spark's explain."""
    require_choice("mode", mode, get_args(ExplainMode), "explain-mode")


def spark_plan(frame: DataFrame, mode: ExplainMode) -> str:
    """Return Spark's plan of a DataFrame, as ``DataFrame.explain`` prints it. Nothing runs."""
    return _capture_output(lambda: frame.explain(mode=mode)).strip()


_ONE_AT_A_TIME = threading.Lock()


def _capture_output(call: Callable[[], None]) -> str:
    """Return what a function prints.

    Spark prints a plan to the standard output only. The alternative, an EXPLAIN over a temporary view, would make Spark
    uncache what a user has cached of the same plan, when the view is dropped.
    """
    with _ONE_AT_A_TIME:
        output = _OfThisThread(sys.stdout)
        with redirect_stdout(output):
            call()
    return output.text.getvalue()


class _OfThisThread:
    """A standard output that captures what this thread writes, and passes on the output of others."""

    def __init__(self, others: TextIO) -> None:
        self.text = io.StringIO()
        self._others = others
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        return (self.text if threading.get_ident() == self._thread else self._others).write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._others, name)
