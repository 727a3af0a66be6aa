"""Checks of plans: what a report says, in which words, of engines, of dialects and of both beside each other."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.engines.rules import CODES, REFUSALS, RULES
from substrait_dsl.engines.survey import survey
from substrait_dsl.errors import (
    CatalogError,
    InvalidArgumentError,
    InvalidChoiceError,
    SubstraitDslError,
    UnsupportedError,
)
from tests.differential.pipelines import pipeline
from tests.engines.corpus import PLANS
from tests.engines.corpus_forms import FORMS, chain

f: Any = functions
T = sd.read_named("t", {"k": "i64?", "a": "i32", "s": "string?"})
U = sd.read_named("u", {"k": "i64?", "b": "i32"})


def test_a_plan_that_runs_as_it_is_written() -> None:
    report = T.filter(lambda t: t.a > 1).check("datafusion")
    assert (report.engine, report.verdict, report.findings, bool(report)) == ("datafusion-55", "runs", (), True)
    assert str(report) == "datafusion-55: runs"
    plan = T.filter(lambda t: t.a > 1).to_plan()
    assert plan.to_bytes() == plan.to_bytes(engine="datafusion")


def test_a_plan_that_runs_lowered() -> None:
    plan = T.filter(lambda t: sd.exists(U.filter(lambda u: u.k == t.k))).to_plan()
    (finding,) = plan.check("datafusion").findings
    assert plan.check("datafusion").verdict == "runs lowered"
    assert (finding.code, finding.severity, finding.is_refused) == ("correlated-subquery", "rejected", False)
    assert finding.step.startswith("filter exists")
    assert finding.cure == "a join"


def test_a_plan_that_is_refused_for_several_things() -> None:
    relation = T.filter(lambda t: f.factorial(t.a, overflow="ERROR") > 1).select("k", c=lambda t: t.s.cast("date?"))
    report = relation.check("datafusion")
    assert (report.verdict, bool(report)) == ("refused", False)
    assert [(each.code, each.severity) for each in report.findings] == [
        ("option", "wrong rows"),
        ("cast", "unspecified"),
    ]
    assert [each.expression for each in report.findings] == ["factorial(a; overflow: ERROR)", "cast(s as date?)"]
    assert report.findings[1].step == "project -> c: date? = cast(s as date?)"
    with pytest.raises(UnsupportedError, match="overflow=ERROR") as caught:
        relation.to_plan().to_bytes(engine="datafusion")
    assert caught.value.hint == '1 more thing is refused: check("datafusion-55") shows them'
    assert caught.value.step == report.findings[0].step


@pytest.mark.parametrize("engine", ["datafusion", "duckdb", "acero", "substrait-java"])
def test_what_stands_for_a_refused_relation_need_not_have_one_row(engine: Any) -> None:
    """The count is not NULL, as an aggregate without keys has one row; the median beside it is refused."""
    aggregate = U.aggregate(n=lambda u: f.count(u.b), median=lambda u: f.median("EXACT", u.b))
    relation = T.project(e=sd.scalar_subquery(aggregate.select("n")))
    assert not relation.schema["e"].nullable
    assert [each.code for each in relation.check(engine).findings if each.is_refused] == ["function"]


def test_places_of_one_kind_are_one_finding() -> None:
    relation = T.select(*(f.between(sd.col("a"), n, n + 1).alias(f"c{n}") for n in range(4)))
    (finding,) = relation.check("datafusion").findings
    assert (finding.code, finding.places) == ("between", 4)
    assert ", and in 3 more" in str(finding)


def twice(relation: Any) -> Any:
    """A relation with itself, each having the same rows."""
    shared = sd.shared(relation)
    return shared.union_all(shared.filter(lambda r: r.k > 1))


@pytest.mark.parametrize("engine", ["datafusion", "duckdb", "acero"])
def test_a_report_of_what_runs_lowered_says_why(engine: str) -> None:
    for name in ("filter", "count distinct", "read columns", "select", "top n"):
        report = PLANS[name]().check(engine)
        assert bool(report.findings) == (report.verdict == "runs lowered")
        assert not any(finding.is_refused for finding in report.findings)
        assert all(finding.cure for finding in report.findings)


def test_words_of_a_dialect_hold_for_expressions_too() -> None:
    extended = sd.ExtendedExpression({"a": "i64"}, x=lambda r: r.a + 1, y=lambda r: f.sqrt(r.a))
    (missing,) = extended.check("datafusion").missing
    assert missing.why.startswith("scalar function sqrt:i64")


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "depth": (lambda: FORMS["deep"].make(), "depth"),
    "several roots": (lambda: sd.Plan(T, U), "trees"),
    "a shared relation with a limit": (lambda: twice(T.limit(1)), "shared-rows"),
    "a shared relation with a window": (
        lambda: twice(T.select("k", n=f.row_number().over(order_by="k"))),
        "shared-rows",
    ),
    "a parameter without a value": (lambda: T.filter(lambda t: t.a > sd.parameter(1, "i32")), "no-form"),
    "a write": (lambda: T.write("copy", op="ctas"), "no-form"),
    "an enhancement": (lambda: FORMS["enhancement"].make(), "enhancement"),
    "a literal": (lambda: FORMS["rows of uuid, 0"].make(), "literal"),
    "a function": (lambda: T.select(c=lambda t: f.bitwise_not(t.a)), "function"),
}


@pytest.mark.parametrize(("made", "code"), REFUSED.values(), ids=REFUSED)
def test_why_a_plan_is_refused(made: Callable[[], Any], code: str) -> None:
    report = made().check("datafusion")
    assert report.verdict == "refused"
    assert [each.code for each in report.findings if each.is_refused] == [code]
    plan = made() if isinstance(made(), sd.Plan) else made().to_plan()
    with pytest.raises(UnsupportedError) as caught:
        plan.to_bytes(engine="datafusion")
    said, hint = report.findings[0].why, caught.value.hint
    assert hint is None or said.endswith(f"; {hint}")
    assert caught.value.message.startswith(said.removesuffix(f"; {hint}"))


NAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "twice": (("k", "k"), ("k", "k_2")),
    "three times": (("k", "a", "k", "k"), ("k", "a", "k_2", "k_3")),
    "beside the name with a number": (("k", "k", "k_2"), ("k", "k_3", "k_2")),
    "each once": (("k", "K"), ("k", "K")),
}


@pytest.mark.parametrize("case", NAMES)
def test_columns_of_one_name_get_others(case: str) -> None:
    """The rows of such a plan are right under other names, and the report says so."""
    names, sent = NAMES[case]
    columns = [sd.read_virtual([(number,)], {name: "i32"}) for number, name in enumerate(names)]
    plan = reduce(lambda left, right: left.cross(right), columns).to_plan()
    assert plan.lower("datafusion").roots[0].schema.names == sent
    report = plan.check("datafusion")
    said = [finding.cure for finding in report.findings if finding.code == "names"]
    assert bool(report)
    assert bool(said) is (names != sent)


def test_a_plan_raises_no_error() -> None:
    """Whatever it is: there is a report, and its verdict is what `to_bytes` does."""
    made = [*(form.make() for form in FORMS.values()), *(pipeline(5, number) for number in range(150))]
    for each in made:
        plan = each if isinstance(each, sd.Plan) else each.to_plan()
        if plan.check("datafusion"):
            assert plan.to_bytes(engine="datafusion")
        else:
            with pytest.raises(UnsupportedError):
                plan.to_bytes(engine="datafusion")


def test_the_cost_of_a_check_grows_with_the_steps() -> None:
    """Four times the steps take at most eight times as long; were it quadratic, they would take sixteen times."""
    small, large = (chain(steps).to_plan() for steps in (250, 1000))

    def least(plan: sd.Plan) -> float:
        times = []
        for _ in range(5):
            start = time.process_time()
            assert plan.check("datafusion").findings[0].code == "depth"
            times.append(time.process_time() - start)
        return min(times)

    assert least(large) <= 8 * least(small)


# --- profiles and dialects

SMALL = """
name: Small
dependencies: {comparison: "extension:io.substrait:functions_comparison"}
supported_relations: [FILTER, PROJECT, {relation: READ, read_types: [NAMED_TABLE]}]
supported_types: [I64, I32, BOOL, STRING]
supported_scalar_functions:
  - {source: comparison, name: gt, supported_impls: [any_any]}
"""


def test_a_dialect_is_taken_by_path_and_says_nothing_of_shapes(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    report = T.filter(lambda t: t.a > 1).check(path)
    assert (report.engine, report.verdict) == ("Small", "runs")
    assert [each.code for each in report.findings] == ["undeclared", "shapes-unknown"]
    assert report.findings == T.filter(lambda t: t.a > 1).check(str(path)).findings
    refused = T.filter(lambda t: t.a < 1).sort("a").check(path)
    assert refused.verdict == "refused"
    assert {str(each.requirement).split(" of ")[0] for each in refused.missing} == {
        "relation SORT",
        "scalar function lt:any_any",
    }


def test_a_dialect_restricts_what_is_lowered(tmp_path: Path) -> None:
    """A profile whose functions are all there, and whose relations are not: what lowering writes counts."""
    path = tmp_path / "mine.yaml"
    head = "name: Mine\nmetadata: {engine: mine, version: '1', function_rules: {between: comparisons}}\n"
    functions_of = SMALL.partition("supported_types")[0].replace("name: Small\n", "")
    lists = """supported_scalar_functions:
  - {source: comparison, name: gte, supported_impls: [any_any]}
  - {source: comparison, name: lte, supported_impls: [any_any]}
"""
    path.write_text(head + functions_of + lists, encoding="utf-8")
    report = T.filter(lambda t: t.a.between(1, 5)).check(path)
    (missing,) = report.missing
    assert missing.requirement is not None
    assert (missing.requirement.name, missing.code) == ("and:bool", "dialect")
    assert missing.step.startswith("filter")


@pytest.mark.parametrize(
    ("shapes", "message"),
    [("{top_n: rejected}", 'no rule of shape "top_n"'), ("{top-n: refused}", 'no severity "refused"')],
)
def test_a_broken_profile_is_an_error(tmp_path: Path, shapes: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"name: Mine\nmetadata: {{engine: mine, version: '1', shapes: {shapes}}}\n", encoding="utf-8")
    with pytest.raises(CatalogError, match=message) as caught:
        T.check(path)
    assert caught.value.verb == "check"


def test_what_is_not_known_of_an_engine_is_unspecified(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: Mine\nmetadata: {engine: mine, version: '1'}\n", encoding="utf-8")
    (finding,) = T.top_n(1, "a").check(path).findings
    assert (finding.code, finding.severity) == ("top-n", "unspecified")


def test_every_code_has_one_entry() -> None:
    assert len(set(CODES)) == len(CODES) == len(RULES) + 1 + len(REFUSALS)
    assert set(load_profile("datafusion").shapes) <= set(CODES)


# --- several engines


def test_reports_of_several_engines(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    matrix = sd.check_all(T.top_n(1, "a"), ["datafusion", path])
    assert list(matrix) == ["datafusion-55", "Small"]
    assert [matrix[engine].verdict for engine in matrix] == ["runs lowered", "refused"]
    lines = str(matrix).splitlines()
    assert lines[:3] == [
        "                datafusion-55      Small",
        "verdict         runs lowered       refused",
        "top-n           rejected, lowered  -",
    ]
    with pytest.raises(InvalidChoiceError, match="unknown engine 'Smal'"):
        matrix["Smal"]
    assert "datafusion-55" in list(sd.check_all(T))


@pytest.mark.parametrize("engines", ["datafusion", [], 5])
def test_several_engines_are_several(engines: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="check_all: expected"):
        sd.check_all(T, engines)


@pytest.mark.parametrize("engine", ["datafusoin", "nothing.yaml", 3])
@pytest.mark.parametrize("given", [T, T.to_plan()])
def test_errors_of_one_engine_name_the_call(given: Any, engine: Any) -> None:
    with pytest.raises(SubstraitDslError, match=r"^check_all: "):
        sd.check_all(given, ["datafusion", engine])
    with pytest.raises(SubstraitDslError, match=r"^check: "):
        given.check(engine)


# --- what is looked up in the algebra is what the message needs


@pytest.mark.parametrize("name", PLANS)
def test_needs_of_the_algebra_are_those_of_the_message(name: str) -> None:
    relation = PLANS[name]()
    skipped = ("version", "evaluation mode")
    expected = {each for each in relation.to_plan().requirements() if each.kind not in skipped}
    found = set(survey(relation._rel))
    # A reference that is a key, and not in an expression, is no expression of the message.
    assert {each for each in found if each.name != "SELECTION"} == {
        each for each in expected if each.name != "SELECTION"
    }
