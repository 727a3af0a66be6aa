"""The place of a text that is no value of its type: the file, the line and the column of delimited text.

A cast that fails tells the text alone. Where it is one of a column of a file on this machine, the file is read once
more, up to the first record that has it.
"""

from __future__ import annotations

import csv
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import Cast, Expression, FieldReference, Literal, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.errors import ExecutionError, shorten
from substrait_dsl.spark.diagnostics.explanations import Location, refused_text
from substrait_dsl.spark.diagnostics.text_hints import OTHER_FORM, hint_for_column
from substrait_dsl.spark.session.failures import IS_NULL, Failure
from substrait_dsl.spark.session.source_map import Record
from substrait_dsl.spark.sources.delimited_text import text_format
from substrait_dsl.spark.sources.paths import data_files, local_path
from substrait_dsl.spark.sources.text_headers import open_text

_BLANKS = " \t"
"""What a text of a date or a time may have around it."""
SECONDS = 10.0
"""How long files are searched: an error has to come in time."""


_OTHER_ZONE = re.compile(r"invalid time zone: (is not of the form .*)", re.DOTALL)
"""What Sail says of a time and words behind it, which it reads as a zone."""


@attrs.frozen
class _TypedColumn:
    """A column that is cast from a text of a file."""

    name: str
    position: int
    """Of the text in the records."""
    expression: Expression


def name_text(error: ExecutionError, failure: Failure, found: Sequence[Location], records: Sequence[Record]) -> None:
    """Let an error name the column of a text that is no value of its type, and its place, if they are known."""
    text = refused_text(failure)
    if text is None and (of_zone := _OTHER_ZONE.search(failure.message)) is not None:
        text = f" {of_zone[1]}"  # the text itself is looked for
    is_null = failure.parameters.get("errorMessage", "").endswith(IS_NULL)
    if text is None and not is_null:
        return
    other = OTHER_FORM.match(text or "")
    text, suffix = (text, None) if other is None else (other[1], other[2])
    for project, read in (pair for record in records for pair in _text_projects(record.plan)):
        columns = [
            column
            for column in _typed_columns(project)
            if (_says(column.expression, suffix) if suffix else _is_found(column.expression, found))
        ]
        if not columns:
            continue
        place = _find(read, columns, text)
        others = [each for each in found if not any(_is_found(column.expression, [each]) for column in columns)]
        if place is None and (others or len(columns) > 1):
            return
        number, where, found_text = place or (0, ", ".join(_uris(read)[:3]), text)
        _say(error, columns[number], where, None if text is None else found_text, suffix)
        return


def _uris(read: rl.Read) -> list[str]:
    return [item.uri for item in read.definition.items] if isinstance(read.definition, rl.LocalFiles) else []


def _say(error: ExecutionError, column: _TypedColumn, where: str, text: str | None, suffix: str | None) -> None:
    """Say what is wrong, and what to write instead; a text that is None stands for NULL."""
    type_ = column.expression.type
    place = f'{where}, column "{column.name}"'
    if text is None:
        error.message = f"{place}: it is {type_}, and required, but the text stands for NULL"
        hint = f'declare it nullable, "{type_.as_nullable()}"; in a column of texts, null_value=None makes no text NULL'
    else:
        error.value = text
        said = f"{suffix} ({type_.as_required()})" if suffix else f"is no value of {type_.as_required()}"
        error.message = f"{place}: the text {shorten(repr(text))} {said}"
        hint = (
            'in a column that is nullable, read_csv(..., invalid="null"), or on_failure="return_null" of a cast, '
            "gives NULL there; one that is declared string? has the text itself"
        )
        if (special := hint_for_column(text, type_, column.name)) is not None:
            hint = f'{special}; in a column that is nullable, invalid="null" gives NULL there'
    error.args = (error.message,)
    error.hint = hint


def _text_projects(plan: Rel) -> Iterator[tuple[rl.Project, rl.Read]]:
    """Yield the projects of a plan that stand on a read of delimited text, and the read."""
    for rel in walk(plan):
        if isinstance(rel, rl.Project) and isinstance(rel.input, rl.Read) and text_format(rel.input) is not None:
            yield rel, rel.input


def _typed_columns(project: rl.Project) -> Iterator[_TypedColumn]:
    """Yield the columns of a project that are computed from one text of its read, by a cast."""
    for name, expression in zip(project.names, project.expressions, strict=True):
        parts = list(walk(expression, into_relations=False))
        positions = {part.position for part in parts if isinstance(part, FieldReference)}
        is_json = any(isinstance(part, ScalarFunction) and part.function.name == "from_json" for part in parts)
        if len(positions) == 1 and not is_json and any(isinstance(part, Cast) for part in parts):
            yield _TypedColumn(name, positions.pop(), expression)


def _says(expression: Expression, suffix: str) -> bool:
    """Whether an expression says this of a text of another form."""
    return any(isinstance(part, Literal) and part.value == f" {suffix}" for part in walk(expression))


def _is_found(expression: Expression, found: Sequence[Location]) -> bool:
    """Whether an error may come from an expression."""
    nodes = {id(part) for part in walk(expression)}
    return any(id(each.node) in nodes for each in found)


def cast_text(expression: Expression, text: str) -> str:
    """Return what is cast of a text: of one in a format the parts, in the order of ISO 8601."""
    for call in walk(expression):
        if isinstance(call, ScalarFunction) and call.function.name == "concat":
            parts = [_part(each, text) for each in call.arguments]
            if None not in parts:
                return "".join(map(str, parts))
    return text


def _part(expression: object, text: str) -> str | None:
    """Return a constant, or the part of a text that is taken; None for another expression."""
    if isinstance(expression, ScalarFunction) and expression.function.name == "substring":
        start, length = (each.value for each in expression.arguments if isinstance(each, Literal))
        return text[start - 1 : start - 1 + length]
    return expression.value if isinstance(expression, Literal) and isinstance(expression.value, str) else None


def _find(read: rl.Read, columns: Sequence[_TypedColumn], text: str | None) -> tuple[int, str, str] | None:
    """Find the first record that has a text in one of some fields: which of them, the line and the file, the text."""
    form = text_format(read)
    if form is None or len(form.field_delimiter) != 1 or not isinstance(read.definition, rl.LocalFiles):
        return None
    tests = [_text_test(column, text, form) for column in columns]
    until = time.monotonic() + SECONDS
    try:
        for item in read.definition.items:
            for path in data_files(item) if local_path(item.uri) is not None else ():
                if any("=" in folder for folder in path.split(os.sep)[:-1]):  # fields are not the columns there
                    return None
                for line, record in _records(path, form, read.definition.text):
                    if len(record) == len(read.base_schema):
                        for number, (column, is_found) in enumerate(zip(columns, tests, strict=True)):
                            if is_found(record[column.position].strip(_BLANKS)):
                                return number, f"line {line} of {path}", record[column.position]
                    if time.monotonic() > until:
                        return None
    except (OSError, EOFError, UnicodeError, csv.Error):
        pass
    return None


def _text_test(column: _TypedColumn, text: str | None, form: rl.DelimitedText) -> Callable[[str], bool]:
    """Return the test for a text of a column: None is for NULL, and an empty one for any of another form."""
    if text == "" and (pattern := _pattern(column.expression)) is not None:
        return lambda there: there != form.null_value and pattern.search(there) is None
    text = form.null_value or "" if text is None else text
    wanted = {text.strip(_BLANKS), re.sub(r"\\(.)", r"\1", text.strip(_BLANKS))}  # Spark may show it with escapes
    return lambda there: there in wanted or cast_text(column.expression, there) in wanted


def _pattern(expression: Expression) -> re.Pattern[str] | None:
    """Return the pattern that the texts of a typed column must have; None: they need none."""
    for call in walk(expression):
        if isinstance(call, ScalarFunction) and call.function.name == "regexp_count_substring":
            pattern = call.arguments[1]
            if isinstance(pattern, Literal):
                return re.compile(str(pattern.value).replace(r"\z", r"\Z"), re.ASCII)
    return None


def _records(path: str, form: rl.DelimitedText, reading: rl.TextReading) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a file, each with the number of its first line."""
    is_doubled = form.escape == form.quote
    with open_text(path, reading) as file:
        reader = csv.reader(
            file,
            delimiter=form.field_delimiter,
            quotechar=form.quote or None,
            quoting=csv.QUOTE_MINIMAL if form.quote else csv.QUOTE_NONE,
            doublequote=is_doubled,
            escapechar=None if is_doubled or not form.escape else form.escape,
        )
        left_out, start = form.header_lines_to_skip, 1
        for record in reader:
            line, start = start, reader.line_num + 1
            if record and left_out:
                left_out -= 1
            elif record:
                yield line, record
