"""The list of guards: what it says is there, and the page that is printed from it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from substrait_dsl.spark.guards import GUARDS
from substrait_dsl.spark.sail.guards import GUARDS as SAIL
from substrait_dsl.spark.session.engines import AN_ERROR, ANSWER_OF_SPARK, ErrorWords, Guard
from tests.spark.canaries import is_answer
from tests.spark.guards_page import PAGE, PARTS, entries, written
from tests.spark.test_guards import what_changed

ROOT = Path(__file__).parents[2]


def test_each_guard_has_a_name_of_its_own() -> None:
    assert len({guard.name for guard in GUARDS}) == len(GUARDS)


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_says_what_it_keeps_from_whom(guard: Guard) -> None:
    assert guard.plans
    assert guard.reason
    assert guard.check
    assert guard.right != ANSWER_OF_SPARK
    assert not is_answer(guard.fault, guard.right)
    assert list(guard.versions) == sorted(guard.versions)
    assert guard.issue is None or guard.issue.startswith("SPARK-")


@pytest.mark.parametrize("guard", SAIL, ids=lambda guard: guard.name)
def test_a_guard_for_sail_has_templates_or_checks(guard: Guard) -> None:
    assert guard.functions or guard.aggregates or guard.frames or guard.check


@pytest.mark.parametrize("check", sorted({check for guard in (*GUARDS, *SAIL) for check in guard.check}))
def test_what_checks_plans_is_there(check: str) -> None:
    names = check.split(".")
    module = import_module(".".join(["substrait_dsl", "spark", *names[:2]]))
    found: object = module
    for name in names[2:]:
        found = getattr(found, name)


def test_the_page_is_what_the_list_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert written(text) == text, "run: python -m tests.spark.guards_page"
    assert entries(GUARDS) == "\n\n".join(PARTS[name]() for name in ("queries", "values", "files"))


GUARD = Guard("one", "any", ("4.1", "4.3"), "SELECT 2", 2, right=1, reason="1 = 1", check=("a.b",))


def test_what_is_told_of_an_answer() -> None:
    failing = Guard("two", "any", ("4.1",), "SELECT", ErrorWords("lost"), right=AN_ERROR, check=("a.b",))
    assert what_changed(GUARD, 2, "4.2.1") is None
    assert what_changed(GUARD, 1, "4.3.0") == "Spark 4.3.0 gives the right answer: guard 'one' may go"
    assert what_changed(GUARD, True, "4.3.0") == "Spark 4.3.0 gives another wrong answer for guard 'one': True"
    assert what_changed(GUARD, ValueError("2"), "4.1.4") is not None
    assert what_changed(GUARD, 1, "4.4.0") is None
    assert what_changed(GUARD, 2, "4.10.0") is not None
    assert what_changed(failing, ValueError("it lost a column"), "4.1.4") is None
    assert what_changed(failing, "lost", "4.1.4") is not None
