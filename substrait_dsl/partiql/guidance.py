"""Hints for methods that values of the algebra do not have."""

from __future__ import annotations

from collections.abc import Iterable

from substrait_dsl.errors import suggestion
from substrait_dsl.hints import advice
from substrait_dsl.partiql.operations import FUNCTIONS

_VERBS = (
    "cross_join",
    "filter",
    "group_by",
    "join",
    "limit",
    "map_let",
    "map_values",
    "offset",
    "order_by",
    "pivot",
)
"""The verbs of bindings that values do not have."""


def method_hint(name: str, existing: Iterable[str]) -> str | None:
    """Return a hint for an unknown method of values; `there` are the methods that they have."""
    if name in _VERBS:
        return f'{name} is of bindings, and scan makes them of a value: scan(x, as_="f").{name}(..)'
    if name in FUNCTIONS:
        return f'write call("{name}", x)'
    own = [each for each in existing if not each.startswith("_")]
    found = advice("partiql", name)
    return f"write {found}" if found else suggestion(name, own)
