"""Regular expressions on Spark: ICU's meaning where Java has another one, and what is refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.diagnostics.explanations import hint_for_message
from substrait_dsl.spark.expressions.functions_regexp import NO_MATCH
from substrait_dsl.spark.expressions.icu_patterns import java_pattern
from substrait_dsl.spark.expressions.sql_text import to_sql
from tests.spark.evaluation import NOTHING, call, column, computed, rows_of, scope

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("compiled")


def text(value: str) -> Expression:
    return literal(value, t.String())


def number(value: int) -> Expression:
    return literal(value, t.I64())


def matches(value: str, pattern: str, **options: str) -> Expression:
    return call("regexp_match_substring_all", text(value), text(pattern), number(1), number(0), **options)


MATCHES: list[tuple[str, str, dict[str, str], list[str]]] = [
    # Digits, words and spaces are Unicode's.
    ("a٣1", r"\d", {}, ["٣", "1"]),
    ("né_1-x", r"\w+", {}, ["né_1", "x"]),
    ("a\u2003b\x0bc", r"\s", {}, ["\u2003", "\x0b"]),
    ("a٣é ", r"[^\d\s]", {}, ["a", "é"]),
    # Lines end at more characters than Java thinks.
    ("ab\x0bcd\x0cef\u2028gh", r".+", {}, ["ab", "cd", "ef", "gh"]),
    ("a\nb", r".+", {"dotall": "DOTALL_ENABLED"}, ["a\nb"]),
    ("a\r\nb", r".", {"dotall": "DOTALL_ENABLED"}, ["a", "\r\n", "b"]),
    ("x\x0c", r"x$", {}, ["x"]),
    ("x\r\n", r"x$", {}, ["x"]),
    ("x\n\n", r"x$", {}, []),
    ("x\nx", r"^x", {}, ["x"]),
    ("x\x0bx\r\nx", r"^x", {"multiline": "MULTILINE_ENABLED"}, ["x", "x", "x"]),
    ("x\x0bx\r\nx", r"x$", {"multiline": "MULTILINE_ENABLED"}, ["x", "x", "x"]),
    ("x\nx", r"x\z", {}, ["x"]),
    # Characters of two UTF-16 units are one, and nothing matches within.
    ("a😀b", r"x*", {}, ["", "", "", ""]),
    ("a😀b", r"[^a]", {}, ["😀", "b"]),
    # Case, of ASCII letters only.
    ("aAäÄ", r"[aä]", {"case_sensitivity": "CASE_INSENSITIVE_ASCII"}, ["a", "A", "ä"]),
    # What both languages have.
    ("a.b|c", r"\.|\|", {}, [".", "|"]),
    ("abab", r"(a)b\1", {}, ["aba"]),
    ("aaa", r"a{2}", {}, ["aa"]),
    ("aaa", r"a+?", {}, ["a", "a", "a"]),
    ("a-b", r"[a-]", {}, ["a", "-"]),
    ("a]b", r"[\]a]", {}, ["a", "]"]),
]


def test_matches(spark: SparkSession) -> None:
    calls = [matches(value, pattern, **options) for value, pattern, options, _ in MATCHES]
    found = computed(spark.range(1), *calls)[0]
    for (value, pattern, _, expected), actual in zip(MATCHES, found, strict=True):
        assert actual == expected, (value, pattern)


def test_positions_occurrences_and_groups(spark: SparkSession) -> None:
    value, pattern = text("a1b22c333"), text(r"([a-z])(\d+)")

    def match(position: int, occurrence: int, group: int) -> Expression:
        return call("regexp_match_substring", value, pattern, number(position), number(occurrence), number(group))

    found = computed(
        spark.range(1),
        match(1, 1, 0),
        match(1, 2, 2),
        match(4, 1, 0),
        call("regexp_count_substring", value, pattern, number(4)),
        call("regexp_strpos", value, pattern, number(1), number(1)),
        call("regexp_strpos", value, pattern, number(4), number(1)),
        call("regexp_strpos", text("😀a"), text("a"), number(1), number(1)),
        call("regexp_strpos", text("a"), text("b"), number(1), number(1)),
        call("regexp_replace", value, pattern, text(r"<\2\1>"), number(1), number(0)),
        call("regexp_replace", value, pattern, text(r"\17"), number(1), number(1)),
        call("regexp_replace", value, pattern, text("-"), number(3), number(1)),
        call("regexp_replace", text("abab"), text(r"(a)b\1"), text(r"\1"), number(1), number(1)),
    )
    assert found == [("a1", "22", "c333", 1, 1, 6, 2, 0, "<1a><22b><333c>", "a7b22c333", "a1-c333", "ab")]


def test_what_does_not_match(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    required, nullable = column(0, t.String()), column(0, t.String(nullable=True))
    frame = rows_of(spark, [t.String()], [("a",)])
    assert computed(frame, call("regexp_match_substring", nullable, text("x"))) == [(None,)]
    with pytest.raises(PySparkException, match=NO_MATCH):
        computed(frame, call("regexp_match_substring", required, text("x")))


REFUSED = [
    r"a**",
    r"(a*)*",
    r"\bword",
    r"[a&&b]",
    r"[a--b]",
    r"[[:alpha:]]",
    r"\p{L}",
    r"(?i)a",
    r"a]",
    r"(?<n>a)",
    r"a(",
]
REFUSED += [r"\x41", r"(?<=a+)b", r"\2(a)", r"((a)\1)", r"[\d-z]", "a)", "{", r"\Q.\E", r"x{2}{3}", r"(?#note)a"]
REFUSED += [r"a{3,1}", r"a{10,9}?", r"[z-a]", r"[x\n-\t]", r"[\]-\[]"]


@pytest.mark.parametrize("pattern", REFUSED)
def test_patterns_that_are_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(repr(pattern))):
        java_pattern(pattern, multiline=False, dotall=False, ignore_case=False)


def test_what_to_do_where_there_is_no_match_is_told() -> None:
    assert ".otherwise(None) gives NULL there" in (hint_for_message(NO_MATCH) or "")


def test_the_option_for_a_flag_is_told() -> None:
    with pytest.raises(UnsupportedError) as caught:
        java_pattern("(?i)a", multiline=False, dotall=False, ignore_case=False)
    assert "CASE_INSENSITIVE_ASCII" in (caught.value.hint or "")


UNUSABLE: list[tuple[Expression, str]] = [
    (call("regexp_count_substring", text("a"), column(0, t.String())), "only as a literal"),
    (call("regexp_string_split", text("a"), text("x*")), "split at matches of nothing"),
    (call("regexp_count_substring", text("ab"), text("^b"), number(2)), "from position 2"),
    (call("regexp_replace", text("a"), text("a"), text("$1")), "as the replacement"),
    (call("regexp_replace", text("a"), text("a"), text(r"\1")), "as the replacement"),
    (call("regexp_replace", text("a"), text("a"), text("b"), number(1), number(2)), "not occurrence 2"),
    (call("regexp_match_substring", text("a"), text("a"), number(1), number(1), number(1)), "not a group 1"),
    (matches("a", "a", case_sensitivity="CASE_INSENSITIVE"), "case_sensitivity = CASE_INSENSITIVE"),
]


@pytest.mark.parametrize(("expression", "reason"), UNUSABLE, ids=[reason for _, reason in UNUSABLE])
def test_uses_that_are_refused(expression: Any, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        to_sql(expression, scope("c0"))


def test_a_null_makes_the_result_null(spark: SparkSession) -> None:
    nothing = literal(None, t.String(nullable=True))
    assert to_sql(call("regexp_count_substring", text("a"), nothing), NOTHING) == "CAST(NULL AS BIGINT)"
