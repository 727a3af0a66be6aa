"""What other producers mean where they do not keep to the specification.

Each of these is read as it is meant, and told as a finding.
"""

from __future__ import annotations

DATAFUSION = "datafusion"
"""What DataFusion calls itself in its plans."""

ARROW = "Acero"
"""How what Arrow calls itself begins."""

LIKE_WITH_ESCAPE = 3
"""How many arguments DataFusion gives to ``like``: value, pattern, and escape character, NULL if there is none."""

ARROW_VARIATIONS: dict[tuple[int, str], str] = {
    **dict.fromkeys(((1, kind) for kind in ("i8", "i16", "i32", "i64")), "an unsigned integer"),
    **dict.fromkeys(((1, kind) for kind in ("string", "binary", "list")), "a Large type of Arrow"),
    **dict.fromkeys(((2, kind) for kind in ("string", "binary", "list")), "a View type of Arrow"),
    (1, "date"): "a Date64 of Arrow",
    (1, "decimal"): "a Decimal256 of Arrow",
    (1, "interval_day"): "a duration",
    (1, "map"): "a dictionary of Arrow",
}
"""What DataFusion means by type variations that its plans do not declare: their numbers, with the types they are of."""
