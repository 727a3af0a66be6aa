"""Writes the tables of docs/sql.md: which functions `to_sql` writes in which dialect.

Run from the repository's root after a change of `substrait_dsl.sql_output`: ``python -m tests.sql_output.page``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from substrait_dsl.sql_output.aggregate_functions import WRITTEN_AGGREGATES
from substrait_dsl.sql_output.functions import FUNCTIONS, OF_THEIR_OWN
from substrait_dsl.sql_output.window_functions import FIRSTS, RANKS, SHIFTS

PAGE = Path(__file__).parents[2] / "docs" / "sql.md"

KINDS = {"int": "integers", "fp": "floating-point numbers"}


def rows() -> Iterator[str]:
    """The rows of the table of scalar functions."""
    for extension in sorted({*FUNCTIONS, *OF_THEIR_OWN}):
        lines = [(name, only, "yes", "yes") for name, only in OF_THEIR_OWN.get(extension, {}).items()]
        for key, rule in FUNCTIONS.get(extension, {}).items():
            name, _, kind = key.partition(":")
            only = "; ".join(filter(None, (f"of {KINDS[kind]}" if kind else "", rule.only)))
            lines.append((name, only, "yes" if rule.duckdb else "-", "yes" if rule.spark else "-"))
        for name, only, on_duckdb, on_spark in sorted(lines):
            yield f"| {extension.removeprefix('functions_')} | `{name}` | {only} | {on_duckdb} | {on_spark} |"


def scalars() -> str:
    """The table of scalar functions."""
    return "\n".join(["| extension | function | which calls | DuckDB | Spark |", "|---|---|---|---|---|", *rows()])


def others() -> str:
    """The aggregate and the window functions."""
    aggregates = ", ".join(f"`{name}`" for name in WRITTEN_AGGREGATES)
    windows = ", ".join(f"`{name}`" for name in (*RANKS, *SHIFTS, *FIRSTS))
    return f"Aggregate functions, also over windows: {aggregates}. Window functions: {windows}."


def written(text: str) -> str:
    """The page with its tables written anew."""
    for name, table in {"scalars": scalars(), "others": others()}.items():
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = marked.subn(partial(_replaced, table), text)
        assert count == 1, name
    return text


def _replaced(table: str, found: re.Match[str]) -> str:
    return f"{found[1]}{table}\n{found[2]}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
