"""Plans as messages of ``plan.proto``, as bytes and as JSON.

Specification: https://substrait.io/serialization/binary_serialization/.
"""

from __future__ import annotations

import functools

from substrait.algebra_pb2 import RelRoot
from substrait.plan_pb2 import ExecutionBehavior, Plan, Version

from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.errors import LiteralError, SchemaError
from substrait_dsl.proto.depth import ALL_IN_PLACE, Layout, is_shallow, lay_out
from substrait_dsl.proto.encoder import Encoder, OuterReferences
from substrait_dsl.proto.expressions import encode_whole_expression
from substrait_dsl.proto.relations import encode_relation, encode_whole_relation
from substrait_dsl.proto.types import DeepTypeError


def encode_plan(plan: AlgebraPlan, *, outer_references: OuterReferences = "rel_reference") -> Plan:
    """Encode a plan as the specification asks of a careful producer.

    Every message stays within the 100 levels that parsers accept: deeper trees are cut into subtrees, which
    ``ReferenceRel`` refers to, and detached expressions. Equal plans give equal messages.

    Args:
        plan: the roots, in order.
        outer_references: how a subquery names an outer row: by a ``rel_anchor`` (``rel_reference``), or, for
            consumers older than 0.89, by counting subqueries (``steps_out``).

    Returns:
        A ``substrait.Plan``: version and producer, extension declarations, execution behavior per plan, the shared
        subtrees, then the roots.

    Raises:
        SchemaError: a root refers to an outer row that is not there.
        LiteralError: a value has no place in the message of its type (a lone surrogate in a text).
        UnsupportedError: a type, literal or expression is too deep or too large to be written.
    """
    for root in plan.roots:
        if root.input.free_anchors:
            raise SchemaError("a root of the plan refers to a column of a relation that it does not stand in")
    if is_shallow(plan):
        try:
            return _encode_plan(plan, ALL_IN_PLACE, outer_references)
        except DeepTypeError:
            pass  # the plan is low, but a type in it is not
    return _encode_plan(plan, lay_out(plan), outer_references)


def _encode_plan(plan: AlgebraPlan, layout: Layout, outer_references: OuterReferences) -> Plan:
    message = Plan()
    encode_version(message.version)
    encoder = Encoder(message, layout, outer_references, encode_relation)
    try:
        for rel in layout.subtrees:
            encode_whole_relation(encoder, rel, encoder.start_tree().rel)
            encoder.write_detached(encode_whole_expression)
        for root in plan.roots:
            encode_root(encoder, root, encoder.start_tree().root)
            encoder.write_detached(encode_whole_expression)
    except UnicodeEncodeError as error:
        raise LiteralError(f"a plan holds Unicode text only, this is none: {error.object!r}") from error
    message.execution_behavior.variable_eval_mode = ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_PLAN  # reading 48
    return message


def encode_root(encoder: Encoder, root: Root, message: RelRoot) -> None:
    """Write a relation that the plan returns, with the names of its columns."""
    encode_relation(encoder, root.input, message.input)
    message.names.extend(root.names)


def encode_version(message: Version) -> None:
    """Write the version of the specification that the installed messages are of, and who wrote the plan."""
    numbers, producer = _versions()
    message.major_number, message.minor_number, message.patch_number = numbers
    message.producer = producer


@functools.cache
def _versions() -> tuple[tuple[int, int, int], str]:
    from importlib import metadata  # costs more to import than all that encoding a plan takes: once, and not before

    major, minor, patch = metadata.version("substrait-protobuf").split(".")[:3]
    try:
        producer = f"substrait_dsl {metadata.version('substrait-dsl')}"
    except metadata.PackageNotFoundError:  # used from its sources
        producer = "substrait_dsl"
    return (int(major), int(minor), int(patch)), producer


def to_bytes(plan: Plan) -> bytes:
    """The bytes of a plan message; equal plans have equal bytes."""
    return plan.SerializeToString(deterministic=True)


def to_json(plan: Plan) -> str:
    """The JSON of a plan message, in the names of the specification's JSON form (``lowerCamelCase``)."""
    from google.protobuf import json_format

    return json_format.MessageToJson(plan)
