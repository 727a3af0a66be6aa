"""What people write out of habit where the algebra has another word for it."""

from __future__ import annotations

from collections.abc import Iterable

from substrait_dsl.errors import suggestion
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
"""What bindings can do, and values cannot."""

_HABITS = {
    "and_": "x & y",
    "between": "(low <= x) & (x <= high)",
    "cast": "as_integer(x), as_float(x), as_text(x) or as_boolean(x) of a dynamic value",
    "equals": "x == y",
    "is_not_null": "~x.is_null()",
    "is_not_missing": "~x.is_missing()",
    "isin": "x.is_in(y)",
    "isnull": "x.is_null()",
    "not_": "~x",
    "or_": "x | y",
    "scan": 'scan(x, as_="f")',
    "select": 'scan(x, as_="f").map_values(lambda t: struct(a=t.f.a))',
    "unpivot": 'unpivot(x, as_="v", at="k")',
    "where": 'scan(x, as_="f").filter(lambda t: ..)',
}
"""What people call that is written in another way."""


def instead(name: str, there: Iterable[str]) -> str | None:
    """What to write where a method is called that values do not have; `there` are the names that they have."""
    if name in _VERBS:
        return f'{name} is of bindings, and scan makes them of a value: scan(x, as_="f").{name}(..)'
    if name in FUNCTIONS:
        return f'write call("{name}", x)'
    own = [each for each in there if not each.startswith("_")]
    return f"write {_HABITS[name]}" if name in _HABITS else suggestion(name, own)
