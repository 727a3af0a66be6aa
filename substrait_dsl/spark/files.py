"""Reads of files: what a plan says of them, as options of Spark's readers.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from glob import glob
from itertools import groupby
from typing import TYPE_CHECKING, assert_never

from substrait_dsl.algebra.relations import (
    Arrow,
    DelimitedText,
    Dwrf,
    ExtensionFormat,
    FileFormat,
    FileItem,
    Orc,
    Parquet,
)
from substrait_dsl.errors import ExecutionError, UnsupportedError, quoted
from substrait_dsl.spark.slices import is_slice, rows_of_slice
from substrait_dsl.spark.virtual import table_frame

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from substrait_dsl.algebra.schema import NamedStruct


def read_files(files: Sequence[FileItem], schema: NamedStruct, spark: SparkSession) -> DataFrame:
    """Read files, each as often as it is listed, neighbours of one format together.

    Args:
        files: what to read.
        schema: the columns of delimited text, which has no names of its own; other files are read by name.
        spark: the session.

    Returns:
        A DataFrame with at least the columns that all the files have, under their own names.

    Raises:
        UnsupportedError: Spark cannot read a format, a part of a file that is not Parquet, or several header lines.
        ExecutionError: a file is not there.
    """
    frames = []
    for (kind, is_part), group in groupby(files, key=lambda item: (item.format, is_slice(item))):
        if is_part:
            parts = [(item, rows_of_slice(item)) for item in group]
            frames += [_read(kind, [item], schema, spark).where(rows) for item, rows in parts]
        else:
            frames.append(_read(kind, list(group), schema, spark))
    first, *others = frames
    for other in others:
        first = first.unionByName(other)
    return first


def _read(kind: FileFormat, files: Sequence[FileItem], schema: NamedStruct, spark: SparkSession) -> DataFrame:
    paths = [_path(item) for item in files]
    match kind:
        case Parquet():
            return spark.read.format("parquet").load(paths)
        case Orc():
            return spark.read.format("orc").load(paths)
        case DelimitedText():
            return _text(kind, paths, schema, spark)
        case Arrow():
            return _arrow(files, spark)
        case Dwrf():
            raise UnsupportedError("Spark cannot read DWRF files", hint="convert them to Parquet or ORC")
        case ExtensionFormat(detail=detail):
            raise UnsupportedError(f"Spark cannot read files of the format {detail.type_url}")
        case never:
            assert_never(never)


def _path(item: FileItem) -> str:
    """The path as Spark reads it: every one is a pattern there, so what is none is escaped."""
    return item.uri if item.kind == "glob" else re.sub(r"([\\*?\[\]{}])", r"\\\1", item.uri)


def _text(kind: DelimitedText, paths: list[str], schema: NamedStruct, spark: SparkSession) -> DataFrame:
    """Delimited text. A record with too few or too many fields is an error, when it is read."""
    from pyspark.sql import functions
    from pyspark.sql.types import StringType, StructField, StructType

    if kind.header_lines_to_skip > 1:
        raise UnsupportedError(f"Spark cannot skip {kind.header_lines_to_skip} header lines, only one or none")
    options: dict[str, str] = {
        "sep": kind.field_delimiter,
        "quote": kind.quote,
        "escape": kind.escape,
        "header": str(kind.header_lines_to_skip == 1).lower(),
        "mode": "FAILFAST",
    }
    if kind.max_line_size:
        options["maxCharsPerColumn"] = str(kind.max_line_size)
    names = [f"c{position}" for position in range(len(schema))]
    columns = StructType([StructField(name, StringType()) for name in names])
    frame = spark.read.format("csv").options(**options).schema(columns).load(paths)

    def value(name: str) -> Column:
        written = functions.coalesce(name, functions.lit(""))  # Spark reads an empty field as NULL in any case
        return written if kind.null_value is None else functions.nullif(written, functions.lit(kind.null_value))

    return frame.select(*map(value, names)).toDF(*schema.names)


def _arrow(files: Sequence[FileItem], spark: SparkSession) -> DataFrame:
    """Arrow files, which Spark has no reader for: read here and sent to it."""
    import pyarrow as pa
    from pyarrow import dataset

    tables = []
    for item in files:
        local = item.uri.removeprefix("file://")
        sources = sorted(glob(local)) if item.kind == "glob" else [local]
        try:
            tables += [dataset.dataset(source, format="ipc").to_table() for source in sources]
        except (OSError, pa.ArrowInvalid) as error:
            raise ExecutionError(f"cannot read the Arrow file {item.uri}: {error}") from error
    if not tables:
        raise ExecutionError(f"there is no file {quoted([item.uri for item in files])}")
    return table_frame(pa.concat_tables(tables), spark)
