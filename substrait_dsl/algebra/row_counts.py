"""How many rows a relation can have."""

from __future__ import annotations

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel


def has_one_row_at_most(rel: Rel) -> bool:
    """Whether a relation is known to have at most one row, for each outer row that it refers to."""
    while True:
        match rel:
            case rl.Filter(input=child) | rl.Project(input=child) | rl.Emit(input=child) | rl.Sort(input=child):
                rel = child
            case rl.Fetch(input=child, count=count):
                if isinstance(count, ex.Literal) and count.value is not None and count.value <= 1:
                    return True
                rel = child
            case rl.Cross(left=left, right=right):
                return has_one_row_at_most(left) and has_one_row_at_most(right)
            case rl.Read(definition=rl.VirtualTable(rows)):
                return len(rows) <= 1
            case _:
                return rel.single_row
