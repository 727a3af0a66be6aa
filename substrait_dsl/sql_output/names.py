"""Names in a query: which ones need quotes, and new ones for parts of it."""

from __future__ import annotations

from collections.abc import Iterable
from re import fullmatch
from typing import TYPE_CHECKING

from substrait_dsl.errors import UnsupportedError

if TYPE_CHECKING:
    from sqlglot import exp

_RESERVED = (
    "add all alter analyse analyze and anti any array as asc asof asymmetric at between both by case cast "
    "check cluster collate collation column commit concurrently constraint create cross cube current "
    "current_catalog current_date current_role current_schema current_time current_timestamp current_user "
    "date deferrable delete desc describe distinct distribute div do drop else end escape except exists "
    "extract false fetch filter following for foreign freeze from full function generated glob global grant "
    "group grouping having ilike in initially inner insert intersect interval into is isnull join lambda "
    "lateral leading left like limit local localtime localtimestamp map minus natural not notnull null of "
    "offset on only or order outer over overlaps partition percent pivot pivot_longer pivot_wider placing "
    "positional preceding primary qualify range references reduce returning right rollup row rows select semi "
    "session_user set show similar some sort struct summarize symmetric table tablesample then time timestamp "
    "to trailing true unbounded union unique unknown unpivot update user using values variadic verbose view "
    "when where window with within"
)
RESERVED = frozenset(_RESERVED.split(" "))
"""The words that are no names without quotes in one of the dialects, or that a reader takes for something else."""


def identifier(name: str) -> exp.Identifier:
    """Return a name, in quotes where it needs them. Raises `UnsupportedError` for an empty one."""
    from sqlglot import exp

    if not name:
        raise UnsupportedError("an empty name is not written as SQL", hint="rename the column, by rename({...})")

    plain = fullmatch("[a-z_][a-z0-9_]*", name) is not None and name not in RESERVED
    return exp.to_identifier(name, quoted=not plain)


def fold(name: str) -> str:
    """Return what two names share that an engine may take for one: it does not tell capital letters from small ones."""
    return name.translate(_LETTERS_I).casefold()


_LETTERS_I = str.maketrans({"\u0130": "i", "\u0131": "i"})
"""The capital i with a dot and the small one without: to Java each is an i in the other case."""


class Names:
    """Gives each part of a query a name of its own."""

    def __init__(self, tables: Iterable[str] = ()) -> None:
        """`tables`: the names that mean tables, wherever they stand."""
        self._tables = {fold(name) for name in tables}
        self._taken: set[str] = set()

    def take(self, wanted: str, *, is_table: bool = False) -> str:
        """Return the name that is wanted, with a number behind it if it is taken, or means another table."""
        number, name = 1, wanted
        while fold(name) in self._taken or (fold(name) in self._tables and not is_table):
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(fold(name))
        return name


def distinct_names(names: Iterable[str]) -> list[str]:
    """Return names of which no two are the same to an engine."""
    numbered = Names()
    return [numbered.take(name or "column") for name in names]
