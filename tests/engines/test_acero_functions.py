"""The functions that Acero gets from the library: their values, of arrays and of rows, are those of the definitions."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from substrait_dsl.algebra.expressions import FunctionId
from substrait_dsl.consumers.acero_functions import IMPLEMENTATIONS, compute_batch, like_expression
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.engines.registered import ARROW, PREFIX, registered_function

SIGNS = "aab%_\\é😊\n.0"

CHANCE = random.Random(20)


def any_text(signs: str, most: int) -> str:
    return "".join(CHANCE.choices(signs, k=CHANCE.randint(0, most)))


TEXTS: list[str | None] = [
    *(
        "",
        "a",
        "abc",
        "\n",
        "a\nb",
        "%",
        "_",
        "a\\b",
        "é",
        "a😊b",
        "😊😊",
        "a\0b",
        "abab",
        "e\u0301",
        "[a]",
        "\\E",
        "\\Q",
    ),
    *(any_text(SIGNS, 7) for _ in range(60)),
    None,
]
PLAIN: list[str | None] = [text for text in TEXTS if text is None or text.isascii()]


def like(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern, by what its first sign may stand for."""
    reached = {0}  # how much of the text the pattern may have stood for so far
    for sign in pattern:
        if sign == "%":
            reached = set(range(min(reached, default=len(text) + 1), len(text) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(text) and sign in ("_", text[at])}
    return len(text) in reached


def substring(text: str, start: int, length: int | None = None) -> str:
    """The characters whose positions, from 1, are in a range; of a negative start that counts from the end."""
    first = len(text) + 1 + start if start < 0 else max(start, 1)
    return "".join(sign for at, sign in enumerate(text, 1) if at >= first and (length is None or at < first + length))


def position(text: str, part: str) -> int:
    return next((at + 1 for at in range(len(text) - len(part) + 1) if text[at : at + len(part)] == part), 0)


def trimmed(text: str, characters: str, *, left: bool, right: bool) -> str:
    while left and text and text[0] in characters:
        text = text[1:]
    while right and text and text[-1] in characters:
        text = text[:-1]
    return text


PATTERNS = [
    *(
        "",
        "%",
        "_",
        "%%",
        "_%_",
        "a%b",
        "%a%b%",
        "\\%",
        "a\\_b",
        "%\n%",
        "_\n_",
        "%😊%",
        "%.%",
        "$^",
        "%\0%",
        "\\E",
        "(?i)A",
    ),
    *(any_text(SIGNS + "%%_", 6) for _ in range(60)),
]
BOUNDS = [-(2**31), -(2**31) + 1, -5, -2, -1, 0, 1, 2, 5, 2**31 - 2, 2**31 - 1]
PARTS = ["", "a", "ab", "é", "😊", "%", "\n", "aa", "b\0", "abcabcabc", "."]
TRIMMED = ["", " ", "a", "ab", "😊é", "\\n", "]^-"]

CASES: dict[str, tuple[list[tuple[Any, ...]], Callable[..., Any]]] = {
    "like:str_str": ([(each,) for each in PATTERNS], like),
    "starts_with:str_str": ([(each,) for each in PARTS], lambda text, part: text[: len(part)] == part),
    "ends_with:str_str": (
        [(each,) for each in PARTS],
        lambda text, part: part == text[max(len(text) - len(part), 0) :],
    ),
    "contains:str_str": ([(each,) for each in PARTS], lambda text, part: position(text, part) > 0),
    "substring:str_i32": ([(start,) for start in BOUNDS], substring),
    "substring:str_i32_i32": ([(start, length) for start in BOUNDS for length in BOUNDS], substring),
    "left:str_i32": ([(each,) for each in BOUNDS], lambda text, n: "".join(s for at, s in enumerate(text) if at < n)),
    "right:str_i32": (
        [(each,) for each in BOUNDS],
        lambda text, n: "".join(s for at, s in enumerate(text) if at >= len(text) - n),
    ),
    "strpos:str_str": ([(each,) for each in PARTS], position),
    "replace:str_str_str": (
        [(part, other) for part in PARTS for other in ("", "a", "aa", "😊", "\\0", "\\1", "$1")],
        lambda text, part, other: other.join(text.split(part)) if part else text,
    ),
    "repeat:str_i64": (
        [(each,) for each in (-(2**63), -1, 0, 1, 3)],
        lambda text, count: "".join(text for _ in range(count)),
    ),
    "ltrim:str_str": ([(each,) for each in TRIMMED], lambda text, some: trimmed(text, some, left=True, right=False)),
    "rtrim:str_str": ([(each,) for each in TRIMMED], lambda text, some: trimmed(text, some, left=False, right=True)),
    "trim:str_str": ([(each,) for each in TRIMMED], lambda text, some: trimmed(text, some, left=True, right=True)),
}
"""By the key of a function its further arguments, and the value by its definition."""


def scalars(values: tuple[Any, ...], key: str) -> tuple[pa.Scalar, ...]:
    kinds = {"str": pa.string(), "i32": pa.int32(), "i64": pa.int64()}
    return tuple(
        pa.scalar(value, kinds[kind]) for value, kind in zip(values, key.partition(":")[2].split("_")[1:], strict=True)
    )


@pytest.mark.parametrize("key", CASES)
@pytest.mark.parametrize("texts", [TEXTS, PLAIN], ids=["any", "ascii"])
def test_values_are_those_of_the_definition(key: str, texts: list[str | None]) -> None:
    """For arrays, for slices of them, row by row, for constants alone, and for what is a column of its own."""
    implementation = IMPLEMENTATIONS[key]
    arguments, definition = CASES[key]
    column = pa.array([None, *texts], pa.string())
    for others in arguments:
        expected = [None if text is None else definition(text, *others) for text in column.to_pylist()]
        constants = scalars(others, key)
        found = compute_batch(implementation, len(column), (column, *constants))
        assert found.type == implementation.output
        assert found.to_pylist() == expected, others
        part = column.slice(3, 5)
        assert compute_batch(implementation, 5, (part, *constants)).to_pylist() == expected[3:8], others
        columns = [pa.array([each.as_py()] * len(column), each.type) for each in constants]
        assert compute_batch(implementation, len(column), (column, *columns)).to_pylist() == expected, others
        one = pa.scalar(column[1].as_py(), pa.string())
        assert compute_batch(implementation, 2, (one, *constants)).to_pylist() == expected[1:2] * 2, others
        assert compute_batch(implementation, 0, (column.slice(0, 0), *constants)).to_pylist() == []


LETTERS = {
    "upper:str": {"aé1": "AÉ1", "ß": "SS", "\u0149": "\u02bcN", "ǆ": "Ǆ", "a\nz": "A\nZ", "ﬁ": "FI"},
    "lower:str": {
        "AÉ1": "aé1",
        "\u0130": "i\u0307",
        "A\nZ": "a\nz",
        "\u0391\u03a3": "\u03b1\u03c2",
        "\u03a3\u0391": "\u03c3\u03b1",
        "\u0391\u03a3.": "\u03b1\u03c2.",
    },
}
"""By Unicode's ``SpecialCasing.txt``, and the letters of ASCII."""


@pytest.mark.parametrize("key", LETTERS)
def test_letters_are_those_of_unicode(key: str) -> None:
    for pairs in (LETTERS[key], {one: other for one, other in LETTERS[key].items() if one.isascii()}):
        column = pa.array([None, *pairs])
        assert compute_batch(IMPLEMENTATIONS[key], len(column), (column,)).to_pylist() == [None, *pairs.values()]


def test_every_function_has_its_cases() -> None:
    assert {*CASES, *LETTERS} == set(IMPLEMENTATIONS)


def test_the_profile_has_the_functions_that_are_registered() -> None:
    functions = load_profile("acero").functions
    listed = {FunctionId(urn, key) for _, urn, key in functions if urn == ARROW and key.startswith(PREFIX)}
    of_texts = "extension:io.substrait:functions_string"
    assert listed == {registered_function(FunctionId(of_texts, key)) for key in IMPLEMENTATIONS}


@pytest.mark.parametrize("key", IMPLEMENTATIONS)
def test_a_constant_that_is_null_gives_null(key: str) -> None:
    """Of the right type, also where the text is a constant, too."""
    implementation = IMPLEMENTATIONS[key]
    kinds = key.partition(":")[2].split("_")
    nulls = scalars((None,) * (len(kinds) - 1), key)
    for first in (pa.array(["a", None]), pa.scalar("a"), pa.scalar(None, pa.string())):
        if nulls or (first is not None and not isinstance(first, pa.Array) and not first.is_valid):
            found = compute_batch(implementation, 2, (first, *nulls))
            assert (found.type, found.to_pylist()) == (implementation.output, [None, None])


def test_patterns_take_time_that_grows_with_the_text() -> None:
    """One that went back to all of its parts would take for ever."""
    for pattern in ("%a" * 40 + "%b", "%a_" * 40 + "%b%", "_" * 20000 + "%c"):
        text = "a" * 20000
        assert like_expression(pattern).match(text) is None
        columns = (pa.array([text, text]), pa.array([pattern, None]))
        assert compute_batch(IMPLEMENTATIONS["like:str_str"], 2, columns).to_pylist() == [False, None]


def test_a_pattern_that_is_too_large_for_arrow_is_computed_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise pa.ArrowInvalid("pattern too large")

    monkeypatch.setattr("pyarrow.compute.match_substring_regex", refuse)
    texts = pa.array(["ab", "b", None])
    found = compute_batch(IMPLEMENTATIONS["like:str_str"], 3, (texts, pa.scalar("a%")))
    assert found.to_pylist() == [True, False, None]


@pytest.mark.parametrize("key", ["upper:str", "strpos:str_str", "substring:str_i32"])
def test_a_text_that_is_not_in_utf_8_is_an_error(key: str) -> None:
    """Arrow lets arrays be made of such bytes, and computes with them."""
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff"))
    others = {"strpos:str_str": (broken,), "substring:str_i32": (pa.scalar(1, pa.int32()),)}.get(key, ())
    with pytest.raises(pa.ArrowInvalid, match="UTF"):
        compute_batch(IMPLEMENTATIONS[key], 1, (broken, *others))


@pytest.mark.parametrize("count", [2**31, 2**40, 2**63 - 1])
def test_a_text_that_has_no_place_is_an_error(count: int) -> None:
    implementation = IMPLEMENTATIONS["repeat:str_i64"]
    assert compute_batch(implementation, 2, (pa.array(["", None]), pa.scalar(count))).to_pylist() == ["", None]
    for texts in (pa.array(["a", None]), pa.scalar("a")):
        with pytest.raises(pa.ArrowInvalid, match="too long a text"):
            compute_batch(implementation, 2, (texts, pa.scalar(count)))
