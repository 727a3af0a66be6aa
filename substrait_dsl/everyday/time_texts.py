"""Dates and timestamps of texts in any order of their parts, by functions of the specification."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.errors import InvalidArgumentError, error_context, require_choice
from substrait_dsl.fluent.calls import scalar
from substrait_dsl.fluent.conditionals import when
from substrait_dsl.fluent.expr import DynExpr

_DATE: Mapping[str, int] = {"%Y": 4, "%m": 2, "%d": 2}
"""The parts of a date, in the order of ISO 8601, and their digits."""

_CLOCK: Mapping[str, int] = {"%H": 2, "%M": 2, "%S": 2, "%f": 6}
"""The parts of a time of day likewise, of which the last ones may be missing."""

_BEFORE: Mapping[str, str] = {"%m": "-", "%d": "-", "%H": " ", "%M": ":", "%S": ":", "%f": "."}
"""What stands before each part in a text that is cast."""

_OF_JAVA: Mapping[str, str] = {
    "yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "SSSSSS": "%f",
}  # fmt: skip
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
        pieces = _split(format)
        if sorted(_parts(pieces)) != sorted(_DATE):
            raise _other_format("format has %Y, %m and %d, each once, and other characters for themselves", format, 3)
    return _text_of_iso(x, format, pieces).cast("date", on_failure=on_failure)


def to_timestamp(x: object, format: str, *, on_failure: ex.FailureBehavior = "throw") -> DynExpr:
    """Convert a text that has a date and a time of day, in any order, to a timestamp without time zone.

    It is functions of the specification: the parts of a text of that form are put together as
    ``2024-05-31 13:14:15.000000`` and cast.

    Args:
        x: a string.
        format: ``"%d/%m/%Y %H:%M"``: as of `to_date`, and ``%H`` (00 to 23), ``%M`` and ``%S`` for two digits and
            ``%f`` for six, each once; the last of these may be missing, and are zero then. Other characters are
            themselves.
        on_failure: ``"throw"`` fails the query where a text has another form or is no time, ``"return_null"`` gives
            NULL.

    Returns:
        A ``precision_timestamp<6>``; nullable if `x` is, or with ``"return_null"``.

    Raises:
        InvalidArgumentError: for another format.
        InvalidChoiceError: for another word of `on_failure`.
        FunctionNotFoundError: for what is no string.

    Specification: ``regexp_count_substring``, ``substring`` and ``concat`` in ``functions_string.yaml``, and
    ``Expression.Cast``.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> lines = sd.read_named("lines", {"at": "string"})
        >>> print(lines.select(at=lambda r: e.to_timestamp(r.at, "%Y-%m-%dT%H:%M:%S")).schema)
        0  at  precision_timestamp<6>
    """
    with error_context(verb="to_timestamp"):
        require_choice("on_failure", on_failure, ex.FAILURE_BEHAVIORS)
        pieces = _split(format)
        found = _parts(pieces)
        clock = list(_CLOCK)[: len(found) - len(_DATE)] if len(found) >= len(_DATE) else []
        if sorted(found) != sorted([*_DATE, *clock]):
            expected = "format has %Y, %m, %d, and of %H, %M, %S, %f the first ones, each once, and other characters"
            raise _other_format(expected, format, 7)
    return _text_of_iso(x, format, pieces, _CLOCK).cast("precision_timestamp<6>", on_failure=on_failure)


def _text_of_iso(x: object, format_: str, pieces: Sequence[str], clock: Mapping[str, int] | None = None) -> DynExpr:
    """Return what is cast: the parts of a text in the order of ISO 8601, or words that say that it has another form."""
    wanted = {**_DATE, **(clock or {})}
    starts: dict[str, int] = {}
    pattern, position = r"\A", 1
    for piece in pieces:
        starts[piece] = position
        digits = wanted.get(piece)
        pattern += f"[0-9]{{{digits}}}" if digits else escaped(piece)
        position += digits or len(piece)
    parts: list[Any] = []
    for part, digits in wanted.items():
        if part in _BEFORE:
            parts.append(_BEFORE[part])
        parts.append(scalar("substring", [x, starts[part], digits]) if part in starts else "0" * digits)
    has_form: Any = scalar("regexp_count_substring", [x, rf"{pattern}\z"]) > 0
    # Where the query fails, its error shows the value that is cast: it says what is wrong with it.
    other = scalar("concat", [x, f" is not of the form {format_}"])
    text: DynExpr = when(has_form).then(scalar("concat", parts)).otherwise(other)
    return text


def escaped(text: str) -> str:
    """Return the pattern that matches a text alone, in all languages of patterns."""
    return re.sub(r"[!-/:-@\[-`{-~]", r"\\\g<0>", text)


def _split(format_: object) -> list[str]:
    """Split a format into parts and what stands between them. Raises `InvalidArgumentError` for what is no text."""
    if not isinstance(format_, str):
        raise InvalidArgumentError("format is a text of parts such as %Y, and other characters", got=format_)
    return [piece for piece in re.split(r"(%.?)", format_, flags=re.DOTALL) if piece]


def _parts(pieces: Sequence[str]) -> list[str]:
    """Return the parts of a format."""
    return [piece for piece in pieces if piece.startswith("%")]


def _other_format(expected: str, format_: str, many: int) -> InvalidArgumentError:
    """Return the error for a format that lacks parts, or has others."""
    letters = "|".join(list(_OF_JAVA)[:many])
    meant = re.sub(letters, lambda found: _OF_JAVA[found[0]], format_)
    usual = "%d/%m/%Y" if many == len(_DATE) else "%Y-%m-%d %H:%M:%S"
    return InvalidArgumentError(expected, got=format_, hint=f'write "{meant if meant != format_ else usual}"')
