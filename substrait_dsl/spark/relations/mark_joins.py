"""Mark columns: whether a row has a match in a table, in three-valued logic.

As a value, Spark's own ``x IN (subquery)`` gives false for unknown. So the mark is put together: true if a row matches;
else NULL if a row would match were it not for NULLs; else false.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.spark.relations.tables import Item
from substrait_dsl.spark.relations.texts import TextTable

if TYPE_CHECKING:
    from substrait_dsl.spark.session.execution_context import ExecutionContext

_MAX_UNKNOWNS = 3
"""With more nullable tests, their combinations (two to their power) cost more than they save."""


@attrs.frozen
class Key:
    """An equality of a value of the outer row and a value of the table's row."""

    outside: str
    inside: str
    nullable: bool

    @property
    def value(self) -> str:
        return f"({self.outside} = {self.inside})"

    @property
    def holds(self) -> str:
        return self.value

    @property
    def unknown(self) -> str:
        return f"({self.outside} IS NULL OR {self.inside} IS NULL)"


@attrs.frozen
class Test:
    """Any other condition on the outer row and the table's row."""

    value: str
    nullable: bool
    holds: str
    """True exactly where the value is."""

    @property
    def unknown(self) -> str:
        return f"({self.value}) IS NULL"


def mark(
    table: TextTable,
    tests: Sequence[Key | Test],
    execution: ExecutionContext,
    *,
    outer_columns: Sequence[str],
    fixed: bool,
) -> str:
    """Write a mark: whether a row of the table passes all tests.

    Args:
        table: the rows that are searched.
        tests: the conditions of a match.
        execution: the execution context.
        outer_columns: the columns of the outer row on which the table depends.
        fixed: whether the table and the keys in it are the same for every outer row.
    """
    matched = table.exists(*(test.holds for test in tests), outer_columns=outer_columns)
    unknown = list(_unknown_matches(table, tests, execution, outer_columns, fixed))
    if not unknown:
        return matched
    return f"(CASE WHEN {matched} THEN true WHEN {' OR '.join(unknown)} THEN CAST(NULL AS BOOLEAN) ELSE false END)"


def _unknown_matches(
    table: TextTable,
    tests: Sequence[Key | Test],
    execution: ExecutionContext,
    outer_columns: Sequence[str],
    fixed: bool,
) -> Iterator[str]:
    """Yield, for each combination of nullable tests: whether these are unknown for a row and the others hold."""
    match tests:
        case [Key(nullable=True) as key] if fixed:
            yield _unknown_match(table, key, execution)
            return
    nullable = [number for number, test in enumerate(tests) if test.nullable]
    if len(nullable) > _MAX_UNKNOWNS:
        yield table.exists(f"({' AND '.join(test.value for test in tests)}) IS NULL", outer_columns=outer_columns)
        return
    for size in range(1, len(nullable) + 1):
        for unknown in combinations(nullable, size):
            keys = [test for test in tests if isinstance(test, Key)]
            small, small_tests = (
                _reduce_keys(table, keys, unknown, execution) if fixed and len(keys) == len(tests) else (table, tests)
            )
            yield small.exists(
                *(test.unknown if number in unknown else test.holds for number, test in enumerate(small_tests)),
                outer_columns=outer_columns,
            )


def _unknown_match(table: TextTable, key: Key, execution: ExecutionContext) -> str:
    """Whether the only key is unknown for some row: for any row if the outer value is NULL, else for one with NULL.

    This needs one value of the table: NULL if it has no rows, else whether some row has NULL.
    """
    (has_null,) = execution.names(1)
    found = table.group((), [Item(f"max({key.inside} IS NULL)", (has_null,))])
    return f"(({found.query()}) >= ({key.outside} IS NOT NULL))"


def _reduce_keys(
    table: TextTable, keys: Sequence[Key], unknown: tuple[int, ...], execution: ExecutionContext
) -> tuple[TextTable, list[Key]]:
    """The distinct keys of the table; of an unknown key only whether it is NULL.

    Without this, unknown keys would be searched by comparing all rows with all rows.
    """
    names = execution.names(len(keys))
    key_items = [
        Item(f"if({key.inside} IS NULL, NULL, 0)" if number in unknown else key.inside, (name,))
        for number, (key, name) in enumerate(zip(keys, names, strict=True))
    ]
    small = table.select(key_items).group(names, ())
    return small, [attrs.evolve(key, inside=name) for key, name in zip(keys, names, strict=True)]
