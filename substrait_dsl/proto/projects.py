"""Whether projects without an emit put out their input columns, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.paths import walk_messages

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder

_SAME_COLUMNS = ("filter", "sort", "fetch")
"""The relations of one input that put out its columns."""


def puts_out_expressions(decoder: Decoder, plan: Plan) -> bool:
    """Whether projects put out their expressions only: so it is where no project has an emit.

    The names of a root must be as many as the expressions of the project that its columns come from. DuckDB put a
    project on top of each plan, or of each input of a set on top, as long as its projects were like that.

    Raises:
        UnsupportedError: the columns of a root come from no project, or have no names, so that nothing tells what the
            projects of the plan put out.
    """
    projects = [each for each in walk_messages(plan) if isinstance(each, pb.ProjectRel)]
    if not projects or any(each.common.WhichOneof("emit_kind") for each in projects):
        return False
    are_as_many = True
    for tree in plan.relations:
        if not tree.HasField("root"):
            continue
        rel = _origin_of_columns(tree.root.input)
        rel_type = rel.WhichOneof("rel_type")
        if rel_type != "project" or (rel.project.expressions and not tree.root.names):
            decoder.mark_location(tree.root)
            raise UnsupportedError(_cannot_tell(decoder, str(rel_type)), hint=_WRITE_EMIT)
        are_as_many &= len(tree.root.names) == len(rel.project.expressions)
    return are_as_many


def _origin_of_columns(rel: pb.Rel) -> pb.Rel:
    """Return the relation that the columns come from; those of a set are as many as those of each of its inputs."""
    while True:
        rel_type = rel.WhichOneof("rel_type")
        if rel_type in _SAME_COLUMNS:
            rel = getattr(rel, str(rel_type)).input
        elif rel_type == "set" and rel.set.inputs:
            rel = rel.set.inputs[0]
        else:
            return rel


def _cannot_tell(decoder: Decoder, rel_type: str) -> str:
    roots = "whose columns have no names" if rel_type == "project" else f"on a relation of kind {rel_type}"
    return (
        f"a root {roots}, over projects that do not say what they put out: in plans of {decoder.producer.title} these "
        "may put out their expressions only, or their input columns, too, and nothing tells which"
    )


_WRITE_EMIT = "have the plan written by a later version, whose projects have an emit, or with a named project on top"
