"""The headers of delimited text on this machine: whether they name the columns that are declared.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

import bz2
import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import attrs

from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError, quote
from substrait_dsl.spark.sources.text_parser import is_blank, parse_record
from substrait_dsl.texts import nearest

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import DelimitedText, TextReading

OPENERS: Mapping[str, Callable[..., IO[str]]] = {".gz": gzip.open, ".bz2": bz2.open}
"""Openers of compressed files, by the suffixes that Spark recognizes."""
COMPRESSED = (".deflate", ".lz4", ".snappy", ".zst", ".xz")
"""The suffixes of other compressed files."""

NO_UTF8 = "delimited text holds bytes that are not UTF-8"

_LONGEST = 2**32
"""The most bytes of a file in which a second header is looked for."""
_CHUNK = 2**18
"""The bytes that are read at once: they stay in the cache of a processor."""
_FEW = 10_000
"""So many lines that only begin as a header are looked at."""


@attrs.frozen
class Header:
    """The header of a file."""

    line: str
    """Its line, without the end; empty if the file has none."""
    is_first: bool
    """Whether it is the first line of the file, and a line feed ends it."""
    above: tuple[str, ...] = ()
    """The lines above it, which are skipped, too."""

    @property
    def lines(self) -> list[str]:
        """All lines that are skipped, but empty ones."""
        return [line for line in (*self.above, self.line) if line]


def path_of(uri: str) -> str | None:
    """Return the path of a file on this machine, by the URI that Spark has for it."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    return path if parts.scheme == "file" and not parts.netloc and os.path.isfile(path) else None


def open_text(path: str, reading: TextReading, errors: str = "strict") -> IO[str]:
    """Open a file of text, which may be compressed, behind the mark of its encoding.

    A line ends in any of the three ways, and keeps its end.
    """
    opener = OPENERS.get(os.path.splitext(path)[1], open)
    encoding = "utf-8-sig" if reading.encoding == "utf-8" else reading.encoding
    file: IO[str] = opener(path, "rt", encoding=encoding, errors=errors, newline="")
    if encoding in ("utf-16le", "utf-16be") and file.read(1) != "\ufeff":
        file.seek(0)
    return file


def require_read_exactly(uris: Iterable[str], reading: TextReading) -> None:
    """Raise for a file on this machine whose text Spark would decode or end otherwise than it is written.

    Raises `ExecutionError` for UTF-16 that does not say its order of bytes and for Parquet, `UnsupportedError` for a
    form feed at the end, which Spark takes for the end of a line.
    """
    for path in filter(None, map(path_of, uris)):
        if path.endswith((*OPENERS, *COMPRESSED)):
            continue
        with open(path, "rb") as file:
            start = file.read(4)
            file.seek(max(0, os.path.getsize(path) - 2))
            end = file.read()
        if start == b"PAR1":
            raise ExecutionError(f"{path} is a Parquet file, no text", hint="read_files(path, schema) reads Parquet")
        if reading.encoding == "utf-16" and start[:2] not in (b"", b"\xff\xfe", b"\xfe\xff"):
            raise ExecutionError(
                f"{path} does not say which order its bytes have, as UTF-16 does by its first two",
                hint='write encoding="utf-16le" or encoding="utf-16be"',
            )
        if b"\f" in end:
            raise UnsupportedError(f"{path} ends with a form feed, which Spark takes for the end of a line")


def header_of(path: str, format_: DelimitedText, reading: TextReading) -> Header | None:
    """Return the header of a file: its first lines that are not blank. None if it cannot be read here.

    Raises `UnsupportedError` for a blank line between two lines of a header: whether it is one of those is not said.
    Raises `ExecutionError` for bytes in it that are not of its encoding.
    """
    if path.endswith(COMPRESSED):
        return None
    try:
        try:
            with open_text(path, reading) as file:
                return _first_lines(file, path, format_, reading)
        except UnicodeDecodeError as error:
            with open_text(path, reading, errors="replace") as file:
                header = _first_lines(file, path, format_, reading)
            if any("\ufffd" in line for line in header.lines):
                raise undecodable(path, reading, error) from error
            return header  # it is another line, which Spark names
    except (OSError, EOFError, UnicodeError):
        return None  # Spark says what is wrong with it, and where


def _first_lines(file: IO[str], path: str, format_: DelimitedText, reading: TextReading) -> Header:
    lines = iter(file)
    found = ((number, line) for number, line in enumerate(lines) if not is_blank(line, format_))
    number, line = next(found, (0, ""))
    above: list[str] = []
    is_open = reading.line_breaks == "in_quotes" and line.count(format_.quote) % 2
    for _ in range(1, format_.header_lines_to_skip):
        following = next(lines, "")
        if following and (is_open or is_blank(following, format_)):
            many = f"the {format_.header_lines_to_skip} header lines of {path}"
            raise UnsupportedError(f"of {many} one is blank, or ends in quotes")
        above.append(line.rstrip("\r\n"))
        line = following
    while reading.line_breaks == "in_quotes" and line.count(format_.quote) % 2 and (more := next(lines, "")):
        line += more
    return Header(line.rstrip("\r\n"), number == 0 and not line.endswith("\r"), tuple(above))


def undecodable(path: str, reading: TextReading, error: UnicodeDecodeError) -> ExecutionError:
    """Return the error for a file that is not written in its encoding."""
    words = NO_UTF8 if reading.encoding == "utf-8" else f"delimited text is not {reading.encoding}"
    other = "latin-1" if reading.encoding == "windows-1252" else "windows-1252"
    hint = f'say in which encoding it is: encoding="{other}"'
    return ExecutionError(f"{words}, in {path}: {error.reason}", hint=hint)


def check_header(header: Header, names: Sequence[str], path: str, format_: DelimitedText, reading: TextReading) -> None:
    """Compare the names in a header with those of the columns, but for blanks around them and the case of letters.

    Raises `SchemaError` for the same names in another order, as the rows would be wrong, and for other names unless
    they are not to be checked. Raises `ExecutionError` for a header that is no record, if quotes may hold line breaks.
    """
    if not header.line:
        return
    try:
        found = parse_record(header.line, f"the header of {path}", format_, 0)
    except ExecutionError as error:
        if reading.line_breaks == "in_quotes":
            raise  # it may go on to the end of the file
        if reading.header == "skip":
            return
        raise SchemaError(str(error), hint=_other_names_hint(format_)) from None
    plain_found, plain_names = list(map(_plain, found)), list(map(_plain, names))
    if plain_found == plain_names:
        return
    if Counter(plain_found) == Counter(plain_names):
        raise SchemaError(
            f"the header of {path} has the columns in another order: {quote(found)}, declared {quote(names)}",
            names=found,
            hint="fields are taken by position: declare them in the order of the file, and select() them in yours",
        )
    if reading.header == "skip":
        return
    if (separator := _other_separator(found, names)) is not None:
        raise SchemaError(
            f"the header of {path} is one field, {quote(found)}, for {len(names)} declared columns",
            names=found,
            hint=f"fields that {separator!r} separates: separator={separator!r} of read_csv, "
            f"field_delimiter={separator!r} of DelimitedText",
        )
    position, (name, declared) = next(
        (number, pair)
        for number, pair in enumerate(zip([*found, None], [*names, None], strict=False), start=1)
        if pair[0] is None or pair[1] is None or _plain(pair[0]) != _plain(pair[1])
    )
    if name is None or declared is None:
        raise SchemaError(
            f"the header of {path} has {len(found)} names, {quote(found)}, for {len(names)} declared columns, "
            f"{quote(names)}",
            names=found,
            hint="declare a column for each field; fields are taken by position",
        )
    near = nearest(name, names)
    said = f'; "{near}" is declared' if near is not None and near != declared else ""
    raise SchemaError(
        f'column {position} is "{name}" in the header of {path}, and declared "{declared}"{said}',
        names=[name, declared],
        hint=_other_names_hint(format_),
    )


def _other_separator(found: Sequence[str], names: Sequence[str]) -> str | None:
    """Return what separates as many fields as there are columns in a header that is one field; None: nothing usual."""
    if len(found) != 1 or len(names) == 1:
        return None
    return next((each for each in (";", "\t", "|", ",") if found[0].count(each) == len(names) - 1), None)


def _other_names_hint(format_: DelimitedText) -> str:
    """Return the hint for a first record that does not name the columns: it is a record, or has other names."""
    many = format_.header_lines_to_skip
    if many > 1:
        return (
            "say how many lines stand above the records, 0 if none does: header= of read_csv, header_lines_to_skip= of "
            f'DelimitedText; read_files(..., format=DelimitedText(header_lines_to_skip={many}), header="skip") takes '
            "any names in them"
        )
    return (
        "a file without a header: header=False of read_csv, header_lines_to_skip=0 of DelimitedText; a header with "
        'other names: header="skip" leaves that line out, and takes the fields by position'
    )


def _plain(name: str) -> str:
    return name.strip().casefold()


def is_once(path: str, lines: Set[str], many: int = 1) -> bool:
    """Whether a file on this machine has so many of these lines only, its header; False if that is not known."""
    if path.endswith((*OPENERS, *COMPRESSED)) or os.path.getsize(path) > _LONGEST:
        return False
    found = 0
    for line in lines - {""}:
        for more in _count(path, line.encode(errors="replace")):
            found += more
            if found > many:
                return False
    return True


def _count(path: str, line: bytes) -> Iterator[int]:
    """Yield 1 for each time that a file has a line, and a large number for too many that begin like it."""
    signs = [end + line for end in (b"\n", b"\r")]
    looked_at = 0
    with open(path, "rb") as file:
        rest = b"\n" + file.read(3).removeprefix(b"\xef\xbb\xbf")
        chunk: bytes | None = None
        while chunk != b"":
            chunk = file.read(_CHUNK)
            part = rest + chunk
            for sign in signs:
                # A single byte is found many times as fast: most files have no carriage return.
                start = part.find(sign) if sign[:1] in part else -1
                while start >= 0:
                    end = start + len(sign)
                    looked_at += 1
                    if part[end : end + 1] in (b"\n", b"\r") or (end == len(part) and not chunk):
                        yield 1
                    elif looked_at > _FEW:
                        yield _FEW
                    start = part.find(sign, start + 1)
            rest = part[-len(signs[0]) :]
