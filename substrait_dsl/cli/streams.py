"""The streams of the process as the command line writes to them.

What is printed has names of strangers in it. A terminal obeys control characters, so there they are printed as escapes;
a file or a pipe gets them as they are, since a program may read it.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, TextIO

from substrait_dsl.texts import printable


class _TerminalOutput(io.TextIOWrapper):
    """The output to a terminal: what is not seen, line breaks and tabs aside, is printed as an escape."""

    def write(self, text: str, /) -> int:
        if not text.isprintable():
            text = "".join(sign if sign in "\n\t" else printable(sign) for sign in text)
        return super().write(text)


class _ClosedOutput(io.TextIOBase):
    """The standard output of a process that has none (``>&-``): who writes to it has an error of the system."""

    @property
    def buffer(self) -> NoReturn:
        self._refuse()

    def write(self, text: str, /) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "the standard output")


@contextmanager
def printing_safely() -> Iterator[None]:
    """Let the standard streams print what a terminal does not show, or obeys, as escapes."""
    former = sys.stdout, sys.stderr
    terminals: list[_TerminalOutput] = []

    def wrapped(stream: TextIO) -> TextIO:
        if not isinstance(stream, io.TextIOWrapper):
            return stream
        stream.reconfigure(errors="backslashreplace")  # what its encoding does not have ends no program
        if not stream.isatty():
            return stream
        stream.flush()
        terminals.append(
            _TerminalOutput(stream.buffer, stream.encoding, "backslashreplace", line_buffering=stream.line_buffering)
        )
        return terminals[-1]

    sys.stdout = _ClosedOutput() if sys.stdout is None else wrapped(sys.stdout)
    sys.stderr = sys.stderr if sys.stderr is None else wrapped(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = former
        for terminal in terminals:
            terminal.detach()  # else it closes the stream that it writes to
