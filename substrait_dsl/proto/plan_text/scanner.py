"""A line of the text, read from left to right, and the errors of what stands there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from substrait_dsl.errors import PlanFormatError, UnsupportedError, nearest, quote, shorten

MAX_DEPTH = 100
"""How deeply expressions and types may stand inside each other: parsers of plans accept no more messages."""

_SHOWN = 80
"""The maximal number of characters of a line in an error."""

_SPACES = re.compile(" *")
_BREAK = re.compile(r" *(?:\n *- )? *")
_COMMENT = re.compile("//.*")
_WORD = re.compile(r"\w+|=>|->|\+>|\|>|::|\S")


def to_integer(digits: str) -> int | None:
    """Return the integer that digits mean, a sign in front of them; None for one of more than 20 digits."""
    significant = digits.lstrip("-").lstrip("0")
    if len(significant) > _MAX_DIGITS:
        return None
    number = int(significant or "0")
    return -number if digits.startswith("-") else number


_MAX_DIGITS = 20
"""No integer of 64 bits has more."""


class Scanner:
    """A position in a line, which may go on in lines that begin with ``- ``.

    Args:
        text: the line without its indent, and those that it goes on in.
        line: its number in the text, from 1.
        indent: the number of characters in front of it.
    """

    def __init__(self, text: str, line: int, indent: int = 0) -> None:
        self.text = text
        self.line = line
        self.position = 0
        self._indent = indent
        self._depth = 0

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take what a pattern matches here, behind spaces; None if it does not."""
        self.skip_spaces()
        found = pattern.match(self.text, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def skip_spaces(self) -> None:
        """Go on to what is no space."""
        found = _SPACES.match(self.text, self.position)
        assert found is not None
        self.position = found.end()

    def skip_break(self) -> None:
        """Go on to what is no space, in the next line if the line goes on there."""
        found = _BREAK.match(self.text, self.position)
        assert found is not None
        self.position = found.end()

    def sees(self, symbol: str) -> bool:
        """Whether a symbol stands here, behind spaces."""
        self.skip_spaces()
        return self.text.startswith(symbol, self.position)

    def take(self, symbol: str) -> bool:
        """Take a symbol if it stands here."""
        if not self.sees(symbol):
            return False
        self.position += len(symbol)
        return True

    def expect(self, symbol: str) -> None:
        """Take a symbol. Raises `PlanFormatError` if it does not stand here."""
        if not self.take(symbol):
            raise self.unexpected(f'"{symbol}"')

    def items(self, closing: str) -> Iterator[int]:
        """Yield the number of each item of a list between commas, up to what closes it, which stays."""
        if self.sees(closing):
            return
        number = 0
        yield number
        while self.take(","):
            number += 1
            yield number

    def end(self) -> None:
        """Require the end of the line: only a comment may follow, and no line that it goes on in."""
        self.match(_COMMENT)
        if self.position < len(self.text):
            self.position += self.text[self.position] == "\n"
            raise self.unexpected("the end of the line")

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Read what stands inside of something. Raises `PlanFormatError` if that is too deep."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.error(f"this stands inside more than {MAX_DEPTH} others")
        yield
        self._depth -= 1

    def unexpected(self, expected: str) -> PlanFormatError:
        """Return the error for something else than what was expected here."""
        self.skip_spaces()
        found = _WORD.match(self.text, self.position)
        came = "the end of the line" if self.position >= len(self.text) else None
        if came is None:
            came = quote([found[0] if found else self.text[self.position]])
        return self.error(f"expected {expected}, got {came}")

    def unknown(self, what: str, name: str, known: Iterable[str], position: int) -> PlanFormatError:
        """Return the error for a word at a position that is none of those that may stand there."""
        words = list(known)
        self.position = position
        near = nearest(name, words)
        hint = (
            f'did you mean "{near}"?' if near is not None else f"there are {quote(words, limit=20)}" if words else None
        )
        return self.error(f'there is no {what} "{shorten(name, _SHOWN)}"', hint)

    def unsupported(self, what: str) -> UnsupportedError:
        """Return the error for something of the format that has no place here."""
        shown, path = self._shown(what)
        return UnsupportedError(f"there is no place for {shown}", path=path)

    def error(self, text: str, hint: str | None = None) -> PlanFormatError:
        """Return an error about this position, with the line that it stands in."""
        shown, path = self._shown(text)
        return PlanFormatError(shown, path=path, hint=hint)

    def _shown(self, text: str) -> tuple[str, str]:
        """Return the text of an error with the line of this position, and the position."""
        start = self.text.rfind("\n", 0, self.position) + 1
        number = self.text.count("\n", 0, start)
        line = self.text[start:].partition("\n")[0]
        column = self.position - start + 1 + (0 if number else self._indent)
        shown = f'{text}, in the line "{shorten(line.strip(), _SHOWN)}"'
        return shown, f"line {self.line + number}, column {column}"
