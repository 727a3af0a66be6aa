"""Time zones: Spark accepts names of the IANA database, and others that the specification does not have.

Specification: ``functions_datetime.yaml``: another name is an error.
"""

from __future__ import annotations

import re
from functools import cache
from zoneinfo import available_timezones

from substrait_dsl.algebra.expressions import Expression, Literal
from substrait_dsl.errors import UnsupportedError, suggestion
from substrait_dsl.spark.expressions.literals import text_to_sql

_SHORT = "ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST"
"""Java's short names of zones. Its BST is the time of Bangladesh."""

_OTHERS = rf"^({_SHORT}|SystemV/.*|Z|UT|(UTC|UT)?[+-].*|GMT[+-]([^0].*|0.+)?)$"
"""These names, some of old systems, and offsets from UTC. The patterns of Sail have no lookahead."""

NO_ZONE = " is no time zone of the IANA database"


def require_zone(zone: Expression, text: str) -> str:
    """The SQL text of a time zone, whose value is an error if it is no name of the database.

    Raises `UnsupportedError` for a literal that is none.
    """
    match zone:
        case Literal(value=str() as name):
            if re.match(_OTHERS, name) or name not in (_list_zones() or (name,)):
                hint = suggestion(name, _list_zones()) or 'write the name of one, as "Europe/Berlin"'
                raise UnsupportedError(f"{name!r}{NO_ZONE}", hint=hint)
            return text
        case Literal():
            return text
        case _:
            error = text_to_sql(NO_ZONE)
            return f"if({text} RLIKE {text_to_sql(_OTHERS)}, raise_error(concat({text}, {error})), {text})"


@cache
def _list_zones() -> frozenset[str]:
    """The names of the database; empty if this machine has none."""
    return frozenset(available_timezones())
