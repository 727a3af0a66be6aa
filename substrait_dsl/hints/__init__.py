"""Hints: what to write here for what people write elsewhere, and what to do about an error that does not say it.

The words stand in one table, `hints.toml`, which is loaded when a hint is first asked for.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Mapping

from substrait_dsl.errors import AmbiguousFieldError, SubstraitDslError

Table = Mapping[str, Mapping[str, str]]


@functools.cache
def table() -> Table:
    """The table of hints: for each receiver, what to write here by the words of others."""
    import tomllib
    from pathlib import Path

    return tomllib.loads(Path(__file__).with_name("hints.toml").read_text("utf-8"))


def hint_for(error: SubstraitDslError) -> str | None:
    """What to do about an error, by its fields; None if the table does not say it."""
    if error.remedy is None:
        return None
    fields = dict(vars(error))
    if isinstance(error, AmbiguousFieldError):
        fields["columns"] = " or ".join(f"col({position})" for position in error.positions)
    return string.Template(table()["errors"][error.remedy]).substitute(fields)
