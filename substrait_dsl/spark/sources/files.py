"""Reads of files, by Spark's readers and ours.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, assert_never

from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from substrait_dsl.spark.catalog.table_names import quoted_name
from substrait_dsl.spark.session.engines import ENGINE, current_engine
from substrait_dsl.spark.session.failures import spark_errors
from substrait_dsl.spark.sources.arrow_files import read_arrow
from substrait_dsl.spark.sources.declared_columns import AS_IN_THE_FILE, check_columns
from substrait_dsl.spark.sources.delimited_text import read_text, text_options
from substrait_dsl.spark.sources.footers import check_each
from substrait_dsl.spark.sources.hadoop_substitution import require_names_read
from substrait_dsl.spark.sources.orc_files import require_names_found
from substrait_dsl.spark.sources.parquet_slices import is_slice, rows_of_slice
from substrait_dsl.spark.sources.partition_columns import is_list_there, require_listed, with_declared_folders
from substrait_dsl.spark.sources.paths import SKIPPED, require_no_empty_file, require_read, spark_path, what_of
from substrait_dsl.spark.sources.text_files import read_text_here
from substrait_dsl.spark.sources.user_types import refuse_classes_of_files, require_known_classes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.algebra.schema import NamedStruct


def read_files(
    files: Sequence[rl.FileItem], schema: NamedStruct, spark: SparkSession, text: rl.TextReading = rl.AS_SPECIFIED
) -> DataFrame:
    """Read files, each as often as it is listed; adjacent files of one format are read together.

    Args:
        files: what to read.
        schema: the declared columns: those of delimited text, which has no names of its own; other files are read by
            name.
        spark: the session.
        text: how delimited text is read.

    Returns:
        A DataFrame with at least the columns that are there of the declared ones, under the names of the files.

    Raises:
        UnsupportedError: Spark cannot read a format, a part of a file that is not Parquet, several header lines, fields
            that are separated or quoted so, a type of Parquet's, or a file of such a name.
        SchemaError: a file lacks a declared column that others have, or has columns that Spark cannot tell apart.
        ExecutionError: a file is not there.
    """
    frames = []
    for (format_, is_part), group in groupby(files, key=lambda item: (item.format, is_slice(item))):
        if is_part:
            parts = [(item, rows_of_slice(item)) for item in group]
            frames += [
                ([item], _select_slice(_read(format_, [item], schema, spark, text), item, rows)) for item, rows in parts
            ]
        else:
            for items in _rounds(group):
                frames += _read_together(format_, items, schema, spark, text)
    if len(frames) == 1 or not schema.names:
        return reduce(lambda one, other: one.unionByName(other), (frame for _, frame in frames))
    declared = (_project_declared(frame, schema, what_of(items)) for items, frame in frames)
    return reduce(lambda one, other: one.union(other), declared)


def require_files(files: Sequence[rl.FileItem]) -> None:
    """Raise as `read_files` does for what it refuses without opening a file."""
    for format_, group in groupby(files, key=lambda item: item.format):
        items = list(group)
        require_format(format_)
        for item in filter(is_slice, items):
            rows_of_slice(item)
        if not isinstance(format_, rl.Arrow):
            _paths(format_, items) if current_engine().reads_text or not isinstance(format_, rl.DelimitedText) else None


def require_format(format_: rl.FileFormat) -> None:
    """Raise `UnsupportedError` for formats that are not supported."""
    match format_:
        case rl.Dwrf():
            raise UnsupportedError(f"{ENGINE} cannot read DWRF files", hint="convert them to Parquet or ORC")
        case rl.ExtensionFormat(detail=detail):
            raise UnsupportedError(f"{ENGINE} cannot read files of the format {detail.type_url}")
        case rl.DelimitedText():
            text_options(format_)
        case rl.Parquet() | rl.Orc() | rl.Arrow():
            pass
        case never:
            assert_never(never)


def _rounds(files: Iterable[rl.FileItem]) -> list[list[rl.FileItem]]:
    """Split the files into lists without repetitions: Spark reads a partitioned folder once per read."""
    rounds: list[list[rl.FileItem]] = []
    listed: Counter[str] = Counter()
    for item in files:
        if listed[item.uri] == len(rounds):
            rounds.append([])
        rounds[listed[item.uri]].append(item)
        listed[item.uri] += 1
    return rounds


def _read_together(
    format_: rl.FileFormat, files: list[rl.FileItem], schema: NamedStruct, spark: SparkSession, text: rl.TextReading
) -> list[tuple[list[rl.FileItem], DataFrame]]:
    """Read files of one format into one DataFrame, but each partitioned folder by itself."""
    try:
        return [(files, _read(format_, files, schema, spark, text))]
    except spark_errors() as error:
        if "Conflicting directory structures" not in str(error) or len(files) == 1:
            raise
        return [([item], _read(format_, [item], schema, spark, text)) for item in files]


def _select_slice(frame: DataFrame, item: rl.FileItem, rows: str) -> DataFrame:
    """Select the rows of a slice, by Spark's column of row numbers."""
    if any(name.lower() == "_metadata" for name in frame.columns):
        raise UnsupportedError(
            f"{ENGINE} cannot read a part of a file with a column called _metadata: {item.uri}", hint="read it whole"
        )
    return frame.where(rows)


def _project_declared(frame: DataFrame, schema: NamedStruct, what: str) -> DataFrame:
    """Project files to the declared columns; other files may have other columns."""
    names = check_columns(frame.schema, schema, what, way_out=lambda: AS_IN_THE_FILE)
    return frame.select(*(quoted_name([name]) for name in names)).toDF(*schema.names)


def _read(
    format_: rl.FileFormat, files: Sequence[rl.FileItem], schema: NamedStruct, spark: SparkSession, text: rl.TextReading
) -> DataFrame:
    require_format(format_)
    match format_:
        case rl.Parquet():
            return _read_by_name("parquet", format_, files, schema, spark)
        case rl.Orc():
            return _read_by_name("orc", format_, files, schema, spark)
        case rl.DelimitedText() if not current_engine().reads_text:
            for item in files:
                require_read(item)
            return read_text_here(format_, files, schema, spark, text)
        case rl.DelimitedText():
            return read_text(format_, files, _paths(format_, files), schema, spark, text)
        case rl.Arrow():
            return read_arrow(files, schema, spark)
        case rl.Dwrf() | rl.ExtensionFormat():
            raise AssertionError("files of such a format are refused before")
        case never:
            assert_never(never)


def _paths(format_: rl.FileFormat, files: Sequence[rl.FileItem]) -> list[str]:
    for item in files:
        require_read(item)
    if (listed := current_engine().listed_files) is not None:
        return listed(format_, files)
    return [spark_path(item) for item in files]


def _find_files(files: Sequence[rl.FileItem], paths: list[str], spark: SparkSession) -> list[str]:
    """Return the URIs of the files that a pattern or a list resolves to, without opening them; else none."""
    if not is_list_there(files) and all(item.kind != "glob" for item in files):
        return []
    with _refusals(what_of(files)):
        frame = spark.read.format("binaryFile").load(paths)
        found = frame.inputFiles()
    require_listed(frame, files)
    return found


def _read_by_name(
    reader: str, format_: rl.FileFormat, files: Sequence[rl.FileItem], schema: NamedStruct, spark: SparkSession
) -> DataFrame:
    paths = _paths(format_, files)
    what = what_of(files)
    if isinstance(format_, rl.Orc):
        require_names_found(dict.fromkeys(schema.names), what)
    if isinstance(format_, rl.Parquet):
        require_no_empty_file(files)
        require_known_classes(files, _find_files(files, paths, spark))
    with _refusals(what), refuse_classes_of_files(what):
        frame = spark.read.format(reader).load(paths)
        _ = frame.schema  # a client of Spark Connect learns only now what is wrong
    require_listed(frame, files)
    frame = with_declared_folders(
        frame, files, schema, lambda columns: spark.read.format(reader).schema(columns).load(paths)
    )
    if isinstance(format_, rl.Orc):
        wanted = {name.lower() for name in schema.names}
        require_names_found(
            {field.name: field.dataType for field in frame.schema if field.name.lower() in wanted}, what
        )
    require_names_read(frame.schema, schema.names, what)
    frame = current_engine().retyped(frame, schema.names)
    check_each(format_, files, frame, schema)
    return frame


@contextmanager
def _refusals(what: str) -> Iterator[None]:
    """Name the files in Spark's errors, and say what to do."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        parameters = error.getMessageParameters() or {}
        match error.getCondition():
            case "UNABLE_TO_INFER_SCHEMA":
                raise ExecutionError(
                    f"{what} finds no files with columns", hint=f"{SKIPPED}, and those of 0 bytes"
                ) from error
            case "COLUMN_ALREADY_EXISTS":
                raise SchemaError(
                    f"{what} finds several columns {parameters.get('columnName')}, told apart by case at most",
                    hint='spark.conf.set("spark.sql.caseSensitive", "true")',
                ) from error
            case "PARQUET_TYPE_ILLEGAL" | "PARQUET_TYPE_NOT_SUPPORTED" | "PARQUET_TYPE_NOT_RECOGNIZED":
                parquet_type = parameters.get("parquetType", "")
                nanoseconds = 'spark.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true") makes it an i64'
                raise UnsupportedError(
                    f"{what} finds a column, declared or not, of the Parquet type {parquet_type}, which {ENGINE} "
                    "does not read",
                    hint=f"write the file with microseconds; {nanoseconds}" if "NANOS" in parquet_type else None,
                ) from error
        raise
    except spark_errors() as error:
        if (own := current_engine().file_error(what, str(error))) is None:
            raise
        raise own from error
