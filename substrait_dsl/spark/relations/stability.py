"""Whether a relation gives the same rows each time it is computed, as long as no table changes; views count, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra import stability
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.spark.catalog.scans import is_random
from substrait_dsl.spark.catalog.table_names import frame_if_there

if TYPE_CHECKING:
    from substrait_dsl.spark.session.execution_context import ExecutionContext


def is_stable(rel: Rel, execution: ExecutionContext) -> bool:
    """Whether the rows are the same each time. A view may call random functions."""
    if not stability.is_stable(rel):
        return False
    for node in walk(rel):
        match node:
            case Read(definition=NamedTable(names=names)) if names not in execution.arrow_tables:
                frame = frame_if_there(names, execution.spark)
                if frame is not None and is_random(frame):
                    return False
    return True
