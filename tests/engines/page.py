"""Writes the tables of docs/engines.md: what each engine takes, by its profile or, for Spark and Sail, by `check`.

Run from the repository's root after a change of a profile or of the lowering: ``python -m tests.engines.page``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

from substrait_dsl.engines.profile import Profile, shipped_profiles
from substrait_dsl.engines.rules import RULES
from tests.engines.corpus import PLANS
from tests.engines.corpus_forms import LITERALS, RELATIONS, SCALARS, SINGLE, UNKNOWN, WINDOWS, Made, column_of

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"

PROFILES: tuple[Profile, ...] = tuple({each.name: each for each in shipped_profiles().values()}.values())

SESSIONS = {"spark": "Spark 4", "sail": "Sail 0.7"}
"""The engines that run plans in a session, and get no bytes."""

WORDS = {"runs": "yes", "runs lowered": "lowered", "refused": "-"}
"""What the page says for the verdicts."""

Cells = tuple[str, ...]


def written(text: str) -> str:
    """The page with its tables written anew."""
    for name, table in TABLES.items():
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = marked.subn(partial(_replaced, table()), text)
        assert count == 1, name
    return text


def _replaced(table: str, found: re.Match[str]) -> str:
    return f"{found[1]}{table}\n{found[2]}"


def table_of(first: str, rows: Iterable[tuple[str, Cells]], further: Iterable[str] = ()) -> str:
    """A table with a column for each engine that has a profile, and further ones."""
    head = [first, *map(str, PROFILES), *further]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join((name, *cells)) + " |" for name, cells in rows)])


def merged(rows: Iterable[tuple[str, Cells]]) -> Iterator[tuple[str, Cells]]:
    """Rows that follow one another and say the same, as one."""
    for cells, some in groupby(rows, key=lambda row: row[1]):
        yield ", ".join(name for name, _ in some), cells


def verdicts(made: Made) -> Cells:
    return tuple(WORDS[made.check(name).verdict] for name in (*(each.name for each in PROFILES), *SESSIONS))


def plans() -> str:
    """Small plans, by what they show."""
    some: dict[str, Callable[[], Made]] = {**PLANS, **RELATIONS, **WINDOWS, **SCALARS, **UNKNOWN}
    return table_of("a plan with", merged((name, verdicts(make())) for name, make in some.items()), SESSIONS.values())


def constants() -> str:
    """Constants of each type, over a table: not all engines read rows in a plan."""
    rows = ((f"`{kind}`", verdicts(column_of(kind, values[0], SINGLE))) for kind, values in LITERALS.items())
    return table_of("a constant of", merged(rows), SESSIONS.values())


def shapes() -> str:
    """What an engine does to what is not lowered."""
    rows = []
    for rule in RULES:
        cells = tuple(profile.shapes.get(rule.code, "?") for profile in PROFILES)
        rows.append((f"`{rule.code}`: {rule.cure}", cells))
    return table_of("a rule, and what is written instead", rows)


def functions() -> str:
    """The functions of the specification by the engines that have them under their own name, or lowered."""
    every = {(kind, urn, _name(key)) for profile in PROFILES for kind, urn, key in profile.functions}
    rows = []
    for kind, urn, name in sorted(each for each in every if each[1].startswith(SPEC)):
        cells = tuple(_function(profile, kind, urn, name) for profile in PROFILES)
        rows.append((f"{kind.removesuffix(' function')}, {urn.removeprefix(SPEC)}", cells, name))
    lines = []
    for (of, cells), some in groupby(sorted(rows), key=lambda row: row[:2]):
        lines.append((f"{of}: " + ", ".join(f"`{name}`" for _, _, name in some), cells))
    return table_of("functions", lines)


SPEC = "extension:io.substrait:functions_"


def _function(profile: Profile, kind: str, urn: str, name: str) -> str:
    if name in profile.function_rules and kind == "scalar function":
        return "lowered"
    return "yes" if any((k, u, _name(key)) == (kind, urn, name) for k, u, key in profile.functions) else "-"


def _name(key: str) -> str:
    return key.partition(":")[0]


def casts() -> str:
    """The types that a type is cast to."""
    kinds = dict.fromkeys(kind for profile in PROFILES for kind in profile.casts)
    return table_of("from", ((f"`{kind}`", tuple(_targets(profile, kind) for profile in PROFILES)) for kind in kinds))


def _targets(profile: Profile, kind: str) -> str:
    return ", ".join(profile.casts.get(kind, ())) or "-"


TABLES: dict[str, Callable[[], str]] = {
    "plans": plans, "constants": constants, "functions": functions, "casts": casts, "shapes": shapes,
}  # fmt: skip
"""By the marks in the page."""

if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
