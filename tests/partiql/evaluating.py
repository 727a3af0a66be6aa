"""What the tests of the interpreter share: expressions and tables as texts in the notation."""

from __future__ import annotations

from typing import cast

from substrait_dsl.partiql import (
    BindingsData,
    Mode,
    Value,
    data_text,
    evaluate_bindings,
    evaluate_value,
    parse_bindings,
    parse_data,
    parse_value,
)

MODES: tuple[Mode, ...] = ("permissive", "strict")


def data(text: str) -> Value:
    """A value as a text."""
    return cast(Value, parse_data(text))


def value_of(text: str, mode: Mode = "permissive", **tables: str) -> Value:
    """The value of an expression."""
    return evaluate_value(parse_value(text), {name: data(table) for name, table in tables.items()}, mode)


def shown(text: str, mode: Mode = "permissive", **tables: str) -> str:
    """The value of an expression as a text, which tells 1 from 1.0."""
    return data_text(value_of(text, mode, **tables))


def bindings_of(text: str, mode: Mode = "permissive", **tables: str) -> BindingsData:
    """The binding tuples of an expression."""
    return evaluate_bindings(parse_bindings(text), {name: data(table) for name, table in tables.items()}, mode)


def rows(text: str, mode: Mode = "permissive", **tables: str) -> str:
    """The binding tuples of an expression as a text, in the order in which they come."""
    return data_text(bindings_of(text, mode, **tables))
