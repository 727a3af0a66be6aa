"""The string functions that Spark runs exactly.

Specification: ``functions_string.yaml``. Those of regular expressions have a module of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.like import like_to_sql, may_go_back
from substrait_dsl.spark.expressions.literals import failing, text_to_sql
from substrait_dsl.spark.expressions.templates import Call, Table, Template
from substrait_dsl.spark.session.engines import current_engine


def _caseless(value: str) -> str:
    """A string that is compared without case, character by character.

    Not ``lower``, which makes another letter of a Greek sigma that ends a word, and two characters of a dotted I.
    """
    return f"({value} COLLATE UTF8_LCASE)"


SIGMA, SMALL_SIGMA, LAST_SIGMA = "\u03a3", "\u03c3", "\u03c2"


def _fold_case(value: str) -> str:
    """A string, made equal to those that `_caseless` is equal to: LIKE has other rules for letters without a case."""
    letters = f"lower(translate({value}, '{SIGMA}', '{SMALL_SIGMA}'))"
    return f"replace(translate({letters}, '{LAST_SIGMA}', '{SMALL_SIGMA}'), 'i\u0307', '\u0130')"


def _matching(function: str) -> Template:
    """A search for a part of a string, which may ignore case."""
    cases = {
        "CASE_SENSITIVE": f"{function}({{0}}, {{1}})",
        "CASE_INSENSITIVE": f"{function}({_caseless('{0}')}, {_caseless('{1}')})",
    }
    return Template("[case_sensitivity]", {"case_sensitivity": cases})


_SENSITIVE = {"case_sensitivity": {"CASE_SENSITIVE": ""}}

LONGEST = 100_000_000
"""The most bytes, or characters, of a text whose length is an argument.

A Java array may have 2^31 elements, but memory ends earlier: a plan of a few bytes could exhaust the memory of a
session that others share.
"""

_TOO_LONG = "{} gives too long a text"


def _limit_length(function: str, text: str) -> str:
    """Guard a function whose second argument is the length of its result against very long results."""
    return f"if({{1}} > {LONGEST} AND NOT ({{nulls}}), {failing(_TOO_LONG.format(function))}, {text})"


NO_ESCAPE = "\x01"
"""The specification gives LIKE no escape character; Spark always has one, so it gets one that no pattern contains
unless twice, where it stands for itself."""


def _like(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    text, pattern = texts
    match call.arguments[1]:
        case Literal(value=str() as value) if may_go_back(value):
            if choices["case_sensitivity"]:
                return like_to_sql(_fold_case(text), value, _fold_case)
            return like_to_sql(text, value, None)
        case Literal(value=str() as value) if NO_ESCAPE not in value:  # what Spark can make a mere prefix of
            pass
        case _:
            pattern = f"replace({pattern}, '{NO_ESCAPE}', '{NO_ESCAPE * 2}')"
    if choices["case_sensitivity"]:
        text, pattern = _fold_case(text), _fold_case(pattern)
    return f"({text} LIKE {pattern} ESCAPE '{NO_ESCAPE}')"


# The files do not declare full_unicode, nor spaces_only, but their cases use them.
_UNICODE = {"char_set": {"UTF8": ""}, "full_unicode": {"TRUE": ""}}
_ANY_CHARACTERS = {"spaces_only": {"FALSE": ""}}

# Java's regular expression for a string taken literally: \Q...\E, with each \E inside written \E\\E\Q.
_QUOTED = (
    f"concat({text_to_sql(chr(92) + 'Q')}, replace({{1}}, {text_to_sql(chr(92) + 'E')}, "
    f"{text_to_sql(chr(92) + 'E' + chr(92) * 2 + 'E' + chr(92) + 'Q')}), {text_to_sql(chr(92) + 'E')})"
)


def split_text(text: str, call: Call, separator: str, pattern: str) -> str:
    """SQL text that cuts a text at each match of a pattern, which matches the separator of a call and nothing else.

    Engines cut at an empty separator between the halves of characters; the specification's separators have one.
    """
    parts = f"split({text}, {pattern}, -1)"
    match call.arguments[1]:
        case Literal(value=""):
            raise UnsupportedError(
                f"{current_engine().name} cannot split at an empty separator exactly",
                hint=r'functions.regexp_match_substring_all(x, r"(?:\s|\S)", 1, 0) gives the characters',
            )
        case Literal():
            return parts
        case _:
            return (
                f"if({separator} = '' AND {text} IS NOT NULL, {failing('string_split at an empty separator')}, {parts})"
            )


def _split(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    text, separator = texts
    return split_text(text, call, separator, _QUOTED.replace("{1}", separator))


def _substring(from_end: str, from_beginning: str) -> Template:
    """A substring, given its texts where a negative start counts from the end, or lies left of the first character."""
    negative = failing("substring from a negative position")
    return Template(
        "[negative_start]",
        {
            "negative_start": {
                "WRAP_FROM_END": from_end,
                "ERROR": f"if({{1}} < 0 AND NOT ({{nulls}}), {negative}, substring({{args:, }}))",
                "LEFT_OF_BEGINNING": from_beginning,
            }
        },
        may_lengthen=False,
    )


STRING: Table = {
    "concat": Template(
        "[null_handling]",
        {"null_handling": {"ACCEPT_NULLS": "concat({args:, })", "IGNORE_NULLS": "concat_ws('', {args:, })"}},
        may_lengthen=True,
    ),
    "concat_ws": Template("concat_ws({args:, })", may_lengthen=True),
    "like": Template(_like, {"case_sensitivity": {"CASE_SENSITIVE": "", "CASE_INSENSITIVE": "yes"}}),
    **{
        # From further left than any string is long, the 2^31 - 1 characters that Spark takes do not reach the end.
        f"substring:{short_name}_i32": _substring(
            "substring({0}, if({1} < -1073741824, -1073741824, {1}))", "substring({0}, if({1} < 1, 1, {1}))"
        )
        for short_name in ("str", "vchar", "fchar")
    },
    # Position 1 is the first character: what lies left of it counts, but is empty. The bounds are against overflow.
    "substring": _substring(
        "substring({args:, })",
        "substring({0}, if({1} < 1, 1, {1}),"
        " if({2} < 0, 0, {2}) + if({1} < 1, if({1} < -2147483646, -2147483646, {1}) - 1, 0))",
    ),
    "starts_with": _matching("startswith"),
    "ends_with": _matching("endswith"),
    "contains": _matching("contains"),
    "strpos": Template("CAST(instr({0}, {1}) AS BIGINT)", _SENSITIVE),
    "count_substring": Template(
        f"if({{1}} = '' AND {{0}} IS NOT NULL, {failing('count_substring of an empty text')},"
        " (char_length({0}) - char_length(replace({0}, {1}, ''))) div char_length({1}))",
        _SENSITIVE,
    ),
    "replace": Template("replace({0}, {1}, {2})", _SENSITIVE, may_lengthen=True),
    "repeat": Template(
        f"if(octet_length({{0}}) * CAST({{1}} AS DOUBLE) > {LONGEST}, {failing(_TOO_LONG.format('repeat'))},"
        " repeat({0}, if({1} > 2147483647L, 2147483647, if({1} < 0L, 0, CAST({1} AS INT)))))",
        may_lengthen=True,
    ),
    "reverse": Template("reverse({0})", may_lengthen=False),
    "replace_slice": Template(
        "(CASE WHEN {1} BETWEEN 1L AND char_length({0}) AND {2} >= 0L THEN"
        " overlay({0} PLACING {3} FROM CAST({1} AS INT) FOR CAST(least({2}, 2147483647L) AS INT)) END)",
        may_lengthen=True,
    ),
    "lower": Template("lower({0})", _UNICODE, may_lengthen=True),
    "upper": Template("upper({0})", _UNICODE, may_lengthen=True),
    "capitalize": Template("concat(upper(left({0}, 1)), substring({0}, 2))", _UNICODE, may_lengthen=True),
    "char_length": Template("CAST(char_length({0}) AS BIGINT)"),
    "bit_length": Template("CAST(bit_length({0}) AS BIGINT)"),
    "octet_length": Template("CAST(octet_length({0}) AS BIGINT)"),
    "ltrim": Template("trim(LEADING {1} FROM {0})", _ANY_CHARACTERS, may_lengthen=False),
    "rtrim": Template("trim(TRAILING {1} FROM {0})", _ANY_CHARACTERS, may_lengthen=False),
    "trim": Template("trim(BOTH {1} FROM {0})", _ANY_CHARACTERS, may_lengthen=False),
    **{
        name: Template(_limit_length(name, f"{name}({{0}}, {{1}}, {{2}})"), may_lengthen=True)
        for name in ("lpad", "rpad")
    },
    # Where both sides cannot be padded alike, one gets a character more.
    "center": Template(
        _limit_length(
            "center",
            "CASE WHEN {2} IS NULL THEN NULL WHEN {1} <= char_length({0}) THEN {0}"
            " ELSE lpad(rpad({0}, CAST([padding] AS INT), {2}), {1}, {2}) END",
        ),
        {
            "padding": {
                "RIGHT": "char_length({0}) + ({1} - char_length({0}) + 1) div 2",
                "LEFT": "char_length({0}) + ({1} - char_length({0})) div 2",
            }
        },
        may_lengthen=True,
    ),
    "swapcase": Template(
        "array_join(transform(split({0}, ''), c -> if(lower(c) != c, lower(c), upper(c))), '')",
        {"char_set": {"UTF8": ""}},
        may_lengthen=True,
    ),
    "left": Template("left({0}, {1})", may_lengthen=False),
    "right": Template("right({0}, {1})", may_lengthen=False),
    "string_split": Template(_split),
}
