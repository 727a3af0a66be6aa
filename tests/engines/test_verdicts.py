"""Verdicts of `check` and what happens on DataFusion: what is let through is right, and severities are what happens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa
import pytest

import substrait_dsl as sd
from tests.differential.engines import case_of, duckdb_engine
from tests.engines.corpus import PLANS
from tests.engines.corpus_forms import FORMS, Form, Made
from tests.engines.processes import Engine
from tests.engines.runners import Rows, canonical_rows, random_tables, run_on_datafusion

if TYPE_CHECKING:
    from datafusion import SessionContext
    from duckdb import DuckDBPyConnection

CORPUS: dict[str, Form] = {**{name: Form(make) for name, make in PLANS.items()}, **FORMS}

MIN_RECALL = 0.93
"""How much of what is right on DataFusion is let through, at least."""

RIGHT_BY_CHANCE = {
    # The rows of these plans are right, but others of their kind are not.
    "enhancement": "it is ignored, though it must not be",
    "cast reals.x to decimal<10,2>?": "1.115 becomes 1.12",
    "cast texts.s to i32?": "other texts are taken for numbers than elsewhere",
    "NULL of interval_compound<6>": "other values are refused",
    "NULL of varchar<5>": "other values are refused",
    "NULL of map<string, i32>": "other values are refused",
}
"""What is refused for what the rows here do not show."""


@attrs.frozen
class Outcome:
    """A report, and what happens on the engine: to the plan as it is written, and to what `check` lets through."""

    report: sd.Report
    written: str
    sent: str | None


def outcome(run: Callable[[], Rows], difference: Callable[[Rows], str | None]) -> str:
    """``right``, ``wrong: ...`` or ``rejected: ...``."""
    try:
        rows = canonical_rows(run())
    except Exception as error:  # of any class, as DataFusion has them
        return f"rejected: {error}"
    found = difference(rows)
    return "right" if found is None else f"wrong: {found}"


def judge_of(form: Form, made: Made, connection: DuckDBPyConnection) -> Callable[[Rows], str | None]:
    """How rows differ from the right ones; a judge that knows none says so of any rows."""
    if form.rows is not None:
        right = canonical_rows(form.rows)
        return lambda rows: None if rows == right else f"{rows} for {right}"
    relation = made if form.same_as is None else form.same_as()
    if not isinstance(relation, sd.Relation):
        return lambda rows: "nothing says which rows are right"
    from duckdb import CatalogException, ConversionException

    try:
        case = case_of(0, relation, connection)
    # The SQL has no words for some relations and for some types; one plan reads a table that is not there, one fails.
    except (NotImplementedError, KeyError, CatalogException, ConversionException):
        return lambda rows: "nothing says which rows are right"
    return case.difference


@pytest.fixture(scope="module")
def outcomes(duckdb: None, context: SessionContext) -> dict[str, Outcome]:
    return dict(_outcomes(context))


def _outcomes(context: SessionContext) -> Iterator[tuple[str, Outcome]]:
    connection = duckdb_engine()
    for name, form in CORPUS.items():
        made = form.make()
        plan = made if isinstance(made, sd.Plan) else made.to_plan()
        report, difference = plan.check("datafusion"), judge_of(form, made, connection)
        written = plan.to_bytes()
        sent = plan.to_bytes(engine="datafusion") if report else None
        as_written = outcome(partial(run_on_datafusion, context, written), difference)
        as_sent = None if sent is None else outcome(partial(run_on_datafusion, context, sent), difference)
        yield name, Outcome(report, as_written, as_sent)


def test_the_corpus_is_large() -> None:
    assert len(CORPUS) >= 200


def test_what_is_let_through_is_right(outcomes: dict[str, Outcome]) -> None:
    wrong = {name: each.sent for name, each in outcomes.items() if each.report and each.sent != "right"}
    assert wrong == {}
    as_written = {name: each.written for name, each in outcomes.items() if each.report.verdict == "runs"}
    assert {name: found for name, found in as_written.items() if found != "right"} == {}


def test_most_of_what_is_right_is_let_through(outcomes: dict[str, Outcome]) -> None:
    passed = [name for name, each in outcomes.items() if each.report]
    lost = [name for name, each in outcomes.items() if not each.report and each.written == "right"]
    assert set(RIGHT_BY_CHANCE) <= set(lost)
    missed = [name for name in lost if name not in RIGHT_BY_CHANCE]
    assert len(passed) / (len(passed) + len(missed)) >= MIN_RECALL, missed


def test_severities_are_what_happens(outcomes: dict[str, Outcome]) -> None:
    """Each severity of a rule is seen; and where nothing of wrong rows is said, there are none."""
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    silent: dict[str, str] = {}
    for name, each in outcomes.items():
        said = {finding.severity for finding in each.report.findings}
        happened = each.written.partition(":")[0]
        for finding in each.report.findings:
            seen[finding.code, finding.severity].add(happened)
        if happened == "wrong" and said <= {"rejected"} and "nothing says" not in each.written:
            silent[name] = each.written
    assert silent == {}
    seen.pop(("enhancement", "wrong rows"))  # what it would have asked for, nobody here knows
    expected = {"wrong rows": "wrong", "other digits": "wrong", "rejected": "rejected"}
    unseen = {rule for rule, found in seen.items() if rule[1] in expected and expected[rule[1]] not in found}
    assert unseen == set()


def rows_from(engine: Engine, data: bytes) -> Rows:
    """The rows of a plan on an engine in a process."""
    return list(zip(*(column.to_pylist() for column in engine.run(data).columns), strict=True))


MIN_LET_THROUGH = {"duckdb": 288, "acero": 215}
"""How many of the plans other engines run right, at least."""


@pytest.mark.parametrize("name", MIN_LET_THROUGH)
def test_what_is_let_through_is_right_on(name: str, duckdb: None, request: pytest.FixtureRequest) -> None:
    engine = request.getfixturevalue({"duckdb": "duckdb_substrait", "acero": "acero"}[name])
    engine.add_tables(random_tables())
    connection = duckdb_engine()
    found: dict[str, str] = {}
    for case, form in CORPUS.items():
        made = form.make()
        plan = made if isinstance(made, sd.Plan) else made.to_plan()
        if plan.check(name):
            sent = plan.to_bytes(engine=name)
            found[case] = outcome(partial(rows_from, engine, sent), judge_of(form, made, connection))
    assert {case: happened for case, happened in found.items() if happened != "right"} == {}
    assert len(found) >= MIN_LET_THROUGH[name]


OPERANDS = [
    # Operands whose quotients, computed as floating-point numbers, have other last digits; exact halves; both signs.
    *(("99999999.99", "3.00"), ("-99999.99", "3.00"), ("9999.99", "-3.00"), ("-54321.11", "0.97"), ("1.00", "3.00")),
    *(("0.05", "64.00"), ("-0.05", "64.00"), ("0.00", "-7.00"), ("12345.67", "7.01"), (None, "1.00"), ("1.00", None)),
]


@pytest.mark.parametrize("name", ["duckdb", "acero"])
def test_quotients_of_decimals_have_all_digits(name: str, request: pytest.FixtureRequest) -> None:
    engine = request.getfixturevalue({"duckdb": "duckdb_substrait", "acero": "acero"}[name])
    table: sd.Relation[Any] = sd.read_named("operands", {"a": "decimal<10,2>?", "b": "decimal<10,2>?"})
    rows = [{"a": None if a is None else Decimal(a), "b": None if b is None else Decimal(b)} for a, b in OPERANDS]
    engine.add_tables({"operands": pa.Table.from_pylist(rows, table.schema.to_arrow())})
    query = table.select(v=lambda r: r.a / r.b)
    with localcontext(prec=40):
        expected = [
            (None if a is None or b is None else (a / b).quantize(Decimal("1e-13"), ROUND_HALF_UP),)
            for a, b in (row.values() for row in rows)
        ]
    assert rows_from(engine, query.to_plan().to_bytes(engine=name)) == expected
