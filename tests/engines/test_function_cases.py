"""The specification's own cases of scalar functions on engines: as stated, or refused before they are sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import Literal, ScalarFunction
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.engines.check import check_plan
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.errors import UnsupportedError
from tests.engines import probed_engines
from tests.engines.probed_engines import datafusion
from tests.engines.processes import Engine
from tests.engines.runners import Rows
from tests.spark.test_functions import Runnable, is_expected, runnable, with_columns

MIN_RIGHT = 480
"""How many of the cases DataFusion computes as stated, at least; it refuses the others, whose form it does not have."""

MIN_RIGHT_ON_DUCKDB = 100
"""The same of DuckDB, of the cases that it runs here: of all it computes 508 as stated, and refuses the others."""

MIN_RIGHT_ON_ACERO = 130
"""The same of Acero, of the cases that it runs here."""


def plan_of(each: Runnable) -> AlgebraPlan:
    """The call over one row of columns, so that it is computed where rows are."""
    assert isinstance(each.call, ScalarFunction)
    columns: list[Literal] = []
    call = with_columns(each.call, columns)
    fields = tuple(Field(f"c{number}", column.type) for number, column in enumerate(columns))
    row = rl.Read(NamedStruct(fields), rl.VirtualTable((rl.Record(tuple(columns)),)))
    made = rl.emit(rl.Project(row, (call,), ("value",)), (len(columns),), ("value",))
    return AlgebraPlan((Root(made, ("value",)),))


def outcome_of_cases(run: Callable[[AlgebraPlan], Rows], folders: tuple[str, ...] = ("",)) -> tuple[int, list[str]]:
    """How many cases of some folders an engine computes as stated, and what it makes of the others that it gets."""
    right = 0
    wrong: list[str] = []
    for each in runnable()[0]:
        if each.case.kind != "scalar" or not each.case.file.startswith(folders):
            continue
        try:
            ((value,),) = run(plan_of(each))
        except UnsupportedError:
            continue
        except Exception as error:  # of any class, as DataFusion has them
            if each.case.expected not in ("ERROR", "UNDEFINED"):
                wrong.append(f"{each.case}: {error}")
            continue
        if is_expected(value, each.case):
            right += 1
        else:
            wrong.append(f"{each.case}: got {value!r}")
    return right, wrong


def lower_checked(plan: AlgebraPlan, engine: str) -> AlgebraPlan:
    """The plan that an engine gets. Raises `UnsupportedError` for one that `check` refuses."""
    check = check_plan(plan, load_profile(engine))
    if check.lowered is None:
        raise check.refusals[0].error
    return check.lowered


@pytest.mark.usefixtures("datafusion")
def test_cases_are_as_stated_or_refused_on_datafusion() -> None:
    right, wrong = outcome_of_cases(datafusion(partial(lower_checked, engine="datafusion")))
    assert not wrong, "\n".join(wrong)
    assert right >= MIN_RIGHT


FOLDERS = (
    "string",
    "boolean",
    "rounding",
    "arithmetic/abs",
    "arithmetic/bitwise",
    "arithmetic/modulus",
    "arithmetic/sqrt",
)
"""Those of the functions that Acero gets otherwise than by the specification's names, and some others."""


def test_cases_are_as_stated_or_refused_on_acero(acero: Engine) -> None:
    right, wrong = outcome_of_cases(probed_engines.in_process(acero, partial(lower_checked, engine="acero")), FOLDERS)
    assert not wrong, "\n".join(wrong)
    assert right >= MIN_RIGHT_ON_ACERO


def test_cases_are_as_stated_or_refused_on_duckdb(duckdb_substrait: Engine) -> None:
    run = probed_engines.in_process(duckdb_substrait, partial(lower_checked, engine="duckdb"))
    right, wrong = outcome_of_cases(run, ("string", "rounding", "datetime"))
    assert not wrong, "\n".join(wrong)
    assert right >= MIN_RIGHT_ON_DUCKDB
