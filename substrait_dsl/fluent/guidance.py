"""Errors for habits from elsewhere: other libraries' names, Python's own operators, texts for columns.

The hints are looked up when they are first read, by `name_hints` and `operand_hints`, which are loaded then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping

from substrait_dsl.algebra.types import (
    Type,
)
from substrait_dsl.errors import (
    InvalidArgumentError,
    TypeMismatchError,
    UnknownAttributeError,
    shorten,
)


def no_attribute(
    what: str,
    name: str,
    receiver: str,
    known: Iterable[str],
    more: Callable[[], Mapping[str, str]] | None = None,
) -> UnknownAttributeError:
    """Return the error for a method that does not exist, with what it is called here.

    Args:
        what: what has no such method, for the message.
        name: the name that came.
        receiver: the receiver in the table of hints.
        known: the names that exist.
        more: makes further words of others, and what to write for them.
    """

    def hint() -> str | None:
        from substrait_dsl.fluent.name_hints import attribute_hint
        from substrait_dsl.hints import words

        return attribute_hint(name, {**(more() if more is not None else {}), **words(receiver)}, known)

    return UnknownAttributeError(f'{what} has no "{name}"', names=[name], hint=hint)


def no_method(name: str, known: Collection[str], type_: Type | None) -> UnknownAttributeError:
    """Return the error for a method that expressions do not have; many are functions, or fields of a struct."""

    def hint() -> str | None:
        from substrait_dsl.fluent.name_hints import method_hint

        return method_hint(name, known, type_)

    return UnknownAttributeError(f'an expression has no "{name}"', names=[name], hint=hint)


def no_name(name: str, known: Collection[str]) -> UnknownAttributeError:
    """Return the error for a name that the package does not have; many are functions, or types by another name."""

    def hint() -> str | None:
        from substrait_dsl.fluent.name_hints import name_hint

        return name_hint(name, known)

    return UnknownAttributeError(f'substrait_dsl has no "{name}"', names=[name], hint=hint)


def no_text(shown: str) -> TypeMismatchError:
    """Return the error for an expression in a text of Python's, which would be a constant: the same for all rows."""
    return TypeMismatchError(
        f"{shown} has no text before the query runs",
        hint="functions.concat(x, y) joins texts, x.cast(String) makes one; print(x) and {x!r} show the expression",
    )


def require_no_shown(value: object) -> None:
    """Raise `TypeMismatchError` for a text with an expression in it as `str` shows it, which people take for a cast."""
    if isinstance(value, str) and "Expr(" in value:
        raise no_text(f"an expression, shown in {shorten(repr(value), 80)},")


def no_column(what: str, text: str) -> InvalidArgumentError:
    """Return the error for a text that was meant to be a column's name where it is only a text."""
    hint = f"write col({text!r}) for a column, lit({text!r}) for text"
    return InvalidArgumentError(
        f"{what}, got the text {text!r}", names=[text], hint="functions.count() counts rows" if text == "*" else hint
    )


def relation_hint(value: object) -> str | None:
    """Return the hint for a table of another library, or the name of a table, in place of a relation."""
    from substrait_dsl.hints import phrase

    if isinstance(value, str):
        return f'write read_named("{value}", schema) for a table of that name'
    if hasattr(value, "createOrReplaceTempView"):  # of pyspark, which need not be there
        return f"write {phrase('view_of_a_frame')}"
    if hasattr(value, "__arrow_c_stream__"):
        return f"write from_arrow(frame), which puts its rows into the plan; of many, {phrase('named_frame')}"
    if isinstance(value, os.PathLike):
        return 'read_files(path, schema) reads files, write(files_target(path, "parquet")) writes them'
    return None


IN_LIST = "functions.any_match(xs, lambda x: x == y) looks for a value in a list"


def bool_hint(value: object) -> str | None:
    """Return the hint for a bool in place of a condition; None for another value."""
    if not isinstance(value, bool):
        return None
    return (
        f'col("status") == "open" compares a column, x.is_null() asks for NULL; lit({value}) is the same for all rows'
    )
