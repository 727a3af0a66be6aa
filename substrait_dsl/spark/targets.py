"""What rows are written to that is no table of a catalog: files, and tables in memory.

Specification: the write definition types "Files" and "Virtual Table", which have no message of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, assert_never

from substrait_dsl.algebra.relations import (
    Arrow,
    CreateMode,
    DelimitedText,
    Dwrf,
    ExtensionFormat,
    FilesTarget,
    Orc,
    Parquet,
    VirtualTarget,
    Write,
)
from substrait_dsl.algebra.types import String
from substrait_dsl.errors import ExecutionError, UnsupportedError, quoted
from substrait_dsl.spark.literals import text_to_sql
from substrait_dsl.spark.named import quoted_name
from substrait_dsl.spark.reads import check_columns
from substrait_dsl.spark.statements import changing, nested_cast, nothing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

_Mode = Literal["append", "overwrite", "ignore", "error"]
_MODES: dict[CreateMode, _Mode] = {
    "append_if_exists": "append",
    "replace_if_exists": "overwrite",
    "ignore_if_exists": "ignore",
    "error_if_exists": "error",
}


def _mode(rel: Write, what: str) -> _Mode:
    if rel.op == "insert":
        return "append"
    if rel.op == "ctas" and rel.create_mode is not None:
        return _MODES[rel.create_mode]
    raise UnsupportedError(f"{what}: rows can be added there, not changed one by one", hint='op="insert" or "ctas"')


def write_files(rel: Write, target: FilesTarget, frame: DataFrame) -> DataFrame:
    """Write rows to files in a folder.

    Args:
        rel: an insert, which adds files, or a ctas.
        target: the folder, and the format of the files.
        frame: the rows, under the names that they have there.

    Raises:
        UnsupportedError: Spark cannot write the format, or the rows in it.
        ExecutionError: the folder is there already, or cannot be written.
    """
    what = f"write to {quoted([target.uri])}"
    mode = _mode(rel, what)
    if mode == "overwrite":
        frame = (
            frame.localCheckpoint()
        )  # the old files are removed first: rows that cannot be computed must not do that
    writer = _writer(rel, target, frame, what).mode(mode)
    if mode == "ignore" and rel.output == "modified_records":
        raise UnsupportedError(f"{what}: with ignore_if_exists it is not known whether the rows were written")
    with changing(what):
        writer.save(target.uri)
    return frame if rel.output == "modified_records" else nothing(frame.sparkSession)


def _writer(rel: Write, target: FilesTarget, frame: DataFrame, what: str) -> DataFrameWriter:
    match target.format:
        case Parquet():
            return frame.write.format("parquet")
        case Orc():
            return frame.write.format("orc")
        case DelimitedText() as kind:
            return _text(rel, kind, frame, what)
        case Arrow() | Dwrf() as other:
            raise UnsupportedError(f"{what}: Spark cannot write {type(other).__name__.upper()} files")
        case ExtensionFormat(detail=detail):
            raise UnsupportedError(f"{what}: Spark cannot write files of the format {detail.type_url}")
        case never:
            assert_never(never)


def _text(rel: Write, kind: DelimitedText, frame: DataFrame, what: str) -> DataFrameWriter:
    """Delimited text that is read as the very rows that were written; what would not be is an error."""
    others = [field.name for field in rel.table_schema if not isinstance(field.type, String)]
    if others:
        raise UnsupportedError(
            f"{what}: delimited text holds strings, and {quoted(others)} are none", hint="cast(String) first"
        )
    if kind.header_lines_to_skip > 1:
        raise UnsupportedError(f"{what}: Spark writes one header line or none, not {kind.header_lines_to_skip}")
    nullable = [field.name for field in rel.table_schema if field.type.nullable]
    if kind.null_value is None and nullable:
        raise UnsupportedError(
            f"{what}: {quoted(nullable)} may be NULL, and no text stands for that",
            hint='format text with null_value=""',
        )
    names = [f"c{number}" for number in range(len(frame.columns))]
    checked = frame.toDF(*names).selectExpr(*(f"{_field(name, kind)} AS {name}" for name in names))
    return (
        checked.toDF(*frame.columns)
        .write.format("csv")
        .options(
            sep=kind.field_delimiter,
            quote=kind.quote,
            escape=kind.escape,
            header=str(kind.header_lines_to_skip == 1).lower(),
            emptyValue="",
            ignoreLeadingWhiteSpace="false",
            ignoreTrailingWhiteSpace="false",
        )
    )


def _field(name: str, kind: DelimitedText) -> str:
    """A value as a field of delimited text."""
    lines = f"{name} RLIKE '[\\\\n\\\\r]'"
    text = f"if({lines}, raise_error('a value of delimited text has several lines'), {name})"
    if kind.null_value is None:
        return text
    null = text_to_sql(kind.null_value)
    taken = text_to_sql(f"a value is {kind.null_value!r}, which stands for NULL in this delimited text")
    return f"coalesce(if({name} = {null}, raise_error({taken}), {text}), {null})"


def write_view(rel: Write, target: VirtualTarget, frame: DataFrame, spark: SparkSession) -> DataFrame:
    """Keep rows in memory, as a temporary view of the session.

    Args:
        rel: an insert, which adds rows to a view that is there, or a ctas.
        target: its name, and whether Spark is told to keep it cached.
        frame: the rows, under the names that they have there.
        spark: the session.

    Raises:
        UnsupportedError: rows would have to be changed.
        SchemaError: the view has other columns.
        ExecutionError: the view is there already, or, for an insert, is not.
    """
    what = f"write to the table in memory {quoted([target.name])}"
    mode = _mode(rel, what)
    view = quoted_name((target.name,))
    is_there = any(table.isTemporary and table.name == target.name for table in spark.catalog.listTables())
    if rel.op == "insert" and not is_there:
        raise ExecutionError(f"{what}: there is none", hint='op="ctas" makes it')
    if mode == "error" and is_there:
        raise ExecutionError(f"{what}: there is one already", hint='create_mode="replace_if_exists"')
    if mode == "ignore" and is_there:
        return frame.limit(0) if rel.output == "modified_records" else nothing(spark)
    written = frame.localCheckpoint()
    rows = written
    if mode == "append" and is_there:
        old = spark.table(view)
        names = check_columns(old.schema, rel.table_schema, f"the table in memory {quoted([target.name])}")
        kinds = [old.schema[name].dataType for name in names]
        rows = (
            old.select(*(quoted_name((name,)) for name in names))
            .unionAll(nested_cast(written, kinds))
            .localCheckpoint()
        )
    rows.createOrReplaceTempView(view)
    if target.pin:
        spark.catalog.cacheTable(view)
    return written if rel.output == "modified_records" else nothing(spark)
