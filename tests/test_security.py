"""Each promise of SECURITY.md has tests, which are there: this table says which."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "SECURITY.md"

PROMISES: Mapping[str, tuple[str, ...]] = {
    "To read, compare, print, explain and write a plan": (
        "test_strangers.py::test_a_plan_that_is_read_and_printed_reaches_nothing",
        "proto/test_hostile.py::test_a_pickled_function_is_not_called",
    ),
    "URNs, URIs and type URLs in a plan are names": (
        "test_strangers.py::test_a_plan_that_is_read_and_printed_reaches_nothing",
    ),
    "A printed plan shows what it reads": (
        "test_strangers.py::test_all_accesses_of_a_plan_are_found",
        "test_strangers.py::test_no_text_of_a_plan_begins_a_line",
        "test_hostile_texts.py::test_every_text_of_a_plan_stays_on_its_line",
    ),
    "No text of a plan in an error, a finding": (
        "test_errors.py::test_names_of_others_are_escaped_wherever_an_error_shows_them",
        "test_errors.py::test_names_of_others_are_escaped_in_findings_and_reports",
    ),
    "No text of a plan is markup": (
        "test_html.py::test_a_strangers_name_is_text",
        "test_html.py::test_a_text_comes_back",
        "test_html.py::test_names_in_a_report_are_text",
        "test_row_table.py::test_names_and_values_are_text",
        "test_graphs.py::test_hostile_names_are_text",
        "test_graphs.py::test_random_names_are_text",
    ),
    "The page of `to_html()`": (
        "test_plan_page.py::test_a_strangers_name_is_text",
        "test_plan_page.py::test_the_page_runs_its_own_script_and_nothing_else",
        "test_page_in_browser.py::test_a_strangers_name_is_seen_as_it_is",
        "test_page_in_browser.py::test_no_text_becomes_markup_even_by_a_fault_of_the_script",
    ),
    "A plan of more than `max_bytes`": (
        "test_strangers.py::test_a_plan_of_more_bytes_than_may_be_is_not_read",
        "test_strangers.py::test_nothing_endless_is_read_to_its_end",
        "test_strangers.py::test_a_million_empty_messages_are_refused_at_once",
    ),
    "A short plan that stands for an enormous one": (
        "proto/test_hostile.py::test_a_relation_of_2_to_the_60_paths_is_read_and_written",
        "proto/test_hostile.py::test_a_row_of_2_to_the_60_columns",
        "proto/test_hostile.py::test_a_type_of_2_to_the_60_fields",
        "proto/test_hostile_work.py::test_a_relation_that_is_a_thousand_inputs_of_a_set",
    ),
    "`plan.accesses()` names": (
        "test_strangers.py::test_all_accesses_of_a_plan_are_found",
        "test_strangers.py::test_accesses_of_all_trees_of_a_plan",
    ),
    "`execute`, `collect`, `show` and `running` with `allow`": (
        "test_strangers.py::test_what_is_not_allowed_is_refused_before_the_session_is_asked",
    ),
    "No text of a plan becomes SQL": (
        "spark/test_strangers.py::test_no_text_of_a_plan_becomes_sql",
        "test_hostile_texts.py::test_names_and_texts_without_java",
        "test_texts_in_code.py::test_what_stands_between_quotes_is_in_the_table",
        "test_texts_in_code.py::test_who_has_text_parsed_is_in_the_table",
        "test_texts_in_code.py::test_text_of_types_and_messages_ends_no_constant",
    ),
    "A name in a plan is that of a table": (
        "spark/test_strangers.py::test_a_name_is_that_of_a_table",
        "spark/test_strangers.py::test_a_database_may_have_the_name_of_a_format",
    ),
    "Nothing is put in the place of `${...}`": ("spark/test_strangers.py::test_nothing_is_put_in_the_place_of_a_name",),
    "`explain(spark)` changes": (
        "spark/test_strangers.py::test_to_explain_a_change_changes_nothing",
        "spark/test_strangers.py::test_spark_says_nothing_to_a_terminal",
    ),
    "Relations that are used over and over": (
        "spark/test_strangers.py::test_what_is_used_more_and_more_often_is_refused",
        "spark/test_strangers.py::test_numbers_that_take_all_memory_are_refused",
        "spark/test_string_functions.py::test_like_takes_time_as_the_text_is_long",
        "spark/test_string_functions.py::test_like_with_constant_patterns_of_many_parts",
    ),
    "A metadata file of Iceberg chooses": (
        "spark/test_strangers.py::test_a_metadata_file_of_iceberg_chooses_no_class",
        "spark/test_strangers.py::test_a_metadata_file_of_iceberg_chooses_no_host",
    ),
    "A Parquet file on this machine and an Arrow file": (
        "spark/test_strangers.py::test_a_parquet_file_chooses_no_class",
        "spark/test_strangers.py::test_a_pattern_and_a_scheme_hide_no_class",
        "spark/test_strangers.py::test_an_arrow_file_loads_no_pickle",
    ),
    "What lies in a folder": ("spark/test_strangers.py::test_a_folder_does_not_choose_what_else_is_read",),
    "An extension file is text alone": (
        "test_strangers.py::test_tags_of_an_extension_file_make_no_objects",
        "catalog/test_load.py::test_no_text_of_a_file_stands_for_another",
    ),
    "The mypy plugin evaluates what one table allows": (
        "test_typing_allowed.py::test_what_is_in_no_table_is_not_called",
        "test_typing_allowed.py::test_every_method_of_a_value_is_pure",
        "test_typing_allowed.py::test_what_would_be_huge_is_not_computed",
        "test_typing_allowed.py::test_steps_and_columns_have_a_bound",
    ),
}
"""How each promise of the page begins, and the tests that fail if it does not hold."""


def promises() -> list[str]:
    """The promises of the page, each as one line."""
    text = PAGE.read_text().partition("## What is promised\n")[2].partition("\n## ")[0]
    return [" ".join(each.split()) for each in re.findall(r"^- (.*?)(?=\n\n|\n- |\Z)", text, re.DOTALL | re.MULTILINE)]


@cache
def functions_in(module: str) -> frozenset[str]:
    """The names of the functions at the top of a module of tests."""
    tree = ast.parse((TESTS / module).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_each_promise_is_in_the_table() -> None:
    made = promises()
    assert len(made) > 10
    assert len(made) == len(PROMISES)
    for promise, start in zip(made, PROMISES, strict=True):
        assert promise.startswith(start)


@pytest.mark.parametrize("start", PROMISES)
def test_the_tests_of_a_promise_are_there(start: str) -> None:
    assert PROMISES[start]
    for test in PROMISES[start]:
        module, _, function = test.partition("::")
        assert function in functions_in(module), test
