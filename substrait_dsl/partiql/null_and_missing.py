"""What a NULL in a column stands for, null or missing; and values that are an error in some rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal, TypeAlias

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, IfClause, IfThen, literal
from substrait_dsl.errors import ExecutionError
from substrait_dsl.partiql.calls import call

Absent: TypeAlias = Literal["null", "missing"] | Expression
"""What a NULL stands for: null, or missing; or missing where this required boolean is true, else null."""


def missing_where(expression: Expression, absent: Absent) -> Expression | None:
    """The condition, never NULL, for a value to be missing; None if it never is."""
    if not expression.type.nullable or absent == "null":
        return None
    is_null = call("is_null", expression)
    return call("and", is_null, absent) if isinstance(absent, Expression) else is_null


def absent_where(*conditions: Expression | None) -> Absent:
    """What a NULL stands for if it is missing where one of the conditions is true."""
    found = [surely(condition) for condition in conditions if condition is not None]
    if not found:
        return "null"
    return found[0] if len(found) == 1 else call("or", *found)


def surely(condition: Expression) -> Expression:
    """Whether a condition is true; false where it is NULL."""
    return call("coalesce", condition, literal(False, t.Boolean())) if condition.type.nullable else condition


def guarded(value: Expression, wrong: Expression, why: str) -> Expression:
    """A value, and an error with these words for each row in which a condition is true, when it is evaluated.

    The error is a cast of a text that is written like no boolean, which engines refuse. The text depends on the row,
    so that no engine evaluates it where there is none.
    """
    shown = call("concat", literal(f"{why}: ", t.String()), Cast(surely(wrong), t.String()))
    text = IfThen((IfClause(surely(wrong), shown),), literal("true", t.String()))
    return IfThen((IfClause(Cast(text, t.Boolean()), value),), literal(None, value.type.as_nullable()))


NO_BOOLEAN: Final = "a condition is a boolean, not a value such as "
"""How the text begins that says, as a cast that fails, that a condition is none."""

_TRUE: Final = ": true"
"""How the text ends that `guarded` casts to fail; before it stands why."""


@contextmanager
def telling() -> Iterator[None]:
    """Let the error of an engine say what the text says that a plan casts to fail, not that a cast failed."""
    try:
        yield
    except ExecutionError as error:
        value = error.value
        if value is None or not (value.endswith(_TRUE) or value.startswith(NO_BOOLEAN)):
            raise
        plain = ExecutionError(value.removesuffix(_TRUE))
        plain.step, plain.expression = error.step, error.expression
        raise plain from error.__cause__
