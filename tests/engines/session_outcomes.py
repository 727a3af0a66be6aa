"""What becomes of the small plans in a session of Spark's interface."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

import substrait_dsl as sd
from tests.engines.runners import Rows
from tests.engines.test_verdicts import CORPUS, judge_of, outcome

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

NOTHING_SAYS = "nothing says which rows are right"


def in_python(value: Any) -> Any:
    """A value as pyspark gives it."""
    match value:
        case uuid.UUID():
            return str(value)
        case dt.datetime(tzinfo=dt.timezone()):
            return value.replace(tzinfo=None)
        case sd.YearMonths():
            return 12 * value.years + value.months
        case _:
            return value


def rows_in_session(plan: sd.Plan, session: SparkSession) -> Rows:
    """The rows of the first root of a plan; for months, of which pyspark gives Python no values, their numbers."""
    frame = plan.execute(session)[0]
    if any(kind.startswith("interval year") for _, kind in frame.dtypes):
        frame = frame.selectExpr("extract(YEAR FROM v) * 12 + extract(MONTH FROM v)")
    return [tuple(row) for row in frame.collect()]


def outcomes(
    names: Iterable[str], engine: str, session: SparkSession, connection: DuckDBPyConnection
) -> Iterator[tuple[str, str]]:
    """What happens to the plans that `check` lets through."""
    for name in names:
        form = CORPUS[name]
        made = form.make()
        plan = made if isinstance(made, sd.Plan) else made.to_plan()
        if not plan.check(engine):
            continue
        right = None if form.rows is None else [tuple(map(in_python, row)) for row in form.rows]
        judge: Callable[[Rows], str | None] = judge_of(attrs.evolve(form, rows=right), made, connection)
        yield name, outcome(partial(rows_in_session, plan, session), judge)
