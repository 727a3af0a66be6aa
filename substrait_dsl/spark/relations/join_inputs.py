"""What is known of the inputs of a join before anything runs: which are small, and which are of one source."""

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

_MOST_FILES = 8
"""How many files one task may read, where several tasks would read them at once."""


def is_small(rel: Rel, execution: ExecutionContext) -> bool:
    """Whether the rows of a relation come of a few files, together no larger than what Spark sends to all tasks.

    Only what is computed of each row by itself may stand between. A wrong answer costs time, and nothing else.
    """
    frame = _source(rel, execution)
    scan = None if frame is None else scan_of(frame)
    if frame is None or scan is None or scan.size > _most_sent(execution.spark):
        return False
    return 0 < len(frame.inputFiles()) <= _MOST_FILES


def is_of_one_source(rel: Rel, execution: ExecutionContext) -> bool:
    """Whether the rows of a relation are those of a table or of files, or of a view of such, and of no union."""
    frame = _source(rel, execution)
    return frame is not None and is_one_source(frame)


def _source(rel: Rel, execution: ExecutionContext) -> DataFrame | None:
    """The table, view or files that a relation takes its rows from one by one, if Spark soon has a plan for them.

    It has been looked at before. Below a relation that is not named here nothing is looked for.
    """
    while isinstance(rel, Filter | Project | Emit):
        if any(isinstance(node, WindowFunction) or is_subquery(node) for node in walk(rel, into_relations=False)):
            return None
        rel = rel.input
    if not isinstance(rel, Read) or not execution.has_session:
        return None
    match rel.definition:
        case NamedTable(names=names) if names in execution.given:
            return None
        case NamedTable(names=names) if not is_of_iceberg(names, execution.spark):
            return named_frame(names, execution.spark)
        case LocalFiles(items=files):
            return execution.sources[files, rel.base_schema][0]
        case _:
            return None


_AMOUNT = re.compile(r"(\d+)([kmgtp]?)b?", re.IGNORECASE)
_UNITS = ("", "k", "m", "g", "t", "p")


def _most_sent(spark: SparkSession) -> int:
    """How many bytes Spark sends to all tasks, rather than to have two inputs of a join meet by their keys."""
    amount = _AMOUNT.fullmatch(spark.conf.get("spark.sql.autoBroadcastJoinThreshold") or "")
    return -1 if amount is None else int(amount[1]) * 1024 ** _UNITS.index(amount[2].lower())
