"""Random pipelines, lowered to DataFusion, give the rows that DuckDB gives, or are refused by name.

How many there are, and which, the variables of `tests/differential/test_pipelines.py` say; here a fifth of them run.
"""

from __future__ import annotations

from collections import Counter

from substrait_dsl.errors import UnsupportedError
from tests.differential.engines import case_of, duckdb_engine
from tests.differential.pipelines import pipeline
from tests.differential.test_pipelines import PIPELINES, SEED
from tests.engines.runners import canonical_rows, run_on_datafusion, with_random_tables


def test_rows_are_those_of_duckdb(duckdb: None, datafusion: None) -> None:
    from duckdb import ConversionException, OutOfRangeException

    connection, context = duckdb_engine(), with_random_tables()
    counted: Counter[str] = Counter()
    different: list[tuple[int, str]] = []
    numbers = range(PIPELINES // 5)
    for number in numbers:
        relation = pipeline(SEED, number)
        try:
            data = relation.to_plan().to_bytes(engine="datafusion")
        except UnsupportedError:
            counted["refused"] += 1
            continue
        try:
            found = canonical_rows(run_on_datafusion(context, data))
        except Exception:  # DataFusion refuses it with an error of any class: that is no wrong row
            counted["refused by DataFusion"] += 1
            continue
        try:
            case = case_of(number, relation, connection)
        except (OutOfRangeException, ConversionException):
            counted["fail in DuckDB"] += 1
            continue
        difference = case.difference(found)
        counted["different" if difference else "equal"] += 1
        if difference:
            different.append((number, difference))
    assert different == []
    assert counted["equal"] > len(numbers) // 2
    assert counted["refused by DataFusion"] < len(numbers) // 20
