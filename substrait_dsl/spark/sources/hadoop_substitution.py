"""Reject column names with ``${...}``, in which Hadoop substitutes variables.

Spark passes the requested columns to its Parquet and ORC readers through Hadoop's configuration, which substitutes Java
properties and environment variables. Such a column is not found, and reads as NULL. If Spark wrote the file, the name
in it may be substituted, too, and the column is found by chance.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from substrait_dsl.errors import UnsupportedError, quote
from substrait_dsl.spark.catalog.table_metadata import find_object
from substrait_dsl.spark.catalog.table_names import named_frame
from substrait_dsl.spark.session.engines import ENGINE
from substrait_dsl.spark.sources.orc_files import require_names_found
from substrait_dsl.spark.sources.schema_compatibility import TEXT_FORMATS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_EXPANDED = re.compile(r"\$\{(env\.[^}$\s]+|[^}$\s:]+)\}")
"""A name that may be a property; ``${env:HOME}`` is none."""


def require_names_read(found: StructType, declared: Iterable[str], what: str, would: str = "look for") -> None:
    """Raise `UnsupportedError` for a declared column of files with a name, or a nested one, that would be substituted.

    `would` says what Spark does with the substituted name.
    """
    wanted = {name.lower() for name in declared}
    for field in found.fields:
        if field.name.lower() in wanted and (name := _EXPANDED.search(field.simpleString())):
            inside = "" if name[0] in field.name else f' with a field named "{name[0]}"'
            raise UnsupportedError(
                f"{what} has the column {quote([field.name])}{inside}, and {ENGINE} would {would} another: "
                "it puts a property of Java's in place of ${...}"
            )


def require_table_read(
    names: tuple[str, ...], found: StructType, declared: Collection[str], what: str, spark: SparkSession
) -> None:
    """Raise `UnsupportedError` for such a column of a table or view, and for one that is not found in ORC files.

    Sources without files, and text formats, are not concerned. Of a view only its files are known.
    """
    try:
        require_names_found({field.name: field.dataType for field in found if field.name in declared}, what)
    except UnsupportedError:
        if _is_orc(names, spark):
            raise
    try:
        require_names_read(found, declared, what)
    except UnsupportedError:
        if not named_frame(names, spark).inputFiles():
            return
        table = find_object(names, spark)
        if table is None or table.format not in TEXT_FORMATS:
            raise


def _is_orc(names: tuple[str, ...], spark: SparkSession) -> bool:
    """Whether a name is read from ORC files by Spark's reader; Iceberg has a reader of its own."""
    table = find_object(names, spark)
    if table is not None and (table.is_iceberg or table.format == "orc"):
        return not table.is_iceberg
    return any(path.endswith(".orc") for path in named_frame(names, spark).inputFiles())
