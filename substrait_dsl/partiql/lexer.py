"""The tokens of the notation: Ion's, with ``<<``, ``>>``, ``<{`` and ``}>`` as single characters.

``}>>`` may close a struct and a bag or a binding tuple and half of a bag: only the parser knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from substrait_dsl.errors import NotationError, shorten

IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
"""A symbol that needs no quotes."""

_TOKEN = re.compile(
    r"""
    (?P<space>(?:\s|//[^\n]*|/\*.*?\*/)+)
  | (?P<blob>\{\{[A-Za-z0-9+/=\s]*\}\})
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<symbol>'(?:[^'\\\n]|\\.)*')
  | (?P<timestamp>\d{4}-\d\d-\d\d(?:T(?:\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?)?(?![\w:+-]))
  | (?P<number>-?\d+(?:\.\d*)?(?:[dDeE][+-]?\d+)?(?![\w.]))
  | (?P<infinity>[+-]inf\b)
  | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
  | (?P<mark>[()\[\]{}<>,:])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_ESCAPES |= {mark: mark for mark in "\"'\\/?"}
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)

CLOSED_BY = {"(": ")", "[": "]", "{": "}", "<<": ">>", "<{": "}>"}


@attrs.frozen
class Token:
    """A token, and its position in the text."""

    kind: str
    text: str
    start: int


class Source:
    """The text that is parsed, for the positions of errors."""

    def __init__(self, text: str) -> None:
        self.text = text

    def error(self, start: int, message: str, hint: str | None = None) -> NotationError:
        """Return the error at a position."""
        line = self.text.count("\n", 0, start) + 1
        column = start - (self.text.rfind("\n", 0, start) + 1) + 1
        return NotationError(message, line=line, column=column, hint=hint)

    def tokens(self) -> Iterator[Token]:
        """Return the tokens, without spaces and comments; the last is of the kind ``end``."""
        position = 0
        while position < len(self.text):
            found = _TOKEN.match(self.text, position)
            if found is None:
                raise self._unreadable(position)
            kind = found.lastgroup
            assert kind is not None
            if kind != "space":
                yield Token(kind, found[0], position)
            position = found.end()
        yield Token("end", "the end", position)

    def _unreadable(self, start: int) -> NotationError:
        rest = self.text[start:]
        if rest[0] in "\"'":
            return self.error(start, f"a text is not closed: {shorten(rest.partition(chr(10))[0], 40)}")
        if rest.startswith("/*"):
            return self.error(start, "a comment is not closed")
        word = re.match(r"[^\s()\[\]{}<>,:]+", rest)
        return self.error(start, f"expected a value, got {shorten(word[0] if word else rest[0], 40)!r}")

    def unquote(self, token: Token) -> str:
        """Return the text of a quoted string or symbol."""

        def unescape(escape: re.Match[str]) -> str:
            body = escape[1]
            if body[0] in "xuU" and len(body) > 1:
                number = int(body[1:], 16)
                if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                    raise self.error(token.start + 1 + escape.start(), f"there is no character \\{body}")
                return chr(number)
            if body not in _ESCAPES:
                raise self.error(token.start + 1 + escape.start(), f"there is no escape \\{body}")
            return _ESCAPES[body]

        return _ESCAPE.sub(unescape, token.text[1:-1])
