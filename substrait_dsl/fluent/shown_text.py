"""Texts that show themselves: at a prompt and in a cell their lines stand as they are, not as a quoted constant."""

from __future__ import annotations

from substrait_dsl.texts import printable


class ShownText(str):
    """A text of several lines, whose ``repr`` is itself, but for what says something else to a terminal."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(printable, self.split("\n")))
