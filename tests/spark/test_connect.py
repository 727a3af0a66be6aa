"""A selection of the tests of Spark once more, on a client of Spark Connect: in a process of its own.

A process has classic sessions or remote ones. All tests run on either: ``pytest tests/spark --session connect``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SELECTION = {
    "long_pipelines": [
        "a_thousand_steps_with_functions",
        "many_steps_of_every_kind",
        "a_union_of_many",
        "the_views_that_cut_plans_can_be_dropped",
    ],
    "rows": [
        "sort_places_nulls",
        "fetch_by_expressions",
        "any_names_come_out_as_they_are",
        "texts_are_never_read_as_sql",
        "every_type_comes_back_as_it_went",
        "nested_names_and_nullability",
        "settings_that_change_meaning_are_refused",
    ],
    "joins": ["a_relation_joined_with_itself"],
    "single_joins": [
        "a_second_match_is_an_error_even_if_nothing_uses_the_columns",
        "a_second_match_is_an_error_whatever_is_filtered",
    ],
    "physical_joins": ["subqueries_in_a_residual"],
    "lateral": ["subqueries_in_the_condition_see_both_rows", "the_one_row_of_an_aggregate_is_a_single_match"],
    "correlated_limits": ["subqueries_that_look_among_the_first_rows"],
    "groups": ["grouping_sets_repeated_and_empty", "subqueries_in_keys_and_measures"],
    "measures": ["ordered_measures"],
    "sets": ["the_examples_of_the_specification", "columns_that_spark_cannot_compare"],
    "subqueries": ["nested_and_two_rows_out", "what_is_not_text_becomes_a_dataframe"],
    "windows": ["frames_without_rows", "windows_anywhere"],
    "nested": ["lambdas", "the_time_is_one_for_the_whole_plan"],
    "physical": [
        "top_n_with_ties",
        "expand",
        "exchanges_lay_rows_out_and_change_none",
        "shared_relations_may_be_persisted",
    ],
    "reads": [
        "a_missing_table_is_named_with_near_misses",
        "every_column_that_does_not_fit_is_told",
        "a_table_in_a_catalog",
        "virtual_tables_without_rows_or_columns",
    ],
    "files": [
        "files_of_each_format",
        "times_of_arrow_files_without_a_zone_and_files_without_rows",
    ],
    "delimited_text": ["delimited_text"],
    "writes": ["insert", "what_a_change_gives_can_be_computed_with", "tables_in_memory"],
    "explain": ["each_mode_of_sparks", "names_are_led_back_to_columns", "a_plan_explains_each_root"],
    "failures": [
        "the_step_and_the_expression_are_named",
        "a_null_in_a_required_column_names_the_read",
        "a_remainder_that_java_cannot_compute",
        "running_translates_what_comes_of_the_relation_only",
        "what_the_plan_knows_nothing_of_is_told_without_stacks_and_names",
    ],
    "outside_failures": ["a_table_that_vanishes_while_it_is_used", "where_nothing_may_be_written"],
    "progress": ["a_slow_job_shows_how_far_it_is"],
    "exactness": ["points_in_time_as_rows"],
}
"""By module, the tests that together run every relation and what differs between the two kinds of sessions."""

OF_EVALUATION = {
    "programs": [
        "a_root_has_the_rows_of_its_turn",
        "the_images_before_and_after_and_counts_of_both",
        "a_reference_is_one_result_set",
    ],
    "kept": [
        "what_a_view_or_a_folder_reads_is_kept",
        "a_shared_relation_on_another_is_kept",
        "what_is_written_and_what_is_returned_is_one_result_set",
    ],
}
"""Likewise, of how plans are evaluated: such a session analyses a plan anew whenever rows are asked for."""

SELECTED_TESTS = [
    f"tests/{room}/test_{module}.py::test_{name}"
    for room, modules in (("spark", SELECTION), ("evaluation", OF_EVALUATION))
    for module, names in modules.items()
    for name in names
]


@pytest.mark.usefixtures("java")
def test_a_selection_runs_on_spark_connect(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--session") == "connect":
        pytest.skip("the whole run is on Spark Connect")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--session", "connect", *SELECTED_TESTS]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1500, check=False)
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert "skipped" not in run.stdout
