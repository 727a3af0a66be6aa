"""Write targets outside of a catalog: files, and tables in memory.

Specification: the write definition types "Files" and "Virtual Table", which have no message of their own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, assert_never
from urllib.parse import unquote

from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import ExecutionError, UnsupportedError, quote
from substrait_dsl.spark.catalog.file_listings import files_written
from substrait_dsl.spark.catalog.table_names import is_temporary, quoted_name, statement_name
from substrait_dsl.spark.changes.file_systems import reach
from substrait_dsl.spark.changes.file_writes import Mode, save
from substrait_dsl.spark.changes.inserts import require_alone
from substrait_dsl.spark.changes.statements import changing, nested_cast, no_output
from substrait_dsl.spark.expressions.literals import text_to_sql
from substrait_dsl.spark.session.cancellation import hold_interrupts
from substrait_dsl.spark.session.change_outcomes import note_outcome
from substrait_dsl.spark.sources import partition_values
from substrait_dsl.spark.sources.declared_columns import ROWS, check_columns
from substrait_dsl.spark.sources.delimited_text import OVERLAPS, text_options
from substrait_dsl.spark.sources.hadoop_substitution import require_names_read
from substrait_dsl.spark.sources.orc_files import with_day_checks
from substrait_dsl.spark.sources.paths import SKIPPED, local_path
from substrait_dsl.spark.sources.schema_compatibility import require_lossless

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter

    from substrait_dsl.spark.session.execution_context import ExecutionContext

_BREAK = r"[\n\r\x00]"
"""Characters that delimited text cannot hold: line ends, and NUL, which ends strings elsewhere."""
_BLANK = r"^[\x00-\x20]*$"

_MODES: dict[rl.CreateMode, Mode] = {
    "append_if_exists": "append",
    "replace_if_exists": "overwrite",
    "ignore_if_exists": "ignore",
    "error_if_exists": "error",
}


def _mode(rel: rl.Write, what: str) -> Mode:
    if rel.op == "insert":
        return "append"
    if rel.op == "ctas" and rel.create_mode is not None:
        return _MODES[rel.create_mode]
    raise UnsupportedError(f"{what}: rows can be added there, not changed one by one", hint='op="insert" or "ctas"')


def write_files(rel: rl.Write, target: rl.FilesTarget, frame: DataFrame, execution: ExecutionContext) -> DataFrame:
    """Write rows to files in a folder, or in its partition directories.

    Args:
        rel: an insert, which adds files, or a ctas.
        target: the folder, the format of the files, and the columns that folders are named after.
        frame: the rows, under the names that they have there.
        execution: what the execution shares.

    Raises:
        UnsupportedError: Spark cannot write the format, or the rows in it, or folders do not give values back.
        ExecutionError: the folder is there already, or cannot be written.
    """
    what = f"write to {quote([target.uri])}"
    mode = _mode(rel, what)
    if mode == "ignore" and rel.output == "modified_records":
        raise UnsupportedError(f"{what}: with ignore_if_exists it is not known whether the rows were written")
    path = unquote(target.uri)
    found = None if execution.is_rehearsal else reach(path, execution.spark)
    is_replaced = mode == "overwrite" and found is None and not execution.is_rehearsal
    if is_replaced:  # what is read may be among the old files, which are removed first
        frame = frame.localCheckpoint()
    written = _add_checks(rel, target.format, frame, target.partition_columns, what)
    written = _with_named_folders(rel, target, written, what)
    if is_replaced and written is not frame:  # rows that cannot be written must not remove them
        with changing(what):
            written = written.localCheckpoint()
    writer = _writer(target.format, written).partitionBy(*target.partition_columns)
    if not execution.is_rehearsal:
        try:
            if found is not None:
                save(writer, mode, *found, what, execution.spark)
            else:
                if mode == "append":
                    require_alone(path, what, execution.spark)
                with _leaving_nothing(target.uri), changing(what):
                    # The whole folder is replaced, whatever the session says.
                    writer.option("partitionOverwriteMode", "static").mode(mode).save(path)
        finally:  # a write that fails may have removed the files that were there
            files_written()
    return frame if rel.output == "modified_records" else no_output(frame.sparkSession)


@contextmanager
def _leaving_nothing(uri: str) -> Iterator[None]:
    """Remove an empty folder on this machine after a failed write: it would be in the way of the next one."""
    folder = local_path(uri)
    is_new = folder is not None and not os.path.exists(folder)
    try:
        yield
    except BaseException:
        if is_new and folder is not None:
            with suppress(OSError):  # there may be none
                if set(os.listdir(folder)) <= {"_temporary"}:  # what tasks leave that are stopped
                    shutil.rmtree(folder)
        raise


def _with_named_folders(rel: rl.Write, target: rl.FilesTarget, frame: DataFrame, what: str) -> DataFrame:
    """Replace the values of partition columns by the texts in the names of partition directories."""
    columns = target.partition_columns
    if not columns:
        return frame
    if unread := [name for name in columns if not name or name.startswith(".")]:
        raise UnsupportedError(f"{what}: folders named after columns {quote(unread)} are not read: {SKIPPED}")
    values = []
    for number, field in enumerate(rel.table_schema):
        text = plain = f"c{number}"
        if field.name in columns:
            subject = f"{what}: folders are named after column {quote([field.name])}"
            text = partition_values.write_value(plain, field.name, field.type, subject, frame.sparkSession)
        values.append(f"{text} AS {plain}")
    return frame.toDF(*(f"c{number}" for number in range(len(values)))).selectExpr(*values).toDF(*frame.columns)


def _add_checks(
    rel: rl.Write, format_: rl.FileFormat, frame: DataFrame, partition_columns: Sequence[str], what: str
) -> DataFrame:
    """Add checks to the rows: a value that would be read back as another one is refused, or an error of its row."""
    match format_:
        case rl.Parquet():
            require_names_read(frame.schema, frame.columns, what, "write")
            require_lossless(frame.schema, "parquet", what, frame.sparkSession)
            return frame
        case rl.Orc():
            require_lossless(frame.schema, "orc", what, frame.sparkSession)
            return with_day_checks(frame, "orc", partition_columns)
        case rl.DelimitedText():
            return _as_text(rel, format_, frame, partition_columns, what)
        case rl.Arrow() | rl.Dwrf() as other:
            raise UnsupportedError(
                f"{what}: Spark cannot write {type(other).__name__.upper()} files",
                hint='write "parquet", "orc" or "csv"; execute(spark).toArrow() gives the rows as a table of Arrow',
            )
        case rl.ExtensionFormat(detail=detail):
            raise UnsupportedError(f"{what}: Spark cannot write files of the format {detail.type_url}")
        case never:
            assert_never(never)


def _writer(format_: rl.FileFormat, frame: DataFrame) -> DataFrameWriter:
    if not isinstance(format_, rl.DelimitedText):
        return frame.write.format("orc" if isinstance(format_, rl.Orc) else "parquet")
    return frame.write.format("csv").options(
        **text_options(format_), emptyValue="", ignoreLeadingWhiteSpace="false", ignoreTrailingWhiteSpace="false"
    )


def _as_text(
    rel: rl.Write, format_: rl.DelimitedText, frame: DataFrame, partition_columns: Sequence[str], what: str
) -> DataFrame:
    """Write the rows as fields of delimited text, with an error for a value that would be read back as another one."""
    columns = [name for name in rel.table_schema.names if name not in partition_columns]
    if format_.header_lines_to_skip > 1:
        raise UnsupportedError(f"{what}: Spark writes one header line or none, not {format_.header_lines_to_skip}")
    if format_.header_lines_to_skip:
        _require_header(columns, format_, what)
    names = [f"c{number}" for number in range(len(columns))]
    fields = [_field(name, column, format_) for name, column in zip(names, columns, strict=True)]
    if not format_.header_lines_to_skip:
        # Which row comes first in a file is not known.
        marked = text_to_sql("a value at the beginning of a line of delimited text begins with U+FEFF, a mark of files")
        fields[0] = f"if(startswith({names[0]}, '\ufeff'), raise_error({marked}), {fields[0]})"
    if len(names) == 1 or format_.field_delimiter.isspace():
        # Spark's reader passes over lines of white space, also where it separates fields.
        blank = " AND ".join(f"{field} RLIKE {text_to_sql(_BLANK)}" for field in fields)
        message = text_to_sql("a record would be an empty line of delimited text, which is none")
        fields[0] = f"if({blank}, raise_error({message}), {fields[0]})"
    # Folders are named after columns whose names no longer clash with those of fields.
    partition_names = {name: f"d{number}" for number, name in enumerate(partition_columns)}
    plain = dict(zip(columns, names, strict=True)) | partition_names
    texts = dict(zip(columns, fields, strict=True)) | partition_names
    order = rel.table_schema.names
    checked = frame.toDF(*(plain[name] for name in order))
    return checked.selectExpr(*(f"{texts[name]} AS {plain[name]}" for name in order)).toDF(*order)


def _require_header(names: Sequence[str], format_: rl.DelimitedText, what: str) -> None:
    """Raise `UnsupportedError` for column names that do not make a single header line."""
    escapes = {format_.field_delimiter: format_.quote, format_.quote: format_.escape}
    never = ["\n", "\r", "\0", *(part for part, escape in escapes.items() if part and not escape)]
    if broken := [name for name in names if any(part in name for part in never)]:
        raise UnsupportedError(f"{what}: {quote(broken)} cannot stand in the header line of this delimited text")
    is_separated = len(names) > 1 and not format_.field_delimiter.isspace()
    if not is_separated and all(character <= " " for name in names for character in name):
        raise UnsupportedError(f"{what}: the header line would be empty, and Spark's reader would skip a record for it")


def _field(name: str, column: str, format_: rl.DelimitedText) -> str:
    """Write a value as a field of delimited text; `column` is the column's name in messages."""

    def unless(wrong: str, message: str, value: str) -> str:
        return f"if({wrong}, raise_error({text_to_sql(f'{message}, in column {quote([column])}')}), {value})"

    lines = f"{name} RLIKE {text_to_sql(_BREAK)}"
    text = unless(lines, "a value of delimited text has several lines, or a NUL character", name)
    for part, escape, what in (
        (format_.field_delimiter, format_.quote, "delimiter, and there is no quote"),
        (format_.quote, format_.escape, "quote, and there is no escape"),
    ):
        if part and not escape:  # Spark would write a NUL character for what there is not
            is_there = f"contains({name}, {text_to_sql(part)})"
            text = unless(is_there, f"a value of delimited text holds the {what}", text)
    if len(format_.field_delimiter) > 1:
        delimiter = text_to_sql(format_.field_delimiter)
        is_early = f"instr(concat({name}, {delimiter}), {delimiter}) <= char_length({name})"
        text = unless(f"NOT contains({name}, {delimiter}) AND {is_early}", OVERLAPS, text)
    if format_.null_value is None:
        return text
    null = text_to_sql(format_.null_value)
    message = f"a value is {format_.null_value!r}, which stands for NULL in this delimited text"
    return f"coalesce({unless(f'{name} = {null}', message, text)}, {null})"


def write_view(rel: rl.Write, target: rl.VirtualTarget, frame: DataFrame, execution: ExecutionContext) -> DataFrame:
    """Write rows to memory, as a temporary view of the session.

    Args:
        rel: an insert, which adds rows to a view that is there, or a ctas.
        target: its name, and whether Spark is told to keep it cached.
        frame: the rows, under the names that they have there.
        execution: what the execution shares.

    Raises:
        UnsupportedError: rows would have to be changed.
        SchemaError: the view has other columns.
        ExecutionError: the view is there already, or, for an insert, is not.
    """
    what = f"write to the table in memory {quote([target.name])}"
    mode = _mode(rel, what)
    view = statement_name((target.name,))
    spark = execution.spark
    is_there = is_temporary(target.name, spark)
    _require_view(rel, what, is_there=is_there)
    if mode == "ignore" and is_there:
        return frame.limit(0) if rel.output == "modified_records" else no_output(spark)
    written = frame if execution.is_rehearsal else frame.localCheckpoint()
    rows = written
    if mode == "append" and is_there:
        rows = _append_rows(rel, target, spark.table(view), written)
    if execution.is_rehearsal:
        return written
    if rows is not written:
        rows = rows.localCheckpoint()
    with hold_interrupts():
        rows.createOrReplaceTempView(view)
        note_outcome("made")
        if target.pin:
            spark.catalog.cacheTable(view)
    return written if rel.output == "modified_records" else no_output(spark)


def _require_view(rel: rl.Write, what: str, *, is_there: bool) -> None:
    """Raise `ExecutionError` for an insert into a view that does not exist, and for a new view that does."""
    if rel.op == "insert" and not is_there:
        raise ExecutionError(f"{what}: there is none", hint='op="ctas" makes it')
    if _mode(rel, what) == "error" and is_there:
        raise ExecutionError(f"{what}: there is one already", hint='create_mode="replace_if_exists"')


def _append_rows(rel: rl.Write, target: rl.VirtualTarget, old: DataFrame, rows: DataFrame) -> DataFrame:
    """Append rows to those of a view. Raises `SchemaError` if it has other columns."""
    names = check_columns(old.schema, rel.table_schema, f"the table in memory {quote([target.name])}", ROWS)
    types = [old.schema[name].dataType for name in names]
    return old.select(*(quoted_name((name,)) for name in names)).unionAll(nested_cast(rows, types))
