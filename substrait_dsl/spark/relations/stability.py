"""Whether a relation gives the same rows each time it is computed, as long as no table changes: views count, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra import stability
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.spark.catalog.scans import is_random
from substrait_dsl.spark.catalog.table_names import frame_if_there

if TYPE_CHECKING:
    from substrait_dsl.spark.session.workspace import Workspace


def is_stable(rel: Rel, space: Workspace) -> bool:
    """Whether the rows are the same each time. A view may call functions of chance."""
    if not stability.is_stable(rel):
        return False
    for node in walk(rel):
        match node:
            case Read(definition=NamedTable(names=names)) if names not in space.given:
                frame = frame_if_there(names, space.spark)
                if frame is not None and is_random(frame):
                    return False
    return True
