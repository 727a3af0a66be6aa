"""Regular expressions on the embedded engine: ICU's meaning, or refused before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.spark.test_patterns import MATCHES
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REFUSED = {
    r".+", r".", r"x$", r"^x", r"x*", r"(a)b\1",
}  # fmt: skip
"""The patterns of `MATCHES` that take an engine which looks around or goes back; the dot and ^ with their options."""


def found(session: SparkSession, value: str, pattern: str, **options: str) -> list[str]:
    """All matches of a pattern in a value."""
    text = sd.read_virtual([(value,)], {"s": "string"})
    matches = text.select(x=lambda r: f.regexp_match_substring_all(r.s, pattern, 1, 0, **options))
    return list(matches.collect(session)[0][0])


def test_matches_are_right_or_refused(sail: SparkSession) -> None:
    lacking = set()
    for value, pattern, options, expected in MATCHES:
        try:
            assert found(sail, value, pattern, **options) == expected, (value, pattern)
        except UnsupportedError:
            lacking.add(pattern)
    assert lacking == REFUSED


@pytest.mark.parametrize(
    "pattern",
    [
        "a++a", "a*+a", "a?+a", "a{1,2}+a", "(?=a)a", "(?!b)a", "(?<=a)a", "(?<!b)a", "(?>a+)a", r"(a)\1", "a$", r"a\Z",
        "a*", "a|", "a?",
    ],
)  # fmt: skip
def test_what_looks_around_or_goes_back_is_refused(pattern: str, sail: SparkSession) -> None:
    with pytest.raises(UnsupportedError, match="Sail cannot run the pattern"):
        found(sail, "aaa", pattern)


def test_the_hint_has_the_end_of_the_text(sail: SparkSession) -> None:
    with pytest.raises(UnsupportedError) as caught:
        found(sail, "aba", "a$")
    assert r"\z" in (caught.value.hint or "")
    assert found(sail, "aba", r"a\z") == ["a"]


def test_a_dot_that_matches_line_ends_is_refused_for_that(sail: SparkSession) -> None:
    """The refusal names the option, as a dot by itself runs; the hint is followed."""
    words = r"because of \. with dotall, which takes \\r\\n for one character: it neither looks around"
    with pytest.raises(UnsupportedError, match=words) as caught:
        found(sail, "a\r\nb", ".", dotall="DOTALL_ENABLED")
    assert caught.value.hint == r"(?:\s|\S) is any character, \r and \n each by itself"
    assert found(sail, "a\r\nb", ".") == ["a", "b"]
    assert found(sail, "a\r\nb", r"(?:\s|\S)") == ["a", "\r", "\n", "b"]
    assert found(sail, "a\r\nb", r"a(?:\s|\S)+") == ["a\r\nb"]


@pytest.mark.parametrize(("pattern", "part"), [("^b", r"\^"), ("a$", r"\$")])
def test_ends_of_lines_are_refused_for_multiline(pattern: str, part: str, sail: SparkSession) -> None:
    r"""And what is right for the end of the text, ``\z``, is not said there."""
    with pytest.raises(UnsupportedError, match=f"because of {part} with multiline: it neither looks around") as caught:
        found(sail, "a\nb", pattern, multiline="MULTILINE_ENABLED")
    assert caught.value.hint == "Spark runs it"


def test_the_characters_of_a_text(sail: SparkSession) -> None:
    """The hint of string_split for an empty separator is followed; tests of Spark follow it there."""
    text = sd.read_virtual([("a\U0001f600\r\nb",)], {"s": "string"})
    with refused(UnsupportedError, r'functions.regexp_match_substring_all(x, r"(?:\s|\S)", 1, 0) gives the characters'):
        text.select(x=lambda r: f.string_split(r.s, "")).collect(sail)
    characters = text.select(x=lambda r: f.regexp_match_substring_all(r.s, r"(?:\s|\S)", 1, 0)).collect(sail)
    assert characters == [(["a", "\U0001f600", "\r", "\n", "b"],)]


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [
        ("kK\u212a", "k", ["k", "K"]),  # the sign of kelvins has the lower case k
        ("sS\u017f", "S", ["s", "S"]),  # and the long s the upper case S
        ("kK\u212asS\u017f_ä", "[a-z_]", ["k", "K", "s", "S", "_"]),
        ("aZbY", "[X-Z]", ["Z", "Y"]),
        ("xZy^", r"[W-\^]", ["x", "Z", "y", "^"]),
        ("aAbB\u212a", "[^ak]", ["b", "B", "\u212a"]),
        ("aA-1é", r"[\d-]|a", ["a", "A", "-", "1"]),
    ],
)
def test_ascii_letters_alone_have_two_cases(value: str, pattern: str, expected: list[str], sail: SparkSession) -> None:
    assert found(sail, value, pattern, case_sensitivity="CASE_INSENSITIVE_ASCII") == expected
