"""JSON as `from_json` and `get_json` of ``everyday.yaml`` read it: each key once, no half of a character, no NaN."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from substrait_dsl.texts import object_of_pairs

NUMBER = r"[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?"
"""The strings that are read as a decimal, as a regular expression of Python and of Java."""


class NumberText(str):
    """The text of a number, which is no string of JSON."""

    __slots__ = ()


class StrictDecoder(json.JSONDecoder):
    """A decoder of JSON alone, whose numbers are texts."""

    def __init__(self, integer: Callable[[str], str] = NumberText, fraction: Callable[[str], str] = NumberText) -> None:
        """Prepare the decoder.

        Args:
            integer: what a whole number becomes, of its digits.
            fraction: what another number becomes, of its text.
        """
        super().__init__(
            object_pairs_hook=object_of_pairs, parse_int=integer, parse_float=fraction, parse_constant=_no_constant
        )

    def decode(self, s: str, _w: Any = None) -> Any:
        """Return the value of a text. Raises `ValueError` for what is no JSON, `RecursionError` for one too deep."""
        value = super().decode(s)
        if "\\u" in s:
            json.dumps(value, ensure_ascii=False).encode()  # which fails for half of a pair
        return value


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")
