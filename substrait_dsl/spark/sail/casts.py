"""Casts that differ between Sail and Spark: of floats to strings and decimals, and of strings to decimals."""

from __future__ import annotations

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import failing, text_to_sql
from substrait_dsl.spark.expressions.named_values import with_name
from substrait_dsl.spark.sail.decimal_texts import without_exponent
from substrait_dsl.spark.sail.float_texts import text_of_float

_FLOATS = (t.FP32, t.FP64)
_TEXTS = (t.String, t.VarChar, t.FixedChar)

_WITH_TIME = r"\d[ T]\s*\d"
"""Texts that Sail misreads as dates: those with a time."""


def castable(text: str, source: t.Type, target: t.Type) -> tuple[str, t.Type]:
    """Return the value that is cast in place of a value, and its type: with an error for what Sail casts otherwise.

    Raises:
        UnsupportedError: Sail has no such cast.
    """
    if {type(source), type(target)} == {t.Boolean, t.Decimal}:
        raise UnsupportedError(
            f"Sail cannot cast {source} to {target}", hint="if_then, or a comparison with 0, says the same"
        )
    if isinstance(source, _FLOATS) and isinstance(target, _TEXTS):
        return text_of_float(text, source), t.String(nullable=source.nullable)
    if isinstance(source, _FLOATS) and isinstance(target, t.Decimal):
        digits = f"CAST(CAST({text} AS DOUBLE) AS STRING)"  # as Spark does: those that a double is written with
        return without_exponent(digits, target), t.String(nullable=source.nullable)
    if isinstance(source, _TEXTS) and isinstance(target, t.Decimal):
        return without_exponent(text, target), source
    if isinstance(source, _TEXTS) and isinstance(target, t.Date):
        fails = failing("Sail cannot cast a text with a time to date")
        return with_name(text, "v", f"CASE WHEN v RLIKE {text_to_sql(_WITH_TIME)} THEN {fails} ELSE v END"), source
    return text, source
