"""Whether projects that do not say what they put out (``emit``) put out their input columns, too, or do not."""

from __future__ import annotations

from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan

from substrait_dsl.proto.paths import inside

_SAME_COLUMNS = ("filter", "sort", "fetch")
"""The relations of one input that put out its columns."""


def puts_out_expressions(plan: Plan) -> bool:
    """Whether projects put out their expressions only: so it is where no project says what it puts out.

    The names of a root must be as many as the expressions of the project that its columns come from. DuckDB put a
    project on top of each plan as long as its projects were like that.
    """
    if any(isinstance(each, pb.ProjectRel) and each.common.WhichOneof("emit_kind") for each in inside(plan)):
        return False
    for tree in plan.relations:
        rel = tree.root.input
        while (kind := rel.WhichOneof("rel_type")) in _SAME_COLUMNS:
            rel = getattr(rel, str(kind)).input
        if kind == "project" and len(tree.root.names) != len(rel.project.expressions):
            return False
        if kind != "project" and tree.HasField("root"):
            return False
    return True
