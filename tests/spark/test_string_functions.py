"""String functions on Spark where the specification has no cases: positions, case, lengths."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.errors import ExecutionError, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
from tests.spark.evaluation import call, column, computed, rows_of, value_of

pytestmark = pytest.mark.usefixtures("compiled")


def test_like_has_no_escape_character(spark: SparkSession) -> None:
    pairs = [("a\\b", "a\\b"), ("a%b", "a\\%b"), ("a\\xb", "a\\%b"), ("a\nb", "a%b"), ("AB", "a_"), ("", "%")]
    frame = rows_of(spark, [t.String(), t.String()], pairs)
    text, pattern = column(0, t.String()), column(1, t.String())
    found = computed(
        frame, call("like", text, pattern), call("like", text, pattern, case_sensitivity="CASE_INSENSITIVE")
    )
    assert [row[0] for row in found] == [True, False, True, True, False, True]
    assert [row[1] for row in found] == [True, False, True, True, True, True]


@pytest.mark.parametrize("sensitivity", ["CASE_SENSITIVE", "CASE_INSENSITIVE"])
def test_like_with_control_characters(sensitivity: str, spark: SparkSession) -> None:
    """Also with the one that Spark is told to be its escape."""
    pairs = [("\x01a", "\x01%"), ("%", "\x01%"), ("\x01" * 2, "\x01" * 2), ("\x01", "\x01\x01"), ("\x01", "_")]
    wanted = [True, False, True, False, True]
    frame = rows_of(spark, [t.String(), t.String()], pairs)
    text, pattern = column(0, t.String()), column(1, t.String())
    assert computed(frame, call("like", text, pattern, case_sensitivity=sensitivity)) == [(same,) for same in wanted]
    literals = [[literal(each, t.String()) for each in pair] for pair in pairs]
    one = rows_of(spark, [t.String()], [("x",)])
    assert computed(one, *(call("like", *pair, case_sensitivity=sensitivity) for pair in literals)) == [tuple(wanted)]


def is_like(text: str, pattern: str) -> bool:
    """What LIKE says, by its definition: of each beginning of the pattern, which beginnings of the text it matches."""
    matched = [True] + [False] * len(text)
    for part in pattern:
        if part == "%":
            matched = [any(matched[: end + 1]) for end in range(len(matched))]
        else:
            steps = [before and part in ("_", one) for before, one in zip(matched, text, strict=False)]
            matched = [False, *steps]
    return matched[-1]


@pytest.mark.parametrize("sensitivity", ["CASE_SENSITIVE", "CASE_INSENSITIVE"])
def test_like_with_constant_patterns_of_many_parts(sensitivity: str, spark: SparkSession) -> None:
    """Each part of such a pattern is taken where it is found first: the same as trying all places."""
    draw = random.Random(7)
    letters = ["a", "b", "%", "%", "_", "\\", "E", "\\E", "\n", "é", "\U0001f600", ".*", "(", "i", "\u0307"]
    patterns = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(90)]
    patterns += ["%%", "%_%", "_%_%_", "a%%b", "%a%b%", "%a%a", "a%a%", "%\\E%a", "%\\Q%_", "%\x01%a", "%\r\n%_"]
    signs = ["a", "b", "a", "b", "\\", "E", "\n", "é", "\U0001f600", ".*", "(", "i", "\u0307", "%", "_", "\x01"]
    texts = ["".join(draw.choices(signs, k=draw.randint(0, 9))) for _ in range(60)]
    texts += ["a", "aa", "aab", "\\E", "\\Ea", "\r\n", "\r\nx", "\U0001f600" * 2]
    fold = str if sensitivity == "CASE_SENSITIVE" else lambda text: text.lower().replace("i\u0307", "\u0130")
    frame = rows_of(spark, [t.String(nullable=True)], [(text,) for text in [*texts, None]])
    text = column(0, t.String(nullable=True))
    calls = [call("like", text, literal(pattern, t.String()), case_sensitivity=sensitivity) for pattern in patterns]
    wanted: list[tuple[bool | None, ...]] = [
        tuple(is_like(fold(each), fold(pattern)) for pattern in patterns) for each in texts
    ]
    assert computed(frame, *calls) == [*wanted, (None,) * len(patterns)]


@pytest.mark.parametrize("sensitivity", ["CASE_SENSITIVE", "CASE_INSENSITIVE"])
def test_like_takes_time_as_the_text_is_long(sensitivity: str, spark: SparkSession) -> None:
    """Of 200 letters Spark's own LIKE takes hours."""
    frame = rows_of(spark, [t.String()], [("a" * 20_000,), ("a" * 20_000 + "b",)])
    patterns = ("%a%a%a%a%a%b", "a%a%a%a%_b%", "%a_a%a_a%a_a%ab")
    calls = [
        call("like", column(0, t.String()), literal(pattern, t.String()), case_sensitivity=sensitivity)
        for pattern in patterns
    ]
    assert computed(frame, *calls) == [(False,) * 3, (True,) * 3]


def test_letters_of_either_case_are_alike_wherever_they_stand(spark: SparkSession) -> None:
    # Java's lower case writes a sigma otherwise where it ends a word, and makes two characters of İ
    pairs = [("ΔΣΔ", "δς"), ("δςδ", "ΔΣ"), ("İa", "İ"), ("straße", "STRASSE"), ("x", "X")]
    frame = rows_of(spark, [t.String(), t.String()], pairs)
    text, part = column(0, t.String()), column(1, t.String())
    names = ("contains", "starts_with")
    found = computed(frame, *(call(name, text, part, case_sensitivity="CASE_INSENSITIVE") for name in names))
    assert found == [(same, same) for same in (True, True, True, False, True)]
    patterns = [("ΔΣΔ", "δς%"), ("İ", "_"), ("Ab", "aB"), ("ß", "__")]
    frame = rows_of(spark, [t.String(), t.String()], patterns)
    found = computed(frame, call("like", text, part, case_sensitivity="CASE_INSENSITIVE"))
    assert found == [(True,), (True,), (True,), (False,)]


def test_like_goes_by_the_same_letters_as_the_other_functions(spark: SparkSession) -> None:
    """A long s and a dotless i are no letters of the others' case, a large sharp s is, as are all forms of a sigma."""
    alike = ["\u1e9e\u00df", "\u212ak", "\u03a3\u03c2", "\u03c2\u03c3", "\u0130\u0130", "\u00c9\u00e9", "Qq"]
    apart = ["\u0130i", "\u0131i", "\u0131I", "\u017fs", "\u00b5\u03bc", "\u00c9e", "ab"]
    pairs = [(pair[i], pair[1 - i]) for pair in (*alike, *apart) for i in range(2)]
    frame = rows_of(spark, [t.String(), t.String()], pairs)
    texts = column(0, t.String()), column(1, t.String())
    found = computed(
        frame, *(call(name, *texts, case_sensitivity="CASE_INSENSITIVE") for name in ("like", "contains", "ends_with"))
    )
    due = [True] * 2 * len(alike) + [False] * 2 * len(apart)
    assert found == [(same,) * 3 for same in due]


def test_substring_positions(spark: SparkSession) -> None:
    starts, lengths = (-(2**31), 1 - 2**31, -3, -1, 0, 1, 3, 9, 2**31 - 1), (0, 1, 2, 5, 2**31 - 1)
    pairs = [(start, length) for start in starts for length in lengths]
    frame = rows_of(spark, [t.I32(), t.I32()], pairs)
    text = literal("abcdef", t.String())
    start, length = column(0, t.I32()), column(1, t.I32())
    found = computed(frame, call("substring", text, start, length, negative_start="LEFT_OF_BEGINNING"))
    # position 1 is the first of the characters, so position p stands at p - 1
    assert found == [("abcdef"[max(p - 1, 0) : max(p - 1 + n, 0)],) for p, n in pairs]
    to_the_end = computed(frame, call("substring", text, start, negative_start="LEFT_OF_BEGINNING"))
    assert to_the_end == [("abcdef"[max(p - 1, 0) :],) for p, _ in pairs]
    nonzero = [(p, n) for p, n in pairs if p]
    frame = rows_of(spark, [t.I32(), t.I32()], nonzero)
    from_the_end = computed(
        frame,
        call("substring", text, start, negative_start="WRAP_FROM_END"),
        call("substring", text, start, length, negative_start="WRAP_FROM_END"),
    )
    # position -1 is the last of the six characters; what is left of the first one counts, but is empty
    at = [p - 1 if p > 0 else p + 6 for p, _ in nonzero]
    assert from_the_end == [
        ("abcdef"[max(i, 0) :], "abcdef"[max(i, 0) : max(i + n, 0)]) for i, (_, n) in zip(at, nonzero, strict=True)
    ]


def test_a_substring_of_nothing_or_from_nowhere_is_null(spark: SparkSession) -> None:
    frame = rows_of(
        spark,
        [t.String(nullable=True), t.I32(nullable=True), t.I32(nullable=True)],
        [(None, 1, 1), ("a", None, 1), ("a", -5, None)],
    )
    text, start, length = (
        column(0, t.String(nullable=True)),
        column(1, t.I32(nullable=True)),
        column(2, t.I32(nullable=True)),
    )
    for option in ("WRAP_FROM_END", "LEFT_OF_BEGINNING"):
        to_the_end, some = (call("substring", text, start, *more, negative_start=option) for more in ((), (length,)))
        assert computed(frame, to_the_end, some) == [(None, None), (None, None), ("a", None)]


def test_occurrences_of_an_empty_text_are_not_counted(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    type_ = t.String(nullable=True)
    counted = call("count_substring", column(0, type_), column(1, type_))
    frame = rows_of(spark, [type_, type_], [("abcabc", "bc"), (None, ""), ("a", None)])
    assert computed(frame, counted) == [(2,), (None,), (None,)]
    with pytest.raises(PySparkException, match="empty text"):
        computed(rows_of(spark, [type_, type_], [("a", "")]), counted)


def test_separators_are_no_patterns(spark: SparkSession) -> None:
    pairs = [("a.b.", "."), ("a\\E.b", "\\E."), ("a|b", "|"), ("abc", "x")]
    frame = rows_of(spark, [t.String(), t.String()], pairs)
    found = computed(frame, call("string_split", column(0, t.String()), column(1, t.String())))
    assert found == [(text.split(separator),) for text, separator in pairs]


def test_a_separator_has_a_character(spark: SparkSession) -> None:
    """Spark would cut between the two halves of one."""
    table = sd.read_virtual([("a\U0001f600b", "")], {"text": "string", "separator": "string"})
    with pytest.raises(UnsupportedError, match="an empty separator exactly") as caught:
        table.select(x=lambda r: f.string_split(r.text, "")).execute(spark)
    assert r'regexp_match_substring_all(x, r"(?:\s|\S)", 1, 0)' in (caught.value.hint or "")
    characters = table.select(x=lambda r: f.regexp_match_substring_all(r.text, r"(?:\s|\S)", 1, 0))
    assert characters.collect(spark) == [(["a", "\U0001f600", "b"],)]
    with pytest.raises(ExecutionError, match="empty separator"):
        table.select(x=lambda r: f.string_split(r.text, r.separator)).collect(spark)
    nothing = sd.read_virtual([(None, "")], {"text": "string?", "separator": "string"})
    assert nothing.select(x=lambda r: f.string_split(r.text, r.separator)).collect(spark) == [(None,)]


def test_slices_and_counts(spark: SparkSession) -> None:
    text, new = literal("abcdef", t.String()), literal("XY", t.String())

    def slice_(start: int, length: int) -> Expression:
        return call("replace_slice", text, literal(start, t.I64()), literal(length, t.I64()), new)

    found = computed(
        spark.range(1),
        *(slice_(*pair) for pair in ((2, 3), (2, 0), (6, 99), (0, 1), (7, 1), (1, -1))),
        call("count_substring", literal("aaaa", t.String()), literal("aa", t.String())),
        call("strpos", literal("abc", t.String()), literal("c", t.String())),
        call("capitalize", literal("éa b", t.String())),
    )
    assert found == [("aXYef", "aXYbcdef", "abcdeXY", None, None, None, 2, 3, "Éa b")]


def test_numbers_beyond_the_length_of_any_text(spark: SparkSession) -> None:
    """In a projection, in a lambda and in a filter: Spark computes the arguments of each in another order."""
    huge = 3_000_000_000
    rows = [("ab", 2), ("ab", 0), ("ab", -huge), ("", huge), (None, huge), ("ab", None)]
    table = sd.read_virtual(rows, {"s": "string?", "n": "i64?"})
    wanted = ["abab", "", "", "", None, None]
    repeated = table.project(x=lambda r: f.repeat(r.s, r.n))
    assert [row.x for row in repeated.collect(spark)] == wanted
    listed = table.project(x=lambda r: f.transform(sd.list_of(r.n), lambda n: f.repeat(r.s, n)))
    assert [row.x for row in listed.collect(spark)] == [[text] for text in wanted]
    kept = table.filter(lambda r: f.repeat(r.s, r.n).is_null())
    assert kept.collect(spark) == [(None, huge), ("ab", None)]
    with pytest.raises(ExecutionError, match=r"too long a text in repeat\(s, n\)"):
        sd.read_virtual([("ab", huge)], {"s": "string", "n": "i64"}).project(x=lambda r: f.repeat(r.s, r.n)).collect(
            spark
        )

    found = table.select(
        nth=lambda r: f.regexp_match_substring(r.s, "b", 1, huge, 0),
        from_afar=lambda r: f.regexp_match_substring(r.s, "b", huge, 1, 0),
        counted=lambda r: f.regexp_count_substring(r.s, "b", huge),
        place=lambda r: f.regexp_strpos(r.s, "b", huge, 1),
        replaced=lambda r: f.regexp_replace(r.s, "b", "c", huge, 0),
    )
    assert found.collect(spark) == [(None, None, *((None,) * 3 if s is None else (0, 0, s))) for s, _ in rows]


def test_results_that_exceed_their_length_are_errors(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    short = t.VarChar(3)
    assert value_of(spark, call("concat", literal("ab", short), literal("c", short))) == "abc"
    with pytest.raises(PySparkException, match=r"varchar<3>"):
        value_of(spark, call("concat", literal("ab", short), literal("cd", short)))


def test_centers_and_cases(spark: SparkSession) -> None:
    def center(length: int, **options: str) -> Expression:
        return call("center", literal("ab", t.String()), literal(length, t.I32()), literal("*", t.String()), **options)

    found = computed(
        spark.range(1),
        *(center(length) for length in (1, 2, 3, 4, 5)),
        center(3, padding="LEFT"),
        center(5, padding="LEFT"),
        call("swapcase", literal("aBé😀Ö1", t.String())),
        call("swapcase", literal("", t.String())),
    )
    assert found == [("ab", "ab", "ab*", "*ab*", "*ab**", "*ab", "**ab*", "AbÉ😀ö1", "")]
