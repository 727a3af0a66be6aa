"""Delimited text: the options of Spark's reader and writer, and the rows of such files.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra.relations import DelimitedText, LocalFiles, Read
from substrait_dsl.errors import SchemaError, UnsupportedError, quote
from substrait_dsl.spark.catalog.table_names import statement_name
from substrait_dsl.spark.expressions.literals import failing, text_to_sql
from substrait_dsl.spark.relations.tables import PLAIN_NAME
from substrait_dsl.spark.session.engines import ENGINE
from substrait_dsl.spark.session.failures import BEHIND_QUOTE
from substrait_dsl.spark.sources.declared_columns import actual_name
from substrait_dsl.spark.sources.partition_columns import require_listed, require_read
from substrait_dsl.spark.sources.paths import what_of
from substrait_dsl.spark.sources.text_headers import NO_UTF8
from substrait_dsl.spark.sources.text_lines import (
    LINE,
    NO_COLUMN,
    OPEN_QUOTE,
    OTHER_FIELDS,
    REPLACED,
    record_lines,
    text_lines,
    texts,
)
from substrait_dsl.spark.sources.text_parser import BLANK

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.algebra.node import Rel
    from substrait_dsl.algebra.relations import FileItem, TextReading
    from substrait_dsl.algebra.schema import NamedStruct

_LONGEST = 2**31 - 1
"""The length of the longest Java string."""

_NONE = "\uffff"
"""A character that no text has, for a format without a quote or an escape.

Spark would take U+0000 for a quote that is empty, and without an escape an empty quoted field for a quote.
"""

OVERLAPS = "a value of delimited text ends as its delimiter begins"
NUL_BY_QUOTE = "delimited text holds U+0000 in a line with quotes, where Spark drops it"
OF_TEXT = (NO_UTF8, REPLACED, OPEN_QUOTE, OTHER_FIELDS, OVERLAPS, BEHIND_QUOTE, NUL_BY_QUOTE)
"""The errors of records that are read."""

_SPLIT, _PARSED = "substrait_dsl_split", "substrait_dsl_parsed"
"""The columns of a line's fields, of which one is NULL: a list, and what Spark's parser returns."""
_MAX_COLUMNS = 20480
"""So many fields Spark's parser takes by itself."""
FEW = 12
"""So many fields are split at most."""
_IS_TEXT = f"is_valid_utf8({LINE})"
"""SQL for whether a line is UTF-8."""
_START, _END = "before_fields", "behind_fields"
"""The names of what is before and behind the fields of a line: no words that SQL reserves."""


def text_options(format_: DelimitedText) -> dict[str, str]:
    """Return the options of Spark's reader and writer.

    Raises:
        UnsupportedError: Spark cannot separate and quote fields so.
    """
    delimiter = format_.field_delimiter
    if not delimiter:
        raise UnsupportedError(f"{ENGINE} cannot separate fields by an empty field_delimiter")
    for name, text in (("field_delimiter", delimiter), ("quote", format_.quote), ("escape", format_.escape)):
        if "\n" in text or "\r" in text:
            raise UnsupportedError(f"the {name} of delimited text is {text!r}, which ends lines in {ENGINE}")
    if format_.quote and format_.quote in BLANK:
        raise UnsupportedError(f"the quote of delimited text is {format_.quote!r}, which is white space in {ENGINE}")
    for name, text in (("quote", format_.quote), ("escape", format_.escape)):
        if len(text) > 1 or text > "\uffff":  # a char of Java is one unit of UTF-16
            raise UnsupportedError(
                f"the {name} of delimited text is {text!r}, and {ENGINE} takes one character of Unicode's basic plane"
            )
        if text and text in delimiter:
            raise UnsupportedError(
                f"the field_delimiter of delimited text, {delimiter!r}, contains its {name}: {text!r}"
            )
    return {
        "sep": delimiter.replace("\\", "\\\\"),  # Spark reads \t as a tab
        "quote": format_.quote,
        "escape": format_.escape,
        "header": str(format_.header_lines_to_skip == 1).lower(),
    }


def read_text(
    format_: DelimitedText,
    files: Sequence[FileItem],
    paths: Sequence[str],
    schema: NamedStruct,
    spark: SparkSession,
    reading: TextReading,
) -> DataFrame:
    """Read delimited text.

    A record with too few or too many fields is an error when it is read, and so is a field that goes on behind its
    closing quote, as it does where quotes are escaped in another way than the plan says, or that has none.

    Raises `SchemaError` for several declared columns that are named after the same folders, and for a header on this
    machine that has other names than the columns.
    """
    if own := [name for name in schema.names if name.lower() in (LINE, _SPLIT, _PARSED)]:
        raise UnsupportedError(
            f"columns of delimited text cannot have the names {quote(own)}, which are used to read it"
        )
    frame = text_lines(paths, [], spark)
    require_listed(frame, files)
    # What Spark has found beside the lines stands in the names of folders.
    there = frame.columns[1:]
    named = ((position, actual_name(name, there)) for position, name in enumerate(schema.names))
    folders = {position: name for position, name in named if name is not None}
    for name, many in Counter(folders.values()).items():
        if many > 1:
            alike = [schema.names[position] for position in folders if folders[position] == name]
            raise SchemaError(
                f'{what_of(files)} has folders that are named after one column "{name}", declared {quote(alike)}'
            )
    if there:
        require_read(frame, files, set(folders.values()))
    fields = [position for position in range(len(schema)) if position not in folders]
    names = [schema.names[position] for position in fields]
    others = list(dict.fromkeys(folders.values()))
    frame = record_lines(format_, frame, paths, others, names, reading, text_options(format_))
    if fields:
        frame = _parse_lines(frame, others, format_, len(fields))
    else:
        frame = frame.where(f"CASE WHEN {_IS_TEXT} THEN true ELSE CAST({failing(NO_UTF8)} AS BOOLEAN) END")

    columns = [
        statement_name([folders[position]])
        if position in folders
        else _field(fields.index(position), len(fields), format_)
        for position in range(len(schema))
    ]
    if all(map(PLAIN_NAME.fullmatch, schema.names)):  # a step less
        pairs = zip(columns, schema.names, strict=True)
        return frame.selectExpr(*(f"{column} AS {statement_name([name])}" for column, name in pairs))
    return frame.selectExpr(*columns).toDF(*schema.names)


def _parse_lines(lines: DataFrame, folders: Sequence[str], format_: DelimitedText, many: int) -> DataFrame:
    """Split lines, or parse them.

    Spark evaluates a generator once, and for every line, whichever fields are used. No function of lists is used, as
    Spark would compile each query anew: its code has the number of a lambda.

    Args:
        lines: the lines.
        folders: the columns beside them, which folders are named after.
        format_: how records are written.
        many: how many fields they have.
    """
    others = [statement_name([name]) for name in folders]
    parsed = _parse(format_, many)
    if _are_split(format_, many):
        lines = lines.selectExpr(*others, LINE, f"explode(array({_split(format_, many)})) AS {_SPLIT}")
        others.append(_SPLIT)
        parsed = f"CASE WHEN {_has_other_fields(format_, many)} THEN {parsed} END"
    lines = lines.selectExpr(*others, f"explode(array({parsed})) AS {_PARSED}")
    if len(format_.field_delimiter) == 1:
        return lines
    # A line may end as the delimiter begins: the one behind it would begin there.
    return lines.where(f"CASE WHEN {_PARSED}.{_END} IS NULL THEN true ELSE CAST({failing(OVERLAPS)} AS BOOLEAN) END")


def _are_split(format_: DelimitedText, many: int) -> bool:
    """Whether most lines are split, and others parsed.

    To split a few fields takes half the time of Spark's parser. Each adds to the code of a query: Java does not compile
    that of many, and runs it more slowly than it parses.
    """
    return len(format_.field_delimiter) == 1 and many <= FEW


def _split(format_: DelimitedText, many: int) -> str:
    """Return SQL for the list of what is between the delimiters of a line: its fields, unless quotes are around one."""
    delimiter = format_.field_delimiter
    pattern = f"\\{delimiter}" if delimiter in ".$|()[{^?*+\\" else delimiter  # which Java splits by without a pattern
    return f"split({LINE}, {text_to_sql(pattern)}, {many + 1})"


def _has_other_fields(format_: DelimitedText, many: int) -> str:
    """Return SQL for whether the fields of a line are others than those that are split: it has to be parsed."""
    # What is no UTF-8 is replaced where a line is split: its fields are not the line then.
    conditions = [f"size({_SPLIT}) <> {many}", f"concat_ws({text_to_sql(format_.field_delimiter)}, {_SPLIT}) <> {LINE}"]
    if format_.quote:
        plain = " AND ".join(_has_plain_quotes(f"{_SPLIT}[{number}]", format_) for number in range(many))
        if format_.escape not in ("", format_.quote):
            plain = f"NOT contains({LINE}, {text_to_sql(format_.escape)}) AND {plain}"
        conditions.append(f"{_has_quote(format_)} AND NOT ({plain})")
    if 0 < format_.max_line_size < _LONGEST:
        conditions.append(f"octet_length({LINE}) > {format_.max_line_size}")
    return " OR ".join(conditions)


def _has_plain_quotes(field: str, format_: DelimitedText) -> str:
    """Return SQL for whether a field has no quote, or one at its start, one at its end, and none between."""
    quote = text_to_sql(format_.quote)
    rest = len(format_.quote.encode())
    return (
        f"IF(startswith({field}, {quote}), octet_length(substring_index({field}, {quote}, 2)) = "
        f"octet_length({field}) - {rest}, NOT contains({field}, {quote}))"
    )


def _unquote(field: str, format_: DelimitedText) -> str:
    """Write what is between the first and the last character of a field, which Spark copies by its bytes."""
    width = len(format_.quote.encode())
    inside = f"substring(CAST({field} AS BINARY), {width + 1}, octet_length({field}) - {2 * width})"
    return f"CAST({inside} AS STRING)"


def _matches(pattern: str) -> str:
    """Return SQL for whether a line has a match of a pattern."""
    return f"rlike({LINE}, {text_to_sql(pattern)})"


def _has_quote(format_: DelimitedText) -> str:
    return f"contains({LINE}, {text_to_sql(format_.quote)})"


def _field(number: int, many: int, format_: DelimitedText) -> str:
    """Return SQL for a field of a line without its quotes; NULL for what the format writes for it."""
    null = format_.null_value
    # Spark's parser takes an empty field for NULL in any case.
    field = f"{_PARSED}.{_field_name(number)}" if null == "" else f"coalesce({_PARSED}.{_field_name(number)}, '')"
    if _are_split(format_, many):
        split = f"{_SPLIT}[{number}]"
        quote = text_to_sql(format_.quote)
        quoted = f"WHEN startswith({split}, {quote}) THEN {_unquote(split, format_)} " if format_.quote else ""
        field = f"CASE WHEN {_PARSED} IS NOT NULL THEN {field} {quoted}ELSE {split} END"
    elif null == "":
        return field
    return field if null is None else f"nullif({field}, {text_to_sql(null)})"


def _field_name(number: int) -> str:
    return f"field{number}"


def _parse(format_: DelimitedText, many: int) -> str:
    """Return SQL for the structure that Spark's parser makes of a line: its fields, between two that are empty.

    Spark takes a field that is open at the end of a line for closed. So a further delimiter is appended, which such a
    field swallows, and one is prepended, as Spark drops a leading U+FEFF.
    """
    options = {
        **text_options(format_),
        "quote": format_.quote or _NONE,
        "escape": format_.escape or _NONE,
        "mode": "FAILFAST",
        "columnNameOfCorruptRecord": NO_COLUMN,
        "unescapedQuoteHandling": "RAISE_ERROR",
        "maxColumns": str(max(_MAX_COLUMNS, many + 2)),
    }
    if 0 < format_.max_line_size < _LONGEST:
        options["maxCharsPerColumn"] = str(format_.max_line_size)
    cases = [(f"NOT {_IS_TEXT}", NO_UTF8)]
    if format_.quote:
        has_quote = _has_quote(format_)
        has_nul = f"{has_quote} AND contains({LINE}, {text_to_sql(chr(0))})"
        goes_on = f"{has_quote} AND {_goes_on(format_)}"
        cases += [(has_nul, NUL_BY_QUOTE), (goes_on, BEHIND_QUOTE)]
    whens = " ".join(f"WHEN {condition} THEN {failing(words)}" for condition, words in cases)
    line = f"CASE {whens} ELSE {LINE} END"
    delimiter = text_to_sql(format_.field_delimiter)
    schema = texts([_START, *map(_field_name, range(many)), _END]).simpleString()
    option_texts = ", ".join(text_to_sql(text) for option in options.items() for text in option)
    return f"from_csv(concat({delimiter}, {line}, {delimiter}), {text_to_sql(schema)}, map({option_texts}))"


def _goes_on(format_: DelimitedText) -> str:
    """Return SQL for whether a field goes on behind its closing quote with what Spark drops silently, or takes for it.

    That is white space, and a second quote where another character escapes them. Most lines have none behind any quote;
    in others it may be inside of a field.
    """
    delimiter, quote, escape = (re.escape(text) for text in (format_.field_delimiter, format_.quote, format_.escape))
    escaped = {"": "(?!)", quote: quote * 2}.get(escape, f"{escape}.")
    field = f"(?:{quote}(?:[^{quote}{escape}]++|{escaped})*+{quote}|(?!{quote})(?:(?!{delimiter}).)*+)"
    is_suspect = _matches(f"{quote}[\\x00- ]+(?:{delimiter}|$)")
    if format_.escape != format_.quote:
        is_suspect = f"({is_suspect} OR contains({LINE}, {text_to_sql(format_.quote * 2)}))"
    is_well_formed = _matches(f"(?s)\\A{field}(?:{delimiter}{field})*+\\z")
    return f"{is_suspect} AND NOT {is_well_formed}"


def text_format(rel: Rel) -> DelimitedText | None:
    """Return the delimited text format that a relation reads; None: it reads none."""
    files = rel.definition.items if isinstance(rel, Read) and isinstance(rel.definition, LocalFiles) else ()
    return next((item.format for item in files if isinstance(item.format, DelimitedText)), None)
