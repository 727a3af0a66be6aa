"""Properties of join inputs that are known before anything runs: which are small, and which have one source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import WindowFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.relations import Emit, Filter, LocalFiles, NamedTable, Project, Read
from substrait_dsl.spark.catalog.scans import is_of_iceberg, is_one_source, scan_of
from substrait_dsl.spark.catalog.table_names import named_frame
from substrait_dsl.spark.relations.subqueries import is_subquery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.spark.session.execution_context import ExecutionContext

_MAX_FILES = 8
"""The most files that one task reads where several tasks would read them in parallel."""


def is_small(rel: Rel, execution: ExecutionContext) -> bool:
    """Whether the rows of a relation are read from few files, together within Spark's broadcast threshold.

    Only projections and filters may be between. A wrong answer costs time, and nothing else.
    """
    frame = _source(rel, execution)
    scan = None if frame is None else scan_of(frame)
    if frame is None or scan is None or scan.size > _most_sent(execution.spark):
        return False
    return 0 < len(frame.inputFiles()) <= _MAX_FILES


def is_of_one_source(rel: Rel, execution: ExecutionContext) -> bool:
    """Whether the rows of a relation come from one table, one view or files, and from no union."""
    frame = _source(rel, execution)
    return frame is not None and is_one_source(frame)


def _source(rel: Rel, execution: ExecutionContext) -> DataFrame | None:
    """Return the table, view or files that a relation reads row by row, if Spark plans them quickly.

    They were looked up before. Below any other relation no source is searched.
    """
    while isinstance(rel, Filter | Project | Emit):
        if any(isinstance(node, WindowFunction) or is_subquery(node) for node in walk(rel, into_relations=False)):
            return None
        rel = rel.input
    if not isinstance(rel, Read) or not execution.has_session:
        return None
    match rel.definition:
        case NamedTable(names=names) if names in execution.arrow_tables:
            return None
        case NamedTable(names=names) if not is_of_iceberg(names, execution.spark):
            return named_frame(names, execution.spark)
        case LocalFiles(items=files, text=text):
            return execution.sources[files, rel.base_schema, text][0]
        case _:
            return None


_AMOUNT = re.compile(r"(\d+)([kmgtp]?)b?", re.IGNORECASE)
_UNITS = ("", "k", "m", "g", "t", "p")


def _most_sent(spark: SparkSession) -> int:
    """Return Spark's broadcast threshold in bytes."""
    amount = _AMOUNT.fullmatch(spark.conf.get("spark.sql.autoBroadcastJoinThreshold") or "")
    return -1 if amount is None else int(amount[1]) * 1024 ** _UNITS.index(amount[2].lower())
