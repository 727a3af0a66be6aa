"""The records of delimited text that is read here: the rules of Spark's reader.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.session.failures import BEHIND_QUOTE

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import DelimitedText


BLANK = "".join(map(chr, range(33)))
"""The characters that Java's ``trim`` removes: a line of nothing else is skipped, unless they separate its fields."""


def is_blank(line: str, format_: DelimitedText) -> bool:
    """Whether a line is skipped: it has nothing but white space, and is no record of empty fields."""
    return not line.strip(BLANK) and format_.field_delimiter not in line


def parse_record(line: str, where: str, format_: DelimitedText, many: int) -> list[str]:
    """Parse the fields of a record; their number must be that of the declared columns, unless none is declared."""
    fields: list[str] = []
    position: int | None = 0
    while position is not None:
        if format_.quote and line.startswith(format_.quote, position):
            field, end = _parse_quoted(line, position, where, format_)
        else:
            end = line.find(format_.field_delimiter, position)
            field, end = (line[position:], len(line)) if end < 0 else (line[position:end], end)
        fields.append(field)
        position = end + len(format_.field_delimiter) if line.startswith(format_.field_delimiter, end) else None
    if many and len(fields) != many:
        raise _no_record(f"it has {len(fields)} field{'s' * (len(fields) > 1)} for {many} columns", where, format_)
    if 0 < format_.max_line_size < max(map(_utf16_units, fields)):
        raise _no_record("it has a longer field", where, format_)
    return fields


def _utf16_units(field: str) -> int:
    """Return the length of a field as Spark counts it: in a text of Java, what lies beyond U+FFFF counts as two."""
    return len(field) if field.isascii() else len(field.encode("utf-16-le", "surrogatepass")) // 2


_OPEN = "a quote is still open at its end"


def is_open(line: str, format_: DelimitedText) -> bool:
    """Whether a quote is still open at the end of a line, which is a record otherwise."""
    if format_.quote not in line:
        return False
    try:
        parse_record(line, "", format_, 0)
    except ExecutionError as error:
        return _OPEN in str(error)
    return False


def _parse_quoted(line: str, start: int, where: str, format_: DelimitedText) -> tuple[str, int]:
    """Parse a quoted field; return it and its end."""
    characters: list[str] = []
    position = start + 1
    while position < len(line):
        character, then = line[position], line[position + 1 : position + 2]
        if character == format_.escape and then and then in (format_.quote, format_.escape):
            characters.append(then)
            position += 2
        elif character == format_.quote:
            end = position + 1
            if end < len(line) and not line.startswith(format_.field_delimiter, end):
                raise _no_record(BEHIND_QUOTE, where, format_)
            return "".join(characters), end
        elif character == format_.escape:
            raise _no_record(f"{format_.escape} stands before what needs none", where, format_)
        else:
            characters.append(character)
            position += 1
    raise _no_record(_OPEN, where, format_)


def _no_record(why: str, where: str, format_: DelimitedText) -> ExecutionError:
    return ExecutionError(f"{where} is no record of delimited text: {why}", hint=record_rules(format_))


def record_rules(text: DelimitedText) -> str:
    """Describe how the records of a format are parsed, and how to declare it otherwise."""
    fields = f"a record is a line that has a field for each column, separated by {text.field_delimiter!r}"
    escaped = f", where {text.escape}{text.quote} is a quote" if text.escape else ""
    breaks = ', with line breaks if you say line_breaks="in_quotes"'
    quotes = f"; a field may stand in {text.quote}...{text.quote}{escaped}{breaks}" if text.quote else ""
    most = text.max_line_size
    longest = f"; no field is longer than {most} units of UTF-16 (max_line_size)" if 0 < most < 2**31 - 1 else ""
    other = "separator=, quote= and escape= of read_csv, or DelimitedText(field_delimiter=, quote=, escape=)"
    return f"{fields}{quotes}{longest}: for other text say {other}"
