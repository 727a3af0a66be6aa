"""Casts that differ between Sail and Spark: of floats to strings and decimals, and of strings to decimals."""

from __future__ import annotations

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import failing, text_to_sql
from substrait_dsl.spark.expressions.named_values import with_name
from substrait_dsl.spark.sail.float_texts import text_of_float

_FLOATS = (t.FP32, t.FP64)
_TEXTS = (t.String, t.VarChar, t.FixedChar)

_EXPONENT = r"^\s*[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+\s*$"
"""Numbers with an exponent, which Sail does not parse as decimals."""

DECIMAL_OF_FLOAT = "Sail cannot cast so large or so small a float to decimal exactly"

_MISREAD: dict[type[t.Type], tuple[str, str]] = {
    t.Decimal: (_EXPONENT, "Sail cannot cast a text with an exponent to decimal"),
    t.Date: (r"\d[ T]\s*\d", "Sail cannot cast a text with a time to date"),
}
"""By the target type, strings that Sail refuses or misreads, and the message."""


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
        digits = f"CAST({text} AS STRING)"  # as Spark does: by the digits that a float is written with
        checked = with_name(digits, "v", f"CASE WHEN v LIKE '%e%' THEN {failing(DECIMAL_OF_FLOAT)} ELSE v END")
        return checked, t.String(nullable=source.nullable)
    if isinstance(source, _TEXTS) and isinstance(target, t.Decimal | t.Date):
        pattern, message = _MISREAD[type(target)]
        return with_name(
            text, "v", f"CASE WHEN v RLIKE {text_to_sql(pattern)} THEN {failing(message)} ELSE v END"
        ), source
    return text, source
