"""What is known of the inputs of a join before anything runs: whether they are of one table, and whether small."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import WindowFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.relations import Emit, Filter, LocalFiles, NamedTable, Project, Read
from substrait_dsl.spark.named import named_frame
from substrait_dsl.spark.scans import is_of_iceberg, scan_of
from substrait_dsl.spark.subqueries import is_subquery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.spark.workspace import Workspace

_MOST_FILES = 8
"""How many files one task may read, where several tasks would read them at once."""


def is_small(rel: Rel, space: Workspace) -> bool:
    """Whether the rows of a relation come of a few files, together no larger than what Spark sends to all tasks.

    Only what is computed of each row by itself may stand between. A wrong answer costs time, and nothing else.
    """
    read = _read_below(rel)
    frame = None if read is None else _source(read, space)
    scan = None if frame is None else scan_of(frame)
    if frame is None or scan is None or scan.size > _most_sent(space.spark):
        return False
    return 0 < len(frame.inputFiles()) <= _MOST_FILES


def is_of_one_table(rel: Rel, space: Workspace) -> bool:
    """Whether the rows of a relation are those of a table, each with what is computed of it, and of no union."""
    read = _read_below(rel)
    if read is None or not isinstance(read.definition, NamedTable):
        return False
    kept = space.kept.get(read.definition.names)
    return kept is not None and kept.is_one


def _read_below(rel: Rel) -> Read | None:
    """The read that a relation takes its rows from one by one."""
    while isinstance(rel, Filter | Project | Emit):
        if any(isinstance(node, WindowFunction) or is_subquery(node) for node in walk(rel, into_relations=False)):
            return None
        rel = rel.input
    return rel if isinstance(rel, Read) else None


def _source(rel: Read, space: Workspace) -> DataFrame | None:
    """The table, view or files that are read, if Spark soon has a plan for them; it has been looked at before."""
    match rel.definition:
        case NamedTable(names=names) if not is_of_iceberg(names, space.spark):
            return named_frame(names, space.spark)
        case LocalFiles(items=files):
            return space.sources[files, rel.base_schema][0]
        case _:
            return None


_AMOUNT = re.compile(r"(\d+)([kmgtp]?)b?", re.IGNORECASE)
_UNITS = ("", "k", "m", "g", "t", "p")


def _most_sent(spark: SparkSession) -> int:
    """How many bytes Spark sends to all tasks, rather than to have two inputs of a join meet by their keys."""
    amount = _AMOUNT.fullmatch(spark.conf.get("spark.sql.autoBroadcastJoinThreshold") or "")
    return -1 if amount is None else int(amount[1]) * 1024 ** _UNITS.index(amount[2].lower())
