"""Delimited text: the options of Spark's reader and writer, and the rows of such files.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra.relations import DelimitedText, LocalFiles, Read
from substrait_dsl.errors import SchemaError, UnsupportedError, quote
from substrait_dsl.spark.catalog.table_names import quoted_name
from substrait_dsl.spark.session.connect import functions_of
from substrait_dsl.spark.session.failures import BEHIND_QUOTE
from substrait_dsl.spark.sources.declared_columns import actual_name
from substrait_dsl.spark.sources.partition_columns import require_listed, require_read
from substrait_dsl.spark.sources.paths import what_of

if TYPE_CHECKING:
    from types import ModuleType

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from substrait_dsl.algebra.node import Rel
    from substrait_dsl.algebra.relations import FileItem
    from substrait_dsl.algebra.schema import NamedStruct

_LONGEST = 2**31 - 1
"""The length of the longest Java string."""

NO_UTF8 = "delimited text holds U+FFFD, which Spark puts in place of bytes that are not UTF-8"

_NO_ESCAPE = "\uffff"
"""A character that no text has. Without an escape Spark takes an empty quoted field for a quote."""

OVERLAPS = "a value of delimited text ends as its delimiter begins"
OF_TEXT = (NO_UTF8, OVERLAPS, BEHIND_QUOTE)
"""The errors of records that are read."""

_LINE = "substrait_dsl_line"
_START = "substrait_dsl_start"
_END = "substrait_dsl_end"
"""The names of the columns of a line, and of what is before and behind it: no folder has these names."""

_LINES = {"sep": "\uffff", "quote": "\ufffe", "escape": "\ufffe", "mode": "FAILFAST"}
"""The options of Spark's reader for which a line is a single field: characters that no text has."""


def text_options(format_: DelimitedText) -> dict[str, str]:
    """The options of Spark's reader and writer.

    Raises:
        UnsupportedError: Spark cannot skip that many header lines, or separate and quote fields so.
    """
    if format_.header_lines_to_skip > 1:
        raise UnsupportedError(f"Spark cannot skip {format_.header_lines_to_skip} header lines, only one or none")
    delimiter = format_.field_delimiter
    if not delimiter:
        raise UnsupportedError("Spark cannot separate fields by an empty field_delimiter")
    for name, text in (("field_delimiter", delimiter), ("quote", format_.quote), ("escape", format_.escape)):
        if "\n" in text or "\r" in text:
            raise UnsupportedError(f"the {name} of delimited text is {text!r}, which ends lines in Spark")
    for name, text in (("quote", format_.quote), ("escape", format_.escape)):
        if len(text) > 1 or text > "\uffff":  # what Java calls a character is no more than that
            raise UnsupportedError(
                f"the {name} of delimited text is {text!r}, and Spark takes one character of Unicode's basic plane"
            )
        if text and text in delimiter:
            raise UnsupportedError(
                f"the field_delimiter of delimited text, {delimiter!r}, has its {name} in it: {text!r}"
            )
    return {
        "sep": delimiter.replace("\\", "\\\\"),  # Spark reads \t as a tabulator
        "quote": format_.quote,
        "escape": format_.escape,
        "header": str(format_.header_lines_to_skip == 1).lower(),
    }


def read_text(
    format_: DelimitedText, files: Sequence[FileItem], paths: Sequence[str], schema: NamedStruct, spark: SparkSession
) -> DataFrame:
    """Read delimited text.

    A record with too few or too many fields is an error when it is read, and so is a field that goes on behind its
    closing quote, as it does where quotes are escaped in another way than the plan says, or that has none.

    Raises `SchemaError` for several declared columns that are named after the same folders.
    """
    functions = functions_of(spark)
    reader = spark.read.format("csv").options(**_LINES, header=text_options(format_)["header"])
    frame = reader.schema(_texts([_LINE])).load(list(paths))
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
    if folders:
        frame = reader.schema(_texts([_LINE, *folders.values()])).load(list(paths))

    def value(name: str) -> Column:
        written: Column = functions.coalesce(name, functions.lit(""))  # Spark reads an empty field as NULL in any case
        if format_.null_value is not None:
            written = functions.nullif(written, functions.lit(format_.null_value))
        return written

    fields = [_field(position) for position in range(len(schema)) if position not in folders]
    if fields:
        frame = _parse_lines(frame, format_, fields)
    columns = [
        functions.col(quoted_name([folders[position]])) if position in folders else value(_field(position))
        for position in range(len(schema))
    ]
    return frame.select(*columns).toDF(*schema.names)


def _parse_lines(lines: DataFrame, format_: DelimitedText, fields: Sequence[str]) -> DataFrame:
    """Parse lines into fields.

    Spark takes a field that is open at the end of a line for closed. So a further delimiter is appended, which such a
    field swallows, and one is prepended, as Spark drops a leading U+FEFF. Spark evaluates a generator once, and for
    every line, whichever fields are used.
    """
    functions = functions_of(lines.sparkSession)
    options = {
        **text_options(format_),
        "escape": format_.escape or _NO_ESCAPE,
        "mode": "FAILFAST",
        "unescapedQuoteHandling": "RAISE_ERROR",
    }
    if 0 < format_.max_line_size < _LONGEST:
        options["maxCharsPerColumn"] = str(format_.max_line_size)
    line = functions.col(_LINE)
    is_broken = functions.contains(line, functions.lit("\ufffd"))
    line = functions.when(is_broken, functions.raise_error(functions.lit(NO_UTF8))).otherwise(line)
    if format_.quote:
        line = functions.when(
            _goes_on(line, format_, functions), functions.raise_error(functions.lit(BEHIND_QUOTE))
        ).otherwise(line)
    delimiter = functions.lit(format_.field_delimiter)
    record_text = functions.concat(delimiter, line, delimiter)
    record = functions.from_csv(record_text, _texts([_START, *fields, _END]).simpleString(), options)
    others = [quoted_name([name]) for name in lines.columns if name != _LINE]
    parsed = lines.select(*others, functions.inline(functions.array(record)))
    if len(format_.field_delimiter) == 1:
        return parsed
    # A line may end as the delimiter begins: the one behind it would begin there.
    return parsed.where(functions.expr(f"if({_END} IS NULL, true, raise_error('{OVERLAPS}'))"))


def _goes_on(line: Column, format_: DelimitedText, functions: ModuleType) -> Column:
    """Whether a line has white space behind the closing quote of a field, which Spark drops silently.

    Most lines have none behind any quote; in others it may be inside of a field.
    """
    delimiter, quote, escape = (re.escape(text) for text in (format_.field_delimiter, format_.quote, format_.escape))
    escaped = {"": "(?!)", quote: quote * 2}.get(escape, f"{escape}.")
    field = f"(?:{quote}(?:[^{quote}{escape}]++|{escaped})*+{quote}|(?!{quote})(?:(?!{delimiter}).)*+)"
    is_suspect = functions.rlike(line, functions.lit(f"{quote}[\\x00- ]+(?:{delimiter}|$)"))
    is_well_formed = functions.rlike(line, functions.lit(f"(?s)\\A{field}(?:{delimiter}{field})*+\\z"))
    has_quote = functions.contains(line, functions.lit(format_.quote))  # which is found faster than a pattern
    goes_on: Column = has_quote & is_suspect & ~is_well_formed
    return goes_on


def _field(position: int) -> str:
    """The temporary name of a field: no folder has it."""
    return f"substrait_dsl_field_{position}"


def _texts(names: Iterable[str]) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in dict.fromkeys(names)])


def text_format(rel: Rel) -> DelimitedText | None:
    """Return the delimited text format that a relation reads; None: it reads none."""
    files = rel.definition.items if isinstance(rel, Read) and isinstance(rel.definition, LocalFiles) else ()
    return next((item.format for item in files if isinstance(item.format, DelimitedText)), None)


def record_rules(text: DelimitedText) -> str:
    """Describe how the records of a format are parsed, and how to declare it otherwise."""
    fields = f"a record is a line that has a field for each column, separated by {text.field_delimiter!r}"
    escaped = f", where {text.escape}{text.quote} is a quote" if text.escape else ""
    quotes = f"; a field may stand in {text.quote}...{text.quote}{escaped}" if text.quote else ""
    most = text.max_line_size
    longest = f"; no field is longer than {most} characters (max_line_size)" if 0 < most < 2**31 - 1 else ""
    return f"{fields}{quotes}{longest}: for other text say DelimitedText(field_delimiter=, quote=, escape=)"
