"""An error says which changes of its plan were made before it, in order; an interrupt is held while one is made."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SubstraitDslError
from substrait_dsl.spark.session.cancellation import Cancellation, hold_interrupts
from substrait_dsl.spark.session.change_outcomes import Outcomes, begin_change, note_outcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"a": "i64"}
ROWS: Any = sd.read_virtual([(1,)], COLUMNS)


@pytest.fixture
def names(spark: SparkSession) -> Iterator[tuple[str, str]]:
    """Two tables."""
    for name in ("outcome", "outcome2"):
        ROWS.write(name, "ctas").execute(spark)
    yield "outcome", "outcome2"
    for name in ("outcome", "outcome2"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def failing(rows: Any) -> Any:
    return rows.select(a=lambda r: sd.functions.divide(sd.lit(1, sd.I64), r.a - 1))


def test_an_error_says_which_changes_were_made(names: tuple[str, str], tmp_path: Path, spark: SparkSession) -> None:
    one, two = names
    files = sd.files_target(tmp_path / "out")
    plans = [
        (sd.Plan(ROWS.write(two), ROWS.write(one), failing(ROWS).write(files)), f'"{two}", insert into table "{one}"'),
        (sd.Plan(ROWS.write(one), sd.drop_table(two), failing(ROWS).write(one)), f'"{one}", drop of table "{two}"'),
    ]
    for plan, made in plans:
        with pytest.raises(ExecutionError) as raised:
            plan.execute(spark)
        assert raised.value.message.endswith(f"; the plan has made 2 of its 3 changes before: insert into table {made}")
        assert "division by zero" in raised.value.message
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    assert spark.table(one).count() == 3
    assert not (tmp_path / "out").exists()


def test_an_error_of_rows_says_that_the_change_was_made(names: tuple[str, str], spark: SparkSession) -> None:
    """What is done with the rows of a plan comes after its changes."""
    one, _ = names
    written = ROWS.write(one, output="modified_records")
    end = f'; the plan has made its change before: insert into table "{one}"'

    def take() -> None:
        with failing(written).running(spark) as frame:
            frame.collect()

    runs: list[Callable[[], object]] = [
        lambda: failing(written).collect(spark),
        lambda: failing(written).show(spark),
        take,
    ]
    for number, run in enumerate(runs):
        with pytest.raises(ExecutionError) as raised:
            run()
        assert raised.value.message.endswith(end)
        assert spark.table(one).count() == 2 + number


def test_an_error_of_a_plan_that_has_changed_nothing_says_no_more(names: tuple[str, str], spark: SparkSession) -> None:
    one, two = names
    plans = [
        sd.Plan(failing(ROWS).write(one), ROWS.write(two)),
        sd.Plan(failing(ROWS), failing(ROWS).write(one)),
        sd.Plan(ROWS.write(one), ROWS.write("outcome3")),  # refused before anything is changed
    ]
    for plan in plans:
        with pytest.raises(SubstraitDslError) as raised:
            plan.execute(spark)
        assert "the plan has made" not in str(raised.value)
    assert spark.table(one).count() == spark.table(two).count() == 1


class Session:
    """A classic session, as far as jobs are cancelled in one."""

    def __init__(self) -> None:
        self.sparkContext = SimpleNamespace(
            addJobTag=lambda tag: None, removeJobTag=lambda tag: None, cancelJobsWithTag=lambda tag: None
        )


def run_held(before: int, inside: int, error: Exception | None = None) -> tuple[list[str], BaseException | None, str]:
    """Interrupt before a block that holds interrupts, and in it; gives what was done, the error and what it says."""
    done: list[str] = []
    outcomes = Outcomes(["change"])
    session: Any = Session()
    try:
        with outcomes.telling(), outcomes.noting(), Cancellation(session) as current:
            begin_change()
            current._interrupts += before
            done.append("begun")
            with hold_interrupts():
                for _ in range(inside):
                    os.kill(os.getpid(), signal.SIGINT)
                done.append("whole")
                if error is not None:
                    raise error
                note_outcome("made")
            done.append("after")
    except BaseException as raised:
        return done, raised, "".join(getattr(raised, "__notes__", ["no note"]))
    return done, None, ""


def test_an_interrupt_is_held_until_a_change_is_made() -> None:
    handler = signal.getsignal(signal.SIGINT)
    assert run_held(0, 0) == (["begun", "whole", "after"], None, "")
    for inside in (1, 3):
        done, raised, note = run_held(0, inside)
        assert done == ["begun", "whole"]
        assert isinstance(raised, KeyboardInterrupt)
        assert note == "made before the interrupt: change"
    assert signal.getsignal(signal.SIGINT) is handler


def test_an_interrupt_before_a_change_becomes_visible_stops_it() -> None:
    done, raised, note = run_held(1, 0)
    assert done == ["begun"]
    assert isinstance(raised, KeyboardInterrupt)
    assert note == "nothing was changed; not made: change"


def test_an_interrupt_while_a_change_fails_says_that_it_was_not_made() -> None:
    done, raised, note = run_held(0, 1, ExecutionError("x"))
    assert done == ["begun", "whole"]
    assert isinstance(raised, KeyboardInterrupt)
    assert note == "nothing was changed; not made: change"


def test_the_fourth_interrupt_is_not_held() -> None:
    done, raised, note = run_held(0, 4)
    assert done == ["begun"]
    assert isinstance(raised, KeyboardInterrupt)
    assert note == "broken off, so that it is not known whether it was made: change; read what is there"


def test_threads_have_no_interrupts_to_hold() -> None:
    """Python handles signals in the main thread."""
    found: list[tuple[list[str], BaseException | None, str]] = []
    thread = threading.Thread(target=lambda: found.append(run_held(0, 0)))
    thread.start()
    thread.join()
    assert found == [(["begun", "whole", "after"], None, "")]
