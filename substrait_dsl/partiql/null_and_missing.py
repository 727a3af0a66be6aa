"""The meaning of NULL in a column, null or missing, and values that are an error in some rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal, TypeAlias

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, IfClause, IfThen, literal
from substrait_dsl.errors import ExecutionError
from substrait_dsl.partiql.calls import call

Absent: TypeAlias = Literal["null", "missing"] | Expression
"""The meaning of NULL: null, or missing; or missing where this required boolean is true, else null."""


def missing_where(expression: Expression, absent: Absent) -> Expression | None:
    """Return the condition, never NULL, for a value to be missing; None if it never is."""
    if not expression.type.nullable or absent == "null":
        return None
    is_null = call("is_null", expression)
    return call("and", is_null, absent) if isinstance(absent, Expression) else is_null


def absent_where(*conditions: Expression | None) -> Absent:
    """Return the meaning of NULL for a column that is missing where one of the conditions is true."""
    found = [is_true(condition) for condition in conditions if condition is not None]
    if not found:
        return "null"
    return found[0] if len(found) == 1 else call("or", *found)


def is_true(condition: Expression) -> Expression:
    """Return whether a condition is true; false where it is NULL."""
    return call("coalesce", condition, literal(False, t.Boolean())) if condition.type.nullable else condition


def fail_where(value: Expression, wrong: Expression, why: str) -> Expression:
    """Return a value that is an error with this message for each row in which a condition is true.

    The error is a cast of the message to a boolean, which engines refuse. The message depends on the row, so that no
    engine evaluates it for other rows.
    """
    shown = call("concat", literal(f"{why}: ", t.String()), Cast(is_true(wrong), t.String()))
    text = IfThen((IfClause(is_true(wrong), shown),), literal("true", t.String()))
    return IfThen((IfClause(Cast(text, t.Boolean()), value),), literal(None, value.type.as_nullable()))


NO_BOOLEAN: Final = "a condition is a boolean, not a value such as "
"""The prefix of the message for a condition that is no boolean."""

_TRUE: Final = ": true"
"""The suffix of the message that `fail_where` casts."""


@contextmanager
def raising_cast_message() -> Iterator[None]:
    """Raise the error that a plan's failing cast contains, in place of the engine's error."""
    try:
        yield
    except ExecutionError as error:
        value = error.value
        if value is None or not (value.endswith(_TRUE) or value.startswith(NO_BOOLEAN)):
            raise
        plain = ExecutionError(value.removesuffix(_TRUE))
        plain.step, plain.expression = error.step, error.expression
        raise plain from error.__cause__
