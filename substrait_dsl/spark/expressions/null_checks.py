"""Checks of required values: SQL text that fails where a value is NULL."""

from __future__ import annotations

from substrait_dsl.algebra import types as t
from substrait_dsl.spark.expressions.literals import text_to_sql
from substrait_dsl.spark.session.engines import current_engine
from substrait_dsl.spark.session.failures import IS_NULL


def asserted(text: str, what: str, type_: t.Type) -> str:
    """A value of a type that must not be NULL, and that Spark takes for nullable nevertheless.

    Else it would leave out the check wherever only the presence of the value counts, as in ``count`` and ``IS NULL``.
    """
    return current_engine().coalesce([text, null_error(what)], type_)


def null_error(what: str) -> str:
    """SQL text that fails: a value must not be NULL, and is."""
    # There is no cast around the error, because the type of a cast says that what lies inside a struct or list may be
    # NULL.
    return f"raise_error({text_to_sql(f'{what} {IS_NULL}')})"
