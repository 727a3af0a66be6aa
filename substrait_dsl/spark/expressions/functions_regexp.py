"""The functions of regular expressions that Spark runs exactly. The pattern is a literal: it is read here.

Specification: ``functions_string.yaml``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra.expressions import Expression, Literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.icu_patterns import (
    ANY_WITH_DOTALL,
    ANYTHING,
    Pattern,
    java_pattern,
    java_replacement,
)
from substrait_dsl.spark.expressions.literals import failing, text_to_sql
from substrait_dsl.spark.expressions.templates import Call, Table, Template, Writer
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.session.engines import ENGINE, current_engine

_OPTIONS = {
    "case_sensitivity": {"CASE_SENSITIVE": "", "CASE_INSENSITIVE_ASCII": "yes"},
    "multiline": {"MULTILINE_DISABLED": "", "MULTILINE_ENABLED": "yes"},
    "dotall": {"DOTALL_DISABLED": "", "DOTALL_ENABLED": "yes"},
    # The files do not declare it, but their cases use it; patterns that look around are run in any case.
    "lookaround": {"TRUE": ""},
}

Choices = Mapping[str, str]


_LONGEST = 2**31 - 1
"""The greatest position, and the greatest number of matches, in a Spark string."""


def _number(call: Call, position: int, omitted: int) -> int:
    """A number that a call gives as an argument or omits: a position, an occurrence, a group."""
    if position >= len(call.arguments):
        return omitted
    argument = call.arguments[position]
    assert isinstance(argument, Literal)
    return int(argument.value)


_INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(("$", r"\Z"), r"\z is the end of the text"),
    ANY_WITH_DOTALL: r"(?:\s|\S) is any character, \r and \n each by itself",
}
"""What to write for parts of patterns that engines without a way back lack."""


def _pattern(call: Call, choices: Choices, behind: int = 0) -> Pattern:
    pattern = call.arguments[1]
    assert isinstance(pattern, Literal)
    engine = current_engine()
    translated = java_pattern(
        pattern.value,
        multiline=bool(choices["multiline"]),
        dotall=bool(choices["dotall"]),
        ignore_case=bool(choices["case_sensitivity"]),
        behind=behind,
        has_case_flag=not engine.has_linear_patterns,
    )
    part = translated.beyond_linear
    if engine.has_linear_patterns and part is not None:
        raise UnsupportedError(
            f"{engine.name} cannot run the pattern {pattern.value!r} exactly, because of {part}: "
            "it neither looks around nor goes back",
            hint=_INSTEAD.get(part, "Spark runs it"),
        )
    return translated


def _searched_input(call: Call, texts: Sequence[str], pattern: Pattern, position: int) -> str:
    """The input from the start position of the search on, which is argument `position`."""
    start = _number(call, position, 1)
    if start == 1:
        return texts[0]
    if start < 1 or pattern.sees_before:
        raise UnsupportedError(
            f"{ENGINE} cannot run {call.function.name} from position {start} on exactly",
            hint="take a substring first" if start > 1 else "positions begin with 1",
        )
    return f"substring({texts[0]}, {min(start, _LONGEST)})"


def _unless_null(write: Writer, *, may_lengthen: bool | None = None) -> Template:
    """A function whose arguments but the first are literals; a NULL among them makes the result NULL."""

    def text(call: Call, texts: Sequence[str], choices: Choices) -> str:
        values = [argument for argument in call.arguments if isinstance(argument, Expression)]
        if any(isinstance(value, Literal) and value.value is None for value in values):
            return f"CAST(NULL AS {spark_sql_type(call.output_type)})"
        return write(call, texts, choices)

    return Template(text, _OPTIONS, literal_arguments=(1, 2, 3, 4), may_lengthen=may_lengthen)


def _all_matches(call: Call, texts: Sequence[str], choices: Choices, group: int) -> str:
    pattern = _pattern(call, choices)
    if not 0 <= group <= pattern.groups:
        raise UnsupportedError(f"the pattern has {pattern.groups} groups, not a group {group}")
    return f"regexp_extract_all({_searched_input(call, texts, pattern, 2)}, {text_to_sql(pattern.text)}, {group})"


def _count(call: Call, texts: Sequence[str], choices: Choices) -> str:
    return f"CAST(array_size({_all_matches(call, texts, choices, 0)}) AS BIGINT)"


NO_MATCH = "a text does not match the pattern, or not so often"
"""The error where a result that is required would be a part of a text that does not match."""


def _match(call: Call, texts: Sequence[str], choices: Choices) -> str:
    occurrence, group = _number(call, 3, 1), _number(call, 4, 0)
    if occurrence < 1:
        raise UnsupportedError(f"the occurrence of a pattern is counted from 1, got {occurrence}")
    match = f"get({_all_matches(call, texts, choices, group)}, {min(occurrence - 1, _LONGEST)})"
    if call.output_type.nullable:
        return match
    # The result without a match is undefined; a required one cannot be NULL.
    return f"coalesce({match}, {failing(NO_MATCH)})"


def _position(call: Call, texts: Sequence[str], choices: Choices) -> str:
    occurrence = _number(call, 3, 1)
    if occurrence != 1:
        raise UnsupportedError(f"{ENGINE} can tell the position of the first match of a pattern, not of {occurrence}")
    pattern = _pattern(call, choices)
    text, start = _searched_input(call, texts, pattern, 2), _number(call, 2, 1)
    before = f"regexp_extract({text}, {text_to_sql(_up_to(_pattern(call, choices, behind=1)))}, 1)"
    found = f"WHEN rlike({text}, {text_to_sql(pattern.text)}) THEN char_length({before}) + {start}L"
    return f"(CASE {found} WHEN {text} IS NOT NULL THEN 0L END)"


def _up_to(pattern: Pattern) -> str:
    """Everything before the first match as a group, and the match, so that the pattern matches once."""
    return rf"\A({ANYTHING}*?)(?:{pattern.text})"


def _replace(call: Call, texts: Sequence[str], choices: Choices) -> str:
    occurrence = _number(call, 4, 0)
    if occurrence not in (0, 1):
        raise UnsupportedError(f"{ENGINE} can replace the first match of a pattern or all, not occurrence {occurrence}")
    pattern = _pattern(call, choices, behind=occurrence)
    new = call.arguments[2]
    assert isinstance(new, Literal)
    replacement = java_replacement(new.value, pattern.groups, behind=occurrence)
    text = _searched_input(call, texts, pattern, 3)
    written = pattern.text
    if occurrence:
        written, replacement = _up_to(pattern), f"$1{replacement}"
    replacement = current_engine().replacement(replacement)
    replaced = f"regexp_replace({text}, {text_to_sql(written)}, {text_to_sql(replacement)})"
    start = _number(call, 3, 1)
    return replaced if start == 1 else f"concat(left({texts[0]}, {min(start - 1, _LONGEST)}), {replaced})"


def _split(call: Call, texts: Sequence[str], choices: Choices) -> str:
    pattern = _pattern(call, choices)
    if pattern.can_be_empty:
        raise UnsupportedError(f"{ENGINE} cannot split at matches of nothing exactly")
    return f"split({texts[0]}, {text_to_sql(pattern.text)}, -1)"


REGEXP: Table = {
    "regexp_match_substring": _unless_null(_match, may_lengthen=False),
    "regexp_match_substring_all": _unless_null(
        lambda call, texts, choices: _all_matches(call, texts, choices, _number(call, 3, 0))
    ),
    "regexp_count_substring": _unless_null(_count),
    "regexp_strpos": _unless_null(_position),
    "regexp_replace": _unless_null(_replace, may_lengthen=True),
    "regexp_string_split": _unless_null(_split),
}
