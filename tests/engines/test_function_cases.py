"""The specification's own cases of scalar functions on DataFusion: as stated, or refused before they are sent."""

from __future__ import annotations

import pytest

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import Literal, ScalarFunction
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.engines.lowering.plan import lower_plan
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.plan import encode_plan, to_bytes
from tests.engines.runners import run_on_datafusion
from tests.spark.test_functions import Runnable, is_expected, runnable, with_columns

LEAST_RIGHT = 480
"""How many of the cases DataFusion computes as stated, at least; it refuses the others, whose form it does not have."""


def plan_of(each: Runnable) -> AlgebraPlan:
    """The call over one row of columns, so that it is computed where rows are."""
    assert isinstance(each.call, ScalarFunction)
    columns: list[Literal] = []
    call = with_columns(each.call, columns)
    fields = tuple(Field(f"c{number}", column.type) for number, column in enumerate(columns))
    row = rl.Read(NamedStruct(fields), rl.VirtualTable((rl.Record(tuple(columns)),)))
    made = rl.emit(rl.Project(row, (call,), ("value",)), (len(columns),), ("value",))
    return AlgebraPlan((Root(made, ("value",)),))


@pytest.mark.usefixtures("datafusion")
def test_cases_are_as_stated_or_refused() -> None:
    from datafusion import SessionContext

    profile, context = load_profile("datafusion"), SessionContext()
    right = 0
    wrong: list[str] = []
    for each in runnable()[0]:
        if each.case.kind != "scalar":
            continue
        try:
            data = to_bytes(encode_plan(lower_plan(plan_of(each), profile)))
        except UnsupportedError:
            continue
        try:
            ((value,),) = run_on_datafusion(context, data)
        except Exception as error:  # of any class, as DataFusion has them
            if each.case.expected not in ("ERROR", "UNDEFINED"):
                wrong.append(f"{each.case}: {error}")
            continue
        if is_expected(value, each.case):
            right += 1
        else:
            wrong.append(f"{each.case}: got {value!r}")
    assert not wrong, "\n".join(wrong)
    assert right >= LEAST_RIGHT
