"""Whether a relation gives the same rows each time it is computed, as long as no table changes.

A reference is to one result set. What may be another one each time is therefore computed once for all references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import AggregateFunction, WindowCall
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.relations import Fetch, NamedTable, Read, TopN
from substrait_dsl.spark.named import frame_if_there
from substrait_dsl.spark.scans import is_random

if TYPE_CHECKING:
    from substrait_dsl.spark.workspace import Workspace

_BY_ORDER = {"any_value", "string_agg"}
"""Aggregate functions whose value depends on the order in which rows come, where the plan says none."""


def is_stable(rel: Rel, space: Workspace) -> bool:
    """Whether the rows are the same each time.

    Which rows a fetch takes, and how a window numbers those that are equal to it, depends on the order in which Spark
    gets to them. A view may call functions of chance.
    """
    for node in walk(rel):
        match node:
            case Fetch(count=count, offset=offset) if count is not None or offset is not None:
                return False
            case TopN() | WindowCall():
                return False
            case AggregateFunction(function=function, sorts=()) if function.name in _BY_ORDER:
                return False
            case Read(definition=NamedTable(names=names)) if names not in space.given:
                frame = frame_if_there(names, space.spark)
                if frame is not None and is_random(frame):
                    return False
    return True
