"""Texts that show themselves: at a prompt and in a cell their lines stand as they are, not as a quoted constant."""

from __future__ import annotations


class ShownText(str):
    """A text of several lines, whose ``repr`` is itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
