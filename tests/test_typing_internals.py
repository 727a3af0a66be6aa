"""What the plugin uses of mypy that is not documented is there: each test is named for what is gone when it fails."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from substrait_dsl.mypy_plugin import mypy_internals as internals
from tests import typing_probe

CALL = 9
"""The line of the call in the program, with its column."""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy reports of the program, while the probe calls the functions."""
    config = tmp_path_factory.mktemp("probe") / "mypy.ini"
    config.write_text("[mypy]\n", encoding="utf-8")
    typing_probe.RESULTS.clear()
    return typing_probe.check_program(str(config))


@pytest.fixture
def results(reports: list[str]) -> dict[str, Any]:
    return typing_probe.RESULTS


def test_mypy_says_its_version() -> None:
    assert version("mypy") == internals.VERSION


def test_mypy_names_the_methods_of_operators() -> None:
    assert internals.OPERATOR_METHODS["+"] == "__add__"
    assert internals.OPERATOR_METHODS["in"] == "__contains__"
    assert internals.REVERSE_METHODS["__add__"] == "__radd__"


def test_mypy_has_a_code_for_type_variables_that_do_not_fit() -> None:
    assert internals.TYPE_VARIABLE == "type-var"


def test_mypy_finds_a_class_by_its_full_name(results: dict[str, Any]) -> None:
    assert results["find_class"] == "program.A"


def test_mypy_finds_a_module_that_it_has_read(results: dict[str, Any]) -> None:
    assert results["find_module"] == ["re", None]


def test_mypy_keeps_the_types_of_expressions(results: dict[str, Any]) -> None:
    assert results["find_type"] == "builtins.list"
    assert results["find_type_unchecked"] is None


def test_mypy_finds_the_type_of_the_items_of_an_iterable(results: dict[str, Any]) -> None:
    assert results["find_item_type"] == "program.A"


def test_mypy_finds_the_declared_type_of_a_method(results: dict[str, Any]) -> None:
    assert results["find_member_type"] == ["builtins.int", "builtins.str"]


def test_mypy_compares_types(results: dict[str, Any]) -> None:
    assert results["is_subtype"] == (True, False)


def test_mypy_lets_the_type_of_a_variable_change(results: dict[str, Any], reports: list[str]) -> None:
    assert results["set_variable_type"] is None
    assert results["variable_type"] == "list[program.B]"
    assert 'program.py:13: note: Revealed type is "list[program.B]"' in reports


def test_mypy_compares_types_with_those_that_have_type_variables(results: dict[str, Any]) -> None:
    assert results["is_argument"] == [True, False]


def test_mypy_finds_the_modules_of_types(results: dict[str, Any]) -> None:
    assert {"builtins", "program"} <= results["find_modules"]


def test_mypy_has_the_tree_of_the_file(results: dict[str, Any]) -> None:
    assert results["find_tree"] == "program"


def test_mypy_knows_which_function_it_checks(results: dict[str, Any]) -> None:
    assert results["find_current_target"] == "program"
    assert results["find_current_target_in_function"] == "program.function"
    assert results["find_current_function"] == "program.function"


def test_mypy_knows_that_it_checks_a_lambda(results: dict[str, Any]) -> None:
    assert results["is_in_lambda"] is True
    assert results["is_in_lambda_of_function"] is False


def test_mypy_checks_a_call_with_another_signature(results: dict[str, Any], reports: list[str]) -> None:
    assert results["check_call"] == ("builtins.str", False)
    assert results["check_call_with_error"] is True
    assert [line for line in reports if 'incompatible type "str"' in line] == []


def test_mypy_shows_the_errors_of_a_checked_call_later(results: dict[str, Any], reports: list[str]) -> None:
    assert results["show_errors"] is None
    message = 'Argument 1 to "method" of "A" has incompatible type "bytes"; expected "int"  [arg-type]'
    assert [line for line in reports if "bytes" in line] == [f"program.py:{CALL}: error: {message}"]


def test_mypy_reports_an_error_in_a_lambda_and_what_it_belongs_to(results: dict[str, Any], reports: list[str]) -> None:
    assert (results["show_error"], results["target"]) == (None, "program")
    assert "program.py:12: error: an error in a lambda  [probe]" in reports


def test_mypy_reports_a_note(results: dict[str, Any], reports: list[str]) -> None:
    assert results["show_note"] is None
    assert f"program.py:{CALL}: note: a note" in reports


def test_mypy_reports_a_note_about_a_class(results: dict[str, Any], reports: list[str]) -> None:
    assert results["show_class_note"] is None
    assert "program.py:4: note: a note about a class" in reports


def test_mypy_reports_operands_that_an_operator_does_not_take(results: dict[str, Any], reports: list[str]) -> None:
    assert results["show_unsupported_operands"] is None
    message = 'Unsupported operand types for + ("int" and "str")  [operator]'
    assert f"program.py:{CALL}: error: {message}" in reports


def test_mypy_knows_which_codes_are_enabled(results: dict[str, Any]) -> None:
    assert results["is_code_enabled"] == [True, False]


def test_mypy_says_whether_it_drops_errors(results: dict[str, Any]) -> None:
    assert results["is_reporting"] == [True, False, True]


def test_mypy_shows_errors_without_its_filters(reports: list[str]) -> None:
    assert f"program.py:{CALL}: error: an error through a filter  [probe]" in reports
    assert [line for line in reports if "a filtered error" in line] == []


def test_mypy_withdraws_reports(results: dict[str, Any], reports: list[str]) -> None:
    assert (results["filter_reports"], results["filter_reports_kept"], results["kept"]) == (None, None, [])
    assert [line for line in reports if "a withdrawn error" in line] == []
    assert [(each.code, each.line, each.column, each.is_error) for each in results["reports"]] == [
        ("probe", CALL, 0, True)
    ] * 2


def test_mypy_says_whether_tracebacks_are_shown(results: dict[str, Any]) -> None:
    assert results["is_traceback_shown"] is True


def test_mypy_names_the_events_of_its_daemon() -> None:
    assert internals.make_trigger("program.A") == "<program.A>"
    assert internals.make_wildcard_trigger("program.A") == "<program.A[wildcard]>"


def test_mypy_keeps_the_dependencies_of_plugins(results: dict[str, Any]) -> None:
    assert results["add_dependencies"] is None
    assert results["dependencies"] == {"<program.A>": {"program"}}


def test_every_function_has_a_test() -> None:
    text = Path(__file__).read_text(encoding="utf-8") + Path(typing_probe.__file__).read_text(encoding="utf-8")
    functions = [
        name
        for name, value in vars(internals).items()
        if getattr(value, "__module__", "") == internals.__name__ and not name.startswith("_")
    ]
    assert len(functions) > 20
    assert [name for name in functions if f"internals.{name}" not in text and name not in ("Report",)] == []
