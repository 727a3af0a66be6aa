"""Tracebacks of the library's errors end at the lines of the program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl import tracebacks
from substrait_dsl.errors import ExecutionError, UnknownFieldError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = str(Path(tracebacks.__file__).parent)
UNTYPED: Any = sd
ORDERS = sd.read_named("orders", {"key": "i64", "price": "decimal<12,2>"})

MISTAKES: dict[str, Callable[[], object]] = {
    "a verb": lambda: ORDERS.select("pricy"),
    "a lambda": lambda: ORDERS.filter(lambda o: o.pricy > 5),
    "an operator in a lambda": lambda: ORDERS.filter(lambda o: o.price > 5.5),
    "lambdas in lambdas": lambda: ORDERS.filter(lambda o: sd.exists(ORDERS.filter(lambda i: i.kee == o.key))),
    "a column of a row": lambda: ORDERS.c.pricy,
    "a column by its name": lambda: ORDERS["pricy"],
    "a truth value": lambda: bool(ORDERS.c.key == 1),
    "a function": lambda: f.upper(sd.lit(1)),
    "an unknown name": lambda: UNTYPED.reed_named("orders", {}),
    "an unknown function": lambda: UNTYPED.functions.uper(ORDERS.c.key),
    "a schema": lambda: ORDERS.schema["pricy"],
    "a measure": lambda: ORDERS.group_by("key").agg(x=lambda o: f.sum(o.pricy)),
    "bytes of no plan": lambda: sd.Plan.from_bytes(b"no plan"),
    "a type": lambda: UNTYPED.Decimal(99, 1),
    "an execution": lambda: ORDERS.collect(tables={}),
}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(tracebacks.FULL_TRACEBACK, raising=False)


def files(mistake: Callable[[], object]) -> list[str]:
    """Return the files that the traceback of a mistake names."""
    with pytest.raises(sd.SubstraitDslError) as raised:
        mistake()
    return [frame.filename for frame in traceback.extract_tb(raised.value.__traceback__)]


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_traceback_has_no_frame_of_the_library(mistake: Callable[[], object]) -> None:
    assert set(files(mistake)) == {__file__}


def test_the_lines_of_each_lambda_are_shown() -> None:
    def is_open(order: Any) -> Any:
        return order.opne == 1

    with pytest.raises(UnknownFieldError) as raised:
        ORDERS.filter(lambda o: ~is_open(o))
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names == ["test_the_lines_of_each_lambda_are_shown", "<lambda>", "is_open"]


LEAVING_ONE: dict[str, Callable[[], object]] = {
    "arguments that do not fit": lambda: UNTYPED.read_named("orders", {"key": "i64"}).fetch(1, 2, 3),
    "an operator outside of verbs": lambda: sd.lit(1) > "a",
}


@pytest.mark.parametrize("mistake", LEAVING_ONE.values(), ids=LEAVING_ONE)
def test_a_traceback_has_at_most_one_frame_of_the_library(mistake: Callable[[], object]) -> None:
    assert sum(file != __file__ for file in files(mistake)) <= 1


def test_an_environment_variable_shows_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tracebacks.FULL_TRACEBACK, "1")
    assert any(file.startswith(PACKAGE) for file in files(MISTAKES["a lambda"]))


def test_errors_of_the_program_keep_every_frame() -> None:
    def divide(order: sd.DynRow) -> sd.DynExpr:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as raised:
        ORDERS.filter(divide)
    assert any(frame.filename.startswith(PACKAGE) for frame in traceback.extract_tb(raised.value.__traceback__))


def test_what_python_prints_is_short(tmp_path: Path) -> None:
    program = tmp_path / "pipeline.py"
    program.write_text(
        "import substrait_dsl as sd\n"
        'orders = sd.read_named("orders", {"key": "i64", "price": "decimal<12,2>"})\n'
        "orders.filter(lambda o: o.price > 5.5)\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != tracebacks.FULL_TRACEBACK}
    ended = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 1
    assert PACKAGE not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 16


def test_the_cause_has_no_frame_of_the_engine_or_the_library(sail: SparkSession) -> None:
    numbers = sd.read_virtual([(1, 0)], {"a": "i64", "b": "i64"})
    with pytest.raises(ExecutionError) as raised:
        numbers.select(x=lambda n: f.divide(n.a, n.b)).collect(sail)
    printed = "".join(traceback.format_exception(raised.value))
    assert "Division by zero\n\nThe above exception was the direct cause" in printed
    assert set(re.findall(r'File "(.*?)"', printed)) == {__file__}


def test_functions_of_the_program_stay_in_the_traceback_of_a_cause() -> None:
    def fail() -> None:
        raise ValueError("no number")

    def call() -> None:
        try:
            fail()
        except ValueError as error:
            raise ExecutionError("the function failed") from error

    with pytest.raises(ExecutionError) as raised:
        tracebacks.end_tracebacks_at_caller(call)()
    cause = raised.value.__cause__
    assert cause is not None
    assert [frame.name for frame in traceback.extract_tb(cause.__traceback__)] == ["call", "fail"]


def test_errors_that_are_causes_of_each_other_end() -> None:
    one, other = ExecutionError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    tracebacks.hide_library_frames(one)
    assert one.__traceback__ is None
