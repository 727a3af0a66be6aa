"""Reads: named tables, virtual tables, and what every read may have: filters and a mask.

Specification: https://substrait.io/relations/logical_relations/#read-operation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.relations import LocalFiles, NamedTable, Read, StructMask, VirtualTable
from substrait_dsl.algebra.types import Struct, Type
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError, quoted, suggestion
from substrait_dsl.spark.expressions import to_sql
from substrait_dsl.spark.files import read_files
from substrait_dsl.spark.hosts import host
from substrait_dsl.spark.relations import filtered
from substrait_dsl.spark.subqueries import is_subquery
from substrait_dsl.spark.tables import FrameTable, Item, Rows, Table, TextTable
from substrait_dsl.spark.types import spark_sql_type, type_to_spark
from substrait_dsl.spark.virtual import arrow_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

    from substrait_dsl.algebra.schema import NamedStruct
    from substrait_dsl.spark.lowering import Lowering
    from substrait_dsl.spark.tables import Workspace

_MOST_TEXT_ROWS = 64
"""How many rows of a virtual table are written as SQL text; more come faster as an Arrow table."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Names that may stand in SQL text between backticks. Others may hold what Spark substitutes (``${...}``)."""


def can_be_text(read: Read) -> bool:
    """Whether a read can be written as SQL text, as a whole."""
    match read.definition:
        case NamedTable(names=names):
            return all(map(_PLAIN.fullmatch, (*names, *read.base_schema.names)))
        case VirtualTable(rows=rows):
            return len(rows) <= _MOST_TEXT_ROWS
        case LocalFiles():
            return False
        case never:
            assert_never(never)


def lower_read(rel: Read, to: Lowering) -> Rows:
    """Read the columns of the base schema, filter them, keep those of the mask."""
    match rel.definition:
        case NamedTable(names=names):
            rows = _named(names, rel.base_schema, to)
        case VirtualTable():
            rows = _virtual(rel, to)
        case LocalFiles(items=files):
            rows = _selected(read_files(files, rel.base_schema, to.space.spark), rel.base_schema, to.space)
        case never:
            assert_never(never)
    for condition in (rel.filter, rel.best_effort_filter):
        if condition is not None:
            rows = filtered(rows, condition, rel.anchor, to)
    return rows if rel.projection is None else _masked(rows, rel, rel.projection)
