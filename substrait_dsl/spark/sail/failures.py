"""Parse Sail's errors, which have few error classes, by their messages."""

from __future__ import annotations

import re
from collections.abc import Mapping

from substrait_dsl.spark.session.failures import (
    INTERNAL,
    INVALID_CAST,
    MANY_ROWS,
    NO_PLAN,
    NO_TABLE,
    OVERFLOWN_CAST,
    Failure,
)

_TYPES: Mapping[str, str] = {
    "Boolean": "BOOLEAN",
    "Int8": "TINYINT",
    "Int16": "SMALLINT",
    "Int32": "INT",
    "Int64": "BIGINT",
    "Float32": "FLOAT",
    "Float64": "DOUBLE",
    "Utf8": "STRING",
    "Date32": "DATE",
    "Decimal128": "DECIMAL",
}
"""Spark's names of the Arrow types in Sail's messages."""

_ANALYSIS = re.compile(r"cannot resolve|missing from the schema|Table not found|invalid argument: found .* expected")
"""Sail's messages about a query or a method, before there is a plan."""

_OUTER = re.compile(
    r"undecorrelated|OuterReferenceColumn|projected (correlated )?EXISTS|projected .* subquer"
    r"|logical expression \w*(Exists|Subquery|SetComparison)|[Cc]orrelated (scalar )?subquery|No field named"
)
"""Sail's messages about a subquery that it cannot decorrelate."""


def is_of_outer_rows(words: str) -> bool:
    """Whether a message of Sail is about a subquery that it cannot decorrelate."""
    return _OUTER.search(words) is not None


_INTERNAL = re.compile(
    r"panicked|RST_STREAM|unknown function|internal error|Internal error"
    r"|Physical plan does not support|Physical input schema"
    r"|column types must match schema types|field and schema field mismatch|duplicate unqualified field name"
    r"|Error during planning|retract_batch|not implemented|only support|Unsupported CAST|checkpoint"
    r"|expects a single|PhysicalExpr|SanityCheck|coercion failed|Cannot cast nullable struct field"
    r"|to Spark data type"
)
"""Sail's messages about its own plan, or a missing feature."""

_NAMED = re.compile(r"\[([A-Z0-9_.]+)\] ")

_CONDITIONS: tuple[tuple[str, str], ...] = (
    (r"[Dd]ivi(sion|de) by zero", "DIVIDE_BY_ZERO"),
    (r"[Rr]emainder by zero", "REMAINDER_BY_ZERO"),
    (r"Scalar subquery returned more than one row", MANY_ROWS),
    (r"Can't cast value (?P<value>.*) to type (?P<kind>\w+)", OVERFLOWN_CAST),
    (r"value of (?P<value>.*) is out of range (?P<kind>\w+)", OVERFLOWN_CAST),
    (r"(?P<value>\S+) is too large to store in a Decimal", OVERFLOWN_CAST),
    (r"Cannot cast (?:string|value) '(?P<value>.*)' to value of (?P<kind>\w+)(?:\([\d, ]+\))? type", INVALID_CAST),
    (r"invalid (?P<kind>date|timestamp): (?P<value>.*)", INVALID_CAST),
    (r"[Oo]verflow", "ARITHMETIC_OVERFLOW"),
)
"""Spark's error conditions for Sail's messages about a running query."""


def sail_failure(error: Exception, *, analysis: bool) -> Failure | None:
    """Parse an error of a running query of Sail, or, for `analysis`, any error; None for another one."""
    text = str(error)
    if named := _NAMED.search(text):
        condition, misfit = named[1], _MISFIT.search(text)
        if condition == NO_TABLE:
            return Failure(condition, text, {}) if analysis else None
        return Failure(condition, text, {} if misfit is None else {"value": misfit[1], "targetType": misfit[2]})
    if _ANALYSIS.search(text):
        return Failure("", text, {}) if analysis else None
    if is_of_outer_rows(text):
        return Failure(NO_PLAN, text, {})
    if _INTERNAL.search(text):
        return Failure(INTERNAL, text, {})
    for words, condition in _CONDITIONS:
        if found := re.search(words, text, re.DOTALL):
            return Failure(condition, text, _parameters(found))
    return Failure("USER_RAISED_EXCEPTION", text, {"errorMessage": text})  # as it came


_MISFIT = re.compile(r'The value (.*?) of the type "[^"]*" cannot be cast to ("[^"]*")', re.DOTALL)


def _parameters(found: re.Match[str]) -> dict[str, str]:
    groups = found.groupdict()
    parameters = {}
    if groups.get("value") is not None:
        parameters["value"] = f"'{groups['value']}'" if "Cannot cast" in found[0] else groups["value"]
    if groups.get("kind") is not None:
        parameters["targetType"] = f'"{_TYPES.get(groups["kind"], groups["kind"].upper())}"'
    return parameters
