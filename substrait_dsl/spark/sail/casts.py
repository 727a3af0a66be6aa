"""Casts that differ between Sail and Spark: of floats to strings and decimals, and of strings to decimals."""

from __future__ import annotations

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.casts import NO_TIME
from substrait_dsl.spark.expressions.literals import failing, text_to_sql
from substrait_dsl.spark.expressions.named_values import with_name
from substrait_dsl.spark.sail.decimal_texts import without_exponent
from substrait_dsl.spark.sail.float_texts import text_of_float

_FLOATS = (t.FP32, t.FP64)
_TEXTS = (t.String, t.VarChar, t.FixedChar)

_DATE = text_to_sql(r"^(\s*[+-]?\d+-\d+-\d+)[ T]\s*\d\S*(\s+\S+)?\s*$")
"""The date of a text that may go on with a time of day, and a zone: Sail misreads some of these."""
_TIMED = text_to_sql(
    r"^\s*[+-]?\d+-\d+-\d+[ T]([01]?\d|2[0-3])(:[0-5]?\d(:[0-5]?\d(\.\d{1,6})?)?(Z|[+-](0\d|1[0-7]):[0-5]\d)?)?\s*$"
)
"""Such a text with a time of day, which may have an offset: it has that date."""

_WITH_TIME = text_to_sql(r"\d[ T]\s*\d")
"""A text with a time of day, as far as a name of a folder has one."""

_TRUTH_HINTS = {
    t.Boolean: "compare it with 0: x != 0",
    t.Decimal: "cast it to an integer before: x.cast(I8).cast(...)",
}
"""What has the value of a cast that Sail does not have, by the type that it is cast to."""


def castable(text: str, source: t.Type, target: t.Type) -> tuple[str, t.Type]:
    """Return the value that is cast in place of a value, and its type: with an error for what Sail casts otherwise.

    Raises:
        UnsupportedError: Sail has no such cast.
    """
    if {type(source), type(target)} == {t.Boolean, t.Decimal}:
        raise UnsupportedError(f"Sail cannot cast {source} to {target}", hint=_TRUTH_HINTS[type(target)])
    if isinstance(source, _FLOATS) and isinstance(target, _TEXTS):
        return text_of_float(text, source), t.String(nullable=source.nullable)
    if isinstance(source, _FLOATS) and isinstance(target, t.Decimal):
        digits = f"CAST(CAST({text} AS DOUBLE) AS STRING)"  # as Spark does: those that a double is written with
        return without_exponent(digits, target), t.String(nullable=source.nullable)
    if isinstance(source, _TEXTS) and isinstance(target, t.Decimal):
        return without_exponent(text, target), source
    if isinstance(source, _TEXTS) and isinstance(target, t.Date):
        date = f"regexp_extract(v, {_DATE}, 1)"
        dated = f"CASE WHEN v RLIKE {_TIMED} THEN {date} ELSE {failing(NO_TIME)} END"
        return with_name(text, "v", f"CASE WHEN TRY_CAST({date} AS DATE) IS NULL THEN v ELSE {dated} END"), source
    return text, source


def castable_folder_name(text: str, source: t.Type, target: t.Type) -> tuple[str, t.Type]:
    """Return the text that is cast in place of the name of a folder: NULL for one that Sail misreads.

    Sail filters folders by no lambda, so a date with a time, and a decimal with an exponent, are no values there.
    """
    if isinstance(target, t.Date):
        return f"(CASE WHEN {text} RLIKE {_WITH_TIME} THEN NULL ELSE {text} END)", source
    return text, source
