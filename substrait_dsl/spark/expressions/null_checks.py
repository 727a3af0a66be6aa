"""Checks of required values: SQL text that fails where a value is NULL."""

from __future__ import annotations

from substrait_dsl.algebra import types as t
from substrait_dsl.spark.expressions.literals import failing
from substrait_dsl.spark.session.engines import current_engine
from substrait_dsl.spark.session.failures import IS_NULL


def assert_not_null(text: str, what: str, type_: t.Type) -> str:
    """Write a required value that Spark takes for nullable, with a check that it is not NULL.

    Without it Spark would drop the check wherever only the presence of the value counts, as in ``count`` and ``IS
    NULL``.
    """
    return current_engine().coalesce([text, null_error(what)], type_)


def null_error(what: str) -> str:
    """Write the error for a NULL in a required value."""
    # There is no cast around the error, because the type of a cast says that what lies inside a struct or list may be
    # NULL.
    return failing(f"{what} {IS_NULL}")
