"""Delimited text: what a plan says of it, as options of Spark's reader and writer, and the rows of such files.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.columns import actual_name
from substrait_dsl.spark.folders import require_read
from substrait_dsl.spark.named import quoted_name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from substrait_dsl.algebra.relations import DelimitedText, FileItem
    from substrait_dsl.algebra.schema import NamedStruct

_LONGEST = 2**31 - 1
"""The longest text that Java has."""

_NO_UTF8 = "a field of delimited text holds U+FFFD, which Spark puts in place of bytes that are not UTF-8"

_NO_ESCAPE = "\uffff"
"""A character that no text has. Without any Spark takes an empty text in quotes for a quote."""


def text_options(kind: DelimitedText) -> dict[str, str]:
    """The options of Spark's reader and writer.

    Raises:
        UnsupportedError: Spark cannot skip that many header lines, or separate and quote fields so.
    """
    if kind.header_lines_to_skip > 1:
        raise UnsupportedError(f"Spark cannot skip {kind.header_lines_to_skip} header lines, only one or none")
    delimiter = kind.field_delimiter
    if not delimiter:
        raise UnsupportedError("Spark cannot separate fields by an empty field_delimiter")
    for name, text in (("field_delimiter", delimiter), ("quote", kind.quote), ("escape", kind.escape)):
        if "\n" in text or "\r" in text:
            raise UnsupportedError(f"the {name} of delimited text is {text!r}, which ends lines in Spark")
    for name, text in (("quote", kind.quote), ("escape", kind.escape)):
        if len(text) > 1 or text > "\uffff":  # what Java calls a character is no more than that
            raise UnsupportedError(
                f"the {name} of delimited text is {text!r}, and Spark takes one character of Unicode's basic plane"
            )
        if text == delimiter:
            raise UnsupportedError(f"delimited text has {text!r} for its field_delimiter and its {name}")
    return {
        "sep": delimiter.replace("\\", "\\\\"),  # Spark reads \t as a tabulator
        "quote": kind.quote,
        "escape": kind.escape,
        "header": str(kind.header_lines_to_skip == 1).lower(),
    }


def read_text(
    kind: DelimitedText, files: Sequence[FileItem], paths: Sequence[str], schema: NamedStruct, spark: SparkSession
) -> DataFrame:
    """Read delimited text.

    A record with too few or too many fields is an error when it is read, and so is a field that goes on behind its
    closing quote, as it does where quotes are escaped in another way than the plan says.
    """
    from pyspark.sql import functions

    # With columns pruned, Spark would not look at the fields that the plan does not use, and so not at their number.
    options = {
        **text_options(kind),
        "escape": kind.escape or _NO_ESCAPE,
        "mode": "FAILFAST",
        "columnPruning": "false",
        "unescapedQuoteHandling": "RAISE_ERROR",
    }
    if 0 < kind.max_line_size < _LONGEST:
        options["maxCharsPerColumn"] = str(kind.max_line_size)
    reader = spark.read.format("csv").options(**options)
    frame = reader.schema(_texts(map(_field, range(len(schema))))).load(list(paths))
    # What Spark has found beside the fields stands in the names of folders.
    there = frame.columns[len(schema) :]
    named = ((position, actual_name(name, there)) for position, name in enumerate(schema.names))
    folders = {position: name for position, name in named if name is not None}
    fields = [position for position in range(len(schema)) if position not in folders]
    if there:
        require_read(frame, files, set(folders.values()))
    if folders:
        frame = reader.schema(_texts([*map(_field, fields), *folders.values()])).load(list(paths))

    def value(name: str) -> Column:
        written = functions.coalesce(name, functions.lit(""))  # Spark reads an empty field as NULL in any case
        is_broken = functions.contains(written, functions.lit("\ufffd"))
        written = functions.when(is_broken, functions.raise_error(functions.lit(_NO_UTF8))).otherwise(written)
        return written if kind.null_value is None else functions.nullif(written, functions.lit(kind.null_value))

    columns = [
        functions.col(quoted_name([folders[position]])) if position in folders else value(_field(position))
        for position in range(len(schema))
    ]
    return frame.select(*columns).toDF(*schema.names)


def _field(position: int) -> str:
    """What a field is called until it has its declared name: as nobody calls a folder."""
    return f"substrait_dsl_field_{position}"


def _texts(names: Iterable[str]) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in dict.fromkeys(names)])
