"""Writes the tables of docs/guards.md: the guards against faults of Spark and of Sail.

Run from the repository's root after a change of a guard: ``python -m tests.spark.guards_page``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from substrait_dsl.spark.guards.files import FILES
from substrait_dsl.spark.guards.queries import QUERIES
from substrait_dsl.spark.guards.values import VALUES
from substrait_dsl.spark.sail.guards import GUARDS as SAIL
from substrait_dsl.spark.session.engines import ErrorWords, Guard

PAGE = Path(__file__).parents[2] / "docs" / "guards.md"


def written(text: str) -> str:
    """The page with its parts written anew."""
    for name, part in PARTS.items():
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = marked.subn(partial(_replaced, part()), text)
        assert count == 1, name
    return text


def _replaced(part: str, found: re.Match[str]) -> str:
    return f"{found[1]}{part}\n{found[2]}"


def entries(guards: Iterable[Guard]) -> str:
    """Guards with the right answer and the reason of it, each with its query."""
    return "\n\n".join(map(_entry, guards))


def _entry(guard: Guard) -> str:
    versions = "to".join(f" {version} " for version in dict.fromkeys((guard.versions[0], guard.versions[-1]))).strip()
    issue = f" [{guard.issue}](https://issues.apache.org/jira/browse/{guard.issue})." if guard.issue else ""
    answers = f"Spark {versions} gives {_fault(guard)}, right is {_value(guard.right)}: {guard.reason}.{issue}"
    checks = f"Checked or written by {', '.join(f'`{name}`' for name in guard.check)}."
    return "\n".join(
        [f"**{guard.name}**: {guard.plans}. {answers} {checks}", "", "```sql", _visible(guard.canary), "```"]
    )


def table(guards: Iterable[Guard]) -> str:
    """Guards whose right answer is Spark's."""
    rows = (
        f"| {guard.name} | {guard.plans} | `{_visible(guard.canary).replace('|', chr(92) + '|')}` | {_fault(guard)} |"
        f" {', '.join(f'`{name}`' for name in guard.check) or 'templates'} |"
        for guard in guards
    )
    return "\n".join(["| guard | plans | query | gives | checked or written by |", "|---|---|---|---|---|", *rows])


def _fault(guard: Guard) -> str:
    if guard.is_of_schema:
        return "a column that is nullable" if guard.fault else "a column that is not nullable"
    return _value(guard.fault)


def _value(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case ErrorWords(""):
            return "an error"
        case ErrorWords(words):
            return f"an error with `{words}`"
        case _:
            return f"`{value!r}`"


def _visible(text: str) -> str:
    """A text whose characters that cannot be seen are named."""
    return text.replace("\ufeff", "<U+FEFF>").replace("\ufffd", "<U+FFFD>")


PARTS: dict[str, Callable[[], str]] = {
    "queries": lambda: entries(QUERIES),
    "values": lambda: entries(VALUES),
    "files": lambda: entries(FILES),
    "sail": lambda: table(SAIL),
}
"""By the marks in the page."""

if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
