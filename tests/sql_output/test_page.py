"""docs/sql.md: its tables are those of the code, and each function in them is one of the specification."""

from __future__ import annotations

import doctest

import pytest

from substrait_dsl.algebra.function_ids import STANDARD
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.sql_output.aggregate_functions import WRITTEN_AGGREGATES
from substrait_dsl.sql_output.functions import FUNCTIONS, OF_THEIR_OWN
from substrait_dsl.sql_output.window_functions import FIRSTS, RANKS, SHIFTS
from tests.sql_output.page import PAGE, written


def test_tables_are_those_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert written(text) == text, "run python -m tests.sql_output.page"


def test_functions_are_those_of_the_specification() -> None:
    known = {(each.urn, each.name) for each in standard_catalog().functions()}
    for table in (FUNCTIONS, OF_THEIR_OWN):
        for extension, functions in table.items():
            for name in functions:
                assert (STANDARD + extension, name.partition(":")[0]) in known, name
    names = {name for _, name in known}
    assert names >= {*WRITTEN_AGGREGATES, *RANKS, *SHIFTS, *FIRSTS}


@pytest.mark.usefixtures("datafusion")
def test_examples_of_the_page_run() -> None:
    page = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert page.attempted >= 5
    assert not page.failed
