"""Dates of texts in any order of year, month and day, by functions of the specification."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.errors import InvalidArgumentError, error_context, require_choice
from substrait_dsl.fluent.calls import scalar
from substrait_dsl.fluent.conditionals import when
from substrait_dsl.fluent.expr import DynExpr

_PARTS: Mapping[str, int] = {"%Y": 4, "%m": 2, "%d": 2}
"""The parts of a date, in the order of ISO 8601, and their digits."""

_OF_JAVA: Mapping[str, str] = {"yyyy": "%Y", "MM": "%m", "dd": "%d"}
"""The letters of Java's and Spark's formats."""


def to_date(x: object, format: str, *, on_failure: ex.FailureBehavior = "throw") -> DynExpr:
    """Convert a text that has a year, a month and a day, in any order, to a date.

    It is functions of the specification: the parts of a text of that form are put together as ``2024-05-31`` and cast.

    Args:
        x: a string.
        format: ``"%d/%m/%Y"``: ``%Y`` for four digits, ``%m`` and ``%d`` for two, each once; other characters are
            themselves.
        on_failure: ``"throw"`` fails the query where a text has another form or is no day, ``"return_null"`` gives
            NULL.

    Returns:
        A date; nullable if `x` is, or with ``"return_null"``.

    Raises:
        InvalidArgumentError: for another format.
        InvalidChoiceError: for another word of `on_failure`.
        FunctionNotFoundError: for what is no string.

    Specification: ``regexp_count_substring``, ``substring`` and ``concat`` in ``functions_string.yaml``, and
    ``Expression.Cast``.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> lines = sd.read_named("lines", {"day": "string"})
        >>> print(lines.select(day=lambda r: e.to_date(r.day, "%d/%m/%Y", on_failure="return_null")).schema)
        0  day  date?
    """
    with error_context(verb="to_date"):
        require_choice("on_failure", on_failure, ex.FAILURE_BEHAVIORS)
        pieces = _pieces(format)
    starts: dict[str, int] = {}
    pattern, position = r"\A", 1
    for piece in pieces:
        starts[piece] = position
        digits = _PARTS.get(piece)
        pattern += f"[0-9]{{{digits}}}" if digits else re.sub(r"[^A-Za-z0-9]", r"\\\g<0>", piece)
        position += digits or len(piece)
    year, month, day = (scalar("substring", [x, starts[part], digits]) for part, digits in _PARTS.items())
    has_form: Any = scalar("regexp_count_substring", [x, rf"{pattern}\z"]) > 0
    # Where the query fails, its error shows the value that is cast: it says what is wrong with it.
    other = scalar("concat", [x, f" is not of the form {format}"])
    text: DynExpr = when(has_form).then(scalar("concat", [year, "-", month, "-", day])).otherwise(other)
    return text.cast("date", on_failure=on_failure)


def _pieces(format_: object) -> list[str]:
    """Split a format into the parts of a date and what stands between them. Raises `InvalidArgumentError`."""
    expected = "format has %Y, %m and %d, each once, and other characters for themselves"
    if not isinstance(format_, str):
        raise InvalidArgumentError(expected, got=format_)
    pieces = [piece for piece in re.split(r"(%.?)", format_, flags=re.DOTALL) if piece]
    if sorted(piece for piece in pieces if piece.startswith("%")) != sorted(_PARTS):
        meant = re.sub("yyyy|MM|dd", lambda found: _OF_JAVA[found[0]], format_)
        hint = f'write "{meant}"' if meant != format_ else 'write "%d/%m/%Y"'
        raise InvalidArgumentError(expected, got=format_, hint=hint)
    return pieces
