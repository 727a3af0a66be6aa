"""Plans as the command line reads and prints them."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from substrait_dsl.errors import error_context

if TYPE_CHECKING:
    from substrait_dsl.fluent.plan import Plan

STANDARD_INPUT = STANDARD_OUTPUT = "-"

plan_argument = click.argument("plan", metavar="PLAN")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def read_plan(path: str) -> Plan:
    """Read a plan, in the binary form, as JSON or as text, from a file or from the standard input.

    Raises as `Plan.load`.
    """
    from substrait_dsl.fluent.documents import MAX_BYTES
    from substrait_dsl.fluent.plan import Plan

    if path != STANDARD_INPUT:
        return Plan.load(path)
    if sys.stdin is None:  # `<&-`
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "the standard input")
    with error_context(verb="load", place="the standard input"):
        return Plan._read_content(sys.stdin.buffer.read(MAX_BYTES + 1), False, None, MAX_BYTES)


def print_json(value: Any) -> None:
    """Print a value as JSON, with escapes of JSON for what the output cannot show."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if not (text.replace("\n", "").isprintable() and _can_encode(text)):
        text = json.dumps(value, indent=2)
    print(text)


def _can_encode(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeError:
        return False
    return True


def write_text(output: str, text: str) -> None:
    """Write a text to a file in UTF-8, or to the standard output."""
    if output == STANDARD_OUTPUT and sys.stdout.isatty():
        print(text.removesuffix("\n"))
    else:
        write_bytes(output, text.encode())


def write_bytes(output: str, content: bytes) -> None:
    """Write a file, which is there in full or not at all, or the standard output."""
    if output == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    from substrait_dsl.fluent.saving import write_atomically

    write_atomically(Path(output), content)


def refuse_input(output: str, *inputs: str) -> None:
    """Raise `click.UsageError` if the output is a file that is read, under any of its names."""
    written = None if output == STANDARD_OUTPUT else _file(output)
    if written is not None and any(found and os.path.samestat(written, found) for found in map(_file, inputs)):
        raise click.UsageError(f"{output} is what is read, and would be replaced: name another file")


def _file(path: str) -> os.stat_result | None:
    """Return which file a path, or the standard input, is; None for what is no regular file."""
    try:
        found = os.fstat(sys.stdin.fileno()) if path == STANDARD_INPUT and sys.stdin is not None else os.stat(path)
    except (OSError, ValueError):  # what cannot be read says so itself
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def refuse_terminal(output: str) -> None:
    """Raise `click.UsageError` if the binary form of a plan would be printed on a terminal."""
    if output == STANDARD_OUTPUT and sys.stdout.isatty():
        raise click.UsageError("the binary form is not for a terminal: name a file, or lead the output into one")
