"""The requirements of a plan: one `Requirement` for each relation, function, type and so on that a consumer must have.

The words are those of dialect files, which are the names that the fields and enumerations of the messages have:
https://github.com/substrait-io/substrait/blob/main/text/dialect_schema.yaml.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import attrs

from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES, SET_OPS
from substrait_dsl.algebra.validators import TEXT, refusal
from substrait_dsl.errors import printable

FunctionKind = Literal["scalar function", "aggregate function", "window function"]
RequirementKind = Literal[
    "version", "relation", "expression", FunctionKind, "type", "type variation", "evaluation mode", "message"
]
FUNCTION_KINDS: tuple[FunctionKind, ...] = get_args(FunctionKind)
REQUIREMENT_KINDS: tuple[RequirementKind, ...] = get_args(RequirementKind)


@attrs.frozen
class Forms:
    """The forms of one relation or expression, such as the join types: a system may take some of them only."""

    key: str
    """The key of their list in dialect files."""
    words: tuple[str, ...] = ()
    """All of them; empty for the type URLs of messages, of which there is no end."""


def _upper(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word.upper() for word in words)


_JOINS = Forms("join_types", _upper(JOIN_TYPES))
_MESSAGES = Forms("message_types")

RELATION_WORDS: Mapping[str, Forms | None] = {
    "READ": Forms("read_types", ("VIRTUAL_TABLE", "LOCAL_FILES", "NAMED_TABLE", "EXTENSION_TABLE", "ICEBERG_TABLE")),
    "FILTER": None,
    "FETCH": None,
    "AGGREGATE": None,
    "SORT": None,
    "JOIN": _JOINS,
    "LATERAL_JOIN": Forms("join_types", _upper(LATERAL_JOIN_TYPES)),
    "PROJECT": None,
    "SET": Forms("operations", _upper(SET_OPS)),
    "EXTENSION_SINGLE": _MESSAGES,
    "EXTENSION_MULTI": _MESSAGES,
    "EXTENSION_LEAF": _MESSAGES,
    "CROSS": None,
    "REFERENCE": None,
    "WRITE": Forms("write_types", ("NAMED_TABLE", "EXTENSION_TABLE")),
    "DDL": Forms("write_types", ("NAMED_OBJECT", "EXTENSION_OBJECT")),
    "UPDATE": None,
    "HASH_JOIN": _JOINS,
    "MERGE_JOIN": _JOINS,
    "NESTED_LOOP_JOIN": _JOINS,
    "CONSISTENT_PARTITION_WINDOW": None,
    "EXCHANGE": Forms("kinds", ("SCATTER_BY_FIELDS", "SINGLE_TARGET", "MULTI_TARGET", "ROUND_ROBIN", "BROADCAST")),
    "EXPAND": Forms("field_types", ("SWITCHING_FIELD", "CONSISTENT_FIELD")),
    "TOP_N": None,
}
"""The relations, and the forms that each of them has."""

EXPRESSION_WORDS: Mapping[str, Forms | None] = {
    "LITERAL": None,
    "SELECTION": None,
    "SCALAR_FUNCTION": None,
    "WINDOW_FUNCTION": None,
    "IF_THEN": None,
    "SWITCH": None,
    "SINGULAR_OR_LIST": None,
    "MULTI_OR_LIST": None,
    "CAST": Forms("failure_options", ("RETURN_NULL", "THROW_EXCEPTION")),
    "SUBQUERY": Forms("subquery_types", ("SCALAR", "IN_PREDICATE", "SET_PREDICATE", "SET_COMPARISON")),
    "NESTED": Forms("nested_types", ("STRUCT", "LIST", "MAP")),
    "DYNAMIC_PARAMETER": None,
    "LAMBDA": None,
    "LAMBDA_INVOCATION": None,
    "EXECUTION_CONTEXT_VARIABLE": Forms("variable_types", ("CURRENT_TIMESTAMP", "CURRENT_TIMEZONE", "CURRENT_DATE")),
}
"""The expressions, and the forms that each of them has."""

DETACHED = "DETACHED_EXPRESSION_ORDINAL"
"""The word for a reference to a detached expression, one that is nested too deeply: dialect files have none."""

TYPE_WORDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("BOOL", "I8", "I16", "I32", "I64", "FP32", "FP64", "BINARY", "STRING", "DATE", "UUID"), ()),
    **dict.fromkeys(("INTERVAL_YEAR", "UNBOUND", "STRUCT", "LIST", "MAP", "FUNC"), ()),
    **dict.fromkeys(("FIXED_BINARY", "VARCHAR", "FIXED_CHAR"), ("length",)),
    **dict.fromkeys(("PRECISION_TIME", "PRECISION_TIMESTAMP", "PRECISION_TIMESTAMP_TZ"), ("precision",)),
    **dict.fromkeys(("INTERVAL_DAY", "INTERVAL_COMPOUND"), ("precision",)),
    "DECIMAL": ("precision", "scale"),
}
"""The types of the specification, and the numbers that each of them has: a system may have a limit for each number."""

USER_DEFINED = "USER_DEFINED"
"""The word for types that extensions declare."""


def _check_numbers(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not _is_pairs(value) or not all(type(number) is int for _, number in value):
        raise refusal(instance, "numbers", "a tuple of names and numbers", value)


def _check_options(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not _is_pairs(value) or not all(
        isinstance(words, tuple) and all(isinstance(word, str) for word in words) for _, words in value
    ):
        raise refusal(instance, "options", "a tuple of names and their values", value)


def _is_pairs(value: object) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in value
    )


def _check_arguments(instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
    match value:
        case None | (int(), int()):
            return
    raise refusal(instance, "arguments", "the least and the most, or None", value)


@attrs.frozen
class Requirement:
    """One thing that a plan needs of the system that takes it.

    Two requirements are equal if they are the same need, wherever it stands.

    Specification: the words are those of ``dialect_schema.yaml``.

    Example:
        >>> [needed.name for needed in orders.to_plan().requirements() if needed.kind == "type"]
        ['I64', 'FP64']
    """

    kind: RequirementKind = attrs.field(validator=TEXT)
    name: str = attrs.field(validator=TEXT)
    """Its word in dialect files, such as ``JOIN`` or ``DECIMAL``; the key of a function, ``add:i64_i64``; the name of
    a type variation, or of a type of an extension; the type URL of a message; the number of a version."""
    urn: str = attrs.field(default="", validator=TEXT)
    """The extension that declares it."""
    form: str = attrs.field(default="", validator=TEXT)
    """Which of several forms: ``LEFT_SEMI`` of a ``JOIN``."""
    numbers: tuple[tuple[str, int], ...] = attrs.field(default=(), validator=_check_numbers)
    """The parameters of a type: ``(("precision", 38), ("scale", 2))``."""
    options: tuple[tuple[str, tuple[str, ...]], ...] = attrs.field(default=(), validator=_check_options)
    """The options of a call, each with the values that it prefers."""
    arguments: tuple[int, int] | None = attrs.field(default=None, eq=False, validator=_check_arguments)
    """The least and the most arguments in calls of a function."""
    path: str = attrs.field(default="", eq=False, validator=TEXT)
    """Where in the message it stands first, such as ``relations[0].root.input.join``."""

    def __str__(self) -> str:
        details = [
            self.form,
            *(f"{name} {number}" for name, number in self.numbers),
            *(f"{name}={'|'.join(preferences)}" for name, preferences in self.options),
        ]
        of = f" of {self.urn}" if self.urn else ""
        return printable(f"{self.kind} {', '.join([self.name + of, *filter(None, details)])}")
