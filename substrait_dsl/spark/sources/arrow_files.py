"""Arrow files, which Spark cannot read: the declared columns are read here and sent to it.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from substrait_dsl.errors import ExecutionError, quote
from substrait_dsl.layouts import plain_columns
from substrait_dsl.spark.sources.arrow_tables import CAST, check_arrow_columns, declared_frame
from substrait_dsl.spark.sources.paths import data_files

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import dataset
    from pyspark.sql import DataFrame, SparkSession

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
        sources = data_files(item)
        if not sources:
            raise ExecutionError(f"there is no file {quote([item.uri])}")
        for source in sources:
            with _reading(source):
                tables += [_table(file, schema) for file in dataset.dataset(source, format="ipc").get_fragments()]
    with _reading(quote([item.uri for item in files], limit=3)):
        return declared_frame(pa.concat_tables(tables, promote_options="permissive"), schema, spark)


def _table(file: dataset.Fragment, schema: NamedStruct) -> pa.Table:
    """Read the declared columns of one file, under their declared names; without any, one of as many rows."""
    import pyarrow as pa

    with _reading(file.path):
        names = check_arrow_columns(file.physical_schema, schema, f"the Arrow file {file.path}", _CAST)
        if not names:
            return pa.table({"rows": pa.nulls(file.count_rows(), pa.bool_())})
        table = file.to_table(columns=list(names)).rename_columns(list(schema.names))
        return plain_columns(table)


_CAST = f"{CAST}, and write the file anew"


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Name the file in Arrow's errors."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        stream = "it is a stream of Arrow's, which is not read: write it as a file, with pyarrow.ipc.new_file"
        hint = stream if _is_stream(what) else None
        raise ExecutionError(f"cannot read the Arrow file {what}: {error}", hint=hint) from error


def _is_stream(path: str) -> bool:
    """Whether a file has Arrow's streaming format, which has no footer."""
    import pyarrow as pa

    if not os.path.isfile(path):
        return False
    try:
        with pa.memory_map(path) as file, pa.ipc.open_stream(file):
            return True
    except (OSError, pa.ArrowException):
        return False
