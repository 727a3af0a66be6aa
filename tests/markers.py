"""The markers of tests: what a test needs follows from the fixtures that it uses, directly or through others.

No test carries one of these markers by hand, so none can lack it. What takes long without a fixture that says so is in
one table. `tests/test_markers.py` holds both to what is there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

MARKERS: Mapping[str, str] = {
    "spark": "needs Spark, and so Java",
    "slow": "takes long; CI runs it after everything else",
    "engines": "needs an engine beside Spark: DuckDB or DataFusion",
    "lake": "needs Spark with Iceberg tables",
    "shared": "needs data outside of the project",
}
"""What each marker says of a test."""

BY_FIXTURE: Mapping[str, tuple[str, ...]] = {
    "spark": ("spark",),
    "java": ("spark",),
    "lake": ("spark", "lake", "slow"),
    "duckdb": ("engines",),
    "datafusion": ("engines",),
    "sail": ("slow",),
    "tpcds": ("slow",),
    "browser": ("slow",),
    "validator_cache": ("slow",),
    "duckdb_cache": ("slow",),
    "duckdb_substrait": ("engines", "slow"),
    "acero": ("slow",),
    "explain_cache": ("slow",),
    "go_cache": ("slow",),
    "ibis_cache": ("slow",),
    "isthmus_cache": ("spark", "slow"),
    "library_cache": ("slow",),
    "shared": ("shared",),
}
"""The markers that a test has because of a fixture. All tests of lake tables are slow to start: see `tests/lake`."""

ENGINES = ("duckdb", "datafusion")
"""Packages that tests cannot import without the marker ``engines``. No module of tests imports them at its top."""

SLOW = frozenset(
    {
        # type checkers, which check programs in processes of their own
        "test_schema_modules_in_checkers.py",
        "test_typing.py::test_checkers_object_to_the_faulty_lines_and_to_no_others",
        "test_typing.py::test_strict_pyright_knows_the_types_where_pyspark_is_missing",
        "test_typing_agreement.py",
        "test_typing_caches.py",
        "test_typing_computed.py",
        "test_typing_docs.py::test_mypy_finds_no_fault_in_the_recipes",
        "test_typing_docs.py::test_mypy_says_what_the_page_says",
        "test_typing_dynamic.py",
        "test_typing_escapes.py",
        "test_typing_internals.py",
        "test_typing_loading.py::test_a_change_of_the_library_makes_mypy_check_again",
        "test_typing_partial.py::test_what_remains_known_is_what_the_run_shows",
        "test_typing_plugin.py::test_mypy_says_what_the_comments_say_and_nothing_else",
        "test_typing_programs.py",
        "test_typing_report.py::test_mypy_says_what_is_not_evaluated_to_those_who_ask",
        "test_typing_report.py::test_parts_that_are_known_are_counted_and_the_others_said",
        "test_typing_team.py",
        "test_typing_variables.py",
        "test_wheel.py::test_two_lines_of_configuration_check_the_columns_of_every_step",
        # kernels of Jupyter
        "test_notebooks.py::test_a_notebook_runs_and_shows_what_is_stored_in_it",
        # runs of other tests
        "test_contract_plugin.py",
        "test_testing.py::test_the_tests_of_the_page_pass_in_pytest",
        "test_markers.py::test_a_marker_that_is_written_by_hand_is_refused",
        "test_markers.py::test_markers_follow_from_fixtures",
        "test_markers.py::test_tests_are_collected_with_few_calls",
        "test_markers.py::test_what_is_skipped_fails_where_no_tool_may_be_missing",
        "spark/test_cluster.py",
        "spark/test_connect.py",
        "spark/test_embedded.py",
        "test_pickling.py::test_a_pool_of_processes",
        "spark/test_claimed_commits.py",
        "test_mutations.py::test_tests_that_catch_are_told_from_those_that_do_not",
        # random plans
        "proto/test_fuzz.py",
        "partiql/test_parts.py::test_every_part_is_lowered_and_read_back_from_a_plan",
        "partiql/test_random_trees.py",
        "proto/test_extended.py::test_any_expressions_come_back_from_bytes",
        "proto/test_extended.py::test_any_expressions_come_back_from_json",
        "test_rules.py::test_a_chain_of_verbs_has_the_schema_that_the_rules_say",
        "trees/test_round_trip.py",
        # whole queries, and many plans of one kind
        "engines/test_check.py::test_a_plan_raises_no_error",
        "engines/test_check.py::test_needs_of_the_algebra_are_those_of_the_message",
        "engines/test_acero_programs.py",
        "engines/test_partition_windows.py",
        "engines/test_acero_session.py::test_a_function_of_another_that_has_the_name_is_refused",
        "engines/test_acero_session.py::test_a_process_that_has_not_registered_the_functions",
        "engines/test_acero_session.py::test_queries_of_tpch_have_the_rows_of_their_sql_text",
        "engines/test_acero_session.py::test_without_pyarrow_the_line_to_install_it",
        "engines/test_function_cases.py",
        "engines/test_calls_of_little.py",
        "engines/test_other_values.py",
        "engines/test_page.py::test_the_tables_are_what_the_profiles_say",
        "engines/test_pipelines.py",
        "engines/test_session_verdicts.py::test_a_check_needs_no_pyspark",
        "engines/test_sessions.py",
        "engines/test_processes.py",
        "engines/test_probes.py",
        "engines/test_tpch.py",
        "engines/test_verdicts.py",
        "spark/test_functions.py::test_scalar_cases",
        "spark/test_joins.py::test_equal_keys_are_hashed",
        "spark/test_joins.py::test_subqueries_in_conditions",
        "spark/test_reads.py::test_tables_are_listed_while_others_make_views",
        "spark/test_subqueries.py::test_as_conditions_and_as_values",
        # large plans, and many of one kind
        "catalog/test_specification_cases.py",
        "engines/test_growth.py",
        "partiql/test_notation.py::test_a_value_is_read_as_it_was_printed",
        "partiql/test_notation.py::test_an_expression_is_read_as_it_was_printed",
        "proto/test_decode_detached.py::test_a_large_detached_expression_that_means_another_in_many_lambdas_is_refused",
        "proto/test_decode_relations.py::test_chains_of_any_length_come_back",
        "proto/test_decode_trees.py::test_a_large_tree_that_means_something_else_in_each_of_many_places_is_refused",
        "proto/test_decode_trees.py::test_subqueries_in_each_other_by_the_thousand_are_refused",
        "proto/test_decode_trees.py::test_thousands_of_trees_that_refer_to_an_outer_row_are_read",
        "proto/test_decode_trees.py::test_trees_that_mean_something_else_in_each_of_many_places_are_refused",
        "proto/test_depth.py::test_a_sum_of_any_length_is_readable_and_complete",
        "proto/test_depth.py::test_deep_measures_and_sort_keys_are_readable",
        "proto/test_hostile.py::test_a_circle_of_thousands",
        "proto/test_lambdas.py::test_bodies_and_arguments_of_any_depth_come_back",
        "proto/test_nesting.py::test_what_is_written_is_read",
        "proto/test_read_datafusion.py::test_the_queries_of_tpch_mean_what_they_meant",
        "proto/test_unknown_fields.py::test_large_plans_are_read_in_time_that_grows_with_them",
        "proto/test_depth.py::test_any_tree_stays_within_the_limit",
        "proto/test_extended.py::test_expressions_of_any_depth_come_back",
        "proto/test_hostile.py::test_a_mapping_of_a_million_columns",
        "proto/test_hostile.py::test_short_relations_over_a_wide_one",
        "proto/test_hostile_work.py",
        "proto/test_large_plans.py",
        "test_pickling.py::test_five_thousand_steps_and_a_linear_size",
    }
)
"""Modules and functions, as pytest names them from the folder of the tests, that are slow without such a fixture."""


QUICK_ON_SPARK = frozenset(
    {
        "evaluation/test_programs.py",
        "spark/test_explain.py",
        "spark/test_expressions.py",
        "spark/test_failures.py",
        "spark/test_functions.py",
        "spark/test_groups.py",
        "spark/test_joins.py",
        "spark/test_outside_failures.py",
        "spark/test_physical.py",
        "spark/test_reads.py",
        "spark/test_rows.py",
        "spark/test_sets.py",
        "spark/test_subqueries.py",
        "spark/test_tour.py",
        "spark/test_unnest.py",
        "spark/test_windows.py",
        "spark/test_writes.py",
    }
)
"""The modules of tests on Spark that are not slow: the tour, and what most people use."""


def add_markers(item: pytest.Item) -> None:
    """Give a test the markers that follow from its fixtures and from the table of what is slow.

    Raises:
        pytest.UsageError: the test carries one of them by hand.
    """
    for marker in item.iter_markers():
        if marker.name in MARKERS:
            raise pytest.UsageError(
                f"{item.nodeid}: the marker {marker.name} is written by hand; take a fixture that stands for it, "
                "or a line in SLOW (tests/markers.py)"
            )
    names = {marker for fixture in fixtures(item) for marker in BY_FIXTURE.get(fixture, ())}
    module = _module(item.path)
    function = getattr(item, "originalname", item.name)
    is_listed = module in SLOW or f"{module}::{function}" in SLOW
    if is_listed or ("spark" in names and module not in QUICK_ON_SPARK):
        names.add("slow")
    for name in sorted(names):
        item.add_marker(name)


@cache
def _module(path: Path) -> str:
    """The path of a module from the folder of the tests."""
    return Path(os.path.relpath(path, TESTS)).as_posix()


def fixtures(item: pytest.Item) -> set[str]:
    """The names of the fixtures that a test uses, directly or through others; a parameter may be called like one."""
    parameters: Mapping[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    return {*getattr(item, "fixturenames", ())} - parameters.keys()
