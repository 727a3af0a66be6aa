"""Whether a row has a match in a table, in three-valued logic: true, false, or unknown.

Spark's own ``x IN (subquery)`` gives false for unknown wherever it stands as a value, so the answer is put together
from ``EXISTS``, which Spark plans as joins: true if a row matches; else unknown if some row would match, could the
NULLs in the way be anything; else false.
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

_MOST_UNKNOWNS = 3
"""Above so many tests that can be unknown, the combinations of them (two to their power) cost more than they save."""


@attrs.frozen
class Key:
    """A test that a value of the row outside equals a value of the table's row."""

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
    """Any other condition on the row outside and the table's row."""

    value: str
    nullable: bool
    holds: str
    """True exactly where the value is."""

    @property
    def unknown(self) -> str:
        return f"({self.value}) IS NULL"


def mark(
    table: TextTable, tests: Sequence[Key | Test], execution: ExecutionContext, *, outside: Sequence[str], fixed: bool
) -> str:
    """A boolean: whether a row passes all tests.

    Args:
        table: the rows to look among.
        tests: what a matching row passes.
        execution: where new names come from.
        outside: the columns of the row outside that the rows among which is looked depend on.
        fixed: whether the table and the keys in it are the same for every row outside.
    """
    matched = table.exists(*(test.holds for test in tests), outside=outside)
    unknown = list(_unknown_matches(table, tests, execution, outside, fixed))
    if not unknown:
        return matched
    return f"(CASE WHEN {matched} THEN true WHEN {' OR '.join(unknown)} THEN CAST(NULL AS BOOLEAN) ELSE false END)"


def _unknown_matches(
    table: TextTable, tests: Sequence[Key | Test], execution: ExecutionContext, outside: Sequence[str], fixed: bool
) -> Iterator[str]:
    """For each choice of tests: whether there is a row for which they are unknown and the others hold."""
    match tests:
        case [Key(nullable=True) as key] if fixed:
            yield _unknown_match(table, key, execution)
            return
    nullable = [number for number, test in enumerate(tests) if test.nullable]
    if len(nullable) > _MOST_UNKNOWNS:
        yield table.exists(f"({' AND '.join(test.value for test in tests)}) IS NULL", outside=outside)
        return
    for size in range(1, len(nullable) + 1):
        for unknown in combinations(nullable, size):
            keys = [test for test in tests if isinstance(test, Key)]
            small, small_tests = (
                _reduced(table, keys, unknown, execution) if fixed and len(keys) == len(tests) else (table, tests)
            )
            yield small.exists(
                *(test.unknown if number in unknown else test.holds for number, test in enumerate(small_tests)),
                outside=outside,
            )


def _unknown_match(table: TextTable, key: Key, execution: ExecutionContext) -> str:
    """Whether there is a row for which the only key is unknown: any row, or one with NULL if there is one outside.

    Of the table this needs one value: NULL if it has no rows, else whether any has NULL.
    """
    (has_null,) = execution.names(1)
    found = table.group((), [Item(f"max({key.inside} IS NULL)", (has_null,))])
    return f"(({found.query()}) >= ({key.outside} IS NOT NULL))"


def _reduced(
    table: TextTable, keys: Sequence[Key], unknown: tuple[int, ...], execution: ExecutionContext
) -> tuple[TextTable, list[Key]]:
    """The distinct rows of what the tests need, where an unknown key needs no more than whether it is NULL.

    Without this, unknown keys would be looked for by comparing all rows with all rows.
    """
    names = execution.names(len(keys))
    made = [
        Item(f"if({key.inside} IS NULL, NULL, 0)" if number in unknown else key.inside, (name,))
        for number, (key, name) in enumerate(zip(keys, names, strict=True))
    ]
    small = table.select(made).group(names, ())
    return small, [attrs.evolve(key, inside=name) for key, name in zip(keys, names, strict=True)]
