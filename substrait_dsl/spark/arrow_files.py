"""Arrow files, which Spark has no reader for: read here and sent to it, no more than the declared columns.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import filterfalse
from typing import TYPE_CHECKING

from substrait_dsl.errors import ExecutionError, quoted
from substrait_dsl.spark.arrow_layouts import plain_columns, plain_type
from substrait_dsl.spark.columns import check_columns
from substrait_dsl.spark.file_types import parts
from substrait_dsl.spark.paths import files_inside, local_path, local_paths
from substrait_dsl.spark.virtual import table_frame

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import dataset
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from substrait_dsl.algebra.relations import FileItem
    from substrait_dsl.algebra.schema import NamedStruct


def read_arrow(files: Sequence[FileItem], schema: NamedStruct, spark: SparkSession) -> DataFrame:
    """Read Arrow files, each by its own schema.

    Args:
        files: what to read; of remote folders, the files that Arrow finds in them.
        schema: the columns to read.
        spark: the session.

    Returns:
        A DataFrame with the columns of the schema, and another one if there are none.

    Raises:
        SchemaError: a file lacks a declared column, or has it in a type that Spark would change.
        ExecutionError: a file is not there, is no Arrow file, or has a date in milliseconds that is no whole day.
    """
    import pyarrow as pa
    from pyarrow import dataset

    tables = []
    for item in files:
        sources = _files(item)
        if not sources:
            raise ExecutionError(f"there is no file {quoted([item.uri])}")
        for source in sources:
            with _reading(source):
                tables += [_table(file, schema) for file in dataset.dataset(source, format="ipc").get_fragments()]
    with _reading(quoted([item.uri for item in files], limit=3)):
        return table_frame(pa.concat_tables(tables, promote_options="permissive"), spark)


def _files(item: FileItem) -> list[str]:
    """The files that are read: of folders on this machine, those directly in them."""
    if local_path(item.uri) is None:
        return [item.uri]
    paths = local_paths(item)
    return [*filterfalse(os.path.isdir, paths), *files_inside(paths)]


def _table(file: dataset.Fragment, schema: NamedStruct) -> pa.Table:
    """The declared columns of one file, under their declared names; without any, one that has as many rows."""
    import pyarrow as pa
    from pyspark.sql.types import StructField, StructType

    with _reading(file.path):
        kinds = [(field, _as_spark(field)) for field in file.physical_schema]
        found = StructType([StructField(field.name, kind or _foreign(field.type)) for field, kind in kinds])
        ways_out = {field.name: _CAST for field, kind in kinds if kind is None}
        names = check_columns(found, schema, f"the Arrow file {file.path}", ways_out=ways_out)
        if not names:
            return pa.table({"rows": pa.nulls(file.count_rows(), pa.bool_())})
        table = file.to_table(columns=list(names)).rename_columns(list(schema.names))
        return plain_columns(table)


_CAST = "cast the column with pyarrow to a type that Spark has, table.cast(schema), and write the file anew"


def _as_spark(field: pa.Field) -> DataType | None:
    """The type that Spark holds a column in; None: it does not take the column, or would cut its values."""
    import pyarrow as pa
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import from_arrow_schema

    kind = plain_type(field.type)
    # Spark keeps microseconds, and would cut the rest in silence. NULLs without a type fit none that can be declared.
    if any(getattr(part, "unit", None) == "ns" or pa.types.is_null(part) for part in parts(kind)):
        return None
    try:
        return from_arrow_schema(pa.schema([field.with_type(kind)]), prefer_timestamp_ntz=True).fields[0].dataType
    except PySparkException:
        return None


def _foreign(kind: pa.DataType) -> DataType:
    """What stands for a type that Spark does not take, under its own name; it fits none that can be declared."""
    from pyspark.sql.types import DataType

    class Foreign(DataType):
        def simpleString(self) -> str:  # noqa: N802  # as Spark calls it
            return str(kind)

    return Foreign()


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Have errors of Arrow tell what was read."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        stream = "it is a stream of Arrow's, which is not read: write it as a file, with pyarrow.ipc.new_file"
        hint = stream if _is_stream(what) else None
        raise ExecutionError(f"cannot read the Arrow file {what}: {error}", hint=hint) from error


def _is_stream(path: str) -> bool:
    """Whether a file has Arrow's streaming format, which has no table of contents at its end."""
    import pyarrow as pa

    if not os.path.isfile(path):
        return False
    try:
        with pa.memory_map(path) as file, pa.ipc.open_stream(file):
            return True
    except (OSError, pa.ArrowException):
        return False
